//! A parallel iterator as a stream: a computation of its own puts the items into a channel.
//!
//! Two tasks of the pool: one *computes*, and its items go through a [`Channel`] to the task that polls
//! the stream. The other one waits for the computation's end, and tells it to the channel.
//!
//! | | in order | in any order |
//! |---|---|---|
//! | nothing is waited for | by blocks | by blocks |
//! | the chain waits for futures | by units | by items |
//!
//! * *By blocks:* a block is half of the capacity. The next one is computed when there is room for all its items.
//! * *By units:* units begin in order. A unit begins when there is room for its item: see [`Reduction::WINDOWED`]. So the
//!   futures in flight, and those done and not taken, are together as many as the stream's capacity, as with `buffered` of the
//!   futures crate.
//! * *By items:* every item is sent by its own task, which waits for room and for none of its neighbors.
//!
//! A task that waits for room is suspended, and holds no thread.
//!
//! # Invariants
//!
//! 1. *Bounded.* By blocks and by units: items that were made and not taken are no more than the capacity. By items: no more than
//!    the capacity are in the channel, and no more are in flight. (Items of a chain that makes one of one; where it makes more,
//!    of units.)
//! 2. *Told once.* The channel is told the end, or the panic, when the computation is over: so nothing of it is left. If the pool
//!    ends first, that is what the channel is told.
//! 3. *Stopped.* When the stream, or the pool, is dropped, the computation is stopped: its pending futures are dropped.
//!
//! [`Reduction::WINDOWED`]: furcate_schedulers::Reduction::WINDOWED

use super::channel::{Channel, Payload};
use super::window::Windowed;
use crate::iter::adaptors::io_await::suspending;
use crate::iter::{AsyncTerminal, Block, ParallelIterator, WithScheduler};
use furcate_pool::detach::{Detach, Suspend};
use furcate_pool::{Executor, spawn_future};
use furcate_schedulers::policy::CancelToken;
use furcate_schedulers::{Scheduler, Suspending};
use futures_core::Stream;
use futures_core::stream::FusedStream;
use std::fmt;
use std::future::poll_fn;
use std::iter;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

/// The items of a parallel iterator, for a task of any runtime: see [`ParallelIterator::into_stream`] and
/// [`ParallelIterator::into_stream_unordered`].
///
/// After its end, or a panic, it gives `None` for ever. When it is dropped the computation is cancelled, and ends soon afterwards,
/// as if [stopped](ParallelIterator::stop_on): what waits for futures is dropped by a worker.
///
/// # Panics
///
/// When it is polled, with the computation's panic: behind the items that had come before. Also if its pool is dropped before the
/// computation has ended. A panic that comes when the stream has been dropped goes to the pool's
/// [panic handler](furcate_pool::ThreadPoolBuilder::panic_handler), if there is one, as that of a [spawned
/// future](furcate_pool::spawn_future) that nobody awaits.
///
/// ```
/// use furcate::prelude::*;
/// use furcate::stream::IntoStream;
/// use futures_lite::{StreamExt, future};
/// let stream: IntoStream<u32> = (0..3).into_par_iter().into_stream(2);
/// assert_eq!(future::block_on(stream.collect::<Vec<_>>()), [0, 1, 2]);
/// ```
#[must_use = "dropped, it cancels the computation"]
pub struct IntoStream<T> {
    channel: Arc<Channel<T>>,
    ended: bool,
}

impl<T: Send + 'static> IntoStream<T> {
    /// In order.
    pub(crate) fn of<I: ParallelIterator<Item = T> + 'static>(items: I, capacity: usize) -> Self {
        // Another engine would have a thread wait for room.
        if I::Scheduler::SUSPENDS && suspends::<I::Executor>() {
            return by_units(items, capacity);
        }
        by_blocks(items, capacity, |block, channel| {
            if let Ok(items) = block.stop_on(channel.stop()).collect::<Vec<_>>() {
                channel.put(items);
            }
        })
    }

    /// In the order in which they come.
    pub(crate) fn unordered<I: ParallelIterator<Item = T> + 'static>(items: I, capacity: usize) -> Self {
        if I::Scheduler::SUSPENDS {
            return by_items(items, capacity);
        }
        by_blocks(items, capacity, |block, channel| {
            // Stopped or not: who wanted to know is gone.
            let _ = block.stop_on(channel.stop()).for_each(|item| channel.put([item]));
        })
    }

    /// What `feed` sends.
    pub(super) fn fed_by<A>(channel: Channel<T>, feed: impl FnOnce(Arc<Channel<T>>) -> A) -> Self
    where
        A: Future<Output = ()> + Send + 'static,
    {
        let channel = Arc::new(channel);
        start(feed(Arc::clone(&channel)), Teller { channel: Some(Arc::clone(&channel)) });
        IntoStream { channel, ended: false }
    }
}

/// A stream of the items of blocks, each of which is run when there is room for it.
fn by_blocks<I, R>(items: I, capacity: usize, run: R) -> IntoStream<I::Item>
where
    I: ParallelIterator + 'static,
    R: Fn(Block<'_, I>, &Channel<I::Item>) + Send + 'static,
{
    // Half of them wait to be taken while the others are computed.
    let half = capacity.div_ceil(2);
    IntoStream::fed_by(Channel::new(capacity, half), move |channel| async move {
        let mut blocks = items.blocks_iter(iter::repeat(half));
        for block in &mut blocks {
            if !channel.room().await {
                return;
            }
            run(block, &channel);
            // The worker's other work is not to wait for a taker that is slow enough.
            yields().await;
        }
    })
}

/// Whether an engine suspends tasks, rather than block their threads.
const fn suspends<E: Executor>() -> bool {
    <<E::Scope<'static> as Detach<'static>>::Handle as Suspend<'static, E::Scope<'static>>>::SUSPENDS
}

/// A stream of what a chain that waits for futures gives, in order.
fn by_units<I>(items: I, capacity: usize) -> IntoStream<I::Item>
where
    I: ParallelIterator + 'static,
{
    IntoStream::fed_by(Channel::new(capacity, 1), move |channel| async move {
        let stop = channel.stop().clone();
        // Blocks, if any were named, are not needed: units begin one after the other.
        let scheduler = suspending(&items.scheduler());
        let items = WithScheduler::new(items, scheduler).stop_on(&stop);
        // Stopped or not: who wanted to know is gone.
        let _ = items.async_run(|items| AsyncTerminal::new(items, Windowed(channel), drop)).await;
    })
}

/// A stream of what a chain that waits for futures gives, each item on its own.
fn by_items<I>(items: I, capacity: usize) -> IntoStream<I::Item>
where
    I: ParallelIterator + 'static,
{
    IntoStream::fed_by(Channel::new(capacity, 1), move |channel| {
        let bound = items.scheduler().in_flight().unwrap_or(Suspending::MAX_IN_FLIGHT).min(capacity);
        let stop = channel.stop().clone();
        let sent = items.map(move |item| {
            let channel = Arc::clone(&channel);
            async move { channel.send(item).await }
        });
        send_all(sent.io_await().max_in_flight(bound), stop)
    })
}

/// Awaits a computation whose items are sent, and which is stopped when nobody takes them.
pub(super) async fn send_all<I: ParallelIterator + 'static>(sent: I, stop: CancelToken) {
    // Stopped or not: who wanted to know is gone.
    let _ = sent.stop_on(&stop).async_run(|sent| sent.async_for_each(drop)).await;
}

/// Starts a computation, in the pool that the caller is in, else in the global one. At its end, that is told.
fn start<T: Send + 'static>(feed: impl Future<Output = ()> + Send + 'static, mut teller: Teller<T>) {
    let mut computation = spawn_future(feed);
    drop(spawn_future(async move {
        let end = poll_fn(|context| {
            // Unwind-safe: it is not polled again.
            let polled = catch_unwind(AssertUnwindSafe(|| Pin::new(&mut computation).poll(context)));
            polled.map_or_else(|payload| Poll::Ready(Err(payload)), |polled| polled.map(Ok))
        });
        let end = end.await;
        if let Err(payload) = teller.tell(end) {
            // Its own panic, which nobody awaits: so the pool handles it.
            resume_unwind(payload);
        }
    }));
}

/// Lets others have the worker once.
async fn yields() {
    let mut yielded = false;
    poll_fn(|context| {
        if yielded {
            return Poll::Ready(());
        }
        yielded = true;
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

/// Tells the channel that the computation is over (invariant 2).
struct Teller<T> {
    /// `None` once it has been told.
    channel: Option<Arc<Channel<T>>>,
}

impl<T> Teller<T> {
    /// Returns the payload if nobody is there to be told.
    fn tell(&mut self, end: Result<(), Payload>) -> Result<(), Payload> {
        self.channel.take().map_or(Ok(()), |channel| channel.end(end))
    }
}

impl<T> Drop for Teller<T> {
    /// The pool has been dropped.
    fn drop(&mut self) {
        if let Some(channel) = self.channel.take() {
            let _ = channel.end(Err(Box::new("the pool was dropped before the stream's end")));
        }
    }
}

impl<T> Stream for IntoStream<T> {
    type Item = T;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<T>> {
        let polled = self.channel.poll_take(context);
        self.ended = matches!(polled, Poll::Ready(None));
        polled
    }
}

impl<T> FusedStream for IntoStream<T> {
    fn is_terminated(&self) -> bool {
        self.ended
    }
}

impl<T> Drop for IntoStream<T> {
    fn drop(&mut self) {
        self.channel.close();
    }
}

impl<T> fmt::Debug for IntoStream<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("IntoStream").field("ended", &self.ended).finish_non_exhaustive()
    }
}
