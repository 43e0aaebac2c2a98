//! Parts of shared slices.

use super::chunks::{Back, BackExact, Front, FrontExact};
use super::windows::EveryWindow;
use super::{
    ArrayWindows, ChunkBy, Chunks, ChunksExact, RChunks, RChunksExact, Split, SplitInclusive, Windows,
};

/// Parallel iterators over parts of a slice, by shared reference.
///
/// The methods are rayon's, and yield the same items as std's methods of the same names. Chunks and windows are
/// [indexed](crate::iter::IndexedParallelIterator). If a slice is split at elements, the cuts have to be searched for,
/// so the predicate is called at most once more for every element, in any order.
pub trait ParallelSlice<T: Sync> {
    /// Returns the slice, which all other methods use.
    fn as_parallel_slice(&self) -> &[T];

    /// Yields the parts between the elements for which a predicate is true, also empty parts.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// let words: Vec<&[i32]> = [1, 2, 0, 3, 0].par_split(|&x| x == 0).collect();
    /// assert_eq!(words, [&[1, 2][..], &[3], &[]]);
    /// ```
    fn par_split<P>(&self, separator: P) -> Split<'_, T, P>
    where
        P: Fn(&T) -> bool + Sync + Send,
    {
        Split::between(self.as_parallel_slice(), separator)
    }

    /// Yields the parts that end with an element for which a predicate is true, each with that element. (The last part
    /// may end without one.)
    ///
    /// ```
    /// use furcate::prelude::*;
    /// let words: Vec<&[i32]> = [1, 2, 0, 3, 0].par_split_inclusive(|&x| x == 0).collect();
    /// assert_eq!(words, [&[1, 2, 0][..], &[3, 0]]);
    /// ```
    fn par_split_inclusive<P>(&self, separator: P) -> SplitInclusive<'_, T, P>
    where
        P: Fn(&T) -> bool + Sync + Send,
    {
        SplitInclusive::inclusive(self.as_parallel_slice(), separator)
    }

    /// Yields all subslices of `window_size` elements, which overlap; none if the slice is shorter.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// let rises = [1, 3, 2, 5].par_windows(2).filter(|pair| pair[0] < pair[1]).collect::<Vec<_>>();
    /// assert_eq!(rises, [[1, 3], [2, 5]]);
    /// ```
    ///
    /// # Panics
    ///
    /// If `window_size` is 0.
    #[track_caller]
    fn par_windows(&self, window_size: usize) -> Windows<'_, T> {
        assert!(window_size != 0, "window_size must not be zero");
        Windows::new(self.as_parallel_slice(), window_size, EveryWindow)
    }

    /// Yields all subslices of `N` elements, which overlap, as arrays; none if the slice is shorter.
    ///
    /// An `N` of 0 does not compile.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// let steps: Vec<i32> = [1, 3, 2, 5].par_array_windows().map(|[a, b]| b - a).collect();
    /// assert_eq!(steps, [2, -1, 3]);
    /// ```
    fn par_array_windows<const N: usize>(&self) -> ArrayWindows<'_, T, N> {
        ArrayWindows::arrays(self.as_parallel_slice())
    }

    /// Yields chunks of `chunk_size` elements; the last one may be shorter.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// let sums: Vec<i32> = [1, 2, 3, 4, 5].par_chunks(2).map(|chunk| chunk.iter().sum()).collect();
    /// assert_eq!(sums, [3, 7, 5]);
    /// ```
    ///
    /// # Panics
    ///
    /// If `chunk_size` is 0.
    #[track_caller]
    fn par_chunks(&self, chunk_size: usize) -> Chunks<'_, T> {
        assert!(chunk_size != 0, "chunk_size must not be zero");
        Chunks::new(self.as_parallel_slice(), chunk_size, Front)
    }

    /// Yields chunks of exactly `chunk_size` elements. Elements that do not fill a chunk are the iterator's
    /// `remainder()`.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// let pairs = [1, 2, 3, 4, 5].par_chunks_exact(2).collect::<Vec<_>>();
    /// assert_eq!(pairs, [[1, 2], [3, 4]]);
    /// ```
    ///
    /// # Panics
    ///
    /// If `chunk_size` is 0.
    #[track_caller]
    fn par_chunks_exact(&self, chunk_size: usize) -> ChunksExact<'_, T> {
        assert!(chunk_size != 0, "chunk_size must not be zero");
        ChunksExact::exact(self.as_parallel_slice(), chunk_size, FrontExact)
    }

    /// Yields chunks of `chunk_size` elements, counted from the back; the last one, with the first elements, may be
    /// shorter.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// let chunks: Vec<&[i32]> = [1, 2, 3, 4, 5].par_rchunks(2).collect();
    /// assert_eq!(chunks, [&[4, 5][..], &[2, 3], &[1]]);
    /// ```
    ///
    /// # Panics
    ///
    /// If `chunk_size` is 0.
    #[track_caller]
    fn par_rchunks(&self, chunk_size: usize) -> RChunks<'_, T> {
        assert!(chunk_size != 0, "chunk_size must not be zero");
        RChunks::new(self.as_parallel_slice(), chunk_size, Back)
    }

    /// Yields chunks of exactly `chunk_size` elements, counted from the back. Elements that do not fill a chunk are the
    /// iterator's `remainder()`.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// let pairs = [1, 2, 3, 4, 5].par_rchunks_exact(2).collect::<Vec<_>>();
    /// assert_eq!(pairs, [[4, 5], [2, 3]]);
    /// ```
    ///
    /// # Panics
    ///
    /// If `chunk_size` is 0.
    #[track_caller]
    fn par_rchunks_exact(&self, chunk_size: usize) -> RChunksExact<'_, T> {
        assert!(chunk_size != 0, "chunk_size must not be zero");
        RChunksExact::exact(self.as_parallel_slice(), chunk_size, BackExact)
    }

    /// Yields the longest runs of elements in which a predicate is true for every two neighbors.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// let runs: Vec<&[i32]> = [1, 1, 1, 2, 3, 3].par_chunk_by(|a, b| a == b).collect();
    /// assert_eq!(runs, [&[1, 1, 1][..], &[2], &[3, 3]]);
    /// ```
    fn par_chunk_by<F>(&self, pred: F) -> ChunkBy<'_, T, F>
    where
        F: Fn(&T, &T) -> bool + Send + Sync,
    {
        ChunkBy::runs(self.as_parallel_slice(), pred)
    }
}

impl<T: Sync> ParallelSlice<T> for [T] {
    #[inline]
    fn as_parallel_slice(&self) -> &[T] {
        self
    }
}
