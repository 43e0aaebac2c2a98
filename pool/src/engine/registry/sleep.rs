//! How a worker that finds no job goes to sleep.

use super::monitor::TURN;
use super::{Locked, Registry};
use crate::engine::worker::Worker;
use crate::process;
use crate::slots::{SearchEnd, WorkerState};
use crate::sync::clock::Instant;
use crate::sync::machine::atomic::Ordering::Relaxed;
use crate::trace::{self, Kind};
use std::task::Waker;
use std::time::Duration;

/// Bounds of one sleep of the timed searcher.
const SHORTEST_SLEEP: Duration = Duration::from_micros(50);
const LONGEST_SLEEP: Duration = Duration::from_micros(250);
/// Longest sleep of the timed searcher beside holders that keep all processors busy: each of its sleeps takes a processor from one of them, twice.
const LONGEST_BESIDE_BUSY: Duration = Duration::from_millis(2);
/// Time without work after which the timed searcher parks.
const TIMED_SEARCH: Duration = Duration::from_millis(20);

/// The end of a sleep.
#[must_use]
pub(super) enum Sleep {
    /// The worker searches, in a slot.
    Needed,
    /// The worker is parked, and the [driver](super::main_loop).
    Drives,
    /// The pool ends.
    Ended,
}

/// Returns the length of the timed searcher's next sleep, so long after its timed search began.
fn nap(elapsed: Duration, beside_busy: bool) -> Duration {
    if beside_busy {
        (elapsed / 2).clamp(SHORTEST_SLEEP, LONGEST_BESIDE_BUSY)
    } else {
        (elapsed / 8).clamp(SHORTEST_SLEEP, LONGEST_SLEEP)
    }
}

impl Registry {
    /// Sleeps until there is work for this thread, or, if there is a waker, until the thread is to drive: then the waker is called when there is work.
    ///
    /// On entry the worker searches in a slot, or has lost its slot, or is new and counts as parked, or has driven.
    pub(super) fn sleep_until_needed(&self, worker: &Worker, waker: &mut Option<Waker>) -> Sleep {
        if worker.drives.take() {
            trace::record(Kind::ParkEnd, 0);
            return self.wakes_up(worker).unwrap_or_else(|| self.park(self.lock(), worker, waker));
        }
        let mut slots = self.lock_to_sleep(worker);
        if slots.state(worker) == WorkerState::Active && !self.is_attendant(worker) {
            if worker.slot().is_some() {
                if !worker.broadcasts.is_empty() {
                    return Sleep::Needed;
                }
                slots.release(worker);
                let drives = waker.is_some() && slots.drives_next(worker) && !self.leaves_forks();
                if !drives && slots.begin_timed_search(worker) {
                    return self.timed_search(slots, worker, waker);
                }
                if self.park_searcher(&mut slots, worker) {
                    return Sleep::Needed;
                }
            } else if !slots.is_terminating() {
                slots.park(worker);
                if slots.occupy_free(worker) {
                    return Sleep::Needed;
                }
                if !worker.broadcasts.is_empty() {
                    slots.claim(worker);
                }
            }
        }
        self.park(slots, worker, waker)
    }

    /// Takes the slot lock for a worker that has time, if it holds a slot: waiters that are to be resumed need the lock, and must not queue behind all workers
    /// that have nothing to do.
    fn lock_to_sleep(&self, worker: &Worker) -> Locked<'_> {
        const TRIES: usize = 4;
        for _ in 0..TRIES {
            if !self.holds_slot(worker) || self.is_claimed() {
                break;
            }
            if let Some(slots) = self.slots.try_lock() {
                return slots;
            }
            worker.pause_at_random();
        }
        self.lock()
    }

    /// Whether forks may be left to workers that keep all processors busy. A driver does not look after them.
    fn leaves_forks(&self) -> bool {
        self.slots.room() == 0 && self.sees_deques()
    }

    /// Ends the worker's search; from now on it counts as parked. If the final check sees work, returns `true` with the worker
    /// searching again, in a slot.
    fn park_searcher(&self, slots: &mut Locked<'_>, worker: &Worker) -> bool {
        let end = slots.park_searcher(worker, || self.sees_work());
        if end == SearchEnd::ParkedLast {
            self.watch(slots);
        } else if end == SearchEnd::Parked && self.leaves_queued() {
            let _is_awake = slots.wake_timed_searcher(None);
        }
        end == SearchEnd::SeesWork
    }

    /// Sleeps until the worker is given a slot, or drives.
    fn park<'a>(&'a self, mut slots: Locked<'a>, worker: &Worker, waker: &mut Option<Waker>) -> Sleep {
        // Since when the worker claims a slot for a broadcast job.
        let mut claimed = None;
        while !slots.is_terminating() {
            worker.watches.store(false, Relaxed);
            if slots.state(worker) == WorkerState::Watching || slots.turn_of(worker).is_some() {
                slots = self.keep_watch(slots, worker);
                continue;
            }
            if slots.state(worker) == WorkerState::Active {
                return Sleep::Needed;
            }
            let claims = slots.claims(worker);
            let drives = waker.is_some() && !claims && slots.begin_drive(worker);
            if !drives && slots.is_driver(worker) {
                slots.stop_driving(worker);
                slots.replace_driver();
            }
            worker.note_processor();
            drop(slots);
            worker.counters.parks.add();
            trace::record(Kind::ParkBegin, worker.number() as u64);
            if claims {
                // A broadcast job waits for this worker. So the worker becomes overdue like any other thread that claims a slot.
                worker.parker.park_timeout(TURN);
            } else if drives {
                if !worker.parker.poll_park(waker) {
                    worker.drives.set(true);
                    return Sleep::Drives;
                }
            } else {
                worker.parker.park();
            }
            trace::record(Kind::ParkEnd, 0);
            if let Some(needed) = self.wakes_up(worker) {
                return needed;
            }
            slots = self.lock();
            if claims && slots.state(worker) == WorkerState::Parked && slots.claims(worker) {
                self.age_claim(&mut slots, worker, *claimed.get_or_insert_with(Instant::now));
                // If the worker has got a slot, its state says so.
                _ = slots.ask_for_slot(worker, false);
            }
        }
        slots.end(worker);
        Sleep::Ended
    }

    /// Looks without the lock whether a worker that wakes up was given a slot. (Its slot's holder is stored last: by then, it counts as searching and is poked.
    /// Relaxed: so `watches` is visible, too. A worker that was made the watcher meanwhile, and then got a slot, is on turn, and does not count as searching.)
    fn wakes_up(&self, worker: &Worker) -> Option<Sleep> {
        (self.holds_slot(worker) && !worker.watches.load(Relaxed)).then_some(Sleep::Needed)
    }

    /// Is the timed searcher while new work is likely, then parks. Returns as [`sleep_until_needed`](Self::sleep_until_needed) does.
    fn timed_search<'a>(
        &'a self,
        mut slots: Locked<'a>,
        worker: &Worker,
        waker: &mut Option<Waker>,
    ) -> Sleep {
        let since = Instant::now();
        // The last look at which there was a driver, or had been one since the look before.
        let mut away = (since, slots.drives());
        let mut from = worker.number();
        // A job may have been queued since this worker last looked, while nobody saw that it is the timed searcher.
        let mut sleeps = self.slots.searching.may_sleep(|| self.is_queued());
        let mut is_idle = false;
        loop {
            if self.slots.room() > 0 {
                from = slots.poke_some(from);
            }
            if sleeps {
                let are_busy = self.slots.is_full() && self.slots.room() == 0 && !is_idle;
                let sleep = nap(since.elapsed(), are_busy);
                worker.note_processor();
                drop(slots);
                worker.counters.naps.add();
                trace::record(Kind::NapBegin, worker.number() as u64);
                is_idle = self.sleep_beside_holders(worker, sleep);
                trace::record(Kind::NapEnd, 0);
                slots = self.lock();
            }
            sleeps = true;
            if slots.state(worker) == WorkerState::Active {
                return Sleep::Needed;
            }
            if slots.state(worker) != WorkerState::TimedSearch {
                // Another worker was woken in its place.
                return self.park(slots, worker, waker);
            }
            if slots.is_terminating() {
                slots.timed_search_is_over();
                // A pool that ends needs no final check.
                let _ = self.slots.searching.end(worker.number());
                return Sleep::Ended;
            }
            let may_be_left = self.slots.room() == 0 && !is_idle;
            let left_for = if may_be_left && self.sees_work() {
                slots.left_since.get_or_insert_with(Instant::now).elapsed()
            } else {
                slots.left_since = None;
                Duration::ZERO
            };
            let for_forks = !may_be_left || left_for > TIMED_SEARCH;
            let keeps_up = waker.is_some() && slots.drives() != away.1;
            if keeps_up || slots.has_driver() {
                away = (Instant::now(), slots.drives());
            }
            let is_needed = !keeps_up && self.is_queued() || for_forks && self.sees_deques();
            if is_needed && slots.occupy_free(worker) {
                if for_forks {
                    slots.left_since = None;
                    worker.search.for_forks.store(true, Relaxed);
                }
                return Sleep::Needed;
            }
            // All slots are taken, so no thread could run a job that this worker finds. It becomes the watcher instead.
            let is_full = !slots.has_free() && (self.has_queued_tasks() || self.is_urged());
            // If the driver is in a long job, this worker drives.
            let drives = waker.is_some() && !slots.has_driver() && away.0.elapsed() >= LONGEST_SLEEP;
            if is_full || drives || since.elapsed() > TIMED_SEARCH {
                slots.timed_search_is_over();
                if self.park_searcher(&mut slots, worker) {
                    return Sleep::Needed;
                }
                return self.park(slots, worker, waker);
            }
        }
    }

    /// Sleeps, and compares the processor time that the slot holders use meanwhile with the time that passes. Returns whether a processor was idle although
    /// there is no room. See "More workers than processors" in `slots.rs`.
    fn sleep_beside_holders(&self, worker: &Worker, time: Duration) -> bool {
        let since = Instant::now();
        let before = self.slots.is_full().then(|| self.slots.used_time());
        worker.parker.park_timeout(time);
        if !self.slots.is_full() {
            self.slots.set_holders_sleep(false);
            return false;
        }
        let Some(before) = before else { return false };
        let all = since.elapsed() * process::processors() as u32;
        // If the difference is negative, or larger than can be, the holders have changed meanwhile.
        let used = self.slots.used_time().checked_sub(before).filter(|&used| used <= all * 5 / 4);
        let Some(used) = used else { return false };
        let is_idle = used < all / 2 && since.elapsed() >= SHORTEST_SLEEP;
        // A holder that was just woken does not run yet, so one idle processor of two says little.
        if !is_idle || used < all / 4 {
            self.slots.set_holders_sleep(is_idle);
        }
        is_idle
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn naps_beside_busy_holders_are_few() {
        let naps = |beside_busy| {
            let mut elapsed = Duration::ZERO;
            let mut count = 0;
            while elapsed <= TIMED_SEARCH {
                elapsed += nap(elapsed, beside_busy);
                count += 1;
            }
            count
        };
        assert!((80..=100).contains(&naps(false)), "{}", naps(false));
        assert!((15..=25).contains(&naps(true)), "{}", naps(true));
        assert_eq!(nap(TIMED_SEARCH, true), LONGEST_BESIDE_BUSY);
    }
}
