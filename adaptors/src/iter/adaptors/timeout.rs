//! The method `timeout`, behind `io_await`: each future ends in time, or is dropped.
//!
//! # Invariants
//!
//! 1. The future of a [`Timeout`] is pinned with it: the future is never moved out, and no other field is pinned.
#![allow(unsafe_code)]

use super::IoAwait;
use crate::iter::ParallelIterator;
use crate::iter::adaptor::adaptor;
use crate::iter::stage::{PerItem, Stage, StageFacts, adapt_items};
use furcate_schedulers::Timer;
use std::error::Error;
use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

impl<I> IoAwait<I>
where
    I: ParallelIterator<Item: IntoFuture<Output: Send, IntoFuture: Send>>,
{
    /// Waits at most `time` for every future, counted from its first poll. A future that is not ready by then is
    /// dropped, and its item is an error.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// use std::time::Duration;
    ///
    /// let wait = |millis| async move {
    ///     async_io::Timer::after(Duration::from_millis(millis)).await;
    ///     millis
    /// };
    /// let times: Vec<_> = [1, 60_000, 2].into_par_iter().map(wait).io_await().timeout(Duration::from_secs(1)).collect();
    /// assert!(times[0] == Ok(1) && times[1].is_err() && times[2] == Ok(2));
    /// ```
    pub fn timeout(self, time: Duration) -> IoAwait<Timeouts<I>> {
        self.map_base(|base| Timeouts::new(base, time))
    }
}

adaptor! {
    /// The futures of another iterator, each with a timeout: see [`IoAwait::timeout`].
    ///
    /// ```
    /// use furcate::prelude::*;
    /// use furcate::iter::{IoAwait, Timeouts};
    /// use std::time::Duration;
    /// let futures = (0..3).into_par_iter().map(|x| async move { x });
    /// let it: IoAwait<Timeouts<_>> = futures.io_await().timeout(Duration::from_secs(60));
    /// assert_eq!(it.collect::<Result<Vec<i32>, _>>(), Ok(vec![0, 1, 2]));
    /// ```
    Timeouts<I> {
        time: Duration,
    }
}

adapt_items! {
    impl[I] Timeouts<I> by PerItem<TimeoutOp> = |it| PerItem(TimeoutOp(it.time)) => Timeout<<I::Item as IntoFuture>::IntoFuture>, indexed
    where [I: ParallelIterator<Item: IntoFuture<IntoFuture: Send>>]
}

/// Gives each future a timeout.
#[derive(Clone, Copy, Debug)]
pub struct TimeoutOp(Duration);

impl<T: IntoFuture> Stage<T> for TimeoutOp {
    const FACTS: StageFacts = StageFacts::ONE;
    type Item = Timeout<T::IntoFuture>;
    type Iter<I: Iterator<Item = T>> = WithTimeout<I>;

    fn apply<I: Iterator<Item = T>>(self, items: I) -> Self::Iter<I> {
        WithTimeout { items, op: self }
    }
}

impl TimeoutOp {
    fn with_timeout<T: IntoFuture>(self, item: T) -> Timeout<T::IntoFuture> {
        Timeout { future: item.into_future(), time: self.0, timer: None }
    }
}

/// The items of a leaf, each with a timeout.
#[derive(Debug)]
pub struct WithTimeout<I> {
    items: I,
    op: TimeoutOp,
}

impl<I: Iterator<Item: IntoFuture>> Iterator for WithTimeout<I> {
    type Item = Timeout<<I::Item as IntoFuture>::IntoFuture>;

    fn next(&mut self) -> Option<Self::Item> {
        self.items.next().map(|item| self.op.with_timeout(item))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.items.size_hint()
    }
}

impl<I: DoubleEndedIterator<Item: IntoFuture>> DoubleEndedIterator for WithTimeout<I> {
    fn next_back(&mut self) -> Option<Self::Item> {
        self.items.next_back().map(|item| self.op.with_timeout(item))
    }
}

impl<I: ExactSizeIterator<Item: IntoFuture>> ExactSizeIterator for WithTimeout<I> {}

/// A future with a timeout.
#[derive(Debug)]
#[must_use = "futures do nothing unless they are polled"]
pub struct Timeout<F> {
    future: F,
    time: Duration,
    /// Timer; `None` until a poll of the future has returned `Pending`.
    timer: Option<Timer>,
}

impl<F: Future> Future for Timeout<F> {
    type Output = Result<F::Output, Elapsed>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        // SAFETY: nothing is moved out of `this` (invariant 1).
        let this = unsafe { self.get_unchecked_mut() };
        // SAFETY: the future is pinned with `self` (invariant 1).
        let future = unsafe { Pin::new_unchecked(&mut this.future) };
        if let Poll::Ready(output) = future.poll(context) {
            return Poll::Ready(Ok(output));
        }
        let timer = this.timer.get_or_insert_with(|| Timer::after(this.time));
        Pin::new(timer).poll(context).map(|_| Err(Elapsed(())))
    }
}

/// Error of a future that was not ready in [time](IoAwait::timeout), and was dropped.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Elapsed(());

impl fmt::Debug for Elapsed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Elapsed")
    }
}

impl fmt::Display for Elapsed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the time was over before the future was ready")
    }
}

impl Error for Elapsed {}
