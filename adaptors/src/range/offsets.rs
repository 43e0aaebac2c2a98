//! Ranges by their offsets from the start.

use super::RangeItem;
use furcate_schedulers::{Divisible, Facts, IndexedProducer, PeekProducer, Producer};
use std::iter::FusedIterator;
use std::ops::Range;

/// A start and a range of offsets from it, as a producer and as a sequential iterator.
///
/// Used for ranges whose std iterator cannot be used by positions, because it does not report its exact length.
///
/// ```
/// use furcate::prelude::*;
/// let mut it = (10..20_u64).into_par_iter();
/// let offsets: furcate::range::Offsets<_> = it.indexed_producer();
/// assert_eq!(offsets.divide_at(3).1.next(), Some(13));
/// ```
#[derive(Clone, Debug)]
pub struct Offsets<T> {
    start: T,
    offsets: Range<usize>,
}

impl<T> Offsets<T> {
    /// Makes `len` values from `start` on, which exist.
    #[inline]
    pub(crate) fn new(start: T, len: usize) -> Self {
        Offsets { start, offsets: 0..len }
    }
}

impl<T: RangeItem> Divisible for Offsets<T> {
    #[inline]
    fn size(&self) -> usize {
        self.offsets.size()
    }

    #[inline]
    fn divide_at(self, index: usize) -> (Self, Self) {
        let (left, right) = self.offsets.divide_at(index);
        (Offsets { start: self.start, offsets: left }, Offsets { start: self.start, offsets: right })
    }
}

impl<T: RangeItem> Iterator for Offsets<T> {
    type Item = T;

    #[inline]
    fn next(&mut self) -> Option<T> {
        self.offsets.next().map(|offset| self.start.forward(offset))
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        self.offsets.size_hint()
    }

    #[inline]
    fn nth(&mut self, n: usize) -> Option<T> {
        self.offsets.nth(n).map(|offset| self.start.forward(offset))
    }

    #[inline]
    fn fold<B, F: FnMut(B, T) -> B>(self, init: B, mut f: F) -> B {
        self.offsets.fold(init, |folded, offset| f(folded, self.start.forward(offset)))
    }
}

impl<T: RangeItem> DoubleEndedIterator for Offsets<T> {
    #[inline]
    fn next_back(&mut self) -> Option<T> {
        self.offsets.next_back().map(|offset| self.start.forward(offset))
    }

    #[inline]
    fn nth_back(&mut self, n: usize) -> Option<T> {
        self.offsets.nth_back(n).map(|offset| self.start.forward(offset))
    }

    #[inline]
    fn rfold<B, F: FnMut(B, T) -> B>(self, init: B, mut f: F) -> B {
        self.offsets.rfold(init, |folded, offset| f(folded, self.start.forward(offset)))
    }
}

impl<T: RangeItem> ExactSizeIterator for Offsets<T> {}
impl<T: RangeItem> FusedIterator for Offsets<T> {}
impl<T: RangeItem> Producer for Offsets<T> {
    const FACTS: Facts = Facts::SINGLE;
}
impl<T: RangeItem> IndexedProducer for Offsets<T> {}

impl<T: RangeItem> PeekProducer for Offsets<T> {
    const LOOKS_ARE_ITEMS: bool = true;

    #[inline]
    fn peek(&self, index: usize) -> T {
        self.start.forward(self.offsets.peek(index))
    }
}
