//! Queues of urgent work, and of background work.
//!
//! Workers look for urgent work before anything else, and for background work after everything else.
//!
//! A stop must not wait behind the work that it ends. So the job that drops the suspended tasks of a [stopped](crate::detach::Stopper)
//! scope is the first of the urgent tasks. Such jobs are few (one for each stopped scope), and short (some hundred nanoseconds for each task that
//! they drop).
//!
//! # Invariants
//!
//! 1. `len` is the queue's length whenever its lock is free. A reader without the lock gets a hint. A worker that ends its search
//!    needs more: a publisher adds its job before it looks for searching workers, see [`notify`](crate::engine::registry::Registry::notify).

use crate::engine::job::JobRef;
use crate::sync::machine::atomic::{AtomicUsize, Ordering::Relaxed};
use crate::sync::machine::{Mutex, MutexGuard};
use std::collections::VecDeque;

/// The work of a priority. Each job begins with a `SpawnHeader`.
pub(crate) struct Ranked<W> {
    /// Woken tasks, and the jobs of stops.
    pub(crate) tasks: Queue<W>,
    /// Spawned jobs, and calls from outside.
    pub(crate) jobs: Queue<W>,
}

/// Jobs, oldest first.
pub(crate) struct Queue<W> {
    len: AtomicUsize,
    /// Number of jobs that were taken; wraps.
    taken: AtomicUsize,
    jobs: Mutex<VecDeque<JobRef<W>>>,
}

impl<W> Ranked<W> {
    pub(crate) fn new() -> Self {
        Ranked { tasks: Queue::new(), jobs: Queue::new() }
    }

    /// Whether both queues are empty, as [`Queue::is_empty`].
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.tasks.is_empty() && self.jobs.is_empty()
    }

    /// Returns the number of jobs. A snapshot.
    pub(crate) fn len(&self) -> usize {
        self.tasks.len.load(Relaxed) + self.jobs.len.load(Relaxed)
    }

    /// Adds a job, by its kind.
    ///
    /// # Safety
    ///
    /// The caller gives the job away.
    pub(crate) unsafe fn push(&self, job: JobRef<W>) {
        // SAFETY: the caller's.
        if unsafe { job.is_task() } { &self.tasks } else { &self.jobs }.push(job);
    }

    /// Takes the oldest task or the oldest job, by turns.
    #[inline]
    pub(crate) fn take(&self) -> Option<JobRef<W>> {
        if self.is_empty() { None } else { self.take_by_turns() }
    }

    #[cold]
    fn take_by_turns(&self) -> Option<JobRef<W>> {
        let (tasks, jobs) = (|| self.tasks.take(), || self.jobs.take());
        if self.taken() % 2 == 0 { tasks().or_else(jobs) } else { jobs().or_else(tasks) }
    }

    /// Takes the oldest task of the scope with that number, or the oldest job, that is among the first `within` ones.
    pub(crate) fn take_of(&self, scope: u64, within: usize) -> Option<JobRef<W>> {
        self.tasks.take_of(scope, within).or_else(|| self.jobs.take_of(scope, within))
    }

    /// Returns how many tasks and jobs were taken so far. Wraps.
    pub(crate) fn taken(&self) -> usize {
        self.tasks.taken.load(Relaxed).wrapping_add(self.jobs.taken.load(Relaxed))
    }
}

impl<W> Queue<W> {
    fn new() -> Self {
        Queue { len: AtomicUsize::new(0), taken: AtomicUsize::new(0), jobs: Mutex::default() }
    }

    fn push(&self, job: JobRef<W>) {
        let mut jobs = self.lock();
        jobs.push_back(job);
        self.len.store(jobs.len(), Relaxed);
    }

    /// Adds a job before all others.
    pub(crate) fn push_first(&self, job: JobRef<W>) {
        let mut jobs = self.lock();
        jobs.push_front(job);
        self.len.store(jobs.len(), Relaxed);
    }

    /// Takes the oldest job.
    pub(crate) fn take(&self) -> Option<JobRef<W>> {
        if self.is_empty() { None } else { self.take_first(1, |_| true) }
    }

    fn take_of(&self, scope: u64, within: usize) -> Option<JobRef<W>> {
        // SAFETY: the jobs begin with a `SpawnHeader`, and no job in the queue has been run.
        if self.is_empty() { None } else { self.take_first(within, |job| unsafe { job.scope() } == scope) }
    }

    #[cold]
    fn take_first(&self, within: usize, wanted: impl FnMut(&JobRef<W>) -> bool) -> Option<JobRef<W>> {
        let mut jobs = self.lock();
        let index = jobs.iter().take(within).position(wanted)?;
        let job = jobs.remove(index);
        self.len.store(jobs.len(), Relaxed);
        self.taken.fetch_add(1, Relaxed);
        job
    }

    /// Whether the queue is empty. Callers that must not miss a job have passed a fence.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        // Relaxed: invariant 1.
        self.len.load(Relaxed) == 0
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<JobRef<W>>> {
        self.jobs.lock().expect("nobody panics with this lock")
    }
}
