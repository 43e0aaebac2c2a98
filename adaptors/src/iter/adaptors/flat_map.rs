//! The adaptor `flat_map`.

use super::flat::{FlatProducer, InnerSlot, Unfold};
use crate::iter::{ParallelIterator, inherit_schedule};
use std::fmt;

/// Makes a parallel iterator of every item, and yields the items of all these: see [`ParallelIterator::flat_map`].
///
/// ```
/// use furcate::prelude::*;
/// let it: furcate::iter::FlatMap<_, _> = (1..4).into_par_iter().flat_map(|n| 0..n);
/// assert_eq!(it.collect::<Vec<_>>(), [0, 0, 1, 0, 1, 2]);
/// ```
#[must_use = "iterators do nothing until a terminal drives them"]
pub struct FlatMap<I: ParallelIterator, F: Unfold<I::Item>> {
    base: I,
    map_op: F,
    /// The slots of a call; none until the adaptor lends.
    slots: Vec<InnerSlot<F::Inner>>,
}

impl<I: ParallelIterator, F: Unfold<I::Item>> FlatMap<I, F> {
    pub(crate) fn new(base: I, map_op: F) -> Self {
        FlatMap { base, map_op, slots: Vec::new() }
    }
}

impl<I: ParallelIterator + Clone, F: Unfold<I::Item> + Clone> Clone for FlatMap<I, F> {
    fn clone(&self) -> Self {
        FlatMap::new(self.base.clone(), self.map_op.clone())
    }
}

impl<I: ParallelIterator + fmt::Debug, F: Unfold<I::Item>> fmt::Debug for FlatMap<I, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FlatMap").field("base", &self.base).finish_non_exhaustive()
    }
}

impl<I: ParallelIterator, F: Unfold<I::Item>> ParallelIterator for FlatMap<I, F> {
    type Item = <F::Inner as ParallelIterator>::Item;
    type Producer<'a>
        = FlatProducer<'a, I::Producer<'a>, F, F::Inner>
    where
        Self: 'a;

    inherit_schedule!(base: I);

    #[inline]
    fn units(&self) -> Option<usize> {
        self.base.units()
    }

    #[inline]
    fn producer(&mut self) -> Self::Producer<'_> {
        FlatProducer::whole(self.base.producer(), &mut self.slots, &self.map_op)
    }
}
