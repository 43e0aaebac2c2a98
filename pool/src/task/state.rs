//! A task's state word: who may touch its future, and how many know of it.
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
//! | state | where the task is | its future |
//! |---|---|---|
//! | *idle* | nowhere: wakers know of it | at rest |
//! | *scheduled* | in one queue, once | at rest |
//! | *running* | with the worker that polls it | the worker's |
//! | *running and scheduled* | there still; woken in its poll, to be queued when that ends | the worker's |
//! | *done* | nowhere | dropped |
//!
//! *Cancelled* is a mark beside each of them: the future will not be polled again, but dropped by the next who may touch
//! it.
//!
//! # Invariants
//!
//! 1. Whoever takes a task from idle to scheduled puts it in a queue, and nobody else does: k wakes are one entry (W1).
//! 2. Only who took it from scheduled to running touches the future, until `end`; or who cancelled it when it was idle.
//! 3. A wake between the beginning of a poll and its end is remembered in the word: not lost, and not early (W2).
//! 4. Once done, nothing but the count changes; the memory is freed by the one who takes the count to 0. Until it is done the
//!    task has a reference of its own: so no other one is the last.
//! 5. What lies beside the future, for who queues the task, is written by who touches the future, before `suspend`; and by who
//!    takes it from idle to scheduled, until it is queued.

use crate::sync::atomic::{
    AtomicUsize,
    Ordering::{AcqRel, Acquire, Relaxed, Release},
};

const SCHEDULED: usize = 1;
const RUNNING: usize = 2;
const DONE: usize = 4;
const CANCELLED: usize = 8;
/// One who knows of the task: the count is in the bits from here on up.
const REFERENCE: usize = 16;

/// The word.
#[derive(Debug)]
pub(super) struct State(AtomicUsize);

/// What a wake has to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub(super) enum Wake {
    /// Put the task in a queue (invariant 1).
    Submit,
    /// The task is in a queue already, or will be; or it is done.
    Coalesced,
    /// It is being polled: whoever does will put it in a queue.
    InPoll,
}

/// What a worker that took a task from a queue has to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub(super) enum Begin {
    Poll,
    /// Drop the future, and `finish`.
    Drop,
}

/// What has become of a task whose poll gave `Pending`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub(super) enum Suspend {
    /// It waits for a wake; it may run elsewhere from now on.
    Suspended,
    /// It was woken in its poll: put it in a queue.
    Again,
    /// Drop the future, and `finish`: it is still this worker's.
    Cancelled,
}

/// What a cancellation has to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub(super) enum Cancel {
    /// Drop the future, and `finish`: it is the caller's now.
    Drop,
    /// Somebody else will, or has.
    Left,
}

impl State {
    /// A task that is polled for the first time by who made it, and known to nobody else.
    pub(super) fn running() -> Self {
        State(AtomicUsize::new(RUNNING + REFERENCE))
    }

    /// The task, whose future is gone, is as new again: if nobody but its maker knows of it. False if somebody does.
    #[must_use]
    pub(super) fn renew(&self) -> bool {
        // Acquire: those who gave their references up have done their last with the memory, which will be freed by one who
        // does not see them: the store below ends their release sequences.
        let alone = self.0.load(Acquire) / REFERENCE == 1;
        if alone {
            // Relaxed: nobody else knows of the word.
            self.0.store(RUNNING + REFERENCE, Relaxed);
        }
        alone
    }

    pub(super) fn wake(&self) -> Wake {
        self.wake_with(0)
    }

    /// Wakes the task, and gives the caller's reference up: unless the wake is coalesced. Then it is still the caller's.
    ///
    /// It is never the last one: the task has its own.
    pub(super) fn wake_and_release(&self) -> Wake {
        self.wake_with(REFERENCE)
    }

    fn wake_with(&self, given_up: usize) -> Wake {
        // Release: what the waker has done before is seen by the poll that follows, whose `begin` acquires: this wake, if
        // it submits; and one that is coalesced, or comes in a poll, for all changes of the word are read-modify-writes,
        // which continue its release sequence. And what it has done with the memory comes before that is freed, if it gives
        // its reference up. Acquire: who submits uses what the owner has left beside the future (invariant 5).
        let mut word = self.0.load(Relaxed);
        loop {
            if word & DONE != 0 {
                return Wake::Coalesced;
            }
            let is_coalesced = word & SCHEDULED != 0;
            // Even a coalesced wake writes the word: else the poll that is to come would not synchronise with it.
            let next = if is_coalesced { word } else { (word | SCHEDULED) - given_up };
            match self.0.compare_exchange_weak(word, next, AcqRel, Relaxed) {
                Err(now) => word = now,
                Ok(_) if is_coalesced => return Wake::Coalesced,
                Ok(_) if word & RUNNING != 0 => return Wake::InPoll,
                Ok(_) => return Wake::Submit,
            }
        }
    }

    /// To be called by who took the task from a queue.
    pub(super) fn begin(&self) -> Begin {
        // Acquire: the future as the last poll left it, and what wakers have done before. The bits: scheduled, and not
        // running, as of all tasks in queues.
        let before = self.0.fetch_xor(SCHEDULED | RUNNING, Acquire);
        debug_assert_eq!(before & (SCHEDULED | RUNNING | DONE), SCHEDULED);
        if before & CANCELLED == 0 { Begin::Poll } else { Begin::Drop }
    }

    /// After a poll that gave `Pending`: will it wait? It will not if it was woken in the poll, or cancelled. A hint.
    pub(super) fn will_wait(&self) -> bool {
        // Relaxed: `suspend` decides.
        self.0.load(Relaxed) & (SCHEDULED | CANCELLED) == 0
    }

    /// After a poll that gave `Pending`.
    pub(super) fn suspend(&self) -> Suspend {
        let mut word = self.0.load(Relaxed);
        loop {
            debug_assert_eq!(word & (RUNNING | DONE), RUNNING);
            if word & CANCELLED != 0 {
                // Acquire is not needed: the future is this worker's already.
                return Suspend::Cancelled;
            }
            // Release: the future as this poll left it, for the next one's `begin`.
            match self.0.compare_exchange_weak(word, word & !RUNNING, Release, Relaxed) {
                Err(now) => word = now,
                Ok(_) if word & SCHEDULED != 0 => return Suspend::Again,
                Ok(_) => return Suspend::Suspended,
            }
        }
    }

    /// When the future has been dropped by the one it belonged to, who gives up the task's own reference. Is that the last
    /// one, so that the memory is to be freed?
    #[must_use]
    pub(super) fn finish(&self) -> bool {
        // Acquire: who frees comes after all that those did with the memory who have given their references up.
        let mut word = self.0.load(Acquire);
        loop {
            debug_assert_eq!(word & (RUNNING | DONE), RUNNING);
            if word / REFERENCE == 1 {
                // Nobody else knows of the task, and nobody can learn of it but from one who does.
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

    pub(super) fn cancel(&self) -> Cancel {
        let mut word = self.0.load(Relaxed);
        loop {
            if word & DONE != 0 {
                return Cancel::Left;
            }
            let idle = word & (SCHEDULED | RUNNING) == 0;
            let cancelled = word | CANCELLED | if idle { RUNNING } else { 0 };
            // Acquire: the future as the last poll left it.
            match self.0.compare_exchange_weak(word, cancelled, Acquire, Relaxed) {
                Err(now) => word = now,
                Ok(_) => return if idle { Cancel::Drop } else { Cancel::Left },
            }
        }
    }

    /// One more knows of the task.
    pub(super) fn retain(&self) {
        // Relaxed: who retains knows of the task already.
        let before = self.0.fetch_add(REFERENCE, Relaxed);
        if before > usize::MAX / 2 {
            // A leak of so many wakers would lead to a free too early.
            std::process::abort();
        }
    }

    /// One less does. Is it nobody, so that the memory is to be freed?
    #[must_use]
    pub(super) fn release(&self) -> bool {
        // Release and acquire: who frees comes after all that the others did with the memory.
        self.0.fetch_sub(REFERENCE, AcqRel) / REFERENCE == 1
    }
}

#[cfg(all(test, loom))]
mod models;
#[cfg(all(test, not(loom)))]
mod tests;
