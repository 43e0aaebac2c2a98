//! Taking a range out of a vector.
//!
//! # Invariants
//!
//! 1. While a [`Drain`] exists, the vector's length is the range's start: neither the range nor the tail behind it
//!    belong to the vector. A forgotten drain leaks both, which is safe.
//! 2. The drain owns the range's elements until they are lent to a producer (`lent`), which then owns them ([`Owned`]'s
//!    invariant 1).
//! 3. When the drain is dropped, nothing in the range is owned any more, and the tail is moved down to its start.
#![allow(unsafe_code)]

use super::Owned;
use crate::iter::{ParallelDrainRange, indexed_iterator};
use std::ops::{Bound, Range, RangeBounds};

/// A draining parallel iterator: see [`ParallelDrainRange::par_drain`].
///
/// ```
/// use furcate::prelude::*;
/// let mut v = vec![0, 1, 2, 3];
/// let it: furcate::vec::Drain<_> = v.par_drain(1..3);
/// assert_eq!(it.sum::<i32>(), 3);
/// assert_eq!(v, [0, 3]);
/// ```
#[must_use = "iterators do nothing until a terminal drives them; the range is taken out in any case"]
#[derive(Debug)]
pub struct Drain<'data, T: Send> {
    vec: &'data mut Vec<T>,
    range: Range<usize>,
    old_len: usize,
    lent: bool,
}

impl<'data, T: Send> ParallelDrainRange<usize> for &'data mut Vec<T> {
    type Iter = Drain<'data, T>;
    type Item = T;

    #[track_caller]
    fn par_drain<R: RangeBounds<usize>>(self, range: R) -> Drain<'data, T> {
        let old_len = self.len();
        let range = indices(range, old_len);
        // SAFETY: the start is at most the length (invariant 1).
        unsafe { self.set_len(range.start) };
        Drain { vec: self, range, old_len, lent: false }
    }
}

/// Turns a range into indices of a value of length `len`.
///
/// # Panics
///
/// If the range lies outside, as slicing does.
#[track_caller]
pub(crate) fn indices(range: impl RangeBounds<usize>, len: usize) -> Range<usize> {
    let start = match range.start_bound() {
        Bound::Unbounded => 0,
        Bound::Included(&start) => start,
        Bound::Excluded(&before) => before.checked_add(1).expect("the range starts behind usize::MAX"),
    };
    let end = match range.end_bound() {
        Bound::Unbounded => len,
        Bound::Included(&last) => last.checked_add(1).expect("the range ends at usize::MAX, inclusive"),
        Bound::Excluded(&end) => end,
    };
    assert!(start <= end, "the range starts at {start} but ends at {end}");
    assert!(end <= len, "the range ends at {end} but the length is {len}");
    start..end
}

impl<T: Send> Drain<'_, T> {
    fn lend(&mut self) -> Owned<'_, T> {
        let len = if std::mem::replace(&mut self.lent, true) { 0 } else { self.range.len() };
        // SAFETY: the range lies within the buffer.
        let start = unsafe { self.vec.as_mut_ptr().add(self.range.start) };
        // SAFETY: the range's elements are initialized and owned by the drain, which gives them up (invariant 2). The
        // borrow of `self` keeps all other code away from the buffer.
        unsafe { Owned::new(&mut *std::ptr::slice_from_raw_parts_mut(start, len)) }
    }
}

indexed_iterator! {
    impl[T] Drain<'_, T> where [T: Send]
    type Item = T;
    type Producer<'a> = Owned<'a, T>;
    fn len(this) { if this.lent { 0 } else { this.range.len() } }
    fn lend(this) { this.lend() }
}

impl<T: Send> Drop for Drain<'_, T> {
    fn drop(&mut self) {
        /// Moves the tail even if an element's drop panics.
        struct MoveTail<'a, 'data, T: Send>(&'a mut Drain<'data, T>);

        impl<T: Send> Drop for MoveTail<'_, '_, T> {
            fn drop(&mut self) {
                let Drain { vec, range, old_len, .. } = &mut *self.0;
                let tail = *old_len - range.end;
                let start = vec.as_mut_ptr();
                // SAFETY: both ends lie within the buffer. The tail is initialized and has no owner (invariant 1), and
                // its new place holds nothing that is owned (invariant 3). Then the first `start + tail` elements are
                // initialized.
                unsafe {
                    std::ptr::copy(start.add(range.end), start.add(range.start), tail);
                    vec.set_len(range.start + tail);
                }
            }
        }

        let guard = MoveTail(self);
        drop(guard.0.lend());
    }
}
