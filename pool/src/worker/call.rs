//! How long a call has been going on: whether its work is worth to be shared, or even a wake-up.

use std::cell::Cell;
use std::time::{Duration, Instant};

/// So long a call from outside keeps its forks to itself, unless thieves [reach](crate::deque::Deque::reach) for them:
/// most of those that are over by then would take longer with help.
const YOUNG: Duration = Duration::from_micros(2);

/// A thread whose last call took longer than this shares at once.
const SHORT: Duration = Duration::from_micros(5);

/// So long a worker shares with nobody before it wakes one that naps; and a thread whose last call took longer wakes it at
/// once.
const ALONE: Duration = Duration::from_micros(20);

/// The time a worker's thread spends in its call.
#[derive(Debug, Default)]
pub(crate) struct Call {
    /// A guest: when its call began. One of the pool's: when it first had nobody to share with.
    since: Cell<Option<Instant>>,
    /// How long the last one took: the next one is likely to be like it.
    last: Cell<Duration>,
}

impl Call {
    /// A guest's call begins.
    pub(crate) fn begins(&self) {
        self.since.set(Some(Instant::now()));
    }

    /// A guest's call ends.
    pub(crate) fn ends(&self) {
        if let Some(since) = self.since.take() {
            self.last.set(since.elapsed());
        }
    }

    /// Is it too early to share?
    pub(crate) fn is_young(&self) -> bool {
        self.last.get() < SHORT && self.since.get().is_some_and(|since| since.elapsed() < YOUNG)
    }

    /// Is it time to wake somebody?
    pub(crate) fn is_worth_a_wake_up(&self) -> bool {
        if self.last.get() > ALONE {
            return true;
        }
        match self.since.get() {
            Some(since) => since.elapsed() > ALONE,
            None => {
                self.since.set(Some(Instant::now()));
                false
            }
        }
    }
}
