//! `par_bridge_async`: a stream's items in parallel.

use super::turns::{Next, Turns};
use crate::iter::adaptors::io_await::Awaited;
use crate::iter::copies::copies;
use crate::iter::gate::{Gate, InSteps, PASSING, Through};
use crate::iter::stage::{Adapted, PerItem, Stage, StageFacts};
use crate::iter::{self, ParallelIterator, RepeatProducer};
use furcate_schedulers::policy::{Auto, Both};
use furcate_schedulers::{DefaultExecutor, Plan, Suspending};
use futures_core::Stream;
use std::fmt;
use std::iter::Flatten;

/// Streams as parallel iterators. Implemented for every [`Stream`] that is `Send` and has `Send` items.
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
    /// Makes a parallel iterator over the items of a stream. The chain behind it runs on any worker while the stream
    /// continues.
    ///
    /// The pool's tasks poll the stream, one at a time, and never again after its end. A task that takes an item
    /// continues with that item at once. While the stream is pending, its tasks are suspended and hold no worker. So if
    /// the stream is faster than the chain, it is not asked for more items (back-pressure); if it is slower, it costs
    /// no core. See [`io_await`](ParallelIterator::io_await) for the methods that can follow.
    ///
    /// As with rayon's `par_bridge` the items come in no order; [`pipeline`](super::pipeline()) keeps it. So
    /// `find_first` and `find_last` find any hit, and end with it, whatever the stream yields later. If an ordered
    /// iterator is chained to the stream, these searches wait for its items before the hit.
    ///
    /// # Panics
    ///
    /// If the stream panics, the terminal panics, and the stream is not polled again.
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
/// If the iterator is driven more than once (by blocks, say), each run continues where the last one ended.
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
    /// Default bound on the number of tasks that wait for the stream.
    pub const MAX_IN_FLIGHT: usize = 1024;

    pub(super) fn new(stream: S) -> Self {
        let scheduler = Suspending::new().max_in_flight(Self::MAX_IN_FLIGHT);
        StreamBridge { turns: Turns::new(stream), scheduler }
    }

    /// Limits the number of tasks of the call that wait to `n`: for the stream, or for the futures of an
    /// [`io_await`](ParallelIterator::io_await) behind it, unless that one names a bound of its own. The default is
    /// [1024](Self::MAX_IN_FLIGHT).
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
        = Adapted<Awaited<Adapted<RepeatProducer<()>, Through<EndGate<'a, S>>>>, PerItem<SomeOp>>
    where
        Self: 'a;
    type Schedule = Plan<Both<Auto, InSteps>, Suspending>;

    fn producer(&mut self) -> Self::Producer<'_> {
        let futures = Adapted::new(iter::repeat(()).producer(), Through(EndGate(&self.turns)));
        Adapted::new(Awaited::new(futures), PerItem(SomeOp))
    }

    fn schedule(&self) -> Self::Schedule {
        Plan {
            policy: Both::new(Auto::new(), InSteps),
            scheduler: self.scheduler.clone(),
            executor: DefaultExecutor::default(),
        }
    }
}

/// Gate that the end of the stream closes. It turns an endless source of `()` into the futures of items. So no more
/// futures are made after the end. The futures that were made before yield an item, or `None`.
pub struct EndGate<'a, S>(&'a Turns<S>);

copies!(impl[S] EndGate<'_, S>);

impl<S> fmt::Debug for EndGate<'_, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Open").finish_non_exhaustive()
    }
}

impl<'a, S: Send> Gate<()> for EndGate<'a, S> {
    type Output = Next<'a, S>;
    type Guard = ();

    const FACTS: StageFacts = StageFacts { in_order: false, ..PASSING };

    fn guard(self) {}

    fn is_closed(self) -> bool {
        self.0.have_ended()
    }

    fn pass(self, (): ()) -> Option<Next<'a, S>> {
        Some(self.0.next())
    }
}

/// Unwraps the items that were found, and leaves out the `None`s.
#[derive(Clone, Copy, Debug)]
pub struct SomeOp;

impl<T> Stage<Option<T>> for SomeOp {
    type Item = T;
    type Iter<I: Iterator<Item = Option<T>>> = Flatten<I>;

    /// The first future of a new item waits for the stream, which may take any time. An item that has already come must
    /// not wait for that.
    const FACTS: StageFacts = StageFacts { goes_first: true, ..StageFacts::ONE };

    fn apply<I: Iterator<Item = Option<T>>>(self, items: I) -> Flatten<I> {
        items.flatten()
    }
}
