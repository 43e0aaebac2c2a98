//! Workers that wait for something, with or without their slots, and how they get slots again.

use super::{Locked, Registry};
use crate::engine::settings::{Saturation, SaturationCause};
use crate::engine::worker::{LONG_SLEEP, SHORT_SLEEP, Wait, WaitRule, Worker};
use crate::slots::{STUCK, WorkerState};
use crate::sync::clock::Instant;
use crate::sync::latch::Latch;
use crate::sync::machine::{atomic::Ordering::Relaxed, thread};
use crate::trace::{self, Kind};
use std::mem;
use std::time::Duration;

/// The jobs that a waiting worker looks for next, if the wait is not over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NextJobs {
    /// The jobs that the worker's wait rule allows.
    Usual,
    /// The jobs that `find_as_last` (`worker/wait.rs`) allows: every slot holder waits, and no worker searches or can be woken to
    /// search.
    Anything,
    /// Jobs of the awaited scope, if there is one, from every queue and deque; if there are none, any queued job. Every other slot
    /// holder is stuck or waits, and no other thread can take a slot over.
    Queued,
}

/// State of a wait, from one block to the next.
#[derive(Default)]
pub(crate) struct Waited {
    /// Time at which the worker first found no job since the wait began or its last job ended.
    pub(crate) idle: Option<Instant>,
    /// Whether the worker was the last one to wait when it last blocked without finding a job.
    was_last: bool,
    /// Whether this wait has been counted as one that keeps its slot [for want of threads](Registry::saturation).
    is_saturated: bool,
}

impl Waited {
    /// Notes that the worker has run a job.
    pub(crate) fn has_run_job(&mut self) {
        (self.idle, self.was_last) = (None, false);
    }
}

impl Registry {
    /// Blocks a worker once, and returns the jobs that the worker must look for next. The caller repeats the call until the latch is
    /// set.
    ///
    /// If [`gives_slot`](Self::gives_slot) says so, the worker first releases its slot. For a worker without a slot, this function
    /// returns when the worker holds one again. If the worker keeps its slot, this function returns after one timed sleep at the
    /// latest. If the latch is set already, or a broadcast job waits for a worker that has a slot, the worker does not block.
    ///
    /// `waited` is the same value in all calls of a wait. The caller sets `idle` after the first one in vain.
    pub(crate) fn block(&self, worker: &Worker, latch: &Latch, wait: Wait, waited: &mut Waited) -> NextJobs {
        self.check_wait();
        worker.awake_ahead.store(false, Relaxed);
        let has_slot = worker.slot().is_some();
        let keeps_slot = |slots: &Locked<'_>| has_slot && !self.gives_slot(slots, worker, wait);
        let mut slots = self.lock();
        if !keeps_slot(&slots) {
            if worker.has_spawned() {
                drop(slots);
                worker.drain();
                slots = self.lock();
            } else {
                // Forks only, which stay here.
                worker.drain();
            }
        } else if waited.idle.is_none() && wait.rule == WaitRule::Descendants && wait.scope.is_none() {
            drop(slots);
            // For the attendant. (A worker that waits for a scope runs or requeues its jobs itself.)
            worker.give_tasks_away();
            slots = self.lock();
        }
        if !worker.broadcasts.is_empty() && has_slot || !latch.will_wait() {
            return NextJobs::Usual;
        }
        if keeps_slot(&slots) {
            return self.wait_in_slot(slots, worker, latch, wait, waited);
        }
        slots.block(worker, wait.for_others, !worker.broadcasts.is_empty());
        let claims = slots.claims(worker);
        drop(slots);
        if has_slot {
            worker.counters.handovers.add();
            trace::record(Kind::Handover, 0);
        }
        self.final_check(worker);
        if claims {
            self.wait_for_slot(worker, false);
        } else {
            self.sleep_blocked(worker);
            // Also if the slot was there before this thread was awake.
            worker.turn.keep_slot();
        }
        if wait.for_others {
            self.lock().end_block_for_others(worker);
        }
        NextJobs::Usual
    }

    /// Sleeps for a short time in the worker's slot, or longer if no slot holder runs a job. See [`block`](Self::block).
    fn wait_in_slot<'a>(
        &'a self,
        mut slots: Locked<'a>,
        worker: &Worker,
        latch: &Latch,
        wait: Wait,
        waited: &mut Waited,
    ) -> NextJobs {
        let idle_for = waited.idle.map(|since| since.elapsed());
        slots.wait(worker, wait.for_others);
        let next = if slots.all_wait(wait.for_others) {
            NextJobs::Anything
        } else if idle_for.is_some_and(|idle_for| idle_for >= STUCK) {
            // If no other thread can take over the stuck holder's slot, the holder keeps it: this worker has a slot of its own.
            self.replace_stuck(&mut slots);
            let may_run_queued = wait.future || wait.scope.is_some();
            if may_run_queued && self.others_are_stuck(&mut slots) {
                NextJobs::Queued
            } else {
                NextJobs::Usual
            }
        } else {
            NextJobs::Usual
        };
        // Also at a later look: each sleep of this worker lets the others see that not all wait.
        let may_be_last = next != NextJobs::Anything && (idle_for.is_none() || self.is_queued());
        if may_be_last && slots.all_wait(true) {
            slots.wake_waiting_for_others();
        }
        // If no slot holder runs a job, no new fork can appear. A newly queued job ends the long sleep.
        let long = idle_for.filter(|&idle_for| idle_for > SHORT_SLEEP && slots.all_holders_wait());
        if long.is_some() {
            slots.begin_long_sleep();
        }
        drop(slots);
        // A worker that gets `Anything` for the first time does not sleep: it looks for a job at once.
        let was_last = mem::replace(&mut waited.was_last, next == NextJobs::Anything);
        if was_last || !waited.was_last {
            let long = long.filter(|_| self.slots.searching.may_sleep(|| self.is_queued()));
            worker.parker.park_timeout(long.map_or(SHORT_SLEEP, |idle_for| idle_for.min(LONG_SLEEP)));
        }
        let mut slots = self.lock();
        if long.is_some() {
            slots.end_long_sleep();
        }
        slots.end_wait(worker, wait.for_others);
        // Saturation is checked after the sleep: a job may be queued during the sleep, and this worker may then run that job.
        let is_new = !waited.is_saturated && !latch.is_set() && self.sees_work();
        let saturation =
            is_new.then(|| self.saturation(&slots, worker, wait, next != NextJobs::Usual)).flatten();
        drop(slots);
        self.note_saturation(worker, saturation, waited);
        next
    }

    /// Whether a waiting worker releases its slot. The worker does so if there is a claim. It also does so if another thread could use
    /// the slot, and the wait rule is `Descendants` or the worker is an external thread.
    fn gives_slot(&self, slots: &Locked<'_>, worker: &Worker, wait: Wait) -> bool {
        let by_rule = wait.rule == WaitRule::Descendants || worker.is_external();
        slots.has_claims() || by_rule && self.could_be_relieved(slots, worker)
    }

    /// Whether a worker would release its slot if it waited now.
    pub(crate) fn would_give_slot(&self, worker: &Worker, wait: Wait) -> bool {
        self.gives_slot(&self.lock(), worker, wait)
    }

    /// Whether this worker, if it waited in its slot now, would have to run queued jobs itself: see [`Locked::all_wait`].
    pub(crate) fn is_alone(&self, worker: &Worker, wait: Wait) -> bool {
        let mut slots = self.lock();
        slots.wait(worker, wait.for_others);
        let alone = slots.all_wait(wait.for_others);
        slots.end_wait(worker, wait.for_others);
        alone
    }

    /// Notes that a waiting worker is about to run a job because no further thread stands in for it. Counts and reports the
    /// [saturation](Self::saturation), unless [`block`](Self::block) has done so for this wait: the job may have been queued after
    /// `block` looked.
    pub(crate) fn note_job_of_last(&self, worker: &Worker, wait: Wait, waited: &mut Waited) {
        if !waited.is_saturated {
            let saturation = self.saturation(&self.lock(), worker, wait, true);
            self.note_saturation(worker, saturation, waited);
        }
    }

    /// Counts and reports a saturation, if there is one. Called without the slot lock, because the report runs the user's handler.
    fn note_saturation(&self, worker: &Worker, saturation: Option<Saturation>, waited: &mut Waited) {
        if let Some(saturation) = saturation {
            waited.is_saturated = true;
            worker.counters.saturated.add();
            self.report_saturation(&saturation);
        }
    }

    /// Returns the reason why no further thread stands in for a worker that waits in its slot while there are jobs. Returns `None` if
    /// the wait rule lets the worker run them, or if the pool ends.
    ///
    /// `is_last` says that every other slot holder waits or is stuck. In a pool without spare threads, its own threads keep their slots
    /// while they wait, unless there is a claim. There the result is `None` unless `is_last`, because another slot holder will run the
    /// queued jobs.
    fn saturation(
        &self,
        slots: &Locked<'_>,
        worker: &Worker,
        wait: Wait,
        is_last: bool,
    ) -> Option<Saturation> {
        let runs_any = wait.rule == WaitRule::Any && !worker.is_external();
        let cause = match (&self.setup.spares, self.setup.wait_rule) {
            (Some(_), _) if slots.threads.refused => SaturationCause::Refused,
            (Some(_), _) => SaturationCause::BoundReached,
            (None, WaitRule::Leapfrog | WaitRule::RandomLeapfrog) => SaturationCause::Leapfrog,
            (None, _) => SaturationCause::SpawnHandler,
        };
        let lacks_thread = !slots.is_terminating() && !runs_any && (is_last || self.setup.spares.is_some());
        lacks_thread.then(|| Saturation {
            num_threads: self.num_threads(),
            blocking_threads: slots.threads.next - self.num_threads(),
            cause,
        })
    }

    /// Whether the [bound on threads](crate::ThreadPoolBuilder::max_blocking_threads) can be raised: the pool may have spare threads,
    /// the system has refused none, and the table of workers has room.
    pub(crate) fn may_start_more(&self) -> bool {
        let slots = self.lock();
        self.setup.spares.is_some() && !slots.threads.refused && slots.threads.end < self.attendant()
    }

    /// If the bound on threads is reached, may [raise](crate::slots::ThreadBounds::raise) it by one, as long as the table of workers has
    /// room. Called when waiting threads keep all slots while there are jobs, by a worker that has waited for the time `waited`. Within
    /// such a time, the bound is raised once for each slot.
    pub(crate) fn allow_one_more(&self, waited: Duration) {
        self.lock().threads.raise(self.attendant(), waited / self.num_threads() as u32);
    }

    /// Whether a thread exists, or could be started, that would use this worker's slot.
    fn could_be_relieved(&self, slots: &Locked<'_>, worker: &Worker) -> bool {
        let may_start = self.setup.spares.is_some() && slots.threads.has_room();
        // Without spare threads there are as many own threads as slots. So a parked own thread lacks a slot only if an external thread
        // holds it, or if the slot is withheld (`slots/tokens.rs`). The parked thread then needs that slot, not the slot of another own thread.
        let others = self.setup.spares.is_some() || worker.is_external();
        !slots.is_terminating()
            && (may_start || others && slots.has_spare_worker() || self.could_attend(slots))
    }

    /// Whether this worker, which waits in its slot, is the only one left that can run queued jobs: all other slot holders wait too or
    /// are stuck, and no thread can take a slot over.
    fn others_are_stuck(&self, slots: &mut Locked<'_>) -> bool {
        let may_start = self.setup.spares.is_some() && slots.threads.has_room();
        if may_start || slots.last_parked().is_some() || !self.slots.are_all_held() || slots.has_watcher() {
            return false;
        }
        slots.all_holders_wait_or_are_stuck()
    }

    /// Sleeps until this worker, which has no slot and claims none, is given one.
    ///
    /// While the worker waits for a latch, it looks now and then for jobs that no thread can run because all slots are held, one of
    /// them by a stuck thread. Then another thread takes the stuck thread's slot over. If there is no other thread, this worker does.
    fn sleep_blocked(&self, worker: &Worker) {
        const LONGEST_LOOK: Duration = Duration::from_millis(250);
        let since = Instant::now();
        let mut time = STUCK;
        loop {
            let is_woken = worker.parker.park_timeout(time);
            // A worker that was given a slot needs no lock to see it: its slot's holder is stored last. (A token may stay behind; it costs one look.)
            if is_woken && self.waits_awake(worker) || self.holds_slot(worker) {
                return;
            }
            let mut slots = self.lock();
            if slots.state(worker) == WorkerState::Active {
                return;
            }
            if slots.claims(worker) {
                drop(slots);
                return self.wait_for_slot(worker, false);
            }
            if since.elapsed() >= STUCK {
                if let Some(slot) = self.replace_stuck(&mut slots) {
                    return slots.take_slot_over(worker, slot);
                }
            }
            drop(slots);
            time = (since.elapsed() / 8).clamp(STUCK, LONGEST_LOOK);
        }
    }

    /// If a blocked worker was woken [ahead](Locked::resume) of its latch, spins for a short time until it is given a slot. Returns whether it was.
    fn waits_awake(&self, worker: &Worker) -> bool {
        const TIME: Duration = Duration::from_micros(100);
        let since = Instant::now();
        while worker.awake_ahead.load(Relaxed) && since.elapsed() < TIME {
            if self.holds_slot(worker) {
                return true;
            }
            thread::yield_now();
        }
        false
    }

    /// Resumes the waiter of a latch that was just set. A waiter without a slot gets a free slot. If none is free, the waiter gets the
    /// slot of `setter`, the worker that has set the latch, if `setter` holds a slot of this pool. `setter` then goes to the shelf, if
    /// it has jobs, and continues without a slot until it [regains](Self::regain_slot) one. Otherwise the waiter claims a slot.
    pub(crate) fn resume(&self, waiter: &Worker, setter: Option<&Worker>) {
        let setter = setter.filter(|setter| setter.holds_slot_in(self));
        if let Some(setter) = setter {
            setter.drain();
        }
        self.lock().resume(waiter, setter);
    }

    /// Wakes a sleeping worker to run its broadcast jobs.
    pub(crate) fn call(&self, worker: &Worker) {
        self.lock().call(worker);
    }

    /// Gives a slot to a worker in the middle of a job, if the worker has no slot index: see [`occupy_slot`](Self::occupy_slot). A
    /// worker whose slot was taken over keeps its index, and is not handled here.
    pub(crate) fn regain_slot(&self, worker: &Worker) {
        if worker.slot().is_none() {
            self.occupy_slot(worker);
        }
    }

    /// Gives a slot to a worker that has none. If no slot is free, the worker claims one, and blocks until it is given one or takes over
    /// the slot of a stuck holder.
    pub(crate) fn occupy_slot(&self, worker: &Worker) {
        self.occupy_slot_spinning(worker, 0);
    }

    /// As [`occupy_slot`](Self::occupy_slot), but checks `looks` times in a spin loop whether the worker's claim was served, before the
    /// worker blocks.
    fn occupy_slot_spinning(&self, worker: &Worker, looks: u32) {
        if self.lock().occupy_or_block(worker) {
            return;
        }
        for _ in 0..looks {
            if worker.slot().is_some() {
                break;
            }
            crate::sync::machine::hint::spin_loop();
        }
        self.wait_for_slot(worker, false);
    }

    /// Makes a new worker active in a slot, and not searching. Before the call, a new worker counts as parked or watching, or has been
    /// given a slot to search.
    pub(super) fn begin_active(&self, worker: &Worker) {
        let is_new = self.lock().begin_active(worker);
        if is_new { self.occupy_slot(worker) } else { self.end_search(worker) }
    }

    /// As [`occupy_slot`](Self::occupy_slot), but spins for a while before it blocks, because searching workers release their slots at
    /// once.
    pub(crate) fn occupy_slot_soon(&self, worker: &Worker) {
        const LOOKS: u32 = 400;
        self.occupy_slot_spinning(worker, LOOKS);
    }

    /// Releases a worker's slot, so that another worker can use it. Until the worker has a slot again, its thread must run no jobs. Does
    /// nothing if the worker has no slot index.
    pub(crate) fn release_slot(&self, worker: &Worker) {
        if worker.slot().is_none() {
            return;
        }
        worker.drain();
        self.lock().release(worker);
        self.final_check(worker);
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::engine::registry::Setup;
    use crate::engine::worker::{Header, JobRef};
    use crate::slots::Priority;
    use std::ptr::{self, NonNull};
    use std::sync::mpsc;

    const WAIT: Wait = Wait { rule: WaitRule::Descendants, for_others: true, future: false, scope: None };

    /// A worker may have lost its slot before its broadcast job was queued. It gets a slot for the job, though its latch is not set.
    #[test]
    fn a_worker_without_a_slot_gets_one_for_a_broadcast_job() {
        let (send, receive) = mpsc::channel();
        // A thread of its own, so that a worker that sleeps for ever fails the test.
        std::thread::spawn(move || {
            let registry = Registry::new(1, Setup::default());
            let worker = registry.worker(0).unwrap();
            worker.broadcasts.push(JobRef::new(NonNull::<Header>::dangling(), ptr::null()));
            let next = registry.block(worker, &Latch::new(), WAIT, &mut Waited::default());
            // The job would be run next.
            send.send((next, worker.slot(), worker.find_broadcast().is_some())).unwrap();
        });
        let outcome = receive.recv_timeout(Duration::from_secs(10));
        assert_eq!(outcome, Ok((NextJobs::Usual, Some(0), true)));
    }

    /// A waiter that is not woken would sleep to the end of its timed wait, of up to 10 ms.
    #[test]
    fn a_worker_that_waits_in_its_slot_is_woken() {
        let registry = Registry::new(1, Setup::default());
        let worker = registry.worker(0).unwrap();
        registry.lock().wait(worker, false);
        registry.resume(worker, None);
        assert!(worker.parker.park_timeout(Duration::ZERO));
    }

    /// As above, for a broadcast job.
    #[test]
    fn a_worker_that_waits_in_its_slot_is_woken_for_a_broadcast_job() {
        let registry = Registry::new(1, Setup::default());
        let worker = registry.worker(0).unwrap();
        registry.lock().wait(worker, false);
        registry.call(worker);
        assert!(worker.parker.park_timeout(Duration::ZERO));
    }

    /// As above, for a thread that claims a slot.
    #[test]
    fn a_worker_that_waits_in_its_slot_is_woken_by_a_claim() {
        let registry = Registry::new(2, Setup::default());
        let [worker, claimant] = [0, 1].map(|number| registry.worker(number).unwrap());
        registry.begin_active(worker);
        let mut slots = registry.lock();
        slots.wait(worker, false);
        slots.claim(claimant);
        drop(slots);
        assert!(worker.parker.park_timeout(Duration::ZERO));
    }

    /// Claims are served by rank, and by age within a rank.
    #[test]
    fn an_urgent_claim_is_served_before_an_older_one() {
        let registry = Registry::new(4, Setup::default());
        let [holder, normal, urgent, later] = [0, 1, 2, 3].map(|number| registry.worker(number).unwrap());
        registry.begin_active(holder);
        let mut slots = registry.lock();
        slots.claim(normal);
        for worker in [urgent, later] {
            slots.raise(worker, Priority::Urgent);
            slots.claim(worker);
        }
        for (from, to) in [(holder, urgent), (urgent, later), (later, normal)] {
            slots.release(from);
            assert_eq!((from.slot(), to.slot()), (None, Some(0)));
        }
    }

    /// A worker that waits for others runs queued jobs if all wait. If the last one to wait did not wake it, it would look after 0.2 ms.
    #[test]
    fn the_last_to_wait_wakes_one_that_waits_for_others() {
        let registry = Registry::new(2, Setup { spares: None, ..Setup::default() });
        let [first, last] = [0, 1].map(|number| registry.worker(number).unwrap());
        for worker in [first, last] {
            registry.begin_active(worker);
        }
        registry.lock().wait(first, true);
        let wait = Wait { rule: WaitRule::Leapfrog, for_others: false, ..WAIT };
        let next = registry.block(last, &Latch::new(), wait, &mut Waited::default());
        assert_eq!(next, NextJobs::Usual);
        assert!(first.parker.park_timeout(Duration::ZERO));
        // At a later look it does so if a job is queued.
        let look = || {
            let mut waited = Waited { idle: Some(Instant::now()), ..Waited::default() };
            assert_eq!(registry.block(last, &Latch::new(), wait, &mut waited), NextJobs::Usual);
            first.parker.park_timeout(Duration::ZERO)
        };
        assert!(!look());
        registry.injector.push(JobRef::new(NonNull::<Header>::dangling(), ptr::null()));
        assert!(look());
        assert!(registry.injector.steal().is_success(), "the job runs in no test");
    }

    /// A worker that stayed on the shelf would count as work without an end: searching workers would not sleep.
    #[test]
    fn a_worker_that_gets_a_slot_leaves_the_shelf() {
        let registry = Registry::new(1, Setup::default());
        let worker = registry.worker(0).unwrap();
        registry.begin_active(worker);
        // SAFETY: this thread alone is the worker. The job is popped below, and no other thread looks for jobs.
        let fork = unsafe { worker.push_fork(NonNull::dangling()) };
        registry.release_slot(worker);
        assert!(registry.slots.has_shelved());
        registry.occupy_slot(worker);
        assert!(!registry.slots.has_shelved());
        // SAFETY: as above.
        assert!(unsafe { worker.pop_fork(fork, NonNull::dangling()) });
    }
}
