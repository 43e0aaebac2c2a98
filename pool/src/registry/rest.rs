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
//! 4. A worker that gives up its place has no jobs in its deques.
//!
//! # Naps
//!
//! A wake-up costs the waker microseconds. So the last worker that looks for work stays alert for some 20 ms by napping
//! for a fraction of the time for which there was nothing to do: calls that follow each other find it so, and those that
//! are too small to be shared pay for no wake-up. While it naps, forks look up, and wake it if their call seems
//! [worth it](Worker::is_worth_a_wake_up). Work that its publisher does not wait for ends the nap at once.

use super::Registry;
use crate::fence;
use crate::latch::Latch;
use crate::worker::{NAP, WaitRule, Worker};
use std::collections::VecDeque;
use std::ops::{Deref, DerefMut};
use std::sync::MutexGuard;
use std::sync::atomic::Ordering::{Relaxed, SeqCst};
use std::time::{Duration, Instant};

const SHORTEST_NAP: Duration = Duration::from_micros(50);
const LONGEST_NAP: Duration = Duration::from_micros(250);
/// For how long there is nothing to do before the napper parks.
const NAPPING: Duration = Duration::from_millis(20);

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
    terminating: bool,
    /// Who is to get a token when the lock is released: whoever wakes wants the lock first.
    woken: Vec<usize>,
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
            terminating: false,
            woken: Vec::new(),
        }
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
        Locked { registry: self, rest: Some(self.rest.lock().expect("nobody panics with this lock")) }
    }

    /// Gives a worker a place, and has it go on if it rests.
    fn seat(&self, rest: &mut Rest, worker: &Worker, place: usize) {
        let state = std::mem::replace(rest.state(worker), State::Active);
        match state {
            State::Parked => {
                rest.parked.retain(|&number| number != worker.number());
                self.alert.fetch_add(1, SeqCst);
            }
            State::Napping => self.nap_is_over(rest),
            State::Active | State::Blocked | State::Waiting => {}
        }
        worker.set_place(Some(place));
        // Nobody may have asked it yet that has ceased to be alert.
        worker.nudge();
        self.set_at(place, Some(worker));
        if state != State::Active {
            rest.woken.push(worker.number());
        }
    }

    fn nap_is_over(&self, rest: &mut Rest) {
        rest.napper = None;
        self.napping.store(false, Relaxed);
    }

    /// A free place; for the pool's own workers the one of their number, if it is free.
    fn take_free(&self, rest: &mut Rest) -> Option<usize> {
        let place = rest.free.pop()?;
        self.free.store(rest.free.len(), SeqCst);
        Some(place)
    }

    fn claim(&self, rest: &mut Rest, worker: &Worker) {
        rest.claims.push_back(worker.number());
        self.claims.store(rest.claims.len(), Relaxed);
    }

    /// Takes a worker's place, for the first one that claims a place, or for later.
    fn unseat(&self, rest: &mut Rest, worker: &Worker) {
        let place = worker.place().expect("a worker that gives a place up has one");
        worker.set_place(None);
        self.set_at(place, None);
        self.give(rest, place);
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
        self.free.store(rest.free.len(), SeqCst);
    }

    /// Is there work anywhere? Callers that must not miss any have passed a fence.
    fn sees_work(&self) -> bool {
        !self.injector.is_empty() || self.seated().any(Worker::has_jobs)
    }

    /// The workers that hold places.
    fn seated(&self) -> impl Iterator<Item = &Worker> {
        (0..self.num_threads()).filter_map(|place| self.at(place))
    }

    /// To be called when nobody may be alert any more, or a place has become free: sees to it that work there is, or
    /// will be, wakes somebody.
    fn look_out(&self, by: &Worker) {
        if self.alert.load(SeqCst) > 0 || self.free.load(SeqCst) == 0 {
            return;
        }
        if self.free.load(SeqCst) == self.num_threads() {
            // Without anybody who holds a place there are no forks to be missed.
            fence::full();
        } else {
            self.seated().for_each(Worker::ask);
            by.counters.barriers.add();
            fence::heavy();
        }
        if self.sees_work() {
            self.wake_if_none_is_alert(Some(by));
        }
    }

    /// A searching worker has found a job.
    pub(super) fn cease_to_be_alert(&self, worker: &Worker) {
        if self.alert.fetch_sub(1, SeqCst) == 1 {
            self.look_out(worker);
        }
    }

    pub(super) fn become_alert(&self) {
        self.alert.fetch_add(1, SeqCst);
    }

    /// Wakes one worker to search, if nobody does, and there is a place for it.
    pub(super) fn wake_if_none_is_alert(&self, by: Option<&Worker>) {
        if self.alert.load(SeqCst) > 0 || self.free.load(SeqCst) == 0 {
            return;
        }
        let mut rest = self.lock();
        if self.alert.load(SeqCst) > 0 || rest.terminating {
            return;
        }
        let Some(place) = self.take_free(&mut rest) else { return };
        if let Some(number) = rest.parked.pop() {
            let worker = self.worker(number).expect("a parked worker is there");
            self.seat(&mut rest, worker, place);
        } else if !self.start_spare(&mut rest, place) {
            self.give(&mut rest, place);
            return;
        }
        self.count_wakeup(by);
    }

    /// Starts one more thread, on the given place, to search. False if there may be no more, or none can be started.
    fn start_spare(&self, rest: &mut Rest, place: usize) -> bool {
        let Some(spawner) = &self.setup.spares else { return false };
        if rest.next_spare == rest.max_threads {
            return false;
        }
        let number = rest.next_spare;
        let worker = self.make_worker(number, false);
        *rest.state(worker) = State::Parked;
        let registry = self.this();
        match spawner(number, Box::new(move || registry.run_thread(number))) {
            Ok(thread) => {
                rest.next_spare += 1;
                self.keep(thread);
                self.seat(rest, worker, place);
                true
            }
            Err(_) => false,
        }
    }

    /// A worker that was asked has shared a fork: is there somebody to take it?
    pub(crate) fn share(&self, worker: &Worker) {
        if worker.is_eager() {
            fence::full();
        }
        if self.alert.load(SeqCst) == 0 {
            self.wake_if_none_is_alert(Some(worker));
        } else if self.napping.load(Relaxed) {
            if worker.is_worth_a_wake_up() {
                self.end_nap(Some(worker));
            } else {
                worker.nudge();
            }
        }
    }

    /// Wakes the napper, if there is one and a place for it.
    pub(super) fn end_nap(&self, by: Option<&Worker>) {
        let mut rest = self.lock();
        if let Some(number) = rest.napper
            && let Some(place) = self.take_free(&mut rest)
        {
            let napper = self.worker(number).expect("a napping worker is there");
            self.seat(&mut rest, napper, place);
            self.count_wakeup(by);
        }
    }

    fn count_wakeup(&self, by: Option<&Worker>) {
        match by {
            Some(worker) => worker.counters.wakeups.add(),
            None => self.wakeups_from_outside.lock().expect("nobody panics with this lock").add(),
        }
    }

    /// Rests until there is work for this thread: then it holds a place and is alert. False when the pool ends.
    ///
    /// On entry it is alert on a place, or has lost its place, or is new and counts as parked.
    pub(super) fn rest_until_needed(&self, worker: &Worker) -> bool {
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

    /// Ceases to be alert, and counts as parked from now on. True if there was work after all: then it is alert and
    /// holds a place.
    fn park_alert(&self, rest: &mut Rest, worker: &Worker) -> bool {
        *rest.state(worker) = State::Parked;
        rest.parked.push(worker.number());
        let last = self.alert.fetch_sub(1, SeqCst) == 1;
        if last && !rest.free.is_empty() && !rest.terminating {
            self.seated().for_each(Worker::ask);
            worker.counters.barriers.add();
            fence::heavy();
            if self.sees_work()
                && let Some(place) = self.take_free(rest)
            {
                self.seat(rest, worker, place);
                return true;
            }
        }
        false
    }

    /// Sleeps until it is given a place. False when the pool ends.
    fn park<'a>(&'a self, mut rest: Locked<'a>, worker: &Worker) -> bool {
        while !rest.terminating {
            if *rest.state(worker) == State::Active {
                return true;
            }
            drop(rest);
            worker.counters.parks.add();
            worker.parker.park();
            rest = self.lock();
        }
        // Given a place at the last moment: nobody needs it.
        if *rest.state(worker) == State::Active && worker.place().is_some() {
            self.alert.fetch_sub(1, SeqCst);
            self.unseat(&mut rest, worker);
        }
        false
    }

    /// Naps for as long as it seems worth it, then parks.
    fn nap<'a>(&'a self, mut rest: Locked<'a>, worker: &Worker) -> bool {
        *rest.state(worker) = State::Napping;
        rest.napper = Some(worker.number());
        self.napping.store(true, Relaxed);
        self.seated().for_each(Worker::nudge);
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
                self.alert.fetch_sub(1, SeqCst);
                return false;
            }
            if self.sees_work()
                && let Some(place) = self.take_free(&mut rest)
            {
                self.seat(&mut rest, worker, place);
                return true;
            }
            if since.elapsed() > NAPPING {
                self.nap_is_over(&mut rest);
                return self.park_alert(&mut rest, worker) || self.park(rest, worker);
            }
        }
    }

    /// Blocks a worker until a latch is set, or something else needs it; without its place if the rule says so.
    pub(crate) fn block(&self, worker: &Worker, latch: &Latch, rule: WaitRule) {
        let seated = worker.place().is_some();
        let keeps_place = seated && rule != WaitRule::Descendants;
        if seated && !keeps_place {
            worker.spill();
        }
        let mut rest = self.lock();
        if !worker.broadcasts.is_empty() && seated || !latch.will_wait() {
            return;
        }
        if keeps_place {
            *rest.state(worker) = State::Waiting;
            drop(rest);
            worker.parker.park_timeout(NAP);
            *self.lock().state(worker) = State::Active;
            return;
        }
        *rest.state(worker) = State::Blocked;
        if seated {
            worker.counters.handovers.add();
            self.unseat(&mut rest, worker);
            drop(rest);
            self.look_out(worker);
        } else {
            if !worker.broadcasts.is_empty() {
                self.claim(&mut rest, worker);
            }
            drop(rest);
        }
        self.sleep_blocked(worker);
    }

    fn sleep_blocked(&self, worker: &Worker) {
        while *self.lock().state(worker) != State::Active {
            worker.parker.park();
        }
    }

    /// A latch is set whose waiter has blocked. It gets a free place, or the place of the worker that has set the latch,
    /// if that is of this pool; or it waits for the next one.
    pub(crate) fn resume(&self, waiter: &Worker, setter: Option<&Worker>) {
        let setter =
            setter.filter(|setter| std::ptr::eq(setter.registry(), self) && setter.place().is_some());
        if let Some(setter) = setter {
            setter.spill();
        }
        let mut rest = self.lock();
        match *rest.state(waiter) {
            State::Waiting => rest.woken.push(waiter.number()),
            State::Blocked => {
                if let Some(place) = self.take_free(&mut rest) {
                    self.seat(&mut rest, waiter, place);
                } else if let Some(setter) = setter {
                    let place = setter.place().expect("it has one");
                    setter.set_place(None);
                    self.seat(&mut rest, waiter, place);
                } else {
                    self.claim(&mut rest, waiter);
                }
            }
            State::Active | State::Napping | State::Parked => {}
        }
    }

    /// Has a worker run its broadcast jobs, if it rests.
    pub(crate) fn call(&self, worker: &Worker) {
        let mut rest = self.lock();
        if !matches!(*rest.state(worker), State::Active | State::Waiting) {
            match self.take_free(&mut rest) {
                Some(place) => self.seat(&mut rest, worker, place),
                None => self.claim(&mut rest, worker),
            }
        } else if *rest.state(worker) == State::Waiting {
            rest.woken.push(worker.number());
        }
    }

    /// Gives a place to a worker that has none; blocks until there is one.
    pub(crate) fn take_place(&self, worker: &Worker) {
        let mut rest = self.lock();
        if let Some(place) = self.take_free(&mut rest) {
            self.seat(&mut rest, worker, place);
            return;
        }
        *rest.state(worker) = State::Blocked;
        self.claim(&mut rest, worker);
        drop(rest);
        self.sleep_blocked(worker);
    }

    /// The adopted thread's worker counts as parked, as all new ones; from now on it is active, on a place.
    pub(super) fn begin_adopted(&self, worker: &Worker) {
        let mut rest = self.lock();
        rest.parked.retain(|&number| number != worker.number());
        *rest.state(worker) = State::Active;
        drop(rest);
        self.take_place(worker);
    }

    /// Gives a place to a worker that has none, if one is free and nobody else waits for it; or if a worker that only
    /// searches gives up its own at once.
    pub(super) fn try_take_place(&self, worker: &Worker) -> bool {
        const LOOKS: u32 = 400;
        let mut rest = self.lock();
        if !rest.claims.is_empty() {
            return false;
        }
        if let Some(place) = self.take_free(&mut rest) {
            self.seat(&mut rest, worker, place);
            return true;
        }
        if self.alert.load(SeqCst) == 0 {
            return false;
        }
        *rest.state(worker) = State::Blocked;
        self.claim(&mut rest, worker);
        drop(rest);
        for _ in 0..LOOKS {
            if worker.place().is_some() {
                break;
            }
            std::hint::spin_loop();
        }
        let mut rest = self.lock();
        if *rest.state(worker) == State::Blocked {
            *rest.state(worker) = State::Active;
            rest.claims.retain(|&number| number != worker.number());
            self.claims.store(rest.claims.len(), Relaxed);
            return false;
        }
        true
    }

    /// Takes a worker's place, so that another one can use it. The worker goes on with what is not the pool's.
    pub(crate) fn leave_place(&self, worker: &Worker) {
        worker.spill();
        let mut rest = self.lock();
        self.unseat(&mut rest, worker);
        drop(rest);
        self.look_out(worker);
    }

    /// Ends the pool's threads as soon as they have nothing to do.
    pub(super) fn terminate(&self) {
        let mut rest = self.lock();
        rest.terminating = true;
        let rest = &mut *rest;
        rest.woken.extend(rest.parked.iter().chain(&rest.napper));
    }
}
