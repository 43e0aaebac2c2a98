//! Futures that nobody waits for, unless he wants to.
//!
//! # Invariants
//!
//! 1. Such a future counts as a job of its registry until its continuation is dropped: so until then the registry is there.
//!    Whoever runs, cancels or drops a task is a thread that keeps the registry: one of its workers; one with a
//!    [`JoinHandle`]; or the one that ends the pool.
//! 2. They are tasks of the registry's [common scope](Registry::common), in which nothing ever panics: their panics go to
//!    the handle, or to the pool's panic handler.

use crate::detach::Resume;
use crate::join_handle::{self, Deliver, JoinHandle};
use crate::registry::Registry;
use crate::scope::Scope;
use crate::{Context, task};
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::NonNull;

/// Spawns a future as a task that any worker polls, and that holds none while it is pending: on the pool that the calling
/// thread is in, else on the global one.
///
/// What it gives comes out of the handle, which can be awaited, or [blocked on](crate::block_on), anywhere, by tasks of other
/// runtimes, too. Dropping the handle lets the future go on; [`cancel`](JoinHandle::cancel) ends it. Futures that are not at
/// their end when their pool is dropped are dropped with it. See [`Scope::spawn_future`](crate::Scope::spawn_future) for
/// futures that borrow.
///
/// Cost: two allocations.
///
/// # Panics
///
/// Not here: a panic of the future is raised by its handle. If the handle was dropped before, the panic goes to the pool's
/// [panic handler](crate::ThreadPoolBuilder::panic_handler). Without one it ends nothing but the future: the panic hook has
/// printed its message.
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

pub(crate) fn on<F>(registry: &Registry, future: F) -> JoinHandle<F::Output>
where
    F: Future<Output: Send + 'static> + Send + 'static,
{
    // Before it is counted: if this panics the pool does not wait for it.
    registry.check_generation();
    registry.job_made();
    let (shared, deliver) = join_handle::channel();
    let then = Detached { deliver, job: Job(NonNull::from(registry)) };
    JoinHandle::new(shared, task::spawn(registry.common(), future, then), Some(registry.this()))
}

/// The continuation.
struct Detached<T> {
    deliver: Deliver<T>,
    job: Job,
}

/// Counts as a job of the registry.
struct Job(NonNull<Registry>);

// SAFETY: it stands for a reference to the registry, which is `Sync`.
unsafe impl Send for Job {}

impl Job {
    fn registry(&self) -> &Registry {
        // SAFETY: invariant 1.
        unsafe { self.0.as_ref() }
    }
}

impl Drop for Job {
    fn drop(&mut self) {
        self.registry().job_done();
    }
}

impl<T> Detached<T> {
    /// Delivers something. Wakers may panic.
    fn deliver(&mut self, deliver: impl FnOnce(&mut Deliver<T>)) {
        // Unwind-safe: nobody sees it again.
        if let Err(payload) = catch_unwind(AssertUnwindSafe(|| deliver(&mut self.deliver))) {
            self.job.registry().handle_task_panic(payload);
        }
    }
}

impl<T: Send + 'static> Resume<'static, Scope<'static>, T> for Detached<T> {
    fn resume(mut self, _: &Scope<'static>, output: T, _: Context) {
        self.deliver(|deliver| deliver.output(output));
    }

    fn cancelled(mut self, _: &Scope<'static>) {
        self.deliver(Deliver::nothing);
    }

    fn failed(&mut self, payload: Box<dyn Any + Send>) -> Option<Box<dyn Any + Send>> {
        match catch_unwind(AssertUnwindSafe(|| self.deliver.panic(payload))) {
            Ok(None) => {}
            Ok(Some(payload)) | Err(payload) => self.job.registry().handle_task_panic(payload),
        }
        None
    }
}
