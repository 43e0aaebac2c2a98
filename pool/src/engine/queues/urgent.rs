//! Urgent jobs: workers look for one before anything else.
//!
//! A stop must not wait behind the work that it ends. So the job that drops the suspended tasks of a [stopped](crate::detach::Stopper)
//! scope goes to this queue and not to the injector. Such jobs are few (one for each stopped scope), and short (some hundred
//! nanoseconds for each task that they drop).
//!
//! # Invariants
//!
//! 1. `len` is the queue's length whenever its lock is free. A reader without the lock gets a hint. A worker that ends its search
//!    needs more: a publisher adds its job before it looks for searching workers, see [`notify`](crate::engine::registry::Registry::notify).

use crate::engine::job::JobRef;
use crate::sync::machine::atomic::{AtomicUsize, Ordering::Relaxed};
use crate::sync::machine::{Mutex, MutexGuard};
use std::collections::VecDeque;

/// The urgent jobs of a pool, oldest first.
pub(crate) struct Urgent<W> {
    len: AtomicUsize,
    jobs: Mutex<VecDeque<JobRef<W>>>,
}

impl<W> Urgent<W> {
    pub(crate) fn new() -> Self {
        Urgent { len: AtomicUsize::new(0), jobs: Mutex::default() }
    }

    /// Adds a job.
    pub(crate) fn push(&self, job: JobRef<W>) {
        let mut jobs = self.lock();
        jobs.push_back(job);
        self.len.store(jobs.len(), Relaxed);
    }

    /// Takes the oldest job.
    #[inline]
    pub(crate) fn take(&self) -> Option<JobRef<W>> {
        if self.is_empty() { None } else { self.take_first(|_| true) }
    }

    /// Takes the oldest job of the scope with that number.
    pub(crate) fn take_of(&self, scope: u64) -> Option<JobRef<W>> {
        // SAFETY: urgent jobs begin with a `SpawnHeader`, and no job in the queue has been run.
        if self.is_empty() { None } else { self.take_first(|job| unsafe { job.scope() } == scope) }
    }

    #[cold]
    fn take_first(&self, wanted: impl FnMut(&JobRef<W>) -> bool) -> Option<JobRef<W>> {
        let mut jobs = self.lock();
        let index = jobs.iter().position(wanted)?;
        let job = jobs.remove(index);
        self.len.store(jobs.len(), Relaxed);
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
