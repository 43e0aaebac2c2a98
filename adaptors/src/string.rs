//! Taking characters out of strings.

use crate::iter::{ParallelDrainRange, ParallelIterator, default_schedule};
use crate::str::{EveryChar, ReadProducer};
use crate::vec::indices;
use std::ops::{Range, RangeBounds};

/// A draining parallel iterator over characters: see [`ParallelDrainRange::par_drain`].
///
/// ```
/// use furcate::prelude::*;
/// let mut s = String::from("añb");
/// assert_eq!(s.par_drain(1..).collect::<Vec<char>>(), ['ñ', 'b']);
/// assert_eq!(s, "a");
/// ```
#[must_use = "iterators do nothing until a terminal drives them; the range is taken out in any case"]
#[derive(Debug)]
pub struct Drain<'a> {
    string: &'a mut String,
    range: Range<usize>,
}

/// Drains a range of bytes.
///
/// # Panics
///
/// If the range lies outside the string, or starts or ends inside a character.
impl<'a> ParallelDrainRange<usize> for &'a mut String {
    type Iter = Drain<'a>;
    type Item = char;

    #[track_caller]
    fn par_drain<R: RangeBounds<usize>>(self, range: R) -> Drain<'a> {
        let range = indices(range, self.len());
        for end in [range.start, range.end] {
            assert!(self.is_char_boundary(end), "the range's end {end} lies inside a character");
        }
        Drain { string: self, range }
    }
}

impl ParallelIterator for Drain<'_> {
    type Item = char;
    type Producer<'a>
        = ReadProducer<'a, 'static, EveryChar, ()>
    where
        Self: 'a;

    default_schedule!();

    fn producer(&mut self) -> Self::Producer<'_> {
        ReadProducer::new(&self.string[self.range.clone()], EveryChar, &())
    }
}

impl Drop for Drain<'_> {
    fn drop(&mut self) {
        self.string.drain(self.range.clone());
    }
}
