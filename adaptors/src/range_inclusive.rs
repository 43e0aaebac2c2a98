//! Ranges of integers and characters with their ends.

use crate::iter::{IndexedParallelIterator, IntoParallelIterator, ParallelIterator, default_schedule};
use crate::range::{Offsets, RangeItem, fitting};
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
        = T::InclusiveProducer
    where
        Self: 'a;

    default_schedule!();

    #[inline]
    fn producer(&mut self) -> T::InclusiveProducer {
        T::inclusive_producer(self.range.clone())
    }

    #[inline]
    fn opt_len(&self) -> Option<usize> {
        T::exact_len_inclusive(&self.range)
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
