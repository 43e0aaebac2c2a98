//! Tasks that are woken while the workers that could run them go to sleep.
//!
//! Workers take tasks, sleep and are woken as in the pool, on the real parker. If a wake-up is lost, a worker sleeps for ever,
//! and loom reports a deadlock. The sleeps of the timed searcher, which only delay it, take no time.

use super::super::Searching;
use crate::models::explore;
use crate::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use crate::sync::parker::Parker;
use crate::sync::{Mutex, MutexGuard};
use loom::thread;
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

/// Length of a long sleep. Zero, because loom has no time.
const LONG_SLEEP: Duration = Duration::ZERO;

/// As the pool's sets of woken tasks: a queue under a lock, and its length, which is read without the lock.
struct Set {
    len: AtomicUsize,
    tasks: Mutex<VecDeque<u8>>,
}

impl Set {
    fn add(&self, task: u8) {
        let mut tasks = self.tasks.lock().unwrap();
        tasks.push_back(task);
        self.len.store(tasks.len(), Relaxed);
    }

    fn take(&self) -> Option<u8> {
        if self.is_empty() {
            return None;
        }
        let mut tasks = self.tasks.lock().unwrap();
        let task = tasks.pop_front()?;
        self.len.store(tasks.len(), Relaxed);
        Some(task)
    }

    fn is_empty(&self) -> bool {
        self.len.load(Relaxed) == 0
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Active,
    TimedSearch,
    Parked,
    /// Waits for a latch in its slot.
    Waiting,
    /// Runs an endless job in its slot.
    Busy,
    /// Watches the set, without a slot.
    Watching,
}

/// State that the slot lock protects.
struct Idle {
    states: Vec<State>,
    free: usize,
    long_sleepers: usize,
}

/// A pool, with as many slots as workers.
struct Pool {
    searching: Searching,
    set: Set,
    idle: Mutex<Idle>,
    parkers: Vec<Parker>,
}

impl Pool {
    /// Makes a pool whose workers are in these states. Active ones begin to search.
    fn new(states: &[State]) -> Arc<Self> {
        let count = |wanted: State| states.iter().filter(|&&state| state == wanted).count();
        // As many slots as workers, but for those that are parked beside one that is busy.
        let free = count(State::Parked).saturating_sub(count(State::Busy) + count(State::Watching));
        let searching = Searching::new(free, states.len());
        searching.set_watched(count(State::Watching) > 0);
        (0..states.len()).filter(|&n| states[n] == State::Active).for_each(|n| searching.begin(n));
        Arc::new(Pool {
            searching,
            set: Set { len: AtomicUsize::new(0), tasks: Mutex::new(VecDeque::new()) },
            idle: Mutex::new(Idle { states: states.to_vec(), free, long_sleepers: 0 }),
            parkers: states.iter().map(|_| Parker::new()).collect(),
        })
    }

    fn thread<R: 'static>(
        self: &Arc<Self>,
        acts: impl FnOnce(&Pool) -> R + 'static,
    ) -> thread::JoinHandle<R> {
        let pool = Arc::clone(self);
        thread::spawn(move || acts(&pool))
    }

    fn lock(&self) -> MutexGuard<'_, Idle> {
        self.idle.lock().unwrap()
    }

    /// As `Registry::make_stealable`.
    fn wake(&self, task: u8) {
        self.set.add(task);
        self.searching.notify(
            || self.wake_if_none_searches(),
            || self.wake_timed_searcher(),
            || self.wake_long_sleepers(),
        );
    }

    /// As `Registry::wake_if_none_searches`.
    fn wake_if_none_searches(&self) {
        if !self.searching.needs_searcher() {
            return self.watch_if_needed();
        }
        let mut idle = self.lock();
        if self.searching.no_searcher() {
            if idle.free == 0 {
                return self.watch(&mut idle);
            }
            self.occupy_one(&mut idle, State::Parked);
        }
    }

    /// As `Registry::watch_if_needed`.
    fn watch_if_needed(&self) {
        if self.searching.needs_watcher() && !self.set.is_empty() {
            self.watch(&mut self.lock());
        }
    }

    /// As `Registry::watch`.
    fn watch(&self, idle: &mut Idle) {
        if !self.searching.needs_watcher() || self.set.is_empty() {
            return;
        }
        if let Some(number) = idle.states.iter().position(|state| *state == State::Parked) {
            self.searching.set_watched(true);
            idle.states[number] = State::Watching;
            self.parkers[number].unpark();
        }
    }

    /// As `Registry::keep_watch`: returns the next task, which runs in a slot that a busy worker gives. A watcher that sees no task
    /// stops.
    fn watch_for_one(&self, number: usize) -> u8 {
        let mut idle = self.lock();
        loop {
            match idle.states[number] {
                State::Watching => {
                    // The slot is given at once. (In the pool that takes pokes, and time. Neither has a model here.)
                    if let Some(task) = self.set.take() {
                        return task;
                    }
                    // As `Registry::stop_watching`.
                    self.searching.set_watched(false);
                    idle.states[number] = State::Parked;
                    if !self.searching.may_sleep(|| !self.set.is_empty()) {
                        self.watch(&mut idle);
                    }
                }
                State::Parked => {
                    drop(idle);
                    self.parkers[number].park();
                    idle = self.lock();
                }
                state => unreachable!("{state:?} without a slot"),
            }
        }
    }

    /// As `Registry::wake_timed_searcher`.
    fn wake_timed_searcher(&self) {
        self.occupy_one(&mut self.lock(), State::TimedSearch);
    }

    /// As `Registry::wake_long_sleepers`.
    fn wake_long_sleepers(&self) {
        let idle = self.lock();
        let waiting = idle.states.iter().zip(&self.parkers).filter(|(state, _)| **state == State::Waiting);
        waiting.for_each(|(_, parker)| _ = parker.unpark());
    }

    /// Gives a free slot to a worker in that state, if there are both.
    fn occupy_one(&self, idle: &mut Idle, wanted: State) {
        let found = idle.states.iter().position(|state| *state == wanted);
        if let Some(number) = found.filter(|_| idle.free > 0) {
            self.occupy(idle, number);
            self.parkers[number].unpark();
        }
    }

    /// As `Registry::occupy`.
    fn occupy(&self, idle: &mut Idle, number: usize) {
        idle.free -= 1;
        self.searching.set_free(idle.free, 0, false);
        match std::mem::replace(&mut idle.states[number], State::Active) {
            State::TimedSearch => self.searching.set_timed_searcher(false),
            State::Parked => self.searching.begin(number),
            state => unreachable!("{state:?} in a slot"),
        }
    }

    /// Returns a searching worker's next task. The worker does not search any more.
    fn next(&self, number: usize, timed: bool) -> u8 {
        loop {
            if let Some(task) = self.set.take() {
                // As `Registry::end_search`.
                if self.searching.end(number) && self.searching.final_check(|| (), || !self.set.is_empty()) {
                    self.wake_if_none_searches();
                }
                return task;
            }
            self.sleep_until_needed(number, timed);
        }
    }

    /// As `Registry::sleep_until_needed`.
    fn sleep_until_needed(&self, number: usize, timed: bool) {
        let mut idle = self.lock();
        idle.free += 1;
        self.searching.set_free(idle.free, 0, false);
        if timed {
            idle.states[number] = State::TimedSearch;
            self.searching.set_timed_searcher(true);
            drop(idle);
            idle = self.lock();
            if idle.states[number] == State::Active {
                return;
            }
            if !self.set.is_empty() {
                return self.occupy(&mut idle, number);
            }
            self.searching.set_timed_searcher(false);
        }
        idle.states[number] = State::Parked;
        if self.searching.end(number) && self.searching.final_check(|| (), || !self.set.is_empty()) {
            return self.occupy(&mut idle, number);
        }
        self.park(idle, number);
    }

    /// As `Registry::park`.
    fn park<'a>(&'a self, mut idle: MutexGuard<'a, Idle>, number: usize) {
        while idle.states[number] != State::Active {
            drop(idle);
            self.parkers[number].park();
            idle = self.lock();
        }
    }

    /// As `Registry::block`: returns the next task that a worker finds while it keeps its slot and sleeps long.
    fn next_while_waiting(&self, number: usize) -> u8 {
        loop {
            if let Some(task) = self.set.take() {
                return task;
            }
            let mut idle = self.lock();
            idle.states[number] = State::Waiting;
            idle.long_sleepers += 1;
            self.searching.set_long_sleepers(idle.long_sleepers);
            drop(idle);
            if self.searching.may_sleep(|| !self.set.is_empty()) {
                self.parkers[number].park_timeout(LONG_SLEEP);
            }
            let mut idle = self.lock();
            idle.long_sleepers -= 1;
            self.searching.set_long_sleepers(idle.long_sleepers);
            idle.states[number] = State::Active;
        }
    }
}

#[test]
fn against_the_last_worker_that_parks() {
    explore(None, || {
        let pool = Pool::new(&[State::Active]);
        let worker = pool.thread(|pool| pool.next(0, false));
        pool.wake(7);
        assert_eq!(worker.join().unwrap(), 7);
    });
}

#[test]
fn against_the_end_of_the_timed_search() {
    explore(None, || {
        let pool = Pool::new(&[State::Active]);
        let worker = pool.thread(|pool| pool.next(0, true));
        pool.wake(7);
        assert_eq!(worker.join().unwrap(), 7);
    });
}

/// The second one may rely on the first one's wake-up.
#[test]
fn two_against_the_last_worker_that_parks() {
    explore(Some(2), || {
        let pool = Pool::new(&[State::Active]);
        let other = pool.thread(|pool| pool.wake(1));
        let worker = pool.thread(|pool| {
            let first = pool.next(0, false);
            // The task has ended, and the worker searches for another one.
            pool.searching.begin(0);
            first + pool.next(0, false)
        });
        pool.wake(2);
        other.join().unwrap();
        assert_eq!(worker.join().unwrap(), 3);
    });
}

/// The task that is taken first never ends. The other one is for the parked worker.
#[test]
fn against_the_last_searcher_that_finds_another_one() {
    explore(Some(2), || {
        let pool = Pool::new(&[State::Active, State::Parked]);
        let searcher = pool.thread(|pool| pool.next(0, false));
        let parked = pool.thread(|pool| {
            pool.park(pool.lock(), 1);
            pool.next(1, false)
        });
        pool.wake(1);
        pool.wake(2);
        assert_eq!(searcher.join().unwrap() + parked.join().unwrap(), 3);
    });
}

/// No worker searches, and no slot is free.
#[test]
fn against_a_long_sleeper() {
    explore(None, || {
        let pool = Pool::new(&[State::Waiting]);
        let worker = pool.thread(|pool| pool.next_while_waiting(0));
        pool.wake(7);
        assert_eq!(worker.join().unwrap(), 7);
    });
}

/// No slot is free and no worker searches: a parked worker is made to watch.
#[test]
fn against_a_busy_pool() {
    explore(None, || {
        let pool = Pool::new(&[State::Busy, State::Parked]);
        let watcher = pool.thread(|pool| pool.watch_for_one(1));
        pool.wake(7);
        assert_eq!(watcher.join().unwrap(), 7);
    });
}

/// As before, but the only slot holder searches at first, and then finds an endless job.
#[test]
fn against_the_last_searcher_of_a_full_pool() {
    explore(None, || {
        let pool = Pool::new(&[State::Busy, State::Parked]);
        pool.searching.begin(0);
        let watcher = pool.thread(|pool| pool.watch_for_one(1));
        let searcher = pool.thread(|pool| {
            // As `Registry::end_search`.
            if pool.searching.end(0) && !pool.searching.final_check(|| (), || !pool.set.is_empty()) {
                pool.watch_if_needed();
            }
        });
        pool.wake(7);
        searcher.join().unwrap();
        assert_eq!(watcher.join().unwrap(), 7);
    });
}

#[test]
fn against_a_watcher_that_stops() {
    explore(None, || {
        let pool = Pool::new(&[State::Busy, State::Watching]);
        let watcher = pool.thread(|pool| pool.watch_for_one(1));
        pool.wake(7);
        assert_eq!(watcher.join().unwrap(), 7);
    });
}
