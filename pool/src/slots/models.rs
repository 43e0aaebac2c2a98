//! Models of the slots, with the shipped code: no wake-up is lost, no more workers than slots run, and each claim is served. A model in
//! which a worker sleeps for ever fails.

use super::{Occupant, Priority, SearchEnd, Slots, WakeOutcome, WorkerState};
use crate::models::explore;
use crate::sync::Arc;
use crate::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use crate::sync::latch::Latch;
use crate::sync::parker::Parker;
use loom::thread;
use std::time::Duration;

const NO_SLOT: usize = usize::MAX;

/// A worker without jobs.
struct Toy {
    number: usize,
    slot: AtomicUsize,
    broadcast: AtomicBool,
    parker: Parker,
    /// Number of looks at its processor time. (No part of the model.)
    looks: std::sync::atomic::AtomicU64,
}

impl Occupant for Toy {
    fn number(&self) -> usize {
        self.number
    }

    fn slot(&self) -> Option<usize> {
        Some(self.slot.load(Relaxed)).filter(|&slot| slot != NO_SLOT)
    }

    fn set_slot(&self, slot: Option<usize>) {
        self.slot.store(slot.unwrap_or(NO_SLOT), Relaxed);
    }

    fn has_jobs(&self) -> bool {
        false
    }

    fn poke(&self) {}

    fn request_split(&self) {}

    fn count_barrier(&self) {}

    fn note_take_over(&self) {}

    fn set_woken_more(&self) {}

    fn priority(&self) -> Priority {
        Priority::Normal
    }

    fn rank(&self) -> Priority {
        Priority::Normal
    }

    fn raise(&self, _: Priority) {}

    fn serves(&self) -> Option<usize> {
        None
    }

    fn set_awake_ahead(&self) -> bool {
        false
    }

    fn set_watches(&self) {}

    fn processor(&self) -> Option<usize> {
        None
    }

    fn unpark(&self) {
        self.parker.unpark();
    }

    /// As if a second had passed since the last call.
    fn used_time(&self) -> Option<Duration> {
        Some(Duration::from_secs(self.looks.fetch_add(1, std::sync::atomic::Ordering::Relaxed)))
    }

    fn sleeps(&self) -> Option<bool> {
        None
    }
}

/// A pool of such workers. The pool's own ones come first, and count as parked.
struct Pool {
    slots: Slots<Toy>,
    /// Number of workers that run.
    running: AtomicUsize,
    /// Whether a job is queued.
    work: AtomicBool,
}

impl Pool {
    /// Makes a pool of `threads` slots. Worker `held + 1` and its successors have no slot; those from 1 to `held` hold one each.
    fn new(threads: usize, held: usize) -> Arc<Self> {
        let slots = Slots::new(threads, threads, threads + 4);
        for number in 0..threads + 4 {
            let (slot, broadcast) = (AtomicUsize::new(NO_SLOT), AtomicBool::new(false));
            let looks = std::sync::atomic::AtomicU64::new(0);
            slots.make_worker(number, || Toy { number, slot, broadcast, parker: Parker::new(), looks });
        }
        let pool = Pool { slots, running: AtomicUsize::new(0), work: AtomicBool::new(false) };
        for worker in (1..=held).map(|number| pool.worker(number)) {
            let mut slots = pool.slots.lock();
            if slots.state(worker) == WorkerState::Parked {
                assert!(slots.begin_active(worker));
            }
            assert!(slots.occupy_free(worker));
            pool.running.fetch_add(1, Relaxed);
        }
        Arc::new(pool)
    }

    fn worker(&self, number: usize) -> &Toy {
        self.slots.worker(number).unwrap()
    }

    fn sees_work(&self) -> bool {
        self.work.load(Relaxed)
    }

    /// Begins to run in a slot.
    fn runs(&self, worker: &Toy) {
        assert!(self.slots.holds_slot(worker));
        assert!(
            self.running.fetch_add(1, Relaxed) < self.slots.len(),
            "more workers run than there are slots"
        );
    }

    /// Does not run any more.
    fn stops(&self) {
        self.running.fetch_sub(1, Relaxed);
    }

    /// As `Registry::wait_for_slot`.
    fn wait_for_slot(&self, worker: &Toy) {
        while self.slots.lock().state(worker) != WorkerState::Active {
            worker.parker.park();
        }
        self.runs(worker);
    }

    /// As `Registry::occupy_slot`.
    fn occupy_slot(&self, worker: &Toy) {
        let occupies = self.slots.lock().occupy_or_block(worker);
        if occupies { self.runs(worker) } else { self.wait_for_slot(worker) }
    }

    /// As `Registry::release_slot`.
    fn release_slot(&self, worker: &Toy) {
        self.stops();
        self.slots.lock().release(worker);
        self.final_check(worker);
    }

    fn final_check(&self, worker: &Toy) {
        if self.slots.final_check(worker, || self.sees_work()) {
            self.wake();
        }
    }

    /// As `Registry::wake_if_none_searches`.
    fn wake(&self) {
        if self.slots.searching.needs_searcher() {
            let mut slots = self.slots.lock();
            if let WakeOutcome::NoWorker(slot) = slots.wake_searcher(None) {
                slots.make_available(slot);
            }
        }
    }

    /// As `Registry::inject`.
    fn publish(&self) {
        self.work.store(true, Relaxed);
        self.slots.searching.notify(
            || self.wake(),
            || _ = self.slots.lock().wake_timed_searcher(None),
            || self.slots.lock().wake_waiting(),
        );
    }
}

impl Pool {
    /// Has a worker search in a slot, and a thread publish a job.
    fn begin_search_and_publish(this: &Arc<Self>, worker: &Toy) -> thread::JoinHandle<()> {
        assert!(this.slots.lock().occupy_free(worker));
        let pool = Arc::clone(this);
        thread::spawn(move || pool.publish())
    }
}

/// Three threads share a slot.
#[test]
fn every_claim_is_served() {
    explore(Some(3), || {
        let pool = Pool::new(1, 1);
        let others: Vec<_> = (2..4)
            .map(|number| {
                let pool = Arc::clone(&pool);
                thread::spawn(move || {
                    let worker = pool.worker(number);
                    pool.occupy_slot(worker);
                    pool.release_slot(worker);
                })
            })
            .collect();
        pool.release_slot(pool.worker(1));
        others.into_iter().for_each(|other| other.join().unwrap());
        let slots = pool.slots.lock();
        assert!(slots.has_free() && !slots.has_claims() && pool.slots.first_claim().is_none());
    });
}

/// A job is published while the last searching worker parks.
#[test]
fn a_worker_that_parks_misses_no_job() {
    explore(None, || {
        let pool = Pool::new(1, 0);
        let worker = pool.worker(0);
        let publisher = Pool::begin_search_and_publish(&pool, worker);
        let mut slots = pool.slots.lock();
        slots.release(worker);
        let end = slots.park_searcher(worker, || pool.sees_work());
        drop(slots);
        if end != SearchEnd::SeesWork {
            pool.wait_for_slot(worker);
        }
        publisher.join().unwrap();
        assert!(pool.sees_work() && pool.slots.holds_slot(worker));
        assert!(pool.slots.searching.end(worker.number()), "the worker searches");
    });
}

/// A job is published while the last searching worker becomes the timed searcher. It is woken, or sees the job after its sleep.
#[test]
fn a_timed_searcher_gets_a_slot_for_a_job() {
    explore(None, || {
        let pool = Pool::new(1, 0);
        let worker = pool.worker(0);
        let publisher = Pool::begin_search_and_publish(&pool, worker);
        let mut slots = pool.slots.lock();
        slots.release(worker);
        assert!(slots.begin_timed_search(worker));
        drop(slots);
        // The time of one sleep.
        publisher.join().unwrap();
        let mut slots = pool.slots.lock();
        assert!(slots.state(worker) == WorkerState::Active || pool.sees_work() && slots.occupy_free(worker));
        drop(slots);
        assert!(pool.slots.holds_slot(worker) && !pool.slots.searching.has_timed_searcher());
        assert!(pool.slots.searching.end(worker.number()), "the worker searches");
    });
}

/// A job is published while a slot becomes free, and all workers but the one that frees it are parked.
#[test]
fn a_slot_that_becomes_free_is_used() {
    explore(Some(3), || {
        let pool = Pool::new(1, 0);
        assert!(pool.slots.lock().occupy_or_block(pool.worker(1)));
        pool.runs(pool.worker(1));
        let publisher = {
            let pool = Arc::clone(&pool);
            thread::spawn(move || pool.publish())
        };
        let parked = {
            let pool = Arc::clone(&pool);
            thread::spawn(move || pool.wait_for_slot(pool.worker(0)))
        };
        pool.release_slot(pool.worker(1));
        publisher.join().unwrap();
        parked.join().unwrap();
    });
}

/// A worker without a slot blocks while it is sent a broadcast job, and the slot's holder releases the slot.
#[test]
fn a_pending_broadcast_is_claimed() {
    explore(Some(3), || {
        let pool = Pool::new(1, 1);
        let sender = {
            let pool = Arc::clone(&pool);
            thread::spawn(move || {
                let worker = pool.worker(2);
                worker.broadcast.store(true, Relaxed);
                pool.slots.lock().call(worker);
            })
        };
        let blocked = {
            let pool = Arc::clone(&pool);
            thread::spawn(move || {
                let worker = pool.worker(2);
                let mut slots = pool.slots.lock();
                slots.block(worker, true, worker.broadcast.load(Relaxed));
                drop(slots);
                pool.final_check(worker);
                pool.wait_for_slot(worker);
                assert!(worker.broadcast.load(Relaxed));
                pool.slots.lock().end_block_for_others(worker);
                pool.release_slot(worker);
            })
        };
        pool.release_slot(pool.worker(1));
        sender.join().unwrap();
        blocked.join().unwrap();
        assert!(pool.slots.lock().has_free());
    });
}

/// The waiter of a latch blocks without a slot while the latch is set. It gets the setter's slot, or claims one.
#[test]
fn a_blocked_waiter_gets_a_slot() {
    explore(Some(3), || {
        let pool = Pool::new(1, 1);
        let latch = Arc::new(Latch::new());
        let setter = {
            let (pool, latch) = (Arc::clone(&pool), Arc::clone(&latch));
            thread::spawn(move || {
                let (setter, waiter) = (pool.worker(1), pool.worker(2));
                pool.stops();
                // SAFETY: set once; this thread and the waiter keep the latch.
                unsafe { Latch::set(&raw const *latch, || pool.slots.lock().resume(waiter, Some(setter))) };
                if setter.slot().is_some() {
                    pool.slots.lock().release(setter);
                    pool.final_check(setter);
                }
            })
        };
        let waiter = pool.worker(2);
        let mut slots = pool.slots.lock();
        if latch.will_wait() {
            slots.block(waiter, false, false);
            drop(slots);
            pool.wait_for_slot(waiter);
        } else {
            drop(slots);
            pool.occupy_slot(waiter);
        }
        assert!(latch.is_set());
        pool.release_slot(waiter);
        setter.join().unwrap();
    });
}

/// The waiter of a latch blocks without a slot while a thread from outside sets the latch, and the slot's holder releases the slot.
#[test]
fn a_blocked_waiter_claims_a_slot() {
    explore(Some(3), || {
        let pool = Pool::new(1, 1);
        let latch = Arc::new(Latch::new());
        let outside = {
            let (pool, latch) = (Arc::clone(&pool), Arc::clone(&latch));
            thread::spawn(move || {
                let waiter = pool.worker(2);
                // SAFETY: as above.
                unsafe { Latch::set(&raw const *latch, || pool.slots.lock().resume(waiter, None)) };
            })
        };
        let holder = {
            let pool = Arc::clone(&pool);
            thread::spawn(move || pool.release_slot(pool.worker(1)))
        };
        let waiter = pool.worker(2);
        let mut slots = pool.slots.lock();
        if latch.will_wait() {
            slots.block(waiter, false, false);
            drop(slots);
            pool.wait_for_slot(waiter);
        } else {
            drop(slots);
            pool.occupy_slot(waiter);
        }
        pool.release_slot(waiter);
        outside.join().unwrap();
        holder.join().unwrap();
    });
}

/// The waiter of a latch sleeps in its slot while the latch is set. It is woken.
#[test]
fn a_waiter_in_its_slot_is_woken() {
    explore(None, || {
        let pool = Pool::new(2, 2);
        let latch = Arc::new(Latch::new());
        let setter = {
            let (pool, latch) = (Arc::clone(&pool), Arc::clone(&latch));
            thread::spawn(move || {
                let (setter, waiter) = (pool.worker(2), pool.worker(1));
                // SAFETY: as above.
                unsafe { Latch::set(&raw const *latch, || pool.slots.lock().resume(waiter, Some(setter))) };
            })
        };
        let waiter = pool.worker(1);
        let mut slots = pool.slots.lock();
        if latch.will_wait() {
            slots.wait(waiter, false);
            drop(slots);
            waiter.parker.park();
            pool.slots.lock().end_wait(waiter, false);
        } else {
            drop(slots);
        }
        assert!(latch.is_set() && pool.slots.holds_slot(waiter));
        setter.join().unwrap();
    });
}

/// A thread is overdue while a worker is busy. The worker gives it a slot at a cooperative point, and gets the slot back.
#[test]
fn both_threads_of_a_turn_get_the_slot() {
    explore(Some(3), || {
        let pool = Pool::new(1, 1);
        let overdue = {
            let pool = Arc::clone(&pool);
            thread::spawn(move || {
                let worker = pool.worker(2);
                if !pool.slots.lock().occupy_or_block(worker) {
                    let mut slots = pool.slots.lock();
                    if slots.state(worker) != WorkerState::Active {
                        assert!(!slots.ask_for_slot(worker, false), "the holder is not stuck");
                    }
                    drop(slots);
                    pool.wait_for_slot(worker);
                } else {
                    pool.runs(worker);
                }
                pool.release_slot(worker);
            })
        };
        let busy = pool.worker(1);
        if pool.slots.is_slot_wanted() {
            pool.stops();
            let gives = pool.slots.lock().give_turn(busy);
            if gives { pool.wait_for_slot(busy) } else { pool.runs(busy) }
        }
        pool.release_slot(busy);
        overdue.join().unwrap();
        assert!(pool.slots.lock().has_free() && !pool.slots.is_slot_wanted());
    });
}

/// A watcher borrows the slot of a worker in a long leaf. The worker meanwhile ends its job, or comes to a cooperative point. The slot has
/// one holder at a time, and is not lost.
#[test]
fn a_borrowed_slot_is_not_lost() {
    for ends_job in [true, false] {
        explore(Some(3), move || {
            let pool = Pool::new(1, 1);
            let borrower = {
                let pool = Arc::clone(&pool);
                thread::spawn(move || {
                    let watcher = pool.worker(2);
                    let mut slots = pool.slots.lock();
                    slots.begin_watch(watcher);
                    assert!(!slots.ask_for_slot(watcher, false), "the holder is not stuck");
                    let is_lent = slots.lend(watcher);
                    drop(slots);
                    if is_lent {
                        assert!(pool.slots.holds_slot(watcher));
                        let mut slots = pool.slots.lock();
                        let is_claimed = pool.slots.first_claim().is_some();
                        let searches = slots.end_turn(watcher, false, is_claimed);
                        drop(slots);
                        if searches {
                            assert!(pool.slots.searching.end(watcher.number()));
                            pool.slots.lock().release(watcher);
                        }
                    }
                    pool.slots.lock().watch_is_over();
                })
            };
            let lender = pool.worker(1);
            if !pool.slots.holds_slot(lender) {
                pool.stops();
                let mut slots = pool.slots.lock();
                if ends_job {
                    // As in `Registry::work`.
                    if slots.forget_lost(lender) {
                        drop(slots);
                        borrower.join().unwrap();
                        return assert!(pool.slots.lock().has_free());
                    }
                } else if slots.forget_lost(lender) && !slots.occupy_or_block(lender) {
                    drop(slots);
                    pool.wait_for_slot(lender);
                    pool.stops();
                }
                pool.running.store(1, Relaxed);
            }
            assert!(pool.slots.holds_slot(lender));
            pool.release_slot(lender);
            borrower.join().unwrap();
            assert!(pool.slots.lock().has_free() && !pool.slots.lock().has_claims());
        });
    }
}
