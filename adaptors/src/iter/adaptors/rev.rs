//! The adaptor `rev`.

use crate::iter::indexed_iterator;
use furcate_schedulers::{Divisible, Facts, IndexedProducer, PeekProducer, Producer};

/// The items from the back to the front: see [`rev`](crate::iter::IndexedParallelIterator::rev).
///
/// ```
/// use furcate::prelude::*;
/// let it: furcate::iter::Rev<_> = (0..3).into_par_iter().rev();
/// assert_eq!(it.collect::<Vec<_>>(), [2, 1, 0]);
/// ```
#[must_use = "iterators do nothing until a terminal drives them"]
#[derive(Clone, Debug)]
pub struct Rev<I> {
    base: I,
}

impl<I> Rev<I> {
    pub(crate) fn new(base: I) -> Self {
        Rev { base }
    }
}

indexed_iterator! {
    impl[I] Rev<I> where over base;
    type Item = I::Item;
    type Producer<P> = RevProducer<P>;
    fn len(this) { this.base.len() }
    fn lend(_this, base) { RevProducer { base } }
}

/// The producer of [`Rev`]: the part to the right of a cut of the base comes first.
#[derive(Debug)]
pub struct RevProducer<P> {
    base: P,
}

impl<P: Divisible> Divisible for RevProducer<P> {
    #[inline]
    fn size(&self) -> usize {
        self.base.size()
    }

    #[inline]
    fn divide_at(self, index: usize) -> (Self, Self) {
        let from_front = self.base.size().saturating_sub(index);
        let (left, right) = self.base.divide_at(from_front);
        (RevProducer { base: right }, RevProducer { base: left })
    }
}

impl<P: IndexedProducer> IntoIterator for RevProducer<P> {
    type Item = P::Item;
    type IntoIter = std::iter::Rev<P::IntoIter>;

    #[inline]
    fn into_iter(self) -> Self::IntoIter {
        self.base.into_iter().rev()
    }
}

impl<P: IndexedProducer> Producer for RevProducer<P> {
    const FACTS: Facts = P::FACTS;
}
impl<P: IndexedProducer> IndexedProducer for RevProducer<P> {}

impl<P: PeekProducer> PeekProducer for RevProducer<P> {
    const LOOKS_ARE_ITEMS: bool = P::LOOKS_ARE_ITEMS;

    #[inline]
    fn peek(&self, index: usize) -> P::Item {
        self.base.peek(self.base.size() - 1 - index)
    }
}
