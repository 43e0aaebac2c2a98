//! Inclusive ranges of integers and characters.

use crate::range::{Offsets, RangeItem, range_iterator};
use std::ops::RangeInclusive;

/// A parallel iterator over an inclusive range, of any integer type or of `char`.
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

range_iterator!(
    RangeInclusive,
    InclusiveProducer,
    inclusive_producer,
    exact_len_inclusive,
    |range, len| Offsets::new(*range.start(), len) => Offsets<T>
);
