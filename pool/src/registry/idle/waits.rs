//! Workers that wait for something, with or without their slots, and how they get slots again.

use super::{Idle, Registry, STUCK, WorkerState};
use crate::latch::Latch;
use crate::saturation::{Saturation, SaturationCause};
use crate::worker::{LONG_SLEEP, SHORT_SLEEP, Wait, WaitRule, Worker};
use std::time::{Duration, Instant};

/// The jobs that a waiting worker looks for next, if the wait is not over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// The jobs that the worker's wait rule allows.
    Usual,
    /// Any job: this worker is the only one left that can run jobs.
    Anything,
    /// Jobs of the awaited scope from every queue and deque; if there are none, any queued job. All other slots are held by stuck
    /// threads, and no thread can take a slot over.
    Queued,
}

impl Registry {
    /// Blocks a worker until a latch is set or the worker is needed. Returns the jobs that the worker shall look for then.
    ///
    /// If the wait rule says so and another thread could use the slot, the worker releases its slot first.
    ///
    /// `idle_for` is the time for which the worker has found no job; `None` before the first look. `is_saturated` says whether this
    /// wait has been counted as one that keeps its slot [for want of threads](Self::saturation). The caller passes `false` at first;
    /// this function sets it.
    pub(crate) fn block(
        &self,
        worker: &Worker,
        latch: &Latch,
        wait: Wait,
        idle_for: Option<Duration>,
        is_saturated: &mut bool,
    ) -> Next {
        self.check_wait();
        let has_slot = worker.slot().is_some();
        let keeps_slot = |idle: &Idle| has_slot && !self.gives_slot(idle, worker, wait);
        let mut has_drained = false;
        let mut idle = loop {
            let idle = self.lock();
            if has_drained || keeps_slot(&idle) {
                break idle;
            }
            drop(idle);
            worker.drain();
            has_drained = true;
        };
        if !worker.broadcasts.is_empty() && has_slot || !latch.will_wait() {
            return Next::Usual;
        }
        if keeps_slot(&idle) {
            *idle.state(worker) = WorkerState::Waiting;
            idle.for_others += usize::from(wait.for_others);
            let alone = self.all_wait(&mut idle, wait);
            let waits_long = !alone && idle_for.is_some_and(|idle_for| idle_for >= STUCK);
            let is_stuck = waits_long && {
                // If no other thread can take the stuck holder's slot over, it is left alone: this worker has a slot of its own.
                self.replace_stuck(&mut idle);
                (wait.future || wait.scope.is_some()) && self.others_are_stuck(&mut idle)
            };
            // If no slot holder runs a job, no new fork can appear. A newly queued job ends the long sleep.
            let sleeps_long =
                idle_for.is_some_and(|idle_for| idle_for > SHORT_SLEEP) && self.all_holders_wait(&mut idle);
            idle.long_sleepers += usize::from(sleeps_long);
            self.searching.set_long_sleepers(idle.long_sleepers);
            drop(idle);
            if !alone || idle_for.is_some() {
                let is_queued = || self.is_queued();
                let sleeps_long = sleeps_long && self.searching.may_sleep_long(is_queued);
                worker.parker.park_timeout(
                    idle_for.filter(|_| sleeps_long).map_or(SHORT_SLEEP, |idle_for| idle_for.min(LONG_SLEEP)),
                );
            }
            let mut idle = self.lock();
            idle.long_sleepers -= usize::from(sleeps_long);
            self.searching.set_long_sleepers(idle.long_sleepers);
            *idle.state(worker) = WorkerState::Active;
            idle.for_others -= usize::from(wait.for_others);
            // After the sleep, not before it: this worker may run the job that was queued meanwhile.
            let is_new = !*is_saturated && !latch.is_set() && self.sees_work();
            let saturation =
                is_new.then(|| self.saturation(&idle, worker, wait, alone || is_stuck)).flatten();
            drop(idle);
            self.note_saturation(worker, saturation, is_saturated);
            return if alone {
                Next::Anything
            } else if is_stuck {
                Next::Queued
            } else {
                Next::Usual
            };
        }
        *idle.state(worker) = WorkerState::Blocked;
        if wait.for_others {
            idle.blocked_for_others.push(worker.number());
        }
        if has_slot {
            worker.counters.handovers.add();
            self.release(&mut idle, worker);
            drop(idle);
            self.final_check(worker);
        } else {
            self.shelve(&mut idle, worker);
            if !worker.broadcasts.is_empty() {
                self.occupy_or_claim(&mut idle, worker);
            }
            drop(idle);
            self.final_check(worker);
        }
        self.sleep_blocked(worker);
        if wait.for_others {
            self.lock().blocked_for_others.retain(|&number| number != worker.number());
        }
        Next::Usual
    }

    /// Whether a waiting worker releases its slot. It does if a thread claims a slot, or if the wait rule says so and another thread
    /// could use the slot.
    fn gives_slot(&self, idle: &Idle, worker: &Worker, wait: Wait) -> bool {
        let by_rule = wait.rule == WaitRule::Descendants || worker.is_external();
        !idle.claims.is_empty() || by_rule && self.could_be_relieved(idle, worker)
    }

    /// Whether a worker would release its slot if it waited now.
    pub(crate) fn would_give_slot(&self, worker: &Worker, wait: Wait) -> bool {
        self.gives_slot(&self.lock(), worker, wait)
    }

    /// Whether this worker, if it waited now, would be the only one left that can run queued jobs.
    pub(crate) fn is_alone(&self, worker: &Worker, wait: Wait) -> bool {
        let mut idle = self.lock();
        *idle.state(worker) = WorkerState::Waiting;
        let alone = self.all_wait(&mut idle, wait);
        *idle.state(worker) = WorkerState::Active;
        alone
    }

    /// Notes that a waiting worker is about to run a job that another thread could run in its slot. Reports it, if this is the first
    /// one of the wait, and no report was made for queued jobs: the job may have been queued after [`block`](Self::block) has looked.
    pub(crate) fn note_job_of_last(&self, worker: &Worker, wait: Wait, is_saturated: &mut bool) {
        if !*is_saturated {
            let saturation = self.saturation(&self.lock(), worker, wait, true);
            self.note_saturation(worker, saturation, is_saturated);
        }
    }

    /// Counts and reports a saturation, if there is one. Called without the idle lock, because the report runs the user's handler.
    fn note_saturation(&self, worker: &Worker, saturation: Option<Saturation>, is_saturated: &mut bool) {
        if let Some(saturation) = saturation {
            *is_saturated = true;
            worker.counters.saturated.add();
            self.report_saturation(&saturation);
        }
    }

    /// Returns the reason why a worker waits in its slot although there are jobs that another thread could run there. Returns `None`
    /// if the wait rule lets the worker run them.
    ///
    /// `is_last` says that no other worker runs jobs. In a pool that starts no threads besides its own, all waits keep their slots.
    /// There the result is `None` as long as another worker runs jobs, because that worker will run the queued ones.
    fn saturation(&self, idle: &Idle, worker: &Worker, wait: Wait, is_last: bool) -> Option<Saturation> {
        let runs_any = wait.rule == WaitRule::Any && !worker.is_external();
        let cause = match (&self.setup.spares, self.setup.wait_rule) {
            (Some(_), _) if idle.refused => SaturationCause::Refused,
            (Some(_), _) => SaturationCause::BoundReached,
            (None, WaitRule::Leapfrog) => SaturationCause::Leapfrog,
            (None, _) => SaturationCause::SpawnHandler,
        };
        let lacks_thread = !idle.terminating && !runs_any && (is_last || self.setup.spares.is_some());
        lacks_thread.then(|| Saturation {
            num_threads: self.num_threads(),
            blocking_threads: idle.next_spare - self.num_threads(),
            cause,
        })
    }

    /// Whether the pool can start threads, beyond [the bound](crate::ThreadPoolBuilder::max_blocking_threads) too.
    pub(crate) fn may_start_more(&self) -> bool {
        let idle = self.lock();
        self.setup.spares.is_some() && !idle.refused && idle.max_threads < self.first_external
    }

    /// Raises the bound on threads by one. Called when waiting threads keep all slots while jobs are queued.
    pub(crate) fn allow_one_more(&self) {
        let mut idle = self.lock();
        if idle.next_spare == idle.max_threads && idle.max_threads < self.first_external {
            idle.max_threads += 1;
        }
    }

    /// Whether a thread exists, or could be started, that would use this worker's slot.
    fn could_be_relieved(&self, idle: &Idle, worker: &Worker) -> bool {
        let may_start = self.setup.spares.is_some() && idle.next_spare < idle.max_threads;
        // In a pool without spare threads each of the pool's own threads has a slot, unless an external thread holds it.
        let others = self.setup.spares.is_some() || worker.is_external();
        !idle.terminating
            && (may_start || others && (!idle.parked.is_empty() || idle.timed_searcher.is_some()))
    }

    /// Whether every slot holder waits and no worker can be woken to search. In that case a queued job that a waiting worker depends
    /// on would never run. Workers that wait for other threads (`for_others`) run the job first; the others only if there is no such
    /// worker.
    fn all_wait(&self, idle: &mut Idle, wait: Wait) -> bool {
        let none_wakes = idle.free.is_empty() || idle.parked.is_empty() && idle.timed_searcher.is_none();
        none_wakes
            && self.searching.no_searcher()
            && (wait.for_others || idle.for_others == 0)
            && self.all_holders_wait(idle)
    }

    /// Whether every slot holder waits.
    fn all_holders_wait(&self, idle: &mut Idle) -> bool {
        self.slot_holders().all(|holder| *idle.state(holder) == WorkerState::Waiting)
    }

    /// Wakes the long sleepers: they may need the job that has just been queued.
    #[cold]
    pub(in crate::registry) fn wake_long_sleepers(&self) {
        let mut idle = self.lock();
        let idle = &mut *idle;
        let long_sleepers = self
            .slot_holders()
            .filter(|holder| *idle.state(holder) == WorkerState::Waiting)
            .map(Worker::number);
        let long_sleepers: Vec<_> = long_sleepers.collect();
        idle.woken.extend(long_sleepers);
    }

    /// Whether this worker, which waits in its slot, is the only one left that can run queued jobs: all other slot holders wait too or
    /// are [stuck](super::turns), and no thread can take a slot over.
    fn others_are_stuck(&self, idle: &mut Idle) -> bool {
        let may_start = self.setup.spares.is_some() && idle.next_spare < idle.max_threads;
        if may_start
            || !idle.parked.is_empty()
            || !self.searching.no_searcher()
            || self.searching.free() > 0
            || idle.has_watcher()
        {
            return false;
        }
        self.look_at_holders(idle);
        self.slot_holders()
            .all(|holder| *idle.state(holder) == WorkerState::Waiting || self.is_stuck(idle, holder))
    }

    /// Sleeps until this worker, which has no slot, is given one.
    ///
    /// While the worker waits for a latch, it looks now and then for jobs that no thread can run because all slots are held, one of
    /// them by a stuck thread. Then another thread takes the stuck thread's slot over. If there is no other thread, this worker does.
    fn sleep_blocked(&self, worker: &Worker) {
        const LONGEST_LOOK: Duration = Duration::from_millis(250);
        let since = Instant::now();
        loop {
            let mut idle = self.lock();
            if *idle.state(worker) == WorkerState::Active {
                return;
            }
            if idle.claims.contains(&worker.number()) {
                drop(idle);
                return self.wait_for_slot(worker);
            }
            if since.elapsed() >= STUCK
                && let Some(slot) = self.replace_stuck(&mut idle)
            {
                self.take_slot_over(&mut idle, worker, slot);
                return;
            }
            drop(idle);
            worker.parker.park_timeout((since.elapsed() / 8).clamp(STUCK, LONGEST_LOOK));
        }
    }

    /// Resumes the waiter of a latch that was just set. A waiter without a slot gets a free slot. If none is free, it gets the slot of
    /// `setter`, the worker that has set the latch, if that worker belongs to this pool. Otherwise the waiter claims a slot.
    pub(crate) fn resume(&self, waiter: &Worker, setter: Option<&Worker>) {
        let setter = setter.filter(|setter| std::ptr::eq(setter.registry(), self) && self.holds_slot(setter));
        if let Some(setter) = setter {
            setter.drain();
        }
        let mut idle = self.lock();
        match *idle.state(waiter) {
            WorkerState::Waiting => idle.woken.push(waiter.number()),
            WorkerState::Blocked => {
                if let Some(slot) = self.take_free(&mut idle) {
                    self.occupy(&mut idle, waiter, slot);
                } else if let Some(slot) = setter.and_then(|setter| self.withdraw(setter)) {
                    if let Some(setter) = setter {
                        self.shelve(&mut idle, setter);
                    }
                    self.occupy(&mut idle, waiter, slot);
                } else {
                    self.claim(&mut idle, waiter);
                    // From now on the waiter waits for a slot, and has to be awake to notice that it is overdue.
                    idle.woken.push(waiter.number());
                }
            }
            WorkerState::Active | WorkerState::TimedSearch | WorkerState::Parked | WorkerState::Watching => {}
        }
    }

    /// Wakes a sleeping worker to run its broadcast jobs.
    pub(crate) fn call(&self, worker: &Worker) {
        let mut idle = self.lock();
        if !matches!(*idle.state(worker), WorkerState::Active | WorkerState::Waiting) {
            if !self.occupy_or_claim(&mut idle, worker) {
                // The worker has to be awake to notice that it is overdue.
                idle.woken.push(worker.number());
            }
        } else if *idle.state(worker) == WorkerState::Waiting {
            idle.woken.push(worker.number());
        }
    }

    /// Gives a slot to a worker in the middle of a job, if it has none.
    pub(crate) fn regain_slot(&self, worker: &Worker) {
        if worker.slot().is_none() {
            self.occupy_slot(worker);
        }
    }

    /// Gives a slot to a worker that has none. Blocks until a slot is free.
    pub(crate) fn occupy_slot(&self, worker: &Worker) {
        self.occupy_slot_spinning(worker, 0);
    }

    /// As [`occupy_slot`](Self::occupy_slot), but looks for a given slot `looks` times before it blocks.
    fn occupy_slot_spinning(&self, worker: &Worker, looks: u32) {
        let mut idle = self.lock();
        if self.occupy_or_claim(&mut idle, worker) {
            return;
        }
        *idle.state(worker) = WorkerState::Blocked;
        drop(idle);
        for _ in 0..looks {
            if worker.slot().is_some() {
                break;
            }
            std::hint::spin_loop();
        }
        self.wait_for_slot(worker);
    }

    /// Makes a new worker active in a slot, and not searching. Before the call, a new worker counts as parked or watching, or has been
    /// given a slot to search.
    pub(in crate::registry) fn begin_active(&self, worker: &Worker) {
        let mut idle = self.lock();
        let state = *idle.state(worker);
        if matches!(state, WorkerState::Parked | WorkerState::Watching) {
            idle.parked.retain(|&number| number != worker.number());
            if state == WorkerState::Watching {
                self.watch_is_over(&mut idle);
            }
            *idle.state(worker) = WorkerState::Active;
            drop(idle);
            self.occupy_slot(worker);
        } else {
            drop(idle);
            self.end_search(worker);
        }
    }

    /// As [`occupy_slot`](Self::occupy_slot), but spins for a while before it blocks, because searching workers release their slots at
    /// once.
    pub(in crate::registry) fn occupy_slot_soon(&self, worker: &Worker) {
        const LOOKS: u32 = 400;
        self.occupy_slot_spinning(worker, LOOKS);
    }

    /// Releases a worker's slot, if it has one, so that another worker can use it. The worker's thread continues outside the pool.
    pub(crate) fn release_slot(&self, worker: &Worker) {
        if worker.slot().is_none() {
            return;
        }
        worker.drain();
        let mut idle = self.lock();
        self.release(&mut idle, worker);
        drop(idle);
        self.final_check(worker);
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::job::{Header, JobRef};
    use crate::registry::Setup;
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
            let next = registry.block(worker, &Latch::new(), WAIT, None, &mut false);
            // The job would be run next.
            send.send((next, worker.slot(), worker.find_broadcast().is_some())).unwrap();
        });
        let outcome = receive.recv_timeout(Duration::from_secs(10));
        assert_eq!(outcome, Ok((Next::Usual, Some(0), true)));
    }

    /// A waiter that is not woken would sleep to the end of its timed wait, of up to 10 ms.
    #[test]
    fn a_worker_that_waits_in_its_slot_is_woken() {
        let registry = Registry::new(1, Setup::default());
        let worker = registry.worker(0).unwrap();
        *registry.lock().state(worker) = WorkerState::Waiting;
        registry.resume(worker, None);
        assert!(worker.parker.park_timeout(Duration::ZERO));
    }
}
