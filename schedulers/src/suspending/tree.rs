//! The pending items of a task.

use super::semaphore::LineKind;
use crate::Reduction;
use crate::branch::Joint;
use crate::call::Call;
use crate::greedy::{Done, JoinNode, Link, Side, WIDTH, WideNode, ends_early};
use std::mem;
use std::sync::Arc;

/// The pending items of a task, in wide nodes, pairs of wide nodes, pairs of pairs and so on: like a binary number that is counted
/// up.
///
/// Complete outputs have been reduced, except for the last step in each of the full trees, and except in a wide node with an
/// item that is still pending. So the number of outputs held is at most the number of pending items times the length of
/// a wide node, plus a logarithm of the number of all outputs.
pub(super) struct Tree<'s, O, R> {
    /// Full binary trees with fewer and fewer items, 2^rank wide nodes or pairs.
    full: Vec<(u32, Done<'s, O, R>)>,
    /// The node with a place for the next item.
    open: Option<OpenItems<'s, O, R>>,
    /// Whether pairs are made instead of wide nodes, because few pending items are expected.
    narrow: bool,
}

/// Neighboring items, and a place for another one.
enum OpenItems<'s, O, R> {
    Pair(Arc<JoinNode<'s, O, R>>),
    /// So many places are used.
    WideNode(Arc<WideNode<'s, O, R>>, u8),
}

/// The place of a pending item, with a note on how the item waits for its next permit. In this enum the note takes no memory.
pub(super) enum ItemPlace<'s, O, R> {
    Pair(Arc<JoinNode<'s, O, R>>, Side, LineKind),
    /// The number of the place.
    WideNode(Arc<WideNode<'s, O, R>>, u8, LineKind),
}

// A million waiting items have a million places.
#[cfg(target_pointer_width = "64")]
const _: () = assert!(size_of::<ItemPlace<'_, u64, [u64; 4]>>() == 16);

impl<'s, O, R> ItemPlace<'s, O, R> {
    /// How the item waits for its next permit.
    pub(super) fn kind(&self) -> LineKind {
        let (ItemPlace::Pair(.., kind) | ItemPlace::WideNode(.., kind)) = self;
        *kind
    }

    /// Returns the link of the item's output.
    pub(super) fn link(self) -> Link<'s, O, R> {
        match self {
            ItemPlace::Pair(node, side, _) => Link::JoinNode(node, side),
            ItemPlace::WideNode(wide, place, _) => Link::WideNode(wide, place),
        }
    }
}

impl<O, R> Tree<'_, O, R> {
    fn new(narrow: bool) -> Self {
        Tree { full: Vec::new(), open: None, narrow }
    }

    /// For the items of a leaf.
    pub(super) fn of_leaf<T>() -> Self
    where
        R: Reduction<T, Output = O>,
    {
        // Where one output, or two, may end everything, none is kept back.
        Tree::new(R::REDUCE_STOPS_ALL || ends_early::<T, R>())
    }

    /// For one item.
    pub(super) fn of_item() -> Self {
        Tree::new(true)
    }
}

impl<'s, O, R> Tree<'s, O, R> {
    /// Returns the whole tree, with the output `last` after it.
    pub(super) fn end<T>(mut self, mut last: Option<O>, reduction: &R, call: &'s Call) -> Done<'s, O, R>
    where
        R: Reduction<T, Output = O>,
    {
        let joint = || Joint { reduction: reduction.clone(), call };
        match self.open.take() {
            None if self.full.is_empty() => {
                return Done::Here(last.unwrap_or_else(|| nothing::<T, R>(reduction)));
            }
            None => {}
            Some(OpenItems::Pair(open)) => {
                let last = last.take().unwrap_or_else(|| nothing::<T, R>(reduction));
                Link::JoinNode(Arc::clone(&open), Side::Right).deliver::<T>(last);
                self.add::<T>(Done::Away { node: open, joint: joint() }, joint);
            }
            Some(OpenItems::WideNode(wide, mut places)) => {
                if let Some(last) = last.take() {
                    Link::WideNode(Arc::clone(&wide), places).deliver::<T>(last);
                    places += 1;
                }
                self.add::<T>(Done::AwayInWideNode { wide, places, joint: joint() }, joint);
            }
        }
        let trees = mem::take(&mut self.full).into_iter().rev().map(|(_, done)| done);
        let done = last.map(Done::Here).into_iter().chain(trees);
        let done = done.reduce(|right, left| left.join::<T>(right, joint()));
        done.unwrap_or_else(|| Done::Here(nothing::<T, R>(reduction)))
    }

    /// Adds a place for one more pending item, with that note.
    pub(super) fn grow<T>(&mut self, kind: LineKind, joint: impl Fn() -> Joint<'s, R>) -> ItemPlace<'s, O, R>
    where
        R: Reduction<T, Output = O>,
    {
        let (wide, place) = match self.open.take() {
            None if self.narrow => {
                let node = Arc::<JoinNode<'s, O, R>>::default();
                self.open = Some(OpenItems::Pair(Arc::clone(&node)));
                return ItemPlace::Pair(node, Side::Left, kind);
            }
            Some(OpenItems::Pair(node)) => {
                self.add::<T>(Done::Away { node: Arc::clone(&node), joint: joint() }, joint);
                return ItemPlace::Pair(node, Side::Right, kind);
            }
            None => (Arc::<WideNode<'s, O, R>>::default(), 0),
            Some(OpenItems::WideNode(wide, places)) => (wide, places),
        };
        let pending = ItemPlace::WideNode(Arc::clone(&wide), place, kind);
        let places = place + 1;
        if places == WIDTH {
            self.add::<T>(Done::AwayInWideNode { wide, places, joint: joint() }, joint);
        } else {
            self.open = Some(OpenItems::WideNode(wide, places));
        }
        pending
    }

    /// Adds a complete wide node, or pair.
    fn add<T>(&mut self, mut tree: Done<'s, O, R>, joint: impl Fn() -> Joint<'s, R>)
    where
        R: Reduction<T, Output = O>,
    {
        let mut rank = 0;
        while self.full.last().is_some_and(|(left, _)| *left == rank) {
            let Some((_, left)) = self.full.pop() else { unreachable!("just seen") };
            tree = left.join::<T>(tree, joint());
            rank += 1;
        }
        self.full.push((rank, tree));
    }
}

/// Returns the output of no items.
pub(super) fn nothing<T, R: Reduction<T>>(reduction: &R) -> R::Output {
    reduction.finish(reduction.start())
}
