//! The adaptor `update`.

use crate::iter::ParallelIterator;
use crate::iter::adaptor::adaptor;
use crate::iter::mapped::{MapItem, Mapped};
use crate::iter::stage::{PerItem, Stage, StageFacts, adapt_items, borrowed_op};

adaptor! {
    /// Changes every item in place: see [`ParallelIterator::update`].
    ///
    /// ```
    /// use furcate::prelude::*;
    /// let it: furcate::iter::Update<_, _> = (0..3).into_par_iter().update(|x| *x *= 10);
    /// assert_eq!(it.collect::<Vec<_>>(), [0, 10, 20]);
    /// ```
    Update<I, F> { update_op: F }
}

adapt_items! {
    impl[I, F] Update<I, F> by PerItem<UpdateOp<'a, F>> = |it| PerItem(UpdateOp(&it.update_op)) => I::Item, peek
    where [I: ParallelIterator, F: Fn(&mut I::Item) + Sync + Send]
}

borrowed_op!(UpdateOp);

impl<T, F> MapItem<T> for UpdateOp<'_, F>
where
    F: Fn(&mut T) + Sync,
{
    type Output = T;

    #[inline]
    fn map_item(&mut self, mut item: T) -> T {
        (self.0)(&mut item);
        item
    }
}

impl<T, F> Stage<T> for UpdateOp<'_, F>
where
    F: Fn(&mut T) + Sync,
{
    const FACTS: StageFacts = StageFacts::ONE;
    type Item = T;
    type Iter<I: Iterator<Item = T>> = Mapped<I, Self>;

    #[inline]
    fn apply<I: Iterator<Item = T>>(self, items: I) -> Self::Iter<I> {
        Mapped::new(items, self)
    }
}
