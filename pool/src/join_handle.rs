//! Handles of spawned futures.
//!
//! # Invariants
//!
//! 1. The continuation of a spawned future delivers the output once; or it tells once that there will be none.
//! 2. A waker is kept only while nothing has been delivered. The thread that delivers takes the waker out under the
//!    lock, and calls it afterwards. No code of a waker runs under the lock.

use crate::Context;
use crate::detach::Resume;
use crate::registry::Registry;
use crate::task::{GONE, Reference};
use crate::worker::Header;
use std::any::Any;
use std::mem;
use std::panic::{panic_any, resume_unwind};
use std::pin::Pin;
use std::ptr::NonNull;
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::{self, Poll, Waker};

/// Handle of a spawned future: a future of its output. See [`spawn_future`](crate::spawn_future) and
/// [`Scope::spawn_future`](crate::Scope::spawn_future).
///
/// A task that awaits the handle is suspended, as by any other future. If the handle is dropped, the spawned future goes on.
///
/// # Panics
///
/// - If it is polled after it was ready.
/// - If the spawned future was dropped before its end: it was [cancelled](Self::cancel), its pool was dropped, or another job of its
///   scope has panicked.
/// - If the spawned future has panicked, with the same payload. If it was spawned in a scope, the scope raises the panic instead.
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
    shared: Arc<JoinShared<T>>,
    task: Reference,
    /// The registry of a future that no scope waits for: a thread that cancels the future needs it.
    _registry: Option<Arc<Registry>>,
}

/// State that a spawned future shares with its handle.
pub(crate) struct JoinShared<T>(Mutex<HandleState<T>>);

enum HandleState<T> {
    Running(Option<Waker>),
    Done(T),
    Panicked(Box<dyn Any + Send>),
    /// The future was dropped before its end.
    Gone,
    /// The handle has taken the end.
    Taken,
}

impl<T> JoinShared<T> {
    fn lock(&self) -> MutexGuard<'_, HandleState<T>> {
        self.0.lock().expect("nobody panics with this lock")
    }

    /// Delivers the end and wakes the handle's waiter (invariants 1 and 2).
    fn deliver(&self, end: HandleState<T>) {
        let before = mem::replace(&mut *self.lock(), end);
        if let HandleState::Running(Some(waker)) = before {
            waker.wake();
        }
    }
}

impl<T> JoinHandle<T> {
    /// Makes the handle of a task that was spawned with the other end of the [`channel`].
    pub(crate) fn new(shared: Arc<JoinShared<T>>, task: Reference, registry: Option<Arc<Registry>>) -> Self {
        JoinHandle { shared, task, _registry: registry }
    }

    /// Returns the task, as a job, which may have been run.
    pub(crate) fn job(&self) -> NonNull<Header> {
        self.task.job()
    }

    /// Drops the spawned future, if it is not at its end. If a worker polls the future, or is about to, that worker drops it.
    ///
    /// ```
    /// let forever = furcate::spawn_future(std::future::pending::<()>());
    /// forever.cancel();
    /// while !forever.is_finished() {
    ///     std::thread::yield_now(); // until a worker has dropped it
    /// }
    /// ```
    pub fn cancel(&self) {
        self.task.cancel();
    }

    /// Whether the spawned future is at its end.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        !matches!(*self.shared.lock(), HandleState::Running(_))
    }
}

impl<T> Future for JoinHandle<T> {
    type Output = T;

    fn poll(self: Pin<&mut Self>, context: &mut task::Context<'_>) -> Poll<T> {
        // Cloned, and dropped, without the lock: a waker is foreign code (invariant 2).
        let mut clone = None;
        let mut state = loop {
            let mut state = self.shared.lock();
            let HandleState::Running(waker) = &mut *state else { break state };
            if waker.as_ref().is_some_and(|waker| waker.will_wake(context.waker())) {
                return Poll::Pending;
            }
            let before = clone.take().map(|clone| waker.replace(clone));
            drop(state);
            if before.is_some() {
                return Poll::Pending;
            }
            clone = Some(context.waker().clone());
        };
        let end = mem::replace(&mut *state, HandleState::Taken);
        drop(state);
        match end {
            HandleState::Done(output) => Poll::Ready(output),
            HandleState::Panicked(payload) => resume_unwind(payload),
            HandleState::Gone => panic_any(GONE),
            HandleState::Running(_) | HandleState::Taken => {
                panic!("a `JoinHandle` is polled after it was ready")
            }
        }
    }
}

impl<T> std::fmt::Debug for JoinHandle<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("JoinHandle").field("is_finished", &self.is_finished()).finish()
    }
}

/// Makes the two ends through which a spawned future delivers its output.
pub(crate) fn channel<T>() -> (Arc<JoinShared<T>>, Deliver<T>) {
    let shared = Arc::new(JoinShared(Mutex::new(HandleState::Running(None))));
    (Arc::clone(&shared), Deliver { shared: Some(shared) })
}

/// The continuation of a spawned future.
pub(crate) struct Deliver<T> {
    /// `None` once something has been delivered.
    shared: Option<Arc<JoinShared<T>>>,
}

impl<T> Deliver<T> {
    pub(crate) fn output(&mut self, output: T) {
        if let Some(shared) = self.shared.take() {
            shared.deliver(HandleState::Done(output));
        }
    }

    /// Delivers that there will be no output, unless something was delivered before.
    pub(crate) fn nothing(&mut self) {
        if let Some(shared) = self.shared.take() {
            shared.deliver(HandleState::Gone);
        }
    }

    /// Delivers a panic to the handle. Returns the payload if the handle has been dropped.
    pub(crate) fn panic(&mut self, payload: Box<dyn Any + Send>) -> Option<Box<dyn Any + Send>> {
        let Some(shared) = self.shared.take().filter(|shared| Arc::strong_count(shared) > 1) else {
            return Some(payload);
        };
        shared.deliver(HandleState::Panicked(payload));
        None
    }
}

impl<'scope, S, T: Send + 'scope> Resume<'scope, S, T> for Deliver<T> {
    fn resume(mut self, _: &S, output: T, _: Context) {
        self.output(output);
    }

    fn cancelled(self, _: &S) {}
}

impl<T> Drop for Deliver<T> {
    fn drop(&mut self) {
        self.nothing();
    }
}
