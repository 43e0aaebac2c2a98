//! Calls that come from threads outside the pool.

use crate::engine::job::Outcome;
use crate::engine::registry::Registry;
use crate::engine::settings::current_priority;
use crate::engine::worker::{CallLatch, Header, JobRef, SpawnHeader, Worker};
use crate::slots::Priority;
use crate::sync::latch::Latch;
use crate::sync::machine::atomic::Ordering::Relaxed;
use crate::sync::machine::thread;
use std::cell::UnsafeCell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::ptr::{self, NonNull};

/// Number of times that the caller checks whether its call is done before it blocks: for a microsecond. Its pool may need the processor.
const LOOKS: u32 = 25;

/// The closure of a call, which is called once. A call from outside is compiled once, and not for every closure. It takes a microsecond
/// or more, so an indirect call does not count.
type Function<'f> = dyn FnMut(&Worker) + Send + 'f;

/// A call of another thread. It lies on that thread's stack, and the thread waits until the call is done.
#[repr(C)]
struct RootJob<'f> {
    header: SpawnHeader,
    done: CallLatch,
    function: UnsafeCell<&'f mut Function<'f>>,
    outcome: UnsafeCell<Option<Outcome<()>>>,
}

impl<'f> RootJob<'f> {
    fn new(function: &'f mut Function<'f>, caller: Option<&Worker>) -> Self {
        RootJob {
            // SAFETY: the header is the first field, and `run` expects a pointer to it.
            header: unsafe { SpawnHeader::new(Self::run, current_priority().scope_bits()) },
            done: CallLatch::new(caller),
            function: UnsafeCell::new(function),
            outcome: UnsafeCell::new(None),
        }
    }

    /// # Safety
    ///
    /// As [`JobRef::run`]; `job` points to a `RootJob`.
    unsafe fn run(job: NonNull<Header>, worker: &Worker, _from: *const Worker) {
        let job = job.cast::<Self>();
        // SAFETY: the caller's frame waits until `done` is set.
        let this = unsafe { job.as_ref() };
        worker.set_priority(Priority::of_scope(this.header.scope()));
        // SAFETY: the job runs once, and this is the only use of the closure.
        let function = unsafe { &mut *this.function.get() };
        // Unwind-safe: the caller unwinds with the payload.
        let outcome = catch_unwind(AssertUnwindSafe(|| function(worker)));
        // SAFETY: the caller reads it when `done` is set.
        unsafe { *this.outcome.get() = Some(outcome) };
        // SAFETY: the latch was not set before.
        unsafe { CallLatch::set(&raw const (*job.as_ptr()).done, Some(worker)) };
        if worker.priority() == Priority::Urgent && worker.registry().is_awaited() {
            // If other work keeps all processors, the caller would wait for one until the system ends a time slice, some milliseconds.
            thread::yield_now();
        }
    }
}

impl Registry {
    /// Runs `f` on one of this pool's threads: on the calling thread, if it is one of them.
    pub(crate) fn inside<F, R>(&self, f: F) -> R
    where
        F: FnOnce(&Worker) -> R + Send,
        R: Send,
    {
        Worker::with_current(|current| match current {
            Some(worker) if worker.is_of(self) && !worker.is_external() => f(worker),
            // Also if the caller is an external thread that takes part in this pool: it runs on its own stack, and `f` has to run on a
            // stack of the pool's threads.
            current => {
                let (mut f, mut result) = (Some(f), None);
                let mut run = |worker: &Worker| {
                    if let Some(f) = f.take() {
                        result = Some(f(worker));
                    }
                };
                self.run_root(&mut run, current);
                result.expect("a call that has returned was run")
            }
        })
    }

    fn run_root(&self, f: &mut Function<'_>, caller: Option<&Worker>) {
        let runtime = self.runtime_of_call();
        let mut f = |worker: &Worker| {
            let _entered = runtime.enter();
            f(worker);
        };
        let job = RootJob::new(&mut f, caller);
        self.inject(JobRef::new(NonNull::from(&job).cast(), ptr::null()));
        match caller {
            Some(worker) => worker.wait_for_others(job.done.latch()),
            None => {
                self.callers.fetch_add(1, Relaxed);
                job.done.lock().wait_actively(LOOKS);
                self.callers.fetch_sub(1, Relaxed);
            }
        }
        // The worker has written the outcome before it has set the latch.
        let outcome = job.outcome.into_inner().expect("a job that is done has an outcome");
        outcome.unwrap_or_else(|payload| resume_unwind(payload));
    }
}

impl Worker {
    /// Calls `f` in a new thread, because `f` blocks on threads outside this pool. Waits for the new thread as for a call of another
    /// pool: the threads that `f` waits for may need this worker's slot, or may broadcast to this worker.
    pub(crate) fn elsewhere(&self, f: impl Fn() + Sync) {
        if self.slot().is_none() {
            // The worker waits outside the pool already.
            return f();
        }
        let (registry, number) = (self.registry(), self.number());
        let latch = Latch::new();
        thread::scope(|threads| {
            let run = || {
                f();
                let waiter = registry.worker(number).expect("a worker that waits is there");
                // SAFETY: the latch is set once, here. The waiter's frame, and so its registry, is alive until this thread has ended.
                unsafe { Worker::set_latch(waiter, &raw const latch, None) };
            };
            if thread::Builder::new().spawn_scoped(threads, run).is_ok() {
                self.wait_for_others(&latch);
            } else {
                registry.release_slot(self);
                f();
                registry.regain_slot(self);
            }
        });
    }
}
