//! Turns: how threads and tasks that have waited too long get a slot from workers that are busy.
//!
//! A worker inside a computation (forks, steps of a task, a scope that it waits for) does not come back to its main loop
//! before the computation ends. Without turns, jobs queued meanwhile would wait for that end, perhaps for seconds. The worker must
//! not run queued tasks on top of its own frames, because a frame below may hold a lock that the task wants, and because
//! stacks would grow. So the worker gives its *slot* to another thread, and waits for a slot itself.
//!
//! ```text
//!   wake: every slot is taken, no worker searches          cooperative point of a busy worker W:
//!     │                                                    a push, a step's end, a look while it waits
//!     v                                                       │
//!   WATCHER  looks every ms: is a queue neglected, and        │ a thread is overdue?
//!     │      no worker back in its main loop?                 v
//!     │ for 4 looks: it is overdue; pokes slot holders ───> W gives it the slot, claims one, sleeps
//!     v                                                       │
//!   runs woken tasks for up to a ms, then gives the slot ──> to the first claim: W continues, and keeps its slot
//!                                                             for at least a ms
//! ```
//!
//! A queue that is neglected at one look is served by the next worker that comes back to its main loop. If none comes, the queue is
//! overdue. Claimants (threads in the middle of a job that lack a slot, and external threads) are overdue after a millisecond,
//! and wait in the same line, those that have given their slots at its end. A claimant or a queued job of more [priority](crate::slots::priority) than the
//! work of a slot holder is overdue at once, and stands before those of lower rank.
//!
//! # Threads that block outside the pool
//!
//! A slot holder that blocks on a lock, or in a system call, comes to no cooperative point. The thread that would release the lock
//! may itself wait for a slot. So there is one rule: **if a slot's holder uses no processor time for [`STUCK`](crate::slots::STUCK), the first overdue
//! thread takes the slot over.** (Go's monitor takes a processor from a blocked system call in the same way.)
//!
//! | who takes over | when | what it does with the slot |
//! |---|---|---|
//! | a claimant: after `block_on`, a scope or a given turn, or an external thread | it is the first overdue thread | continues with its job |
//! | the watcher | a queue is neglected, and the watcher is the first overdue thread | runs queued jobs for a turn |
//! | a parked or new thread, for a worker that waits for a latch; else that worker | jobs wait, and no worker searches | searches |
//!
//! The last row is for jobs in the deques of stuck holders, or of the waiting worker: the watcher looks at queues only.
//!
//! A worker whose slot was taken over keeps its index, which the new holder has too. The worker is on the [shelf](crate::slots), where
//! thieves find its jobs. It runs without a slot until its next cooperative point, wait, or job end. There it takes a free slot, claims
//! one, or goes to sleep. Until then jobs that it spawns go to the injector. Its first fork is a cooperative point.
//!
//! # Invariants
//!
//! 1. *Watched.* If every slot is taken, no worker searches and a job is queued, a watcher is there or is about to be made; see
//!    invariant 4 of [`Searching`](crate::slots::searching). A parked worker becomes the watcher. If none is parked, the
//!    [watchdog](super::monitor) looks first, and starts a spare thread when a queue is overdue. While the former watcher runs
//!    queued jobs, the watchdog looks too, because one of these jobs may block. Pools that may start no more threads have no turns;
//!    their workers look at overdue queues between jobs.
//! 2. *At most n.* A worker that gives its slot is blocked before the other thread gets the slot. Exceptions: a slot that was taken
//!    over, from the moment at which the former holder no longer blocks until its next cooperative point; and one loan.
//! 3. *Work conservation.* A worker that gives its slot may have jobs in its deques, which thieves cannot see. It claims a
//!    slot at once, and as long as there are claims no slot is free, and searching workers release theirs, unless they find a queued job of more priority. So either every
//!    slot is used, or the jobs are visible again.
//! 4. *No deadlock by a lock.* A thread that waits for a slot gets one, even if all holders block on a lock that this thread holds:
//!    their slots are taken over. A worker may keep its slot while it waits although no other thread could run the awaited job.
//!    Then it runs the queued jobs of its scope itself, or else any queued job ([`NextJobs::Queued`](super::NextJobs::Queued)).
//! 5. *A holder is stuck* if its thread sleeps in the system and uses no processor time for [`STUCK`](crate::slots::STUCK): see invariant 2 of
//!    `slots/monitor.rs`.
//! 6. *Both make progress.* A worker that has got a slot back keeps it for a [`TURN`], unless a thread of more priority is overdue. A turn takes no longer than a `TURN` and the
//!    rest of the task that runs at its end. So with n > 1 slots, woken tasks get at most one slot's time from busy workers. With one
//!    slot, they get a fifth of it at most, because a queue is overdue after [four looks](super::monitor) or more.
//! 7. *Long jobs take long turns.* A thread that has given its slot stands in the line behind those that have not. A worker that has got
//!    its slot back, or has got it for a turn, keeps it from such a thread for a [`LONG_TURN`], unless its job yields. The thread waits
//!    for ever behind none. Slots that become free go to the first claim by [rank](crate::slots::priority), and the rank grows with the time. A thread
//!    that has overtaken it in the line ends its job, blocks, or gives its slot in turn.
//!
//! # Long leaves
//!
//! A leaf that neither forks nor has steps has no cooperative points: a `for_each` over many items, a sort's leaf, foreign code. If no
//! holder gives its slot to the watcher, and one of them has used [some milliseconds](crate::slots) of processor time since, the watcher
//! *borrows* that one's slot: it runs woken tasks for a turn, and gives the slot back. The lender runs on meanwhile, without a slot. So for
//! this turn, and the rest of the task that runs at its end, one thread more than the pool has slots runs jobs. There is one loan at a
//! time, and none for jobs from outside, unless they are urgent.

use super::monitor::{LONG_TURN, TURN};
use super::{Locked, Registry};
use crate::engine::settings::has_priorities;
use crate::engine::worker::Worker;
use crate::slots::priority::AGING;
use crate::slots::{Occupant, Priority, WorkerState};
use crate::sync::clock::Instant;
use crate::trace::{self, Kind};
use std::time::Duration;

impl Registry {
    /// A cooperative point: gives the calling worker's slot to an overdue thread, if there is one. Returns when the worker has a slot
    /// again, perhaps another one.
    pub(crate) fn give_turn(&self, worker: &Worker) {
        self.give_turn_unless_kept(worker, LONG_TURN);
    }

    /// As [`give_turn`](Self::give_turn), for a job that says that it has nothing to do: it has no long turn.
    pub(crate) fn give_turn_yielding(&self, worker: &Worker) {
        self.give_turn_unless_kept(worker, TURN);
    }

    fn give_turn_unless_kept(&self, worker: &Worker, long_turn: Duration) {
        if self.slots.is_slot_wanted() || !self.holds_slot(worker) {
            self.give_slot(worker, long_turn);
        }
    }

    #[cold]
    fn give_slot(&self, worker: &Worker, long_turn: Duration) {
        let is_outranked = self.slots.outranks(worker.priority());
        let keeps = !is_outranked && worker.turn.keeps_slot(TURN);
        // A forked child has no other thread of the pool.
        if self.is_inherited() || worker.slot().is_none() || keeps && self.holds_slot(worker) {
            return;
        }
        worker.charge();
        let mut slots = self.lock();
        slots.return_slot(worker);
        let is_lost = slots.forget_lost(worker);
        if is_lost {
            if slots.occupy_or_block(worker) {
                drop(slots);
                // A worker that ended its search in between has not seen the jobs that this worker has pushed without a slot.
                self.share(worker);
                return;
            }
        } else {
            if self.keeps_from_first(&mut slots, worker, long_turn) {
                return;
            }
            if !slots.give_turn(worker) {
                return;
            }
            worker.counters.slots_given.add();
            trace::record(Kind::Handover, 0);
        }
        drop(slots);
        self.wait_for_slot(worker, !is_lost);
        worker.skip_charge();
    }

    /// Whether a worker keeps its slot from the first overdue thread.
    fn keeps_from_first(&self, slots: &mut Locked<'_>, worker: &Worker, long_turn: Duration) -> bool {
        let Some(&first) = slots.first_overdue() else { return false };
        if first.priority > worker.priority() {
            return false;
        }
        let watches = slots.is_watcher(first.number);
        if watches && first.priority == Priority::Urgent && self.urgent.is_empty() {
            // The job that it wants to run was taken meanwhile.
            slots.is_not_overdue(first.number);
            return true;
        }
        watches && slots.monitor.seen.is_urge
            || first.rank < worker.priority()
            || first.has_given && worker.turn.keeps_slot(long_turn)
    }

    /// Raises the rank of a worker that claims a slot since then. (Where all work is of one priority, claims are in the order of time anyway.)
    pub(super) fn age_claim(&self, slots: &mut Locked<'_>, worker: &Worker, since: Instant) {
        let rank = worker.priority().aged(since.elapsed());
        if has_priorities() && rank > worker.rank() {
            slots.raise(worker, rank);
        }
    }

    /// Waits until a worker that claims a slot has one. `has_given` says whether it has given its slot in the middle of its job.
    pub(super) fn wait_for_slot(&self, worker: &Worker, has_given: bool) {
        let since = Instant::now();
        let mut looks = 0;
        loop {
            let mut slots = self.lock();
            if slots.state(worker) == WorkerState::Active {
                break;
            }
            self.age_claim(&mut slots, worker, since);
            if since.elapsed() >= TURN || self.slots.is_below(worker.priority()) {
                looks += 1;
                if slots.ask_for_slot(worker, has_given) {
                    break;
                }
                if !slots.is_first_overdue(worker) {
                    // Woken when it is the first in the line, or has a slot.
                    drop(slots);
                    worker.parker.park_timeout(AGING);
                    continue;
                }
            }
            drop(slots);
            // Slot holders keep their slots for a turn. Holders with long leaves need not be poked as often.
            worker.parker.park_timeout(TURN * (1 + looks / 16).min(8));
        }
        worker.turn.keep_slot();
    }

    /// Has another thread take over the slot of a stuck holder and search, if jobs wait and all slots are held. Called by a worker that
    /// waits for a latch. If there is no other thread, returns the stuck holder's slot.
    pub(super) fn replace_stuck<'a>(&'a self, slots: &mut Locked<'a>) -> Option<usize> {
        if slots.is_terminating() || !self.slots.are_all_held() || !self.sees_work() {
            return None;
        }
        let slot = slots.find_stuck()?;
        let Some(other) = self.spare_worker(slots) else { return Some(slot) };
        slots.take_slot_over(other, slot);
        None
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::Registry;
    use crate::engine::registry::Setup;
    use std::time::Duration;

    /// All but the first in the line sleep for long. A thread that is not woken when it becomes the first would ask for no slot.
    #[test]
    fn a_thread_that_becomes_the_first_in_the_line_is_woken() {
        let registry = Registry::new(4, Setup::default());
        let [first, second, third] = [0, 1, 2].map(|number| registry.worker(number).unwrap());
        let mut slots = registry.lock();
        for worker in [first, second, third] {
            slots.claim(worker);
            assert!(!slots.ask_for_slot(worker, true), "no holder is stuck");
        }
        drop(slots);
        registry.lock().is_not_overdue(third.number());
        assert!(!second.parker.park_timeout(Duration::ZERO), "the first is another one still");
        registry.lock().is_not_overdue(first.number());
        assert!(second.parker.park_timeout(Duration::ZERO));
    }

    #[test]
    fn threads_that_have_given_their_slots_stand_behind_the_others() {
        let registry = Registry::new(4, Setup::default());
        let mut slots = registry.lock();
        for (number, has_given) in [(0, true), (1, false), (2, true), (3, false)] {
            assert!(!slots.ask_for_slot(registry.worker(number).unwrap(), has_given), "no holder is stuck");
        }
        let line = [(); 4].map(|()| {
            let first = *slots.first_overdue().unwrap();
            slots.is_not_overdue(first.number);
            (first.number, first.has_given)
        });
        assert_eq!(line, [(1, false), (3, false), (0, true), (2, true)]);
    }
}
