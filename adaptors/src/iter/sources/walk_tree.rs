//! `walk_tree`, `walk_tree_prefix`, `walk_tree_postfix`
//!
//! A part of a walk is a list of nodes in the order of the walk. A node is *open* (its subtree comes at its place) or *done* (only
//! the node itself comes). To walk is to take the first node off the list. An open one is replaced by itself, now done, and its children:
//!
//! ```text
//!   prefix     a* b* c*   ->  a  d* e* b* c*       the children behind the node
//!   postfix    a* b* c*   ->  d* e* a  b* c*       the children in front of it
//! ```
//!
//! A cut takes the end of the list. A node that was reached in fewer steps from the root has, as a rule, the larger subtree. So
//! the cut is in the middle of the open nodes that are nearest to the root. These are siblings, and the last open ones of the list.
//! So the list keeps neither depths nor flags, which would make its nodes larger, but only where siblings begin.
//!
//! # Invariants
//!
//! 1. *Every node once.* A node is in one list only, and its children are asked for once, when it is opened. (A walk whose closure has
//!    panicked is only dropped.)
//! 2. *A cut ends.* It opens [`OPENED`] nodes at most, while exactly one is open. So a tree that is a long chain is cut, too.
//! 3. *Open nodes.* The first node of the list has the highest position. The children of a node begin at a bound and end at the next one, so
//!    nodes with lower positions are nearer to the root. The nodes below the first bound are siblings, too. In prefix order all nodes of the list are
//!    open. Bounds that are not below its end are left from nodes that have gone, and go at the next opening. In postfix order the node below a
//!    bound is the parent, which is done. A node that a cut opens, and the done nodes in front of it, come before the list, and are kept apart.

use super::in_place::fold_in_place;
use crate::iter::{ParallelIterator, default_schedule};
use furcate_schedulers::{Divisible, Facts, Producer, StepFold, Steps, Suspendable};
use std::fmt;
use std::ops::{ControlFlow, Range};

/// The greatest number of nodes that a cut opens, to find two subtrees.
const OPENED: usize = 64;

macro_rules! walks {
    ($($(#[$of_function:meta])* fn $function:ident; $(#[$attribute:meta])* $Name:ident, $prefix:literal;)+) => {$(
        $(#[$of_function])*
        pub fn $function<S, B, I>(root: S, children_of: B) -> $Name<S, B>
        where
            S: Send,
            B: Fn(&S) -> I + Send + Sync,
            I: IntoIterator<Item = S, IntoIter: DoubleEndedIterator>,
        {
            $Name { root: Some(root), children_of }
        }

        $(#[$attribute])*
        #[must_use = "iterators do nothing until a terminal drives them"]
        #[derive(Clone)]
        pub struct $Name<S, B> {
            /// `None` once the walk has been lent.
            root: Option<S>,
            children_of: B,
        }

        impl<S: fmt::Debug, B> fmt::Debug for $Name<S, B> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($Name)).field("root", &self.root).finish_non_exhaustive()
            }
        }

        impl<S, B, I> ParallelIterator for $Name<S, B>
        where
            S: Send,
            B: Fn(&S) -> I + Send + Sync,
            I: IntoIterator<Item = S, IntoIter: DoubleEndedIterator>,
        {
            type Item = S;
            type Producer<'a>
                = TreeWalk<'a, S, B, $prefix>
            where
                Self: 'a;

            default_schedule!();

            fn producer(&mut self) -> Self::Producer<'_> {
                TreeWalk::new(self.root.take(), &self.children_of)
            }
        }
    )+};
}

walks! {
    /// Makes a parallel iterator over the nodes of a tree. A node comes before its children, and the children are in order.
    ///
    /// The closure returns the children of a node, which may not borrow from the node. It is called once for each node, by the worker that walks there. The
    /// tree need not exist: directories, moves of a game, or the parts of a problem are such trees.
    ///
    /// # Cost
    ///
    /// By default the walk is divided on demand ([`Adaptive`](furcate_schedulers::Adaptive)), because the sizes of subtrees are not known. A worker
    /// keeps a list of the nodes that it has seen and not walked: at most the depth of the tree times the number of children. Apart from
    /// the closures, a node costs about 2 ns.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// use furcate::iter::walk_tree_prefix;
    ///
    /// // 1 has the children 2 and 3, 2 has 4 and 5, 3 has 6 and 7.
    /// let walk = walk_tree_prefix(1, |&n| if n < 4 { vec![2 * n, 2 * n + 1] } else { vec![] });
    /// assert_eq!(walk.collect::<Vec<_>>(), [1, 2, 4, 5, 3, 6, 7]);
    /// ```
    fn walk_tree_prefix;
    /// A parallel iterator over the nodes of a tree: see [`walk_tree_prefix`].
    ///
    /// ```
    /// use furcate::prelude::*;
    /// let it: furcate::iter::WalkTreePrefix<_, _> = furcate::iter::walk_tree_prefix(3, |&n| (0..n).next_back());
    /// assert_eq!(it.collect::<Vec<_>>(), [3, 2, 1, 0]);
    /// ```
    WalkTreePrefix, true;

    /// Makes a parallel iterator over the nodes of a tree. A node comes after its children, and the children are in order.
    ///
    /// Otherwise as [`walk_tree_prefix`].
    ///
    /// ```
    /// use furcate::prelude::*;
    /// use furcate::iter::walk_tree_postfix;
    ///
    /// let walk = walk_tree_postfix(1, |&n| if n < 4 { vec![2 * n, 2 * n + 1] } else { vec![] });
    /// assert_eq!(walk.collect::<Vec<_>>(), [4, 5, 2, 6, 7, 3, 1]);
    /// ```
    fn walk_tree_postfix;
    /// A parallel iterator over the nodes of a tree: see [`walk_tree_postfix`].
    ///
    /// ```
    /// use furcate::prelude::*;
    /// let it: furcate::iter::WalkTreePostfix<_, _> = furcate::iter::walk_tree_postfix(3, |&n| (0..n).next_back());
    /// assert_eq!(it.collect::<Vec<_>>(), [0, 1, 2, 3]);
    /// ```
    WalkTreePostfix, false;

    /// Makes a parallel iterator over the nodes of a tree, in an order that may change with a later version. (Today it is the one of
    /// [`walk_tree_postfix`], as in rayon.)
    ///
    /// Otherwise as [`walk_tree_prefix`].
    ///
    /// ```
    /// use furcate::prelude::*;
    /// use furcate::iter::walk_tree;
    /// use std::path::PathBuf;
    ///
    /// // The bytes of all files under a directory.
    /// fn size_of(directory: PathBuf) -> u64 {
    ///     let entries = |path: &PathBuf| -> Vec<PathBuf> {
    ///         let is_directory = path.symlink_metadata().is_ok_and(|meta| meta.is_dir());
    ///         let entries = is_directory.then(|| path.read_dir().ok()).flatten();
    ///         entries.into_iter().flatten().flatten().map(|entry| entry.path()).collect()
    ///     };
    ///     walk_tree(directory, entries).filter_map(|path| path.symlink_metadata().ok()).filter(|meta| meta.is_file()).map(|meta| meta.len()).sum()
    /// }
    /// assert!(size_of(concat!(env!("CARGO_MANIFEST_DIR"), "/src").into()) > 0);
    /// ```
    fn walk_tree;
    /// A parallel iterator over the nodes of a tree: see [`walk_tree`].
    ///
    /// ```
    /// use furcate::prelude::*;
    /// let it: furcate::iter::WalkTree<_, _> = furcate::iter::walk_tree(3, |&n| (0..n).next_back());
    /// assert_eq!(it.count(), 4);
    /// ```
    WalkTree, false;
}

/// The producer of a walk over a tree, and the sequential walk.
pub struct TreeWalk<'a, S, B, const PREFIX: bool> {
    /// Done nodes that come before the list, the first one at the end.
    done: Vec<S>,
    /// The list of nodes, the first one at the end.
    nodes: Vec<S>,
    /// Where the children of a node begin: rising positions (invariant 3).
    bounds: Vec<usize>,
    children_of: &'a B,
}

impl<S: fmt::Debug, B, const PREFIX: bool> fmt::Debug for TreeWalk<'_, S, B, PREFIX> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TreeWalk")
            .field("done", &self.done)
            .field("nodes", &self.nodes)
            .finish_non_exhaustive()
    }
}

impl<'a, S, B, I, const PREFIX: bool> TreeWalk<'a, S, B, PREFIX>
where
    B: Fn(&S) -> I,
    I: IntoIterator<Item = S, IntoIter: DoubleEndedIterator>,
{
    fn new(root: Option<S>, children_of: &'a B) -> Self {
        TreeWalk { done: Vec::new(), nodes: root.into_iter().collect(), bounds: Vec::new(), children_of }
    }

    /// Opens the first node of the list, which is not done. Returns it if it comes next.
    #[inline(always)] // It is the loop of a walk. The second place that calls it is rare.
    fn open(&mut self) -> Option<S> {
        let TreeWalk { nodes, bounds, children_of, .. } = self;
        let node = if PREFIX { Some(nodes.pop()?) } else { None };
        let at = nodes.len();
        // Not by `extend`, which takes twice as long where the closure makes a short vector.
        children_of(node.as_ref().or(nodes.last())?).into_iter().rev().for_each(|child| nodes.push(child));
        if nodes.len() == at {
            return node.or_else(|| nodes.pop());
        }
        while bounds.last().is_some_and(|&bound| bound >= at) {
            bounds.pop();
        }
        bounds.push(at);
        node
    }

    /// The positions of the open nodes that are nearest to the root.
    fn nearest(&self) -> Range<usize> {
        let (mut start, len) = (0, self.nodes.len());
        for &bound in &self.bounds {
            let end = bound.saturating_sub(usize::from(!PREFIX));
            if end > start {
                return start..end.min(len);
            }
            start = bound;
        }
        start..len
    }

    /// The number of open nodes.
    fn count_open(&self) -> usize {
        if PREFIX { self.nodes.len() } else { self.nodes.len().saturating_sub(self.bounds.len()) }
    }
}

impl<S, B, I, const PREFIX: bool> Divisible for TreeWalk<'_, S, B, PREFIX>
where
    B: Fn(&S) -> I,
    I: IntoIterator<Item = S, IntoIter: DoubleEndedIterator>,
{
    /// The number of nodes that are known.
    fn size(&self) -> usize {
        self.done.len().saturating_add(self.nodes.len())
    }

    fn should_be_divided(&self) -> bool {
        self.size() > 1 || self.count_open() > 0
    }

    fn divide(mut self) -> (Self, Self) {
        for _ in 0..OPENED {
            if self.count_open() != 1 {
                break;
            }
            // All nodes in front of the only open one are done.
            let end = self.nearest().end;
            self.bounds.retain(|&bound| bound < end);
            self.done.splice(..0, self.nodes.drain(end..));
            let opened = self.open();
            self.done.splice(..0, opened);
        }
        let (size, nearest) = (self.size(), self.nearest());
        if nearest.is_empty() {
            return self.divide_at(size / 2);
        }
        // Of the nodes in front of the nearest ones, all together have about the size of one of these.
        let left = if nearest.end < size { nearest.len() / 2 } else { nearest.len().div_ceil(2) };
        self.divide_at(size.saturating_sub(nearest.end).saturating_add(left))
    }

    fn divide_at(mut self, index: usize) -> (Self, Self) {
        let at = self.nodes.len().saturating_sub(index.saturating_sub(self.done.len()));
        let mut left = TreeWalk {
            done: self.done.split_off(self.done.len().saturating_sub(index)),
            nodes: self.nodes.split_off(at),
            bounds: self.bounds.split_off(self.bounds.partition_point(|&bound| bound <= at)),
            children_of: self.children_of,
        };
        left.bounds.iter_mut().for_each(|bound| *bound = bound.saturating_sub(at));
        (left, self)
    }
}

impl<S, B, I, const PREFIX: bool> Iterator for TreeWalk<'_, S, B, PREFIX>
where
    B: Fn(&S) -> I,
    I: IntoIterator<Item = S, IntoIter: DoubleEndedIterator>,
{
    type Item = S;

    #[inline]
    fn next(&mut self) -> Option<S> {
        if !self.done.is_empty() {
            return self.done.pop();
        }
        while !self.nodes.is_empty() {
            if !PREFIX && self.bounds.last() == Some(&self.nodes.len()) {
                self.bounds.pop();
                return self.nodes.pop();
            }
            if let Some(node) = self.open() {
                return Some(node);
            }
        }
        None
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.size(), None)
    }
}

impl<S, B, I, const PREFIX: bool> Producer for TreeWalk<'_, S, B, PREFIX>
where
    S: Send,
    B: Fn(&S) -> I + Send + Sync,
    I: IntoIterator<Item = S, IntoIter: DoubleEndedIterator>,
{
    /// A cut may ask for children, and the size says little: divide on demand.
    const FACTS: Facts = Facts { costly_cuts: true, ..Facts::ITEMS };

    fn partial_fold<'s, A, F, L>(self, init: A, mut fold: F, steps: &mut L) -> ControlFlow<A, A>
    where
        Self: 's,
        A: Suspendable<'s>,
        F: StepFold<'s, S, A>,
        L: Steps<Self>,
    {
        fold_in_place(self, init, steps, |walk, folded, limit, _| {
            fold.fold(folded, walk.by_ref().take(limit))
        })
    }
}
