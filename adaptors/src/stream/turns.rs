//! A stream that many tasks take items from, one at a time.
//!
//! Only who has the *turn* polls the stream, with its own waker, and keeps the turn while the stream is pending. When it has
//! its item it calls the next one that waits. Who comes meanwhile and finds the turn free takes it: a stream that is ready
//! gives item after item to a running task, and nobody is waited for. Who was called and comes too late waits again.
//!
//! # Invariants
//!
//! 1. *One at a time.* The stream is taken out of the state by who has the turn, for its poll, and is put back after it. No
//!    lock is held while the stream is polled, nor when anybody is woken: both may wake or poll others.
//! 2. *No turn is lost.* If the turn is free and somebody waits, somebody has been called who has not come yet. Who
//!    gives the turn back calls; so does who was called and is dropped.
//! 3. *The end is the end.* After a `None`, or a panic of its poll, the stream is not polled any more, and all who wait are
//!    woken, to find nothing.

use super::waiting::Waiting;
use futures_core::Stream;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

/// The stream, and who waits for it.
#[derive(Debug)]
pub(super) struct Turns<S> {
    state: Mutex<State<S>>,
    /// Written under the lock.
    ended: AtomicBool,
}

#[derive(Debug)]
struct State<S> {
    /// Taken out while it is polled.
    stream: Option<Pin<Box<S>>>,
    /// Has nobody the turn?
    free: bool,
    waiting: Waiting,
    /// The one who was called, and is not back yet.
    called: Option<u64>,
}

impl<S> Turns<S> {
    pub(super) fn new(stream: S) -> Self {
        Turns {
            state: Mutex::new(State {
                stream: Some(Box::pin(stream)),
                free: true,
                waiting: Waiting::default(),
                called: None,
            }),
            ended: AtomicBool::new(false),
        }
    }

    /// The next item, when it is there.
    pub(super) fn next(&self) -> Next<'_, S> {
        Next { turns: self, place: Place::Nowhere }
    }

    /// Has the stream ended? Who has the lock knows; to others it is a hint.
    pub(super) fn have_ended(&self) -> bool {
        // Relaxed: under the lock it is exact, and nothing is read on the strength of it elsewhere.
        self.ended.load(Relaxed)
    }

    fn lock(&self) -> MutexGuard<'_, State<S>> {
        // Clones of wakers may panic, and leave all as it was.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Puts the stream back, and gives the turn back, too; at the end all are called.
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

/// Calls the first one who waits, unless somebody has been called already (invariant 2).
fn call<S>(mut state: MutexGuard<'_, State<S>>) {
    if state.called.is_some() {
        return;
    }
    if let Some((number, waker)) = state.waiting.call() {
        state.called = Some(number);
        drop(state);
        waker.wake();
    }
}

/// Waits for an item of a stream: the future behind [`StreamBridge`](super::StreamBridge). `None` if there is none any more.
#[derive(Debug)]
#[must_use = "futures do nothing unless they are polled"]
pub struct Next<'a, S> {
    turns: &'a Turns<S>,
    place: Place,
}

#[derive(Clone, Copy, Debug)]
enum Place {
    /// It has not waited yet, or is at its end.
    Nowhere,
    /// It waits for its turn, or has been called.
    Waits(u64),
    /// It has the turn.
    Turn,
}

impl<S: Stream> Future for Next<'_, S> {
    type Output = Option<S::Item>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<S::Item>> {
        let turns = self.turns;
        let mut state = turns.lock();
        if let Place::Waits(number) = self.place {
            state.called.take_if(|called| *called == number);
        }
        if turns.have_ended() {
            self.place = Place::Nowhere;
            return Poll::Ready(None);
        }
        if !matches!(self.place, Place::Turn) {
            let number = match self.place {
                Place::Waits(number) => number,
                _ => state.waiting.number(),
            };
            self.place = Place::Waits(number);
            if !state.free {
                let before = state.waiting.wait(number, context.waker());
                drop(state);
                drop(before);
                return Poll::Pending;
            }
            let before = state.waiting.leave(number);
            state.free = false;
            self.place = Place::Turn;
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
    /// Has the turn.
    fn poll_stream(
        &mut self,
        stream: Option<Pin<Box<S>>>,
        context: &mut Context<'_>,
    ) -> Poll<Option<S::Item>> {
        let mut polling = Polling { turns: self.turns, stream };
        // If it panics all is over (invariant 3).
        self.place = Place::Nowhere;
        let stream = polling.stream.as_mut().expect("nobody else has it");
        let polled = stream.as_mut().poll_next(context);
        let stream = polling.stream.take().expect("it was there");
        match &polled {
            Poll::Pending => {
                self.place = Place::Turn;
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
            Place::Nowhere => {}
            Place::Turn => {
                let mut state = self.turns.lock();
                state.free = true;
                call(state);
            }
            Place::Waits(number) => {
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
