//! The time since a call began, which decides whether the call's work is worth sharing and worth a wake-up.

use crate::sync::machine::atomic::{AtomicU64, Ordering::Relaxed};
use crate::sync::ticks::{Span, Ticks};
use std::cell::Cell;

/// Time, in microseconds, for which an external thread's call does not share its forks; thieves can [steal private
/// ones](crate::deque::Deque::steal_private) all the same. Most calls that end within that time would take longer with help.
const YOUNG: u32 = 2;

/// A thread whose last call took longer than so many microseconds shares at once.
const SHORT: u32 = 5;

/// Time, in microseconds, for which a worker has work to share before it wakes the timed searcher. A thread whose last call took longer wakes it at
/// once.
const ALONE: u32 = 20;

/// Time, in microseconds, that a call has run when a worker that was woken for it wakes [more](crate::slots::Locked::wake_more): then it is likely to last
/// until they run.
const OLD: u32 = 40;

/// A point in time, or none. Its worker stores it; thieves read it. A hint, so relaxed.
#[derive(Debug, Default)]
struct Since(AtomicU64);

impl Since {
    fn get(&self) -> Option<Ticks> {
        Some(self.0.load(Relaxed)).filter(|&since| since > 0).map(Ticks::from_bits)
    }

    fn set(&self, since: Option<Ticks>) {
        self.0.store(since.map_or(0, Ticks::bits), Relaxed);
    }
}

/// Begin of a worker's current call, and duration of its last one.
#[derive(Debug, Default)]
pub(crate) struct CallTime {
    /// For an external thread: time at which its call began. For one of the pool's own workers: time at which its last search ended; or, if it was
    /// woken and has stolen a fork, the victim's.
    since: Since,
    /// Whether the current call may still be young: false once it was seen to be older.
    young: Cell<bool>,
    /// Duration of the last call. The next one is likely to take as long.
    last: Cell<Span>,
}

impl CallTime {
    /// Notes that an external thread's call begins.
    pub(crate) fn begins(&self) {
        self.since.set(Some(Ticks::now()));
        self.young.set(!self.last.get().exceeds(SHORT));
    }

    /// Notes that an external thread's call ends.
    pub(crate) fn ends(&self) {
        if let Some(since) = self.since.get() {
            self.since.set(None);
            self.last.set(since.elapsed());
        }
    }

    /// Notes that one of the pool's own workers has found a job: one of the call in which the victim takes part, or the first of another call.
    pub(crate) fn joins(&self, victim: Option<&CallTime>) {
        let since = victim.and_then(|victim| victim.since.get());
        self.since.set(Some(since.unwrap_or_else(Ticks::now)));
    }

    /// Whether the call is worth waking several workers.
    pub(crate) fn is_old(&self) -> bool {
        self.since.get().is_some_and(|since| since.elapsed().exceeds(OLD))
    }

    /// Whether it is too early to share.
    pub(crate) fn is_young(&self) -> bool {
        let young = self.young.get() && self.since.get().is_some_and(|since| !since.elapsed().exceeds(YOUNG));
        self.young.set(young);
        young
    }

    /// Whether the call is worth waking the timed searcher.
    pub(crate) fn is_worth_a_wake_up(&self) -> bool {
        if self.last.get().exceeds(ALONE) {
            return true;
        }
        match self.since.get() {
            Some(since) => since.elapsed().exceeds(ALONE),
            None => {
                self.since.set(Some(Ticks::now()));
                false
            }
        }
    }
}
