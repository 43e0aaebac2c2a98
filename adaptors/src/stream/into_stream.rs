//! A parallel iterator as a stream: a computation of its own puts the items into a channel.
//!
//! A stream has a task of its own, the *feed*, which is a computation that no thread waits for. The feed computes, and its items go
//! through a [`Channel`] to the task that polls the stream. The end of the feed tells the channel that the items are over.
//!
//! The feed is a task of the chain's executor. An engine that cannot suspend tasks would keep a thread for each feed, and might have
//! only one. So there the feed is a task of furcate's pool, and only the items are computed by the engine.
//!
//! | the chain | in order | in any order |
//! |---|---|---|
//! | has no `io_await` | by blocks | by blocks |
//! | has an `io_await` | by units | by items |
//!
//! * *By blocks:* a block is half of the capacity. The next one is computed when there is room for all its items. The first half of the capacity is computed in
//!   short blocks, so that the first items come soon.
//! * *By units:* units begin in order. A unit begins when there is room for its item: see [`Reduction::WINDOWED`]. So the
//!   futures in flight and the items not yet taken are together no more than the stream's capacity, as with `buffered` of the
//!   futures crate.
//! * *By items:* every item is sent by its own task, which waits for room and for no other item.
//!
//! A task that waits for room is suspended, and holds no thread.
//!
//! # Invariants
//!
//! 1. *Bounded.* By blocks and by units: items made and not taken are no more than the capacity. By items: no more than the capacity
//!    are in the channel, and no more than the capacity are in flight. (That holds for chains that make one item of each item. For
//!    other chains units are counted, not items.)
//! 2. *Told once.* The channel is told the end, or the panic, when the computation is over and none of its values are left. If the
//!    pool ends first, the channel is told so.
//! 3. *Stopped.* When the stream, or the pool, is dropped, the computation is stopped: its pending futures are dropped.
//!
//! [`Reduction::WINDOWED`]: furcate_schedulers::Reduction::WINDOWED

use super::channel::{Channel, Payload};
use super::keeps_permit::KeepsPermit;
use super::window::Windowed;
use crate::iter::{
    AsyncTerminal, AsyncTerminals, Block, ExecutorOf, ParallelIterator, SchedulerOf, WithScheduler,
};
use furcate_pool::detach::{Detach, Resume, SpawnedOutcome, Suspend, Unattended};
use furcate_pool::{Executor, Pool};
use furcate_schedulers::Scheduler;
use furcate_schedulers::policy::CancelToken;
use futures_core::Stream;
use futures_core::stream::FusedStream;
use std::fmt;
use std::future::poll_fn;
use std::iter;
use std::panic::resume_unwind;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

/// A stream of the items of a parallel iterator, for a task of any runtime: see [`ParallelIterator::into_stream`] and
/// [`ParallelIterator::into_stream_unordered`].
///
/// After its end, or a panic, it gives `None` for ever. Dropping the stream cancels the computation, which ends soon afterwards,
/// as if [stopped](ParallelIterator::stop_on): a worker drops the pending futures.
///
/// # Panics
///
/// If the computation panics, the poll behind the items that came before panics with the same payload. A poll also
/// panics if the pool was dropped before the computation had ended. If the computation panics after the stream was
/// dropped, the payload goes to the pool's [panic handler](furcate_pool::ThreadPoolBuilder::panic_handler), if there is
/// one, like the panic of a [spawned future](furcate_pool::spawn_future) whose handle was dropped.
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
    /// Makes a stream of the items in their order.
    pub(crate) fn of<I: ParallelIterator<Item = T> + 'static>(items: I, capacity: usize) -> Self {
        // On an engine that does not suspend, each unit would block a thread while it waits for room.
        if SchedulerOf::<I>::FACTS.suspends && suspends::<ExecutorOf<I>>() {
            return by_units(items, capacity);
        }
        by_blocks(items, capacity, |block, channel| {
            if let Ok(items) = block.stop_on(channel.stop()).collect::<Vec<_>>() {
                channel.put(items);
            }
        })
    }

    /// Makes a stream of the items in the order in which they are done.
    pub(crate) fn unordered<I: ParallelIterator<Item = T> + 'static>(items: I, capacity: usize) -> Self {
        if SchedulerOf::<I>::FACTS.suspends {
            return by_items(items, capacity);
        }
        by_blocks(items, capacity, |block, channel| {
            // Stopped or not: if it was stopped, the stream is gone.
            let _ = block.stop_on(channel.stop()).for_each(|item| channel.put([item]));
        })
    }

    /// Gives the items to a sink, one after the other, in the stream's order. The sink may own what it needs and change it: a writer, a
    /// connection, a sum. The computation goes on while the sink waits, until there is no more room.
    ///
    /// Ends with the sink's first error, which drops the stream, and with it the rest of the computation.
    ///
    /// # Errors
    ///
    /// The sink's.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// use futures_lite::io::{AsyncWriteExt, Cursor};
    /// use futures_lite::future;
    ///
    /// let mut file = Cursor::new(vec![]);
    /// let lines = (0..100).into_par_iter().map(|x| format!("{}\n", x * x));
    /// let written = lines.into_stream(16).drain_into(async |line| file.write_all(line.as_bytes()).await);
    /// future::block_on(written)?;
    /// assert!(file.get_ref().starts_with(b"0\n1\n4\n"));
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[doc(alias = "forward")]
    #[doc(alias = "async_fold")]
    pub async fn drain_into<E>(mut self, mut sink: impl AsyncFnMut(T) -> Result<(), E>) -> Result<(), E> {
        while let Some(item) = poll_fn(|context| Pin::new(&mut self).poll_next(context)).await {
            sink(item).await?;
        }
        Ok(())
    }

    /// Makes a stream of the items that `feed` sends. The feed is a task of the executor's pool.
    pub(super) fn fed_by<A, E>(
        executor: &E,
        channel: Channel<T>,
        feed: impl FnOnce(Arc<Channel<T>>) -> A,
    ) -> Self
    where
        A: Future<Output = ()> + Send + 'static,
        E: Executor + 'static,
    {
        let channel = Arc::new(channel);
        let feed = feed(Arc::clone(&channel));
        start(executor, Feeding { feed: Some(feed), teller: Teller { channel: Some(Arc::clone(&channel)) } });
        IntoStream { channel, ended: false }
    }
}

/// Makes a stream of the items of blocks. A block is run when there is room for it.
fn by_blocks<I, R>(items: I, capacity: usize, run: R) -> IntoStream<I::Item>
where
    I: ParallelIterator + 'static,
    R: Fn(Block<'_, I>, &Channel<I::Item>) + Send + 'static,
{
    // One half waits to be taken while the other one is computed.
    let half = capacity.div_ceil(2);
    let executor = items.executor();
    let threads = executor.num_threads();
    IntoStream::fed_by(&executor, Channel::new(capacity, half), move |channel| async move {
        let mut blocks = items.blocks_iter(sizes(threads, half));
        let mut blocks = blocks.iter();
        // Room first: if the source is a sequential iterator, cutting a block off takes the block's items from it.
        while channel.room().await {
            let Some(block) = blocks.next() else { return };
            run(block, &channel);
            // With a fast taker there is always room, and this loop would never wait. So the worker's other jobs get a turn here.
            yields().await;
        }
    })
}

/// The sizes of a stream's blocks: one item per thread and then twice as many as before, until that are `half` items together; then `half`.
fn sizes(threads: usize, half: usize) -> impl Iterator<Item = usize> + Clone + Send {
    let (mut next, mut left) = (threads.max(1), half);
    iter::from_fn(move || {
        let size = if left > 0 { next.min(left) } else { half };
        (next, left) = (next.saturating_mul(2), left.saturating_sub(size));
        Some(size)
    })
}

/// Whether an engine suspends tasks instead of blocking their threads.
const fn suspends<E: Executor>() -> bool {
    <<E::Scope<'static> as Detach<'static>>::Handle as Suspend<'static, E::Scope<'static>>>::SUSPENDS
}

/// Makes a stream of the items, in order, of a chain that waits for futures.
fn by_units<I>(items: I, capacity: usize) -> IntoStream<I::Item>
where
    I: ParallelIterator + 'static,
{
    IntoStream::fed_by(&items.executor(), Channel::new(capacity, 1), move |channel| async move {
        let stop = channel.stop().clone();
        // Blocks, if any were named, are not needed: units begin one after the other.
        let scheduler = items.scheduler().for_futures();
        let items = WithScheduler::new(items, scheduler).stop_on(&stop);
        // Stopped or not: if it was stopped, the stream is gone.
        let _ = items.async_run(|items| AsyncTerminal::new(items, Windowed(channel), drop)).await;
    })
}

/// Makes a stream of the items, in the order in which they are done, of a chain that waits for futures.
fn by_items<I>(items: I, capacity: usize) -> IntoStream<I::Item>
where
    I: ParallelIterator + 'static,
{
    IntoStream::fed_by(&items.executor(), Channel::new(capacity, 1), move |channel| {
        let bound = items.scheduler().for_futures().bound().min(capacity);
        let stop = channel.stop().clone();
        let sent = KeepsPermit::new(items).map(move |item| {
            let channel = Arc::clone(&channel);
            async move { channel.send(item).await }
        });
        send_all(sent.io_await().max_in_flight(bound), stop)
    })
}

/// Awaits a computation whose items are sent, and which is stopped when the stream is dropped.
pub(super) async fn send_all<I: ParallelIterator + 'static>(sent: I, stop: CancelToken) {
    // Stopped or not: if it was stopped, the stream is gone.
    let _ = sent.stop_on(&stop).async_run(|sent| sent.async_for_each(drop)).await;
}

/// Starts a feed: on the executor if that one suspends tasks, else in the pool that the caller is in, or the global one.
fn start<T: Send + 'static, F, E>(executor: &E, feeding: Feeding<T, F>)
where
    F: Future<Output = ()> + Send + 'static,
    E: Executor + 'static,
{
    if const { suspends::<E>() } {
        executor.spawn_detached(feeding);
    } else {
        Pool.spawn_detached(feeding);
    }
}

/// A feed, as a computation that no thread waits for.
struct Feeding<T, F> {
    /// `None` once it has begun.
    feed: Option<F>,
    teller: Teller<T>,
}

impl<T, F, E> Unattended<E> for Feeding<T, F>
where
    T: Send + 'static,
    F: Future<Output = ()> + Send + 'static,
    E: Executor,
{
    fn begin<'s>(&'s mut self, scope: &E::Scope<'s>) {
        let feed = self.feed.take().expect("it begins once");
        scope.handle().poll(&mut Default::default(), feed, || Fed);
    }

    fn end(mut self, end: SpawnedOutcome<()>) {
        let end = match end {
            SpawnedOutcome::Done(()) => Ok(()),
            SpawnedOutcome::Panicked(payload) => Err(payload),
            // The drop tells the channel.
            SpawnedOutcome::Cancelled => return,
        };
        if let Err(payload) = self.teller.tell(end) {
            // The stream was dropped. The engine passes the panic to the pool's handler.
            resume_unwind(payload);
        }
    }
}

/// The continuation of a feed: nothing, since the end of the computation follows.
struct Fed;

impl<'s, S> Resume<'s, S, ()> for Fed {
    fn resume(self, _: &S, (): (), _: furcate_pool::Context) {}
    fn cancelled(self, _: &S) {}
}

/// Yields the worker to other jobs once.
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

/// Reports the end of the computation to the channel (invariant 2).
struct Teller<T> {
    /// `None` once the end has been reported.
    channel: Option<Arc<Channel<T>>>,
}

impl<T> Teller<T> {
    /// Reports the end to the channel. Returns the payload of a panic if the stream was dropped.
    fn tell(&mut self, end: Result<(), Payload>) -> Result<(), Payload> {
        self.channel.take().map_or(Ok(()), |channel| channel.end(end))
    }
}

impl<T> Drop for Teller<T> {
    /// Runs with a channel only if the pool was dropped before the end.
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
