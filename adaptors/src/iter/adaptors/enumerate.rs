//! The adaptor `enumerate`.

use crate::iter::indexed_iterator;
use furcate_schedulers::{Divisible, Facts, IndexedProducer, PeekProducer, Producer};
use std::ops::Range;

/// Counts the items: see [`enumerate`](crate::iter::IndexedParallelIterator::enumerate).
///
/// ```
/// use furcate::prelude::*;
/// let it: furcate::iter::Enumerate<_> = ['a', 'b'].into_par_iter().enumerate();
/// assert_eq!(it.collect::<Vec<_>>(), [(0, 'a'), (1, 'b')]);
/// ```
#[must_use = "iterators do nothing until a terminal drives them"]
#[derive(Clone, Debug)]
pub struct Enumerate<I> {
    base: I,
}

impl<I> Enumerate<I> {
    pub(crate) fn new(base: I) -> Self {
        Enumerate { base }
    }
}

indexed_iterator! {
    impl[I] Enumerate<I> where over base;
    type Item = (usize, I::Item);
    type Producer<P> = EnumerateProducer<P>;
    fn len(this) { this.base.len() }
    fn lend(_this, base) { EnumerateProducer { base, offset: 0 } }
}

/// The producer of [`Enumerate`]: a part, and the place of its first item.
#[derive(Debug)]
pub struct EnumerateProducer<P> {
    base: P,
    offset: usize,
}

impl<P: Divisible> Divisible for EnumerateProducer<P> {
    #[inline]
    fn size(&self) -> usize {
        self.base.size()
    }

    #[inline]
    fn divide_at(self, index: usize) -> (Self, Self) {
        let (left, right) = self.base.divide_at(index);
        let middle = self.offset + left.size();
        (
            EnumerateProducer { base: left, offset: self.offset },
            EnumerateProducer { base: right, offset: middle },
        )
    }
}

impl<P: IndexedProducer> IntoIterator for EnumerateProducer<P> {
    type Item = (usize, P::Item);
    type IntoIter = std::iter::Zip<Range<usize>, P::IntoIter>;

    #[inline]
    fn into_iter(self) -> Self::IntoIter {
        let base = self.base.into_iter();
        (self.offset..self.offset + base.len()).zip(base)
    }
}

impl<P: IndexedProducer> Producer for EnumerateProducer<P> {
    const FACTS: Facts = P::FACTS;
}
impl<P: IndexedProducer> IndexedProducer for EnumerateProducer<P> {}

impl<P: PeekProducer> PeekProducer for EnumerateProducer<P> {
    const LOOKS_ARE_ITEMS: bool = P::LOOKS_ARE_ITEMS;

    #[inline]
    fn peek(&self, index: usize) -> (usize, P::Item) {
        (self.offset + index, self.base.peek(index))
    }
}
