//! The adaptor `map`.

use crate::iter::ParallelIterator;
use crate::iter::adaptor::adaptor;
use crate::iter::stage::{PerItem, Stage, StageFacts, adapt_items, borrowed_op};

adaptor! {
    /// Transforms every item: see [`ParallelIterator::map`].
    ///
    /// ```
    /// use furcate::prelude::*;
    /// let it: furcate::iter::Map<_, _> = (0..3).into_par_iter().map(|x| x + 1);
    /// assert_eq!(it.sum::<i32>(), 6);
    /// ```
    Map<I, F> { map_op: F }
}

adapt_items! {
    impl[I, F, R] Map<I, F> by PerItem<MapOp<'a, F>> = |it| PerItem(MapOp(&it.map_op)) => R, peek
    where [I: ParallelIterator, F: Fn(I::Item) -> R + Sync + Send, R: Send]
}

borrowed_op!(MapOp);

impl<'a, T, R, F> Stage<T> for MapOp<'a, F>
where
    F: Fn(T) -> R + Sync,
{
    const FACTS: StageFacts = StageFacts::ONE;
    type Item = R;
    type Iter<I: Iterator<Item = T>> = std::iter::Map<I, &'a F>;

    #[inline]
    fn apply<I: Iterator<Item = T>>(self, items: I) -> Self::Iter<I> {
        items.map(self.0)
    }
}
