//! Parts of a mutable slice that can be put together again.
//!
//! `split_at_mut` is for good: for the borrow checker its halves have nothing to do with each other any more, and become
//! one again only where the borrow of the whole ends, which is a place in the source. An algorithm that divides and
//! *reduces* has no such place: which halves meet, and when, is the scheduler's business. So a [`Part`] remembers where
//! it comes from.
//!
//! # Invariants
//!
//! 1. `whole` is the beginning of a slice that was lent to [`Part::new`] for `'a`, and `range` is a range of it. (Of an
//!    empty part it may be the beginning of nothing.)
//! 2. Parts of the same `origin` come from the same call of `new`, and no two of them overlap; nothing else uses the
//!    slice as long as one of them lives. `new` makes one part of the whole; division and fusion make parts that have
//!    what the parts had that they consume.
#![allow(unsafe_code)]

use furcate_schedulers::Divisible;
use std::fmt;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut, Range};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// A part of a mutable slice, that can be divided and [fused](Self::fuse) again with its neighbours.
///
/// It is used as the slice that it is, and needed where a reduction joins in place what a division has cut:
///
/// ```
/// use furcate::prelude::*;
/// use furcate::slice::Part;
///
/// let mut v = [3, 1, 2, 9, 5, 7, 8, 6];
/// let whole = Part::new(&mut v)
///     .wrap_iter()
///     .bound_depth(2)
///     .map(|mut part| {
///         part.sort();
///         part
///     })
///     .reduce_with(|left, right| {
///         let mut both = left.fuse(right);
///         both.sort(); // std's sort notices that there are two runs
///         both
///     });
/// assert_eq!(*whole.unwrap(), [1, 2, 3, 5, 6, 7, 8, 9]);
/// ```
pub struct Part<'a, T> {
    whole: NonNull<T>,
    range: Range<usize>,
    origin: u64,
    slice: PhantomData<&'a mut [T]>,
}

impl<'a, T> Part<'a, T> {
    /// All of a slice.
    #[must_use]
    pub fn new(slice: &'a mut [T]) -> Self {
        // Relaxed: the numbers have to be different, and nothing is told by them.
        static ORIGINS: AtomicU64 = AtomicU64::new(1);
        let (range, origin) = (0..slice.len(), ORIGINS.fetch_add(1, Relaxed));
        Part { whole: NonNull::from(slice).cast(), range, origin, slice: PhantomData }
    }

    /// Where in the slice that was lent to [`new`](Self::new) it lies.
    #[must_use]
    pub fn range(&self) -> Range<usize> {
        self.range.clone()
    }

    /// This part and its right neighbour as one.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// use furcate::slice::Part;
    /// let mut v = [1, 2, 3, 4, 5];
    /// let (left, right) = Part::new(&mut v).divide_at(2);
    /// let (middle, right) = right.divide();
    /// assert_eq!(*left.fuse(middle), [1, 2, 3]);
    /// assert_eq!(right.range(), 3..5);
    /// ```
    ///
    /// # Panics
    ///
    /// If the other part does not begin where this one ends, in the same slice.
    #[track_caller]
    #[must_use]
    pub fn fuse(self, right: Self) -> Self {
        assert!(
            self.origin == right.origin && self.range.end == right.range.start,
            "only neighbours can be fused, and {right:?} is not the right neighbour of {self:?}"
        );
        // Both are parts of one slice, and so is this (invariants 1 and 2).
        Part { range: self.range.start..right.range.end, ..self }
    }

    /// The part as an ordinary slice; it can no longer be fused.
    #[must_use]
    pub fn into_slice(self) -> &'a mut [T] {
        // SAFETY: the range is the slice's, which is initialised and borrowed for `'a` (invariant 1), and nobody else
        // uses it (invariant 2), also not by way of `self`, which is consumed.
        unsafe {
            let first = self.whole.add(self.range.start);
            NonNull::slice_from_raw_parts(first, self.range.len()).as_mut()
        }
    }
}

/// An empty part of nothing.
impl<T> Default for Part<'_, T> {
    fn default() -> Self {
        Part::new(&mut [])
    }
}

// SAFETY: a part is a mutable slice (invariant 2).
unsafe impl<T: Send> Send for Part<'_, T> {}

// SAFETY: as above.
unsafe impl<T: Sync> Sync for Part<'_, T> {}

impl<T> Deref for Part<'_, T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        // SAFETY: as in `into_slice`; and the part is borrowed as the slice is.
        unsafe {
            let first = self.whole.add(self.range.start);
            NonNull::slice_from_raw_parts(first, self.range.len()).as_ref()
        }
    }
}

impl<T> DerefMut for Part<'_, T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: as in `into_slice`; and the part is borrowed as the slice is.
        unsafe {
            let first = self.whole.add(self.range.start);
            NonNull::slice_from_raw_parts(first, self.range.len()).as_mut()
        }
    }
}

/// Where it lies: the elements may be many.
impl<T> fmt::Debug for Part<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Part").field("origin", &self.origin).field("range", &self.range).finish()
    }
}

/// Cut between elements; no cost.
impl<T> Divisible for Part<'_, T> {
    #[inline]
    fn size(&self) -> usize {
        self.range.len()
    }

    #[inline]
    fn divide_at(self, index: usize) -> (Self, Self) {
        let middle = self.range.start + index.min(self.size());
        let right = Part { range: middle..self.range.end, ..self };
        (Part { range: self.range.start..middle, ..self }, right)
    }
}

#[cfg(test)]
mod tests {
    use super::Part;
    use furcate_schedulers::Divisible;
    use std::panic::{AssertUnwindSafe, catch_unwind};

    #[test]
    fn what_is_cut_can_be_fused() {
        let mut v: Vec<Box<usize>> = (0..20).map(Box::new).collect();
        for cut in [0, 1, 7, 19, 20, 50] {
            let (mut left, mut right) = Part::new(&mut v).divide_at(cut);
            assert_eq!((left.len(), right.len()), (cut.min(20), 20 - cut.min(20)));
            left.iter_mut().chain(right.iter_mut()).for_each(|x| **x += 1);
            let (middle, right) = right.divide();
            let mut all = left.fuse(middle).fuse(right);
            assert_eq!(all.range(), 0..20);
            all.reverse();
            all.iter_mut().for_each(|x| **x -= 1);
            all.into_slice().reverse();
        }
        assert!(v.into_iter().map(|x| *x).eq(0..20));
    }

    #[test]
    fn strangers_cannot_be_fused() {
        fn refuses<T>(left: Part<'_, T>, right: Part<'_, T>) -> bool {
            catch_unwind(AssertUnwindSafe(|| drop(left.fuse(right)))).is_err()
        }
        let (mut v, mut w) = ([1, 2, 3, 4], [5, 6]);
        let (left, right) = Part::new(&mut v).divide();
        assert!(refuses(right, left), "the other way round");
        let (left, rest) = Part::new(&mut v).divide_at(1);
        assert!(refuses(left, rest.divide_at(1).1), "there is a gap");
        let (left, _) = Part::new(&mut v).divide_at(2);
        assert!(refuses(left, Part::new(&mut w).divide_at(0).1), "another slice");
        let (left, right) = Part::new(&mut v).divide();
        assert!(refuses(Part::new(left.into_slice()), right), "no longer a part");
        // Elements without a size are all in the same place.
        let (mut v, mut w) = ([(); 4], [(); 4]);
        assert!(refuses(Part::new(&mut v).divide().0, Part::new(&mut w).divide().1));
        let (left, right) = Part::new(&mut v).divide();
        assert_eq!(left.fuse(right).len(), 4);
        assert!(refuses(Part::<()>::default(), Part::default()));
        assert!(Part::<String>::default().into_slice().is_empty());
    }
}
