//! Spawned jobs that no scope waits for.

use crate::engine::registry::Registry;
use crate::engine::scope::WAITED_FOR;
use crate::engine::settings::current_priority;
use crate::engine::worker::{Fifo, Header, HeapJob, JobRef, SpawnHeader, Worker};
use crate::slots::Priority;
use crate::trace::CallSpan;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::{self, NonNull};

/// Queues `op` to run on the caller's pool, or on the global pool if the caller is in none. Returns without waiting for it.
///
/// Among jobs that the same thread has spawned and that were not stolen, the last one runs first. See [`scope`](crate::scope()) for
/// jobs that borrow. A dropped pool runs its spawned jobs before it ends; an [abandoned](crate::ThreadPool::abandon) one drops those that
/// have not begun.
///
/// Cost: an allocation; from outside the pool also a check for sleeping workers.
///
/// # Panics
///
/// Not here: a panic in `op` goes to the pool's [panic handler](crate::ThreadPoolBuilder::panic_handler). Without a handler it aborts
/// the process.
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

/// Does the same as [`spawn`], but among jobs that this function has spawned and that were not stolen, the first one runs first.
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
    Worker::with_current(|current| match current.filter(|worker| spawns_here(worker, registry, job)) {
        // SAFETY: the job and its ticket are queued once, here. The worker's queue outlives them.
        Some(worker) => unsafe { worker.spawn(Fifo::push(&worker.fifo, JobRef::new(job, worker))) },
        // SAFETY: the job is queued once, here. The injector is first in, first out.
        None => unsafe { queue(registry, job) },
    });
}

/// Makes a job that keeps the pool alive until it has run.
pub(crate) fn job(registry: &Registry, op: impl FnOnce() + Send + 'static) -> NonNull<Header> {
    // Before the job is counted: if this panics, the pool does not wait for the job.
    registry.check_generation();
    registry.job_made();
    let (priority, span) = (current_priority(), CallSpan::current());
    let run = move |worker: &Worker| {
        worker.set_priority(priority);
        // The job may be the only thing that keeps the pool from ending. The thread that runs the job keeps the registry.
        let registry = worker.registry();
        // Both may panic: `op`, and the drop of its values.
        let run_or_drop = || if registry.drops_spawned() { drop(op) } else { op() };
        if let Err(payload) = span.run(|| catch_unwind(AssertUnwindSafe(run_or_drop))) {
            registry.handle_panic(payload);
        }
        registry.job_done();
    };
    // SAFETY: it borrows nothing.
    unsafe { HeapJob::queueable(priority.scope_bits(), run) }
}

/// Whether a spawned job goes to the calling worker's deque: the worker holds a slot of the pool, and a frame waits for the job's scope and looks there, or the job
/// is of normal priority.
fn spawns_here(worker: &Worker, registry: &Registry, job: NonNull<Header>) -> bool {
    // SAFETY: a spawned job that is about to be queued.
    let scope = unsafe { SpawnHeader::scope_of(job) };
    let stays = scope & WAITED_FOR != 0 || Priority::of_scope(scope) == Priority::Normal;
    stays && worker.holds_slot_in(registry)
}

/// Queues a spawned job: in the calling thread's deque, if the thread is a worker in a slot of the pool; otherwise in the injector, or in the queue of its priority.
///
/// # Safety
///
/// As for [`Worker::spawn`].
pub(crate) unsafe fn queue(registry: &Registry, job: NonNull<Header>) {
    Worker::with_current(|current| match current.filter(|worker| spawns_here(worker, registry, job)) {
        // SAFETY: the caller's; the worker is this thread.
        Some(worker) => unsafe { worker.spawn(job) },
        None => registry.inject(JobRef::new(job, ptr::null())),
    });
}
