//! The adaptor `filter_map`.

use crate::iter::ParallelIterator;
use crate::iter::adaptor::adaptor;
use crate::iter::stage::{PerItem, Stage, StageFacts, adapt_items, borrowed_op};

adaptor! {
    /// Keeps the values of the `Some`s that a function returns: see [`ParallelIterator::filter_map`].
    ///
    /// ```
    /// use furcate::prelude::*;
    /// let it: furcate::iter::FilterMap<_, _> = ["1", "x"].par_iter().filter_map(|s| s.parse::<i32>().ok());
    /// assert_eq!(it.collect::<Vec<_>>(), [1]);
    /// ```
    FilterMap<I, F> { filter_op: F }
}

adapt_items! {
    impl[I, F, R] FilterMap<I, F> by PerItem<FilterMapOp<'a, F>> = |it| PerItem(FilterMapOp(&it.filter_op)) => R
    where [I: ParallelIterator, F: Fn(I::Item) -> Option<R> + Sync + Send, R: Send]
}

borrowed_op!(FilterMapOp);

impl<'a, T, R, F> Stage<T> for FilterMapOp<'a, F>
where
    F: Fn(T) -> Option<R> + Sync,
{
    const FACTS: StageFacts = StageFacts::ONE;
    type Item = R;
    type Iter<I: Iterator<Item = T>> = std::iter::FilterMap<I, &'a F>;

    #[inline]
    fn apply<I: Iterator<Item = T>>(self, items: I) -> Self::Iter<I> {
        items.filter_map(self.0)
    }
}
