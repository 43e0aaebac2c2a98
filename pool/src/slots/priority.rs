//! Priorities: which work begins first.
//!
//! A priority is a property of a *call*: of a chain, an `install`, a scope, a spawned job or a future, and of all that it forks, spawns and awaits. It decides
//! at four points, all of them off the path of a fork:
//!
//! | point | what the priority does |
//! |---|---|
//! | a job or a woken task is queued | urgent ones have a queue that workers look at first, and background ones one that they look at last |
//! | a thread without a slot claims one | claims are served by rank, unless a queued job is of more. A claim of more than a slot holder's priority does not wait a turn: all holders are poked at once, and the first one of less priority that comes to a cooperative point gives its slot |
//! | a queued job finds all slots held | if it is of more priority than the work of a slot holder, it is overdue at once: see `registry/monitor.rs` |
//! | a thief chooses a victim | workers of more priority come first |
//!
//! # Invariants
//!
//! 1. *One place.* The priority of what a worker runs is in its frame; a stolen fork has its owner's, a spawned job or a task the one in its scope number
//!    ([`Priority::of_scope`]). A thread outside every pool has one in a thread-local, which its calls and spawns take over.
//! 2. *A hint.* Priorities order work. No argument about lost jobs or wake-ups depends on one, so they are relaxed.
//! 3. *None starves.* A claim's *rank* is its worker's priority, and one more for each [`AGING`] that it has waited. Claims and the line of overdue threads are
//!    in the order of ranks; whose slot is taken is decided by the priority itself. The rank of a watcher that asks for queued jobs rises in the same way, and a slot that
//!    becomes free goes to the watcher before claims of no more rank. A queue of background jobs that no worker has
//!    served for so long is neglected, as any queue is after a millisecond. And in every eighth fair look of a worker, urgent work comes last, in another one background work
//!    comes first. Jobs for a certain thread (`spawn_on`, broadcasts) come before all others there.

use std::time::Duration;

/// How long a claim waits before its rank rises by one, and how long background jobs are queued before they count as neglected.
pub(crate) const AGING: Duration = Duration::from_millis(100);

/// How urgent work is: see [`with_priority`](crate::with_priority).
///
/// | | begins | its forks are stolen |
/// |---|---|---|
/// | `Urgent` | at the next fork, leaf or job of some worker that does less urgent work | first |
/// | `Normal` | as without priorities; at once, if a worker does background work; beside urgent work, after 100 ms by turns | second |
/// | `Background` | when nothing else waits; after 100 ms by turns, and beside urgent work after 200 ms | last |
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Priority {
    /// For work without a waiter, which fills idle processors.
    Background,
    /// All work that names no other priority.
    #[default]
    Normal,
    /// For work with a waiter: small requests beside large ones.
    Urgent,
}

impl Priority {
    /// All priorities, the least first.
    pub const ALL: [Priority; 3] = [Priority::Background, Priority::Normal, Priority::Urgent];

    pub(crate) fn of_bits(bits: u8) -> Self {
        match bits {
            0 => Priority::Background,
            1 => Priority::Normal,
            _ => Priority::Urgent,
        }
    }

    /// Returns the priority in the last two bits of a scope's number; [`Normal`](Self::Normal) for the number 0.
    pub(crate) fn of_scope(number: u64) -> Self {
        Self::of_bits((number & 3) as u8 ^ 1)
    }

    /// Returns the last two bits of the number of a scope of this priority; for jobs without a scope, the whole number.
    pub(crate) fn scope_bits(self) -> u64 {
        self as u64 ^ 1
    }

    /// Returns the rank of a claim that has waited for so long.
    pub(crate) fn aged(self, waited: Duration) -> Self {
        let steps = (waited.as_micros() / AGING.as_micros()).min(2) as u8;
        Self::of_bits(self as u8 + steps)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn the_number_of_a_scope_holds_its_priority() {
        for priority in Priority::ALL {
            assert_eq!(Priority::of_scope(priority.scope_bits()), priority);
            assert_eq!(Priority::of_scope(4 * 7 + priority.scope_bits()), priority);
            assert_eq!(Priority::of_bits(priority as u8), priority);
        }
        assert_eq!(Priority::of_scope(0), Priority::Normal);
    }

    #[test]
    fn ranks_rise() {
        assert_eq!(Priority::Background.aged(AGING / 2), Priority::Background);
        assert_eq!(Priority::Background.aged(AGING), Priority::Normal);
        assert_eq!(Priority::Background.aged(5 * AGING), Priority::Urgent);
        assert_eq!(Priority::Urgent.aged(AGING), Priority::Urgent);
    }
}
