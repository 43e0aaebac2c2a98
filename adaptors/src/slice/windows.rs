//! Windows: subslices that overlap.

use super::chunked::{Chunked, Chunking};
use furcate_schedulers::Divisible;

/// Kinds of windows, and std's iterators over them. A window begins at every element that has enough elements behind it; `size` is not 0.
macro_rules! kinds_of_windows {
    ($($(#[$doc:meta])* [$($N:tt)*] $Kind:ident $(<$n:ident>)?, |$windows:ident| $leaf:expr => $Leaf:ty;)+) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug)]
        pub struct $Kind<$($N)*>;

        impl<'data, T: Sync, $($N)*> Chunking<&'data [T]> for $Kind $(<$n>)? {
            type Leaf = $Leaf;

            #[inline]
            fn leaf(self, slice: &'data [T], size: usize) -> Self::Leaf {
                let $windows = slice.windows(size);
                $leaf
            }

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
    )+};
}

kinds_of_windows! {
    /// The windows as slices.
    [] EveryWindow, |windows| windows => std::slice::Windows<'data, T>;
    /// The windows as arrays of `N` elements. (std's own `array_windows` needs Rust 1.94.)
    [const N: usize] EveryArray<N>, |windows| windows.map(|window| window.first_chunk().expect("a window has `N` elements"))
        => std::iter::Map<std::slice::Windows<'data, T>, fn(&'data [T]) -> &'data [T; N]>;
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
