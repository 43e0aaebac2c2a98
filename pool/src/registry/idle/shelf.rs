//! Jobs of workers that have no slot.
//!
//! A worker that gives its slot away in the middle of a job may have open forks. They stay in its deque, where their frames take
//! them back when the worker goes on. A worker whose slot was [taken over](super::turns) may have spawned jobs in its deque too.
//! Thieves look at the workers that hold slots. They find the other ones by their numbers, which lie on the *shelf*.
//!
//! # Invariants
//!
//! 1. The shelf changes under the idle lock: a worker with jobs is put there in the critical section that takes its slot,
//!    and is taken off in the one that gives it a slot.
//! 2. A worker on the shelf either sleeps in the pool or has lost its slot to another worker. If it sleeps, all of its forks are
//!    shared. If it has lost its slot, it may go on at any time, and thieves reach for its private jobs as for any worker's.
//! 3. A worker that claims a slot at once is not put there, and neither moves its jobs nor shares them: see invariant 3 of
//!    [`turns`](super::turns). (The shelf is for workers that wait for a latch, which may take any time, and for workers that
//!    block outside the pool. A worker on turn would have to move all of its spawned jobs, of which there may be many, every
//!    millisecond.)

use super::{Idle, Registry, State};
use crate::job::JobRef;
use crate::worker::Worker;
use std::sync::atomic::Ordering::Relaxed;

impl Registry {
    /// Puts a worker on the shelf, if it has jobs. The caller is its thread, which has [spilled](Worker::drain), or takes its
    /// slot over.
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

    fn count_shelved(&self, idle: &Idle) {
        // Relaxed: written under the lock. A thread that has given up a slot passes a fence after this store: see `final_check`.
        self.shelved.store(idle.shelved.len(), Relaxed);
    }

    /// Whether there may be jobs on the shelf. Callers that must not miss any have passed a fence.
    pub(crate) fn has_shelved(&self) -> bool {
        self.shelved.load(Relaxed) > 0
    }

    /// Steals the oldest job of a worker on the shelf.
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

    /// Whether a worker on the shelf runs on after its slot was taken over. The others there sleep in the pool.
    pub(crate) fn has_dispossessed(&self) -> bool {
        if !self.has_shelved() {
            return false;
        }
        let mut idle = self.lock();
        let shelved = idle.shelved.clone();
        shelved
            .into_iter()
            .filter_map(|number| self.worker(number))
            .any(|worker| *idle.state(worker) != State::Blocked)
    }
}
