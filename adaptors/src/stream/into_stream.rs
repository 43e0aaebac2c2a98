//! A parallel iterator as a stream: what a computation of its own sends.
//!
//! The computation is a job of the pool, which nobody waits for: it sends items through a [`Channel`], in order or not. Who
//! polls the stream takes them. The job ends with the items, or when the stream is dropped.
//!
//! *In order*, blocks are computed one after the other: the next one when there is room for its items. *Unordered*, every item
//! is sent by its own task, which is suspended while there is no room.

use super::channel::{Channel, Payload};
use crate::iter::ParallelIterator;
use furcate_pool::{Executor, block_on};
use furcate_schedulers::Scheduler;
use futures_core::Stream;
use futures_core::stream::FusedStream;
use std::fmt;
use std::iter;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

/// The items of a parallel iterator, for a task of any runtime: see [`ParallelIterator::into_stream`] and
/// [`ParallelIterator::into_stream_unordered`].
///
/// When it is dropped the computation is cancelled. It ends soon afterwards, as if [stopped](ParallelIterator::stop_on); what
/// waits for futures is dropped.
///
/// # Panics
///
/// If the computation does, when it is polled behind the items that were sent before. If it was dropped before, the panic goes to
/// the pool's [panic handler](furcate_pool::ThreadPoolBuilder::panic_handler).
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
        // Half of them wait to be taken while the others are computed.
        let block = capacity.div_ceil(2);
        Self::fed_by(Channel::new(capacity, block), move |channel| {
            let mut blocks = items.blocks_iter(iter::repeat(block));
            for block_of_items in &mut blocks {
                block_on(channel.wait_for_room());
                match block_of_items.stop_on(channel.stop()).collect() {
                    Ok(items) => channel.put(items),
                    Err(_) => return,
                }
            }
        })
    }

    /// In the order in which they come.
    pub(crate) fn unordered<I: ParallelIterator<Item = T> + 'static>(items: I, capacity: usize) -> Self {
        Self::fed_by(Channel::new(capacity, 1), move |channel| {
            let bound = items.scheduler().in_flight().unwrap_or_else(|| 2 * items.executor().num_threads());
            let sent = items.map(|item| channel.send(item)).io_await().max_in_flight(bound);
            // Stopped or not: who wanted to know is gone.
            let _ = sent.stop_on(channel.stop()).for_each(drop);
        })
    }

    /// What a job of the pool sends.
    pub(super) fn fed_by(channel: Channel<T>, feed: impl FnOnce(&Channel<T>) + Send + 'static) -> Self {
        let channel = Arc::new(channel);
        let mut sender = Sender { channel: Arc::clone(&channel), ended: false };
        furcate_pool::spawn(move || {
            // Unwind-safe: nobody sees again what it has left.
            let end = catch_unwind(AssertUnwindSafe(|| feed(&sender.channel)));
            if let Err(payload) = sender.end(end) {
                resume_unwind(payload);
            }
        });
        IntoStream { channel, ended: false }
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
        f.debug_struct("IntoStream").finish_non_exhaustive()
    }
}

/// The job's side.
struct Sender<T> {
    channel: Arc<Channel<T>>,
    ended: bool,
}

impl<T> Sender<T> {
    fn end(&mut self, end: Result<(), Payload>) -> Result<(), Payload> {
        self.ended = true;
        self.channel.end(end)
    }
}

impl<T> Drop for Sender<T> {
    /// Of a job that is dropped, unrun: nobody shall wait for it.
    fn drop(&mut self) {
        if !self.ended {
            let _ = self.end(Err(Box::new("the pool has ended before the stream")));
        }
    }
}
