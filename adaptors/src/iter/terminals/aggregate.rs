//! Terminals that are a method of std's `Iterator`.

use furcate_schedulers::Reduction;
use std::iter::{empty, once};
use std::ops::ControlFlow;

/// A method of std's `Iterator` that consumes it, and the combination of two of its results.
///
/// The empty iterator's result is a neutral one.
pub(crate) trait Aggregate<T>: Copy + Sync + Send {
    /// Result of the method.
    type Output: Send;

    /// Calls the method.
    fn of<I: Iterator<Item = T>>(self, items: I) -> Self::Output;

    /// Combines the result for some items and the result for those that follow them.
    fn both(self, left: Self::Output, right: Self::Output) -> Self::Output;
}

/// The reduction of an [`Aggregate`]: a leaf that is folded in one go is one call of std's method, so it runs as fast
/// as the sequential loop and has its shortcuts (the length of a slice is its count, the end of a range its maximum).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Aggregated<A>(pub(crate) A);

impl<T, A: Aggregate<T>> Reduction<T> for &Aggregated<A> {
    /// `None` before the first item.
    type Accumulator = Option<A::Output>;
    type Output = A::Output;

    #[inline]
    fn start(&self) -> Self::Accumulator {
        None
    }

    #[inline]
    fn fold_item(
        &self,
        before: Self::Accumulator,
        item: T,
    ) -> ControlFlow<Self::Accumulator, Self::Accumulator> {
        ControlFlow::Continue(self.fold(before, once(item)))
    }

    #[inline]
    fn fold<I: Iterator<Item = T>>(&self, before: Self::Accumulator, items: I) -> Self::Accumulator {
        let now = self.0.of(items);
        Some(match before {
            Some(before) => self.0.both(before, now),
            None => now,
        })
    }

    #[inline]
    fn finish(&self, result: Self::Accumulator) -> A::Output {
        result.unwrap_or_else(|| self.0.of(empty()))
    }

    #[inline]
    fn reduce(&self, left: A::Output, right: A::Output) -> A::Output {
        self.0.both(left, right)
    }
}
