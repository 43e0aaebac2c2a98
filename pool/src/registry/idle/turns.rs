//! Turns: how threads and tasks that have waited too long get a slot from workers that are busy.
//!
//! A worker inside a computation (forks, steps of a task, a scope that it waits for) does not come back to its main loop
//! before the computation ends. Without turns, jobs queued meanwhile would wait for that end, perhaps for seconds. The worker must
//! not run queued tasks on top of its own frames, because a frame below may hold a lock that the task wants, and because
//! stacks would grow. So the worker gives its *slot* to another thread, and waits for a slot itself.
//!
//! ```text
//!   wake: every slot is taken, no worker searches          cooperative point of a busy worker W:
//!     │                                                    a push, a step's end, a look while it waits
//!     v                                                       │
//!   WATCHER  looks every ms: is a queue neglected, and        │ a thread is overdue?
//!     │      no worker back in its main loop?                 v
//!     │ for 4 looks: it is overdue; pokes slot holders ───> W gives it the slot, claims one, sleeps
//!     v                                                       │
//!   runs woken tasks for up to a ms, then gives the slot ──> to the oldest claim: W continues, and keeps its slot
//!                                                             for at least a ms
//! ```
//!
//! A queue that is neglected at one look is served by the next worker that comes back to its main loop. If none comes, the queue is
//! overdue. Claimants (threads in the middle of a job that lack a slot, and external threads) are overdue after a millisecond,
//! and wait in the same line.
//!
//! # Threads that block outside the pool
//!
//! A slot holder that blocks on a lock, or in a system call, comes to no cooperative point. The thread that would release the lock
//! may itself wait for a slot. So there is one rule: **if a slot's holder uses no processor time for [`STUCK`], the oldest overdue
//! thread takes the slot over.** (Go's monitor takes a processor from a blocked system call in the same way.)
//!
//! | who takes over | when | what it does with the slot |
//! |---|---|---|
//! | a claimant: after `block_on`, a scope or a given turn, or an external thread | it is the oldest overdue thread | continues with its job |
//! | the watcher | a queue is neglected, and the watcher is the oldest overdue thread | runs queued jobs for a turn |
//! | a parked or new thread, for a worker that waits for a latch; else that worker | jobs wait, and no worker searches | searches |
//!
//! The last row is for jobs in the deques of stuck holders, or of the waiting worker: the watcher looks at queues only.
//!
//! A worker whose slot was taken over keeps its index, which the new holder has too. The worker is on the [shelf](super::shelf), where
//! thieves find its jobs. It runs without a slot until its next cooperative point, wait, or job end. There it takes a free slot, claims
//! one, or goes to sleep. Until then jobs that it spawns go to the injector. Its first fork is a cooperative point.
//!
//! # Invariants
//!
//! 1. *Watched.* If every slot is taken, no worker searches and a job is queued, a watcher is there or is about to be made; see
//!    invariant 4 of [`Searching`](crate::searching). A parked worker becomes the watcher. If none is parked, the
//!    [watchdog](super::watchdog) looks first, and starts a spare thread when a queue is overdue. While the former watcher runs
//!    queued jobs, the watchdog looks too, because one of these jobs may block. Pools that may start no more threads have no turns;
//!    their workers look at overdue queues between jobs.
//! 2. *At most n.* A worker that gives its slot is blocked before the other thread gets the slot. Exception: a slot that was taken
//!    over, from the moment at which the former holder no longer blocks until its next cooperative point.
//! 3. *Work conservation.* A worker that gives its slot may have jobs in its deques, which thieves cannot see. It claims a
//!    slot at once, and as long as there are claims no slot is free and searching workers release theirs. So either every
//!    slot is used, or the jobs are visible again.
//! 4. *No deadlock by a lock.* A thread that waits for a slot gets one, even if all holders block on a lock that this thread holds:
//!    their slots are taken over. A worker may keep its slot while it waits although no other thread could run the awaited job.
//!    Then it runs the queued jobs of its scope itself, or else any queued job ([`Next::Queued`](super::Next::Queued)).
//! 5. *A holder is stuck* if its thread has used no processor time for [`STUCK`], and sleeps in the system at two looks in a row
//!    after that. The system says whether a thread sleeps. A thread that only lacks a core does not sleep, and is not stuck. Time
//!    before the worker got its slot does not count. Holders that spin, or that sleep and check something again and again, use
//!    processor time and are never stuck: they look like a job that sleeps and computes by turns.
//! 6. *Both make progress.* A worker that has got a slot back keeps it for a [`TURN`]. A turn takes no longer than a `TURN` and the
//!    rest of the task that runs at its end. So with n > 1 slots, woken tasks get at most one slot's time from busy workers. With one
//!    slot, they get about a fifth of it, because a queue is overdue after [`PATIENCE`] looks.
//!
//! A leaf that neither forks nor has steps has no cooperative points.

use super::watchdog::{self, Watched};
use super::{Idle, Locked, Registry, WorkerState};
use crate::fence;
use crate::worker::Worker;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};

/// The time between two looks at the queues; how long a thread waits before it is overdue; how long queued jobs may run in a slot given
/// by a busy worker; and how long a worker keeps a slot that it has got back.
pub(super) const TURN: Duration = Duration::from_millis(1);

/// Number of looks at a neglected queue, a [`TURN`] apart, after which busy workers give it a slot.
///
/// To give a slot and to get it back costs some 0.1 ms: the system may have to move a thread to the core that becomes idle. So there
/// are milliseconds between two turns. Workers that come back to their main loops sooner serve the queue there, and no slot is given.
const PATIENCE: u32 = 4;

/// Number of looks at empty sets after which the watcher parks.
const QUIET: u32 = 10;

/// How long a slot holder uses no processor time before another thread takes its slot over.
///
/// The time is longer than short locks, reads of files and pauses of some milliseconds take. So the number of threads that run jobs is
/// exact if jobs sleep only for moments. It is shorter than a wait that a user notices. A thread that only lacks a core does not count
/// as stuck, because the system says that it is ready to run.
pub(super) const STUCK: Duration = Duration::from_millis(20);

/// The same for systems that do not report the processor time of threads. There wall time alone counts.
const STUCK_WITHOUT_CLOCK: Duration = Duration::from_millis(250);

/// The shortest time between two looks at the slot holders.
const LOOK: Duration = Duration::from_millis(2);

/// Facts about turns that are read without the idle lock, and written with it.
#[derive(Debug, Default)]
pub(in crate::registry) struct Turns {
    /// Whether a thread without a slot is overdue.
    wanted: AtomicBool,
    /// Whether a queue of woken tasks, or of jobs from outside, is neglected.
    queue: AtomicBool,
    /// Whether the [watchdog](super::watchdog) has ever watched the pool.
    watchdog: AtomicBool,
}

/// Facts about turns that the idle lock protects.
#[derive(Debug, Default)]
pub(super) struct Overdue {
    /// Numbers of the overdue threads, the oldest first: claimants, and the watcher if a queue is overdue.
    queue: VecDeque<usize>,
    /// Number of the worker whose state is [`Watching`](WorkerState::Watching).
    watcher: Option<usize>,
    /// Numbers of former watchers, from the moment at which they get a slot to run queued jobs until they have run them.
    on_turn: Vec<usize>,
    /// Whether the watchdog looks at this pool.
    watchdog: bool,
    /// The slot holders at the last look, by slot.
    holders: Vec<Holder>,
    /// The time of that look.
    looked: Option<Instant>,
}

/// A slot holder at the last look.
#[derive(Debug)]
struct Holder {
    /// Number of the worker.
    number: usize,
    /// Processor time that its thread had used.
    used: Option<Duration>,
    /// Time since which the thread has used no processor time.
    quiet_since: Instant,
    /// Number of looks in a row at which the thread had been quiet for [`STUCK`], and slept.
    asleep: u32,
}

impl Overdue {
    /// Returns the number of the watcher.
    pub(super) fn watcher(&self) -> Option<&usize> {
        self.watcher.as_ref()
    }
}

impl Overdue {
    /// Forgets a worker's former looks when the worker gets a slot: time without a slot does not count.
    pub(super) fn forget_holder(&mut self, number: usize) {
        self.holders.retain(|holder| holder.number != number);
    }
}

impl Idle {
    /// Whether a worker watches the queues.
    pub(super) fn has_watcher(&self) -> bool {
        self.turns.watcher.is_some()
    }
}

/// Slots.
impl Registry {
    /// Whether the worker holds a slot. A worker whose slot was taken over still has an index, but holds no slot.
    pub(crate) fn holds_slot(&self, worker: &Worker) -> bool {
        let holder = worker.slot().and_then(|slot| self.holder(slot));
        holder.is_some_and(|holder| std::ptr::eq(holder, worker))
    }

    /// Whether a queue is neglected. If so, workers take a job from a queue between two jobs of their own. One relaxed load; a hint.
    pub(in crate::registry) fn is_queue_neglected(&self) -> bool {
        self.turns.queue.load(Relaxed)
    }

    /// A cooperative point: gives the calling worker's slot to an overdue thread, if there is one. Returns when the worker has a slot
    /// again, perhaps another one.
    pub(crate) fn give_turn(&self, worker: &Worker) {
        // Relaxed: a hint. Threads that want a slot poke the slot holders again and again.
        if self.turns.wanted.load(Relaxed) || !self.holds_slot(worker) {
            self.give_slot(worker);
        }
    }

    #[cold]
    fn give_slot(&self, worker: &Worker) {
        let keeps = worker.keeps_slot_until.get().is_some_and(|until| Instant::now() < until);
        // A forked child has no other thread of the pool.
        if self.is_inherited() || worker.slot().is_none() || keeps && self.holds_slot(worker) {
            return;
        }
        let mut idle = self.lock();
        if self.holds_slot(worker) {
            let Some(next) = self.next_overdue(&mut idle) else { return };
            let slot = self.withdraw(worker).expect("it holds one");
            worker.counters.slots_given.add();
            *idle.state(worker) = WorkerState::Blocked;
            self.occupy(&mut idle, next, slot);
        } else {
            // Its slot was taken over.
            worker.set_slot(None);
            if let Some(slot) = self.take_free(&mut idle) {
                self.occupy(&mut idle, worker, slot);
                drop(idle);
                // A worker that ended its search in between has not seen the jobs that this worker has pushed without a slot.
                self.share(worker);
                return;
            }
            *idle.state(worker) = WorkerState::Blocked;
        }
        self.claim(&mut idle, worker);
        drop(idle);
        self.wait_for_slot(worker);
        worker.keeps_slot_until.set(Some(Instant::now() + TURN));
    }

    /// Waits until a worker that claims a slot has one.
    pub(super) fn wait_for_slot(&self, worker: &Worker) {
        let since = Instant::now();
        let mut looks = 0;
        loop {
            let mut idle = self.lock();
            if *idle.state(worker) == WorkerState::Active {
                return;
            }
            if since.elapsed() >= TURN {
                looks += 1;
                self.is_overdue(&mut idle, worker.number());
                if self.try_take_over(&mut idle, worker) {
                    return;
                }
            }
            drop(idle);
            // Slot holders keep their slots for a turn. Holders with long leaves need not be poked as often.
            worker.parker.park_timeout(TURN * (1 + looks / 16).min(8));
        }
    }

    /// Marks a parked worker as overdue that has claimed a slot a turn ago, and has it take the slot of a stuck holder over, if
    /// possible.
    pub(super) fn wants_slot(&self, idle: &mut Idle, worker: &Worker) {
        self.is_overdue(idle, worker.number());
        self.try_take_over(idle, worker);
    }

    /// Has the worker take over the slot of a stuck holder (invariant 5), if the worker is the oldest overdue thread. Returns whether
    /// it has done so.
    fn try_take_over(&self, idle: &mut Idle, worker: &Worker) -> bool {
        self.look_at_holders(idle);
        if idle.turns.queue.front() != Some(&worker.number()) {
            return false;
        }
        let Some(slot) = self.find_stuck(idle) else { return false };
        let next = self.next_overdue(idle);
        debug_assert!(next.is_some_and(|next| std::ptr::eq(next, worker)));
        self.take_slot_over(idle, worker, slot);
        true
    }

    /// Gives the slot of a stuck holder to another worker.
    pub(super) fn take_slot_over(&self, idle: &mut Idle, worker: &Worker, slot: usize) {
        worker.counters.slots_taken_over.add();
        let before = self.holder(slot);
        if let Some(holder) = before {
            self.shelve(idle, holder);
        }
        self.occupy(idle, worker, slot);
        if let Some(holder) = before {
            // The holder's next push is a cooperative point. A push that does not see the poke is seen here: the heavy fence orders
            // each of the holder's pushes before this look, or behind the poke.
            holder.poke();
            fence::heavy();
            self.shelve(idle, holder);
        }
    }

    /// Has another thread take over the slot of a stuck holder and search, if jobs wait and all slots are held. Called by a worker that
    /// waits for a latch. If there is no other thread, returns the stuck holder's slot.
    pub(super) fn replace_stuck(&self, idle: &mut Idle) -> Option<usize> {
        if idle.terminating || self.searching.free() > 0 || !self.searching.no_searcher() || !self.sees_work()
        {
            return None;
        }
        self.look_at_holders(idle);
        let slot = self.find_stuck(idle)?;
        let parked = idle.parked.last().and_then(|&number| self.worker(number));
        match parked.or_else(|| self.start_thread(idle, WorkerState::Parked)) {
            Some(other) => {
                self.take_slot_over(idle, other, slot);
                None
            }
            None => Some(slot),
        }
    }

    /// Notes how much processor time the slot holders have used, unless the last look was less than [`LOOK`] ago.
    pub(super) fn look_at_holders(&self, idle: &mut Idle) {
        let now = Instant::now();
        if idle.turns.looked.is_some_and(|looked| now - looked < LOOK) {
            return;
        }
        idle.turns.looked = Some(now);
        let before = std::mem::take(&mut idle.turns.holders);
        let holders = self.slot_holders().map(|holder| {
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
        idle.turns.holders = holders.collect();
    }

    /// Whether a slot holder was stuck at the last look (invariant 5).
    pub(super) fn is_stuck(&self, idle: &mut Idle, holder: &Worker) -> bool {
        if *idle.state(holder) != WorkerState::Active {
            return false;
        }
        // Two looks: a thread that has just been woken, by the pool or by the release of a lock, gets time to begin.
        idle.turns.holders.iter().any(|seen| seen.number == holder.number() && seen.asleep >= 2)
    }

    /// Returns the slot of a stuck holder.
    fn find_stuck(&self, idle: &mut Idle) -> Option<usize> {
        (0..self.num_threads())
            .find(|&slot| self.holder(slot).is_some_and(|holder| self.is_stuck(idle, holder)))
    }

    /// Marks a thread without a slot as overdue, and pokes the slot holders.
    fn is_overdue(&self, idle: &mut Idle, number: usize) {
        if !idle.turns.queue.contains(&number) {
            idle.turns.queue.push_back(number);
        }
        self.turns.wanted.store(true, Relaxed);
        // The holders look up at their next push or step, and see the store above. On a machine where the store takes longer to
        // arrive, they see it when they are poked again.
        self.slot_holders().for_each(Worker::poke);
    }

    /// Marks a thread as not overdue.
    fn is_not_overdue(&self, idle: &mut Idle, number: usize) {
        idle.turns.queue.retain(|&other| other != number);
        self.turns.wanted.store(!idle.turns.queue.is_empty(), Relaxed);
    }

    /// Returns the oldest overdue worker, to be given a slot.
    fn next_overdue(&self, idle: &mut Idle) -> Option<&Worker> {
        let number = *idle.turns.queue.front()?;
        let worker = self.worker(number).expect("a worker that waits for a slot is there");
        if *idle.state(worker) == WorkerState::Watching {
            // The watcher will run queued jobs, and does not search. Meanwhile the watchdog watches, because a job may block.
            self.watch_is_over(idle);
            idle.turns.on_turn.push(number);
            *idle.state(worker) = WorkerState::Blocked;
            self.set_watchdog(idle);
        }
        Some(worker)
    }

    /// Removes a worker's claim, if there is one, and marks the worker as not overdue: it gets a slot.
    pub(super) fn forget_claim(&self, idle: &mut Idle, number: usize) {
        if !idle.claims.is_empty() {
            idle.claims.retain(|&other| other != number);
            self.claims.store(idle.claims.len(), Relaxed);
        }
        if !idle.turns.queue.is_empty() {
            self.is_not_overdue(idle, number);
        }
    }
}

/// The watcher.
impl Registry {
    /// Has queued jobs watched, if that is needed (invariant 1). The caller has passed a full fence since it queued a job, or since it
    /// ended its search.
    #[inline]
    pub(super) fn watch_if_needed(&self) {
        if self.searching.needs_watcher() && self.is_queued() {
            self.watch(&mut self.lock());
        }
    }

    /// As [`watch_if_needed`](Self::watch_if_needed), with the lock held.
    pub(super) fn watch(&self, idle: &mut Idle) {
        if idle.terminating || self.is_inherited() || !self.searching.needs_watcher() || !self.is_queued() {
            return;
        }
        self.searching.set_watched(true);
        if let Some(worker) = idle.parked.pop().and_then(|number| self.worker(number)) {
            self.begin_watch(idle, worker);
            return;
        }
        self.set_watchdog(idle);
    }

    /// Has the watchdog look at the queues, until a worker watches.
    fn set_watchdog(&self, idle: &mut Idle) {
        self.turns.watchdog.store(true, Relaxed);
        idle.turns.watchdog = idle.turns.watchdog || watchdog::watch(&self.this());
        self.searching.set_watched(idle.turns.watchdog);
    }

    /// Makes a worker the watcher, and wakes it.
    fn begin_watch(&self, idle: &mut Idle, worker: &Worker) {
        self.searching.set_watched(true);
        *idle.state(worker) = WorkerState::Watching;
        idle.turns.watcher = Some(worker.number());
        idle.woken.push(worker.number());
    }

    /// Waits until the watchdog does not watch the pool any more, which has ended.
    pub(in crate::registry) fn end_watch(&self) {
        // Relaxed: the threads that have set it have been joined.
        if self.turns.watchdog.load(Relaxed) {
            watchdog::forget();
        }
    }

    /// Looks at the queues on the watchdog's behalf. Returns whether the watchdog has to look again.
    pub(super) fn look_after(&self, watched: &mut Watched) -> bool {
        if self.is_inherited() {
            return false;
        }
        let mut idle = self.lock();
        if idle.terminating || idle.turns.watcher.is_some() {
            idle.turns.watchdog = false;
            return false;
        }
        let neglect = self.look_at_queues(&mut watched.seen);
        self.turns.queue.store(neglect.is_some(), Relaxed);
        if neglect == Some(Neglect::ByAll) {
            let parked = idle.parked.pop().and_then(|number| self.worker(number));
            // If no thread can be started, workers look at the queues between jobs.
            if let Some(worker) = parked.or_else(|| self.start_thread(&mut idle, WorkerState::Watching)) {
                self.begin_watch(&mut idle, worker);
                idle.turns.watchdog = false;
                return false;
            }
        }
        watched.quiet = if self.is_queued() { 0 } else { watched.quiet + 1 };
        if watched.quiet <= QUIET {
            return true;
        }
        idle.turns.watchdog = false;
        self.searching.set_watched(false);
        if !self.searching.may_stop_watching(|| self.is_queued()) {
            self.watch(&mut idle);
        }
        false
    }

    /// Notes that there is no watcher any more.
    pub(super) fn watch_is_over(&self, idle: &mut Idle) {
        if let Some(number) = idle.turns.watcher.take() {
            self.is_not_overdue(idle, number);
        }
        self.turns.queue.store(false, Relaxed);
        self.searching.set_watched(false);
    }

    /// Watches until the worker's state is another one than `Watching`, or the pool ends.
    pub(super) fn keep_watch<'a>(&'a self, mut idle: Locked<'a>, worker: &Worker) -> Locked<'a> {
        let mut seen = Seen::default();
        let mut quiet = 0;
        while *idle.state(worker) == WorkerState::Watching && !idle.terminating {
            drop(idle);
            worker.parker.park_timeout(TURN);
            idle = self.lock();
            if *idle.state(worker) == WorkerState::Watching {
                let neglect = self.look_at_queues(&mut seen);
                self.turns.queue.store(neglect.is_some(), Relaxed);
                if neglect == Some(Neglect::ByAll) {
                    self.is_overdue(&mut idle, worker.number());
                    self.try_take_over(&mut idle, worker);
                } else {
                    self.is_not_overdue(&mut idle, worker.number());
                }
                quiet = if self.is_queued() { 0 } else { quiet + 1 };
                if quiet > QUIET && *idle.state(worker) == WorkerState::Watching {
                    self.stop_watching(&mut idle, worker);
                }
            }
            if idle.turns.on_turn.contains(&worker.number()) {
                drop(idle);
                self.run_queued(worker);
                idle = self.lock();
                idle.turns.on_turn.retain(|&number| number != worker.number());
                if self.holds_slot(worker) && idle.claims.is_empty() {
                    // No other thread needs the slot, so the worker searches.
                    self.searching.begin();
                    return idle;
                }
                self.release(&mut idle, worker);
                if !worker.broadcasts.is_empty() {
                    // A worker that has lost its slot may find a free one. Nobody claims a slot while one is free.
                    if let Some(slot) = self.take_free(&mut idle) {
                        self.occupy(&mut idle, worker, slot);
                        self.searching.begin();
                        return idle;
                    }
                    // The claim that `call` has made for them ended with the turn.
                    self.claim(&mut idle, worker);
                }
                if idle.turns.watcher.is_none() && !idle.terminating {
                    self.begin_watch(&mut idle, worker);
                    (seen, quiet) = (Seen::default(), 0);
                } else {
                    // Another worker watches by now.
                    *idle.state(worker) = WorkerState::Parked;
                    idle.parked.push(worker.number());
                }
            }
        }
        if *idle.state(worker) == WorkerState::Watching {
            self.watch_is_over(&mut idle);
        }
        idle
    }

    /// Parks the watcher, unless a job is queued at this moment.
    fn stop_watching(&self, idle: &mut Idle, worker: &Worker) {
        self.watch_is_over(idle);
        *idle.state(worker) = WorkerState::Parked;
        idle.parked.push(worker.number());
        if !self.searching.may_stop_watching(|| self.is_queued()) {
            // `watch` wakes the worker that was parked last, so it makes this worker the watcher again, or none is needed.
            self.watch(idle);
        }
    }

    /// Runs queued jobs in a slot that was given for them, for a turn at most.
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
        worker.drain();
    }

    /// Returns how neglected the queues are. A queue is neglected if it has had jobs since the last look and no worker has taken one.
    fn look_at_queues(&self, seen: &mut Seen) -> Option<Neglect> {
        let now = Instant::now();
        if seen.at.is_some_and(|at| now - at < TURN / 2) {
            // The caller was woken before the turn was over. A look so soon says nothing.
            return seen.neglect;
        }
        seen.at = Some(now);
        seen.neglect = self.look_anew(seen);
        seen.neglect
    }

    /// As [`look_at_queues`](Self::look_at_queues), a turn or more after the last look.
    fn look_anew(&self, seen: &mut Seen) -> Option<Neglect> {
        let workers = || (0..).map_while(|number| self.worker(number)).map(|worker| &worker.counters);
        let injected =
            (!self.injector.is_empty()).then(|| workers().map(|counters| counters.injected.get()).sum());
        let before = std::mem::replace(&mut seen.injected, injected);
        let are_tasks_neglected = self.stealable.is_neglected(&mut seen.sets);
        // A worker takes urgent jobs before any others. So an urgent job that is queued at a look has been neglected.
        let is_neglected =
            are_tasks_neglected || (injected.is_some() && injected == before) || !self.urgent.is_empty();
        let jobs = workers().map(|counters| counters.jobs.get()).sum();
        let are_all_busy = std::mem::replace(&mut seen.jobs, jobs) == jobs;
        seen.looks = if is_neglected && are_all_busy { seen.looks + 1 } else { 0 };
        is_neglected.then_some(if seen.looks >= PATIENCE { Neglect::ByAll } else { Neglect::OfQueue })
    }
}

/// How neglected a queue is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Neglect {
    /// No worker has taken a job of the queue since the last look. Workers look into the queue between two jobs of their own.
    OfQueue,
    /// The same holds for [`PATIENCE`] looks, and no worker has begun a job in its main loop meanwhile.
    ByAll,
}

/// The queues at the watcher's last look.
#[derive(Default)]
pub(super) struct Seen {
    /// State of the sets of woken tasks, written by [`Stealable::is_neglected`](crate::stealable::Stealable::is_neglected).
    sets: Vec<Option<usize>>,
    /// Number of jobs that workers had taken from the injector; `None` if the injector was empty.
    injected: Option<u64>,
    /// Number of jobs that workers had begun in their main loops.
    jobs: u64,
    /// Time of the last look.
    at: Option<Instant>,
    /// Result of the last look.
    neglect: Option<Neglect>,
    /// Number of looks in a row at which a queue had been neglected, and no main loop had begun a job since the look before.
    looks: u32,
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::job::{HeapJob, JobRef};
    use crate::registry::Setup;
    use crate::worker::Current;
    use std::ptr;

    /// A worker on turn has lost its slot, and has a broadcast job. It searches in the free slot, rather than claim one.
    #[test]
    fn a_worker_on_turn_that_has_lost_its_slot_takes_a_free_one_for_a_broadcast_job() {
        let registry = Registry::new(1, Setup::default());
        let worker = registry.worker(0).unwrap();
        // SAFETY: the registry outlives the value, and this thread alone is the worker.
        let _current = unsafe { Current::enter(worker) };
        for _ in 0..2 {
            // SAFETY: the closure borrows nothing. The first job runs in the worker's turn, and the second one below.
            let job = unsafe { HeapJob::queueable(0, |_: &Worker| ()) };
            worker.broadcasts.push(JobRef::new(job, ptr::null()));
        }
        let mut idle = registry.lock();
        *idle.state(worker) = WorkerState::Watching;
        idle.turns.watcher = Some(worker.number());
        idle.turns.on_turn.push(worker.number());
        let idle = registry.keep_watch(idle, worker);
        assert_eq!((worker.slot(), idle.claims.len()), (Some(0), 0));
        drop(idle);
        let job = worker.find_broadcast().expect("the second one");
        // SAFETY: just taken from a queue.
        unsafe { worker.execute_detachable(job) };
    }
}
