//! Jobs: closures behind thin pointers.
//!
//! # Invariants
//!
//! 1. A job's pointer is in at most one queue, and the job is run at most once: by the worker that took the pointer
//!    from there.
//! 2. A [`StackJob`] lies in its owner's frame. The frame does not return or unwind before the job was taken back
//!    unrun, or its latch is set.
//! 3. A [`HeapJob`] owns itself: running it frees it, and nothing else does. So a queue is never dropped with jobs in
//!    it: a pool ends when its last job has ended.

use crate::latch::Latch;
use crate::worker::Worker;
use std::any::Any;
use std::cell::UnsafeCell;
use std::mem::{ManuallyDrop, MaybeUninit};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::NonNull;

/// The result of a closure that may have panicked.
pub(crate) type Outcome<R> = Result<R, Box<dyn Any + Send>>;

/// The first field of every job. Queues hold pointers to it.
#[repr(C)]
pub(crate) struct Header {
    run: unsafe fn(NonNull<Header>, &Worker, *const Worker),
}

impl Header {
    /// # Safety
    ///
    /// `run` may be called with a pointer to the job that has this header as its first field (`repr(C)`).
    pub(crate) const unsafe fn new(run: unsafe fn(NonNull<Header>, &Worker, *const Worker)) -> Self {
        Header { run }
    }
}

/// A pointer to a job on its way, and the worker from whose deque the job came (null if from none).
#[derive(Clone, Copy, Debug)]
pub(crate) struct JobRef {
    job: NonNull<Header>,
    from: *const Worker,
}

// SAFETY: a job is made of a closure that is `Send`, and is run once (invariant 1). `from` is only dereferenced under
// the conditions of `Latch::set`.
unsafe impl Send for JobRef {}

impl JobRef {
    pub(crate) fn new(job: NonNull<Header>, from: *const Worker) -> Self {
        JobRef { job, from }
    }

    /// Returns the number of the scope of a spawned job, a task or a call from outside; 0 if it has no scope.
    ///
    /// # Safety
    ///
    /// The job is no fork. It is in a queue, or was taken from one and has not been run yet.
    pub(crate) unsafe fn scope(self) -> u64 {
        // SAFETY: tasks begin with a `SpawnHeader`, as spawned jobs do.
        unsafe { SpawnHeader::scope_of(self.job) }
    }

    /// Address of the job.
    #[cfg(test)]
    pub(crate) fn address(self) -> *const Header {
        self.job.as_ptr()
    }

    /// Runs the job. A panic in the job does not leave this method.
    ///
    /// # Safety
    ///
    /// The caller took the pointer from a queue and does not use it again (invariant 1). `worker` is this thread's.
    pub(crate) unsafe fn run(self, worker: &Worker) {
        // SAFETY: a pointer in a queue points to a job that was not run (invariants 1 to 3); the rest is the caller's.
        unsafe { (self.job.as_ref().run)(self.job, worker, self.from) }
    }
}

/// The right half of a fork, in the forking frame.
#[repr(C)]
pub(crate) struct StackJob<F, R> {
    header: Header,
    latch: Latch,
    function: UnsafeCell<ManuallyDrop<F>>,
    outcome: UnsafeCell<MaybeUninit<Outcome<R>>>,
}

impl<F, R> StackJob<F, R>
where
    F: FnOnce(&Worker, bool) -> R + Send,
    R: Send,
{
    #[inline(always)]
    pub(crate) fn new(function: F) -> Self {
        StackJob {
            header: Header { run: Self::run },
            latch: Latch::new(),
            function: UnsafeCell::new(ManuallyDrop::new(function)),
            outcome: UnsafeCell::new(MaybeUninit::uninit()),
        }
    }

    /// Returns the pointer to queue. If the caller queues it, it keeps the frame (invariant 2).
    #[inline(always)]
    pub(crate) fn header(&self) -> NonNull<Header> {
        NonNull::from(self).cast()
    }

    pub(crate) fn latch(&self) -> &Latch {
        &self.latch
    }

    /// Takes the closure out.
    ///
    /// # Safety
    ///
    /// Called once, by the owner when the job was taken back unrun, or by the worker that runs it.
    #[inline(always)]
    pub(crate) unsafe fn take(&self) -> F {
        // SAFETY: no other thread has access (invariant 1), and the closure is not taken again.
        unsafe { ManuallyDrop::take(&mut *self.function.get()) }
    }

    /// Takes the result out.
    ///
    /// # Safety
    ///
    /// Called once, by the owner, when the latch is set.
    pub(crate) unsafe fn outcome(&self) -> Outcome<R> {
        // SAFETY: `run` has written it before it set the latch.
        unsafe { (*self.outcome.get()).assume_init_read() }
    }

    /// # Safety
    ///
    /// As [`JobRef::run`]; `job` points to a `StackJob<F, R>`, and `from` to its owner, a worker of the same registry.
    unsafe fn run(job: NonNull<Header>, worker: &Worker, from: *const Worker) {
        let job = job.cast::<Self>();
        // SAFETY: the frame waits for the latch (invariant 2).
        let this = unsafe { job.as_ref() };
        worker.starts(&this.latch);
        // SAFETY: this is the one run (invariant 1).
        let function = unsafe { this.take() };
        let migrated = !std::ptr::eq(worker, from);
        // Unwind-safe: the owner unwinds with the payload, so no code sees the state that the panic left broken.
        let outcome = catch_unwind(AssertUnwindSafe(|| function(worker, migrated)));
        // SAFETY: the owner reads it when the latch is set.
        unsafe { (*this.outcome.get()).write(outcome) };
        let latch: *const Latch = &this.latch;
        // SAFETY: not set before; the owner is a worker of this worker's registry, which this worker keeps alive.
        unsafe { Latch::set(latch, worker.registry(), from, Some(worker)) };
    }
}

/// First field of spawned jobs: a header, and the number of the job's scope (0 if it has none).
#[repr(C)]
pub(crate) struct SpawnHeader {
    header: Header,
    scope: u64,
}

impl SpawnHeader {
    /// # Safety
    ///
    /// `run` may be called with a pointer to the job that has this header as its first field (`repr(C)`).
    pub(crate) unsafe fn new(run: unsafe fn(NonNull<Header>, &Worker, *const Worker), scope: u64) -> Self {
        SpawnHeader { header: Header { run }, scope }
    }

    pub(crate) fn scope(&self) -> u64 {
        self.scope
    }

    /// Returns the number of the scope of a spawned job.
    ///
    /// # Safety
    ///
    /// The caller has taken `job` from a queue of spawned jobs, and not run it yet.
    pub(crate) unsafe fn scope_of(job: NonNull<Header>) -> u64 {
        // SAFETY: spawned jobs begin with a `SpawnHeader`, and this one is still there (invariant 1).
        unsafe { job.cast::<SpawnHeader>().as_ref().scope }
    }
}

/// A spawned job. It may outlive the frame that made it.
#[repr(C)]
pub(crate) struct HeapJob<F> {
    header: SpawnHeader,
    function: F,
}

impl<F: FnOnce(&Worker) + Send> HeapJob<F> {
    /// Boxes a closure, which must not panic. The box belongs to the queue that the pointer is pushed to.
    ///
    /// # Safety
    ///
    /// Everything that the closure borrows outlives the job's run: the scope waits for it.
    pub(crate) unsafe fn queueable(scope: u64, function: F) -> NonNull<Header> {
        // SAFETY: the header is the first field.
        let header = unsafe { SpawnHeader::new(Self::run, scope) };
        NonNull::from(Box::leak(Box::new(HeapJob { header, function }))).cast()
    }

    /// # Safety
    ///
    /// As [`JobRef::run`]; `job` comes from `queueable` of the same type.
    unsafe fn run(job: NonNull<Header>, worker: &Worker, _from: *const Worker) {
        // SAFETY: from `Box::leak`, and this is the one run (invariants 1 and 3).
        let this = unsafe { Box::from_raw(job.cast::<Self>().as_ptr()) };
        (this.function)(worker);
    }
}
