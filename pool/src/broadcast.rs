//! Broadcasts: closures that every thread of a pool runs once.

use crate::job::Outcome;
use crate::latch::JobCount;
use crate::quiet_drop::drop_quietly;
use crate::registry::Registry;
use crate::worker::{CallLatch, Header, HeapJob, JobRef, Worker};
use std::cell::UnsafeCell;
use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::ptr::{self, NonNull};
use std::sync::Arc;

/// Facts that a broadcast passes to its closure: the number of the thread that runs it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BroadcastContext<'a> {
    index: usize,
    num_threads: usize,
    _here: PhantomData<&'a mut ()>,
}

impl BroadcastContext<'_> {
    /// Returns the number of this thread among those that the closure is broadcast to, `0 .. num_threads`.
    #[must_use]
    pub fn index(&self) -> usize {
        self.index
    }

    /// Returns the number of threads that the closure is broadcast to.
    #[must_use]
    pub fn num_threads(&self) -> usize {
        self.num_threads
    }
}

/// A [`BroadcastContext`] that may be sent to its thread.
#[derive(Clone, Copy)]
pub(crate) struct ContextAddress {
    index: usize,
    num_threads: usize,
}

impl ContextAddress {
    pub(crate) fn of_here<'a>(self) -> BroadcastContext<'a> {
        BroadcastContext { index: self.index, num_threads: self.num_threads, _here: PhantomData }
    }
}

/// Runs `op` once in every thread of the caller's pool, or of the global pool if the caller is in none. Returns the results in the
/// order of the threads' numbers.
///
/// Each thread runs `op` when it has no job to do, or waits for something. Spare threads, which stand in for waiting ones, do not run
/// it.
///
/// # Panics
///
/// If a run of `op` panics, once all runs are done. If several panic, with the payload of the thread with the lowest number.
///
/// ```
/// let pool = furcate::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
/// assert_eq!(pool.broadcast(|c| 10 * c.index()), [0, 10, 20]);
/// ```
pub fn broadcast<OP, R>(op: OP) -> Vec<R>
where
    OP: Fn(BroadcastContext<'_>) -> R + Sync,
    R: Send,
{
    Registry::with_current(|registry| on(registry, op))
}

/// Has `op` run once in every thread of the caller's pool, or of the global pool if the caller is in none. Returns without waiting for
/// it.
///
/// # Panics
///
/// Not here: for a panic of `op` see [`spawn`](crate::spawn).
///
/// ```
/// let pool = furcate::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
/// let (send, receive) = std::sync::mpsc::channel();
/// pool.spawn_broadcast(move |c| send.send(c.index()).unwrap());
/// let mut all: Vec<_> = receive.iter().collect();
/// all.sort();
/// assert_eq!(all, [0, 1]);
/// ```
pub fn spawn_broadcast<OP>(op: OP)
where
    OP: Fn(BroadcastContext<'_>) + Send + Sync + 'static,
{
    Registry::with_current(|registry| spawn_on(registry, op));
}

pub(crate) fn spawn_on<OP>(registry: &Registry, op: OP)
where
    OP: Fn(BroadcastContext<'_>) + Send + Sync + 'static,
{
    let op = Arc::new(op);
    queue(registry, |address| {
        let op = Arc::clone(&op);
        crate::spawn::job(registry, move || op(address.of_here()))
    });
}

/// Sends each of the pool's own threads a job that `make` makes for it.
pub(crate) fn queue(registry: &Registry, mut make: impl FnMut(ContextAddress) -> NonNull<Header>) {
    registry.check_generation();
    for index in 0..registry.num_threads() {
        let job = make(ContextAddress { index, num_threads: registry.num_threads() });
        send(registry, index, job);
    }
}

/// Sends a broadcast job to a worker, and wakes the worker if it sleeps.
fn send(registry: &Registry, number: usize, job: NonNull<Header>) {
    let worker = registry.worker(number).expect("the pool's own workers are there");
    worker.broadcasts.push(JobRef::new(job, ptr::null()));
    registry.call(worker);
}

/// State that the jobs of one broadcast share. It lies in the caller's frame.
struct BroadcastState<'a, OP, R> {
    op: &'a OP,
    /// Results by the threads' numbers.
    outcomes: Vec<OutcomeCell<R>>,
    /// Number of jobs that have not ended, plus 1 for the caller until it waits.
    pending: JobCount,
    done: CallLatch,
}

struct OutcomeCell<R>(UnsafeCell<Option<Outcome<R>>>);

/// A pointer that the jobs carry to their threads.
struct JobPointer<T>(*const T);

// SAFETY: the jobs share the closure, which is `Sync`. Each job writes its own element of `outcomes`. The other fields are made to be
// shared.
unsafe impl<OP: Sync, R: Send> Send for JobPointer<BroadcastState<'_, OP, R>> {}

impl<OP, R> BroadcastState<'_, OP, R>
where
    OP: Fn(BroadcastContext<'_>) -> R + Sync,
    R: Send,
{
    fn run(&self, address: ContextAddress) {
        // Unwind-safe: the caller unwinds with the payload.
        let outcome = catch_unwind(AssertUnwindSafe(|| (self.op)(address.of_here())));
        // SAFETY: each element has one job. The caller reads the elements when all jobs have ended.
        unsafe { *self.outcomes[address.index].0.get() = Some(outcome) };
    }

    /// Notes that a job has ended. The last one sets the latch.
    ///
    /// # Safety
    ///
    /// The job was counted, and does not use `this` afterwards.
    unsafe fn arrive(this: *const Self, worker: &Worker) {
        // SAFETY: `this` is alive until the last job sets the latch.
        unsafe {
            if (*this).pending.arrive() {
                CallLatch::set(&raw const (*this).done, Some(worker));
            }
        }
    }
}

pub(crate) fn on<OP, R>(registry: &Registry, op: OP) -> Vec<R>
where
    OP: Fn(BroadcastContext<'_>) -> R + Sync,
    R: Send,
{
    Worker::with_current(|current| {
        let shared = BroadcastState {
            op: &op,
            outcomes: (0..registry.num_threads()).map(|_| OutcomeCell(UnsafeCell::new(None))).collect(),
            pending: JobCount::new(registry.num_threads() + 1),
            done: CallLatch::new(current),
        };
        queue(registry, |address| {
            let shared = JobPointer(&raw const shared);
            let run = move |worker: &Worker| {
                let shared = shared;
                // SAFETY: the caller's frame is alive until this job has arrived, which it does here, once.
                unsafe {
                    (*shared.0).run(address);
                    BroadcastState::arrive(shared.0, worker);
                }
            };
            // SAFETY: as above.
            unsafe { HeapJob::queueable(0, run) }
        });
        // The caller is counted too, so it cannot miss the end.
        if !shared.pending.arrive() {
            match current {
                Some(worker) => worker.wait_for_others(shared.done.latch()),
                None => shared.done.lock().wait(),
            }
        }
        let mut outcomes =
            shared.outcomes.into_iter().map(|slot| slot.0.into_inner().expect("every job has ended"));
        let mut results = Vec::with_capacity(registry.num_threads());
        while let Some(outcome) = outcomes.next() {
            match outcome {
                Ok(result) => results.push(result),
                Err(payload) => {
                    results.into_iter().for_each(drop_quietly);
                    outcomes.for_each(drop_quietly);
                    resume_unwind(payload)
                }
            }
        }
        results
    })
}
