//! A kit for engines: detached parts, forks and spawned roots for any threads that run jobs.
//!
//! Each part lies in a slot that its owner and a job share. The job goes to the threads; the part belongs to the one that comes first.
//!
//! ```text
//!   owner    slot := part ── run(job) ──────── goes on ─────────── slot.take() ── Some: runs it itself
//!   thread                      └── job: slot.take() ── Some: runs it          └─ None: it runs elsewhere
//! ```
//!
//! A thread never waits for a job that has not begun: it takes the part back instead. So threads that are few, late, or gone cost
//! forks and detached parts their parallelism, and never block a call. A spawned computation needs its job: if the job is dropped, the
//! computation is cancelled; if the job is kept and never run, the computation never ends.
//!
//! # Invariants
//!
//! 1. *A slot is empty when the frame that filled it ends*, however that frame ends. So a job that is run, or dropped, after the end
//!    of the computation finds no part, and touches none of its data.
//! 2. *A part that a job has taken is counted.* The job adds 1 to `SharedCall::running` under the slot's lock, and subtracts it when the part
//!    has been run and dropped. [`Executor::detached`] returns or unwinds only when nothing is counted.
//! 3. *One panic* is the computation's: that of the body, else the first one of a part. Other payloads are dropped quietly.

use super::{
    BlockingSuspend, Detach, Detachable, Publish, PublishedOffers, RightPart, SharedPart, SpawnedOutcome,
    Unattended, published, run_blocking,
};
use crate::quiet_drop::{Quiet, drop_quietly};
use crate::sync::machine::thread::{self, ThreadId};
use crate::sync::machine::{Condvar, Mutex, MutexGuard};
use crate::{Context, Executor};
use std::any::Any;
use std::fmt;
use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// Threads that run jobs: all that an engine of your own needs. [`OnThreads`] makes an [`Executor`] of them.
///
/// The methods have no defaults, since a guess would cost parallelism silently. The chapter "Extending Furcate" of the book has an
/// engine in 29 lines.
///
/// ```
/// use furcate::detach::{Job, OnThreads, Threads};
/// use furcate::prelude::*;
///
/// /// A thread for each job: simple, and slow.
/// #[derive(Clone)]
/// struct ThreadPerJob;
///
/// impl Threads for ThreadPerJob {
///     fn run(&self, job: Job) {
///         std::thread::spawn(|| job.run());
///     }
///     fn num_threads(&self) -> usize {
///         4
///     }
/// }
/// assert_eq!((0..100).into_par_iter().on(OnThreads(ThreadPerJob)).sum::<i32>(), 4950);
/// ```
pub trait Threads: Clone + Send + Sync + 'static {
    /// Has one of the threads run the job. Jobs that come first should run first.
    ///
    /// A job that is dropped, because the threads have ended, costs parallelism and nothing else.
    fn run(&self, job: Job);

    /// Returns how many threads run jobs at once; at least 1.
    fn num_threads(&self) -> usize;
}

/// A job for one of the [`Threads`].
pub struct Job(Box<dyn FnOnce() + Send>);

impl Job {
    /// Runs the job in the calling thread. Never panics.
    pub fn run(self) {
        (self.0)();
    }
}

impl fmt::Debug for Job {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Job").finish_non_exhaustive()
    }
}

/// The engine on [`Threads`]: forks, detached parts and spawned computations run in parallel on them.
///
/// A thread that makes a call takes part in it. Futures block the thread that polls them.
///
/// Cost: a fork is a job of the threads, four or five allocations, and a lock at either end. The job of a
/// part that was taken back stays queued until a thread has popped it. While a thread waits for a stolen half of
/// a `join`, it runs nothing else.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OnThreads<T>(pub T);

impl<T: Threads> Executor for OnThreads<T> {
    type Scope<'scope> = Parts<'scope, T>;

    fn join_context<A, B, RA, RB>(&self, left: A, right: B) -> (RA, RB)
    where
        A: FnOnce(Context) -> RA + Send,
        B: FnOnce(Context) -> RB + Send,
        RA: Send,
        RB: Send,
    {
        let output = Mutex::new(Quiet(None));
        let left = self.detached(|parts| {
            let right = Right { right, output: &output };
            let (left, right) = parts.fork(|| left(Context::new(false)), right);
            if let RightPart::Back(right) = right {
                right.call(Context::new(false));
            }
            left
        });
        // Without a panic, a right half that was taken has ended, too: invariant 2.
        let right = output.into_inner().expect(UNPOISONED).0.take();
        (left, right.expect("each half has run to its end"))
    }

    fn detached<'scope, B, R>(&self, body: B) -> R
    where
        B: FnOnce(&Self::Scope<'scope>) -> R + Send,
        R: Send,
    {
        let parts = Parts { threads: self.0.clone(), call: Arc::default(), _parts: PhantomData };
        // Unwind-safe: if the body panics, so does this call.
        let result = catch_unwind(AssertUnwindSafe(|| body(&parts)));
        let first = parts.call.end();
        match (result, first) {
            (Ok(result), None) => result,
            (Ok(result), Some(first)) => {
                drop_quietly(result);
                resume_unwind(first)
            }
            (Err(payload), first) => {
                drop_quietly(first);
                resume_unwind(payload)
            }
        }
    }

    fn spawn_detached<C: Unattended<Self>>(&self, computation: C) {
        let spawned = SpawnedRoot { engine: self.clone(), computation: Some(computation) };
        self.0.run(Job(Box::new(move || spawned.run())));
    }

    fn num_threads(&self) -> usize {
        self.0.num_threads()
    }
}

/// The right half of a `join_context`. Its output lies in the caller's frame.
struct Right<'o, B, R> {
    right: B,
    output: &'o Mutex<Quiet<R>>,
}

impl<B: FnOnce(Context) -> R, R> Right<'_, B, R> {
    fn call(self, context: Context) {
        let output = (self.right)(context);
        lock(self.output).0 = Some(output);
    }
}

impl<'scope, S, B, R> Detachable<'scope, S> for Right<'scope, B, R>
where
    B: FnOnce(Context) -> R + Send + 'scope,
    R: Send + 'scope,
{
    type Meeting = ();

    fn run(self, _: &S, _: Arc<()>, context: Context) {
        self.call(context);
    }
}

/// A computation that no thread waits for, until a thread runs it.
struct SpawnedRoot<T: Threads, C: Unattended<OnThreads<T>>> {
    engine: OnThreads<T>,
    computation: Option<C>,
}

impl<T: Threads, C: Unattended<OnThreads<T>>> SpawnedRoot<T, C> {
    fn run(mut self) {
        if let Some(computation) = self.computation.take() {
            quietly(|| run_blocking(&self.engine, computation));
        }
    }
}

impl<T: Threads, C: Unattended<OnThreads<T>>> Drop for SpawnedRoot<T, C> {
    /// Has a computation to cancel only if the threads have dropped the job.
    fn drop(&mut self) {
        if let Some(computation) = self.computation.take() {
            quietly(|| computation.end(SpawnedOutcome::Cancelled));
        }
    }
}

/// Runs `f`, and drops a panic: there is no caller to report it to.
fn quietly(f: impl FnOnce()) {
    // Unwind-safe: no code sees the state of `f` again.
    if let Err(payload) = catch_unwind(AssertUnwindSafe(f)) {
        drop_quietly(payload);
    }
}

/// A computation on [`Threads`], whose parts are detached.
#[derive(Debug)]
pub struct Parts<'scope, T> {
    threads: T,
    call: Arc<SharedCall>,
    /// Invariant in `'scope`, since parts may write to the data that they borrow.
    _parts: PhantomData<fn(&'scope ()) -> &'scope ()>,
}

/// State that all parts of a computation share.
#[derive(Debug, Default)]
struct SharedCall {
    running: Mutex<Running>,
    none_runs: Condvar,
}

#[derive(Debug, Default)]
struct Running {
    /// Number of parts that jobs have taken, and not yet run to their ends.
    parts: usize,
    /// Payload of the first panic of a part.
    panic: Option<Box<dyn Any + Send>>,
}

impl SharedCall {
    fn begin_part(&self) {
        lock(&self.running).parts += 1;
    }

    fn end_part(&self, outcome: thread::Result<()>) {
        let mut running = lock(&self.running);
        running.parts -= 1;
        let late = match outcome {
            Err(payload) if running.panic.is_none() => {
                running.panic = Some(payload);
                Ok(())
            }
            outcome => outcome,
        };
        if running.parts == 0 {
            self.none_runs.notify_all();
        }
        drop(running);
        drop_quietly(late);
    }

    fn has_panicked(&self) -> bool {
        lock(&self.running).panic.is_some()
    }

    /// Waits until no part runs. Returns the payload of the first panic of a part.
    fn end(&self) -> Option<Box<dyn Any + Send>> {
        let running = lock(&self.running);
        let mut running = self.none_runs.wait_while(running, |running| running.parts > 0).expect(UNPOISONED);
        running.panic.take()
    }
}

const UNPOISONED: &str = "no code panics with this lock";

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().expect(UNPOISONED)
}

impl<'scope, T: Threads> Publish<'scope> for Parts<'scope, T> {
    fn publish<J: Detachable<'scope, Self>>(&self, slot: SharedPart<J, J::Meeting>) {
        let parts =
            Parts { threads: self.threads.clone(), call: Arc::clone(&self.call), _parts: PhantomData };
        let owner = thread::current().id();
        let job: Box<dyn FnOnce() + Send + 'scope> = Box::new(move || parts.run(&slot, owner));
        // SAFETY: the types differ in a lifetime only. The job's data that may live no longer than 'scope, a part and its meeting, lie in
        // the slot. After 'scope the slot is empty (invariant 1), so the job neither runs nor drops them. If it has taken them before,
        // 'scope does not end before they are dropped (invariant 2).
        let job = unsafe {
            std::mem::transmute::<Box<dyn FnOnce() + Send + 'scope>, Box<dyn FnOnce() + Send + 'static>>(job)
        };
        self.threads.run(Job(job));
    }

    fn lay_bait(&self, bitten: Arc<AtomicBool>) {
        let owner = thread::current().id();
        self.threads.run(Job(Box::new(move || {
            if thread::current().id() != owner {
                // Relaxed: a hint.
                bitten.store(true, Relaxed);
            }
        })));
    }
}

impl<'scope, T: Threads> Parts<'scope, T> {
    /// Runs the part in a slot, if it is still there.
    fn run<J: Detachable<'scope, Self>>(&self, slot: &SharedPart<J, J::Meeting>, owner: ThreadId) {
        let Some((part, meeting)) = slot.steal(|| self.call.begin_part()) else {
            return;
        };
        let outcome = if self.call.has_panicked() {
            drop_quietly((part, meeting));
            Ok(())
        } else {
            let context = Context::new(thread::current().id() != owner);
            // Unwind-safe: the computation unwinds with the payload.
            catch_unwind(AssertUnwindSafe(|| part.run(self, meeting, context)))
        };
        self.call.end_part(outcome);
    }
}

impl<'scope, T: Threads> Detach<'scope> for Parts<'scope, T> {
    type Offers<'o, J: Detachable<'scope, Self>>
        = PublishedOffers<'o, 'scope, Self, J>
    where
        Self: 'o;

    type Handle = BlockingSuspend;

    fn handle(&self) -> BlockingSuspend {
        BlockingSuspend::default()
    }

    fn num_threads(&self) -> usize {
        self.threads.num_threads()
    }

    fn fork<J, A, R>(&self, left: A, right: J) -> (R, RightPart<J, J::Meeting>)
    where
        J: Detachable<'scope, Self>,
        A: FnOnce() -> R + Send,
    {
        published::fork(self, left, right)
    }

    fn offers<J, B, R>(&self, body: B) -> R
    where
        J: Detachable<'scope, Self>,
        B: FnOnce(&mut PublishedOffers<'_, 'scope, Self, J>) -> R,
    {
        published::offers(self, body)
    }
}
