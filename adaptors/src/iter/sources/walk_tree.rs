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
//! the cut is in the middle of the open nodes that are nearest to the root.
//!
//! # Invariants
//!
//! 1. *Every node once.* A node is in one list only, and its children are asked for once, when it is opened.
//! 2. *A cut ends.* It opens [`OPENED`] nodes at most, where a part has less than two open nodes. So a tree that is a long chain is cut, too.

use super::in_place::fold_in_place;
use crate::iter::{ParallelIterator, default_schedule};
use furcate_schedulers::{Divisible, Facts, Producer, StepFold, Steps, Suspendable};
use std::fmt;
use std::ops::ControlFlow;

/// The greatest number of nodes that a cut opens, to find two subtrees.
const OPENED: usize = 64;

/// Makes a parallel iterator over the nodes of a tree. A node comes before its children, and the children are in order.
///
/// The closure returns the children of a node, which may not borrow from the node. It is called once for each node, by the worker that walks there. The
/// tree need not exist: directories, moves of a game, or the parts of a problem are such trees.
///
/// # Cost
///
/// By default the walk is divided on demand ([`Adaptive`](furcate_schedulers::Adaptive)), because the sizes of subtrees are not known. A worker
/// keeps a list of the nodes that it has seen and not walked: at most the depth of the tree times the number of children.
///
/// ```
/// use furcate::prelude::*;
/// use furcate::iter::walk_tree_prefix;
///
/// // 1 has the children 2 and 3, 2 has 4 and 5, 3 has 6 and 7.
/// let walk = walk_tree_prefix(1, |&n| if n < 4 { vec![2 * n, 2 * n + 1] } else { vec![] });
/// assert_eq!(walk.collect::<Vec<_>>(), [1, 2, 4, 5, 3, 6, 7]);
/// ```
pub fn walk_tree_prefix<S, B, I>(root: S, children_of: B) -> WalkTreePrefix<S, B>
where
    S: Send,
    B: Fn(&S) -> I + Send + Sync,
    I: IntoIterator<Item = S, IntoIter: DoubleEndedIterator>,
{
    WalkTreePrefix { root: Some(root), children_of }
}

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
pub fn walk_tree_postfix<S, B, I>(root: S, children_of: B) -> WalkTreePostfix<S, B>
where
    S: Send,
    B: Fn(&S) -> I + Send + Sync,
    I: IntoIterator<Item = S, IntoIter: DoubleEndedIterator>,
{
    WalkTreePostfix { root: Some(root), children_of }
}

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
pub fn walk_tree<S, B, I>(root: S, children_of: B) -> WalkTree<S, B>
where
    S: Send,
    B: Fn(&S) -> I + Send + Sync,
    I: IntoIterator<Item = S, IntoIter: DoubleEndedIterator>,
{
    WalkTree { root: Some(root), children_of }
}

macro_rules! walks {
    ($($(#[$attribute:meta])* $Name:ident, $prefix:literal;)+) => {$(
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
    /// A parallel iterator over the nodes of a tree: see [`walk_tree_prefix`].
    ///
    /// ```
    /// use furcate::prelude::*;
    /// let it: furcate::iter::WalkTreePrefix<_, _> = furcate::iter::walk_tree_prefix(3, |&n| (0..n).next_back());
    /// assert_eq!(it.collect::<Vec<_>>(), [3, 2, 1, 0]);
    /// ```
    WalkTreePrefix, true;

    /// A parallel iterator over the nodes of a tree: see [`walk_tree_postfix`].
    ///
    /// ```
    /// use furcate::prelude::*;
    /// let it: furcate::iter::WalkTreePostfix<_, _> = furcate::iter::walk_tree_postfix(3, |&n| (0..n).next_back());
    /// assert_eq!(it.collect::<Vec<_>>(), [0, 1, 2, 3]);
    /// ```
    WalkTreePostfix, false;

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
    /// The list of nodes, the first one at the end.
    nodes: Vec<Node<S>>,
    children_of: &'a B,
}

/// A node in the list of a walk.
#[derive(Debug)]
struct Node<S> {
    node: S,
    /// Number of steps from the root.
    depth: u32,
    /// Whether its children are still to be asked for.
    open: bool,
}

impl<S: fmt::Debug, B, const PREFIX: bool> fmt::Debug for TreeWalk<'_, S, B, PREFIX> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TreeWalk").field("nodes", &self.nodes).finish_non_exhaustive()
    }
}

impl<'a, S, B, I, const PREFIX: bool> TreeWalk<'a, S, B, PREFIX>
where
    B: Fn(&S) -> I,
    I: IntoIterator<Item = S, IntoIter: DoubleEndedIterator>,
{
    fn new(root: Option<S>, children_of: &'a B) -> Self {
        let nodes = root.into_iter().map(|node| Node { node, depth: 0, open: true }).collect();
        TreeWalk { nodes, children_of }
    }

    /// Opens a node at the end of the list: the children come onto the list. In postfix order a node with children comes before them.
    /// Otherwise the node is returned.
    fn open(&mut self, node: S, depth: u32) -> Option<Node<S>> {
        let mut children = (self.children_of)(&node).into_iter();
        let mut next = children.next_back();
        let mut done = Some(Node { node, depth, open: false });
        if !PREFIX && next.is_some() {
            self.nodes.extend(done.take());
        }
        // Not by `extend`, which would be a call for each node: a twentieth of the time of cheap ones.
        while let Some(node) = next {
            self.nodes.push(Node { node, depth: depth.saturating_add(1), open: true });
            next = children.next_back();
        }
        done
    }

    /// Opens the only open node of the list.
    fn open_at(&mut self, position: usize) {
        let first = self.nodes.split_off(position.saturating_add(1));
        let Some(Node { node, depth, open: true }) = self.nodes.pop() else {
            self.nodes.extend(first);
            return;
        };
        let done = self.open(node, depth);
        self.nodes.extend(done);
        self.nodes.extend(first);
    }

    /// Takes the nodes behind the first `count` ones off the list.
    fn cut_behind(mut self, count: usize) -> (Self, Self) {
        let first = self.nodes.split_off(self.nodes.len().saturating_sub(count));
        (TreeWalk { nodes: first, children_of: self.children_of }, self)
    }
}

impl<S, B, I, const PREFIX: bool> Divisible for TreeWalk<'_, S, B, PREFIX>
where
    B: Fn(&S) -> I,
    I: IntoIterator<Item = S, IntoIter: DoubleEndedIterator>,
{
    /// The number of nodes that are known.
    fn size(&self) -> usize {
        self.nodes.len()
    }

    fn should_be_divided(&self) -> bool {
        self.nodes.len() > 1 || self.nodes.iter().any(|node| node.open)
    }

    fn divide(mut self) -> (Self, Self) {
        for _ in 0..OPENED {
            let mut open = self.nodes.iter().enumerate().filter(|(_, node)| node.open).map(|(at, _)| at);
            let (Some(position), None) = (open.next(), open.next()) else { break };
            self.open_at(position);
        }
        let nearest = self.nodes.iter().filter(|node| node.open).map(|node| node.depth).min();
        let at = |node: &Node<S>| node.open && Some(node.depth) == nearest;
        let count = self.nodes.iter().filter(|node| at(node)).count();
        let len = self.nodes.len();
        if count == 0 {
            return self.cut_behind(len / 2);
        }
        // Of the nodes in front of the nearest ones, all together have about the size of one of these.
        let before = self.nodes.last().is_some_and(|first| !at(first));
        let left = if before { count / 2 } else { count.div_ceil(2) };
        let mut positions =
            self.nodes.iter().rev().enumerate().filter(|(_, node)| at(node)).map(|(position, _)| position);
        let position = positions.nth(left).unwrap_or(len);
        if position < len {
            return self.cut_behind(position);
        }
        // One open node, which comes first.
        self.cut_behind(1)
    }

    fn divide_at(self, index: usize) -> (Self, Self) {
        self.cut_behind(index)
    }
}

impl<S, B, I, const PREFIX: bool> Iterator for TreeWalk<'_, S, B, PREFIX>
where
    B: Fn(&S) -> I,
    I: IntoIterator<Item = S, IntoIter: DoubleEndedIterator>,
{
    type Item = S;

    fn next(&mut self) -> Option<S> {
        loop {
            let Node { node, depth, open } = self.nodes.pop()?;
            if !open {
                return Some(node);
            }
            if let Some(done) = self.open(node, depth) {
                return Some(done.node);
            }
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.nodes.len(), None)
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
