//! The adaptor `flatten_iter`.

use crate::iter::ParallelIterator;
use crate::iter::adaptor::adaptor;
use crate::iter::stage::{PerItem, Stage, adapt_items};

adaptor! {
    /// The items of items that are sequential iterators, one after the other: see [`ParallelIterator::flatten_iter`].
    ///
    /// ```
    /// use furcate::prelude::*;
    /// let it: furcate::iter::FlattenIter<_> = [vec![1, 2], vec![3]].into_par_iter().flatten_iter();
    /// assert_eq!(it.collect::<Vec<_>>(), [1, 2, 3]);
    /// ```
    FlattenIter<I> {}
}

adapt_items! {
    impl[I] FlattenIter<I> by PerItem<FlattenIterOp> = |it| PerItem(FlattenIterOp) => <I::Item as IntoIterator>::Item
    where [I: ParallelIterator<Item: IntoIterator<Item: Send>>]
}

/// Walks an item.
#[derive(Clone, Copy, Debug)]
pub struct FlattenIterOp;

impl<T: IntoIterator> Stage<T> for FlattenIterOp {
    type Item = T::Item;
    type Iter<I: Iterator<Item = T>> = std::iter::Flatten<I>;

    #[inline]
    fn apply<I: Iterator<Item = T>>(self, items: I) -> Self::Iter<I> {
        items.flatten()
    }
}
