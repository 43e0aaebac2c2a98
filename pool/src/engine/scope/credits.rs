//! Credits: a worker takes counts of a scope in batches, instead of one for each spawned job, each task and each
//! handle.
//!
//! Suspended tasks count as jobs of their scope, and so do handles. Each count is a read-modify-write of a word that
//! all of the scope's workers write. So a worker that runs a job takes several counts at once. It keeps the unused
//! counts as credits for later jobs, tasks and handles, and gives the rest back together with the job's own count.
//!
//! # Invariants
//!
//! 1. Credits have been announced, and have not arrived. So a job, task or handle that takes one is counted.
//! 2. Credits belong to one job, or to the scope's body. When the job ends, its remaining credits arrive with it. A job
//!    on top of it has its own credits.

use super::Scope;
use crate::engine::worker::{Credits, Worker};

/// Number of counts that are taken at once.
const BATCH: usize = 32;

impl Scope<'_> {
    /// Runs a job, or a part of one, with `counts` credits in the worker's frame, which has none. Returns the credits at
    /// its end. The caller makes them arrive (invariant 2).
    ///
    /// `job` must not panic.
    pub(crate) fn with_credits<R>(
        &self,
        counts: usize,
        worker: &Worker,
        job: impl FnOnce() -> R,
    ) -> (R, usize) {
        debug_assert_eq!(worker.frame().credits.scope, 0, "each job has a frame of its own");
        worker.set_credits(Credits { scope: self.number, counts });
        let result = job();
        let credits = worker.frame().credits.counts;
        worker.set_credits(Credits::default());
        (result, credits)
    }

    /// Counts `counts` more. The caller itself is counted.
    pub(super) fn announce(&self, counts: usize) {
        Worker::with_current(|worker| match worker.map(|worker| (worker, worker.frame().credits)) {
            Some((worker, mut credits)) if credits.scope == self.number => {
                if credits.counts < counts {
                    self.pending.announce_many(BATCH);
                    credits.counts += BATCH;
                }
                credits.counts -= counts;
                worker.set_credits(credits);
            }
            _ => self.pending.announce_many(counts),
        });
    }

    /// Records that one counted task or handle has ended. `worker` is this thread's worker, if it is one. The thread
    /// may be in the middle of a job of another scope, and keeps its slot for that job.
    ///
    /// # Safety
    ///
    /// As for [`arrive`](Self::arrive).
    pub(super) unsafe fn give_back(this: *const Self, worker: Option<&Worker>) {
        // SAFETY: by the caller's promise, the scope is there.
        let number = unsafe { (*this).number };
        if let Some(worker) = worker {
            let Credits { scope, counts } = worker.frame().credits;
            if scope == number {
                worker.set_credits(Credits { scope, counts: counts + 1 });
                return;
            }
        }
        // SAFETY: the caller's.
        unsafe { Scope::arrive(this, 1, None) };
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::BATCH;

    #[test]
    fn a_body_that_spawns_many_jobs_counts_them_in_batches() {
        let pool = crate::ThreadPoolBuilder::new().num_threads(1).build().expect("a pool");
        pool.scope(|scope| {
            for spawned in 1..=3 * BATCH {
                scope.spawn(|_| ());
                // The body is counted, too. No job has ended: the pool's one thread is here.
                assert_eq!(scope.pending.get(), 1 + spawned.next_multiple_of(BATCH));
            }
        });
    }
}
