//! The shelf: workers that have jobs but no slot.
//!
//! A worker that releases its slot in the middle of a job may have open forks. The forks stay in its deque, where their frames pop
//! them when the worker continues. A worker whose slot was [taken over](super::turns) may have spawned jobs in its deque too.
//! Thieves look at the workers that hold slots. The *shelf* is the list of the other workers that have jobs.
//!
//! # Invariants
//!
//! 1. The shelf changes under the idle lock. A worker with jobs is put on the shelf in the critical section that takes its slot, and is
//!    taken off in the critical section that gives it a slot.
//! 2. A worker on the shelf either sleeps in the pool or has lost its slot to another worker. If it sleeps, all of its forks are
//!    shared. If it has lost its slot, it may continue at any time, and thieves may steal its private jobs too.
//! 3. A worker that claims a slot at once is not put on the shelf. It neither moves its jobs nor shares them: see invariant 3 of
//!    [`turns`](super::turns). (The shelf is for workers that wait for a latch, which may take any time, and for workers that
//!    block outside the pool. A worker that gives turns would have to move all of its spawned jobs, perhaps many, every millisecond.)

use super::{Idle, Registry, WorkerState};
use crate::job::JobRef;
use crate::worker::Worker;
use std::sync::atomic::Ordering::Relaxed;

impl Registry {
    /// Puts a worker on the shelf, if it has jobs. The caller is the worker's thread after it has [drained](Worker::drain) its deque of
    /// spawned jobs, or a thread that takes the worker's slot over.
    pub(super) fn shelve(&self, idle: &mut Idle, worker: &Worker) {
        if worker.has_jobs() && !idle.shelved.contains(&worker.number()) {
            idle.shelved.push(worker.number());
            self.count_shelved(idle);
        }
    }

    /// Takes a worker off the shelf, if it is there.
    pub(super) fn unshelve(&self, idle: &mut Idle, worker: &Worker) {
        if !idle.shelved.is_empty() {
            idle.shelved.retain(|&number| number != worker.number());
            self.count_shelved(idle);
        }
    }

    /// Publishes the number of workers on the shelf.
    fn count_shelved(&self, idle: &Idle) {
        // Relaxed: written under the lock. A thread that has released a slot passes a fence after this store: see `final_check`.
        self.shelved.store(idle.shelved.len(), Relaxed);
    }

    /// Whether a worker on the shelf may have jobs. Callers that must not miss any have passed a fence.
    pub(crate) fn has_shelved(&self) -> bool {
        self.shelved.load(Relaxed) > 0
    }

    /// Steals the oldest job of the first worker on the shelf that has one.
    pub(crate) fn steal_shelved(&self) -> Option<JobRef> {
        if !self.has_shelved() {
            return None;
        }
        let mut idle = self.lock();
        while let Some(&number) = idle.shelved.first() {
            let worker = self.worker(number).expect("a worker that has begun is there");
            let job = worker.steal_shelved();
            if job.is_none() || !worker.has_jobs() {
                idle.shelved.remove(0);
                self.count_shelved(&idle);
            }
            if job.is_some() {
                return job;
            }
        }
        None
    }

    /// Whether a worker on the shelf has lost its slot and may still run. The other workers on the shelf sleep in the pool.
    pub(crate) fn has_dispossessed(&self) -> bool {
        if !self.has_shelved() {
            return false;
        }
        let mut idle = self.lock();
        let shelved = idle.shelved.clone();
        shelved
            .into_iter()
            .filter_map(|number| self.worker(number))
            .any(|worker| *idle.state(worker) != WorkerState::Blocked)
    }
}
