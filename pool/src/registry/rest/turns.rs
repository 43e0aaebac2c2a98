//! Turns: how threads and tasks that have waited too long get a slot from workers that are busy.
//!
//! A worker inside a computation (forks, nano-loops, a scope that it waits for) does not come back to the worker's main loop
//! before the computation ends. Without turns, jobs queued meanwhile wait for the end, perhaps for seconds. The worker must
//! not run queued tasks on top of its own frames, because a frame below may hold a lock that the task wants, and because
//! stacks would grow. So the worker gives its *slot* to another thread, and waits for a slot itself.
//!
//! ```text
//!   wake: every slot is taken, nobody searches             cooperative point of a busy worker W:
//!     │                                                    a push, a nano-loop, a look while it waits
//!     v                                                       │
//!   WATCHER  looks every ms: is a queue neglected, and        │ a thread is overdue?
//!     │      no worker back in its main loop?                 v
//!     │ for 4 looks: it is overdue; nudges slot holders ──> W gives it the slot, claims one, sleeps
//!     v                                                       │
//!   runs woken tasks for up to a ms, then gives the slot ──> to the oldest claim: W goes on, and keeps its slot
//!                                                             for at least a ms
//! ```
//!
//! A queue that is neglected at one look is served by the next worker that comes back to its main loop. Only if none comes is it
//! overdue. Claimants (threads in the middle of a job that lack a slot, and callers from outside) are overdue after a millisecond,
//! and are served in the same line.
//!
//! # Threads that block outside the pool
//!
//! A slot holder that blocks on a lock, or in a system call, reaches no cooperative point. The thread that would release the lock
//! may be one that waits for a slot. So there is one rule: **a slot whose holder uses no processor time for [`STUCK`] is taken over by
//! the oldest overdue thread.** (Go's monitor takes a processor from a blocked system call in the same way.)
//!
//! | who takes over | when | what it does with the slot |
//! |---|---|---|
//! | a claimant: out of `block_on`, out of a scope, out of a turn given, a caller from outside | it is the oldest overdue thread | goes on with its job |
//! | the watcher | a queue is neglected, and the watcher is the oldest overdue thread | runs queued jobs for a turn |
//! | a parked or new thread, for a worker that waits for a latch; else that worker | jobs wait, and nobody searches | searches |
//!
//! The last row is for jobs that lie in the deques of stuck holders, or of the waiting worker: the watcher looks at queues only.
//!
//! A worker whose slot was taken over keeps its index, which the new holder has too. Its jobs lie on the [shelf](super::shelf), where
//! thieves find them. It runs on without a slot until its next cooperative point, wait, or job end. There it takes a free slot, claims
//! one, or goes to sleep. Until then jobs that it spawns go to the injector. Its first fork is a cooperative point.
//!
//! # Invariants
//!
//! 1. *Watched.* If every slot is taken, no worker searches and a job is queued, a watcher is there or is about to be made; see
//!    invariant 4 of [`Alert`](crate::alert). A parked worker becomes the watcher. If none is parked, the
//!    [watchdog](super::watchdog) looks first, and starts a spare thread when a queue is overdue. While the former watcher runs
//!    queued jobs, the watchdog looks too, because one of them may block. Pools that may start no more threads have no turns; their
//!    workers look at overdue queues between jobs.
//! 2. *At most n.* Who gives a slot is blocked before the other thread gets it. Exception: a slot that was taken over, from the
//!    moment at which the former holder no longer blocks until its next cooperative point.
//! 3. *Work conservation.* A worker that gives its slot may have jobs in its deques, which thieves cannot see. It claims a
//!    slot at once, and as long as there are claims no slot is free and searching workers give theirs up. So either every
//!    slot is used, or the jobs are visible again.
//! 4. *No deadlock by a lock.* A thread that waits for a slot gets one, even if all holders block on a lock that it holds: their
//!    slots are taken over. A worker that keeps its slot while it waits, and whose job no other thread could run, runs the queued
//!    jobs of its scope itself, or else any queued job ([`Next::Queued`](super::Next::Queued)).
//! 5. *A holder is stuck* if its thread has used no processor time for [`STUCK`], and sleeps in the system at two looks in a row
//!    after that. That it sleeps, the system says: a thread that was kept from a core would run, and is not stuck. Time before the
//!    worker got its slot does not count. Holders that spin, or sleep and ask again and again, use processor time and are never
//!    stuck: a job that computes now and then while it sleeps looks the same.
//! 6. *Both go on.* A worker that has got a slot back keeps it for a [`TURN`], and turns take no longer than a `TURN` and the
//!    task that they are at. So with n > 1 slots woken tasks get at most one slot's time from busy workers; with one, about a
//!    fifth of it, because a queue is overdue after [`PATIENCE`] looks.
//!
//! A leaf that neither forks nor has nano-loops has no cooperative points.

use super::watchdog::{self, Watched};
use super::{Locked, Registry, Rest, State};
use crate::fence;
use crate::worker::Worker;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};

/// The time between two looks at the queues; how long a thread waits before it is overdue; how long queued jobs may run on a slot given
/// by a busy worker; and how long a worker keeps a slot that it has got back.
pub(super) const TURN: Duration = Duration::from_millis(1);

/// Number of looks at a neglected queue, a [`TURN`] apart, after which busy workers give it a slot.
///
/// To give a slot and to get it back costs some 0.1 ms: the system may have to move a thread to the core that becomes idle. So there are
/// milliseconds in between. Where workers come back to their main loops sooner, they serve the queue there, and no slot is given.
const PATIENCE: u32 = 4;

/// Number of looks at empty sets after which the watcher parks.
const QUIET: u32 = 10;

/// How long a slot holder uses no processor time before another thread takes its slot over.
///
/// Long beside short locks, reads of files and pauses of some milliseconds, so that the number of threads that run jobs is exact
/// where jobs sleep but for a moment. Short beside a wait that a user notices. A thread that is merely kept from a core by others is
/// not taken for stuck, for the system says that it would run.
pub(super) const STUCK: Duration = Duration::from_millis(20);

/// The same on systems that do not tell how much processor time threads use. There wall time alone counts.
const STUCK_WITHOUT_CLOCK: Duration = Duration::from_millis(250);

/// The shortest time between two looks at the slot holders.
const LOOK: Duration = Duration::from_millis(2);

/// The part that is read without the rest lock, and written with it.
#[derive(Debug, Default)]
pub(in crate::registry) struct Turns {
    /// Whether a thread without a slot is overdue.
    wanted: AtomicBool,
    /// Whether a queue is: of woken tasks, or of jobs from outside.
    queue: AtomicBool,
    /// Whether the [watchdog](super::watchdog) has ever watched the pool.
    dog: AtomicBool,
}

/// The part that the rest lock protects.
#[derive(Debug, Default)]
pub(super) struct Overdue {
    /// Threads that are overdue, the oldest first: claimants, and the watcher if a task is overdue.
    queue: VecDeque<usize>,
    /// The worker whose state is [`Watching`](State::Watching).
    watcher: Option<usize>,
    /// Former watchers, from the moment at which they get a slot to run queued jobs on until they have done so.
    on_turn: Vec<usize>,
    /// Whether the watchdog looks at this pool.
    dog: bool,
    /// The slot holders at the last look, by slot.
    holders: Vec<Holder>,
    /// The time of that look.
    looked: Option<Instant>,
}

/// A slot holder at the last look.
#[derive(Debug)]
struct Holder {
    number: usize,
    used: Option<Duration>,
    /// Since when it has used no processor time.
    quiet_since: Instant,
    /// Number of looks in a row at which it had been quiet for [`STUCK`], and slept.
    asleep: u32,
}

impl Overdue {
    pub(super) fn watcher(&self) -> Option<&usize> {
        self.watcher.as_ref()
    }
}

impl Overdue {
    /// A worker gets a slot: time that it spent without one does not count.
    pub(super) fn forget_holder(&mut self, number: usize) {
        self.holders.retain(|holder| holder.number != number);
    }
}

impl Rest {
    /// Whether a worker watches the queues.
    pub(super) fn has_watcher(&self) -> bool {
        self.turns.watcher.is_some()
    }
}

/// Slots.
impl Registry {
    /// Whether the worker holds a slot. A worker whose slot was taken over has an index still.
    pub(crate) fn holds_slot(&self, worker: &Worker) -> bool {
        let holder = worker.place().and_then(|place| self.at(place));
        holder.is_some_and(|holder| std::ptr::eq(holder, worker))
    }

    /// Whether a queue is overdue: workers take a job from there between two of their own. One relaxed load; a hint.
    pub(in crate::registry) fn is_queue_overdue(&self) -> bool {
        self.turns.queue.load(Relaxed)
    }

    /// A cooperative point: gives the calling worker's slot to a thread that is overdue, if there is one, and returns when
    /// the worker has a slot again. It may be another one.
    pub(crate) fn give_turn(&self, worker: &Worker) {
        // Relaxed: a hint. Threads that want a slot nudge the slot holders again and again.
        if self.turns.wanted.load(Relaxed) || !self.holds_slot(worker) {
            self.give_slot(worker);
        }
    }

    #[cold]
    fn give_slot(&self, worker: &Worker) {
        let keeps = worker.keeps_slot_until.get().is_some_and(|until| Instant::now() < until);
        // A forked child has no other thread of the pool.
        if self.is_inherited() || worker.place().is_none() || keeps && self.holds_slot(worker) {
            return;
        }
        let mut rest = self.lock();
        if self.holds_slot(worker) {
            let Some(next) = self.next_overdue(&mut rest) else { return };
            let place = self.vacate(worker).expect("it holds one");
            worker.counters.slots_given.add();
            *rest.state(worker) = State::Blocked;
            self.seat(&mut rest, next, place);
        } else {
            // Its slot was taken over.
            worker.set_place(None);
            if let Some(place) = self.take_free(&mut rest) {
                self.seat(&mut rest, worker, place);
                drop(rest);
                // A searching worker that gave up in between has not seen what this one has pushed without a slot.
                self.share(worker);
                return;
            }
            *rest.state(worker) = State::Blocked;
        }
        self.claim(&mut rest, worker);
        drop(rest);
        self.wait_for_slot(worker);
        worker.keeps_slot_until.set(Some(Instant::now() + TURN));
    }

    /// Waits until a worker that claims a slot has one.
    pub(super) fn wait_for_slot(&self, worker: &Worker) {
        let since = Instant::now();
        let mut looks = 0;
        loop {
            let mut rest = self.lock();
            if *rest.state(worker) == State::Active {
                return;
            }
            if since.elapsed() >= TURN {
                looks += 1;
                self.is_overdue(&mut rest, worker.number());
                if self.take_over(&mut rest, worker) {
                    return;
                }
            }
            drop(rest);
            // Slot holders keep theirs for a turn; those whose leaves are long need not be nudged as often.
            worker.parker.park_timeout(TURN * (1 + looks / 16).min(8));
        }
    }

    /// A parked worker claims a slot, and has waited for a turn: it is overdue, and takes a stuck holder's slot over.
    pub(super) fn wants_slot(&self, rest: &mut Rest, worker: &Worker) {
        self.is_overdue(rest, worker.number());
        self.take_over(rest, worker);
    }

    /// Has the worker take over the slot of a holder that is stuck (invariant 5), if it is the oldest thread that is overdue.
    fn take_over(&self, rest: &mut Rest, worker: &Worker) -> bool {
        self.look_at_holders(rest);
        if rest.turns.queue.front() != Some(&worker.number()) {
            return false;
        }
        let Some(place) = self.find_stuck(rest) else { return false };
        let next = self.next_overdue(rest);
        debug_assert!(next.is_some_and(|next| std::ptr::eq(next, worker)));
        self.seat_over(rest, worker, place);
        true
    }

    /// Gives the slot of a stuck holder to another worker.
    pub(super) fn seat_over(&self, rest: &mut Rest, worker: &Worker, place: usize) {
        worker.counters.slots_taken_over.add();
        let before = self.at(place);
        if let Some(holder) = before {
            self.shelve(rest, holder);
        }
        self.seat(rest, worker, place);
        if let Some(holder) = before {
            // The holder's next push is a cooperative point. A push from before it sees the nudge is seen here: the heavy fence
            // orders each of the holder's pushes before the look, or behind the nudge.
            holder.nudge();
            fence::heavy();
            self.shelve(rest, holder);
        }
    }

    /// A worker waits for a latch: if jobs wait and all slots are held, one of them by a stuck thread, has another thread take that
    /// slot over and search. If there is no such thread, returns the slot.
    pub(super) fn replace_stuck(&self, rest: &mut Rest) -> Option<usize> {
        if rest.terminating || self.alert.free() > 0 || !self.alert.nobody() || !self.sees_work() {
            return None;
        }
        self.look_at_holders(rest);
        let place = self.find_stuck(rest)?;
        let parked = rest.parked.last().and_then(|&number| self.worker(number));
        match parked.or_else(|| self.start_thread(rest, State::Parked)) {
            Some(other) => {
                self.seat_over(rest, other, place);
                None
            }
            None => Some(place),
        }
    }

    /// Notes how much processor time the slot holders have used, if the last look was not just now.
    pub(super) fn look_at_holders(&self, rest: &mut Rest) {
        let now = Instant::now();
        if rest.turns.looked.is_some_and(|looked| now - looked < LOOK) {
            return;
        }
        rest.turns.looked = Some(now);
        let before = std::mem::take(&mut rest.turns.holders);
        let holders = self.seated().map(|holder| {
            let (number, used) = (holder.number(), holder.clock.used());
            let before = before.iter().find(|before| before.number == number);
            let is_quiet = |before: &&Holder| before.used == used;
            let before = before.filter(is_quiet);
            let quiet_since = before.map_or(now, |before| before.quiet_since);
            let quiet = now - quiet_since;
            let bound = if used.is_some() { STUCK } else { STUCK_WITHOUT_CLOCK };
            let sleeps = || holder.clock.sleeps().unwrap_or(quiet >= STUCK_WITHOUT_CLOCK);
            let asleep =
                if quiet >= bound && sleeps() { before.map_or(0, |before| before.asleep) + 1 } else { 0 };
            Holder { number, used, quiet_since, asleep }
        });
        rest.turns.holders = holders.collect();
    }

    /// Whether a slot holder was stuck at the last look (invariant 5).
    pub(super) fn is_stuck(&self, rest: &mut Rest, holder: &Worker) -> bool {
        if *rest.state(holder) != State::Active {
            return false;
        }
        // Twice: a thread that has just been woken, by the pool or by the release of a lock, gets time to begin.
        rest.turns.holders.iter().any(|seen| seen.number == holder.number() && seen.asleep >= 2)
    }

    /// The slot of a holder that is stuck.
    fn find_stuck(&self, rest: &mut Rest) -> Option<usize> {
        (0..self.num_threads())
            .find(|&place| self.at(place).is_some_and(|holder| self.is_stuck(rest, holder)))
    }

    /// A thread without a slot has waited for too long.
    fn is_overdue(&self, rest: &mut Rest, number: usize) {
        if !rest.turns.queue.contains(&number) {
            rest.turns.queue.push_back(number);
        }
        self.turns.wanted.store(true, Relaxed);
        // The holders look up at their next push or nano-loop, and see the store above. On a machine where the store takes longer to
        // arrive, they see it when they are nudged again.
        self.seated().for_each(Worker::nudge);
    }

    /// A thread without a slot is not overdue, or not any more.
    fn is_not_overdue(&self, rest: &mut Rest, number: usize) {
        rest.turns.queue.retain(|&other| other != number);
        self.turns.wanted.store(!rest.turns.queue.is_empty(), Relaxed);
    }

    /// The next thread to be given a slot.
    fn next_overdue(&self, rest: &mut Rest) -> Option<&Worker> {
        let number = *rest.turns.queue.front()?;
        let worker = self.worker(number).expect("a worker that waits for a slot is there");
        if *rest.state(worker) == State::Watching {
            // The watcher runs woken tasks, and does not search. Meanwhile the watchdog watches, because a task may block.
            self.watch_is_over(rest);
            rest.turns.on_turn.push(number);
            *rest.state(worker) = State::Blocked;
            self.set_watchdog(rest);
        }
        Some(worker)
    }

    /// A worker that claimed a slot, if it did, has one.
    pub(super) fn forget_claim(&self, rest: &mut Rest, number: usize) {
        if !rest.claims.is_empty() {
            rest.claims.retain(|&other| other != number);
            self.claims.store(rest.claims.len(), Relaxed);
        }
        if !rest.turns.queue.is_empty() {
            self.is_not_overdue(rest, number);
        }
    }
}

/// The watcher.
impl Registry {
    /// Sees to it that queued tasks are watched, if that is needed (invariant 1). Callers have passed a full fence since a
    /// task was queued, or since a worker ceased to search.
    #[inline]
    pub(super) fn watch_if_needed(&self) {
        if self.alert.needs_watcher() && self.is_queued() {
            self.watch(&mut self.lock());
        }
    }

    /// As [`watch_if_needed`](Self::watch_if_needed), with the lock held.
    pub(super) fn watch(&self, rest: &mut Rest) {
        if rest.terminating || self.is_inherited() || !self.alert.needs_watcher() || !self.is_queued() {
            return;
        }
        self.alert.set_watched(true);
        if let Some(worker) = rest.parked.pop().and_then(|number| self.worker(number)) {
            self.begin_watch(rest, worker);
            return;
        }
        self.set_watchdog(rest);
    }

    /// Has the watchdog look at the queues, until a worker watches.
    fn set_watchdog(&self, rest: &mut Rest) {
        self.turns.dog.store(true, Relaxed);
        rest.turns.dog = rest.turns.dog || watchdog::watch(&self.this());
        self.alert.set_watched(rest.turns.dog);
    }

    fn begin_watch(&self, rest: &mut Rest, worker: &Worker) {
        self.alert.set_watched(true);
        *rest.state(worker) = State::Watching;
        rest.turns.watcher = Some(worker.number());
        rest.woken.push(worker.number());
    }

    /// The pool has ended: nothing watches it when this returns.
    pub(in crate::registry) fn end_watch(&self) {
        // Relaxed: the threads that have set it have been joined.
        if self.turns.dog.load(Relaxed) {
            watchdog::forget();
        }
    }

    /// The watchdog's look. False if it is not to look again.
    pub(super) fn look_after(&self, watched: &mut Watched) -> bool {
        if self.is_inherited() {
            return false;
        }
        let mut rest = self.lock();
        if rest.terminating || rest.turns.watcher.is_some() {
            rest.turns.dog = false;
            return false;
        }
        let neglect = self.look_at_queues(&mut watched.seen);
        self.turns.queue.store(neglect.is_some(), Relaxed);
        if neglect == Some(Neglect::ByAll) {
            let parked = rest.parked.pop().and_then(|number| self.worker(number));
            // Else, where there may be no more threads, workers look at the queues between jobs.
            if let Some(worker) = parked.or_else(|| self.start_thread(&mut rest, State::Watching)) {
                self.begin_watch(&mut rest, worker);
                rest.turns.dog = false;
                return false;
            }
        }
        watched.quiet = if self.is_queued() { 0 } else { watched.quiet + 1 };
        if watched.quiet <= QUIET {
            return true;
        }
        rest.turns.dog = false;
        self.alert.set_watched(false);
        if !self.alert.may_stop_watching(|| self.is_queued()) {
            self.watch(&mut rest);
        }
        false
    }

    /// The watcher does something else from now on.
    pub(super) fn watch_is_over(&self, rest: &mut Rest) {
        if let Some(number) = rest.turns.watcher.take() {
            self.is_not_overdue(rest, number);
        }
        self.turns.queue.store(false, Relaxed);
        self.alert.set_watched(false);
    }

    /// Watches until the worker has something else to do: its state says what.
    pub(super) fn keep_watch<'a>(&'a self, mut rest: Locked<'a>, worker: &Worker) -> Locked<'a> {
        let mut seen = Seen::default();
        let mut quiet = 0;
        while *rest.state(worker) == State::Watching && !rest.terminating {
            drop(rest);
            worker.parker.park_timeout(TURN);
            rest = self.lock();
            if *rest.state(worker) == State::Watching {
                let neglect = self.look_at_queues(&mut seen);
                self.turns.queue.store(neglect.is_some(), Relaxed);
                if neglect == Some(Neglect::ByAll) {
                    self.is_overdue(&mut rest, worker.number());
                    self.take_over(&mut rest, worker);
                } else {
                    self.is_not_overdue(&mut rest, worker.number());
                }
                quiet = if self.is_queued() { 0 } else { quiet + 1 };
                if quiet > QUIET && *rest.state(worker) == State::Watching {
                    self.stop_watching(&mut rest, worker);
                }
            }
            if rest.turns.on_turn.contains(&worker.number()) {
                drop(rest);
                self.run_queued(worker);
                rest = self.lock();
                rest.turns.on_turn.retain(|&number| number != worker.number());
                if self.holds_slot(worker) && rest.claims.is_empty() {
                    // No other thread needs the slot, so the worker searches.
                    self.alert.begin();
                    return rest;
                }
                self.unseat(&mut rest, worker);
                if !worker.broadcasts.is_empty() {
                    // The claim that `call` has made for them ended with the turn.
                    self.claim(&mut rest, worker);
                }
                if rest.turns.watcher.is_none() && !rest.terminating {
                    self.begin_watch(&mut rest, worker);
                    (seen, quiet) = (Seen::default(), 0);
                } else {
                    // Another one watches by now.
                    *rest.state(worker) = State::Parked;
                    rest.parked.push(worker.number());
                }
            }
        }
        if *rest.state(worker) == State::Watching {
            self.watch_is_over(&mut rest);
        }
        rest
    }

    /// The watcher parks, unless a task is queued in this moment.
    fn stop_watching(&self, rest: &mut Rest, worker: &Worker) {
        self.watch_is_over(rest);
        *rest.state(worker) = State::Parked;
        rest.parked.push(worker.number());
        if !self.alert.may_stop_watching(|| self.is_queued()) {
            // It is the last one that was parked, so it is this one again, or it is not needed.
            self.watch(rest);
        }
    }

    /// Runs queued jobs on a slot that was given for that, for a turn at most.
    fn run_queued(&self, worker: &Worker) {
        let since = Instant::now();
        while let Some(job) = worker.find_broadcast().or_else(|| worker.find_fair()) {
            worker.counters.turns.add();
            // SAFETY: just taken from a queue; there is no frame below.
            unsafe { worker.execute_detachable(job) };
            if !self.holds_slot(worker) || since.elapsed() >= TURN {
                break;
            }
        }
        worker.spill();
    }

    /// Looks whether a queue has had jobs since the last look, and no worker has taken one of them.
    fn look_at_queues(&self, seen: &mut Seen) -> Option<Neglect> {
        let now = Instant::now();
        if seen.at.is_some_and(|at| now - at < TURN / 2) {
            // Woken before the turn was over: a look so soon says nothing.
            return seen.neglect;
        }
        seen.at = Some(now);
        seen.neglect = self.look_anew(seen);
        seen.neglect
    }

    fn look_anew(&self, seen: &mut Seen) -> Option<Neglect> {
        let workers = || (0..).map_while(|number| self.worker(number)).map(|worker| &worker.counters);
        let injected =
            (!self.injector.is_empty()).then(|| workers().map(|counters| counters.injected.get()).sum());
        let before = std::mem::replace(&mut seen.injected, injected);
        let are_tasks_neglected = self.stealable.is_neglected(&mut seen.sets);
        // A worker takes an urgent job before any other: one that lies there at a look has been neglected.
        let is_neglected =
            are_tasks_neglected || (injected.is_some() && injected == before) || !self.urgent.is_empty();
        let jobs = workers().map(|counters| counters.jobs.get()).sum();
        let are_all_busy = std::mem::replace(&mut seen.jobs, jobs) == jobs;
        seen.looks = if is_neglected && are_all_busy { seen.looks + 1 } else { 0 };
        is_neglected.then_some(if seen.looks >= PATIENCE { Neglect::ByAll } else { Neglect::OfQueue })
    }
}

/// For how long a queue has been neglected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Neglect {
    /// No worker has taken a job of it since the last look. Workers look into it between two jobs of their own.
    OfQueue,
    /// For [`PATIENCE`] looks. Meanwhile no worker has begun a job in its main loop.
    ByAll,
}

/// The queues at the watcher's last look.
#[derive(Default)]
pub(super) struct Seen {
    /// As [`Stealable::is_neglected`](crate::stealable::Stealable::is_neglected) wants it.
    sets: Vec<Option<usize>>,
    /// Number of jobs from outside that had been taken, if there were any in the queue.
    injected: Option<u64>,
    /// Number of jobs that the main loops had begun.
    jobs: u64,
    /// Time of the last look, and its result.
    at: Option<Instant>,
    neglect: Option<Neglect>,
    /// Number of looks in a row at which a queue had been neglected, and no main loop had begun a job since the look before.
    looks: u32,
}
