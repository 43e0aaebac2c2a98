//! Ranges of integers and characters.

use crate::iter::{IndexedParallelIterator, IntoParallelIterator, ParallelIterator, default_schedule};
use furcate_schedulers::{Divisible, IndexedProducer};
use std::ops::Range;

/// A parallel iterator over a half-open range.
///
/// ```
/// use furcate::prelude::*;
/// assert_eq!((0..5_usize).into_par_iter().sum::<usize>(), 10);
/// ```
#[must_use = "iterators do nothing until a terminal drives them"]
#[derive(Clone, Debug)]
pub struct Iter<T> {
    range: Range<T>,
}

/// What ranges are made of. Sealed: implemented for the integers and `char`.
pub trait RangeItem: Sized + Send + Clone {
    /// The producer of a half-open range.
    #[doc(hidden)]
    type Producer: IndexedProducer<Item = Self>;

    #[doc(hidden)]
    fn producer(range: Range<Self>) -> Self::Producer;
}

// One implementation for all, so that the type of `(0..10).into_par_iter()` is inferred as std's is.
impl<T: RangeItem> IntoParallelIterator for Range<T> {
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
        = T::Producer
    where
        Self: 'a;

    default_schedule!();

    #[inline]
    fn producer(&mut self) -> T::Producer {
        T::producer(self.range.clone())
    }

    #[inline]
    fn opt_len(&self) -> Option<usize> {
        Some(self.len())
    }
}

impl<T: RangeItem> IndexedParallelIterator for Iter<T> {
    type IndexedProducer<'a>
        = T::Producer
    where
        Self: 'a;

    #[inline]
    fn indexed_producer(&mut self) -> T::Producer {
        T::producer(self.range.clone())
    }

    #[inline]
    fn len(&self) -> usize {
        T::producer(self.range.clone()).size()
    }
}

macro_rules! integers {
    ($($int:ident),+) => {$(
        impl RangeItem for $int {
            type Producer = Range<$int>;

            #[inline]
            fn producer(range: Range<$int>) -> Range<$int> {
                range
            }
        }
    )+};
}

integers!(u8, u16, u32, usize, i8, i16, i32, isize);
