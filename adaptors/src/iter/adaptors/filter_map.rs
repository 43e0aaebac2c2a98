//! The adaptor `filter_map`.

use crate::iter::ParallelIterator;
use crate::iter::adaptor::adaptor;
use crate::iter::item_wise::{ItemWise, adapt_items, borrowed_op};

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
    impl[I, F, R] FilterMap<I, F> by FilterMapOp<F>(filter_op) => R
    where [I: ParallelIterator, F: Fn(I::Item) -> Option<R> + Sync + Send, R: Send]
}

borrowed_op!(FilterMapOp);

impl<'a, T, R, F> ItemWise<T> for FilterMapOp<'a, F>
where
    F: Fn(T) -> Option<R> + Sync,
{
    type Output = R;
    type Leaf<I: Iterator<Item = T>> = std::iter::FilterMap<I, &'a F>;

    #[inline]
    fn leaf<I: Iterator<Item = T>>(self, base: I) -> Self::Leaf<I> {
        base.filter_map(self.0)
    }
}
