//! Chunks: subslices that do not overlap, counted from the front or from the back.

use super::chunked::{Chunked, Chunking};
use furcate_schedulers::Divisible;
use std::mem::take;

/// Cuts behind chunks that are counted from the front.
#[inline]
fn from_front<V: Divisible>(slice: V, size: usize, index: usize) -> (V, V) {
    slice.divide_at(index.saturating_mul(size))
}

/// Cuts in front of chunks that are counted from the back.
#[inline]
fn from_back<V: Divisible>(slice: V, size: usize, index: usize) -> (V, V) {
    let others = slice.size().saturating_sub(index.saturating_mul(size));
    let (others, first) = slice.divide_at(others);
    (first, others)
}

/// Kinds of chunks: the end from which they are counted, and std's iterators over them.
macro_rules! kinds_of_chunks {
    ($($(#[$doc:meta])* $Kind:ident: $cut:ident, $leaf:ident -> $Leaf:ident, $leaf_mut:ident -> $LeafMut:ident;)+) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug)]
        pub struct $Kind;

        impl<'data, T: Sync> Chunking<&'data [T]> for $Kind {
            type Leaf = std::slice::$Leaf<'data, T>;

            #[inline]
            fn leaf(self, slice: &'data [T], size: usize) -> Self::Leaf {
                slice.$leaf(size)
            }

            #[inline]
            fn cut(slice: &'data [T], size: usize, index: usize) -> (&'data [T], &'data [T]) {
                $cut(slice, size, index)
            }
        }

        impl<'data, T: Send> Chunking<&'data mut [T]> for $Kind {
            type Leaf = std::slice::$LeafMut<'data, T>;

            #[inline]
            fn leaf(self, slice: &'data mut [T], size: usize) -> Self::Leaf {
                slice.$leaf_mut(size)
            }

            #[inline]
            fn cut(slice: &'data mut [T], size: usize, index: usize) -> (&'data mut [T], &'data mut [T]) {
                $cut(slice, size, index)
            }
        }
    )+};
}

kinds_of_chunks! {
    /// Chunks from the front; the last one may be shorter.
    Front: from_front, chunks -> Chunks, chunks_mut -> ChunksMut;
    /// Chunks from the front, all of one length.
    FrontExact: from_front, chunks_exact -> ChunksExact, chunks_exact_mut -> ChunksExactMut;
    /// Chunks from the back; the last one (which holds the slice's first elements) may be shorter.
    Back: from_back, rchunks -> RChunks, rchunks_mut -> RChunksMut;
    /// Chunks from the back, all of one length.
    BackExact: from_back, rchunks_exact -> RChunksExact, rchunks_exact_mut -> RChunksExactMut;
}

/// A kind that leaves over the elements that do not fill a chunk.
pub trait Exact {}

impl Exact for FrontExact {}
impl Exact for BackExact {}

impl<V: Divisible, K: Chunking<V> + Exact> Chunked<V, K> {
    pub(crate) fn exact(slice: V, size: usize, kind: K) -> Self {
        let chunks = slice.size() / size;
        let (slice, remainder) = K::cut(slice, size, chunks);
        Chunked::with_remainder(slice, remainder, size, kind)
    }
}

impl<'data, T, K: Exact> Chunked<&'data [T], K> {
    /// Returns the elements that do not fill a chunk, fewer than the chunk size: the last ones of the slice, or, if
    /// chunks are counted from the back, the first ones.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// assert_eq!([1, 2, 3, 4, 5].par_chunks_exact(2).remainder(), [5]);
    /// assert_eq!([1, 2, 3, 4, 5].par_rchunks_exact(2).remainder(), [1]);
    /// ```
    #[must_use]
    pub fn remainder(&self) -> &'data [T] {
        self.left_over()
    }
}

impl<'data, T, K: Exact> Chunked<&'data mut [T], K> {
    /// Returns the elements that do not fill a chunk, fewer than the chunk size: the last ones of the slice, or, if
    /// chunks are counted from the back, the first ones.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// let mut v = [1, 2, 3, 4, 5];
    /// let mut pairs = v.par_chunks_exact_mut(2);
    /// pairs.remainder()[0] = 0;
    /// pairs.for_each(|pair| pair.reverse());
    /// assert_eq!(v, [2, 1, 4, 3, 0]);
    /// ```
    #[must_use]
    pub fn remainder(&mut self) -> &mut [T] {
        self.left_over_mut()
    }

    /// Returns the [`remainder`](Self::remainder), for as long as the slice was borrowed. The iterator has none
    /// afterwards.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// let mut v = [1, 2, 3, 4, 5];
    /// let mut pairs = v.par_rchunks_exact_mut(2);
    /// let rest = pairs.take_remainder();
    /// pairs.for_each(|pair| pair.reverse());
    /// rest[0] = 0;
    /// assert_eq!(v, [0, 3, 2, 5, 4]);
    /// ```
    #[must_use]
    pub fn take_remainder(&mut self) -> &'data mut [T] {
        take(self.left_over_mut())
    }

    /// Returns the [`remainder`](Self::remainder) and consumes the iterator.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// assert_eq!([1, 2, 3, 4, 5].par_chunks_exact_mut(2).into_remainder(), [5]);
    /// ```
    #[must_use]
    pub fn into_remainder(mut self) -> &'data mut [T] {
        self.take_remainder()
    }
}

/// A parallel iterator over chunks: see [`ParallelSlice::par_chunks`](super::ParallelSlice::par_chunks).
///
/// ```
/// use furcate::prelude::*;
/// let it: furcate::slice::Chunks<_> = [1, 2, 3, 4, 5].par_chunks(2);
/// assert_eq!(it.collect::<Vec<_>>(), [&[1, 2][..], &[3, 4], &[5]]);
/// ```
pub type Chunks<'data, T> = Chunked<&'data [T], Front>;

/// A parallel iterator over mutable chunks: see
/// [`ParallelSliceMut::par_chunks_mut`](super::ParallelSliceMut::par_chunks_mut).
///
/// ```
/// use furcate::prelude::*;
/// let mut v = [1, 2, 3, 4, 5];
/// let it: furcate::slice::ChunksMut<_> = v.par_chunks_mut(2);
/// it.for_each(|chunk| chunk.reverse());
/// assert_eq!(v, [2, 1, 4, 3, 5]);
/// ```
pub type ChunksMut<'data, T> = Chunked<&'data mut [T], Front>;

/// A parallel iterator over chunks of one length: see
/// [`ParallelSlice::par_chunks_exact`](super::ParallelSlice::par_chunks_exact).
///
/// ```
/// use furcate::prelude::*;
/// let it: furcate::slice::ChunksExact<_> = [1, 2, 3, 4, 5].par_chunks_exact(2);
/// assert_eq!(it.remainder(), [5]);
/// assert_eq!(it.collect::<Vec<_>>(), [[1, 2], [3, 4]]);
/// ```
pub type ChunksExact<'data, T> = Chunked<&'data [T], FrontExact>;

/// A parallel iterator over mutable chunks of one length: see
/// [`ParallelSliceMut::par_chunks_exact_mut`](super::ParallelSliceMut::par_chunks_exact_mut).
///
/// ```
/// use furcate::prelude::*;
/// let mut v = [1, 2, 3, 4, 5];
/// let it: furcate::slice::ChunksExactMut<_> = v.par_chunks_exact_mut(2);
/// it.for_each(|chunk| chunk.fill(0));
/// assert_eq!(v, [0, 0, 0, 0, 5]);
/// ```
pub type ChunksExactMut<'data, T> = Chunked<&'data mut [T], FrontExact>;

/// A parallel iterator over chunks from the back: see
/// [`ParallelSlice::par_rchunks`](super::ParallelSlice::par_rchunks).
///
/// ```
/// use furcate::prelude::*;
/// let it: furcate::slice::RChunks<_> = [1, 2, 3, 4, 5].par_rchunks(2);
/// assert_eq!(it.collect::<Vec<_>>(), [&[4, 5][..], &[2, 3], &[1]]);
/// ```
pub type RChunks<'data, T> = Chunked<&'data [T], Back>;

/// A parallel iterator over mutable chunks from the back: see
/// [`ParallelSliceMut::par_rchunks_mut`](super::ParallelSliceMut::par_rchunks_mut).
///
/// ```
/// use furcate::prelude::*;
/// let mut v = [1, 2, 3, 4, 5];
/// let it: furcate::slice::RChunksMut<_> = v.par_rchunks_mut(2);
/// it.for_each(|chunk| chunk.reverse());
/// assert_eq!(v, [1, 3, 2, 5, 4]);
/// ```
pub type RChunksMut<'data, T> = Chunked<&'data mut [T], Back>;

/// A parallel iterator over chunks of one length from the back: see
/// [`ParallelSlice::par_rchunks_exact`](super::ParallelSlice::par_rchunks_exact).
///
/// ```
/// use furcate::prelude::*;
/// let it: furcate::slice::RChunksExact<_> = [1, 2, 3, 4, 5].par_rchunks_exact(2);
/// assert_eq!(it.remainder(), [1]);
/// assert_eq!(it.collect::<Vec<_>>(), [[4, 5], [2, 3]]);
/// ```
pub type RChunksExact<'data, T> = Chunked<&'data [T], BackExact>;

/// A parallel iterator over mutable chunks of one length from the back: see
/// [`ParallelSliceMut::par_rchunks_exact_mut`](super::ParallelSliceMut::par_rchunks_exact_mut).
///
/// ```
/// use furcate::prelude::*;
/// let mut v = [1, 2, 3, 4, 5];
/// let it: furcate::slice::RChunksExactMut<_> = v.par_rchunks_exact_mut(2);
/// it.for_each(|chunk| chunk.fill(0));
/// assert_eq!(v, [1, 0, 0, 0, 0]);
/// ```
pub type RChunksExactMut<'data, T> = Chunked<&'data mut [T], BackExact>;
