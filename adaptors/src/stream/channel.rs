//! A bounded channel, from the tasks of a computation to the task that polls a stream.
//!
//! Items are sent in one of three ways: one by one by tasks that wait for room ([`send`](Channel::send)), several at once after
//! a wait for [`room`](Channel::room), or as the outputs of numbered *units*. A unit takes its room before it
//! [begins](Channel::poll_begin). When it [arrives](Channel::arrive), its items lie `ahead` until all units before it have
//! arrived.
//!
//! # Invariants
//!
//! 1. *Bounded.* An item that is [sent](Channel::send) goes into the queue only if there is room for it; else its task waits, and
//!    keeps the item. A unit begins only if there is room for it: each unit that has begun takes the room of one item until its items
//!    are in the queue.
//! 2. *No room is lost.* After an item was taken from the queue, one task that waits for room is called. A task that was called and
//!    does not use the room calls the next one.
//! 3. *Over.* Once the stream was dropped, or the end was told, items that arrive are dropped, and no task waits. So no item comes
//!    behind the end.
//! 4. Wakers are called, and items and payloads dropped, without the lock.

use super::items::Items;
use furcate_pool::sync::machine::{Mutex, MutexGuard};
use furcate_schedulers::WakerList;
use furcate_schedulers::policy::CancelToken;
use std::any::Any;
use std::collections::VecDeque;
use std::mem;
use std::panic::resume_unwind;
use std::pin::Pin;
use std::sync::PoisonError;
use std::task::{Context, Poll, Waker};

/// Payload of a panic.
pub(super) type Payload = Box<dyn Any + Send>;

/// State that the tasks of a computation share with the stream.
#[derive(Debug)]
pub(super) struct Channel<T> {
    state: Mutex<ChannelState<T>>,
    /// Cancelled when the channel is over (invariant 3).
    stop: CancelToken,
}

#[derive(Debug)]
struct ChannelState<T> {
    queue: VecDeque<T>,
    /// There is room while the items in the queue and the units under way are together no more than this.
    most: usize,
    /// Tasks that wait for room.
    waiting: WakerList,
    /// Number of the next unit to begin.
    begun: u64,
    /// Number of the next unit whose items go into the queue.
    next: u64,
    /// Outputs of the units from `next` on; `None` for those that have not arrived.
    ahead: VecDeque<Option<Items<T>>>,
    /// Waker of the task that begins units; `None` unless that task waits for room.
    walk: Option<Waker>,
    /// Waker of the task that polls the stream; `None` unless that task waits for an item.
    taker: Option<Waker>,
    /// Whether the stream was dropped.
    closed: bool,
    end: ChannelEnd,
}

impl<T> ChannelState<T> {
    /// Number of items in the queue, and of units under way.
    fn used(&self) -> usize {
        let under_way = usize::try_from(self.begun - self.next).unwrap_or(usize::MAX);
        self.queue.len().saturating_add(under_way)
    }

    /// Whether one more item or unit may come.
    fn has_room(&self) -> bool {
        self.used() <= self.most
    }

    /// Takes the waker of the task that begins units, if there is enough room: an eighth of the capacity, because it costs much more to
    /// wake a task than to begin a unit. If the queue is empty, room for one unit is enough, because the stream's task waits for an item
    /// or soon will.
    fn call_walk(&mut self) -> Option<Waker> {
        let is_enough = |used| used <= self.most - self.most / 8 || self.queue.is_empty();
        if self.has_room() && is_enough(self.used()) { self.walk.take() } else { None }
    }

    /// Whether the channel is over (invariant 3).
    fn is_over(&self) -> bool {
        self.closed || !matches!(self.end, ChannelEnd::Open)
    }
}

#[derive(Debug)]
enum ChannelEnd {
    /// More items may come.
    Open,
    Done,
    Panicked(Payload),
}

impl<T> Channel<T> {
    /// Makes a channel for `capacity` items, of which up to `at_once` come when there [is room](Self::room).
    pub(super) fn new(capacity: usize, at_once: usize) -> Self {
        assert!(capacity > 0, "no item would ever come: a stream needs a capacity of at least 1");
        let state = ChannelState {
            queue: VecDeque::new(),
            most: capacity - at_once,
            waiting: WakerList::default(),
            begun: 0,
            next: 0,
            ahead: VecDeque::new(),
            walk: None,
            taker: None,
            closed: false,
            end: ChannelEnd::Open,
        };
        Channel { state: Mutex::new(state), stop: CancelToken::new() }
    }

    fn lock(&self) -> MutexGuard<'_, ChannelState<T>> {
        // A panic under the lock comes from a clone of a waker, and leaves the state as it was.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the token that is cancelled when the channel is over (invariant 3).
    pub(super) fn stop(&self) -> &CancelToken {
        &self.stop
    }

    /// Puts an item into the queue when there is room. Yields `false` if the item was dropped (invariant 3).
    pub(super) fn send(&self, item: T) -> Sending<'_, T> {
        Sending { channel: self, item: Some(item), number: None }
    }

    /// Waits until there is room. Yields `false` if there will be none (invariant 3).
    pub(super) fn room(&self) -> Sending<'_, T> {
        Sending { channel: self, item: None, number: None }
    }

    /// Puts items into the queue, which has [room](Self::room) for them, or will have it.
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

    /// When there is room, takes the room of one item for the next unit, and returns the unit's number. Returns `None` when the channel
    /// is over (invariant 3). One task calls it at a time.
    pub(super) fn poll_begin(&self, context: &mut Context<'_>) -> Poll<Option<u64>> {
        let mut state = self.lock();
        if state.is_over() {
            return Poll::Ready(None);
        }
        if state.has_room() {
            let number = state.begun;
            state.begun += 1;
            return Poll::Ready(Some(number));
        }
        let before = state.walk.replace(context.waker().clone());
        drop(state);
        drop(before);
        Poll::Pending
    }

    /// Takes the items of a unit that is done. They go into the queue behind the items of all earlier units.
    pub(super) fn arrive(&self, number: u64, items: Items<T>) {
        let mut state = self.lock();
        if state.is_over() {
            return drop((state, items));
        }
        let ChannelState { queue, next, ahead, .. } = &mut *state;
        let place =
            usize::try_from(number - *next).expect("no more units than there is room for are under way");
        if ahead.len() <= place {
            ahead.resize_with(place + 1, || None);
        }
        ahead[place] = Some(items);
        let before = queue.len();
        while let Some(items) = ahead.front_mut().and_then(Option::take) {
            ahead.pop_front();
            queue.extend(items);
            *next += 1;
        }
        let taker = if queue.len() > before { state.taker.take() } else { None };
        // A unit without items leaves room.
        let walk = state.call_walk();
        drop(state);
        taker.into_iter().chain(walk).for_each(Waker::wake);
    }

    /// Ends the channel, because all items have been sent or the computation has panicked. Returns the payload if the stream was dropped.
    pub(super) fn end(&self, end: Result<(), Payload>) -> Result<(), Payload> {
        let mut state = self.lock();
        if state.closed {
            return end;
        }
        state.end = match end {
            Ok(()) => ChannelEnd::Done,
            Err(payload) => ChannelEnd::Panicked(payload),
        };
        let wakers = [state.taker.take(), state.walk.take()];
        let all = state.waiting.call_all();
        // If items are left here, a unit before them has panicked.
        let ahead = mem::take(&mut state.ahead);
        drop(state);
        self.stop.cancel();
        all.chain(wakers.into_iter().flatten()).for_each(Waker::wake);
        drop(ahead);
        Ok(())
    }

    /// Returns the next item, when there is one; `None` at the end.
    ///
    /// # Panics
    ///
    /// If the computation has panicked, behind the items that it had sent.
    pub(super) fn poll_take(&self, context: &mut Context<'_>) -> Poll<Option<T>> {
        // Cloned, and dropped, without the lock: a waker is foreign code.
        let mut clone = None;
        loop {
            let mut state = self.lock();
            if let Some(item) = state.queue.pop_front() {
                call(state);
                return Poll::Ready(Some(item));
            }
            match mem::replace(&mut state.end, ChannelEnd::Done) {
                ChannelEnd::Done => return Poll::Ready(None),
                ChannelEnd::Panicked(payload) => {
                    drop(state);
                    resume_unwind(payload)
                }
                ChannelEnd::Open => {}
            }
            state.end = ChannelEnd::Open;
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

    /// Closes the channel: the stream was dropped (invariant 3).
    pub(super) fn close(&self) {
        let mut state = self.lock();
        state.closed = true;
        let items = (mem::take(&mut state.queue), mem::take(&mut state.ahead));
        let walk = state.walk.take();
        let rest = (mem::replace(&mut state.end, ChannelEnd::Done), state.taker.take());
        let all = state.waiting.call_all();
        drop(state);
        self.stop.cancel();
        all.chain(walk).for_each(Waker::wake);
        drop((rest, items));
    }
}

/// Calls one task that waits for room, if there is room (invariant 2).
fn call<T>(mut state: MutexGuard<'_, ChannelState<T>>) {
    let called = if state.has_room() { state.waiting.call() } else { None };
    let walk = state.call_walk();
    drop(state);
    called.map(|(_, waker)| waker).into_iter().chain(walk).for_each(Waker::wake);
}

/// The future of [`Channel::send`] and [`Channel::room`]: waits for room, and puts its item into the queue if it has one.
#[derive(Debug)]
#[must_use = "futures do nothing unless they are polled"]
pub(super) struct Sending<'a, T> {
    channel: &'a Channel<T>,
    item: Option<T>,
    /// Number among the waiting tasks, from the first wait until the future is ready.
    number: Option<u64>,
}

// The item is not pinned.
impl<T> Unpin for Sending<'_, T> {}

impl<T> Future for Sending<'_, T> {
    type Output = bool;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<bool> {
        let channel = self.channel;
        let mut state = channel.lock();
        if !state.has_room() && !state.is_over() {
            let number = *self.number.get_or_insert_with(|| state.waiting.number());
            let before = state.waiting.wait(number, context.waker().clone());
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
                // The task has been called, and does not use the room (invariant 2).
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
