//! `split`

use crate::iter::{ParallelIterator, default_schedule};
use furcate_schedulers::{Divisible, Facts, Producer};
use std::fmt;

/// Makes a parallel iterator over the pieces of any value, which a closure cuts in two.
///
/// The closure returns two parts, or the whole and `None` if it is not to be cut further. Its parts are items, in order; there is at least
/// one. The policy decides how often the closure is asked: by default until there are a few pieces per thread, and again for a
/// piece that was stolen.
///
/// The number of pieces that a value may have is not known. Each cut is taken to halve it, as policies such as `size_limit` see it. For a value that knows its
/// size, implement [`Divisible`] and call [`wrap_iter`](crate::iter::WrapIter::wrap_iter).
///
/// ```
/// use furcate::prelude::*;
/// use furcate::iter::split;
///
/// /// Cuts a range, down to 8 numbers.
/// fn halves(range: std::ops::Range<u64>) -> (std::ops::Range<u64>, Option<std::ops::Range<u64>>) {
///     if range.end - range.start <= 8 {
///         return (range, None);
///     }
///     let middle = range.start.midpoint(range.end);
///     (range.start..middle, Some(middle..range.end))
/// }
/// assert_eq!(split(0..1000, halves).map(|piece| piece.sum::<u64>()).sum::<u64>(), 499_500);
/// assert_eq!(split(0..1000, halves).size_limit(1).count(), 128);
/// ```
pub fn split<D, S>(data: D, splitter: S) -> Split<D, S>
where
    D: Send,
    S: Fn(D) -> (D, Option<D>) + Sync,
{
    Split { data: Some(data), splitter }
}

/// A parallel iterator over pieces that a closure cuts: see [`split`].
///
/// ```
/// use furcate::prelude::*;
/// let it: furcate::iter::Split<_, _> = furcate::iter::split("ab", |text| (text, None));
/// assert_eq!(it.collect::<Vec<_>>(), ["ab"]);
/// ```
#[must_use = "iterators do nothing until a terminal drives them"]
#[derive(Clone)]
pub struct Split<D, S> {
    /// The whole; `None` once it has been lent.
    data: Option<D>,
    splitter: S,
}

impl<D: fmt::Debug, S> fmt::Debug for Split<D, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Split").field("data", &self.data).finish_non_exhaustive()
    }
}

impl<D, S> ParallelIterator for Split<D, S>
where
    D: Send,
    S: Fn(D) -> (D, Option<D>) + Sync + Send,
{
    type Item = D;
    type Producer<'a>
        = SplitPiece<'a, D, S>
    where
        Self: 'a;

    default_schedule!();

    fn producer(&mut self) -> SplitPiece<'_, D, S> {
        SplitPiece { data: self.data.take(), pieces: usize::MAX, splitter: &self.splitter }
    }
}

/// The producer of [`Split`]: a piece, which is one item.
pub struct SplitPiece<'a, D, S> {
    data: Option<D>,
    /// The number of pieces that this one may become: a guess, and 1 once the closure has not cut it.
    pieces: usize,
    splitter: &'a S,
}

impl<D: fmt::Debug, S> fmt::Debug for SplitPiece<'_, D, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SplitPiece").field("data", &self.data).finish_non_exhaustive()
    }
}

impl<D, S: Fn(D) -> (D, Option<D>)> Divisible for SplitPiece<'_, D, S> {
    fn size(&self) -> usize {
        if self.data.is_some() { self.pieces } else { 0 }
    }

    fn divide(self) -> (Self, Self) {
        let SplitPiece { data, pieces, splitter } = self;
        let (left, right) = match data {
            Some(data) if pieces > 1 => {
                let (left, right) = splitter(data);
                (Some(left), right)
            }
            data => (data, None),
        };
        // The number of further cuts is not known, so a piece that was cut is never taken to be the last.
        let pieces = if right.is_some() { pieces.div_ceil(2).max(2) } else { 1 };
        (SplitPiece { data: left, pieces, splitter }, SplitPiece { data: right, pieces, splitter })
    }

    /// The left part is empty, or everything, or what the closure puts there.
    fn divide_at(self, index: usize) -> (Self, Self) {
        let none = SplitPiece { data: None, pieces: 1, splitter: self.splitter };
        if index == 0 {
            (none, self)
        } else if index >= self.size() {
            (self, none)
        } else {
            self.divide()
        }
    }
}

impl<D, S> IntoIterator for SplitPiece<'_, D, S> {
    type Item = D;
    type IntoIter = std::option::IntoIter<D>;

    fn into_iter(self) -> Self::IntoIter {
        self.data.into_iter()
    }
}

impl<D: Send, S: Fn(D) -> (D, Option<D>) + Sync> Producer for SplitPiece<'_, D, S> {
    const FACTS: Facts = Facts { pieces: true, steps_cut: true, ..Facts::SINGLE };
}
