//! Parts of a mutable slice that can be joined again.
//!
//! `split_at_mut` cannot be undone: for the borrow checker the two halves are unrelated, and become one again only at
//! the end of the borrow of the whole, which is a place in the source. An algorithm that divides and *reduces* has no
//! such place: the scheduler decides which halves meet, and when. So a [`SlicePart`] remembers its origin.
//!
//! # Invariants
//!
//! 1. `whole` is the beginning of a slice that was lent to [`SlicePart::new`] for `'a`, and `range` is a range of it. (For
//!    an empty part it may be a dangling pointer.)
//! 2. Parts of the same `origin` come from the same call of `new`, and no two of them overlap. Nothing else uses the
//!    slice while one of them lives. `new` makes one part of the whole. Division and fusion consume their parts, and
//!    make parts of exactly the same elements.
#![allow(unsafe_code)]

use furcate_schedulers::Divisible;
use std::fmt;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut, Range};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// A part of a mutable slice, which can be divided and [fused](Self::fuse) again with its neighbors.
///
/// It can be used like a slice. It is needed where a reduction joins in place the two sides of a division:
///
/// ```
/// use furcate::prelude::*;
/// use furcate::slice::SlicePart;
///
/// let mut v = [3, 1, 2, 9, 5, 7, 8, 6];
/// let whole = SlicePart::new(&mut v)
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
pub struct SlicePart<'a, T> {
    whole: NonNull<T>,
    range: Range<usize>,
    origin: u64,
    slice: PhantomData<&'a mut [T]>,
}

impl<'a, T> SlicePart<'a, T> {
    /// Makes one part of a whole slice.
    #[must_use]
    pub fn new(slice: &'a mut [T]) -> Self {
        // Relaxed: the numbers only have to be different; no other memory access depends on them.
        static ORIGINS: AtomicU64 = AtomicU64::new(1);
        let (range, origin) = (0..slice.len(), ORIGINS.fetch_add(1, Relaxed));
        SlicePart { whole: NonNull::from(slice).cast(), range, origin, slice: PhantomData }
    }

    /// Returns the range of the part in the slice that was lent to [`new`](Self::new).
    #[must_use]
    pub fn range(&self) -> Range<usize> {
        self.range.clone()
    }

    /// Joins this part and its right neighbor.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// use furcate::slice::SlicePart;
    /// let mut v = [1, 2, 3, 4, 5];
    /// let (left, right) = SlicePart::new(&mut v).divide_at(2);
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
            "only neighbors can be fused, and {right:?} is not the right neighbor of {self:?}"
        );
        // Both are parts of one slice, and so is the result (invariants 1 and 2).
        SlicePart { range: self.range.start..right.range.end, ..self }
    }

    /// Returns the part as an ordinary slice, which can no longer be fused.
    #[must_use]
    pub fn into_slice(self) -> &'a mut [T] {
        // SAFETY: the range is the slice's, which is initialized and borrowed for `'a` (invariant 1). Nothing else uses
        // it (invariant 2), not even `self`, which is consumed.
        unsafe {
            let first = self.whole.add(self.range.start);
            NonNull::slice_from_raw_parts(first, self.range.len()).as_mut()
        }
    }
}

/// Makes an empty part.
impl<T> Default for SlicePart<'_, T> {
    fn default() -> Self {
        SlicePart::new(&mut [])
    }
}

// SAFETY: a part is a mutable slice (invariant 2).
unsafe impl<T: Send> Send for SlicePart<'_, T> {}

// SAFETY: a part is a mutable slice (invariant 2).
unsafe impl<T: Sync> Sync for SlicePart<'_, T> {}

impl<T> Deref for SlicePart<'_, T> {
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

impl<T> DerefMut for SlicePart<'_, T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: as in `into_slice`; and the part is borrowed as the slice is.
        unsafe {
            let first = self.whole.add(self.range.start);
            NonNull::slice_from_raw_parts(first, self.range.len()).as_mut()
        }
    }
}

/// Shows the range, not the elements, of which there may be many.
impl<T> fmt::Debug for SlicePart<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Part").field("origin", &self.origin).field("range", &self.range).finish()
    }
}

/// Cuts between elements, at no cost.
impl<T> Divisible for SlicePart<'_, T> {
    #[inline]
    fn size(&self) -> usize {
        self.range.len()
    }

    #[inline]
    fn divide_at(self, index: usize) -> (Self, Self) {
        let middle = self.range.start + index.min(self.size());
        let right = SlicePart { range: middle..self.range.end, ..self };
        (SlicePart { range: self.range.start..middle, ..self }, right)
    }
}

#[cfg(test)]
mod tests {
    use super::SlicePart;
    use furcate_schedulers::Divisible;
    use std::panic::{AssertUnwindSafe, catch_unwind};

    #[test]
    fn what_is_cut_can_be_fused() {
        let mut v: Vec<Box<usize>> = (0..20).map(Box::new).collect();
        for cut in [0, 1, 7, 19, 20, 50] {
            let (mut left, mut right) = SlicePart::new(&mut v).divide_at(cut);
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
        fn refuses<T>(left: SlicePart<'_, T>, right: SlicePart<'_, T>) -> bool {
            catch_unwind(AssertUnwindSafe(|| drop(left.fuse(right)))).is_err()
        }
        let (mut v, mut w) = ([1, 2, 3, 4], [5, 6]);
        let (left, right) = SlicePart::new(&mut v).divide();
        assert!(refuses(right, left), "the other way round");
        let (left, rest) = SlicePart::new(&mut v).divide_at(1);
        assert!(refuses(left, rest.divide_at(1).1), "there is a gap");
        let (left, _) = SlicePart::new(&mut v).divide_at(2);
        assert!(refuses(left, SlicePart::new(&mut w).divide_at(0).1), "another slice");
        let (left, right) = SlicePart::new(&mut v).divide();
        assert!(refuses(SlicePart::new(left.into_slice()), right), "no longer a part");
        // Elements without a size are all in the same place.
        let (mut v, mut w) = ([(); 4], [(); 4]);
        assert!(refuses(SlicePart::new(&mut v).divide().0, SlicePart::new(&mut w).divide().1));
        let (left, right) = SlicePart::new(&mut v).divide();
        assert_eq!(left.fuse(right).len(), 4);
        assert!(refuses(SlicePart::<()>::default(), SlicePart::default()));
        assert!(SlicePart::<String>::default().into_slice().is_empty());
    }
}
