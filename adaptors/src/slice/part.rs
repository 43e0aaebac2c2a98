//! Parts of a slice that can be joined again.
//!
//! `split_at_mut` cannot be undone: for the borrow checker the two halves are unrelated, and become one again only at
//! the end of the borrow of the whole, which is a place in the source. An algorithm that divides and *reduces* has no
//! such place: the scheduler decides which halves meet, and when. So a [`SlicePart`] remembers its origin.
//!
//! Two shared slices whose addresses touch may lie in two allocations, and then one slice over both is undefined
//! behavior, so no function of two `&[T]` can join them. A [`SharedPart`] keeps the whole slice, and needs no `unsafe`.
//!
//! # Invariants
//!
//! 1. `whole` is the beginning of a slice that was lent to [`SlicePart::new`] for `'a`, and `range` is a range of it. (For
//!    an empty part it may be a dangling pointer.)
//! 2. Parts of the same `origin` come from the same call of `new`, and no two of them overlap. Nothing else uses the
//!    slice while one of them lives. `new` makes one part of the whole. Division and fusion consume their parts, and
//!    make parts of exactly the same elements.
#![allow(unsafe_code)]

use furcate_pool::sync::machine::atomic::{AtomicU64, Ordering::Relaxed};
use furcate_schedulers::Divisible;
use std::fmt;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut, Range};
use std::ptr::NonNull;

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

impl<T> AsRef<[T]> for SlicePart<'_, T> {
    fn as_ref(&self) -> &[T] {
        self
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

/// A part of a shared slice, which can be divided and [fused](fuse_slices) again with its neighbors.
///
/// A part derefs to a slice, and is `Copy`.
pub struct SharedPart<'a, T> {
    whole: &'a [T],
    start: usize,
    end: usize,
}

impl<'a, T> SharedPart<'a, T> {
    /// Makes one part of a whole slice.
    #[must_use]
    pub fn new(whole: &'a [T]) -> Self {
        SharedPart { whole, start: 0, end: whole.len() }
    }

    /// Returns the part as an ordinary slice, which can no longer be fused.
    #[must_use]
    pub fn into_slice(self) -> &'a [T] {
        &self.whole[self.start..self.end]
    }
}

impl<T> Clone for SharedPart<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for SharedPart<'_, T> {}

impl<T> Deref for SharedPart<'_, T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        self.into_slice()
    }
}

/// Shows the range, not the elements, of which there may be many.
impl<T> fmt::Debug for SharedPart<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SharedPart").field("range", &(self.start..self.end)).finish()
    }
}

/// Cuts between elements, at no cost.
impl<T> Divisible for SharedPart<'_, T> {
    #[inline]
    fn size(&self) -> usize {
        self.end - self.start
    }

    #[inline]
    fn divide_at(self, index: usize) -> (Self, Self) {
        let middle = self.start + index.min(self.size());
        (SharedPart { end: middle, ..self }, SharedPart { start: middle, ..self })
    }
}

/// Parts that [`fuse_slices`] joins: [`SharedPart`] and [`SlicePart`].
pub trait Fuse: Sized {
    /// Joins this part and its right neighbor; see [`fuse_slices`].
    #[must_use]
    #[track_caller]
    fn fuse(self, right: Self) -> Self;
}

impl<T> Fuse for SharedPart<'_, T> {
    #[track_caller]
    fn fuse(self, right: Self) -> Self {
        assert!(
            std::ptr::eq(self.whole, right.whole) && self.end == right.start,
            "only neighbors can be fused, and {right:?} is not the right neighbor of {self:?}"
        );
        SharedPart { end: right.end, ..self }
    }
}

impl<T> Fuse for SlicePart<'_, T> {
    #[track_caller]
    fn fuse(self, right: Self) -> Self {
        SlicePart::fuse(self, right)
    }
}

/// Joins two neighboring parts of a slice, where a reduction needs what a division has cut (Kvik, Sections 3.4 and
/// 3.6.1).
///
/// The paper's `fuse_slices` takes two ordinary slices. Rust cannot have that: nothing shows that two slices whose
/// addresses touch are of one allocation. So the whole slice becomes a [`SharedPart`] or a [`SlicePart`] first.
///
/// The maximum subarray sum, as printed but for the first line and the last, which takes the sum out of the reduction:
///
/// ```
/// use furcate::prelude::*;
/// use furcate::slice::{SharedPart, fuse_slices};
///
/// fn max_sum_par(slice: &[i32]) -> i32 {
///     let slice = SharedPart::new(slice);
///     slice
///         .wrap_iter()
///         .map(|s| (s, max_sum_seq(s)))
///         .thief_splitting(4)
///         .reduce_with(|(left, l_sum), (right, r_sum)| {
///             let mid_sum = middle_sum(left, right);
///             (
///                 fuse_slices(left, right),
///                 l_sum.max(r_sum).max(mid_sum),
///             )
///         })
///         .map_or(0, |(_, sum)| sum)
/// }
///
/// fn max_sum_seq(slice: SharedPart<'_, i32>) -> i32 {
///     let sums = slice.iter().scan(0, |sum, x| {
///         *sum = (*sum + x).max(0);
///         Some(*sum)
///     });
///     sums.max().unwrap_or(0)
/// }
///
/// fn middle_sum(left: SharedPart<'_, i32>, right: SharedPart<'_, i32>) -> i32 {
///     fn best<'a>(items: impl Iterator<Item = &'a i32>) -> i32 {
///         let sums = items.scan(0, |sum, x| {
///             *sum += x;
///             Some(*sum)
///         });
///         sums.max().unwrap_or(0).max(0)
///     }
///     best(left.iter().rev()) + best(right.iter())
/// }
///
/// assert_eq!(max_sum_par(&[-2, 1, -3, 4, -1, 2, 1, -5, 4]), 6);
/// ```
///
/// The merge sort, as printed but for `mut`, and for `&mut output[..]`: `zip` would consume the `output` that the
/// closure returns.
///
/// ```
/// use furcate::prelude::*;
/// use furcate::slice::{SlicePart, fuse_slices};
///
/// let mut v: Vec<u32> = (0..1000).map(|i| i * 7919 % 1000).collect();
/// let mut b = vec![0; v.len()];
/// let (input, buffer) = (SlicePart::new(&mut v), SlicePart::new(&mut b));
/// (input, buffer)
///     .wrap_iter()
///     .even_levels()
///     .map(|(mut inp, out)| {
///         inp.sort();
///         (inp, out)
///     })
///     .reduce_with(|(l_in, l_out), (r_in, r_out)| {
///         let mut output = fuse_slices(l_out, r_out);
///         l_in.as_ref().into_par_iter()
///             .merge(r_in.as_ref())
///             .zip(&mut output[..])
///             .for_each(|(inp, out)| {
///                 *out = *inp;
///             });
///         (output, fuse_slices(l_in, r_in))
///     });
/// assert!(v.into_iter().eq(0..1000));
/// ```
///
/// # Panics
///
/// If the right part does not begin where the left one ends, in the same slice.
#[track_caller]
#[must_use]
pub fn fuse_slices<P: Fuse>(left: P, right: P) -> P {
    left.fuse(right)
}

#[cfg(test)]
mod tests {
    use super::{SharedPart, SlicePart, fuse_slices};
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

    #[test]
    fn shared_strangers_cannot_be_fused() {
        fn refuses<T>(left: SharedPart<'_, T>, right: SharedPart<'_, T>) -> bool {
            catch_unwind(AssertUnwindSafe(|| fuse_slices(left, right))).is_err()
        }
        let v = [1, 2, 3, 4];
        let whole = SharedPart::new(&v);
        let (left, right) = whole.divide();
        assert_eq!(*fuse_slices(left, right), v);
        assert!(refuses(right, left), "the other way round");
        assert!(refuses(left, right.divide_at(1).1), "there is a gap");
        assert!(refuses(left, whole), "the parts overlap");
        // Their addresses touch, but each is a whole of its own.
        let (a, b) = v.split_at(2);
        assert!(refuses(SharedPart::new(a), SharedPart::new(b)));
        assert!(refuses(left, SharedPart::new(b)));
        // The second range begins where the first one ends, but in another slice.
        let w = v;
        assert!(refuses(left, SharedPart::new(&w).divide().1));
    }
}
