//! Parallel iterators over the pieces of anything divisible.

use super::{ParallelIterator, default_schedule};
use furcate_schedulers::{Divisible, Producer};

/// `wrap_iter()` on everything [`Divisible`].
///
/// Implemented for all of them; there is nothing to implement.
///
/// ```
/// use furcate::prelude::*;
/// let sums: Vec<u32> = (0..10_u32).wrap_iter().bound_depth(1).map(|piece| piece.sum()).collect();
/// assert_eq!(sums, [10, 35]);
/// ```
pub trait WrapIter: Divisible {
    /// A parallel iterator over the pieces themselves: its items are the leaves of the division tree.
    ///
    /// There is one at least, also of something empty. How many there are, and how large, the policy says: without
    /// one, a few per thread. With it any divide-and-conquer algorithm becomes a `map` over pieces and a `reduce` of
    /// neighbours (Kvik, Section 3.6).
    ///
    /// ```
    /// use furcate::prelude::*;
    /// let pieces: Vec<&[i32]> = [1, 2, 3, 4, 5, 6][..].wrap_iter().bound_depth(1).collect();
    /// assert_eq!(pieces, [&[1, 2, 3], &[4, 5, 6]]);
    /// ```
    #[inline]
    fn wrap_iter(self) -> Wrap<Self>
    where
        Self: Send,
    {
        Wrap { whole: Some(self) }
    }
}

impl<D: Divisible> WrapIter for D {}

/// A parallel iterator over the pieces of something divisible: see [`WrapIter::wrap_iter`].
///
/// ```
/// use furcate::prelude::*;
/// let it: furcate::iter::Wrap<_> = (0..10).wrap_iter();
/// assert_eq!(it.bound_depth(1).collect::<Vec<_>>(), [0..5, 5..10]);
/// ```
#[must_use = "iterators do nothing until a terminal drives them"]
#[derive(Clone, Debug)]
pub struct Wrap<D> {
    /// `None` once it has been lent.
    whole: Option<D>,
}

impl<D: Divisible + Send> ParallelIterator for Wrap<D> {
    type Item = D;
    type Producer<'a>
        = Pieces<D>
    where
        Self: 'a;

    default_schedule!();

    #[inline]
    fn producer(&mut self) -> Pieces<D> {
        Pieces { piece: self.whole.take() }
    }
}

/// The producer of [`Wrap`]: a piece, which is one item.
#[derive(Debug)]
pub struct Pieces<D> {
    piece: Option<D>,
}

impl<D: Divisible> Divisible for Pieces<D> {
    #[inline]
    fn size(&self) -> usize {
        self.piece.size()
    }

    #[inline]
    fn should_be_divided(&self) -> bool {
        self.piece.should_be_divided()
    }

    #[inline]
    fn divide(self) -> (Self, Self) {
        let (left, right) = self.piece.divide();
        (Pieces { piece: left }, Pieces { piece: right })
    }

    #[inline]
    fn divide_at(self, index: usize) -> (Self, Self) {
        let (left, right) = self.piece.divide_at(index);
        (Pieces { piece: left }, Pieces { piece: right })
    }
}

impl<D> IntoIterator for Pieces<D> {
    type Item = D;
    type IntoIter = std::option::IntoIter<D>;

    #[inline]
    fn into_iter(self) -> Self::IntoIter {
        self.piece.into_iter()
    }
}

impl<D: Divisible + Send> Producer for Pieces<D> {
    const PIECES: bool = true;
}
