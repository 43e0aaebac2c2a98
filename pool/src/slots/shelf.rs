//! The shelf: workers that have jobs but no slot.
//!
//! A worker that releases its slot in the middle of a job may have open forks. The forks stay in its deque, where their frames pop
//! them when the worker continues. A worker whose slot was [taken over](super::monitor) may have spawned jobs in its deque too.
//! Thieves look at the workers that hold slots. The *shelf* is the list of the other workers that have jobs.
//!
//! # Invariants
//!
//! 1. The shelf changes under the slot lock. A worker with jobs is put on the shelf in the critical section that takes its slot, and is
//!    taken off in the critical section that gives it a slot.
//! 2. A worker on the shelf either sleeps in the pool or has lost its slot to another worker. If it sleeps, all of its forks are
//!    shared. If it has lost its slot, it may continue at any time, and thieves may steal its private jobs too.
//! 3. A worker that claims a slot at once is not put on the shelf. It neither moves its jobs nor shares them: see invariant 3 of
//!    turns, in the registry. (The shelf is for workers that wait for a latch, which may take any time, and for workers that
//!    block outside the pool. A worker that gives turns would have to move all of its spawned jobs, perhaps many, every millisecond.)

use super::{Locked, Occupant, SlotTable, Slots, WorkerState};
use crate::sync::atomic::Ordering::Relaxed;

impl<W: Occupant> Slots<W> {
    /// Whether a worker on the shelf may have jobs. Callers that must not miss any have passed a fence.
    pub(crate) fn has_shelved(&self) -> bool {
        self.shelved.load(Relaxed) > 0
    }

    /// Publishes the number of workers on the shelf.
    fn count_shelved(&self, table: &SlotTable) {
        // Relaxed: written under the lock. A thread that has released a slot passes a fence after this store: see `final_check`.
        self.shelved.store(table.shelved.len(), Relaxed);
    }
}

impl<W: Occupant> Locked<'_, W> {
    /// Puts a worker on the shelf, if it has jobs. The caller is the worker's thread after it has drained its deque of spawned jobs, or a
    /// thread that takes the worker's slot over.
    pub(crate) fn shelve(&mut self, worker: &W) {
        if worker.has_jobs() && !self.shelved.contains(&worker.number()) {
            self.shelved.push(worker.number());
            self.slots.count_shelved(self);
        }
    }

    /// Takes a worker off the shelf, if it is there.
    pub(super) fn unshelve(&mut self, worker: &W) {
        if !self.shelved.is_empty() {
            self.shelved.retain(|&number| number != worker.number());
            self.slots.count_shelved(self);
        }
    }

    /// Calls `steal` with the workers on the shelf, until it returns a job.
    pub(crate) fn steal_shelved<J>(&mut self, steal: impl Fn(&W) -> Option<J>) -> Option<J> {
        while let Some(&number) = self.shelved.first() {
            let worker = self.slots.known(number);
            let job = steal(worker);
            if job.is_none() || !worker.has_jobs() {
                self.shelved.remove(0);
                self.slots.count_shelved(self);
            }
            if job.is_some() {
                return job;
            }
        }
        None
    }

    /// Whether a worker on the shelf has lost its slot and may still run. The other workers on the shelf sleep in the pool.
    pub(crate) fn has_former_holder(&self) -> bool {
        let mut shelved = self.shelved.iter().map(|&number| self.slots.known(number));
        shelved.any(|worker| self.state(worker) != WorkerState::Blocked)
    }
}
