//! The time since a call began, which decides whether the call's work is worth sharing and worth a wake-up.

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

/// Begin of a worker's current call, and duration of its last one.
#[derive(Debug, Default)]
pub(crate) struct CallTime {
    /// For an external thread: time at which its call began. For one of the pool's own workers: time at which the worker first had work
    /// to share that could have woken a thread.
    since: Cell<Option<Ticks>>,
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
        if let Some(since) = self.since.take() {
            self.last.set(since.elapsed());
        }
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
