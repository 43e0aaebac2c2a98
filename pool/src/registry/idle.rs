//! The sleep protocol: states of workers, slots, and wake-ups.
//!
//! A *slot* is the right to run jobs. In code, `slot` is the index of a slot, and the slot's `holder` is the worker that occupies it.
//! States and slots change under one mutex, the *idle lock*.
//!
//! # States of a worker
//!
//! "Counted" says whether the worker is counted in [`Searching`](crate::searching::Searching).
//!
//! | state | holds a slot | counted | leaves the state when |
//! |---|---|---|---|
//! | running a job | yes, unless its slot was taken over | no | the job ends, or must wait |
//! | searching | yes | yes | it finds a job, or has found none for a while |
//! | waiting for a latch in its slot | yes | no | the latch is set, or it is time to look for jobs again |
//! | timed searcher (at most one) | no | yes | it sees work after one of its sleeps, or has seen none for 20 ms |
//! | parked | no | no | it is given a slot (for work or a broadcast), or becomes the watcher |
//! | blocked (waits for a latch or a slot) | no | no | it is given a slot |
//! | watching (at most one) | no | no | it is given a slot, or no job is queued: see [`turns`] |
//!
//! # Invariants
//!
//! 1. *No lost wake-up.* If a slot is free, a worker sleeps and there is work, then some worker searches or is about to be woken.
//!    A publisher publishes, passes a full fence, and reads the count of searching workers. A worker that ends its search decrements
//!    the count. If it was the last searching worker, it then passes a fence, and looks for work everywhere once more: the [final
//!    check](Registry::final_check). So the publisher sees the new count, or the worker sees the work. A fork must not pay for a full fence. It reads its deque's limit instead, and
//!    the final check sets the limits of all deques before a *heavy* fence. A thread that makes a slot free also does a final check.
//! 2. *No needless wake-up.* A worker is woken to search only if no worker searches and a slot is free, or a slot is taken over
//!    from a stuck holder. If the last searching worker finds a job, it does a final check, and wakes the next worker if there is more
//!    work. If no slot is free, at most one parked worker is woken: it watches the queues without a slot. See [`turns`] for both
//!    exceptions.
//! 3. A worker's state, its slot and the list of free slots change under the idle lock. A worker that is given a slot is unparked.
//!    The token of a parker may be stale, so a worker checks its state after each sleep.
//! 4. A worker that releases its slot has no spawned jobs in its deque, and thieves find its forks on the [shelf](self::shelf)
//!    until it holds a slot again. Exception: a worker that claims a slot at once keeps its jobs. While there are claims, no slot is
//!    free, and searching workers release theirs. So the claimant's jobs become visible before a worker looks for them in vain.
//!
//! # The timed searcher
//!
//! A wake-up costs the waker microseconds. So the last searching worker does not park for another 20 ms. It sleeps for short times,
//! each an eighth of the time for which there has been no work, and still counts as searching. Calls that follow each other closely
//! find a searching worker, and a call that is too small to be shared pays for no wake-up. Meanwhile the pushes of slot holders
//! look up. They wake the timed searcher if their call seems [worth it](Worker::is_worth_a_wake_up). A job that its publisher does not
//! wait for wakes it at once.
//!
//! # Timed waits
//!
//! A worker may have to keep its slot while it waits for a latch: its wait rule says so, or no thread could use the slot. Such a
//! worker sleeps for short times, and looks for jobs that it may run between them. If every slot holder waits in this way, no fork
//! can appear. Then the worker sleeps *long*: for as long as it has found nothing, at most 10 ms. Two steps prevent a lost wake-up:
//! the publisher of a job or a task publishes it, passes a full fence, and wakes the long sleepers; a worker counts itself as a
//! long sleeper, passes a full fence, and looks for queued jobs once more before it sleeps.

mod shelf;
mod sleep;
mod turns;
mod waits;
mod wake;
mod watchdog;

pub(super) use turns::Turns;

use super::Registry;
use crate::worker::Worker;
use std::collections::VecDeque;
use std::ops::{Deref, DerefMut};
use std::sync::MutexGuard;
use std::sync::atomic::Ordering::Relaxed;
use std::thread;
use std::time::{Duration, Instant};

use turns::STUCK;
pub(crate) use waits::Next;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum WorkerState {
    /// Runs a job, searches, or has not begun.
    Active,
    /// Sleeps for short times without a slot, and counts as searching.
    TimedSearch,
    /// Sleeps without a slot until it is needed.
    Parked,
    /// Waits without a slot: for a latch and then for a slot, or for a slot alone.
    Blocked,
    /// Waits for a latch in its slot.
    Waiting,
    /// Watches the queues, without a slot: see [`turns`].
    Watching,
}

/// State that the idle lock protects.
#[derive(Debug)]
pub(super) struct Idle {
    /// State of each worker, by the worker's number.
    states: Vec<WorkerState>,
    /// Numbers of the parked workers. The last one is woken first.
    parked: Vec<usize>,
    /// Number of the timed searcher.
    timed_searcher: Option<usize>,
    /// Indices of the free slots.
    free: Vec<usize>,
    /// Numbers of the workers that wait for a slot, the oldest claim first. A worker here whose state is `Active` has got a slot in
    /// another way.
    claims: VecDeque<usize>,
    /// Number of the next spare thread.
    next_spare: usize,
    /// First number that no spare thread may have.
    max_threads: usize,
    /// Whether the system has refused to start a thread.
    refused: bool,
    /// Whether the pool ends: its threads end as soon as they have nothing to do.
    terminating: bool,
    /// Number of workers that keep their slots and wait for other threads (`Wait::for_others`).
    for_others: usize,
    /// Numbers of the workers without a slot that wait for other threads.
    blocked_for_others: Vec<usize>,
    /// Number of long sleepers: see "Timed waits" in the module's doc.
    long_sleepers: usize,
    /// Numbers of the workers without a slot that have left forks behind. Thieves find those workers here: see `shelf`.
    shelved: Vec<usize>,
    /// Numbers of the workers to unpark when the lock is released. Not earlier, because a woken worker takes the lock first.
    woken: Vec<usize>,
    /// Overdue threads and queues, and the watcher.
    turns: turns::Overdue,
}

impl Idle {
    pub(super) fn new(threads: usize, max_threads: usize) -> Self {
        Idle {
            states: vec![WorkerState::Parked; threads],
            parked: (0..threads).rev().collect(),
            timed_searcher: None,
            free: (0..threads).rev().collect(),
            claims: VecDeque::new(),
            next_spare: threads,
            max_threads,
            refused: false,
            terminating: false,
            for_others: 0,
            blocked_for_others: Vec::new(),
            long_sleepers: 0,
            shelved: Vec::new(),
            woken: Vec::new(),
            turns: turns::Overdue::default(),
        }
    }

    /// Returns a worker without a slot that waits for a latch; by preference one that waits for other threads.
    fn any_blocked(&self) -> Option<usize> {
        let blocked = |number: &usize| self.states[*number] == WorkerState::Blocked;
        self.blocked_for_others.iter().copied().find(blocked).or_else(|| (0..self.states.len()).find(blocked))
    }

    fn state(&mut self, worker: &Worker) -> &mut WorkerState {
        let number = worker.number();
        if number >= self.states.len() {
            self.states.resize(number + 1, WorkerState::Active);
        }
        &mut self.states[number]
    }
}

/// The idle lock, held.
struct Locked<'a> {
    registry: &'a Registry,
    idle: Option<MutexGuard<'a, Idle>>,
}

impl Deref for Locked<'_> {
    type Target = Idle;
    fn deref(&self) -> &Idle {
        self.idle.as_ref().expect("held until dropped")
    }
}

impl DerefMut for Locked<'_> {
    fn deref_mut(&mut self) -> &mut Idle {
        self.idle.as_mut().expect("held until dropped")
    }
}

impl Drop for Locked<'_> {
    fn drop(&mut self) {
        let woken = std::mem::take(&mut self.woken);
        self.idle = None;
        for number in woken {
            self.registry.worker(number).expect("a sleeping worker is there").parker.unpark();
        }
    }
}

impl Registry {
    /// Takes the idle lock.
    fn lock(&self) -> Locked<'_> {
        let idle = self.idle.try_lock().unwrap_or_else(|_| self.lock_contended());
        Locked { registry: self, idle: Some(idle) }
    }

    /// Takes the idle lock when another thread holds it. In a forked child, that thread may have stayed in the parent. Then the lock
    /// will never be released, so the child is aborted.
    #[cold]
    fn lock_contended(&self) -> MutexGuard<'_, Idle> {
        const LONG: Duration = Duration::from_secs(1);
        let since = Instant::now();
        while self.is_inherited() {
            if let Ok(idle) = self.idle.try_lock() {
                return idle;
            }
            if since.elapsed() > LONG {
                self.check_wait();
            }
            thread::sleep(Duration::from_millis(1));
        }
        self.idle.lock().expect("nobody panics with this lock")
    }

    /// Has a worker occupy a slot, and wakes the worker if it sleeps.
    fn occupy(&self, idle: &mut Idle, worker: &Worker, slot: usize) {
        let state = std::mem::replace(idle.state(worker), WorkerState::Active);
        match state {
            WorkerState::Parked => {
                idle.parked.retain(|&number| number != worker.number());
                self.searching.begin();
            }
            WorkerState::TimedSearch => self.timed_search_is_over(idle),
            WorkerState::Watching => {
                self.watch_is_over(idle);
                self.searching.begin();
            }
            WorkerState::Blocked | WorkerState::Active | WorkerState::Waiting => {}
        }
        self.forget_claim(idle, worker.number());
        idle.turns.forget_holder(worker.number());
        worker.set_slot(Some(slot));
        // Workers that ended their search before this moment have poked slot holders only, so not this worker.
        worker.poke();
        self.set_holder(slot, Some(worker));
        // Not before `set_holder`: thieves look without the lock, and must find the worker's jobs on the shelf or by its slot.
        self.unshelve(idle, worker);
        if state != WorkerState::Active {
            idle.woken.push(worker.number());
        }
    }

    /// Notes that there is no timed searcher any more.
    fn timed_search_is_over(&self, idle: &mut Idle) {
        idle.timed_searcher = None;
        self.searching.set_timed_searcher(false);
    }

    /// Takes a free slot, if there is one.
    fn take_free(&self, idle: &mut Idle) -> Option<usize> {
        let slot = idle.free.pop()?;
        self.searching.set_free(idle.free.len());
        Some(slot)
    }

    /// Gives a worker a free slot. If none is free, the worker claims the next one. Returns whether the worker holds a slot now.
    ///
    /// So no worker claims a slot here while one is free (invariant 4).
    fn occupy_or_claim(&self, idle: &mut Idle, worker: &Worker) -> bool {
        let slot = self.take_free(idle);
        match slot {
            Some(slot) => self.occupy(idle, worker, slot),
            None => self.claim(idle, worker),
        }
        slot.is_some()
    }

    /// Queues a worker's claim for the next slot that becomes free.
    fn claim(&self, idle: &mut Idle, worker: &Worker) {
        idle.claims.push_back(worker.number());
        self.claims.store(idle.claims.len(), Relaxed);
    }

    /// Takes a worker's slot away and gives it to the oldest claimant. Without a claimant, the slot becomes free. If the worker has
    /// jobs, it is put on the shelf.
    fn release(&self, idle: &mut Idle, worker: &Worker) {
        let slot = self.withdraw(worker);
        self.shelve(idle, worker);
        if let Some(slot) = slot {
            self.make_available(idle, slot);
        }
    }

    /// Takes a worker's slot away and returns it, unless another worker has [taken it over](turns).
    fn withdraw(&self, worker: &Worker) -> Option<usize> {
        let slot = worker.slot().filter(|_| self.holds_slot(worker));
        worker.set_slot(None);
        if let Some(slot) = slot {
            self.set_holder(slot, None);
        }
        slot
    }

    /// Gives a slot that no worker holds to the oldest claimant. Without a claimant, the slot becomes free.
    fn make_available(&self, idle: &mut Idle, slot: usize) {
        while let Some(number) = idle.claims.pop_front() {
            self.claims.store(idle.claims.len(), Relaxed);
            let worker = self.worker(number).expect("a worker that claims a slot is there");
            if *idle.state(worker) != WorkerState::Active {
                self.occupy(idle, worker, slot);
                return;
            }
        }
        idle.free.push(slot);
        self.searching.set_free(idle.free.len());
    }

    /// Has the pool's threads end as soon as they have nothing to do.
    pub(super) fn terminate(&self) {
        let mut idle = self.lock();
        idle.terminating = true;
        let idle = &mut *idle;
        idle.woken.extend(idle.parked.iter().chain(&idle.timed_searcher).chain(idle.turns.watcher()));
    }
}
