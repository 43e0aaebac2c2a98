//! Parallel iterators over the pieces of anything divisible.

use super::{ParallelIterator, Work, default_schedule};
use furcate_schedulers::{Divisible, Facts, Producer};

/// `wrap_iter()` and `work()` on everything [`Divisible`].
///
/// Implemented for all divisible types; there is nothing to implement.
///
/// ```
/// use furcate::prelude::*;
/// let sums: Vec<u32> = (0..10_u32).wrap_iter().bound_depth(1).map(|piece| piece.sum()).collect();
/// assert_eq!(sums, [10, 35]);
/// ```
pub trait WrapIter: Divisible {
    /// Makes a parallel iterator over the pieces themselves: its items are the leaves of the division tree.
    ///
    /// There is at least one piece, also of an empty value. The policy decides the number of pieces and their sizes; by
    /// default there are a few per thread. With `wrap_iter` any divide-and-conquer algorithm becomes a `map` over
    /// pieces and a `reduce` of neighbors (Kvik, Section 3.4).
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

    /// Makes a parallel iterator with one item per task, for algorithms that are not folds over items (Kvik, Section
    /// 3.6.1).
    ///
    /// A task works in steps, and keeps a state from one step to the next:
    ///
    /// * `state(&piece)` makes the state from the piece with which the task begins;
    /// * `step(&mut state, &mut piece, n)` does up to `n` units of work, and takes them off the piece. It is called again and
    ///   again, until the piece's [`size`](Divisible::size) is 0;
    /// * `done(state)` returns the item.
    ///
    /// Between two steps the scheduler may end the task, or divide the rest of the piece: the right half is then a task
    /// of its own, with a state of its own. The scheduler decides the length of steps. If it needs no check in between,
    /// one step gets the whole piece (`n` is `usize::MAX`).
    ///
    /// A piece may grow in a step, as a list of work does when a node of a graph is visited. Name [`adaptive`](crate::iter::ParallelIterator::adaptive)
    /// then: other schedulers divide a list of one node no further. A step that takes nothing
    /// off is called again, so a piece that never becomes empty makes a task that never ends.
    ///
    /// As with `wrap_iter()`, there is at least one item, also of an empty value. A task that is stopped drops its state, and has no item. For progress,
    /// count in `step`.
    ///
    /// ```
    /// use furcate::prelude::*;
    ///
    /// // Sums of digits: the digits are computed once per task, then counted up.
    /// let digits = |n: u64| n.to_string().bytes().map(|b| u64::from(b - b'0')).sum::<u64>();
    /// let total: u64 = (0..100_000_u64)
    ///     .work(
    ///         |piece| (digits(piece.start), 0),
    ///         |(sum_of_digits, total), piece, n| {
    ///             for i in piece.by_ref().take(n) {
    ///                 *total += *sum_of_digits;
    ///                 // Every 9 at the end becomes a 0.
    ///                 let nines = (0..).take_while(|&k| i / 10_u64.pow(k) % 10 == 9).count() as u64;
    ///                 *sum_of_digits = *sum_of_digits + 1 - 9 * nines;
    ///             }
    ///         },
    ///         |(_, total)| total,
    ///     )
    ///     .sum();
    /// assert_eq!(total, (0..100_000).map(digits).sum());
    /// ```
    #[inline]
    fn work<A, T, S, F, E>(self, state: S, step: F, done: E) -> Work<Self, S, F, E>
    where
        Self: Send,
        S: Fn(&Self) -> A + Sync + Send,
        F: Fn(&mut A, &mut Self, usize) + Sync + Send,
        E: Fn(A) -> T + Sync + Send,
        T: Send,
    {
        Work::new(self, state, step, done)
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
    /// The whole value; `None` once it has been lent.
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
    fn units(&self) -> Option<usize> {
        self.whole.as_ref().map(Divisible::size)
    }

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
    const FACTS: Facts = Facts { pieces: true, steps_cut: true, ..Facts::SINGLE };
}
