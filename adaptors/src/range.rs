//! Half-open ranges of integers and characters.

mod item;
mod offsets;

pub use item::RangeItem;
pub use offsets::Offsets;

use std::ops::Range;

/// A parallel iterator over a half-open range, of any integer type or of `char`.
///
/// A range that is longer than `usize::MAX` (possible for 128-bit integers, and on small machines for 64-bit ones) has
/// no positions: [`opt_len`](crate::iter::ParallelIterator::opt_len) is `None`, and all methods that need a length or
/// positions (`len`, `zip`, `enumerate`, `rev` ...) panic. All other methods work.
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

/// The shared implementation of half-open and inclusive ranges.
macro_rules! range_iterator {
    ($Range:ident, $Producer:ident, $producer:ident, $exact_len:ident, |$range:ident, $len:ident| $indexed:expr => $Indexed:ty) => {
        // One implementation for all types, so that the type of `(0..10).into_par_iter()` is inferred in the same way
        // as in std.
        impl<T: RangeItem> $crate::iter::IntoParallelIterator for $Range<T> {
            type Iter = Iter<T>;
            type Item = T;

            #[inline]
            fn into_par_iter(self) -> Iter<T> {
                Iter { range: self }
            }
        }

        impl<T: RangeItem> $crate::iter::ParallelIterator for Iter<T> {
            type Item = T;
            type Producer<'a>
                = T::$Producer
            where
                Self: 'a;

            $crate::iter::default_schedule!();

            #[inline]
            fn producer(&mut self) -> T::$Producer {
                T::$producer(self.range.clone())
            }

            #[inline]
            fn opt_len(&self) -> Option<usize> {
                T::$exact_len(&self.range)
            }
        }

        impl<T: RangeItem> $crate::iter::IndexedParallelIterator for Iter<T> {
            type IndexedProducer<'a>
                = $Indexed
            where
                Self: 'a;

            #[inline]
            fn indexed_producer(&mut self) -> $Indexed {
                let ($range, $len) = (self.range.clone(), self.len());
                $indexed
            }

            /// # Panics
            ///
            /// If the length does not fit `usize`.
            #[inline]
            #[track_caller]
            fn len(&self) -> usize {
                $crate::range::fitting(T::$exact_len(&self.range))
            }
        }

        impl<T: RangeItem> $crate::iter::PeekParallelIterator for Iter<T> {
            $crate::iter::indexed_is_peek!();
        }
    };
}
pub(crate) use range_iterator;

range_iterator!(Range, Producer, producer, exact_len, |range, len| T::indexed_producer(range, len) => T::IndexedProducer);

/// Returns the length of a range whose positions are used.
#[inline]
#[track_caller]
pub(crate) fn fitting(len: Option<usize>) -> usize {
    len.expect(
        "this range has more than usize::MAX items, so its length and positions cannot be told: use shorter ranges with \
         `len`, `zip`, `enumerate`, `rev` and other indexed methods, or do without them",
    )
}
