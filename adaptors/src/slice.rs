//! Slices: their elements, and their parts.

pub(crate) mod chunked;
mod chunks;
mod parallel_slice;
mod parallel_slice_mut;
mod part;
mod sort;
mod split;
mod windows;

pub use crate::co_rank::co_rank;
pub use chunked::Chunked;
pub use chunks::{
    Chunks, ChunksExact, ChunksExactMut, ChunksMut, RChunks, RChunksExact, RChunksExactMut, RChunksMut,
};
pub use parallel_slice::ParallelSlice;
pub use parallel_slice_mut::ParallelSliceMut;
pub use part::SlicePart;
pub use split::{ChunkBy, ChunkByMut, Split, SplitInclusive, SplitInclusiveMut, SplitMut};
pub use windows::{ArrayWindows, Windows};

use crate::iter::{
    IndexedParallelIterator, IntoParallelIterator, ParallelIterator, PeekParallelIterator, default_schedule,
    indexed_is_peek, producer_is_indexed,
};

/// A parallel iterator over a slice by shared reference.
///
/// ```
/// use furcate::prelude::*;
/// assert_eq!([1, 2, 3].par_iter().max(), Some(&3));
/// ```
#[must_use = "iterators do nothing until a terminal drives them"]
#[derive(Debug)]
pub struct Iter<'data, T> {
    slice: &'data [T],
}

impl<T> Clone for Iter<'_, T> {
    fn clone(&self) -> Self {
        Iter { slice: self.slice }
    }
}

impl<'data, T: Sync> IntoParallelIterator for &'data [T] {
    type Iter = Iter<'data, T>;
    type Item = &'data T;

    #[inline]
    fn into_par_iter(self) -> Self::Iter {
        Iter { slice: self }
    }
}

impl<'data, T: Sync> ParallelIterator for Iter<'data, T> {
    type Item = &'data T;
    type Producer<'a>
        = &'data [T]
    where
        Self: 'a;

    default_schedule!();

    #[inline]
    fn producer(&mut self) -> &'data [T] {
        self.slice
    }

    #[inline]
    fn opt_len(&self) -> Option<usize> {
        Some(self.slice.len())
    }
}

impl<'data, T: Sync> IndexedParallelIterator for Iter<'data, T> {
    producer_is_indexed!();

    #[inline]
    fn len(&self) -> usize {
        self.slice.len()
    }
}

impl<'data, T: Sync> PeekParallelIterator for Iter<'data, T> {
    indexed_is_peek!();
}

/// A parallel iterator over a slice by mutable reference.
///
/// ```
/// use furcate::prelude::*;
/// let mut v = [1, 2, 3];
/// v.par_iter_mut().for_each(|x| *x *= 2);
/// assert_eq!(v, [2, 4, 6]);
/// ```
#[must_use = "iterators do nothing until a terminal drives them"]
#[derive(Debug)]
pub struct IterMut<'data, T> {
    slice: &'data mut [T],
}

impl<'data, T: Send> IntoParallelIterator for &'data mut [T] {
    type Iter = IterMut<'data, T>;
    type Item = &'data mut T;

    #[inline]
    fn into_par_iter(self) -> Self::Iter {
        IterMut { slice: self }
    }
}

impl<'data, T: Send> ParallelIterator for IterMut<'data, T> {
    type Item = &'data mut T;
    type Producer<'a>
        = &'data mut [T]
    where
        Self: 'a;

    default_schedule!();

    #[inline]
    fn producer(&mut self) -> &'data mut [T] {
        std::mem::take(&mut self.slice)
    }

    #[inline]
    fn opt_len(&self) -> Option<usize> {
        Some(self.slice.len())
    }
}

impl<'data, T: Send> IndexedParallelIterator for IterMut<'data, T> {
    producer_is_indexed!();

    #[inline]
    fn len(&self) -> usize {
        self.slice.len()
    }
}
