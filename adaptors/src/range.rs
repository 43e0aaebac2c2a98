//! Half-open ranges of integers and characters.

mod item;
mod offsets;

pub use item::RangeItem;
pub use offsets::Offsets;

use crate::iter::{IndexedParallelIterator, IntoParallelIterator, ParallelIterator, default_schedule};
use std::ops::Range;

/// A parallel iterator over a half-open range, of any integer type or of `char`.
///
/// A range that is longer than `usize::MAX` (they exist of 128-bit integers, and on small machines of 64-bit ones) has
/// no positions: [`opt_len`](ParallelIterator::opt_len) is `None`, and everything that needs a length or positions
/// (`len`, `zip`, `enumerate`, `rev` ...) panics. The rest works.
///
/// ```
/// use furcate::prelude::*;
/// assert_eq!((0..5_usize).into_par_iter().sum::<usize>(), 10);
/// assert_eq!((0..1_u128 << 100).into_par_iter().opt_len(), None);
/// ```
#[must_use = "iterators do nothing until a terminal drives them"]
#[derive(Clone, Debug)]
pub struct Iter<T> {
    range: Range<T>,
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
        T::exact_len(&self.range)
    }
}

impl<T: RangeItem> IndexedParallelIterator for Iter<T> {
    type IndexedProducer<'a>
        = T::IndexedProducer
    where
        Self: 'a;

    #[inline]
    fn indexed_producer(&mut self) -> T::IndexedProducer {
        T::indexed_producer(self.range.clone(), self.len())
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

/// The length of a range that is used by positions.
#[inline]
#[track_caller]
pub(crate) fn fitting(len: Option<usize>) -> usize {
    len.expect(
        "this range has more than usize::MAX items, so its length and positions cannot be told: use shorter ranges with \
         `len`, `zip`, `enumerate`, `rev` and other indexed methods, or do without them",
    )
}
