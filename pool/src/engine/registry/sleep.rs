//! How a worker that finds no job goes to sleep.

use super::monitor::TURN;
use super::{Locked, Registry};
use crate::engine::worker::Worker;
use crate::process;
use crate::slots::{SearchEnd, WorkerState};
use crate::sync::clock::Instant;
use crate::trace::{self, Kind};
use std::time::Duration;

/// Bounds of one sleep of the timed searcher.
const SHORTEST_SLEEP: Duration = Duration::from_micros(50);
const LONGEST_SLEEP: Duration = Duration::from_micros(250);
/// Time without work after which the timed searcher parks.
const TIMED_SEARCH: Duration = Duration::from_millis(20);

impl Registry {
    /// Sleeps until there is work for this thread. Returns `true` with the worker searching and in a slot, and `false` when the pool
    /// ends.
    ///
    /// On entry the worker searches in a slot, or has lost its slot, or is new and counts as parked.
    pub(super) fn sleep_until_needed(&self, worker: &Worker) -> bool {
        // A worker that can go on searching does not queue for the lock: waiters that are to be resumed need it.
        let lock = if self.holds_slot(worker) { self.slots.try_lock() } else { Some(self.lock()) };
        let Some(mut slots) = lock else { return true };
        if slots.state(worker) == WorkerState::Active && !self.is_attendant(worker) {
            if worker.slot().is_some() {
                if !worker.broadcasts.is_empty() {
                    return true;
                }
                slots.release(worker);
                if slots.begin_timed_search(worker) {
                    return self.timed_search(slots, worker);
                }
                if self.park_searcher(&mut slots, worker) {
                    return true;
                }
            } else if !slots.is_terminating() {
                slots.park(worker);
                if slots.occupy_free(worker) {
                    return true;
                }
                if !worker.broadcasts.is_empty() {
                    slots.claim(worker);
                }
            }
        }
        self.park(slots, worker)
    }

    /// Ends the worker's search; from now on it counts as parked. If the final check sees work, returns `true` with the worker
    /// searching again, in a slot.
    fn park_searcher(&self, slots: &mut Locked<'_>, worker: &Worker) -> bool {
        let end = slots.park_searcher(worker, || self.sees_work());
        if end == SearchEnd::ParkedLast {
            self.watch(slots);
        }
        end == SearchEnd::SeesWork
    }

    /// Sleeps until the worker is given a slot. Returns `false` when the pool ends.
    fn park<'a>(&'a self, mut slots: Locked<'a>, worker: &Worker) -> bool {
        while !slots.is_terminating() {
            match slots.state(worker) {
                WorkerState::Active => return true,
                WorkerState::Watching => {
                    slots = self.keep_watch(slots, worker);
                    continue;
                }
                WorkerState::TimedSearch
                | WorkerState::Parked
                | WorkerState::Blocked
                | WorkerState::Waiting => {}
            }
            let claims = slots.claims(worker);
            drop(slots);
            worker.counters.parks.add();
            trace::record(Kind::ParkBegin, worker.number() as u64);
            if claims {
                // A broadcast job waits for this worker. So the worker becomes overdue like any other thread that claims a slot.
                worker.parker.park_timeout(TURN);
            } else {
                worker.parker.park();
            }
            trace::record(Kind::ParkEnd, 0);
            // A worker that was given a slot needs no lock to see it. (Its slot's holder is stored last: by then, it counts as searching and is poked.)
            if self.holds_slot(worker) {
                return true;
            }
            slots = self.lock();
            if claims && slots.state(worker) == WorkerState::Parked && slots.claims(worker) {
                // If the worker has got a slot, its state says so.
                _ = slots.ask_for_slot(worker, false);
            }
        }
        slots.end(worker);
        false
    }

    /// Is the timed searcher while new work is likely, then parks. Returns as [`sleep_until_needed`](Self::sleep_until_needed) does.
    fn timed_search<'a>(&'a self, mut slots: Locked<'a>, worker: &Worker) -> bool {
        let since = Instant::now();
        let mut from = worker.number();
        // A job may have been queued since this worker last looked, while nobody saw that it is the timed searcher.
        let mut sleeps = self.slots.searching.may_sleep(|| self.is_queued());
        loop {
            from = slots.poke_some(from);
            let mut is_idle = false;
            if sleeps {
                let (used, then) = (self.slots.used_time(), Instant::now());
                let sleep = (since.elapsed() / 8).clamp(SHORTEST_SLEEP, LONGEST_SLEEP);
                drop(slots);
                worker.counters.naps.add();
                trace::record(Kind::NapBegin, worker.number() as u64);
                worker.parker.park_timeout(sleep);
                trace::record(Kind::NapEnd, 0);
                is_idle = self.sees_idle_processor(used, then);
                slots = self.lock();
            }
            sleeps = true;
            if slots.state(worker) == WorkerState::Active {
                return true;
            }
            if slots.is_terminating() {
                slots.timed_search_is_over();
                // A pool that ends needs no final check.
                let _ = self.slots.searching.end(worker.number());
                return false;
            }
            let is_over = since.elapsed() > TIMED_SEARCH;
            let is_for_forks = is_idle || is_over || self.slots.room() > 0;
            let is_needed = if is_for_forks { self.sees_work() } else { self.is_queued() };
            if is_needed && slots.occupy_free(worker) {
                if is_over {
                    // If the pool is full for so long, the slot holders may wait for the very forks that nobody steals.
                    self.slots.set_holders_sleep(true);
                }
                return true;
            }
            // All slots are taken, so no thread could run a job that this worker finds. It becomes the watcher instead.
            let is_full = !slots.has_free() && !self.stealable.is_empty();
            if is_full || is_over {
                slots.timed_search_is_over();
                return self.park_searcher(&mut slots, worker) || self.park(slots, worker);
            }
        }
    }

    /// Compares the processor time that the slot holders have used since `then` with the time that has passed, and notes whether they sleep. `before` is
    /// what they had used then. Returns whether a processor was idle although there is no room. See "More workers than processors" in `slots.rs`.
    fn sees_idle_processor(&self, before: Option<Duration>, then: Instant) -> bool {
        let processors = process::processors();
        if self.slots.len() <= processors || self.slots.held() < processors {
            return false;
        }
        let passed = then.elapsed();
        let all = passed * processors as u32;
        // If the holders have changed meanwhile, the difference is too large, or negative. If the system does not tell, they may sleep.
        let used = before
            .zip(self.slots.used_time())
            .map_or(Duration::ZERO, |(before, now)| now.checked_sub(before).unwrap_or(all));
        let is_idle = used < all / 2 && passed >= SHORTEST_SLEEP;
        // A holder that was just woken does not run yet, so one idle processor of two says little.
        if !is_idle || used < all / 4 {
            self.slots.set_holders_sleep(is_idle);
        }
        is_idle
    }
}
