//! A task's state word: the owner of its future, and the number of references.
//!
//! ```text
//!              wake                begin                    end(Pending)
//!   IDLE ──────────────> SCHEDULED ──────> RUNNING ───────────────────────────> IDLE
//!                            ^               │  │ end(Ready), or cancelled
//!                            │    wake       │  └────────────────────────────> DONE
//!                            │  (in its poll)v                                  ^
//!                            └── end ─── RUNNING | SCHEDULED ───────────────────┘
//! ```
//!
//! The crate's `README.md` says what each state means for the task and its future.
//!
//! *Cancelled* is a mark in addition to each state: the future will not be polled again, but dropped by its next owner.
//!
//! # Invariants
//!
//! 1. The thread that changes a task from idle to scheduled puts it in a queue, and no other thread does: k wakes are
//!    one entry (W1).
//! 2. Only the worker that changed it from scheduled to running accesses the future, until `end`; or the thread that
//!    cancelled it when it was idle.
//! 3. A wake between the beginning of a poll and its end is recorded in the word: it is not lost, and not early (W2).
//! 4. Once the task is done, only the count changes. The memory is freed by the thread that takes the count to 0. Until
//!    it is done, the task has a reference of its own, so no other reference is the last.
//! 5. Data beside the future, for the thread that queues the task, are written by the future's owner before `suspend`;
//!    and by the thread that changes the task from idle to scheduled, until it is queued.

use crate::sync::atomic::{
    AtomicU32,
    Ordering::{AcqRel, Acquire, Relaxed, Release},
};

const SCHEDULED: u32 = 1;
const RUNNING: u32 = 2;
const DONE: u32 = 4;
const CANCELLED: u32 = 8;
/// One reference: the count is in the bits from here on up.
const REFERENCE: u32 = 16;

/// The state word.
#[derive(Debug)]
pub(crate) struct TaskState(AtomicU32);

/// The action that a wake requires.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub(crate) enum WakeAction {
    /// Put the task in a queue (invariant 1).
    Submit,
    /// The task is in a queue already, or will be; or it is done.
    Coalesced,
    /// The task is being polled: its worker will put it in a queue.
    InPoll,
}

/// The state of a task whose poll gave `Pending`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub(crate) enum SuspendAction {
    /// The task waits for a wake. It may run elsewhere from now on.
    Suspended,
    /// The task was woken in its poll: put it in a queue.
    Again,
    /// Drop the future, and `finish`: it is still this worker's.
    Cancelled,
}

impl TaskState {
    /// Makes the state of a task that its maker is about to poll for the first time, and that no other thread knows.
    pub(crate) fn running() -> Self {
        TaskState(AtomicU32::new(RUNNING + REFERENCE))
    }

    /// Resets a task whose future is gone, so that it can be used again. Returns false if anyone but its maker has a
    /// reference.
    #[must_use]
    pub(crate) fn renew(&self) -> bool {
        // Acquire: threads that have released their references have finished with the memory. The thread that frees it
        // later does not see their releases, since the store below ends the release sequences.
        let alone = self.0.load(Acquire) / REFERENCE == 1;
        if alone {
            // Relaxed: no other thread has a reference.
            self.0.store(RUNNING + REFERENCE, Relaxed);
        }
        alone
    }

    pub(crate) fn wake(&self) -> WakeAction {
        self.wake_with(0)
    }

    /// Wakes the task, and releases the caller's reference, unless the wake is coalesced. In that case the caller keeps
    /// the reference.
    ///
    /// The reference is never the last one, since the task has its own.
    pub(crate) fn wake_and_release(&self) -> WakeAction {
        self.wake_with(REFERENCE)
    }

    fn wake_with(&self, given_up: u32) -> WakeAction {
        // Release: everything that the waker has done before is visible to the poll that follows, whose `begin`
        // acquires. That holds for a wake that submits. It also holds for a wake that is coalesced, or comes in a poll:
        // all changes of the word are read-modify-writes, which continue its release sequence. And if the waker
        // releases its reference, its accesses to the memory come before the memory is freed. Acquire: a thread that
        // submits uses the data that the owner has left beside the future (invariant 5).
        let mut word = self.0.load(Relaxed);
        loop {
            if word & DONE != 0 {
                return WakeAction::Coalesced;
            }
            let is_coalesced = word & SCHEDULED != 0;
            // Even a coalesced wake writes the word. Otherwise the next poll would not synchronize with it.
            let next = if is_coalesced { word } else { (word | SCHEDULED) - given_up };
            match self.0.compare_exchange_weak(word, next, AcqRel, Relaxed) {
                Err(now) => word = now,
                Ok(_) if is_coalesced => return WakeAction::Coalesced,
                Ok(_) if word & RUNNING != 0 => return WakeAction::InPoll,
                Ok(_) => return WakeAction::Submit,
            }
        }
    }

    /// Begins a run. Called by the worker that took the task from a queue. Returns whether that worker may poll the future; else it drops
    /// the future, and calls `finish`.
    #[must_use]
    pub(crate) fn begin(&self) -> bool {
        // Acquire: makes the last poll's changes of the future visible, and the writes of wakers. The bits: tasks in
        // queues are scheduled, and not running.
        let before = self.0.fetch_xor(SCHEDULED | RUNNING, Acquire);
        debug_assert_eq!(before & (SCHEDULED | RUNNING | DONE), SCHEDULED);
        before & CANCELLED == 0
    }

    /// Whether the task will wait after a poll that gave `Pending`: not if it was woken in the poll, or cancelled. A
    /// hint.
    pub(crate) fn will_wait(&self) -> bool {
        // Relaxed: `suspend` decides.
        self.0.load(Relaxed) & (SCHEDULED | CANCELLED) == 0
    }

    /// Suspends the task after a poll that gave `Pending`.
    pub(crate) fn suspend(&self) -> SuspendAction {
        let mut word = self.0.load(Relaxed);
        loop {
            debug_assert_eq!(word & (RUNNING | DONE), RUNNING);
            if word & CANCELLED != 0 {
                // Acquire is not needed: the future is this worker's already.
                return SuspendAction::Cancelled;
            }
            // Release: publishes the future as this poll has left it, for the next poll's `begin`.
            match self.0.compare_exchange_weak(word, word & !RUNNING, Release, Relaxed) {
                Err(now) => word = now,
                Ok(_) if word & SCHEDULED != 0 => return SuspendAction::Again,
                Ok(_) => return SuspendAction::Suspended,
            }
        }
    }

    /// Releases the task's own reference, after its owner has dropped the future. Returns whether that was the last
    /// reference, so that the memory is to be freed.
    #[must_use]
    pub(crate) fn finish(&self) -> bool {
        // Acquire: the thread that frees the memory comes after all accesses by threads that have released their
        // references.
        let mut word = self.0.load(Acquire);
        loop {
            debug_assert_eq!(word & (RUNNING | DONE), RUNNING);
            if word / REFERENCE == 1 {
                // No other thread has a reference, and only the owner of a reference can make another one.
                return true;
            }
            let done = (word & !(RUNNING | SCHEDULED) | DONE) - REFERENCE;
            // Release: as for `release`.
            match self.0.compare_exchange_weak(word, done, Release, Acquire) {
                Err(now) => word = now,
                Ok(_) => return false,
            }
        }
    }

    /// Cancels the task. Returns whether the future is the caller's now, who drops it, and calls `finish`. Otherwise another thread will
    /// drop the future, or has.
    #[must_use]
    pub(crate) fn cancel(&self) -> bool {
        let mut word = self.0.load(Relaxed);
        loop {
            if word & DONE != 0 {
                return false;
            }
            let idle = word & (SCHEDULED | RUNNING) == 0;
            let cancelled = word | CANCELLED | if idle { RUNNING } else { 0 };
            // Acquire: the future as the last poll left it.
            match self.0.compare_exchange_weak(word, cancelled, Acquire, Relaxed) {
                Err(now) => word = now,
                Ok(_) => return idle,
            }
        }
    }

    /// Adds a reference.
    pub(crate) fn retain(&self) {
        // Relaxed: the caller has a reference already.
        let before = self.0.fetch_add(REFERENCE, Relaxed);
        if before > u32::MAX / 2 {
            // A leak of so many wakers would lead to a free too early.
            std::process::abort();
        }
    }

    /// Releases a reference. Returns whether it was the last one, so that the memory is to be freed.
    #[must_use]
    pub(crate) fn release(&self) -> bool {
        // Release and acquire: the thread that frees the memory comes after all accesses by the others.
        self.0.fetch_sub(REFERENCE, AcqRel) / REFERENCE == 1
    }
}

#[cfg(all(test, loom))]
mod models;
#[cfg(all(test, not(loom)))]
mod tests;
