//! The adaptor `flatten_iter`.

use crate::iter::ParallelIterator;
use crate::iter::adaptor::adaptor;
use crate::iter::item_wise::{ItemWise, adapt_items};

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
    impl[I] FlattenIter<I> by FlattenIterOp => <I::Item as IntoIterator>::Item
    where [I: ParallelIterator<Item: IntoIterator<Item: Send>>]
}

/// Walks an item.
#[derive(Clone, Copy, Debug)]
pub struct FlattenIterOp;

impl<T: IntoIterator> ItemWise<T> for FlattenIterOp {
    const SINGLE: bool = false;

    type Output = T::Item;
    type Leaf<I: Iterator<Item = T>> = std::iter::Flatten<I>;

    #[inline]
    fn leaf<I: Iterator<Item = T>>(self, base: I) -> Self::Leaf<I> {
        base.flatten()
    }
}
