//! The adaptor `step_by`.

use super::groups::Groups;
use crate::iter::indexed_iterator;
use furcate_schedulers::{Facts, IndexedProducer, PeekProducer, Producer};

/// Every n-th item: see [`step_by`](crate::iter::IndexedParallelIterator::step_by).
///
/// ```
/// use furcate::prelude::*;
/// let it: furcate::iter::StepBy<_> = (0..7).into_par_iter().step_by(3);
/// assert_eq!(it.collect::<Vec<_>>(), [0, 3, 6]);
/// ```
#[must_use = "iterators do nothing until a terminal drives them"]
#[derive(Clone, Debug)]
pub struct StepBy<I> {
    base: I,
    step: usize,
}

impl<I> StepBy<I> {
    #[track_caller]
    pub(crate) fn new(base: I, step: usize) -> Self {
        assert!(step != 0, "step must not be zero");
        StepBy { base, step }
    }
}

indexed_iterator! {
    impl[I] StepBy<I> where over base in batches of step;
    type Item = I::Item;
    type Producer<P> = Groups<P>;
    fn len(this) { this.base.len().div_ceil(this.step) }
    fn lend(this, base) { Groups::new(base, this.step) }
}

/// Yields the first item of each group.
impl<P: IntoIterator> IntoIterator for Groups<P> {
    type Item = P::Item;
    type IntoIter = std::iter::StepBy<P::IntoIter>;

    #[inline]
    fn into_iter(self) -> Self::IntoIter {
        self.base.into_iter().step_by(self.group)
    }
}

impl<P: Producer> Producer for Groups<P> {
    const FACTS: Facts = P::FACTS;
}
impl<P: IndexedProducer> IndexedProducer for Groups<P> {}

impl<P: PeekProducer> PeekProducer for Groups<P> {
    const LOOKS_ARE_ITEMS: bool = P::LOOKS_ARE_ITEMS;

    #[inline]
    fn peek(&self, index: usize) -> P::Item {
        self.base.peek(index * self.group)
    }
}
