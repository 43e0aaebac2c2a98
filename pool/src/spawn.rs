//! Spawned jobs, which no scope waits for.

use crate::fifo::Fifo;
use crate::job::{Header, HeapJob, JobRef};
use crate::registry::Registry;
use crate::worker::Worker;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::{self, NonNull};

/// Queues `op` to be run on the pool that the calling thread is in, else on the global one, and returns without waiting for it.
///
/// Among jobs spawned by the same thread and not stolen, the last one runs first. See [`scope`](crate::scope()) for jobs
/// that borrow. A pool that is dropped runs its spawned jobs first.
///
/// Cost: an allocation; from outside also a check for sleeping workers.
///
/// # Panics
///
/// Not here: a panic in `op` goes to the pool's [panic handler](crate::ThreadPoolBuilder::panic_handler), and aborts the
/// process if there is none.
///
/// ```
/// let (send, receive) = std::sync::mpsc::channel();
/// furcate::spawn(move || send.send(1).unwrap());
/// assert_eq!(receive.recv(), Ok(1));
/// ```
pub fn spawn<OP>(op: OP)
where
    OP: FnOnce() + Send + 'static,
{
    Registry::with_current(|registry| on(registry, op));
}

/// [`spawn`], but among jobs spawned by this function and not stolen the first one runs first.
///
/// # Panics
///
/// As [`spawn`].
///
/// ```
/// let (send, receive) = std::sync::mpsc::channel();
/// furcate::spawn_fifo(move || send.send(1).unwrap());
/// assert_eq!(receive.recv(), Ok(1));
/// ```
pub fn spawn_fifo<OP>(op: OP)
where
    OP: FnOnce() + Send + 'static,
{
    Registry::with_current(|registry| fifo_on(registry, op));
}

pub(crate) fn on(registry: &Registry, op: impl FnOnce() + Send + 'static) {
    // SAFETY: the job is queued once, here.
    unsafe { queue(registry, job(registry, op)) };
}

pub(crate) fn fifo_on(registry: &Registry, op: impl FnOnce() + Send + 'static) {
    let job = job(registry, op);
    Worker::with_current(|current| match current.filter(|worker| worker.holds_slot_in(registry)) {
        // SAFETY: both the job and its ticket are queued once, here; the worker's queue outlives them.
        Some(worker) => unsafe { worker.spawn(Fifo::push(&worker.fifo, JobRef::new(job, worker))) },
        // SAFETY: the job is queued once, here. The injector is first in, first out.
        None => unsafe { queue(registry, job) },
    });
}

/// A job that keeps the pool alive until it has run.
pub(crate) fn job(registry: &Registry, op: impl FnOnce() + Send + 'static) -> NonNull<Header> {
    // Before it is counted: if this panics the pool does not wait for the job.
    registry.check_generation();
    registry.job_made();
    const NO_SCOPE: u64 = 0;
    let run = |worker: &Worker| {
        // The job may be all that keeps the pool going; the thread that runs it keeps the registry.
        let registry = worker.registry();
        if let Err(payload) = catch_unwind(AssertUnwindSafe(op)) {
            registry.handle_panic(payload);
        }
        registry.job_done();
    };
    // SAFETY: it borrows nothing.
    unsafe { HeapJob::queueable(NO_SCOPE, run) }
}

/// Queues a spawned job: with the calling thread's, if that is a worker in a slot of the pool.
///
/// # Safety
///
/// As for [`Worker::spawn`].
pub(crate) unsafe fn queue(registry: &Registry, job: NonNull<Header>) {
    Worker::with_current(|current| match current.filter(|worker| worker.holds_slot_in(registry)) {
        // SAFETY: the caller's; the worker is this thread.
        Some(worker) => unsafe { worker.spawn(job) },
        None => registry.inject(JobRef::new(job, ptr::null())),
    });
}
