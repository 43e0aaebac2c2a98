//! Ranges of integers and characters with their ends.

use crate::iter::{IndexedParallelIterator, IntoParallelIterator, ParallelIterator, default_schedule};
use crate::range::{Offsets, RangeItem, fitting};
use furcate_schedulers::{Divisible, Producer};
use std::iter::Chain;
use std::ops::RangeInclusive;

/// A parallel iterator over a range with its end, of any integer type or of `char`.
///
/// A range that is longer than `usize::MAX` has no positions, as [`range::Iter`](crate::range::Iter) says.
///
/// ```
/// use furcate::prelude::*;
/// assert_eq!((1..=100).into_par_iter().sum::<u32>(), 5050);
/// assert_eq!((u8::MIN..=u8::MAX).into_par_iter().len(), 256);
/// ```
#[must_use = "iterators do nothing until a terminal drives them"]
#[derive(Clone, Debug)]
pub struct Iter<T> {
    range: RangeInclusive<T>,
}

impl<T: RangeItem> IntoParallelIterator for RangeInclusive<T> {
    type Iter = Iter<T>;
    type Item = T;

    #[inline]
    fn into_par_iter(self) -> Iter<T> {
        Iter { range: self }
    }
}

impl<T: RangeItem> ParallelIterator for Iter<T> {
    type Item = T;
    type Producer<'a>
        = HalfOpen<T>
    where
        Self: 'a;

    default_schedule!();

    #[inline]
    fn producer(&mut self) -> HalfOpen<T> {
        HalfOpen::new(&self.range)
    }

    #[inline]
    fn opt_len(&self) -> Option<usize> {
        let up_to_last = T::exact_len(&(*self.range.start()..*self.range.end()))?;
        up_to_last.checked_add(usize::from(!self.range.is_empty()))
    }
}

impl<T: RangeItem> IndexedParallelIterator for Iter<T> {
    type IndexedProducer<'a>
        = Offsets<T>
    where
        Self: 'a;

    #[inline]
    fn indexed_producer(&mut self) -> Offsets<T> {
        Offsets::new(*self.range.start(), self.len())
    }

    /// # Panics
    ///
    /// If the length does not fit `usize`.
    #[inline]
    #[track_caller]
    fn len(&self) -> usize {
        fitting(self.opt_len())
    }
}

/// The producer of [`Iter`]: a half-open range, and the type's last value if that belongs to it too.
///
/// So the loop over a leaf has one condition, where std's `RangeInclusive` has two.
#[derive(Clone, Debug)]
pub struct HalfOpen<T: RangeItem> {
    body: T::Producer,
    last: Option<T>,
}

impl<T: RangeItem> HalfOpen<T> {
    #[inline]
    fn new(range: &RangeInclusive<T>) -> Self {
        let (start, end) = (*range.start(), *range.end());
        let (body, last) = match end.after() {
            // Also if the sequential iterator has been used before, and stands at its end.
            _ if range.is_empty() => (start..start, None),
            Some(after) => (start..after, None),
            None => (start..end, Some(end)),
        };
        HalfOpen { body: T::producer(body), last }
    }
}

impl<T: RangeItem> Divisible for HalfOpen<T> {
    #[inline]
    fn size(&self) -> usize {
        self.body.size().saturating_add(usize::from(self.last.is_some()))
    }

    #[inline]
    fn divide_at(self, index: usize) -> (Self, Self) {
        let (left_last, right_last) =
            if index > self.body.size() { (self.last, None) } else { (None, self.last) };
        let (left, right) = self.body.divide_at(index);
        (HalfOpen { body: left, last: left_last }, HalfOpen { body: right, last: right_last })
    }

    #[inline]
    fn divide(self) -> (Self, Self) {
        if !self.body.should_be_divided() {
            return self.divide_at(1);
        }
        // The body knows its half, even if its length does not fit a size.
        let (left, right) = self.body.divide();
        (HalfOpen { body: left, last: None }, HalfOpen { body: right, last: self.last })
    }
}

impl<T: RangeItem> IntoIterator for HalfOpen<T> {
    type Item = T;
    type IntoIter = Chain<<T::Producer as IntoIterator>::IntoIter, std::option::IntoIter<T>>;

    #[inline]
    fn into_iter(self) -> Self::IntoIter {
        self.body.into_iter().chain(self.last)
    }
}

impl<T: RangeItem> Producer for HalfOpen<T> {}
