//! A bounded channel, from the tasks of a computation to who polls a stream.
//!
//! # Invariants
//!
//! 1. *Bounded.* An item that is [sent](Channel::send) is in the queue only if there was room for it; else its task waits, and
//!    keeps it.
//! 2. *No room is lost.* Who takes an item calls one who waits for room; who was called and does not use it calls the next one.
//! 3. *Over.* Once nobody takes any more, or the end is told, items are dropped when they come, and nobody waits. So nothing comes
//!    behind the end.
//! 4. Wakers are called, and items and payloads dropped, without the lock.

use super::waiting::Waiting;
use furcate_schedulers::policy::CancelToken;
use std::any::Any;
use std::collections::VecDeque;
use std::mem;
use std::panic::resume_unwind;
use std::pin::Pin;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

/// What comes with a panic.
pub(super) type Payload = Box<dyn Any + Send>;

/// What the tasks of a computation and who takes their items have in common.
#[derive(Debug)]
pub(super) struct Channel<T> {
    state: Mutex<State<T>>,
    /// Cancelled when it is over.
    stop: CancelToken,
}

#[derive(Debug)]
struct State<T> {
    queue: VecDeque<T>,
    /// There is room while the queue is no longer than this.
    most: usize,
    /// For room.
    waiting: Waiting,
    taker: Option<Waker>,
    /// Does nobody take any more?
    closed: bool,
    end: End,
}

impl<T> State<T> {
    /// Invariant 3.
    fn is_over(&self) -> bool {
        self.closed || !matches!(self.end, End::Open)
    }
}

#[derive(Debug)]
enum End {
    /// There may be items to come.
    Open,
    Done,
    Panicked(Payload),
}

impl<T> Channel<T> {
    /// For `capacity` items, of which up to `at_once` come when there [is room](Self::room).
    pub(super) fn new(capacity: usize, at_once: usize) -> Self {
        assert!(capacity > 0, "no item would ever come: a stream needs a capacity of at least 1");
        let state = State {
            queue: VecDeque::new(),
            most: capacity - at_once,
            waiting: Waiting::default(),
            taker: None,
            closed: false,
            end: End::Open,
        };
        Channel { state: Mutex::new(state), stop: CancelToken::new() }
    }

    fn lock(&self) -> MutexGuard<'_, State<T>> {
        // Clones of wakers may panic, and leave all as it was.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Cancelled when nothing is sent any more (invariant 3).
    pub(super) fn stop(&self) -> &CancelToken {
        &self.stop
    }

    /// Puts an item into the queue when there is room; gives `false` if it was dropped (invariant 3).
    pub(super) fn send(&self, item: T) -> Sending<'_, T> {
        Sending { channel: self, item: Some(item), number: None }
    }

    /// Waits until there is room; gives `false` if there will be none (invariant 3).
    pub(super) fn room(&self) -> Sending<'_, T> {
        Sending { channel: self, item: None, number: None }
    }

    /// Puts items into the queue, for which there is [room](Self::room), or is to be.
    pub(super) fn put(&self, items: impl IntoIterator<Item = T>) {
        let mut state = self.lock();
        if state.is_over() {
            return drop((state, items));
        }
        state.queue.extend(items);
        let taker = state.taker.take();
        drop(state);
        taker.into_iter().for_each(Waker::wake);
    }

    /// All items have been sent, or there was a panic: it is over. Returns the payload if nobody is there to be told.
    pub(super) fn end(&self, end: Result<(), Payload>) -> Result<(), Payload> {
        let mut state = self.lock();
        if state.closed {
            return end;
        }
        state.end = match end {
            Ok(()) => End::Done,
            Err(payload) => End::Panicked(payload),
        };
        let taker = state.taker.take();
        let all = state.waiting.call_all();
        drop(state);
        self.stop.cancel();
        all.chain(taker).for_each(Waker::wake);
        Ok(())
    }

    /// The next item, when it is there; `None` at the end.
    ///
    /// # Panics
    ///
    /// If the computation has, behind the items that it had sent.
    pub(super) fn poll_take(&self, context: &mut Context<'_>) -> Poll<Option<T>> {
        // Cloned, and dropped, without the lock: a waker is somebody's code.
        let mut clone = None;
        loop {
            let mut state = self.lock();
            if let Some(item) = state.queue.pop_front() {
                call(state);
                return Poll::Ready(Some(item));
            }
            match mem::replace(&mut state.end, End::Done) {
                End::Done => return Poll::Ready(None),
                End::Panicked(payload) => {
                    drop(state);
                    resume_unwind(payload)
                }
                End::Open => {}
            }
            state.end = End::Open;
            if state.taker.as_ref().is_some_and(|waker| waker.will_wake(context.waker())) {
                return Poll::Pending;
            }
            let before = clone.take().map(|clone| state.taker.replace(clone));
            drop(state);
            if before.is_some() {
                return Poll::Pending;
            }
            clone = Some(context.waker().clone());
        }
    }

    /// Nobody takes any more (invariant 3).
    pub(super) fn close(&self) {
        let mut state = self.lock();
        state.closed = true;
        let items = mem::take(&mut state.queue);
        let rest = (mem::replace(&mut state.end, End::Done), state.taker.take());
        let all = state.waiting.call_all();
        drop(state);
        self.stop.cancel();
        all.for_each(Waker::wake);
        drop((rest, items));
    }
}

/// Calls one who waits, if there is room (invariant 2).
fn call<T>(mut state: MutexGuard<'_, State<T>>) {
    let called = if state.queue.len() <= state.most { state.waiting.call() } else { None };
    drop(state);
    if let Some((_, waker)) = called {
        waker.wake();
    }
}

/// Waits for room, and puts an item there, if there is one.
#[derive(Debug)]
#[must_use = "futures do nothing unless they are polled"]
pub(super) struct Sending<'a, T> {
    channel: &'a Channel<T>,
    item: Option<T>,
    /// While it waits, or has been called.
    number: Option<u64>,
}

// The item is not pinned.
impl<T> Unpin for Sending<'_, T> {}

impl<T> Future for Sending<'_, T> {
    type Output = bool;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<bool> {
        let channel = self.channel;
        let mut state = channel.lock();
        if state.queue.len() > state.most && !state.is_over() {
            let number = *self.number.get_or_insert_with(|| state.waiting.number());
            let before = state.waiting.wait(number, context.waker());
            drop(state);
            drop(before);
            return Poll::Pending;
        }
        let before = self.number.take().and_then(|number| state.waiting.leave(number));
        let item = self.item.take();
        let over = state.is_over();
        let (left_over, taker) = if over {
            (item, None)
        } else {
            let taker = if item.is_some() { state.taker.take() } else { None };
            state.queue.extend(item);
            (None, taker)
        };
        drop(state);
        taker.into_iter().for_each(Waker::wake);
        drop((before, left_over));
        Poll::Ready(!over)
    }
}

impl<T> Drop for Sending<'_, T> {
    fn drop(&mut self) {
        if let Some(number) = self.number {
            let mut state = self.channel.lock();
            match state.waiting.leave(number) {
                // It has been called (invariant 2).
                None => call(state),
                waker => {
                    drop(state);
                    drop(waker);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;
