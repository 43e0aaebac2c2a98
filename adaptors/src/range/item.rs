//! The item types of ranges.

use super::Offsets;
use furcate_schedulers::{PeekProducer, Producer};
use std::ops::{Range, RangeInclusive};

mod sealed {
    pub trait Sealed {}
}

/// An item type of parallel ranges: the integers and `char`.
///
/// Sealed: it cannot be implemented for other types. To iterate over ranges of your own, implement
/// [`Divisible`](furcate_schedulers::Divisible) and [`Producer`](furcate_schedulers::Producer).
///
/// ```
/// use furcate::prelude::*;
/// use furcate::range::RangeItem;
///
/// fn all<T: RangeItem>(range: std::ops::Range<T>) -> Vec<T> {
///     range.into_par_iter().collect()
/// }
/// assert_eq!(all(-1..2_i64), [-1, 0, 1]);
/// assert_eq!(all('a'..'c'), ['a', 'b']);
/// ```
pub trait RangeItem: Copy + Send + sealed::Sealed {
    /// The half-open range itself: its leaf is std's iterator.
    #[doc(hidden)]
    type Producer: Producer<Item = Self>;

    /// The inclusive range itself: its leaf is std's iterator, too.
    #[doc(hidden)]
    type InclusiveProducer: Producer<Item = Self>;

    /// The half-open range itself if std's iterator reports its exact length, else [`Offsets`].
    #[doc(hidden)]
    type IndexedProducer: PeekProducer<Item = Self>;

    #[doc(hidden)]
    fn producer(range: Range<Self>) -> Self::Producer;

    #[doc(hidden)]
    fn inclusive_producer(range: RangeInclusive<Self>) -> Self::InclusiveProducer;

    /// Makes the indexed producer of a range of length `len`.
    #[doc(hidden)]
    fn indexed_producer(range: Range<Self>, len: usize) -> Self::IndexedProducer;

    /// Returns the length, if it fits a `usize`.
    #[doc(hidden)]
    fn exact_len(range: &Range<Self>) -> Option<usize>;

    /// Returns the length, if it fits a `usize`.
    #[doc(hidden)]
    fn exact_len_inclusive(range: &RangeInclusive<Self>) -> Option<usize>;

    /// Returns the value `distance` steps further on, which exists.
    #[doc(hidden)]
    fn forward(self, distance: usize) -> Self;
}

/// The items that are the same for all types.
macro_rules! ranges_themselves {
    () => {
        type Producer = Range<Self>;
        type InclusiveProducer = RangeInclusive<Self>;

        #[inline]
        fn producer(range: Range<Self>) -> Self::Producer {
            range
        }

        #[inline]
        fn inclusive_producer(range: RangeInclusive<Self>) -> Self::InclusiveProducer {
            range
        }

        // The upper bound is `None` if, and only if, the length does not fit a `usize`.
        #[inline]
        fn exact_len(range: &Range<Self>) -> Option<usize> {
            range.size_hint().1
        }

        #[inline]
        fn exact_len_inclusive(range: &RangeInclusive<Self>) -> Option<usize> {
            range.size_hint().1
        }
    };
}

/// Declares that std's iterator is the indexed producer.
macro_rules! indexed_by_range {
    () => {
        type IndexedProducer = Range<Self>;

        #[inline]
        fn indexed_producer(range: Range<Self>, _len: usize) -> Self::IndexedProducer {
            range
        }
    };
}

/// Declares that offsets are the indexed producer, for types whose std iterator does not report its exact length.
macro_rules! indexed_by_offsets {
    () => {
        type IndexedProducer = Offsets<Self>;

        #[inline]
        fn indexed_producer(range: Range<Self>, len: usize) -> Self::IndexedProducer {
            Offsets::new(range.start, len)
        }
    };
}

macro_rules! integers {
    ($indexed:ident: $($int:ident),+) => {$(
        impl sealed::Sealed for $int {}

        impl RangeItem for $int {
            ranges_themselves!();
            $indexed!();

            #[inline]
            fn forward(self, distance: usize) -> Self {
                // The distance from a negative start can exceed the signed maximum: the sum wraps to the right place.
                self.wrapping_add(distance as $int)
            }
        }
    )+};
}

integers!(indexed_by_range: u8, u16, u32, usize, i8, i16, i32, isize);
integers!(indexed_by_offsets: u64, u128, i64, i128);

impl sealed::Sealed for char {}

impl RangeItem for char {
    ranges_themselves!();
    indexed_by_offsets!();

    #[inline]
    fn forward(self, distance: usize) -> Self {
        (self..=char::MAX).nth(distance).expect("a distance below a range's length leads to a character")
    }
}
