//! Who rests, who holds a place, and who is woken: the sleep protocol.
//!
//! # States of a worker
//!
//! | state | holds a place | counted in `alert` | leaves it when |
//! |---|---|---|---|
//! | running a job | yes | no | the job ends, or must wait |
//! | searching | yes | yes | it finds a job, or none for a while |
//! | napping (at most one) | no | yes | it sees work at the end of a nap, or has napped long enough |
//! | parked | no | no | it is given a place: there is work for one more, or a broadcast |
//! | blocked (waits for a latch) | no | no | the latch is set: it is given a place |
//! | watching (at most one) | no | no | it is given a place, or no task is queued: see [`turns`] |
//!
//! # Invariants
//!
//! 1. *No lost wake-up.* While a place is free, a worker rests and work is there, somebody is alert or about to wake
//!    somebody. A publisher publishes, passes a full fence, and looks at `alert`; who ceases to be alert says so in
//!    `alert`, passes a fence, and looks for work once more, everywhere ([`look_out`](Registry::look_out)). One of the
//!    two sees the other. The publisher that must not pay for a fence, a fork, looks at its deque's limit instead, which
//!    whoever ceases to be alert sets before a *heavy* fence. A place that becomes free is looked out for as well.
//! 2. *No needless one.* Nobody is woken while somebody is alert, nor while no place is free: a searcher that finds
//!    work looks out whether there is more.
//! 3. A worker's state, its place and the list of free places change under the rest lock. Who is given a place gets a
//!    token from its parker; tokens may be stale, so whoever parks looks at its state.
//! 4. A worker that gives up its slot has no spawned jobs in its deque, and thieves find its forks on the [shelf](self::shelf)
//!    until it holds a slot again; unless it claims a slot at once. As long as there are claims no slot is free, and searching
//!    workers give theirs up. So the claimant's jobs become visible before anybody would look for them in vain.
//!
//! # Naps
//!
//! A wake-up costs the waker microseconds. So the last worker that looks for work stays alert for some 20 ms by napping
//! for a fraction of the time for which there was nothing to do: calls that follow each other find it so, and those that
//! are too small to be shared pay for no wake-up. While it naps, forks look up, and wake it if their call seems
//! [worth it](Worker::is_worth_a_wake_up). Work that its publisher does not wait for ends the nap at once.
//!
//! # Dozes
//!
//! A worker that waits for a latch on its place, because it may not give that away or nobody could take it, sleeps for short
//! times and looks for what it may run in between. If everybody who holds a place does so, nobody can fork anything; so it
//! sleeps for as long as it has found nothing, at most 10 ms. Whoever queues a job or a task from then on wakes it: it
//! publishes, passes a full fence, and looks for those who doze, who have said so, passed one, and looked once more.

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
enum State {
    /// Running, searching, or not there at all.
    Active,
    Napping,
    Parked,
    /// Waits for a place, or for a latch first.
    Blocked,
    /// Waits for a latch on its place.
    Waiting,
    /// Watches queued tasks, without a slot: see [`turns`].
    Watching,
}

/// What the rest lock protects.
#[derive(Debug)]
pub(super) struct Rest {
    /// By number.
    states: Vec<State>,
    parked: Vec<usize>,
    napper: Option<usize>,
    free: Vec<usize>,
    /// Who waits for a place, first come first served. Those that are active by now have got one otherwise.
    claims: VecDeque<usize>,
    /// The next spare thread's number, and the first number that none may have.
    next_spare: usize,
    max_threads: usize,
    /// The system has refused to start a thread.
    refused: bool,
    terminating: bool,
    /// How many wait on their places for what other threads do.
    abroad: usize,
    /// Who waits for that without a place.
    abroad_blocked: Vec<usize>,
    /// How many wait on their places, for longer and longer.
    dozing: usize,
    /// Numbers of the workers without a slot that have left forks behind, which thieves find here: see `shelf`.
    shelved: Vec<usize>,
    /// Who is to get a token when the lock is released: whoever wakes wants the lock first.
    woken: Vec<usize>,
    turns: turns::Overdue,
}

impl Rest {
    pub(super) fn new(threads: usize, max_threads: usize) -> Self {
        Rest {
            states: vec![State::Parked; threads],
            parked: (0..threads).rev().collect(),
            napper: None,
            free: (0..threads).rev().collect(),
            claims: VecDeque::new(),
            next_spare: threads,
            max_threads,
            refused: false,
            terminating: false,
            abroad: 0,
            abroad_blocked: Vec::new(),
            dozing: 0,
            shelved: Vec::new(),
            woken: Vec::new(),
            turns: turns::Overdue::default(),
        }
    }

    /// A worker that waits for a latch without a place: if there is one, one that waits for what other threads do.
    fn any_blocked(&self) -> Option<usize> {
        let blocked = |number: &usize| self.states[*number] == State::Blocked;
        self.abroad_blocked.iter().copied().find(blocked).or_else(|| (0..self.states.len()).find(blocked))
    }

    fn state(&mut self, worker: &Worker) -> &mut State {
        let number = worker.number();
        if number >= self.states.len() {
            self.states.resize(number + 1, State::Active);
        }
        &mut self.states[number]
    }
}

/// The rest lock, held.
struct Locked<'a> {
    registry: &'a Registry,
    rest: Option<MutexGuard<'a, Rest>>,
}

impl Deref for Locked<'_> {
    type Target = Rest;
    fn deref(&self) -> &Rest {
        self.rest.as_ref().expect("held until dropped")
    }
}

impl DerefMut for Locked<'_> {
    fn deref_mut(&mut self) -> &mut Rest {
        self.rest.as_mut().expect("held until dropped")
    }
}

impl Drop for Locked<'_> {
    fn drop(&mut self) {
        let woken = std::mem::take(&mut self.woken);
        self.rest = None;
        for number in woken {
            self.registry.worker(number).expect("a worker that rests is there").parker.unpark();
        }
    }
}

impl Registry {
    fn lock(&self) -> Locked<'_> {
        let rest = self.rest.try_lock().unwrap_or_else(|_| self.lock_contended());
        Locked { registry: self, rest: Some(rest) }
    }

    /// Locks when another thread holds the lock. In a forked child that thread may have stayed in the parent. Then the lock will never
    /// be released, so the child is aborted.
    #[cold]
    fn lock_contended(&self) -> MutexGuard<'_, Rest> {
        const LONG: Duration = Duration::from_secs(1);
        let since = Instant::now();
        while self.is_inherited() {
            if let Ok(rest) = self.rest.try_lock() {
                return rest;
            }
            if since.elapsed() > LONG {
                self.check_wait();
            }
            thread::sleep(Duration::from_millis(1));
        }
        self.rest.lock().expect("nobody panics with this lock")
    }

    /// Gives a worker a place, and has it go on if it rests.
    fn seat(&self, rest: &mut Rest, worker: &Worker, place: usize) {
        let state = std::mem::replace(rest.state(worker), State::Active);
        match state {
            State::Parked => {
                rest.parked.retain(|&number| number != worker.number());
                self.alert.begin();
            }
            State::Napping => self.nap_is_over(rest),
            State::Watching => {
                self.watch_is_over(rest);
                self.alert.begin();
            }
            State::Blocked | State::Active | State::Waiting => {}
        }
        self.forget_claim(rest, worker.number());
        rest.turns.forget_holder(worker.number());
        worker.set_place(Some(place));
        // Nobody may have asked it yet that has ceased to be alert.
        worker.nudge();
        self.set_at(place, Some(worker));
        // Not before: thieves that look without the lock find its jobs in one place or the other.
        self.unshelve(rest, worker);
        if state != State::Active {
            rest.woken.push(worker.number());
        }
    }

    fn nap_is_over(&self, rest: &mut Rest) {
        rest.napper = None;
        self.alert.set_napping(false);
    }

    /// A free place.
    fn take_free(&self, rest: &mut Rest) -> Option<usize> {
        let place = rest.free.pop()?;
        self.alert.set_free(rest.free.len());
        Some(place)
    }

    /// Gives a worker a free slot. If none is free, the worker claims the next one. Returns whether it holds a slot now.
    ///
    /// So nobody claims a slot while one is free (invariant 4).
    fn seat_or_claim(&self, rest: &mut Rest, worker: &Worker) -> bool {
        let place = self.take_free(rest);
        match place {
            Some(place) => self.seat(rest, worker, place),
            None => self.claim(rest, worker),
        }
        place.is_some()
    }

    fn claim(&self, rest: &mut Rest, worker: &Worker) {
        rest.claims.push_back(worker.number());
        self.claims.store(rest.claims.len(), Relaxed);
    }

    /// Takes a worker's place, for the first one that claims a place, or for later.
    fn unseat(&self, rest: &mut Rest, worker: &Worker) {
        let place = self.vacate(worker);
        self.shelve(rest, worker);
        if let Some(place) = place {
            self.give(rest, place);
        }
    }

    /// Takes a worker's place and returns it, unless another worker has [taken it over](turns).
    fn vacate(&self, worker: &Worker) -> Option<usize> {
        let place = worker.place().filter(|_| self.holds_slot(worker));
        worker.set_place(None);
        if let Some(place) = place {
            self.set_at(place, None);
        }
        place
    }

    fn give(&self, rest: &mut Rest, place: usize) {
        while let Some(number) = rest.claims.pop_front() {
            self.claims.store(rest.claims.len(), Relaxed);
            let worker = self.worker(number).expect("a worker that claims a place is there");
            if *rest.state(worker) != State::Active {
                self.seat(rest, worker, place);
                return;
            }
        }
        rest.free.push(place);
        self.alert.set_free(rest.free.len());
    }

    /// Ends the pool's threads as soon as they have nothing to do.
    pub(super) fn terminate(&self) {
        let mut rest = self.lock();
        rest.terminating = true;
        let rest = &mut *rest;
        rest.woken.extend(rest.parked.iter().chain(&rest.napper).chain(rest.turns.watcher()));
    }
}
