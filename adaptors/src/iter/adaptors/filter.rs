//! The adaptor `filter`.

use crate::iter::ParallelIterator;
use crate::iter::adaptor::adaptor;
use crate::iter::stage::{PerItem, Stage, StageFacts, adapt_items, borrowed_op};

adaptor! {
    /// Keeps the items for which a predicate is true: see [`ParallelIterator::filter`].
    ///
    /// ```
    /// use furcate::prelude::*;
    /// let it: furcate::iter::Filter<_, _> = (0..6).into_par_iter().filter(|x| x % 2 == 0);
    /// assert_eq!(it.collect::<Vec<_>>(), [0, 2, 4]);
    /// ```
    Filter<I, P> { predicate: P }
}

adapt_items! {
    impl[I, P] Filter<I, P> by PerItem<FilterOp<'a, P>> = |it| PerItem(FilterOp(&it.predicate)) => I::Item
    where [I: ParallelIterator, P: Fn(&I::Item) -> bool + Sync + Send]
}

borrowed_op!(FilterOp);

impl<'a, T, P> Stage<T> for FilterOp<'a, P>
where
    P: Fn(&T) -> bool + Sync,
{
    const FACTS: StageFacts = StageFacts::ONE;
    type Item = T;
    type Iter<I: Iterator<Item = T>> = std::iter::Filter<I, &'a P>;

    #[inline]
    fn apply<I: Iterator<Item = T>>(self, items: I) -> Self::Iter<I> {
        items.filter(self.0)
    }
}
