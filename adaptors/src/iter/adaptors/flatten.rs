//! The adaptor `flatten`.

use super::flat::{FlatProducer, InnerSlots, Itself};
use crate::iter::{IntoParallelIterator, ParallelIterator, inherit_schedule};
use std::fmt;

/// The items of items that are parallel iterators, one after the other: see [`ParallelIterator::flatten`].
///
/// ```
/// use furcate::prelude::*;
/// let it: furcate::iter::Flatten<_> = [vec![1, 2], vec![3]].into_par_iter().flatten();
/// assert_eq!(it.collect::<Vec<_>>(), [1, 2, 3]);
/// ```
#[must_use = "iterators do nothing until a terminal drives them"]
#[derive(Clone)]
pub struct Flatten<I: ParallelIterator<Item: IntoParallelIterator>> {
    base: I,
    slots: InnerSlots<<I::Item as IntoParallelIterator>::Iter>,
}

impl<I: ParallelIterator<Item: IntoParallelIterator>> Flatten<I> {
    pub(crate) fn new(base: I) -> Self {
        Flatten { base, slots: InnerSlots::new() }
    }
}

impl<I: ParallelIterator<Item: IntoParallelIterator> + fmt::Debug> fmt::Debug for Flatten<I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Flatten").field("base", &self.base).finish_non_exhaustive()
    }
}

impl<I: ParallelIterator<Item: IntoParallelIterator>> ParallelIterator for Flatten<I> {
    type Item = <I::Item as IntoParallelIterator>::Item;
    type Producer<'a>
        = FlatProducer<'a, I::Producer<'a>, Itself, <I::Item as IntoParallelIterator>::Iter>
    where
        Self: 'a;

    inherit_schedule!(base: I);

    #[inline]
    fn units(&self) -> Option<usize> {
        self.base.units()
    }

    #[inline]
    fn producer(&mut self) -> Self::Producer<'_> {
        self.slots.lend(self.base.producer(), &Itself)
    }
}
