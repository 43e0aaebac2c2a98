//! Models of invariant 1 of the sleep protocol: work of every kind, published while the last search ends, wakes a worker.

mod woken;

use super::{GROUP, Searching};
use crate::deque::Deque;
use crate::models::explore;
use crate::sync::atomic::{AtomicBool, Ordering::Relaxed};
use crate::sync::{Arc, Mutex};
use loom::thread;
use std::ptr::NonNull;

/// A pool with one free slot, one worker that searches and is about to park, and another slot's worker.
struct Pool {
    searching: Searching,
    forks: Deque<u8>,
    injected: AtomicBool,
    parked: Mutex<bool>,
}

impl Pool {
    fn new(free: usize) -> Arc<Self> {
        Self::with_groups(free, 0)
    }

    fn with_groups(free: usize, groups: usize) -> Arc<Self> {
        let searching = Searching::with_groups(free, groups, GROUP);
        searching.begin(0);
        Arc::new(Pool {
            searching,
            forks: Deque::new(2, false),
            injected: AtomicBool::new(false),
            parked: Mutex::new(false),
        })
    }

    fn sees_work(&self) -> bool {
        self.injected.load(Relaxed) || !self.forks.is_empty()
    }

    /// As `Registry::wake_if_none_searches`.
    fn wake(&self) {
        if self.searching.needs_searcher() {
            let mut parked = self.parked.lock().unwrap();
            if self.searching.no_searcher() && *parked {
                *parked = false;
                self.searching.begin(0);
            }
        }
    }

    /// As `Worker::fork` up to the left half, on the worker with number 1.
    fn fork(&self) {
        // SAFETY: one thread of each model forks.
        let (_, look_up) = unsafe { self.forks.push(NonNull::dangling()) };
        // SAFETY: as above.
        if look_up && unsafe { self.forks.publish(false) } && self.searching.no_searcher_for(1) {
            self.wake();
        }
    }

    /// As `Registry::inject`.
    fn inject(&self) {
        self.injected.store(true, Relaxed);
        self.searching.notify(
            || self.wake(),
            || unreachable!("no timed searcher"),
            || unreachable!("no worker sleeps long"),
        );
    }

    /// As `Registry::park_searcher`.
    fn park(&self) {
        let mut parked = self.parked.lock().unwrap();
        *parked = true;
        if self.searching.end(0)
            && self.searching.final_check(|| self.forks.request_split(), || self.sees_work())
        {
            *parked = false;
            self.searching.begin(0);
        }
    }

    /// As `Registry::end_search`.
    fn find_work(&self, worker: usize) {
        if self.searching.end(worker) {
            self.final_check();
        }
    }

    fn final_check(&self) {
        if self.searching.final_check(|| self.forks.request_split(), || self.sees_work()) {
            self.wake();
        }
    }

    fn assert_awake(&self) {
        let work = self.sees_work();
        assert!(!work || !*self.parked.lock().unwrap(), "there is work, and every worker sleeps");
    }
}

#[test]
fn a_fork_against_the_last_worker_that_parks() {
    explore(None, || {
        let pool = Pool::new(1);
        let sleeper = {
            let pool = Arc::clone(&pool);
            thread::spawn(move || pool.park())
        };
        pool.fork();
        sleeper.join().unwrap();
        pool.assert_awake();
    });
}

#[test]
fn an_injected_job_against_the_last_worker_that_parks() {
    explore(None, || {
        let pool = Pool::new(1);
        let sleeper = {
            let pool = Arc::clone(&pool);
            thread::spawn(move || pool.park())
        };
        pool.inject();
        sleeper.join().unwrap();
        pool.assert_awake();
    });
}

/// The searching worker finds work elsewhere, while another one is parked already.
#[test]
fn a_fork_against_the_last_searcher_that_finds_work() {
    explore(None, || {
        let pool = Pool::new(1);
        *pool.parked.lock().unwrap() = true;
        let searcher = {
            let pool = Arc::clone(&pool);
            thread::spawn(move || pool.find_work(0))
        };
        pool.fork();
        searcher.join().unwrap();
        pool.assert_awake();
    });
}

/// As before, but another worker of the same group begins to search meanwhile, and finds work too (invariant 5).
#[test]
fn a_fork_against_two_searchers_of_a_group() {
    explore(Some(3), || {
        let pool = Pool::with_groups(1, 1);
        *pool.parked.lock().unwrap() = true;
        let searchers = [0, 1].map(|worker| {
            let pool = Arc::clone(&pool);
            thread::spawn(move || {
                if worker > 0 {
                    pool.searching.begin(worker);
                }
                pool.find_work(worker);
            })
        });
        pool.fork();
        searchers.into_iter().for_each(|searcher| searcher.join().unwrap());
        pool.assert_awake();
    });
}

/// No worker searches, because no slot was free. The thread that makes a slot free does the final check.
#[test]
fn a_fork_against_a_slot_that_becomes_free() {
    explore(None, || {
        let pool = Pool::new(0);
        *pool.parked.lock().unwrap() = true;
        assert!(pool.searching.end(0));
        let leaver = {
            let pool = Arc::clone(&pool);
            thread::spawn(move || {
                pool.searching.set_free(1, 0, false);
                pool.final_check();
            })
        };
        pool.fork();
        leaver.join().unwrap();
        pool.assert_awake();
    });
}

/// Two forks of different kinds of work, one sleeper: the second publisher may rely on the first one's wake-up.
#[test]
fn a_fork_and_an_injected_job_against_the_last_worker_that_parks() {
    explore(None, || {
        let pool = Pool::new(1);
        let sleeper = {
            let pool = Arc::clone(&pool);
            thread::spawn(move || pool.park())
        };
        let injector = {
            let pool = Arc::clone(&pool);
            thread::spawn(move || pool.inject())
        };
        pool.fork();
        sleeper.join().unwrap();
        injector.join().unwrap();
        pool.assert_awake();
    });
}

/// The last searcher parks while no slot is free, and a slot becomes free. One of the two final checks sees the fork.
#[test]
fn a_slot_that_becomes_free_against_the_last_worker_that_parks() {
    explore(None, || {
        let pool = Pool::new(0);
        pool.fork();
        let sleeper = {
            let pool = Arc::clone(&pool);
            thread::spawn(move || pool.find_work(0))
        };
        *pool.parked.lock().unwrap() = true;
        pool.searching.set_free(1, 0, false);
        pool.final_check();
        sleeper.join().unwrap();
        pool.assert_awake();
    });
}
