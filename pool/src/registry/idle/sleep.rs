//! How a worker that finds no job goes to sleep.

use super::{Idle, Locked, Registry, WorkerState, turns};
use crate::worker::Worker;
use std::time::{Duration, Instant};

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
    pub(in crate::registry) fn sleep_until_needed(&self, worker: &Worker) -> bool {
        let mut idle = self.lock();
        if *idle.state(worker) == WorkerState::Active {
            if worker.slot().is_some() {
                if !worker.broadcasts.is_empty() {
                    return true;
                }
                self.release(&mut idle, worker);
                if idle.timed_searcher.is_none() && !idle.free.is_empty() && !idle.terminating {
                    return self.timed_search(idle, worker);
                }
                if self.park_searcher(&mut idle, worker) {
                    return true;
                }
            } else if !idle.terminating {
                let slot = self.take_free(&mut idle);
                *idle.state(worker) = WorkerState::Parked;
                idle.parked.push(worker.number());
                if let Some(slot) = slot {
                    self.occupy(&mut idle, worker, slot);
                    return true;
                }
                if !worker.broadcasts.is_empty() {
                    self.claim(&mut idle, worker);
                }
            }
        }
        self.park(idle, worker)
    }

    /// Ends the worker's search; from now on it counts as parked. If the final check sees work, returns `true` with the worker
    /// searching again, in a slot.
    fn park_searcher(&self, idle: &mut Idle, worker: &Worker) -> bool {
        *idle.state(worker) = WorkerState::Parked;
        idle.parked.push(worker.number());
        let last = self.searching.end();
        if !last || idle.terminating {
            return false;
        }
        if self.searching.final_check(|| self.request_all_splits(worker), || self.sees_work())
            && let Some(slot) = self.take_free(idle)
        {
            self.occupy(idle, worker, slot);
            return true;
        }
        self.watch(idle);
        false
    }

    /// Sleeps until the worker is given a slot. Returns `false` when the pool ends.
    fn park<'a>(&'a self, mut idle: Locked<'a>, worker: &Worker) -> bool {
        while !idle.terminating {
            match *idle.state(worker) {
                WorkerState::Active => return true,
                WorkerState::Watching => {
                    idle = self.keep_watch(idle, worker);
                    continue;
                }
                WorkerState::TimedSearch
                | WorkerState::Parked
                | WorkerState::Blocked
                | WorkerState::Waiting => {}
            }
            let claims = idle.claims.contains(&worker.number());
            drop(idle);
            worker.counters.parks.add();
            if claims {
                // A broadcast job waits for this worker. So the worker becomes overdue like any other thread that claims a slot.
                worker.parker.park_timeout(turns::TURN);
            } else {
                worker.parker.park();
            }
            idle = self.lock();
            if claims && *idle.state(worker) == WorkerState::Parked && idle.claims.contains(&worker.number())
            {
                self.wants_slot(&mut idle, worker);
            }
        }
        // The worker was given a slot at the last moment. A pool that ends does not need it.
        if *idle.state(worker) == WorkerState::Active && worker.slot().is_some() {
            let _ = self.searching.end();
            self.release(&mut idle, worker);
        }
        // A thread that ends must not be woken.
        idle.parked.retain(|&number| number != worker.number());
        false
    }

    /// Is the timed searcher while new work is likely, then parks. Returns as [`sleep_until_needed`](Self::sleep_until_needed) does.
    fn timed_search<'a>(&'a self, mut idle: Locked<'a>, worker: &Worker) -> bool {
        *idle.state(worker) = WorkerState::TimedSearch;
        idle.timed_searcher = Some(worker.number());
        self.searching.set_timed_searcher(true);
        self.slot_holders().for_each(Worker::poke);
        let since = Instant::now();
        loop {
            let sleep = (since.elapsed() / 8).clamp(SHORTEST_SLEEP, LONGEST_SLEEP);
            drop(idle);
            worker.counters.naps.add();
            worker.parker.park_timeout(sleep);
            idle = self.lock();
            if *idle.state(worker) == WorkerState::Active {
                return true;
            }
            if idle.terminating {
                self.timed_search_is_over(&mut idle);
                let _ = self.searching.end();
                return false;
            }
            if self.sees_work()
                && let Some(slot) = self.take_free(&mut idle)
            {
                self.occupy(&mut idle, worker, slot);
                return true;
            }
            // All slots are taken, so no thread could run a job that this worker finds. It becomes the watcher instead.
            let is_full = idle.free.is_empty() && !self.stealable.is_empty();
            if is_full || since.elapsed() > TIMED_SEARCH {
                self.timed_search_is_over(&mut idle);
                return self.park_searcher(&mut idle, worker) || self.park(idle, worker);
            }
        }
    }
}
