//! Items that keep their permits until they have been sent.
#![allow(unreachable_pub, reason = "the macro makes public types")]

use crate::iter::ParallelIterator;
use crate::iter::adaptor::adaptor;
use crate::iter::stage::{PerItem, Stage, StageFacts, adapt_items};

adaptor! {
    /// Passes on items that will wait once more: for room in a channel. Meanwhile an item keeps the permit of its last
    /// future. If it gave the permit to a new item, up to twice as many items would be under way as there are permits.
    KeepsPermit<I> {}
}

adapt_items! {
    impl[I] KeepsPermit<I> by PerItem<KeepsPermitOp> = |it| PerItem(KeepsPermitOp) => I::Item
    where [I: ParallelIterator]
}

/// Passes an item on.
#[derive(Clone, Copy, Debug)]
pub struct KeepsPermitOp;

impl<T> Stage<T> for KeepsPermitOp {
    const FACTS: StageFacts = StageFacts { goes_first: true, ..StageFacts::ONE };

    type Item = T;
    type Iter<I: Iterator<Item = T>> = I;

    #[inline]
    fn apply<I: Iterator<Item = T>>(self, items: I) -> I {
        items
    }
}
