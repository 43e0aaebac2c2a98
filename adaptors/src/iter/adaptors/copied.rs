//! The adaptor `copied`.

use crate::iter::ParallelIterator;
use crate::iter::adaptor::adaptor;
use crate::iter::stage::{PerItem, Stage, StageFacts, adapt_items};

adaptor! {
    /// Copies the value behind each reference: see [`ParallelIterator::copied`].
    ///
    /// ```
    /// use furcate::prelude::*;
    /// let it: furcate::iter::Copied<_> = [1, 2, 3].par_iter().copied();
    /// assert_eq!(it.max(), Some(3));
    /// ```
    Copied<I> {}
}

adapt_items! {
    impl['data, T, I] Copied<I> by PerItem<CopiedOp> = |it| PerItem(CopiedOp) => T, peek
    where [I: ParallelIterator<Item = &'data T>, T: Copy + Send + Sync + 'data]
}

/// Copies an item.
#[derive(Clone, Copy, Debug)]
pub struct CopiedOp;

impl<'data, T: Copy + 'data> Stage<&'data T> for CopiedOp {
    const FACTS: StageFacts = StageFacts { free: true, ..StageFacts::ONE };

    type Item = T;
    type Iter<I: Iterator<Item = &'data T>> = std::iter::Copied<I>;

    #[inline]
    fn apply<I: Iterator<Item = &'data T>>(self, items: I) -> Self::Iter<I> {
        items.copied()
    }
}
