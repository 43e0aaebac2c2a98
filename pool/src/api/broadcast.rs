//! Broadcasts: closures that every thread of a pool runs once.

use crate::engine::job::Outcome;
use crate::engine::registry::Registry;
use crate::engine::scope::{self, Scope, ScopeFifo};
use crate::engine::worker::{Header, JobRef};
use crate::quiet_drop::drop_quietly;
use crate::sync::machine::Mutex;
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
    queue(registry, |context| {
        let op = Arc::clone(&op);
        crate::engine::spawn::job(registry, move || op(context))
    });
}

/// Does as [`ThreadPool::spawn_on`](crate::ThreadPool::spawn_on).
pub(crate) fn spawn_at(registry: &Registry, index: usize, op: impl FnOnce() + Send + 'static) {
    let threads = registry.num_threads();
    // Before the job is counted: the pool does not wait for a job that is not there.
    assert!(
        index < threads,
        "spawn_on({index}, ..): the pool has {threads} thread(s), so the index must be less than {threads}, which is the pool's `current_num_threads()`"
    );
    send(registry, index, crate::engine::spawn::job(registry, op));
}

/// Sends a job to one of the pool's own threads, and wakes the thread if it sleeps.
fn send(registry: &Registry, index: usize, job: NonNull<Header>) {
    let worker = registry.worker(index).expect("the pool's own workers are there");
    worker.broadcasts.push(JobRef::new(job, ptr::null()));
    registry.call(worker);
}

/// Sends each of the pool's own threads a job that `make` makes for it.
fn queue(registry: &Registry, mut make: impl FnMut(BroadcastContext<'static>) -> NonNull<Header>) {
    registry.check_generation();
    let num_threads = registry.num_threads();
    for index in 0..num_threads {
        send(registry, index, make(BroadcastContext { index, num_threads, _here: PhantomData }));
    }
}

pub(crate) fn on<OP, R>(registry: &Registry, op: OP) -> Vec<R>
where
    OP: Fn(BroadcastContext<'_>) -> R + Sync,
    R: Send,
{
    let outcomes: Vec<_> = (0..registry.num_threads()).map(|_| Mutex::new(None::<Outcome<R>>)).collect();
    // Each thread runs its own job, so the caller runs none but its own meanwhile, whatever the pool's wait rule is.
    scope::in_place(registry, false, |scope| {
        scope.spawn_broadcast(|_, context| {
            // Unwind-safe: the caller unwinds with the payload.
            let outcome = catch_unwind(AssertUnwindSafe(|| op(context)));
            *outcomes[context.index()].lock().expect(UNPOISONED) = Some(outcome);
        });
    });
    let mut outcomes = outcomes
        .into_iter()
        .map(|outcome| outcome.into_inner().expect(UNPOISONED).expect("every job has ended"));
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
}

const UNPOISONED: &str = "nobody panics with this lock";

impl<'scope> Scope<'scope> {
    /// Spawns a job that every thread of the pool runs once.
    ///
    /// # Panics
    ///
    /// As [`spawn`](Self::spawn).
    pub fn spawn_broadcast<BODY>(&self, body: BODY)
    where
        BODY: Fn(&Scope<'scope>, BroadcastContext<'_>) + Send + Sync + 'scope,
    {
        let body = Arc::new(body);
        queue(self.registry(), |context| {
            let body = Arc::clone(&body);
            self.job(move |scope| body(scope, context))
        });
    }
}

impl<'scope> ScopeFifo<'scope> {
    /// Spawns a job that every thread of the pool runs once.
    ///
    /// # Panics
    ///
    /// As [`Scope::spawn`].
    pub fn spawn_broadcast<BODY>(&self, body: BODY)
    where
        BODY: Fn(&ScopeFifo<'scope>, BroadcastContext<'_>) + Send + Sync + 'scope,
    {
        self.0.spawn_broadcast(move |scope, context| body(ScopeFifo::of(scope), context));
    }
}
