//! What every thread of a pool runs once.

use crate::job::{Header, HeapJob, JobRef, Outcome};
use crate::latch::{CallLatch, Count};
use crate::quiet_drop::drop_quietly;
use crate::registry::Registry;
use crate::worker::Worker;
use std::cell::UnsafeCell;
use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::ptr::{self, NonNull};
use std::sync::Arc;

/// What a broadcast's closure is told about where it runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BroadcastContext<'a> {
    index: usize,
    num_threads: usize,
    _here: PhantomData<&'a mut ()>,
}

impl BroadcastContext<'_> {
    /// The number of this thread among those that the closure is broadcast to, `0 .. num_threads`.
    #[must_use]
    pub fn index(&self) -> usize {
        self.index
    }

    /// How many threads the closure is broadcast to.
    #[must_use]
    pub fn num_threads(&self) -> usize {
        self.num_threads
    }
}

/// A context on its way to the thread that it is for.
#[derive(Clone, Copy)]
pub(crate) struct Address {
    index: usize,
    num_threads: usize,
}

impl Address {
    pub(crate) fn of_here<'a>(self) -> BroadcastContext<'a> {
        BroadcastContext { index: self.index, num_threads: self.num_threads, _here: PhantomData }
    }
}

/// Runs `op` once in every thread of the pool that the caller is in, else of the global one; returns the results in the
/// order of the threads' numbers.
///
/// Each thread runs it when it has no job to do, or waits for something. The spare threads that stand in for waiting
/// ones do not count.
///
/// # Panics
///
/// With the payload of the first one, by number, of those that panicked, when all are done.
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

/// Has `op` run once in every thread of the pool that the caller is in, else of the global one; nobody waits for it.
///
/// # Panics
///
/// Not here, see [`spawn`](crate::spawn).
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

/// Gives every thread the job that `make` makes for it.
pub(crate) fn queue(registry: &Registry, mut make: impl FnMut(Address) -> NonNull<Header>) {
    registry.check_generation();
    for index in 0..registry.num_threads() {
        let job = make(Address { index, num_threads: registry.num_threads() });
        send(registry, index, job);
    }
}

fn send(registry: &Registry, number: usize, job: NonNull<Header>) {
    let worker = registry.worker(number).expect("the pool's own workers are there");
    worker.broadcasts.push(JobRef::new(job, ptr::null()));
    registry.call(worker);
}

/// What the jobs of one broadcast share, in the caller's frame.
struct Shared<'a, OP, R> {
    op: &'a OP,
    outcomes: Vec<Slot<R>>,
    /// Jobs that have not ended.
    pending: Count,
    done: CallLatch,
}

struct Slot<R>(UnsafeCell<Option<Outcome<R>>>);

/// Where the jobs find it.
struct Pointer<T>(*const T);

// SAFETY: what the jobs share is the closure, which is `Sync`; each writes its own slot; the rest is meant to be
// shared.
unsafe impl<OP: Sync, R: Send> Send for Pointer<Shared<'_, OP, R>> {}

impl<OP, R> Shared<'_, OP, R>
where
    OP: Fn(BroadcastContext<'_>) -> R + Sync,
    R: Send,
{
    fn run(&self, address: Address) {
        // Unwind-safe: the caller unwinds with the payload.
        let outcome = catch_unwind(AssertUnwindSafe(|| (self.op)(address.of_here())));
        // SAFETY: one job per slot; the caller reads it when all have ended.
        unsafe { *self.outcomes[address.index].0.get() = Some(outcome) };
    }

    /// # Safety
    ///
    /// One of those counted has ended, and does not use `this` afterwards.
    unsafe fn arrive(this: *const Self, worker: &Worker) {
        // SAFETY: it is there until the latch is set, by the last one.
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
        let shared = Shared {
            op: &op,
            outcomes: (0..registry.num_threads()).map(|_| Slot(UnsafeCell::new(None))).collect(),
            pending: Count::new(registry.num_threads() + 1),
            done: CallLatch::new(current),
        };
        queue(registry, |address| {
            let shared = Pointer(&raw const shared);
            let run = move |worker: &Worker| {
                let shared = shared;
                // SAFETY: the caller's frame is there until this job has arrived, which it does here, once.
                unsafe {
                    (*shared.0).run(address);
                    Shared::arrive(shared.0, worker);
                }
            };
            // SAFETY: as just said.
            unsafe { HeapJob::queueable(0, run) }
        });
        // The caller has been counted too: it cannot miss the end.
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
