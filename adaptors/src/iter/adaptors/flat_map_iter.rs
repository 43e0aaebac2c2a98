//! The adaptor `flat_map_iter`.

use crate::iter::ParallelIterator;
use crate::iter::adaptor::adaptor;
use crate::iter::stage::{PerItem, Stage, adapt_items, borrowed_op};

adaptor! {
    /// Makes a sequential iterator of every item, and yields the items of all these: see
    /// [`ParallelIterator::flat_map_iter`].
    ///
    /// ```
    /// use furcate::prelude::*;
    /// let it: furcate::iter::FlatMapIter<_, _> = (1..4).into_par_iter().flat_map_iter(|n| 0..n);
    /// assert_eq!(it.collect::<Vec<_>>(), [0, 0, 1, 0, 1, 2]);
    /// ```
    FlatMapIter<I, F> { map_op: F }
}

adapt_items! {
    impl[I, F, S] FlatMapIter<I, F> by PerItem<FlatMapIterOp<'a, F>> = |it| PerItem(FlatMapIterOp(&it.map_op)) => S::Item
    where [I: ParallelIterator, F: Fn(I::Item) -> S + Sync + Send, S: IntoIterator<Item: Send>]
}

borrowed_op!(FlatMapIterOp);

impl<'a, T, S, F> Stage<T> for FlatMapIterOp<'a, F>
where
    F: Fn(T) -> S + Sync,
    S: IntoIterator,
{
    type Item = S::Item;
    type Iter<I: Iterator<Item = T>> = std::iter::FlatMap<I, S, &'a F>;

    #[inline]
    fn apply<I: Iterator<Item = T>>(self, items: I) -> Self::Iter<I> {
        items.flat_map(self.0)
    }
}
