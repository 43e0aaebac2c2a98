//! How searches end, and which worker is woken.

use super::{FreeSlot, Locked, Occupant, SearchEnd, WakeOutcome, WorkerState};

/// Number of slot holders that are [poked](Locked::poke_some) at once.
const POKED: usize = 8;

impl<'a, W: Occupant> Locked<'a, W> {
    /// Wakes a worker when the lock is released.
    pub(crate) fn wake(&mut self, worker: &W) {
        self.woken.push(worker.number());
    }

    /// Wakes one worker to search, if no worker searches and a slot is free. `here` is the processor on which the caller goes on, if it does.
    pub(crate) fn wake_searcher(&mut self, here: Option<usize>) -> WakeOutcome {
        if !self.slots.searching.no_searcher() || self.terminating {
            return WakeOutcome::Needless;
        }
        let Some(slot) = self.take_free() else { return WakeOutcome::Full };
        // A watcher is not needed while a slot is free.
        let watcher = self.monitor.watcher.map(|number| self.slots.known(number));
        let Some(worker) = watcher.or_else(|| self.next_parked(here)) else {
            return WakeOutcome::NoWorker(slot);
        };
        self.occupy(worker, slot);
        WakeOutcome::Woken
    }

    /// Wakes `count` more workers to search, as long as parked workers and free slots are there. Returns how many were woken.
    pub(crate) fn wake_more(&mut self, count: usize, here: Option<usize>) -> usize {
        let mut woken = 0;
        while woken < count && !self.terminating {
            let Some(worker) = self.next_parked(here) else { break };
            if !self.occupy_free(worker) {
                break;
            }
            worker.set_woken_more();
            woken += 1;
        }
        woken
    }

    /// Returns the parked worker that is to be woken next.
    fn next_parked(&self, here: Option<usize>) -> Option<&'a W> {
        self.parked_elsewhere(here).or_else(|| self.last_parked())
    }

    /// Returns the last of the workers that have parked on another processor than `here`: see "Where a woken worker runs".
    fn parked_elsewhere(&self, here: Option<usize>) -> Option<&'a W> {
        const LOOKS: usize = 8;
        here?;
        let slots = self.slots;
        let mut last = self.parked.iter().rev().take(LOOKS).map(|&number| slots.known(number));
        last.find(|worker| worker.processor() != here && !self.is_driver(worker))
    }

    /// Gives a slot to a worker that waits for a latch, because no other thread is left: the worker does not search, but runs queued
    /// jobs. Prefers a worker that waits for other threads. Returns `false` if there is none. Then the slot is free.
    #[must_use]
    pub(crate) fn wake_blocked(&mut self, slot: FreeSlot) -> bool {
        let is_blocked = |number: &usize| self.states[*number] == WorkerState::Blocked;
        let for_others = self.blocked_for_others.iter().copied().find(is_blocked);
        let Some(number) = for_others.or_else(|| (0..self.states.len()).find(is_blocked)) else {
            self.make_available(slot);
            return false;
        };
        let worker = self.slots.known(number);
        self.occupy(worker, slot);
        true
    }

    /// Wakes the timed searcher, if there is one and a slot is free; or, if that one would have to wait for the processor `here`, a worker that has parked
    /// elsewhere. Then the timed search is over. Returns whether it has woken one.
    #[must_use]
    pub(crate) fn wake_timed_searcher(&mut self, here: Option<usize>) -> bool {
        let timed_searcher = self.timed_searcher.map(|number| self.slots.known(number));
        let would_wait = timed_searcher.filter(|worker| self.has_free() && worker.processor() == here);
        let other = would_wait.and_then(|_| self.parked_elsewhere(here));
        if let (Some(from), Some(to)) = (would_wait, other) {
            self.hand_timed_search_over(from, to);
        }
        let wakes = other.or(timed_searcher).is_some_and(|worker| self.occupy_free(worker));
        // If no slot is free, the next publisher may claim it again.
        self.slots.searching.set_timed_searcher(self.timed_searcher.is_some());
        wakes
    }

    /// Notes that a worker without a slot is parked.
    pub(crate) fn park(&mut self, worker: &W) {
        self.set_state(worker, WorkerState::Parked);
        self.parked.push(worker.number());
    }

    pub(super) fn unlist_parked(&mut self, worker: &W) {
        self.parked.retain(|&number| number != worker.number());
        self.stop_driving(worker);
    }

    /// Makes a parked worker the driver, unless there is one. For work that others publish, the driver is woken after all other parked workers.
    /// Returns whether the worker is the driver.
    #[must_use]
    pub(crate) fn begin_drive(&mut self, worker: &W) -> bool {
        if !self.is_driven {
            self.unlist_parked(worker);
            self.parked.insert(0, worker.number());
            (self.driver, self.is_driven) = (Some(worker.number()), true);
            self.drives = self.drives.wrapping_add(1);
        }
        self.is_driver(worker)
    }

    /// Whether a worker that has given its search up is to drive at once: there is no driver, and it was the last one, or no other worker is busy.
    pub(crate) fn drives_next(&self, worker: &W) -> bool {
        !self.is_driven && (self.driver == Some(worker.number()) || self.slots.held() == 0)
    }

    pub(crate) fn has_driver(&self) -> bool {
        self.is_driven
    }

    /// Returns the number of times that a worker has become the driver; wraps.
    pub(crate) fn drives(&self) -> usize {
        self.drives
    }

    /// Wakes the driver, if there is one and a slot is free. Another worker stands by meanwhile: if there is no timed searcher, wakes one to become it.
    /// Returns whether the driver has got a slot.
    #[must_use]
    pub(crate) fn wake_driver(&mut self) -> bool {
        let driver = self.driver.filter(|_| self.is_driven && !self.terminating);
        let wakes = driver.is_some_and(|driver| self.occupy_free(self.slots.known(driver)));
        if wakes {
            self.stand_by();
        }
        wakes
    }

    /// Whether a worker is the driver.
    pub(crate) fn is_driver(&self, worker: &W) -> bool {
        self.is_driven && self.driver == Some(worker.number())
    }

    /// Has another worker stand by for the driver, which was given work: if there is no timed searcher, wakes one to become it.
    pub(super) fn stand_by(&mut self) {
        if self.timed_searcher.is_none() && self.has_free() {
            self.wake_more(1, None);
        }
    }

    /// Notes that a parked worker waits outside the reactor, and is not the driver.
    pub(crate) fn stop_driving(&mut self, worker: &W) {
        self.is_driven &= !self.is_driver(worker);
    }

    /// Wakes the parked workers if there is no driver: the first one with a waker becomes the driver, and the others park again. For a driver that has left
    /// its reactor for good.
    pub(crate) fn replace_driver(&mut self) {
        if !self.is_driven {
            let parked = self.parked.clone();
            self.woken.extend(parked);
        }
    }

    /// Hands the timed search over to a parked worker, which is given a slot under the same lock: it must not begin to search, and end, before the other one
    /// is counted no more. So the one that ends its search here is not the last.
    fn hand_timed_search_over(&mut self, from: &W, to: &W) {
        self.unlist_parked(to);
        self.set_state(to, WorkerState::TimedSearch);
        self.timed_searcher = Some(to.number());
        self.slots.searching.begin(to.number());
        self.park(from);
        _ = self.slots.searching.end(from.number());
    }

    /// Parks a worker that has released its slot and counts as searching. If the worker was the last searching one, does the final check.
    pub(crate) fn park_searcher(&mut self, worker: &W, sees_work: impl Fn() -> bool) -> SearchEnd {
        self.park(worker);
        let last = self.slots.searching.end(worker.number());
        if !last || self.terminating {
            return SearchEnd::Parked;
        }
        if self.slots.final_check(worker, sees_work) && self.occupy_free(worker) {
            return SearchEnd::SeesWork;
        }
        SearchEnd::ParkedLast
    }

    /// Makes a worker that has released its slot the timed searcher, unless there is one, no slot is free, or the pool ends. Returns
    /// whether it has done so.
    #[must_use]
    pub(crate) fn begin_timed_search(&mut self, worker: &W) -> bool {
        if self.timed_searcher.is_some() || self.free.is_empty() || self.terminating {
            return false;
        }
        self.set_state(worker, WorkerState::TimedSearch);
        self.timed_searcher = Some(worker.number());
        self.slots.searching.set_timed_searcher(true);
        true
    }

    /// Has some slot holders look up at their next push, and wake the timed searcher then. If all did, all would look at the same cache lines soon. The
    /// timed searcher finds the others' jobs after its sleep, and pokes others then. `from` says where to begin; returns that for the next call.
    pub(crate) fn poke_some(&self, from: usize) -> usize {
        let slots = self.slots;
        let holders = (0..slots.len()).filter_map(|nth| slots.holder((from + nth) % slots.len()));
        holders.take(POKED).for_each(W::poke);
        from + POKED
    }

    /// Notes that there is no timed searcher any more.
    pub(crate) fn timed_search_is_over(&mut self) {
        self.timed_searcher = None;
        self.slots.searching.set_timed_searcher(false);
    }

    /// Notes that a worker whose thread is about to start is parked. The caller gives it a slot, or has it watch.
    pub(crate) fn begin_parked(&mut self, worker: &W) {
        self.set_state(worker, WorkerState::Parked);
    }

    /// Makes a worker active that has begun outside the search: it is not parked any more, and does not watch. Returns `false` if the
    /// worker was neither: then it was given a slot, and counts as searching.
    #[must_use]
    pub(crate) fn begin_active(&mut self, worker: &W) -> bool {
        match self.state(worker) {
            WorkerState::Parked => self.unlist_parked(worker),
            WorkerState::Watching => self.watch_is_over(),
            WorkerState::Active | WorkerState::TimedSearch | WorkerState::Blocked | WorkerState::Waiting => {
                return false;
            }
        }
        self.set_state(worker, WorkerState::Active);
        true
    }

    /// Has the pool's threads end as soon as they have nothing to do.
    pub(crate) fn terminate(&mut self) {
        self.terminating = true;
        let table = &mut **self;
        let parked = table.states.iter().enumerate().filter(|(_, state)| **state == WorkerState::Parked);
        table.woken.extend(parked.map(|(number, _)| number));
        table.woken.extend(table.timed_searcher.iter().chain(&table.monitor.watcher));
    }

    /// Notes that a worker's thread ends: it must not be woken. If the worker was given a slot at the last moment, releases the slot.
    pub(crate) fn end(&mut self, worker: &W) {
        if self.state(worker) == WorkerState::Active && worker.slot().is_some() {
            // A pool that ends needs no final check.
            let _ = self.slots.searching.end(worker.number());
            self.release(worker);
        }
        self.unlist_parked(worker);
        self.forget_claim(worker.number());
    }
}
