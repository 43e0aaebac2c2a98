//! How a worker that finds nothing to do goes to sleep.

use super::{Locked, Registry, Rest, State, turns};
use crate::worker::Worker;
use std::time::{Duration, Instant};

const SHORTEST_NAP: Duration = Duration::from_micros(50);
const LONGEST_NAP: Duration = Duration::from_micros(250);
/// For how long there is nothing to do before the napper parks.
const NAPPING: Duration = Duration::from_millis(20);

impl Registry {
    /// Rests until there is work for this thread. Returns `true` with the worker alert and in a slot, and `false` when the pool ends.
    ///
    /// On entry the worker is alert in a slot, or has lost its slot, or is new and counts as parked.
    pub(in crate::registry) fn rest_until_needed(&self, worker: &Worker) -> bool {
        let mut rest = self.lock();
        if *rest.state(worker) == State::Active {
            if worker.place().is_some() {
                if !worker.broadcasts.is_empty() {
                    return true;
                }
                self.unseat(&mut rest, worker);
                if rest.napper.is_none() && !rest.free.is_empty() && !rest.terminating {
                    return self.nap(rest, worker);
                }
                if self.park_alert(&mut rest, worker) {
                    return true;
                }
            } else if !rest.terminating {
                let place = self.take_free(&mut rest);
                *rest.state(worker) = State::Parked;
                rest.parked.push(worker.number());
                if let Some(place) = place {
                    self.seat(&mut rest, worker, place);
                    return true;
                }
                if !worker.broadcasts.is_empty() {
                    self.claim(&mut rest, worker);
                }
            }
        }
        self.park(rest, worker)
    }

    /// Ends the worker's search; from now on it counts as parked. If there is work after all, returns `true` with the worker alert and
    /// in a slot.
    fn park_alert(&self, rest: &mut Rest, worker: &Worker) -> bool {
        *rest.state(worker) = State::Parked;
        rest.parked.push(worker.number());
        let last = self.alert.end();
        if !last || rest.terminating {
            return false;
        }
        if self.alert.look_out(|| self.ask_all(worker), || self.sees_work())
            && let Some(place) = self.take_free(rest)
        {
            self.seat(rest, worker, place);
            return true;
        }
        self.watch(rest);
        false
    }

    /// Sleeps until the worker is given a slot. Returns `false` when the pool ends.
    fn park<'a>(&'a self, mut rest: Locked<'a>, worker: &Worker) -> bool {
        while !rest.terminating {
            match *rest.state(worker) {
                State::Active => return true,
                State::Watching => {
                    rest = self.keep_watch(rest, worker);
                    continue;
                }
                State::Napping | State::Parked | State::Blocked | State::Waiting => {}
            }
            let claims = rest.claims.contains(&worker.number());
            drop(rest);
            worker.counters.parks.add();
            if claims {
                // A broadcast job waits for this worker, so the worker becomes overdue like any other thread that claims a slot.
                worker.parker.park_timeout(turns::TURN);
            } else {
                worker.parker.park();
            }
            rest = self.lock();
            if claims && *rest.state(worker) == State::Parked && rest.claims.contains(&worker.number()) {
                self.wants_slot(&mut rest, worker);
            }
        }
        // The slot was given at the last moment. A pool that ends does not need it.
        if *rest.state(worker) == State::Active && worker.place().is_some() {
            let _ = self.alert.end();
            self.unseat(&mut rest, worker);
        }
        // A thread that ends must not be woken.
        rest.parked.retain(|&number| number != worker.number());
        false
    }

    /// Naps while new work is likely, then parks. Returns `false` when the pool ends.
    fn nap<'a>(&'a self, mut rest: Locked<'a>, worker: &Worker) -> bool {
        *rest.state(worker) = State::Napping;
        rest.napper = Some(worker.number());
        self.alert.set_napping(true);
        self.seated().for_each(Worker::poke);
        let since = Instant::now();
        loop {
            let nap = (since.elapsed() / 8).clamp(SHORTEST_NAP, LONGEST_NAP);
            drop(rest);
            worker.counters.naps.add();
            worker.parker.park_timeout(nap);
            rest = self.lock();
            if *rest.state(worker) == State::Active {
                return true;
            }
            if rest.terminating {
                self.nap_is_over(&mut rest);
                let _ = self.alert.end();
                return false;
            }
            if self.sees_work()
                && let Some(place) = self.take_free(&mut rest)
            {
                self.seat(&mut rest, worker, place);
                return true;
            }
            // All slots are taken, so no thread could run a job that this one finds. It becomes the watcher instead.
            let is_full = rest.free.is_empty() && !self.stealable.is_empty();
            if is_full || since.elapsed() > NAPPING {
                self.nap_is_over(&mut rest);
                return self.park_alert(&mut rest, worker) || self.park(rest, worker);
            }
        }
    }
}
