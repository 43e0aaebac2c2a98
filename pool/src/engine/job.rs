//! Jobs: closures behind thin pointers.
//!
//! `W` is the worker that runs them. The [worker](crate::engine::worker) names the types for its own kind, and makes the jobs of forks.
//!
//! # Invariants
//!
//! 1. A job's pointer is in at most one queue, and the job is run at most once: by the worker that took the pointer
//!    from there.
//! 2. A [`StackJob`](crate::engine::worker::StackJob) lies in its owner's frame. The frame does not return or unwind before the job was taken back
//!    unrun, or its latch is set.
//! 3. A [`HeapJob`] owns itself: running it frees it, and nothing else does. So a queue is never dropped with jobs in
//!    it: a pool ends when its last job has ended.

pub(crate) mod by_pointer;

use crate::slots::Priority;
use std::any::Any;
use std::ptr::NonNull;

/// The result of a closure that may have panicked.
pub(crate) type Outcome<R> = Result<R, Box<dyn Any + Send>>;

/// The first field of every job. Queues hold pointers to it.
#[repr(C)]
pub(crate) struct Header<W> {
    run: Run<W>,
}

/// Runs a job: called with its pointer, with the calling thread's worker, and with the worker from whose deque it came.
type Run<W> = unsafe fn(NonNull<Header<W>>, &W, *const W);

impl<W> Header<W> {
    /// # Safety
    ///
    /// `run` may be called with a pointer to the job that has this header as its first field (`repr(C)`).
    pub(crate) const unsafe fn new(run: Run<W>) -> Self {
        Header { run }
    }
}

/// A pointer to a job on its way, and the worker from whose deque the job came (null if from none).
#[derive(Debug)]
pub(crate) struct JobRef<W> {
    job: NonNull<Header<W>>,
    from: *const W,
}

impl<W> Clone for JobRef<W> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<W> Copy for JobRef<W> {}

// SAFETY: a job is made of a closure that is `Send`, and is run once (invariant 1). `from` is only dereferenced under
// the conditions of `Worker::set_latch`.
unsafe impl<W> Send for JobRef<W> {}

impl<W> JobRef<W> {
    pub(crate) fn new(job: NonNull<Header<W>>, from: *const W) -> Self {
        JobRef { job, from }
    }

    /// Returns the number of the scope of a spawned job, a task or a call from outside; less than 4 if it has no scope.
    ///
    /// # Safety
    ///
    /// The job is no fork. It is in a queue, or was taken from one and has not been run yet.
    pub(crate) unsafe fn scope(self) -> u64 {
        // SAFETY: tasks begin with a `SpawnHeader`, as spawned jobs do.
        unsafe { SpawnHeader::scope_of(self.job) }
    }

    /// Returns the priority of a spawned job, a task or a call from outside.
    ///
    /// # Safety
    ///
    /// As for [`scope`](Self::scope).
    pub(crate) unsafe fn priority(self) -> Priority {
        // SAFETY: the caller's.
        Priority::of_scope(unsafe { self.scope() })
    }

    /// Whether a spawned job, a task or a call from outside is a task.
    ///
    /// # Safety
    ///
    /// As for [`scope`](Self::scope).
    pub(crate) unsafe fn is_task(self) -> bool {
        // SAFETY: as in `scope`.
        unsafe { self.job.cast::<SpawnHeader<W>>().as_ref().scope & TASK != 0 }
    }

    /// Returns a number for the job, for the trace: its address.
    pub(crate) fn number(self) -> u64 {
        self.job.addr().get() as u64
    }

    /// Address of the job.
    #[cfg(test)]
    pub(crate) fn address(self) -> *const Header<W> {
        self.job.as_ptr()
    }

    /// Runs the job. A panic in the job does not leave this method.
    ///
    /// # Safety
    ///
    /// The caller took the pointer from a queue and does not use it again (invariant 1). `worker` is this thread's.
    pub(crate) unsafe fn run(self, worker: &W) {
        // SAFETY: a pointer in a queue points to a job that was not run (invariants 1 to 3); the rest is the caller's.
        unsafe { (self.job.as_ref().run)(self.job, worker, self.from) }
    }
}

/// First field of spawned jobs: a header, and the number of the job's scope (if it has none, [the bits of its priority](Priority::scope_bits)).
#[repr(C)]
pub(crate) struct SpawnHeader<W> {
    header: Header<W>,
    /// Number of the scope. The bit [`TASK`] says whether the job is a task.
    scope: u64,
}

/// See [`SpawnHeader::scope`]. Scopes are counted from 1, and do not reach this number.
const TASK: u64 = 1 << 63;

impl<W> SpawnHeader<W> {
    /// # Safety
    ///
    /// `run` may be called with a pointer to the job that has this header as its first field (`repr(C)`).
    pub(crate) unsafe fn new(run: Run<W>, scope: u64) -> Self {
        SpawnHeader { header: Header { run }, scope }
    }

    /// Makes the header of a task.
    ///
    /// # Safety
    ///
    /// As for `new`.
    pub(crate) unsafe fn of_task(run: Run<W>, scope: u64) -> Self {
        SpawnHeader { header: Header { run }, scope: scope | TASK }
    }

    pub(crate) fn scope(&self) -> u64 {
        self.scope & !TASK
    }

    /// Returns the number of the scope of a spawned job.
    ///
    /// # Safety
    ///
    /// The caller has taken `job` from a queue of spawned jobs, and not run it yet.
    pub(crate) unsafe fn scope_of(job: NonNull<Header<W>>) -> u64 {
        // SAFETY: spawned jobs begin with a `SpawnHeader`, and this one is still there (invariant 1).
        unsafe { job.cast::<Self>().as_ref().scope() }
    }
}

/// A spawned job. It may outlive the frame that made it.
#[repr(C)]
pub(crate) struct HeapJob<W, F> {
    header: SpawnHeader<W>,
    function: F,
}

impl<W, F: FnOnce(&W) + Send> HeapJob<W, F> {
    /// Boxes a closure, which must not panic. The box belongs to the queue that the pointer is pushed to.
    ///
    /// # Safety
    ///
    /// Everything that the closure borrows outlives the job's run: the scope waits for it.
    pub(crate) unsafe fn queueable(scope: u64, function: F) -> NonNull<Header<W>> {
        // SAFETY: the header is the first field.
        let header = unsafe { SpawnHeader::new(Self::run, scope) };
        NonNull::from(Box::leak(Box::new(HeapJob { header, function }))).cast()
    }

    /// # Safety
    ///
    /// As [`JobRef::run`]; `job` comes from `queueable` of the same type.
    unsafe fn run(job: NonNull<Header<W>>, worker: &W, _from: *const W) {
        // SAFETY: from `Box::leak`, and this is the one run (invariants 1 and 3).
        let this = unsafe { Box::from_raw(job.cast::<Self>().as_ptr()) };
        (this.function)(worker);
    }
}
