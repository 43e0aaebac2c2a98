//! Parts of mutable slices.

use super::chunks::{Back, BackExact, Front, FrontExact};
use super::sort::leaf::{self, elements};
use super::sort::{sort_by_cached_key, sort_stable, sort_unstable};
use super::{
    ChunkByMut, ChunksExactMut, ChunksMut, RChunksExactMut, RChunksMut, SplitInclusiveMut, SplitMut,
};
use std::cmp::Ordering;

/// Parallel iterators over parts of a slice, by mutable reference; and sorts.
///
/// The iterators are the same as in [`ParallelSlice`](super::ParallelSlice), but their parts can be written to.
pub trait ParallelSliceMut<T: Send> {
    /// Returns the slice, which all other methods use.
    fn as_parallel_slice_mut(&mut self) -> &mut [T];

    /// Yields the parts between the elements for which a predicate is true, also empty parts.
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

    /// Yields the parts that end with an element for which a predicate is true, each with that element. (The last part
    /// may end without one.)
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

    /// Yields chunks of `chunk_size` elements; the last one may be shorter.
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

    /// Yields chunks of exactly `chunk_size` elements. Elements that do not fill a chunk are the iterator's
    /// `remainder()`.
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

    /// Yields chunks of `chunk_size` elements, counted from the back; the last one, with the first elements, may be
    /// shorter.
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

    /// Yields chunks of exactly `chunk_size` elements, counted from the back. Elements that do not fill a chunk are the
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

    /// Yields the longest runs of elements in which a predicate is true for every two neighbors.
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

    /// Sorts in parallel and stably: equal elements keep their order.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// let mut v = [3, 1, 2];
    /// v.par_sort();
    /// assert_eq!(v, [1, 2, 3]);
    /// ```
    ///
    /// Std's [`sort`](slice::sort) sorts a few parts, one per thread or more, and parallel merges (Varman et al. 1990)
    /// join them. This takes O(n log n) comparisons and one buffer for n elements. Short slices are left to std. A
    /// slice that is sorted, or strictly descending, takes n comparisons and no buffer.
    ///
    /// # Panics
    ///
    /// If a comparison panics. The slice then holds all its elements, each once, with any changes that a comparison made to them. So it
    /// does after a sort by an order that contradicts itself (is not a total order), in an unspecified order.
    /// (std's sorts may panic then; this one does not.)
    fn par_sort(&mut self)
    where
        T: Ord,
    {
        let slice = self.as_parallel_slice_mut();
        if leaf::is_enough(slice) { slice.sort() } else { sort_stable(slice, T::lt, leaf::sort) }
    }

    /// Sorts as [`par_sort`](Self::par_sort) does, by the order that a function gives. The function may run on several
    /// threads at once, but never at once for one element.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// let mut v = [(1, 'a'), (2, 'b'), (1, 'c')];
    /// v.par_sort_by(|(a, _), (b, _)| b.cmp(a));
    /// assert_eq!(v, [(2, 'b'), (1, 'a'), (1, 'c')]);
    /// ```
    ///
    /// # Panics
    ///
    /// As [`par_sort`](Self::par_sort).
    fn par_sort_by<F>(&mut self, compare: F)
    where
        F: Fn(&T, &T) -> Ordering + Sync,
    {
        let is_less = |a: &T, b: &T| compare(a, b) == Ordering::Less;
        sort_stable(self.as_parallel_slice_mut(), is_less, |leaf| {
            elements(leaf).sort_by(|a, b| compare(a, b))
        });
    }

    /// Sorts as [`par_sort`](Self::par_sort) does, by keys, which are computed anew for every comparison. It is meant
    /// for cheap keys, such as a field. For others there is [`par_sort_by_cached_key`](Self::par_sort_by_cached_key).
    ///
    /// ```
    /// use furcate::prelude::*;
    /// let mut v = [-3_i32, 2, 1, -2];
    /// v.par_sort_by_key(|x| x.abs());
    /// assert_eq!(v, [1, 2, -2, -3]);
    /// ```
    ///
    /// # Panics
    ///
    /// As [`par_sort`](Self::par_sort), and if the function panics.
    fn par_sort_by_key<K, F>(&mut self, f: F)
    where
        K: Ord,
        F: Fn(&T) -> K + Sync,
    {
        sort_stable(
            self.as_parallel_slice_mut(),
            |a, b| f(a) < f(b),
            |leaf| elements(leaf).sort_by_key(|x| f(x)),
        );
    }

    /// Sorts stably by keys, each computed once.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// let mut v = [10, 9, 1, 100];
    /// v.par_sort_by_cached_key(|x| x.to_string());
    /// assert_eq!(v, [1, 10, 100, 9]);
    /// ```
    ///
    /// Keys are computed in parallel and sorted, each with an index, by [`par_sort`](Self::par_sort). Then one thread
    /// moves the elements, each once. This takes memory for two lists of keys and one of indices. (Std and rayon call
    /// the function as often, but not at all for fewer than two elements. This method does the same.)
    ///
    /// # Panics
    ///
    /// If the function or a comparison panics. The slice then has its old order. If the order of the keys contradicts itself, the slice
    /// holds all its elements afterwards, each once, in an unspecified order.
    #[track_caller]
    fn par_sort_by_cached_key<K, F>(&mut self, f: F)
    where
        F: Fn(&T) -> K + Sync,
        K: Ord + Send,
    {
        sort_by_cached_key(self.as_parallel_slice_mut(), f);
    }

    /// Sorts in parallel and in place. Equal elements may change their order.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// let mut v = [3, 1, 2];
    /// v.par_sort_unstable();
    /// assert_eq!(v, [1, 2, 3]);
    /// ```
    ///
    /// Mostly faster than [`par_sort`](Self::par_sort) on a few threads, and without a buffer. The algorithm is a
    /// quicksort, whose leaves std's [`sort_unstable`](slice::sort_unstable) sorts, with O(n log n) comparisons. The
    /// first partition is made by one thread, the next two by two, and so on. This takes as long as about 2 n
    /// comparisons in a row, which on many threads is most of the time. Short slices are left to std. A slice that is
    /// sorted, or strictly descending, takes n comparisons. A slice that is sorted except for a few elements takes not
    /// many more.
    ///
    /// # Panics
    ///
    /// If a comparison panics. The slice then holds all its elements, each once, with any changes that a comparison made to them. So it
    /// does after a sort by an order that contradicts itself (is not a total order), in an unspecified order.
    /// (std's sorts may panic then; this one does not.)
    fn par_sort_unstable(&mut self)
    where
        T: Ord,
    {
        let slice = self.as_parallel_slice_mut();
        if leaf::is_enough(slice) {
            slice.sort_unstable();
        } else {
            sort_unstable(slice, T::lt, leaf::sort_unstable);
        }
    }

    /// Sorts as [`par_sort_unstable`](Self::par_sort_unstable) does, by the order that a function gives. The function
    /// may run on several threads at once, but never at once for one element.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// let mut v = [0.5_f64, -1.0, 2.0];
    /// v.par_sort_unstable_by(|a, b| b.total_cmp(a));
    /// assert_eq!(v, [2.0, 0.5, -1.0]);
    /// ```
    ///
    /// # Panics
    ///
    /// As [`par_sort_unstable`](Self::par_sort_unstable).
    fn par_sort_unstable_by<F>(&mut self, compare: F)
    where
        F: Fn(&T, &T) -> Ordering + Sync,
    {
        let is_less = |a: &T, b: &T| compare(a, b) == Ordering::Less;
        sort_unstable(self.as_parallel_slice_mut(), is_less, |leaf| {
            elements(leaf).sort_unstable_by(|a, b| compare(a, b))
        });
    }

    /// Sorts as [`par_sort_unstable`](Self::par_sort_unstable) does, by keys, which are computed anew for every
    /// comparison.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// let mut v = [-3_i32, 1, -2];
    /// v.par_sort_unstable_by_key(|x| x.abs());
    /// assert_eq!(v, [1, -2, -3]);
    /// ```
    ///
    /// # Panics
    ///
    /// As [`par_sort_unstable`](Self::par_sort_unstable), and if the function panics.
    fn par_sort_unstable_by_key<K, F>(&mut self, f: F)
    where
        K: Ord,
        F: Fn(&T) -> K + Sync,
    {
        sort_unstable(
            self.as_parallel_slice_mut(),
            |a, b| f(a) < f(b),
            |leaf| elements(leaf).sort_unstable_by_key(|x| f(x)),
        );
    }
}

impl<T: Send> ParallelSliceMut<T> for [T] {
    #[inline]
    fn as_parallel_slice_mut(&mut self) -> &mut [T] {
        self
    }
}
