//! A stream from which many tasks take items, one task at a time.
//!
//! A task polls the stream, with its own waker, only while it has the *turn*. It keeps the turn while the stream is
//! pending. When it has its item, it calls the next waiting task. A new task that finds the turn free takes it: so a
//! stream that is ready yields item after item to a running task, and no wake-up is awaited. A task that was called and
//! comes too late waits again.
//!
//! # Invariants
//!
//! 1. *One at a time.* The task that has the turn takes the stream out of the state for its poll, and puts it back
//!    afterwards. No lock is held while the stream is polled, nor while a task is woken: both may wake or poll others.
//! 2. *No turn is lost.* If the turn is free and a task waits, then one task has been called and has not come yet. A
//!    task that returns the turn calls the next one. So does a task that was called and is dropped.
//! 3. *The end is the end.* After a `None`, or a panic of its poll, the stream is not polled any more. All waiting
//!    tasks are woken, and find no item.

use furcate_pool::sync::machine::atomic::{AtomicBool, Ordering::Relaxed};
use furcate_pool::sync::machine::{Mutex, MutexGuard};
use furcate_schedulers::WakerList;
use futures_core::Stream;
use std::pin::Pin;
use std::sync::PoisonError;
use std::task::{Context, Poll, Waker};

/// The stream, and the tasks that wait for it.
#[derive(Debug)]
pub(super) struct Turns<S> {
    state: Mutex<TurnsState<S>>,
    /// Written under the lock.
    ended: AtomicBool,
}

#[derive(Debug)]
struct TurnsState<S> {
    /// The stream; `None` while it is polled.
    stream: Option<Pin<Box<S>>>,
    /// Whether no task has the turn.
    free: bool,
    waiting: WakerList,
    /// Number of the task that was called and has not come back yet.
    called: Option<u64>,
}

impl<S> Turns<S> {
    pub(super) fn new(stream: S) -> Self {
        Turns {
            state: Mutex::new(TurnsState {
                stream: Some(Box::pin(stream)),
                free: true,
                waiting: WakerList::default(),
                called: None,
            }),
            ended: AtomicBool::new(false),
        }
    }

    /// Returns a future of the next item.
    pub(super) fn next(&self) -> Next<'_, S> {
        Next { turns: self, place: TurnPlace::Nowhere }
    }

    /// Whether the stream has ended. The answer is exact under the lock; elsewhere it is a hint.
    pub(super) fn have_ended(&self) -> bool {
        // Relaxed: under the lock the value is exact. Elsewhere no other memory access depends on it.
        self.ended.load(Relaxed)
    }

    fn lock(&self) -> MutexGuard<'_, TurnsState<S>> {
        // A panic under the lock comes from a clone of a waker, and leaves the state as it was.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Puts the stream back and returns the turn. At the end of the stream all waiting tasks are called.
    fn give_back(&self, stream: Pin<Box<S>>, ended: bool) {
        let mut state = self.lock();
        state.stream = Some(stream);
        state.free = true;
        if ended {
            self.ended.store(true, Relaxed);
            let all = state.waiting.call_all();
            drop(state);
            all.for_each(Waker::wake);
        } else {
            call(state);
        }
    }
}

/// Calls the first waiting task, unless one has been called already (invariant 2).
fn call<S>(mut state: MutexGuard<'_, TurnsState<S>>) {
    if state.called.is_some() {
        return;
    }
    if let Some((number, waker)) = state.waiting.call() {
        state.called = Some(number);
        drop(state);
        waker.wake();
    }
}

/// Future of the next item of a stream, as [`StreamBridge`](super::StreamBridge) awaits it. Yields `None` if the stream
/// has ended.
#[derive(Debug)]
#[must_use = "futures do nothing unless they are polled"]
pub struct Next<'a, S> {
    turns: &'a Turns<S>,
    place: TurnPlace,
}

#[derive(Clone, Copy, Debug)]
enum TurnPlace {
    /// The future has not waited yet, or has ended.
    Nowhere,
    /// The future waits for its turn, or has been called.
    Waits(u64),
    /// The future has the turn.
    Turn,
}

impl<S: Stream> Future for Next<'_, S> {
    type Output = Option<S::Item>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<S::Item>> {
        let turns = self.turns;
        let mut state = turns.lock();
        if let TurnPlace::Waits(number) = self.place {
            state.called.take_if(|called| *called == number);
        }
        if turns.have_ended() {
            self.place = TurnPlace::Nowhere;
            return Poll::Ready(None);
        }
        if !matches!(self.place, TurnPlace::Turn) {
            let number = match self.place {
                TurnPlace::Waits(number) => number,
                _ => state.waiting.number(),
            };
            self.place = TurnPlace::Waits(number);
            if !state.free {
                let before = state.waiting.wait(number, context.waker().clone());
                drop(state);
                drop(before);
                return Poll::Pending;
            }
            let before = state.waiting.leave(number);
            state.free = false;
            self.place = TurnPlace::Turn;
            let stream = state.stream.take();
            drop(state);
            drop(before);
            return self.poll_stream(stream, context);
        }
        let stream = state.stream.take();
        drop(state);
        self.poll_stream(stream, context)
    }
}

impl<S: Stream> Next<'_, S> {
    /// Polls the stream. The caller has the turn.
    fn poll_stream(
        &mut self,
        stream: Option<Pin<Box<S>>>,
        context: &mut Context<'_>,
    ) -> Poll<Option<S::Item>> {
        let mut polling = Polling { turns: self.turns, stream };
        // If the poll panics, the stream is over (invariant 3).
        self.place = TurnPlace::Nowhere;
        let stream = polling.stream.as_mut().expect("the turn's owner has it");
        let polled = stream.as_mut().poll_next(context);
        let stream = polling.stream.take().expect("it was not taken");
        match &polled {
            Poll::Pending => {
                self.place = TurnPlace::Turn;
                self.turns.lock().stream = Some(stream);
            }
            Poll::Ready(item) => self.turns.give_back(stream, item.is_none()),
        }
        polled
    }
}

impl<S> Drop for Next<'_, S> {
    fn drop(&mut self) {
        match self.place {
            TurnPlace::Nowhere => {}
            TurnPlace::Turn => {
                let mut state = self.turns.lock();
                state.free = true;
                call(state);
            }
            TurnPlace::Waits(number) => {
                let mut state = self.turns.lock();
                let waker = state.waiting.leave(number);
                if state.called.take_if(|called| *called == number).is_some() && state.free {
                    call(state);
                } else {
                    drop(state);
                }
                drop(waker);
            }
        }
    }
}

/// Ends the stream if its poll panics.
struct Polling<'a, S> {
    turns: &'a Turns<S>,
    stream: Option<Pin<Box<S>>>,
}

impl<S> Drop for Polling<'_, S> {
    fn drop(&mut self) {
        if let Some(stream) = self.stream.take() {
            self.turns.give_back(stream, true);
        }
    }
}

#[cfg(test)]
mod tests;
