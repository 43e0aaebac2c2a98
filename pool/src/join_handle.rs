//! Spawned futures, and how others wait for them.
//!
//! # Invariants
//!
//! 1. What a spawned future gives is delivered once, by its continuation; or it is said, once, that there will be nothing.
//! 2. A waker is kept only while nothing has been delivered; who delivers takes it out under the lock, and wakes afterwards.

use crate::Context;
use crate::detach::Resume;
use crate::scope::Scope;
use std::mem;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{self, Poll, Waker};

/// What a [spawned future](crate::Scope::spawn_future) will give: itself a future.
///
/// Awaiting it in a task suspends that task, as awaiting anything does. If it is dropped the spawned future goes on.
///
/// # Panics
///
/// When it is polled after it was ready; or when the spawned future was dropped before its end, because something else in
/// its scope had panicked. (The panic of a spawned future is raised where the scope was made.)
///
/// ```
/// let sum = furcate::scope(|s| {
///     let parts: Vec<_> = (0..4_u64).map(|i| s.spawn_future(async move { i * i })).collect();
///     furcate::block_on(async {
///         let mut sum = 0;
///         for part in parts {
///             sum += part.await;
///         }
///         sum
///     })
/// });
/// assert_eq!(sum, 14);
/// ```
#[must_use = "a spawned future runs without it, but what it gives is lost"]
pub struct JoinHandle<T> {
    shared: Arc<Shared<T>>,
}

/// What a spawned future and its handle have in common.
struct Shared<T>(Mutex<State<T>>);

enum State<T> {
    Running(Option<Waker>),
    Done(T),
    /// It was dropped.
    Gone,
    /// The handle has been told.
    Taken,
}

impl<T> Shared<T> {
    fn lock(&self) -> MutexGuard<'_, State<T>> {
        // Nothing that can panic is done with this lock, but for clones of wakers.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Invariants 1 and 2.
    fn deliver(&self, end: State<T>) {
        let before = mem::replace(&mut *self.lock(), end);
        if let State::Running(Some(waker)) = before {
            waker.wake();
        }
    }
}

impl<T> JoinHandle<T> {
    /// A handle, and what delivers to it.
    pub(crate) fn new() -> (Self, Deliver<T>) {
        let shared = Arc::new(Shared(Mutex::new(State::Running(None))));
        (JoinHandle { shared: Arc::clone(&shared) }, Deliver { shared: Some(shared) })
    }

    /// Is the spawned future at its end?
    #[must_use]
    pub fn is_finished(&self) -> bool {
        !matches!(*self.shared.lock(), State::Running(_))
    }
}

impl<T> Future for JoinHandle<T> {
    type Output = T;

    fn poll(self: Pin<&mut Self>, context: &mut task::Context<'_>) -> Poll<T> {
        let mut state = self.shared.lock();
        if let State::Running(waker) = &mut *state {
            match waker {
                Some(waker) => waker.clone_from(context.waker()),
                None => *waker = Some(context.waker().clone()),
            }
            return Poll::Pending;
        }
        let end = mem::replace(&mut *state, State::Taken);
        drop(state);
        match end {
            State::Done(output) => Poll::Ready(output),
            State::Gone => panic!("the spawned future was dropped before its end: its scope has panicked"),
            State::Running(_) | State::Taken => panic!("a `JoinHandle` is polled after it was ready"),
        }
    }
}

impl<T> std::fmt::Debug for JoinHandle<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("JoinHandle").field("is_finished", &self.is_finished()).finish()
    }
}

/// The continuation of a spawned future.
pub(crate) struct Deliver<T> {
    /// `None` once something has been delivered.
    shared: Option<Arc<Shared<T>>>,
}

impl<'scope, T: Send + 'scope> Resume<'scope, Scope<'scope>, T> for Deliver<T> {
    fn resume(mut self, _: &Scope<'scope>, output: T, _: Context) {
        if let Some(shared) = self.shared.take() {
            shared.deliver(State::Done(output));
        }
    }

    fn cancelled(self, _: &Scope<'scope>) {}
}

impl<T> Drop for Deliver<T> {
    fn drop(&mut self) {
        if let Some(shared) = self.shared.take() {
            shared.deliver(State::Gone);
        }
    }
}
