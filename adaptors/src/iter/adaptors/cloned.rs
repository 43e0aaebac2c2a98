//! The adaptor `cloned`.

use crate::iter::ParallelIterator;
use crate::iter::adaptor::adaptor;
use crate::iter::stage::{PerItem, Stage, StageFacts, adapt_items};

adaptor! {
    /// Clones the value behind each reference: see [`ParallelIterator::cloned`].
    ///
    /// ```
    /// use furcate::prelude::*;
    /// let words = ["a".to_string(), "b".to_string()];
    /// let it: furcate::iter::Cloned<_> = words.par_iter().cloned();
    /// assert_eq!(it.collect::<Vec<_>>(), words);
    /// ```
    Cloned<I> {}
}

adapt_items! {
    impl['data, T, I] Cloned<I> by PerItem<ClonedOp> = |it| PerItem(ClonedOp) => T, peek
    where [I: ParallelIterator<Item = &'data T>, T: Clone + Send + Sync + 'data]
}

/// Clones an item.
#[derive(Clone, Copy, Debug)]
pub struct ClonedOp;

impl<'data, T: Clone + 'data> Stage<&'data T> for ClonedOp {
    const FACTS: StageFacts = StageFacts::ONE;
    type Item = T;
    type Iter<I: Iterator<Item = &'data T>> = std::iter::Cloned<I>;

    #[inline]
    fn apply<I: Iterator<Item = &'data T>>(self, items: I) -> Self::Iter<I> {
        items.cloned()
    }
}
