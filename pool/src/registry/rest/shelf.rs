//! Forks of workers that sleep without a slot.
//!
//! A worker that gives its slot away in the middle of a job may have open forks. They stay in its deque, where their frames take
//! them back when the worker goes on. Thieves find them by the worker's number, which lies on the *shelf* meanwhile.
//!
//! # Invariants
//!
//! 1. The shelf changes under the rest lock: a worker with forks is put there in the same critical section that takes its slot,
//!    and is taken off in the one that gives it a slot, or lets it go on without one.
//! 2. A worker on the shelf sleeps. So all of its forks are shared, nobody pushes, and once its deque is empty it stays so.

use super::{Registry, Rest};
use crate::job::JobRef;
use crate::worker::Worker;
use std::sync::atomic::Ordering::Relaxed;

impl Registry {
    /// Puts a worker on the shelf, if it has forks. Its thread calls this, having [spilled](Worker::spill).
    pub(super) fn shelve(&self, rest: &mut Rest, worker: &Worker) {
        if worker.has_forks() {
            rest.shelved.push(worker.number());
            self.count_shelved(rest);
        }
    }

    /// Takes a worker off the shelf, if it is there.
    pub(super) fn unshelve(&self, rest: &mut Rest, worker: &Worker) {
        if !rest.shelved.is_empty() {
            rest.shelved.retain(|&number| number != worker.number());
            self.count_shelved(rest);
        }
    }

    fn count_shelved(&self, rest: &Rest) {
        // Relaxed: written under the lock, and before the fence of whoever has given up a slot (see `look_out`).
        self.shelved.store(rest.shelved.len(), Relaxed);
    }

    /// May there be forks on the shelf? Callers that must not miss any have passed a fence.
    pub(in crate::registry) fn has_shelved(&self) -> bool {
        self.shelved.load(Relaxed) > 0
    }

    /// Steals the oldest fork of a worker on the shelf.
    pub(crate) fn steal_shelved(&self) -> Option<JobRef> {
        if !self.has_shelved() {
            return None;
        }
        let mut rest = self.lock();
        while let Some(&number) = rest.shelved.first() {
            let worker = self.worker(number).expect("a worker that sleeps is there");
            if let Some(job) = worker.steal_shelved() {
                return Some(job);
            }
            rest.shelved.remove(0);
            self.count_shelved(&rest);
        }
        None
    }
}
