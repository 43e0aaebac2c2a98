//! `par_bridge_async`: a stream's items in parallel.

use super::turns::{Next, Turns};
use crate::iter::adaptors::io_await::Awaited;
use crate::iter::copies::copies;
use crate::iter::gate::{Gate, Gated, InLoops};
use crate::iter::item_wise::{Adapted, ItemWise};
use crate::iter::{self, ParallelIterator, RepeatProducer};
use furcate_schedulers::DefaultExecutor;
use furcate_schedulers::Suspending;
use furcate_schedulers::policy::{Auto, Both};
use futures_core::Stream;
use std::fmt;
use std::iter::Flatten;

/// Streams as parallel iterators. Every [`Stream`] has it that can be sent, with its items.
///
/// ```
/// use furcate::prelude::*;
/// use furcate::stream::Stream;
///
/// fn longest(lines: impl Stream<Item = String> + Send) -> Option<usize> {
///     lines.par_bridge_async().map(|line| line.chars().count()).max()
/// }
/// assert_eq!(longest(futures_lite::stream::iter(["a".into(), "bc".into()])), Some(2));
/// ```
pub trait ParallelStream: Stream<Item: Send> + Send + Sized {
    /// A parallel iterator over the items of a stream: what is chained to it runs on any worker while the stream goes on.
    ///
    /// The stream is polled by the pool's tasks, one at a time, and never again after its end. An item is taken from it by a
    /// task that goes on with the item at once; while the stream is pending its tasks are suspended, and hold no worker. So a
    /// stream that is faster than what is done with its items is not asked for more of them (back-pressure), and one that is
    /// slower costs no core. See [`io_await`](ParallelIterator::io_await) for what can be chained.
    ///
    /// As with rayon's `par_bridge` the items come in no order; [`pipeline`](super::pipeline()) keeps it. So `find_first` and
    /// `find_last` find any hit, and end with it, whatever the stream does behind it; unless what has an order is chained
    /// to the stream: then they wait for what lies before the hit there.
    ///
    /// # Panics
    ///
    /// If the stream does, the terminal does; the stream is not polled again.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// use futures_lite::stream;
    ///
    /// let numbers = stream::iter(0..1000_u64);
    /// assert_eq!(numbers.par_bridge_async().map(|x| x * x).sum::<u64>(), 332_833_500);
    /// ```
    #[doc(alias = "for_each_concurrent")]
    fn par_bridge_async(self) -> StreamBridge<Self> {
        StreamBridge::new(self)
    }
}

impl<S: Stream<Item: Send> + Send> ParallelStream for S {}

/// The items of a stream, in parallel: see [`ParallelStream::par_bridge_async`].
///
/// If it is driven more than once (by blocks, say), each time goes on where the last one has ended.
///
/// ```
/// use furcate::prelude::*;
/// let bridge: furcate::stream::StreamBridge<_> = futures_lite::stream::iter(0..10).par_bridge_async();
/// assert_eq!(bridge.count(), 10);
/// ```
#[must_use = "iterators do nothing until a terminal drives them"]
pub struct StreamBridge<S> {
    turns: Turns<S>,
    scheduler: Suspending,
}

impl<S> StreamBridge<S> {
    /// So many tasks wait for the stream at most, if nothing else is said.
    pub const MAX_IN_FLIGHT: usize = 1024;

    pub(super) fn new(stream: S) -> Self {
        let scheduler = Suspending::new().max_in_flight(Self::MAX_IN_FLIGHT);
        StreamBridge { turns: Turns::new(stream), scheduler }
    }

    /// At most `n` tasks of the call wait: for the stream, or for the futures of an [`io_await`](ParallelIterator::io_await)
    /// behind it, if that does not name a bound of its own. By default they are [1024](Self::MAX_IN_FLIGHT).
    ///
    /// # Panics
    ///
    /// If `n` is 0.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// let numbers = futures_lite::stream::iter(0..10);
    /// assert_eq!(numbers.par_bridge_async().max_in_flight(4).sum::<i32>(), 45);
    /// ```
    pub fn max_in_flight(self, n: usize) -> Self {
        StreamBridge { scheduler: self.scheduler.max_in_flight(n), ..self }
    }
}

impl<S> fmt::Debug for StreamBridge<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StreamBridge").field("scheduler", &self.scheduler).finish_non_exhaustive()
    }
}

impl<S: Stream<Item: Send> + Send> ParallelIterator for StreamBridge<S> {
    type Item = S::Item;
    type Producer<'a>
        = Adapted<Awaited<Gated<RepeatProducer<()>, Open<'a, S>>>, SomeOp>
    where
        Self: 'a;
    type Policy = Both<Auto, InLoops>;
    type Scheduler = Suspending;
    type Executor = DefaultExecutor;

    fn producer(&mut self) -> Self::Producer<'_> {
        let futures = Gated::new(iter::repeat(()).producer(), Open(&self.turns));
        Adapted::new(Awaited::new(futures), SomeOp)
    }

    fn policy(&self) -> Self::Policy {
        Both::new(Auto::new(), InLoops)
    }

    fn scheduler(&self) -> Suspending {
        self.scheduler.clone()
    }

    fn executor(&self) -> DefaultExecutor {
        DefaultExecutor::default()
    }
}

/// Shut by the end of the stream. What lies before it, for ever, becomes the futures of items. So no more of these are made
/// after the end; those that were made find their items, or nothing.
pub struct Open<'a, S>(&'a Turns<S>);

copies!(impl[S] Open<'_, S>);

impl<S> fmt::Debug for Open<'_, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Open").finish_non_exhaustive()
    }
}

impl<'a, S: Send> Gate<()> for Open<'a, S> {
    type Output = Next<'a, S>;
    type Guard = ();

    const IN_ORDER: bool = false;

    fn guard(self) {}

    fn is_shut(self) -> bool {
        self.0.have_ended()
    }

    fn pass(self, (): ()) -> Option<Next<'a, S>> {
        Some(self.0.next())
    }
}

/// The items that there were.
#[derive(Clone, Copy, Debug)]
pub struct SomeOp;

impl<T> ItemWise<Option<T>> for SomeOp {
    type Output = T;
    type Leaf<I: Iterator<Item = Option<T>>> = Flatten<I>;

    /// The first future of a new item waits for the stream, which may take any time: an item that is there does not wait for that.
    const GOES_FIRST: bool = true;

    fn leaf<I: Iterator<Item = Option<T>>>(self, base: I) -> Flatten<I> {
        base.flatten()
    }
}
