//! Turns: how threads and tasks that have waited too long get a slot from workers that are busy.
//!
//! A worker inside a computation (forks, nano-loops, a scope that it waits for) does not come back to the worker's main loop
//! before the computation ends. Without turns, whatever is queued meanwhile waits as long as that: seconds. The worker must
//! not run queued tasks on top of its own frames, because a frame below may hold a lock that the task wants, and because
//! stacks would grow. So the worker gives its *slot* (its place) to another thread, and waits for a slot itself.
//!
//! ```text
//!   wake: every slot is taken, nobody searches             cooperative point of a busy worker W:
//!     │                                                    a push, a nano-loop, a look while it waits
//!     v                                                       │
//!   WATCHER  looks every ms: has a set of woken tasks         │ a thread is overdue?
//!     │      been neglected since the last look?              v
//!     │ yes: it is overdue; nudges the slot holders ─────> W gives it the slot, claims one, sleeps
//!     v                                                       │
//!   runs woken tasks for up to a ms, then gives the slot ──> to the oldest claim: W goes on, and keeps its slot
//!                                                             for at least a ms
//! ```
//!
//! Claimants (threads in the middle of a job that lack a slot, and callers from outside) are overdue after a millisecond,
//! like neglected tasks, and are served in the same queue.
//!
//! # Invariants
//!
//! 1. *Watched.* If every slot is taken, nobody searches and a job is queued, a watcher is there or is about to be made; see
//!    invariant 4 of [`Alert`](crate::alert). A parked worker becomes the watcher. If none is parked, the
//!    [watchdog](super::watchdog) looks first, and starts a spare thread when a queue is overdue. Pools that may start no more
//!    threads have no turns; their workers look at overdue queues between jobs.
//! 2. *At most n.* Who gives a slot is blocked before the other thread gets it. Exception: invariant 4.
//! 3. *Work conservation.* A worker that gives its slot may have jobs in its deques, which thieves cannot see. It claims a
//!    slot at once, and as long as there are claims no slot is free and searching workers give theirs up. So either every
//!    slot is used, or the jobs are visible again.
//! 4. *No deadlock by a lock.* The worker that gave its slot may hold a lock that all slot holders block on. So if it has waited for
//!    [`STUCK`], and a slot holder has used no processor time since, the worker takes that slot over. The former holder goes
//!    on without one: it claims one at its next cooperative point, or gives none back at its job's end
//!    ([`vacate`](Registry::vacate)).
//! 5. *Both go on.* A worker that has got a slot back keeps it for a [`TURN`], and turns take no longer than a `TURN` and the
//!    task that they are at. So with n > 1 slots woken tasks get at most one slot's time from busy workers; with one, half
//!    of it.
//!
//! A leaf that neither forks nor has nano-loops has no cooperative points.

use super::watchdog::{self, Watched};
use super::{Locked, Registry, Rest, State};
use crate::worker::Worker;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};

/// How long a task or a thread waits before it is overdue; how long it may run on a slot given by a busy worker; and how long a
/// worker keeps a slot that it has got back.
pub(super) const TURN: Duration = Duration::from_millis(1);

/// Number of looks at empty sets after which the watcher parks.
const QUIET: u32 = 10;

/// How long a slot holder uses no processor time before a worker that gave its own slot takes this one over.
const STUCK: Duration = Duration::from_millis(250);

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
    /// The former watcher, from the moment at which it is given a slot to run queued jobs on until it has done so.
    on_turn: Option<usize>,
}

impl Overdue {
    pub(super) fn watcher(&self) -> Option<&usize> {
        self.watcher.as_ref()
    }
}

/// Slots.
impl Registry {
    /// Whether the worker holds a slot. A worker whose slot was taken over (invariant 4) has an index still.
    pub(in crate::registry) fn holds_slot(&self, worker: &Worker) -> bool {
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
        // Relaxed: a hint. Those who want a slot nudge the slot holders again and again.
        if self.turns.wanted.load(Relaxed) || !self.holds_slot(worker) {
            self.give_slot(worker);
        }
    }

    #[cold]
    fn give_slot(&self, worker: &Worker) {
        let keeps = worker.keeps_slot_until.get().is_some_and(|until| Instant::now() < until);
        if worker.place().is_none() || keeps && self.holds_slot(worker) {
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
            worker.set_place(None);
            *rest.state(worker) = State::Blocked;
        }
        self.claim(&mut rest, worker);
        drop(rest);
        self.wait_for_slot(worker, true);
        worker.keeps_slot_until.set(Some(Instant::now() + TURN));
    }

    /// Waits until a worker that claims a slot has one. `may_take_over` is whether it is one that gave its own
    /// (invariant 4).
    pub(super) fn wait_for_slot(&self, worker: &Worker, may_take_over: bool) {
        let since = Instant::now();
        let mut stuck = Stuck { since, used: Vec::new() };
        let mut looks = 0;
        loop {
            // Slot holders keep theirs for a turn; those whose leaves are long need not be nudged as often.
            worker.parker.park_timeout(TURN * (1 + looks / 16).min(8));
            let mut rest = self.lock();
            if *rest.state(worker) == State::Active {
                return;
            }
            if since.elapsed() < TURN {
                continue;
            }
            looks += 1;
            self.is_overdue(&mut rest, worker.number());
            if may_take_over && let Some(place) = stuck.find(self, &mut rest) {
                worker.counters.slots_taken_over.add();
                let before = self.at(place);
                self.seat(&mut rest, worker, place);
                before.inspect(|holder| holder.nudge());
                return;
            }
        }
    }

    /// A thread without a slot has waited for too long.
    fn is_overdue(&self, rest: &mut Rest, number: usize) {
        if !rest.turns.queue.contains(&number) {
            rest.turns.queue.push_back(number);
        }
        self.turns.wanted.store(true, Relaxed);
        // They look up at their next push or nano-loop, and see that it is wanted: by the store before, or, on machines
        // that take long, when they are nudged again.
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
            // It does not search, but runs woken tasks.
            self.is_not_overdue(rest, number);
            (rest.turns.watcher, rest.turns.on_turn) = (None, Some(number));
            *rest.state(worker) = State::Blocked;
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
    pub(super) fn watch_if_needed(&self) {
        if self.alert.needs_watcher() && self.has_queued() {
            self.watch(&mut self.lock());
        }
    }

    /// As [`watch_if_needed`](Self::watch_if_needed), with the lock held.
    pub(super) fn watch(&self, rest: &mut Rest) {
        if rest.terminating || !self.alert.needs_watcher() || !self.has_queued() {
            return;
        }
        self.alert.set_watched(true);
        if let Some(worker) = rest.parked.pop().and_then(|number| self.worker(number)) {
            self.begin_watch(rest, worker);
            return;
        }
        self.turns.dog.store(true, Relaxed);
        if !watchdog::watch(&self.this()) {
            self.alert.set_watched(false);
        }
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
        let mut rest = self.lock();
        if rest.terminating {
            return false;
        }
        let overdue = self.is_neglected(&mut watched.seen);
        self.turns.queue.store(overdue, Relaxed);
        if overdue {
            let parked = rest.parked.pop().and_then(|number| self.worker(number));
            // Else, where there may be no more threads, workers look at the queues between jobs.
            if let Some(worker) = parked.or_else(|| self.start_thread(&mut rest, State::Watching)) {
                self.begin_watch(&mut rest, worker);
                return false;
            }
        }
        watched.quiet = if self.has_queued() { 0 } else { watched.quiet + 1 };
        if watched.quiet <= QUIET {
            return true;
        }
        self.alert.set_watched(false);
        if !self.alert.may_stop_watching(|| self.has_queued()) {
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
            if rest.turns.on_turn == Some(worker.number()) {
                drop(rest);
                self.run_queued(worker);
                rest = self.lock();
                let watches = rest.turns.on_turn.take_if(|number| *number == worker.number()).is_some();
                if self.holds_slot(worker) && rest.claims.is_empty() {
                    // Nobody else needs the slot: the worker searches.
                    if watches {
                        self.watch_is_over(&mut rest);
                    }
                    self.alert.begin();
                    return rest;
                }
                self.unseat(&mut rest, worker);
                if !watches {
                    // Another one does.
                    *rest.state(worker) = State::Parked;
                    rest.parked.push(worker.number());
                    return rest;
                }
                *rest.state(worker) = State::Watching;
                rest.turns.watcher = Some(worker.number());
                (seen, quiet) = (Seen::default(), 0);
            } else if *rest.state(worker) == State::Watching {
                let overdue = self.is_neglected(&mut seen);
                self.turns.queue.store(overdue, Relaxed);
                if overdue {
                    self.is_overdue(&mut rest, worker.number());
                } else {
                    self.is_not_overdue(&mut rest, worker.number());
                }
                quiet = if self.has_queued() { 0 } else { quiet + 1 };
                if quiet > QUIET {
                    self.stop_watching(&mut rest, worker);
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
        if !self.alert.may_stop_watching(|| self.has_queued()) {
            // It is the last one that was parked, so it is this one again, or it is not needed.
            self.watch(rest);
        }
    }

    /// Runs queued jobs on a slot that was given for that, for a turn at most.
    fn run_queued(&self, worker: &Worker) {
        let since = Instant::now();
        while let Some(job) = worker.find_fair() {
            worker.counters.turns.add();
            // SAFETY: just taken from a queue; there is no frame below.
            unsafe { worker.execute_detachable(job) };
            if !self.holds_slot(worker) || since.elapsed() >= TURN {
                break;
            }
        }
        worker.spill();
    }

    /// A worker blocks. If it runs queued jobs in a turn, another one watches from now on.
    pub(super) fn turn_blocks(&self, rest: &mut Rest, worker: &Worker) {
        if rest.turns.on_turn.take_if(|number| *number == worker.number()).is_some() {
            self.alert.set_watched(false);
            self.watch(rest);
        }
    }

    /// Whether a queue has had jobs since the last look, and nobody has taken one of them.
    fn is_neglected(&self, seen: &mut Seen) -> bool {
        let taken =
            (0..).map_while(|number| self.worker(number)).map(|worker| worker.counters.injected.get());
        let injected = (!self.injector.is_empty()).then(|| taken.sum());
        let before = std::mem::replace(&mut seen.injected, injected);
        // Both, for both remember what they have seen.
        self.stealable.is_neglected(&mut seen.sets) | (injected.is_some() && injected == before)
    }

    /// Whether a woken task, or a job from outside, is queued.
    fn has_queued(&self) -> bool {
        !self.stealable.is_empty() || !self.injector.is_empty()
    }
}

/// The queues at the watcher's last look.
#[derive(Default)]
pub(super) struct Seen {
    /// As [`Stealable::is_neglected`](crate::stealable::Stealable::is_neglected) wants it.
    sets: Vec<Option<usize>>,
    /// Number of jobs from outside that had been taken, if there were any in the queue.
    injected: Option<u64>,
}

/// Finds slot holders that use no processor time.
struct Stuck {
    since: Instant,
    /// Slot holders, by number, and the processor time that they had used by then.
    used: Vec<(usize, Option<Duration>)>,
}

impl Stuck {
    /// The slot of a worker that has held it, and used no processor time, for [`STUCK`].
    fn find(&mut self, registry: &Registry, rest: &mut Rest) -> Option<usize> {
        // Where nobody can tell how much they use, only very long waits count.
        let unknown = self.used.iter().all(|(_, used)| used.is_none());
        if self.since.elapsed() < if unknown && !self.used.is_empty() { 4 * STUCK } else { STUCK } {
            return None;
        }
        self.since = Instant::now();
        let now: Vec<_> = registry.seated().map(|holder| (holder.number(), holder.clock.used())).collect();
        let before = std::mem::replace(&mut self.used, now);
        let stuck = self.used.iter().find(|now| before.contains(now));
        let holder = registry.worker(stuck?.0)?;
        let runs = *rest.state(holder) == State::Active;
        holder.place().filter(|_| runs && registry.holds_slot(holder))
    }
}
