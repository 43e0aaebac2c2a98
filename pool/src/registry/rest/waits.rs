//! Workers that wait for something, with or without their slots; and how they get slots again.
//!
//! Functions and fields named `place` are about slots.

use super::{Registry, Rest, STUCK, State};
use crate::latch::Latch;
use crate::saturation::{Saturation, SaturationCause};
use crate::worker::{DOZE, NAP, Wait, WaitRule, Worker};
use std::time::{Duration, Instant};

/// Jobs that a waiting worker looks for next, if the wait is not over.
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
    /// Blocks a worker until a latch is set or the worker is needed. Returns the jobs that the worker shall look for now.
    ///
    /// If the wait rule says so and another thread could use the slot, the worker gives its slot up first.
    ///
    /// `idle` is the time for which the worker has found no job, not even one that only it can run. It is `None` before the first
    /// look. `is_saturated` says whether this wait has been counted as one that keeps its slot [for want of
    /// threads](Self::saturation). The caller begins with `false`; this function sets it.
    pub(crate) fn block(
        &self,
        worker: &Worker,
        latch: &Latch,
        wait: Wait,
        idle: Option<Duration>,
        is_saturated: &mut bool,
    ) -> Next {
        self.check_wait();
        let seated = worker.place().is_some();
        let keeps_place = |rest: &Rest| seated && !self.gives_place(rest, worker, wait);
        let mut has_spilled = false;
        let mut rest = loop {
            let rest = self.lock();
            if has_spilled || keeps_place(&rest) {
                break rest;
            }
            drop(rest);
            worker.spill();
            has_spilled = true;
        };
        if !worker.broadcasts.is_empty() && seated || !latch.will_wait() {
            return Next::Usual;
        }
        if keeps_place(&rest) {
            *rest.state(worker) = State::Waiting;
            rest.abroad += usize::from(wait.abroad);
            let alone = self.all_wait(&mut rest, wait);
            let waits_long = !alone && idle.is_some_and(|idle| idle >= STUCK);
            let is_stuck = waits_long && {
                // A slot that no other thread can take over is of no use to this one, which has its own.
                self.replace_stuck(&mut rest);
                (wait.future || wait.scope.is_some()) && self.others_are_stuck(&mut rest)
            };
            // If no slot holder runs a job, no new fork can appear. A newly queued job ends the doze.
            let dozes = idle.is_some_and(|idle| idle > NAP) && self.all_rest(&mut rest);
            rest.dozing += usize::from(dozes);
            self.alert.set_dozing(rest.dozing);
            drop(rest);
            if !alone || idle.is_some() {
                let is_queued = || self.is_queued();
                let dozes = dozes && self.alert.may_doze(is_queued);
                worker.parker.park_timeout(idle.filter(|_| dozes).map_or(NAP, |idle| idle.min(DOZE)));
            }
            let mut rest = self.lock();
            rest.dozing -= usize::from(dozes);
            self.alert.set_dozing(rest.dozing);
            *rest.state(worker) = State::Active;
            rest.abroad -= usize::from(wait.abroad);
            // Not before the sleep: a job that was queued meanwhile may be the next one that this worker runs.
            let is_new = !*is_saturated && !latch.is_set();
            let saturation =
                is_new.then(|| self.saturation(&rest, worker, wait, alone || is_stuck)).flatten();
            drop(rest);
            if let Some(saturation) = saturation {
                *is_saturated = true;
                worker.counters.saturated.add();
                self.report_saturation(&saturation);
            }
            return if alone {
                Next::Anything
            } else if is_stuck {
                Next::Queued
            } else {
                Next::Usual
            };
        }
        *rest.state(worker) = State::Blocked;
        if wait.abroad {
            rest.abroad_blocked.push(worker.number());
        }
        if seated {
            worker.counters.handovers.add();
            self.unseat(&mut rest, worker);
            drop(rest);
            self.look_out(worker);
        } else {
            self.shelve(&mut rest, worker);
            if !worker.broadcasts.is_empty() {
                self.claim(&mut rest, worker);
            }
            drop(rest);
            self.look_out(worker);
        }
        self.sleep_blocked(worker);
        if wait.abroad {
            self.lock().abroad_blocked.retain(|&number| number != worker.number());
        }
        Next::Usual
    }

    /// Whether a waiting worker gives its slot away: if a thread claims a slot, or if the wait rule says so and another thread could
    /// use the slot.
    fn gives_place(&self, rest: &Rest, worker: &Worker, wait: Wait) -> bool {
        let by_rule = wait.rule == WaitRule::Descendants || worker.is_guest();
        !rest.claims.is_empty() || by_rule && self.could_be_relieved(rest, worker)
    }

    /// Whether a worker would give its slot away if it waited now.
    pub(crate) fn would_give_place(&self, worker: &Worker, wait: Wait) -> bool {
        self.gives_place(&self.lock(), worker, wait)
    }

    /// Whether this worker, if it waited now, would be the only one left that can run queued jobs.
    pub(crate) fn is_alone(&self, worker: &Worker, wait: Wait) -> bool {
        let mut rest = self.lock();
        *rest.state(worker) = State::Waiting;
        let alone = self.all_wait(&mut rest, wait);
        *rest.state(worker) = State::Active;
        alone
    }

    /// Why a worker waits in its slot though jobs are queued that another thread could run there. `None` if no jobs are queued, or if
    /// the wait rule lets the worker run them.
    ///
    /// `is_last` says that no other worker runs jobs. In a pool that starts no threads besides its own, all waits keep their slots.
    /// There the result is `None` as long as another worker runs jobs, because that worker comes to the queued ones.
    fn saturation(&self, rest: &Rest, worker: &Worker, wait: Wait, is_last: bool) -> Option<Saturation> {
        let runs_any = wait.rule == WaitRule::Any && !worker.is_guest();
        let cause = match (&self.setup.spares, self.setup.wait_rule) {
            (Some(_), _) if rest.refused => SaturationCause::Refused,
            (Some(_), _) => SaturationCause::BoundReached,
            (None, WaitRule::Leapfrog) => SaturationCause::Leapfrog,
            (None, _) => SaturationCause::SpawnHandler,
        };
        let lacks_thread = !rest.terminating && !runs_any && (is_last || self.setup.spares.is_some());
        (lacks_thread && self.sees_work()).then(|| Saturation {
            num_threads: self.num_threads(),
            blocking_threads: rest.next_spare - self.num_threads(),
            cause,
        })
    }

    /// Whether the pool can start threads, beyond [the bound](crate::ThreadPoolBuilder::max_blocking_threads) too.
    pub(crate) fn may_start_more(&self) -> bool {
        let rest = self.lock();
        self.setup.spares.is_some() && !rest.refused && rest.max_threads < self.first_guest
    }

    /// Raises the bound on threads by one. Called when waiting threads keep all slots while jobs are queued.
    pub(crate) fn allow_one_more(&self) {
        let mut rest = self.lock();
        if rest.next_spare == rest.max_threads && rest.max_threads < self.first_guest {
            rest.max_threads += 1;
        }
    }

    /// Whether a thread exists, or could be started, that would use this worker's slot.
    fn could_be_relieved(&self, rest: &Rest, worker: &Worker) -> bool {
        let may_start = self.setup.spares.is_some() && rest.next_spare < rest.max_threads;
        // In a pool without spare threads each of the pool's own threads has a slot, unless a guest holds it.
        let others = self.setup.spares.is_some() || worker.is_guest();
        !rest.terminating && (may_start || others && (!rest.parked.is_empty() || rest.napper.is_some()))
    }

    /// Whether every slot holder waits and no worker can be woken to search. In that case a queued job that a waiting worker depends
    /// on would never run. Workers that wait for other threads (`abroad`) run it first; the others only if there is no such worker.
    fn all_wait(&self, rest: &mut Rest, wait: Wait) -> bool {
        let none_wakes = rest.free.is_empty() || rest.parked.is_empty() && rest.napper.is_none();
        none_wakes && self.alert.nobody() && (wait.abroad || rest.abroad == 0) && self.all_rest(rest)
    }

    /// Whether every slot holder waits.
    fn all_rest(&self, rest: &mut Rest) -> bool {
        self.seated().all(|seated| *rest.state(seated) == State::Waiting)
    }

    /// Wakes the dozing workers: they may need the job that has just been queued.
    #[cold]
    pub(in crate::registry) fn wake_dozing(&self) {
        let mut rest = self.lock();
        let rest = &mut *rest;
        let dozing = self.seated().filter(|seated| *rest.state(seated) == State::Waiting).map(Worker::number);
        let dozing: Vec<_> = dozing.collect();
        rest.woken.extend(dozing);
    }

    /// Whether this worker, which waits in its slot, is the only one left that can run queued jobs: all other slot holders wait too or
    /// are [stuck](super::turns), and no thread can take a slot over.
    fn others_are_stuck(&self, rest: &mut Rest) -> bool {
        let may_start = self.setup.spares.is_some() && rest.next_spare < rest.max_threads;
        if may_start
            || !rest.parked.is_empty()
            || !self.alert.nobody()
            || self.alert.free() > 0
            || rest.has_watcher()
        {
            return false;
        }
        self.look_at_holders(rest);
        self.seated().all(|seated| *rest.state(seated) == State::Waiting || self.is_stuck(rest, seated))
    }

    /// Sleeps until this worker, which has no slot, is given one.
    ///
    /// While the worker waits for a latch, it looks now and then for jobs that no thread can run: all slots are held, one of them by a
    /// stuck thread. Then another thread takes over the stuck thread's slot. If there is no such thread, this worker takes it over.
    fn sleep_blocked(&self, worker: &Worker) {
        const LONGEST_LOOK: Duration = Duration::from_millis(250);
        let since = Instant::now();
        loop {
            let mut rest = self.lock();
            if *rest.state(worker) == State::Active {
                return;
            }
            if rest.claims.contains(&worker.number()) {
                drop(rest);
                return self.wait_for_slot(worker);
            }
            if since.elapsed() >= STUCK
                && let Some(place) = self.replace_stuck(&mut rest)
            {
                self.seat_over(&mut rest, worker, place);
                return;
            }
            drop(rest);
            worker.parker.park_timeout((since.elapsed() / 8).clamp(STUCK, LONGEST_LOOK));
        }
    }

    /// Resumes the waiter of a latch that was just set. A waiter without a slot gets a free slot. If none is free, it gets the slot of
    /// `setter`, the worker that has set the latch, if that is of this pool. Else it claims a slot.
    pub(crate) fn resume(&self, waiter: &Worker, setter: Option<&Worker>) {
        let setter = setter.filter(|setter| std::ptr::eq(setter.registry(), self) && self.holds_slot(setter));
        if let Some(setter) = setter {
            setter.spill();
        }
        let mut rest = self.lock();
        match *rest.state(waiter) {
            State::Waiting => rest.woken.push(waiter.number()),
            State::Blocked => {
                if let Some(place) = self.take_free(&mut rest) {
                    self.seat(&mut rest, waiter, place);
                } else if let Some(place) = setter.and_then(|setter| self.vacate(setter)) {
                    if let Some(setter) = setter {
                        self.shelve(&mut rest, setter);
                    }
                    self.seat(&mut rest, waiter, place);
                } else {
                    self.claim(&mut rest, waiter);
                    // From now on the waiter waits for a slot, and has to be awake to notice that it is overdue.
                    rest.woken.push(waiter.number());
                }
            }
            State::Active | State::Napping | State::Parked | State::Watching => {}
        }
    }

    /// Wakes a resting worker to run its broadcast jobs.
    pub(crate) fn call(&self, worker: &Worker) {
        let mut rest = self.lock();
        if !matches!(*rest.state(worker), State::Active | State::Waiting) {
            match self.take_free(&mut rest) {
                Some(place) => self.seat(&mut rest, worker, place),
                None => {
                    self.claim(&mut rest, worker);
                    // The worker has to be awake to notice that it is overdue.
                    rest.woken.push(worker.number());
                }
            }
        } else if *rest.state(worker) == State::Waiting {
            rest.woken.push(worker.number());
        }
    }

    /// Gives a slot to a worker in the middle of a job, if it has none.
    pub(crate) fn regain_place(&self, worker: &Worker) {
        if worker.place().is_none() {
            self.take_place(worker);
        }
    }

    /// Gives a slot to a worker that has none. Blocks until a slot is free.
    pub(crate) fn take_place(&self, worker: &Worker) {
        let mut rest = self.lock();
        if let Some(place) = self.take_free(&mut rest) {
            self.seat(&mut rest, worker, place);
            return;
        }
        *rest.state(worker) = State::Blocked;
        self.claim(&mut rest, worker);
        drop(rest);
        self.wait_for_slot(worker);
    }

    /// Makes a new worker active, with a slot, and not alert. Before, a new worker counts as parked or watching, or was given a slot
    /// to search.
    pub(in crate::registry) fn begin_active(&self, worker: &Worker) {
        let mut rest = self.lock();
        let state = *rest.state(worker);
        if matches!(state, State::Parked | State::Watching) {
            rest.parked.retain(|&number| number != worker.number());
            if state == State::Watching {
                self.watch_is_over(&mut rest);
            }
            *rest.state(worker) = State::Active;
            drop(rest);
            self.take_place(worker);
        } else {
            drop(rest);
            self.cease_to_be_alert(worker);
        }
    }

    /// As [`take_place`](Self::take_place), but spins for a while before it blocks, because searching workers give their slots up at
    /// once.
    pub(in crate::registry) fn take_place_soon(&self, worker: &Worker) {
        const LOOKS: u32 = 400;
        let mut rest = self.lock();
        if rest.claims.is_empty()
            && let Some(place) = self.take_free(&mut rest)
        {
            self.seat(&mut rest, worker, place);
            return;
        }
        *rest.state(worker) = State::Blocked;
        self.claim(&mut rest, worker);
        drop(rest);
        for _ in 0..LOOKS {
            if worker.place().is_some() {
                break;
            }
            std::hint::spin_loop();
        }
        self.wait_for_slot(worker);
    }

    /// Takes a worker's slot away, if it has one, so that another worker can use the slot. The worker's thread goes on outside the
    /// pool.
    pub(crate) fn leave_place(&self, worker: &Worker) {
        if worker.place().is_none() {
            return;
        }
        worker.spill();
        let mut rest = self.lock();
        self.unseat(&mut rest, worker);
        drop(rest);
        self.look_out(worker);
    }
}
