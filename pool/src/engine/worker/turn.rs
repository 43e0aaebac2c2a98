//! Turns: how long a thread keeps its slot, and which call is charged for the time of a job.

use super::{JobRef, Worker};
use crate::sync::clock::Instant;
use std::cell::Cell;
use std::time::Duration;

/// A worker's turns; its thread's.
#[derive(Default)]
pub(crate) struct Turn {
    /// Time at which the thread has got a slot back, or for a turn.
    got_slot: Cell<Option<Instant>>,
    /// If calls take turns: the scope of the task that the thread has just taken from a set, and the time at which it did.
    pub(super) taken: Cell<Option<(u64, Instant)>>,
    /// The scope that is charged for the running job, and the time up to which it has been charged.
    charged: Cell<Option<(u64, Instant)>>,
}

impl Turn {
    /// Whether the thread has got its slot, back or for a turn, less than `time` ago.
    pub(crate) fn keeps_slot(&self, time: Duration) -> bool {
        self.got_slot.get().is_some_and(|since| since.elapsed() < time)
    }

    /// Notes that the thread has got a slot back, or for a turn.
    pub(crate) fn keep_slot(&self) {
        self.got_slot.set(Some(Instant::now()));
    }
}

impl Worker {
    /// # Safety
    ///
    /// As for [`JobRef::run`].
    #[inline]
    pub(super) unsafe fn run_or_charge(&self, job: JobRef) {
        match self.turn.taken.take() {
            // SAFETY: the caller's; this thread is the worker.
            None => unsafe { job.run(self) },
            // SAFETY: as above.
            Some(turn) => unsafe { self.run_and_charge(job, turn) },
        }
    }

    /// Runs a job, and charges its scope for the time since its turn began.
    ///
    /// # Safety
    ///
    /// As for [`JobRef::run`].
    #[inline(never)]
    unsafe fn run_and_charge(&self, job: JobRef, (scope, since): (u64, Instant)) {
        let below = self.turn.charged.replace(Some((scope, since)));
        // SAFETY: the caller's; this thread is the worker.
        unsafe { job.run(self) }
        self.charge();
        self.turn.charged.set(below);
    }

    /// Charges the scope of the running job for the time since its turn began, or since the last charge, if calls take turns. A job that loses its
    /// slot in the middle is charged at once: the next turns belong to other calls.
    pub(crate) fn charge(&self) {
        if let Some((scope, since)) = self.turn.charged.get() {
            let now = Instant::now();
            self.registry().stealable.charge(scope, now - since);
            self.turn.charged.set(Some((scope, now)));
        }
    }

    /// Notes that the running job has had no slot until now, so that its scope is not charged for that time.
    pub(crate) fn skip_charge(&self) {
        if let Some((scope, _)) = self.turn.charged.get() {
            self.turn.charged.set(Some((scope, Instant::now())));
        }
    }
}
