//! The pending items of a task.

use super::semaphore::LineKind;
use crate::greedy::{Done, JoinNode, Link, Side, WIDTH, WideNode, ends_early};
use crate::tree::branch::Joint;
use crate::tree::call::Call;
use crate::{Reduction, Workload};
use std::mem;
use std::sync::Arc;

/// The pending items of a task, in wide nodes, pairs of wide nodes, pairs of pairs and so on: like a binary number that is counted
/// up.
///
/// Complete outputs have been reduced, except for the last step in each of the full trees, and except in a wide node with an
/// item that is still pending. So the number of outputs held is at most the number of pending items times the length of
/// a wide node, plus a logarithm of the number of all outputs.
pub(super) struct Tree<'s, W: Workload> {
    /// Full binary trees with fewer and fewer items, 2^rank wide nodes or pairs.
    full: Vec<(u32, Done<'s, W>)>,
    /// The node with a place for the next item.
    open: Option<OpenItems<'s, W>>,
    /// Whether pairs are made instead of wide nodes, because few pending items are expected.
    narrow: bool,
}

/// Neighboring items, and a place for another one.
enum OpenItems<'s, W: Workload> {
    Pair(Arc<JoinNode<'s, W>>),
    /// So many places are used.
    WideNode(Arc<WideNode<'s, W>>, u8),
}

/// The place of a pending item, with a note on how the item waits for its next permit. In this enum the note takes no memory.
pub(super) enum ItemPlace<'s, W: Workload> {
    Pair(Arc<JoinNode<'s, W>>, Side, LineKind),
    /// The number of the place.
    WideNode(Arc<WideNode<'s, W>>, u8, LineKind),
}

impl<'s, W: Workload> ItemPlace<'s, W> {
    /// How the item waits for its next permit.
    pub(super) fn kind(&self) -> LineKind {
        let (ItemPlace::Pair(.., kind) | ItemPlace::WideNode(.., kind)) = self;
        *kind
    }

    /// Returns the link of the item's output.
    pub(super) fn link(self) -> Link<'s, W> {
        // A million waiting items have a million places.
        const { assert!(size_of::<Self>() == 2 * size_of::<usize>()) };
        match self {
            ItemPlace::Pair(node, side, _) => Link::JoinNode(node, side),
            ItemPlace::WideNode(wide, place, _) => Link::WideNode(wide, place),
        }
    }
}

impl<W: Workload> Tree<'_, W> {
    fn new(narrow: bool) -> Self {
        Tree { full: Vec::new(), open: None, narrow }
    }

    /// For the items of a leaf.
    pub(super) fn of_leaf() -> Self {
        // Where one output, or two, may end everything, none is kept back.
        Tree::new(W::Reduction::ENDS.reduce_stops_all || ends_early::<W>())
    }

    /// For one item.
    pub(super) fn of_item() -> Self {
        Tree::new(true)
    }
}

impl<'s, W: Workload> Tree<'s, W> {
    /// Returns the whole tree, with the output `last` after it.
    pub(super) fn end(
        mut self,
        mut last: Option<W::Output>,
        reduction: &W::Reduction,
        call: &'s Call,
    ) -> Done<'s, W> {
        let joint = || Joint { reduction: reduction.clone(), call };
        match self.open.take() {
            None if self.full.is_empty() => {
                return Done::Here(last.unwrap_or_else(|| nothing::<W>(reduction)));
            }
            None => {}
            Some(OpenItems::Pair(open)) => {
                let last = last.take().unwrap_or_else(|| nothing::<W>(reduction));
                Link::JoinNode(Arc::clone(&open), Side::Right).deliver(last);
                self.add(Done::Away { node: open, joint: joint() }, joint);
            }
            Some(OpenItems::WideNode(wide, mut places)) => {
                if let Some(last) = last.take() {
                    Link::WideNode(Arc::clone(&wide), places).deliver(last);
                    places += 1;
                }
                self.add(Done::AwayInWideNode { wide, places, joint: joint() }, joint);
            }
        }
        let trees = mem::take(&mut self.full).into_iter().rev().map(|(_, done)| done);
        let done = last.map(Done::Here).into_iter().chain(trees);
        let done = done.reduce(|right, left| left.join(right, joint()));
        done.unwrap_or_else(|| Done::Here(nothing::<W>(reduction)))
    }

    /// Adds a place for one more pending item, with that note.
    pub(super) fn grow(&mut self, kind: LineKind, joint: impl Fn() -> Joint<'s, W>) -> ItemPlace<'s, W> {
        let (wide, place) = match self.open.take() {
            None if self.narrow => {
                let node = Arc::<JoinNode<'s, W>>::default();
                self.open = Some(OpenItems::Pair(Arc::clone(&node)));
                return ItemPlace::Pair(node, Side::Left, kind);
            }
            Some(OpenItems::Pair(node)) => {
                self.add(Done::Away { node: Arc::clone(&node), joint: joint() }, joint);
                return ItemPlace::Pair(node, Side::Right, kind);
            }
            None => (Arc::<WideNode<'s, W>>::default(), 0),
            Some(OpenItems::WideNode(wide, places)) => (wide, places),
        };
        let pending = ItemPlace::WideNode(Arc::clone(&wide), place, kind);
        let places = place + 1;
        if places == WIDTH {
            self.add(Done::AwayInWideNode { wide, places, joint: joint() }, joint);
        } else {
            self.open = Some(OpenItems::WideNode(wide, places));
        }
        pending
    }

    /// Adds a complete wide node, or pair.
    fn add(&mut self, mut tree: Done<'s, W>, joint: impl Fn() -> Joint<'s, W>) {
        let mut rank = 0;
        while self.full.last().is_some_and(|(left, _)| *left == rank) {
            let Some((_, left)) = self.full.pop() else { unreachable!("just seen") };
            tree = left.join(tree, joint());
            rank += 1;
        }
        self.full.push((rank, tree));
    }
}

/// Returns the output of no items.
pub(super) fn nothing<W: Workload>(reduction: &W::Reduction) -> W::Output {
    reduction.finish(reduction.start())
}
