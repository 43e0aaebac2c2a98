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
pub use part::{Fuse, SharedPart, SlicePart, fuse_slices};
pub use split::{ChunkBy, ChunkByMut, Split, SplitInclusive, SplitInclusiveMut, SplitMut};
pub use windows::{ArrayWindows, Windows};

use crate::iter::{IntoParallelIterator, indexed_iterator};

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

indexed_iterator! {
    impl['data, T] Iter<'data, T> where [T: Sync]
    type Item = &'data T;
    type Producer<'a> = &'data [T];
    fn len(this) { this.slice.len() }
    fn lend(this) { this.slice }
    peek where []
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

indexed_iterator! {
    impl['data, T] IterMut<'data, T> where [T: Send]
    type Item = &'data mut T;
    type Producer<'a> = &'data mut [T];
    fn len(this) { this.slice.len() }
    fn lend(this) { std::mem::take(&mut this.slice) }
}
