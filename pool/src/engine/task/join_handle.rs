//! Handles of spawned futures: see [`OneShot`] for the protocol.

use crate::Context;
use crate::detach::{OneShot, OneShotSender, Resume, SpawnedOutcome};
use crate::engine::registry::Registry;
use crate::engine::task::{GONE, Reference};
use crate::engine::worker::Header;
use std::panic::{panic_any, resume_unwind};
use std::pin::Pin;
use std::ptr::NonNull;
use std::sync::Arc;
use std::task::{self, Poll, ready};

/// Handle of a spawned future: a future of its output. See [`spawn_future`](crate::spawn_future) and
/// [`Scope::spawn_future`](crate::Scope::spawn_future). [`spawn_handle`](crate::spawn_handle) gives the handle of a closure, which is
/// spawned as a future that is ready after one poll.
///
/// A task that awaits the handle is suspended, as by any other future. A thread waits for it by [`block_on`](crate::block_on). If the
/// handle is dropped, the spawned future goes on.
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
    place: Arc<OneShot<T>>,
    task: Reference,
    /// The registry of a future that no scope waits for: a thread that cancels the future needs it.
    _registry: Option<Arc<Registry>>,
}

impl<T> JoinHandle<T> {
    /// Makes the handle of a task that was spawned with the sender of this place as its continuation.
    pub(crate) fn new(place: Arc<OneShot<T>>, task: Reference, registry: Option<Arc<Registry>>) -> Self {
        JoinHandle { place, task, _registry: registry }
    }

    /// Returns the task, as a job, which may have been run.
    pub(crate) fn job(&self) -> NonNull<Header> {
        self.task.job()
    }

    /// Drops the spawned future, if it is not at its end. If a worker polls the future, or is about to, that worker drops it.
    ///
    /// A poll is not interrupted. So a [closure](crate::spawn_handle) that has begun runs to its end, and the handle gives its result.
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
        self.place.is_delivered()
    }
}

impl<T> Future for JoinHandle<T> {
    type Output = T;

    fn poll(self: Pin<&mut Self>, context: &mut task::Context<'_>) -> Poll<T> {
        match ready!(self.place.poll(context)) {
            Some(SpawnedOutcome::Done(output)) => Poll::Ready(output),
            Some(SpawnedOutcome::Panicked(payload)) => resume_unwind(payload),
            Some(SpawnedOutcome::Cancelled) => panic_any(GONE),
            None => panic!("a `JoinHandle` is polled after it was ready"),
        }
    }
}

impl<T> std::fmt::Debug for JoinHandle<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("JoinHandle").field("is_finished", &self.is_finished()).finish()
    }
}

/// The continuation of a spawned future: dropped without an output, it tells the handle so.
impl<'scope, S, T: Send + 'scope> Resume<'scope, S, T> for OneShotSender<T> {
    fn resume(mut self, _: &S, output: T, _: Context) {
        self.deliver(SpawnedOutcome::Done(output));
    }

    fn cancelled(self, _: &S) {}
}
