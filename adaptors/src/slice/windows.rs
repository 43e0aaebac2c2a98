//! Windows: subslices that overlap.

use super::chunked::{Chunked, Chunking, Layout};
use furcate_schedulers::Divisible;

/// The windows as slices.
#[derive(Clone, Copy, Debug)]
pub struct EveryWindow;

/// The windows as arrays of `N` elements.
#[derive(Clone, Copy, Debug)]
pub struct EveryArray<const N: usize>;

/// A window begins at every element that has enough elements behind it; `size` is not 0.
#[derive(Clone, Copy, Debug)]
pub struct Overlapping;

impl<'data, T> Layout<&'data [T]> for Overlapping {
    #[inline]
    fn count(len: usize, size: usize) -> usize {
        len.saturating_sub(size - 1)
    }

    /// Cuts so that `size - 1` elements are on both sides.
    #[inline]
    fn cut(slice: &'data [T], size: usize, index: usize) -> (&'data [T], &'data [T]) {
        let left = index.saturating_add(size - 1);
        (slice.divide_at(left).0, slice.divide_at(index).1)
    }
}

impl<'data, T: Sync> Chunking<&'data [T]> for EveryWindow {
    type Layout = Overlapping;
    type Leaf = std::slice::Windows<'data, T>;

    #[inline]
    fn leaf(self, slice: &'data [T], size: usize) -> Self::Leaf {
        slice.windows(size)
    }
}

impl<'data, T: Sync, const N: usize> Chunking<&'data [T]> for EveryArray<N> {
    type Layout = Overlapping;
    // std's own `array_windows` needs Rust 1.94.
    type Leaf = std::iter::Map<std::slice::Windows<'data, T>, fn(&'data [T]) -> &'data [T; N]>;

    #[inline]
    fn leaf(self, slice: &'data [T], size: usize) -> Self::Leaf {
        slice.windows(size).map(|window| window.first_chunk().expect("a window has `N` elements"))
    }
}

impl<'data, T, const N: usize> Chunked<&'data [T], EveryArray<N>> {
    pub(crate) fn arrays(slice: &'data [T]) -> Self {
        const { assert!(N != 0, "the window size must not be zero") };
        Chunked::new(slice, N, EveryArray)
    }
}

/// A parallel iterator over windows: see [`ParallelSlice::par_windows`](super::ParallelSlice::par_windows).
///
/// ```
/// use furcate::prelude::*;
/// let it: furcate::slice::Windows<_> = [1, 2, 3].par_windows(2);
/// assert_eq!(it.collect::<Vec<_>>(), [[1, 2], [2, 3]]);
/// ```
pub type Windows<'data, T> = Chunked<&'data [T], EveryWindow>;

/// A parallel iterator over windows that are arrays: see
/// [`ParallelSlice::par_array_windows`](super::ParallelSlice::par_array_windows).
///
/// ```
/// use furcate::prelude::*;
/// let it: furcate::slice::ArrayWindows<_, 2> = [1, 2, 4].par_array_windows();
/// assert_eq!(it.map(|[a, b]| b - a).collect::<Vec<i32>>(), [1, 2]);
/// ```
pub type ArrayWindows<'data, T, const N: usize> = Chunked<&'data [T], EveryArray<N>>;
