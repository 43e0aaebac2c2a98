//! Spawned futures, which no scope waits for.
//!
//! # Invariants
//!
//! 1. A spawned future counts as a job of its registry until its continuation is dropped, so the registry stays until
//!    then. A thread that runs, cancels or drops a task keeps the registry alive: it is one of the registry's workers,
//!    has a [`JoinHandle`], or ends the pool.
//! 2. Spawned futures are tasks of the registry's [common scope](Registry::common), which never sees a panic: their panics go to
//!    the handle, or to the pool's panic handler.
//! 3. The future of a [`Within`] is pinned with it: it is never moved out, and is dropped in its place.

use crate::Context;
use crate::detach::{OneShot, OneShotSender, Resume, SpawnedOutcome};
use crate::engine::registry::Registry;
use crate::engine::scope::Scope;
use crate::engine::settings::runtime::{self, Runtime};
use crate::engine::task::{self as tasks, JoinHandle};
use std::any::Any;
use std::mem::ManuallyDrop;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::ptr::NonNull;
use std::task::{self, Poll};

/// Spawns a future as a task, on the pool that the calling thread is in, else on the global one. Any worker may poll the task, and a
/// pending task holds no worker.
///
/// The handle gives the future's output. It can be awaited in tasks of any runtime, or [blocked on](crate::block_on). If the handle is
/// dropped, the future goes on; [`cancel`](JoinHandle::cancel) ends it. A pool that is dropped drops its unfinished futures.
/// See [`Scope::spawn_future`](crate::Scope::spawn_future) for futures that borrow.
///
/// Cost: two allocations.
///
/// # Panics
///
/// Does not panic itself: a panic of the future is raised by its handle. If the handle was dropped before, the panic
/// goes to the pool's [panic handler](crate::ThreadPoolBuilder::panic_handler). Without a handler the panic ends only
/// the future; the panic hook has printed its message.
///
/// ```
/// use std::time::Duration;
///
/// let answer = furcate::spawn_future(async {
///     async_io::Timer::after(Duration::from_millis(10)).await;
///     42
/// });
/// assert_eq!(furcate::block_on(answer), 42);
/// ```
pub fn spawn_future<F>(future: F) -> JoinHandle<F::Output>
where
    F: Future<Output: Send + 'static> + Send + 'static,
{
    Registry::with_current(|registry| on(registry, future))
}

/// Queues `op` as [`spawn`](crate::spawn) does, and returns a handle of its result.
///
/// The handle can be awaited in tasks of any runtime, or [blocked on](crate::block_on). [`is_finished`](JoinHandle::is_finished) says
/// whether `op` is at its end. [`cancel`](JoinHandle::cancel) drops `op` if it has not begun. If the handle is dropped, `op` runs all
/// the same.
///
/// The closure is [spawned as a future](spawn_future) that calls it in its first poll. So a pool that is dropped drops closures that have not
/// begun, and their handles panic. (Jobs of `spawn` run before the pool ends.)
///
/// Cost: two allocations, where `spawn` has one. A job that blocks on the handle keeps its thread meanwhile, so another thread has to
/// stand in for it: within a computation, [`join`](crate::join()) and [`scope`](crate::scope()) cost less.
///
/// # Panics
///
/// Does not panic itself: a panic of `op` is raised by the handle. If the handle was dropped before, see [`spawn_future`].
///
/// ```
/// let handles: Vec<_> = (0..4_u64).map(|i| furcate::spawn_handle(move || i * i)).collect();
/// let squares: Vec<_> = handles.into_iter().map(furcate::block_on).collect();
/// assert_eq!(squares, [0, 1, 4, 9]);
/// ```
#[doc(alias = "spawn_blocking")]
pub fn spawn_handle<OP, T>(op: OP) -> JoinHandle<T>
where
    OP: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    spawn_future(async move { op() })
}

pub(crate) fn on<F>(registry: &Registry, future: F) -> JoinHandle<F::Output>
where
    F: Future<Output: Send + 'static> + Send + 'static,
{
    // Before the future is counted: if this panics, the pool does not wait for the future.
    registry.check_generation();
    registry.job_made();
    let (place, sender) = OneShot::new();
    let then = Detached { sender, registry: NonNull::from(registry) };
    let runtime = registry.runtime_of_call();
    let task = if runtime.is_some() {
        tasks::spawn(registry.common(), Within { runtime, future: ManuallyDrop::new(future) }, then)
    } else {
        tasks::spawn(registry.common(), future, then)
    };
    JoinHandle::new(place, task, Some(registry.this()))
}

/// A future that is polled and dropped inside a runtime: the runtime of the thread that has spawned it.
struct Within<F> {
    runtime: Runtime,
    future: ManuallyDrop<F>,
}

impl<F: Future> Future for Within<F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, context: &mut task::Context<'_>) -> Poll<F::Output> {
        // SAFETY: the future is not moved out of it (invariant 3).
        let this = unsafe { self.get_unchecked_mut() };
        let _entered = this.runtime.enter();
        // SAFETY: it is pinned with `self` (invariant 3).
        unsafe { Pin::new_unchecked(&mut *this.future) }.poll(context)
    }
}

impl<F> Drop for Within<F> {
    fn drop(&mut self) {
        let _entered = self.runtime.enter();
        // SAFETY: not used again (invariant 3).
        unsafe { ManuallyDrop::drop(&mut self.future) };
    }
}

/// The continuation of a spawned future. Counts as a job of the registry. Its drop delivers a cancellation, unless an outcome was
/// delivered before, and then ends the job.
struct Detached<T> {
    sender: OneShotSender<T>,
    registry: NonNull<Registry>,
}

// SAFETY: it stands for a sender, and for a reference to the registry, which is `Sync`.
unsafe impl<T: Send> Send for Detached<T> {}

impl<T> Drop for Detached<T> {
    fn drop(&mut self) {
        self.deliver(SpawnedOutcome::Cancelled);
        self.registry().job_done();
    }
}

impl<T> Detached<T> {
    fn registry(&self) -> &Registry {
        // SAFETY: invariant 1.
        unsafe { self.registry.as_ref() }
    }

    /// Delivers the outcome. Wakers may panic: such a panic goes to the panic handler.
    fn deliver(&mut self, end: SpawnedOutcome<T>) {
        // Unwind-safe: no code uses `self.sender` again.
        if let Err(payload) = catch_unwind(AssertUnwindSafe(|| self.sender.deliver(end))) {
            self.registry().handle_task_panic(payload);
        }
    }
}

impl<T: Send + 'static> Resume<'static, Scope<'static>, T> for Detached<T> {
    fn resume(mut self, _: &Scope<'static>, output: T, _: Context) {
        self.deliver(SpawnedOutcome::Done(output));
    }

    fn cancelled(self, _: &Scope<'static>) {}

    fn failed(&mut self, payload: Box<dyn Any + Send>) -> Option<Box<dyn Any + Send>> {
        let payload = runtime::explain(payload);
        match catch_unwind(AssertUnwindSafe(|| self.sender.deliver_panic(payload))) {
            Ok(None) => {}
            Ok(Some(payload)) | Err(payload) => self.registry().handle_task_panic(payload),
        }
        None
    }
}
