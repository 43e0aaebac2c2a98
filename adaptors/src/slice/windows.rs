//! Windows: subslices that overlap.

use super::chunked::{Chunked, Chunking};
use furcate_schedulers::Divisible;

/// One window from every element on that has enough behind it.
#[derive(Clone, Copy, Debug)]
pub struct EveryWindow;

/// The windows as arrays of `N` elements.
#[derive(Clone, Copy, Debug)]
pub struct EveryArray<const N: usize>;

/// How many windows of `size` elements, which is not 0, lie in `len` elements.
#[inline]
fn count(len: usize, size: usize) -> usize {
    len.saturating_sub(size - 1)
}

/// The elements of the first `index` windows, and those of the others: `size - 1` elements are in both.
#[inline]
fn cut<T>(slice: &[T], size: usize, index: usize) -> (&[T], &[T]) {
    let left = index.saturating_add(size - 1);
    (slice.divide_at(left).0, slice.divide_at(index).1)
}

impl<'data, T: Sync> Chunking<&'data [T]> for EveryWindow {
    type Leaf = std::slice::Windows<'data, T>;

    #[inline]
    fn leaf(self, slice: &'data [T], size: usize) -> Self::Leaf {
        slice.windows(size)
    }

    #[inline]
    fn count(len: usize, size: usize) -> usize {
        count(len, size)
    }

    #[inline]
    fn cut(slice: &'data [T], size: usize, index: usize) -> (&'data [T], &'data [T]) {
        cut(slice, size, index)
    }
}

impl<'data, T: Sync, const N: usize> Chunking<&'data [T]> for EveryArray<N> {
    // std's own `array_windows` needs Rust 1.94.
    type Leaf = std::iter::Map<std::slice::Windows<'data, T>, fn(&'data [T]) -> &'data [T; N]>;

    #[inline]
    fn leaf(self, slice: &'data [T], size: usize) -> Self::Leaf {
        slice.windows(size).map(|window| window.first_chunk().expect("a window has `N` elements"))
    }

    #[inline]
    fn count(len: usize, size: usize) -> usize {
        count(len, size)
    }

    #[inline]
    fn cut(slice: &'data [T], size: usize, index: usize) -> (&'data [T], &'data [T]) {
        cut(slice, size, index)
    }
}

impl<'data, T, const N: usize> Chunked<&'data [T], EveryArray<N>> {
    pub(crate) fn arrays(slice: &'data [T]) -> Self {
        const { assert!(N != 0, "the window size must not be zero") };
        Chunked::new(slice, N, EveryArray)
    }
}

/// A parallel iterator over windows: see [`ParallelSlice::par_windows`](super::ParallelSlice::par_windows).
pub type Windows<'data, T> = Chunked<&'data [T], EveryWindow>;

/// A parallel iterator over windows that are arrays: see
/// [`ParallelSlice::par_array_windows`](super::ParallelSlice::par_array_windows).
pub type ArrayWindows<'data, T, const N: usize> = Chunked<&'data [T], EveryArray<N>>;
