//! Threads that have waited too long for a slot, and slot holders that are stuck.
//!
//! # Invariants
//!
//! 1. A worker in the line of overdue threads claims a slot, or is the watcher. It leaves the line in the critical section that gives it
//!    a slot.
//! 2. *A holder is stuck* if its thread has used no processor time for [`STUCK`], and sleeps in the system at two looks in a row
//!    after that. The system says whether a thread sleeps. A thread that only lacks a core does not sleep, and is not stuck. Time
//!    before the worker got its slot does not count. Holders that spin, or that sleep and check something again and again, use
//!    processor time and are never stuck: they look like a job that sleeps and computes by turns.
//! 3. *A holder is deaf* if its thread has used processor time for [`DEAF`] since the watcher was overdue, and has come to no cooperative
//!    point: there it would have given its slot. It is in the middle of a long leaf. The pool has at most one loan at a time.

use super::{FreeSlot, Locked, Occupant, Slots, WorkerState};
use crate::sync::atomic::{AtomicBool, Ordering::Relaxed};
use crate::sync::clock::Instant;
use crate::sync::fence;
use std::collections::VecDeque;
use std::mem;
use std::time::Duration;

/// How long a slot holder uses no processor time before another thread takes its slot over.
///
/// The time is longer than short locks, reads of files and pauses of some milliseconds take. So the number of threads that run jobs is
/// exact if jobs sleep only for moments. It is shorter than a wait that a user notices. A thread that only lacks a core does not count
/// as stuck, because the system says that it is ready to run.
pub(crate) const STUCK: Duration = Duration::from_millis(20);

/// The same for systems that do not report the processor time of threads. There wall time alone counts.
const STUCK_WITHOUT_CLOCK: Duration = Duration::from_millis(250);

/// Processor time that a holder uses, after the watcher has asked for a slot, before it counts as deaf.
const DEAF: Duration = Duration::from_millis(4);

/// The shortest time between two looks at the slot holders.
const LOOK: Duration = Duration::from_millis(2);

/// Facts that are read without the slot lock.
#[derive(Debug, Default)]
pub(crate) struct Hints {
    /// Whether a thread without a slot is overdue. Written with the lock held.
    wanted: AtomicBool,
    /// Whether a queue of woken tasks, or of jobs from outside, is neglected.
    neglected: AtomicBool,
}

impl Hints {
    /// Whether a thread without a slot is overdue.
    pub(crate) fn is_slot_wanted(&self) -> bool {
        // Relaxed: a hint. Threads that want a slot poke the slot holders again and again.
        self.wanted.load(Relaxed)
    }

    /// Whether a queue is neglected.
    pub(crate) fn is_queue_neglected(&self) -> bool {
        // Relaxed: a hint.
        self.neglected.load(Relaxed)
    }

    /// Sets whether a queue is neglected.
    pub(crate) fn set_neglected(&self, neglected: bool) {
        // Relaxed: a hint.
        self.neglected.store(neglected, Relaxed);
    }
}

/// Facts about overdue threads and stuck holders, which the slot lock protects.
#[derive(Debug, Default)]
pub(super) struct Overdue {
    /// Numbers of the overdue threads, the oldest first: claimants, and the watcher if a queue is overdue.
    line: VecDeque<usize>,
    /// Numbers of former watchers, from the moment at which they get a slot to run queued jobs until they have run them.
    pub(super) on_turn: Vec<usize>,
    /// Numbers of the slot holders when the watcher became overdue, and the processor time that their threads had used (invariant 3).
    asked: Vec<(usize, Duration)>,
    /// Numbers of the worker on turn in a lent slot, and of the slot's lender.
    loan: Option<(usize, usize)>,
    /// The slot holders at the last look, by slot.
    holders: Vec<Holder>,
    /// The time of that look.
    looked: Option<Instant>,
}

/// A slot holder at the last look.
#[derive(Debug)]
struct Holder {
    /// Number of the worker.
    number: usize,
    /// Processor time that its thread had used.
    used: Option<Duration>,
    /// Time since which the thread has used no processor time.
    quiet_since: Instant,
    /// Number of looks in a row at which the thread had been quiet for [`STUCK`], and slept.
    asleep: u32,
}

impl<W: Occupant> Slots<W> {
    /// Whether a slot could be taken over for a job: no slot is free, and no worker searches.
    pub(crate) fn are_all_held(&self) -> bool {
        self.searching.free() == 0 && self.searching.no_searcher()
    }
}

impl<'a, W: Occupant> Locked<'a, W> {
    /// Marks a thread without a slot as overdue, and pokes the slot holders.
    pub(crate) fn is_overdue(&mut self, worker: &W) {
        if !self.overdue.line.contains(&worker.number()) {
            self.overdue.line.push_back(worker.number());
            if self.state(worker) == WorkerState::Watching {
                let used = |holder: &W| Some((holder.number(), holder.used_time()?));
                self.overdue.asked = self.slots.slot_holders().filter_map(used).collect();
            }
        }
        // Relaxed: the holders look up at their next push or step, and see this store. On a machine where the store takes longer to
        // arrive, they see it when they are poked again.
        self.slots.hints.wanted.store(true, Relaxed);
        self.slots.slot_holders().for_each(W::poke);
    }

    /// Marks a thread as not overdue.
    pub(crate) fn is_not_overdue(&mut self, number: usize) {
        if !self.overdue.line.is_empty() {
            self.overdue.line.retain(|&other| other != number);
            // Relaxed: a hint.
            self.slots.hints.wanted.store(!self.overdue.line.is_empty(), Relaxed);
        }
    }

    /// Returns the oldest overdue worker, to be given a slot. If that is the watcher, it is on turn from now on, and does not search.
    #[must_use]
    pub(super) fn next_overdue(&mut self) -> Option<&'a W> {
        let worker = self.slots.known(*self.overdue.line.front()?);
        if self.state(worker) == WorkerState::Watching {
            self.begin_turn(worker);
        }
        Some(worker)
    }

    /// Puts the watcher on turn, in a slot that it is about to get.
    fn begin_turn(&mut self, watcher: &W) {
        self.watch_is_over();
        self.overdue.on_turn.push(watcher.number());
        self.set_state(watcher, WorkerState::Blocked);
    }

    /// Whether a former watcher has a slot to run queued jobs, and has not ended its turn.
    pub(crate) fn is_on_turn(&self, worker: &W) -> bool {
        self.overdue.on_turn.contains(&worker.number())
    }

    /// Has the worker take over the slot of a stuck holder (invariant 2), if the worker is the oldest overdue thread.
    /// Returns whether it has done so.
    #[must_use]
    pub(crate) fn try_take_over(&mut self, worker: &W) -> bool {
        self.look_at_holders();
        if self.overdue.line.front() != Some(&worker.number()) {
            return false;
        }
        let Some(slot) = self.find_stuck() else { return false };
        let next = self.next_overdue();
        debug_assert!(next.is_some_and(|next| std::ptr::eq(next, worker)));
        self.take_slot_over(worker, slot);
        true
    }

    /// Lends the watcher the slot of a deaf holder (invariant 3), for a turn. Returns whether it has done so.
    #[must_use]
    pub(crate) fn lend(&mut self, watcher: &W) -> bool {
        // Claimants that have waited for longer may be before it in the line. They get no loans, and do not stand in its way.
        if self.overdue.loan.is_some() || !self.overdue.line.contains(&watcher.number()) {
            return false;
        }
        let is_deaf = |holder: &W| {
            let asked = self.overdue.asked.iter().find(|(number, _)| *number == holder.number());
            let used = asked.and_then(|(_, then)| holder.used_time()?.checked_sub(*then));
            self.state(holder) == WorkerState::Active && used.is_some_and(|used| used >= DEAF)
        };
        let Some(lender) = self.slots.slot_holders().find(|holder| is_deaf(holder)) else { return false };
        let Some(slot) = lender.slot() else { return false };
        self.begin_turn(watcher);
        self.overdue.loan = Some((watcher.number(), lender.number()));
        self.replace_holder(watcher, slot);
        true
    }

    /// Whether a worker is on turn in a lent slot.
    pub(crate) fn is_lent(&self, worker: &W) -> bool {
        self.overdue.loan.is_some_and(|(borrower, _)| borrower == worker.number())
    }

    /// Gives a slot back that was lent to the worker, if the lender runs on without one. Called at the end of the turn, and if the worker
    /// gives the slot away before that.
    pub(crate) fn return_slot(&mut self, worker: &W) {
        let Some((_, lender)) = self.overdue.loan.take_if(|(borrower, _)| *borrower == worker.number())
        else {
            return;
        };
        let lender = self.slots.known(lender);
        let runs_on = self.state(lender) == WorkerState::Active && lender.slot() == worker.slot();
        if runs_on && self.slots.holds_slot(worker) {
            self.withdraw(worker).into_iter().for_each(|slot| self.occupy(lender, slot));
        }
    }

    /// Gives the slot of a stuck holder to another worker.
    pub(crate) fn take_slot_over(&mut self, worker: &W, slot: usize) {
        worker.count_take_over();
        self.replace_holder(worker, slot);
    }

    /// Gives a slot to another worker, while its holder runs or blocks.
    fn replace_holder(&mut self, worker: &W, slot: usize) {
        let before = self.slots.holder(slot);
        if let Some(holder) = before {
            self.shelve(holder);
        }
        self.occupy(worker, FreeSlot(slot));
        if let Some(holder) = before {
            // The holder's next push is a cooperative point. A push that does not see the poke is seen here: the heavy fence orders
            // each of the holder's pushes before this look, or behind the poke.
            holder.poke();
            fence::heavy();
            self.shelve(holder);
        }
    }

    /// Notes how much processor time the slot holders have used, unless the last look was less than [`LOOK`] ago.
    pub(crate) fn look_at_holders(&mut self) {
        let now = Instant::now();
        if self.overdue.looked.is_some_and(|looked| now - looked < LOOK) {
            return;
        }
        self.overdue.looked = Some(now);
        let before = mem::take(&mut self.overdue.holders);
        let holders = self.slots.slot_holders().map(|holder| {
            let (number, used) = (holder.number(), holder.used_time());
            let before = before.iter().find(|before| before.number == number);
            let before = before.filter(|before| before.used == used);
            let quiet_since = before.map_or(now, |before| before.quiet_since);
            let quiet = now - quiet_since;
            let bound = if used.is_some() { STUCK } else { STUCK_WITHOUT_CLOCK };
            let sleeps = || holder.sleeps().unwrap_or(quiet >= STUCK_WITHOUT_CLOCK);
            let asleep =
                if quiet >= bound && sleeps() { before.map_or(0, |before| before.asleep) + 1 } else { 0 };
            Holder { number, used, quiet_since, asleep }
        });
        self.overdue.holders = holders.collect();
    }

    /// Forgets a worker's former looks when the worker gets a slot: time without a slot does not count.
    pub(super) fn forget_holder(&mut self, number: usize) {
        self.overdue.holders.retain(|holder| holder.number != number);
    }

    /// Whether a slot holder was stuck at the last look (invariant 2).
    fn is_stuck(&self, holder: &W) -> bool {
        // Two looks: a thread that has just been woken, by the pool or by the release of a lock, gets time to begin.
        let is_stuck = |seen: &Holder| seen.number == holder.number() && seen.asleep >= 2;
        self.state(holder) == WorkerState::Active && self.overdue.holders.iter().any(is_stuck)
    }

    /// Returns the slot of a stuck holder.
    pub(crate) fn find_stuck(&self) -> Option<usize> {
        let is_stuck = |&slot: &usize| self.slots.holder(slot).is_some_and(|holder| self.is_stuck(holder));
        (0..self.slots.len()).find(is_stuck)
    }

    /// Whether every slot holder waits or is stuck.
    pub(crate) fn all_holders_wait_or_are_stuck(&self) -> bool {
        self.slots
            .slot_holders()
            .all(|holder| self.state(holder) == WorkerState::Waiting || self.is_stuck(holder))
    }
}
