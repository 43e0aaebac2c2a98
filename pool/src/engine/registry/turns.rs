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
//!   runs woken tasks for up to a ms, then gives the slot ──> to the oldest claim: W continues, and keeps its slot
//!                                                             for at least a ms
//! ```
//!
//! A queue that is neglected at one look is served by the next worker that comes back to its main loop. If none comes, the queue is
//! overdue. Claimants (threads in the middle of a job that lack a slot, and external threads) are overdue after a millisecond,
//! and wait in the same line.
//!
//! # Threads that block outside the pool
//!
//! A slot holder that blocks on a lock, or in a system call, comes to no cooperative point. The thread that would release the lock
//! may itself wait for a slot. So there is one rule: **if a slot's holder uses no processor time for [`STUCK`](crate::slots::STUCK), the oldest overdue
//! thread takes the slot over.** (Go's monitor takes a processor from a blocked system call in the same way.)
//!
//! | who takes over | when | what it does with the slot |
//! |---|---|---|
//! | a claimant: after `block_on`, a scope or a given turn, or an external thread | it is the oldest overdue thread | continues with its job |
//! | the watcher | a queue is neglected, and the watcher is the oldest overdue thread | runs queued jobs for a turn |
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
//!    [watchdog] looks first, and starts a spare thread when a queue is overdue. While the former watcher runs
//!    queued jobs, the watchdog looks too, because one of these jobs may block. Pools that may start no more threads have no turns;
//!    their workers look at overdue queues between jobs.
//! 2. *At most n.* A worker that gives its slot is blocked before the other thread gets the slot. Exceptions: a slot that was taken
//!    over, from the moment at which the former holder no longer blocks until its next cooperative point; and one loan.
//! 3. *Work conservation.* A worker that gives its slot may have jobs in its deques, which thieves cannot see. It claims a
//!    slot at once, and as long as there are claims no slot is free and searching workers release theirs. So either every
//!    slot is used, or the jobs are visible again.
//! 4. *No deadlock by a lock.* A thread that waits for a slot gets one, even if all holders block on a lock that this thread holds:
//!    their slots are taken over. A worker may keep its slot while it waits although no other thread could run the awaited job.
//!    Then it runs the queued jobs of its scope itself, or else any queued job ([`NextJobs::Queued`](super::NextJobs::Queued)).
//! 5. *A holder is stuck* if its thread sleeps in the system and uses no processor time for [`STUCK`](crate::slots::STUCK): see invariant 2 of
//!    `slots/overdue.rs`.
//! 6. *Both make progress.* A worker that has got a slot back keeps it for a [`TURN`]. A turn takes no longer than a `TURN` and the
//!    rest of the task that runs at its end. So with n > 1 slots, woken tasks get at most one slot's time from busy workers. With one
//!    slot, they get about a fifth of it, because a queue is overdue after [`PATIENCE`] looks.
//!
//! # Long leaves
//!
//! A leaf that neither forks nor has steps has no cooperative points: a `for_each` over many items, a sort's leaf, foreign code. If no
//! holder gives its slot to the watcher, and one of them has used [some milliseconds](crate::slots) of processor time since, the watcher
//! *borrows* that one's slot: it runs woken tasks for a turn, and gives the slot back. The lender runs on meanwhile, without a slot. So for
//! this turn, and the rest of the task that runs at its end, one thread more than the pool has slots runs jobs. There is one loan at a
//! time, and none for jobs from outside.

use super::watchdog::{self, Watched};
use super::{Locked, Registry};
use crate::engine::worker::Worker;
use crate::slots::WorkerState;
use crate::sync::clock::Instant;
use crate::trace::{self, Kind};
use std::sync::MutexGuard;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

/// The time between two looks at the queues; how long a thread waits before it is overdue; how long queued jobs may run in a slot given
/// by a busy worker; and how long a worker keeps a slot that it has got back.
pub(super) const TURN: Duration = Duration::from_millis(1);

/// Number of looks at a neglected queue, a [`TURN`] apart, after which busy workers give it a slot.
///
/// To give a slot and to get it back costs some 0.1 ms: the system may have to move a thread to the core that becomes idle. So there
/// are milliseconds between two turns. Workers that come back to their main loops sooner serve the queue there, and no slot is given.
const PATIENCE: u32 = 4;

/// Number of looks at empty sets after which the watcher parks.
const QUIET: u32 = 10;

/// Slots.
impl Registry {
    /// A cooperative point: gives the calling worker's slot to an overdue thread, if there is one. Returns when the worker has a slot
    /// again, perhaps another one.
    pub(crate) fn give_turn(&self, worker: &Worker) {
        if self.slots.hints.is_slot_wanted() || !self.holds_slot(worker) {
            self.give_slot(worker);
        }
    }

    #[cold]
    fn give_slot(&self, worker: &Worker) {
        let keeps = worker.turn.keeps_slot();
        // A forked child has no other thread of the pool.
        if self.is_inherited() || worker.slot().is_none() || keeps && self.holds_slot(worker) {
            return;
        }
        worker.charge();
        let mut slots = self.lock();
        slots.return_slot(worker);
        if slots.forget_lost(worker) {
            if slots.occupy_or_block(worker) {
                drop(slots);
                // A worker that ended its search in between has not seen the jobs that this worker has pushed without a slot.
                self.share(worker);
                return;
            }
        } else {
            let Some(next) = slots.give_turn(worker) else { return };
            worker.counters.slots_given.add();
            trace::record(Kind::Handover, 0);
            self.watch_on_turn(&mut slots, next);
        }
        drop(slots);
        self.wait_for_slot(worker);
        worker.skip_charge();
        worker.turn.keep_slot(TURN);
    }

    /// Waits until a worker that claims a slot has one.
    pub(super) fn wait_for_slot(&self, worker: &Worker) {
        let since = Instant::now();
        let mut looks = 0;
        loop {
            let mut slots = self.lock();
            if slots.state(worker) == WorkerState::Active {
                return;
            }
            if since.elapsed() >= TURN {
                looks += 1;
                slots.is_overdue(worker);
                if slots.try_take_over(worker) {
                    return;
                }
            }
            drop(slots);
            // Slot holders keep their slots for a turn. Holders with long leaves need not be poked as often.
            worker.parker.park_timeout(TURN * (1 + looks / 16).min(8));
        }
    }

    /// Has another thread take over the slot of a stuck holder and search, if jobs wait and all slots are held. Called by a worker that
    /// waits for a latch. If there is no other thread, returns the stuck holder's slot.
    pub(super) fn replace_stuck<'a>(&'a self, slots: &mut Locked<'a>) -> Option<usize> {
        if slots.is_terminating() || !self.slots.are_all_held() || !self.sees_work() {
            return None;
        }
        slots.look_at_holders();
        let slot = slots.find_stuck()?;
        let Some(other) = slots.last_parked().or_else(|| self.start_thread(slots)) else { return Some(slot) };
        slots.take_slot_over(other, slot);
        None
    }
}

/// The watcher.
impl Registry {
    /// Has queued jobs watched, if that is needed (invariant 1). The caller has passed a full fence since it queued a job, or since it
    /// ended its search.
    #[inline]
    pub(super) fn watch_if_needed(&self) {
        if self.slots.searching.needs_watcher() && self.is_queued() {
            self.watch(&mut self.lock());
        }
    }

    /// As [`watch_if_needed`](Self::watch_if_needed), with the lock held.
    pub(super) fn watch(&self, slots: &mut Locked<'_>) {
        let is_needed = self.slots.searching.needs_watcher() && self.is_queued();
        if is_needed && !slots.is_terminating() && !self.is_inherited() {
            // Looks of a watch that has ended say nothing. (A watcher that the watchdog has called goes on where the watchdog was.)
            *self.seen() = Seen::default();
            if !slots.watch_by_parked() {
                self.set_watchdog(slots);
            }
        }
    }

    /// Has the watchdog look at the queues, until a worker watches.
    fn set_watchdog(&self, slots: &mut Locked<'_>) {
        // Relaxed: see `end_watch`.
        self.had_watchdog.store(true, Relaxed);
        slots.has_watchdog = slots.has_watchdog || watchdog::watch(&self.this());
        self.slots.searching.set_watched(slots.has_watchdog);
    }

    /// Has the watchdog watch while the watcher is on turn, because one of the jobs that it runs may block.
    fn watch_on_turn(&self, slots: &mut Locked<'_>, worker: &Worker) {
        if slots.is_on_turn(worker) {
            self.set_watchdog(slots);
        }
    }

    /// Waits until the watchdog does not watch the pool any more, which has ended.
    pub(super) fn end_watch(&self) {
        // Relaxed: the threads that have set it have been joined.
        if self.had_watchdog.load(Relaxed) {
            watchdog::forget();
        }
    }

    /// Looks at the queues on the watchdog's behalf. Returns whether the watchdog has to look again.
    pub(super) fn look_after(&self, watched: &mut Watched) -> bool {
        if self.is_inherited() {
            return false;
        }
        let mut slots = self.lock();
        if slots.is_terminating() || slots.has_watcher() {
            slots.has_watchdog = false;
            return false;
        }
        let neglect = self.look_at_queues();
        // If no thread can be started, workers look at the queues between jobs.
        if neglect == Some(Neglect::ByAll) && self.watch_by_any(&mut slots) {
            slots.has_watchdog = false;
            return false;
        }
        watched.quiet = if self.is_queued() { 0 } else { watched.quiet + 1 };
        if watched.quiet <= QUIET {
            return true;
        }
        slots.has_watchdog = false;
        self.slots.searching.set_watched(false);
        if !self.slots.searching.may_sleep(|| self.is_queued()) {
            self.watch(&mut slots);
        }
        false
    }

    /// Has a parked worker or a new thread watch. Returns `false` if there is none.
    fn watch_by_any<'a>(&'a self, slots: &mut Locked<'a>) -> bool {
        slots.watch_by_parked() || self.start_thread(slots).map(|worker| slots.begin_watch(worker)).is_some()
    }

    /// Watches until the worker's state is another one than `Watching`, or the pool ends.
    pub(super) fn keep_watch<'a>(&'a self, mut slots: Locked<'a>, worker: &Worker) -> Locked<'a> {
        let mut quiet = 0;
        while slots.state(worker) == WorkerState::Watching && !slots.is_terminating() {
            drop(slots);
            worker.parker.park_timeout(TURN);
            slots = self.lock();
            if slots.state(worker) == WorkerState::Watching {
                if self.look_at_queues() == Some(Neglect::ByAll) {
                    slots.is_overdue(worker);
                    if slots.try_take_over(worker) || self.has_queued_tasks() && slots.lend(worker) {
                        self.watch_on_turn(&mut slots, worker);
                    }
                } else {
                    slots.is_not_overdue(worker.number());
                }
                quiet = if self.is_queued() { 0 } else { quiet + 1 };
                if quiet > QUIET && slots.state(worker) == WorkerState::Watching {
                    self.stop_watching(&mut slots, worker);
                }
            }
            if slots.is_on_turn(worker) {
                let is_lent = slots.is_lent(worker);
                drop(slots);
                self.run_queued(worker, is_lent);
                slots = self.lock();
                if slots.end_turn(worker, !worker.broadcasts.is_empty()) {
                    return slots;
                }
                *self.seen() = Seen::default();
                quiet = 0;
            }
        }
        if slots.state(worker) == WorkerState::Watching {
            slots.watch_is_over();
        }
        slots
    }

    /// Parks the watcher, unless a job is queued at this moment.
    fn stop_watching(&self, slots: &mut Locked<'_>, worker: &Worker) {
        slots.watch_is_over();
        slots.park(worker);
        if !self.slots.searching.may_sleep(|| self.is_queued()) {
            // `watch` wakes the worker that was parked last, so it makes this worker the watcher again, or none is needed.
            self.watch(slots);
        }
    }

    /// Runs queued jobs in a slot that was given for them, for a turn at most. In a lent slot, runs tasks and urgent jobs only.
    fn run_queued(&self, worker: &Worker, is_lent: bool) {
        let since = Instant::now();
        let find = || {
            if is_lent {
                worker.find_fair_task()
            } else {
                worker.find_broadcast().or_else(|| worker.find_fair())
            }
        };
        while let Some(job) = find() {
            worker.counters.turns.add();
            // SAFETY: just taken from a queue; there is no frame below.
            unsafe { worker.execute_detachable(job) };
            if !self.holds_slot(worker) || since.elapsed() >= TURN {
                break;
            }
        }
        worker.drain();
    }

    /// Returns how neglected the queues are, and tells the workers. A queue is neglected if it has had jobs since the last look and no
    /// worker has taken one.
    fn look_at_queues(&self) -> Option<Neglect> {
        let (now, mut seen) = (Instant::now(), self.seen());
        // If the caller was woken before the turn was over, a look says nothing.
        if seen.at.is_none_or(|at| now - at >= TURN / 2) {
            seen.at = Some(now);
            seen.neglect = self.look_anew(&mut seen);
        }
        self.slots.hints.set_neglected(seen.neglect.is_some());
        seen.neglect
    }

    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().expect("nobody panics with this lock")
    }

    /// As [`look_at_queues`](Self::look_at_queues), a turn or more after the last look.
    fn look_anew(&self, seen: &mut Seen) -> Option<Neglect> {
        let workers = || (0..).map_while(|number| self.worker(number)).map(|worker| &worker.counters);
        let injected =
            (!self.injector.is_empty()).then(|| workers().map(|counters| counters.injected.get()).sum());
        let before = std::mem::replace(&mut seen.injected, injected);
        let are_tasks_neglected = self.stealable.is_neglected(&mut seen.sets);
        // A worker takes urgent jobs before any others. So an urgent job that is queued at a look has been neglected.
        let is_neglected =
            are_tasks_neglected || (injected.is_some() && injected == before) || !self.urgent.is_empty();
        let jobs = workers().map(|counters| counters.jobs.get()).sum();
        let are_all_busy = std::mem::replace(&mut seen.jobs, jobs) == jobs;
        seen.looks = if is_neglected && are_all_busy { seen.looks + 1 } else { 0 };
        is_neglected.then_some(if seen.looks >= PATIENCE { Neglect::ByAll } else { Neglect::OfQueue })
    }
}

/// How neglected a queue is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Neglect {
    /// No worker has taken a job of the queue since the last look. Workers look into the queue between two jobs of their own.
    OfQueue,
    /// The same holds for [`PATIENCE`] looks, and no worker has begun a job in its main loop meanwhile.
    ByAll,
}

/// The queues at the watcher's last look.
#[derive(Default)]
pub(super) struct Seen {
    /// State of the sets of woken tasks, written by [`Stealable::is_neglected`](crate::engine::queues::stealable::Stealable::is_neglected).
    sets: Vec<Option<usize>>,
    /// Number of jobs that workers had taken from the injector; `None` if the injector was empty.
    injected: Option<u64>,
    /// Number of jobs that workers had begun in their main loops.
    jobs: u64,
    /// Time of the last look.
    at: Option<Instant>,
    /// Result of the last look.
    neglect: Option<Neglect>,
    /// Number of looks in a row at which a queue had been neglected, and no main loop had begun a job since the look before.
    looks: u32,
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::engine::registry::Setup;
    use crate::engine::worker::{Current, HeapJob, JobRef};
    use std::ptr;

    /// A worker on turn has lost its slot, and has a broadcast job. It searches in the free slot, rather than claim one.
    #[test]
    fn a_worker_on_turn_that_has_lost_its_slot_takes_a_free_one_for_a_broadcast_job() {
        let registry = Registry::new(1, Setup::default());
        let worker = registry.worker(0).unwrap();
        // SAFETY: the registry outlives the value, and this thread alone is the worker.
        let _current = unsafe { Current::enter(worker) };
        for _ in 0..2 {
            // SAFETY: the closure borrows nothing. The first job runs in the worker's turn, and the second one below.
            let job = unsafe { HeapJob::queueable(0, |_: &Worker| ()) };
            worker.broadcasts.push(JobRef::new(job, ptr::null()));
        }
        let mut slots = registry.lock();
        slots.begin_on_turn(worker);
        let slots = registry.keep_watch(slots, worker);
        assert_eq!((worker.slot(), slots.has_claims()), (Some(0), false));
        drop(slots);
        let job = worker.find_broadcast().expect("the second one");
        // SAFETY: just taken from a queue.
        unsafe { worker.execute_detachable(job) };
    }
}
