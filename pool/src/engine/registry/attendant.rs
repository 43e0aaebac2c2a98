//! The attendant: the thread that polls tasks for waiting threads when the bound on threads is reached.
//!
//! Threads stand in for waiting ones up to the [bound](crate::ThreadPoolBuilder::max_blocking_threads). At the bound, a slot holder
//! that waits keeps its slot. It must run no other job on top of its frame, because a frame below may hold a lock that the job wants.
//! The future that it waits for may be a task that no thread polls. The last resort is one more thread after 0.1 s. That thread may
//! find a fork first, and end in a wait of the same kind.
//!
//! To poll a task takes microseconds. So one thread without a frame below suffices for the tasks that all waiters wait for.
//!
//! | attendant | state | becomes | when |
//! |---|---|---|---|
//! | not started | | attends | a slot is free, no other thread is left, and a task is queued |
//! | idle | `Parked`, in no list | attends | the same |
//! | attends | `Active` | idle | no task is queued; or a thread claims a slot, and a turn is over |
//! | waits: the poll of a task blocks | as any waiter | attends | the wait is over |
//!
//! # Invariants
//!
//! 1. *Tasks only.* The attendant takes urgent jobs, tasks, and jobs of suspended deques from the sets. It takes no forks, and no jobs
//!    from outside, which may wait for long. If a task waits all the same, there is no second attendant, only the last resort.
//! 2. *In a slot.* A waiter gives its slot to the attendant as to any thread that stands in for it, if a task is queued. The slot comes
//!    back as any slot that becomes free: to the first claim, or else to a waiter without a slot
//!    ([`wake_blocked`](crate::slots::Locked::wake_blocked)).
//! 3. *No task is lost.* A worker that keeps its slot when it begins to wait moves the tasks of its deque to the sets first. Then it
//!    looks at the sets between its timed sleeps, which are short while a task is queued. If it sees a task and the attendant is idle,
//!    it gives its slot. The attendant does a final check after it has released its slot.
//! 4. *No stand-in.* An idle attendant is not listed as parked. So no waiter gives its slot for a fork to it, and it is not woken to
//!    search. It counts as searching from the moment at which it gets a slot until it begins to look for tasks.
//! 5. *At most one.* External threads have the numbers above the attendant's. Spare threads do not get it.

use super::monitor::TURN;
use super::{Locked, Registry};
use crate::engine::worker::Worker;
use crate::slots::WorkerState;
use crate::sync::clock::Instant;

impl Registry {
    /// Returns the attendant's number. Without spare threads, there is no attendant.
    pub(super) fn attendant(&self) -> usize {
        self.first_external - 1
    }

    pub(super) fn is_attendant(&self, worker: &Worker) -> bool {
        self.setup.spares.is_some() && worker.number() == self.attendant()
    }

    /// Whether the attendant could use one more slot: a task is queued, and the attendant is idle or can be started.
    pub(super) fn could_attend(&self, slots: &Locked<'_>) -> bool {
        self.setup.spares.is_some()
            && !slots.threads.refused
            && self.has_queued_tasks()
            && self.worker(self.attendant()).is_none_or(|worker| slots.state(worker) == WorkerState::Parked)
    }

    /// Returns the attendant, which the caller gives a slot, if it [could use](Self::could_attend) one.
    pub(super) fn ask_attendant<'a>(&'a self, slots: &mut Locked<'a>) -> Option<&'a Worker> {
        if !self.could_attend(slots) {
            return None;
        }
        self.worker(self.attendant()).or_else(|| self.start_numbered(slots, self.attendant()))
    }

    /// Runs tasks in the slot that the attendant was given, and releases it.
    pub(super) fn attend(&self, worker: &Worker) {
        self.end_search(worker);
        let since = Instant::now();
        worker.drain();
        while let Some(job) = worker.find_fair_task() {
            worker.counters.turns.add();
            // SAFETY: just taken from a queue; there is no frame below.
            unsafe { worker.execute_detachable(job) };
            worker.drain();
            if !self.holds_slot(worker) || self.is_claimed() && since.elapsed() >= TURN {
                break;
            }
        }
        let mut slots = self.lock();
        slots.threads.attended = slots.threads.attended.wrapping_add(1);
        slots.release(worker);
        slots.begin_parked(worker);
        drop(slots);
        self.final_check(worker);
    }
}
