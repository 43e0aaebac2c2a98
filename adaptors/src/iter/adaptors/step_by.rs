//! The adaptor `step_by`.

use super::groups::Groups;
use crate::iter::indexed_iterator;
use furcate_schedulers::{Divisible, Facts, IndexedProducer, PeekProducer, Producer};

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
    type Producer<P> = StepByProducer<P>;
    fn len(this) { this.base.len().div_ceil(this.step) }
    fn lend(this, base) { StepByProducer { steps: Groups::new(base, this.step) } }
}

/// The producer of [`StepBy`]: the first item of every group.
#[derive(Debug)]
pub struct StepByProducer<P> {
    steps: Groups<P>,
}

impl<P: Divisible> Divisible for StepByProducer<P> {
    #[inline]
    fn size(&self) -> usize {
        self.steps.size()
    }

    #[inline]
    fn divide_at(self, index: usize) -> (Self, Self) {
        let (left, right) = self.steps.divide_at(index);
        (StepByProducer { steps: left }, StepByProducer { steps: right })
    }
}

impl<P: IntoIterator> IntoIterator for StepByProducer<P> {
    type Item = P::Item;
    type IntoIter = std::iter::StepBy<P::IntoIter>;

    #[inline]
    fn into_iter(self) -> Self::IntoIter {
        self.steps.base.into_iter().step_by(self.steps.group)
    }
}

impl<P: Producer> Producer for StepByProducer<P> {
    const FACTS: Facts = P::FACTS;
}
impl<P: IndexedProducer> IndexedProducer for StepByProducer<P> {}

impl<P: PeekProducer> PeekProducer for StepByProducer<P> {
    const LOOKS_ARE_ITEMS: bool = P::LOOKS_ARE_ITEMS;

    #[inline]
    fn peek(&self, index: usize) -> P::Item {
        self.steps.base.peek(index * self.steps.group)
    }
}
