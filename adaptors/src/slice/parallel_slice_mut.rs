//! Parts of mutable slices.

use super::chunks::{Back, BackExact, Front, FrontExact};
use super::sort::{sort_by_cached_key, sort_stable, sort_unstable};
use super::{
    ChunkByMut, ChunksExactMut, ChunksMut, RChunksExactMut, RChunksMut, SplitInclusiveMut, SplitMut,
};
use std::cmp::Ordering;

/// Parallel iterators over parts of a slice, by mutable reference.
///
/// The methods are those of [`ParallelSlice`](super::ParallelSlice), with parts that can be written to.
pub trait ParallelSliceMut<T: Send> {
    /// The slice; the other methods are made of it.
    fn as_parallel_slice_mut(&mut self) -> &mut [T];

    /// What lies between the elements that a predicate holds for, also where that is empty.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// let mut v = [3, 1, 2, 0, 5, 4];
    /// v.par_split_mut(|&x| x == 0).for_each(|part| part.sort());
    /// assert_eq!(v, [1, 2, 3, 0, 4, 5]);
    /// ```
    fn par_split_mut<P>(&mut self, separator: P) -> SplitMut<'_, T, P>
    where
        P: Fn(&T) -> bool + Sync + Send,
    {
        SplitMut::between(self.as_parallel_slice_mut(), separator)
    }

    /// The parts that end with an element that a predicate holds for (the last one may end without), each with that
    /// element.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// let mut v = [3, 1, 2, 0, 5, 4];
    /// v.par_split_inclusive_mut(|&x| x == 0).for_each(|part| part.sort());
    /// assert_eq!(v, [0, 1, 2, 3, 4, 5]);
    /// ```
    fn par_split_inclusive_mut<P>(&mut self, separator: P) -> SplitInclusiveMut<'_, T, P>
    where
        P: Fn(&T) -> bool + Sync + Send,
    {
        SplitInclusiveMut::inclusive(self.as_parallel_slice_mut(), separator)
    }

    /// Chunks of `chunk_size` elements; the last one may be shorter.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// let mut v = [1, 2, 3, 4, 5];
    /// v.par_chunks_mut(2).for_each(|chunk| chunk.reverse());
    /// assert_eq!(v, [2, 1, 4, 3, 5]);
    /// ```
    ///
    /// # Panics
    ///
    /// If `chunk_size` is 0.
    #[track_caller]
    fn par_chunks_mut(&mut self, chunk_size: usize) -> ChunksMut<'_, T> {
        assert!(chunk_size != 0, "chunk_size must not be zero");
        ChunksMut::new(self.as_parallel_slice_mut(), chunk_size, Front)
    }

    /// Chunks of exactly `chunk_size` elements. Those that do not fill a chunk are the iterator's `remainder()`.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// let mut v = [1, 2, 3, 4, 5];
    /// v.par_chunks_exact_mut(3).for_each(|chunk| chunk.reverse());
    /// assert_eq!(v, [3, 2, 1, 4, 5]);
    /// ```
    ///
    /// # Panics
    ///
    /// If `chunk_size` is 0.
    #[track_caller]
    fn par_chunks_exact_mut(&mut self, chunk_size: usize) -> ChunksExactMut<'_, T> {
        assert!(chunk_size != 0, "chunk_size must not be zero");
        ChunksExactMut::exact(self.as_parallel_slice_mut(), chunk_size, FrontExact)
    }

    /// Chunks of `chunk_size` elements, counted from the back; the last one, with the first elements, may be shorter.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// let mut v = [1, 2, 3, 4, 5];
    /// v.par_rchunks_mut(2).for_each(|chunk| chunk.reverse());
    /// assert_eq!(v, [1, 3, 2, 5, 4]);
    /// ```
    ///
    /// # Panics
    ///
    /// If `chunk_size` is 0.
    #[track_caller]
    fn par_rchunks_mut(&mut self, chunk_size: usize) -> RChunksMut<'_, T> {
        assert!(chunk_size != 0, "chunk_size must not be zero");
        RChunksMut::new(self.as_parallel_slice_mut(), chunk_size, Back)
    }

    /// Chunks of exactly `chunk_size` elements, counted from the back. Those that do not fill a chunk are the
    /// iterator's `remainder()`.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// let mut v = [1, 2, 3, 4, 5];
    /// v.par_rchunks_exact_mut(3).for_each(|chunk| chunk.reverse());
    /// assert_eq!(v, [1, 2, 5, 4, 3]);
    /// ```
    ///
    /// # Panics
    ///
    /// If `chunk_size` is 0.
    #[track_caller]
    fn par_rchunks_exact_mut(&mut self, chunk_size: usize) -> RChunksExactMut<'_, T> {
        assert!(chunk_size != 0, "chunk_size must not be zero");
        RChunksExactMut::exact(self.as_parallel_slice_mut(), chunk_size, BackExact)
    }

    /// The longest runs of elements in which a predicate holds for every two neighbours.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// let mut v = [1, 2, 3, 1, 2, 0];
    /// v.par_chunk_by_mut(|a, b| a < b).for_each(|rising| rising.reverse());
    /// assert_eq!(v, [3, 2, 1, 2, 1, 0]);
    /// ```
    fn par_chunk_by_mut<F>(&mut self, pred: F) -> ChunkByMut<'_, T, F>
    where
        F: Fn(&T, &T) -> bool + Send + Sync,
    {
        ChunkByMut::runs(self.as_parallel_slice_mut(), pred)
    }

    // ------------------------------------------------------------------------------------------------------- sorts

    /// Sorts.
    fn par_sort(&mut self)
    where
        T: Ord,
    {
        sort_stable(self.as_parallel_slice_mut(), T::lt, |leaf| leaf.sort());
    }

    /// Sorts.
    fn par_sort_by<F>(&mut self, compare: F)
    where
        F: Fn(&T, &T) -> Ordering + Sync,
    {
        sort_stable(
            self.as_parallel_slice_mut(),
            |a, b| compare(a, b) == Ordering::Less,
            |leaf| leaf.sort_by(&compare),
        );
    }

    /// Sorts.
    fn par_sort_by_key<K, F>(&mut self, f: F)
    where
        K: Ord,
        F: Fn(&T) -> K + Sync,
    {
        sort_stable(self.as_parallel_slice_mut(), |a, b| f(a) < f(b), |leaf| leaf.sort_by_key(&f));
    }

    /// Sorts.
    fn par_sort_by_cached_key<K, F>(&mut self, f: F)
    where
        F: Fn(&T) -> K + Sync,
        K: Ord + Send,
    {
        sort_by_cached_key(self.as_parallel_slice_mut(), f);
    }

    /// Sorts.
    fn par_sort_unstable(&mut self)
    where
        T: Ord,
    {
        sort_unstable(self.as_parallel_slice_mut(), T::lt, |leaf| leaf.sort_unstable());
    }

    /// Sorts.
    fn par_sort_unstable_by<F>(&mut self, compare: F)
    where
        F: Fn(&T, &T) -> Ordering + Sync,
    {
        sort_unstable(
            self.as_parallel_slice_mut(),
            |a, b| compare(a, b) == Ordering::Less,
            |leaf| leaf.sort_unstable_by(&compare),
        );
    }

    /// Sorts.
    fn par_sort_unstable_by_key<K, F>(&mut self, f: F)
    where
        K: Ord,
        F: Fn(&T) -> K + Sync,
    {
        sort_unstable(self.as_parallel_slice_mut(), |a, b| f(a) < f(b), |leaf| leaf.sort_unstable_by_key(&f));
    }
}

impl<T: Send> ParallelSliceMut<T> for [T] {
    #[inline]
    fn as_parallel_slice_mut(&mut self) -> &mut [T] {
        self
    }
}
