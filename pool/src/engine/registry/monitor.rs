//! The monitor: looks at the queues while every slot is held and no worker searches.
//!
//! The looker is a parked worker, the *watcher*, or if none is parked, the *watchdog*: one thread of the process, which looks at the
//! queues of all such pools. Both make the same [look](Registry::look), and the same [end](Registry::stop_watching) of a watch. Its states
//! are in the table of `slots/monitor.rs`. For an overdue queue the two act differently: the watcher asks for a slot, and the watchdog has a
//! worker watch.
//!
//! If all threads of a pool are busy, the pool would have to start a spare thread just to look at its queues. Nearly always one of
//! its workers comes back to its main loop in time. So the watchdog looks first. If a queue is overdue and no worker has come back,
//! the pool starts a thread, which becomes the watcher. The queues of a server are empty and full by turns, so the watchdog stays for
//! [`LINGER`] after the last queued job. It ends after that time, or when a pool ends and no other pool is watched.

use super::{Locked, Registry};
use crate::engine::settings::has_priorities;
use crate::engine::worker::Worker;
use crate::slots::priority::AGING;
use crate::slots::{Look, Priority, Seen, WorkerState};
use crate::sync::clock::Instant;
use crate::sync::machine::atomic::{
    AtomicPtr,
    Ordering::{Acquire, Relaxed, Release},
};
use crate::sync::machine::thread::{self, JoinHandle};
use crate::sync::machine::{Mutex, MutexGuard, machine_static};
use std::mem;
use std::ptr;
use std::sync::Weak;
use std::time::Duration;

/// The time between two looks at the queues; how long a thread waits before it is overdue; how long queued jobs may run in a slot given
/// by a busy worker; and how long a worker keeps a slot that it has got back, whoever wants it.
pub(super) const TURN: Duration = Duration::from_millis(1);

/// How long a worker that has got its slot back, or for a turn, keeps it if all overdue threads have given theirs too.
///
/// All of these are in the middle of long jobs. Turns among long jobs cost time, and on the average no job ends sooner by them.
pub(super) const LONG_TURN: Duration = TURN.saturating_mul(32);

/// Number of looks at a neglected queue, a [`TURN`] apart, after which busy workers give it a slot. One look more for each overdue thread
/// that has given this slot: a queue's turns begin jobs, and may not begin more and more long ones.
///
/// To give a slot and to get it back costs 0.1 to 1 ms: the system may have to move a thread to the core that becomes idle. So there
/// are milliseconds between two turns. Workers that come back to their main loops sooner serve the queue there, and no slot is given.
const PATIENCE: usize = 4;

/// Number of looks at empty queues after which nothing is watched any more.
const QUIET: u32 = 10;

impl Registry {
    /// Has queued jobs watched, if that is needed (invariant 1). The caller has passed a full fence since it queued a job, or since it
    /// ended its search.
    #[inline]
    pub(super) fn watch_if_needed(&self) {
        if self.slots.searching.needs_watcher() && self.is_queued() {
            self.watch(&mut self.lock());
        }
    }

    /// As [`watch_if_needed`](Self::watch_if_needed), with the lock held.
    pub(super) fn watch(&self, slots: &mut Locked<'_>) {
        let is_needed = self.slots.searching.needs_watcher() && self.is_queued();
        if is_needed && !slots.is_terminating() && !self.is_inherited() {
            // Looks of a watch that has ended say nothing. (A watcher that the watchdog has called goes on where the watchdog was.)
            slots.monitor.seen = Seen::default();
            match slots.last_parked() {
                Some(worker) => slots.begin_watch(worker),
                None => self.set_watchdog(slots),
            }
        }
    }

    /// Has the watchdog look at the queues, until a worker watches. Also while the watcher is on turn, because one of the jobs that it
    /// runs may block.
    pub(super) fn set_watchdog(&self, slots: &mut Locked<'_>) {
        // Relaxed: see `end_watch`.
        self.had_watchdog.store(true, Relaxed);
        slots.monitor.has_watchdog = slots.monitor.has_watchdog || add_to_watchdog(&self.this);
        self.slots.searching.set_watched(slots.monitor.has_watchdog);
    }

    /// Waits until the watchdog does not watch the pool any more, which has ended.
    pub(super) fn end_watch(&self) {
        // Relaxed: the threads that have set it have been joined.
        if self.had_watchdog.load(Relaxed) {
            leave_watchdog();
        }
    }

    /// Looks at the queues on the watchdog's behalf. Returns whether the watchdog has to look again.
    fn look_after(&self) -> bool {
        if self.is_inherited() {
            return false;
        }
        let mut slots = self.lock();
        let is_over = slots.is_terminating() || slots.has_watcher();
        let look = (!is_over).then(|| self.look(&mut slots));
        // If no thread can be started, workers look at the queues between jobs.
        let watcher = if look == Some(Look::Overdue) { self.spare_worker(&mut slots) } else { None };
        let goes_on = watcher.is_none() && look.is_some_and(|look| look > Look::Quiet);
        slots.monitor.has_watchdog = goes_on;
        if let Some(worker) = watcher {
            slots.begin_watch(worker);
        } else if look == Some(Look::Quiet) {
            self.stop_watching(&mut slots);
        }
        goes_on
    }

    /// Returns a parked worker or a new thread, without a slot. Returns `None` if there is none.
    pub(super) fn spare_worker<'a>(&'a self, slots: &mut Locked<'a>) -> Option<&'a Worker> {
        slots.last_parked().or_else(|| self.start_thread(slots))
    }

    /// Watches until the worker's state is another one than `Watching`, or the pool ends. The worker may be on turn already, if it was made the watcher
    /// and got a slot before it was awake.
    pub(super) fn keep_watch<'a>(&'a self, mut slots: Locked<'a>, worker: &Worker) -> Locked<'a> {
        // For the first look.
        let mut hurries = self.is_urged();
        // Whether it has asked for a slot for urgent jobs alone, and since when other jobs wait for their turn, or for this thread.
        let (mut for_urgent, mut since) = (false, None);
        loop {
            if let Some(is_lent) = slots.turn_of(worker) {
                self.set_watchdog(&mut slots);
                drop(slots);
                self.run_queued(worker, is_lent, for_urgent);
                since = since.filter(|_| for_urgent);
                slots = self.lock();
                if slots.end_turn(worker, !worker.broadcasts.is_empty(), self.is_claimed()) {
                    return slots;
                }
                slots.monitor.seen = Seen::default();
            }
            if slots.state(worker) != WorkerState::Watching || slots.is_terminating() {
                break;
            }
            drop(slots);
            if !mem::take(&mut hurries) {
                worker.parker.park_timeout(TURN);
            }
            slots = self.lock();
            if slots.state(worker) == WorkerState::Watching {
                let (look, claims) = (self.look(&mut slots), slots.claims(worker));
                let others_wait = claims || look >= Look::Neglected && self.has_queued_others();
                since = others_wait.then(|| since.unwrap_or_else(Instant::now));
                if look == Look::Overdue || claims {
                    let waited = since.map_or(Duration::ZERO, |since| since.elapsed());
                    for_urgent = self.ask_for_turn(&mut slots, worker, look == Look::Overdue, waited);
                } else if look == Look::Quiet {
                    slots.park(worker);
                    // `watch` wakes the worker that was parked last. So this worker becomes the watcher again, or none is needed.
                    self.stop_watching(&mut slots);
                } else {
                    slots.is_not_overdue(worker.number());
                }
            }
        }
        if slots.state(worker) == WorkerState::Watching {
            slots.watch_is_over();
        }
        slots
    }

    /// Has the watcher ask for a slot, or borrow one if a queue is overdue. `waited` is the time for which jobs that are not urgent have waited. Returns whether
    /// the slot is for urgent jobs alone.
    fn ask_for_turn(
        &self,
        slots: &mut Locked<'_>,
        worker: &Worker,
        is_overdue: bool,
        waited: Duration,
    ) -> bool {
        let aged = if has_priorities() { Priority::Normal.aged(waited) } else { Priority::Normal };
        let is_urgent = !self.urgent.is_empty();
        let wanted_for = if is_urgent { Priority::Urgent } else { Priority::Normal };
        slots.monitor.wanted_for = wanted_for;
        slots.raise(worker, wanted_for.max(aged));
        let may_borrow = is_overdue && (is_urgent || self.has_queued_tasks());
        let _ = slots.ask_for_slot(worker, false) || may_borrow && slots.lend(worker);
        is_urgent && aged == Priority::Normal
    }

    /// Ends the watch, unless a job is queued at this moment.
    fn stop_watching(&self, slots: &mut Locked<'_>) {
        slots.watch_is_over();
        if !self.slots.searching.may_sleep(|| self.is_queued()) {
            self.watch(slots);
        }
    }

    /// Runs queued jobs in a slot that was given for them, for a turn at most. In a lent slot, runs tasks only; in one that was given
    /// for urgent work, only that and jobs for this thread.
    fn run_queued(&self, worker: &Worker, is_lent: bool, for_urgent: bool) {
        let since = Instant::now();
        worker.turn.keep_slot();
        let broadcast = || if is_lent { None } else { worker.find_broadcast() };
        let queued = || {
            if for_urgent {
                self.urgent.take()
            } else if is_lent {
                worker.find_fair_task()
            } else {
                worker.find_fair()
            }
        };
        while let Some(job) = broadcast().or_else(queued) {
            worker.counters.turns.add();
            // SAFETY: just taken from a queue; there is no frame below.
            unsafe { worker.execute_detachable(job) };
            if !self.holds_slot(worker) || since.elapsed() >= TURN {
                break;
            }
        }
        worker.drain();
    }

    /// Looks at the queues, and tells the workers whether one is neglected.
    fn look(&self, slots: &mut Locked<'_>) -> Look {
        let patience = PATIENCE + slots.given_per_slot();
        let (now, seen) = (Instant::now(), &mut slots.monitor.seen);
        let is_urged = self.is_urged();
        // If the caller was woken before the turn was over, a look says nothing but whether it was woken for a job that outranks others.
        if seen.at.is_none_or(|at| now - at >= TURN / 2) {
            let workers = || (0..).map_while(|number| self.worker(number)).map(|worker| &worker.counters);
            seen.at = Some(now);
            let injected =
                (!self.injector.is_empty()).then(|| workers().map(|counters| counters.injected.get()).sum());
            let before = mem::replace(&mut seen.injected, injected);
            let are_tasks_neglected = self.stealable.is_neglected(&mut seen.sets);
            let taken = self.background.taken();
            let same = seen.background.filter(|&(before, _)| before == taken && !self.background.is_empty());
            seen.background = Some(same.unwrap_or((taken, now)));
            let is_background_neglected = same.is_some_and(|(_, since)| now - since >= AGING);
            // A worker takes urgent jobs before any others. So an urgent job that is queued at a look has been neglected.
            let is_neglected = are_tasks_neglected
                || (injected.is_some() && injected == before)
                || is_background_neglected
                || !self.urgent.is_empty();
            let jobs = workers().map(|counters| counters.jobs.get()).sum();
            let are_all_busy = mem::replace(&mut seen.jobs, jobs) == jobs;
            seen.busy = if is_neglected && are_all_busy { seen.busy + 1 } else { 0 };
            seen.quiet = if self.is_queued() { 0 } else { seen.quiet + 1 };
            seen.is_urge = false;
            seen.outcome = if seen.busy >= patience {
                Look::Overdue
            } else if is_neglected {
                Look::Neglected
            } else if seen.quiet > QUIET {
                Look::Quiet
            } else {
                Look::Served
            };
        }
        if is_urged && seen.outcome != Look::Overdue {
            (seen.outcome, seen.is_urge) = (Look::Overdue, true);
        }
        let look = seen.outcome;
        self.slots.set_neglected(look >= Look::Neglected);
        look
    }
}

/// How long the watchdog stays without a pool to watch.
const LINGER: Duration = Duration::from_millis(500);

/// State that the watchdog and the pools share.
#[derive(Default)]
struct WatchdogState {
    /// Pools to watch that the watchdog has not taken out yet.
    new: Vec<Weak<Registry>>,
    /// Whether the watchdog's thread runs.
    runs: bool,
    /// Whether the watchdog has no pool to watch, and sleeps for longer than a turn.
    lingers: bool,
    /// Whether a pool has ended since the last call of [`add_to_watchdog`]. If so, the watchdog does not linger.
    hurries: bool,
    /// The watchdog's thread. It stays here after its end, until a pool joins it.
    thread: Option<JoinHandle<()>>,
    /// Number of looks at all pools so far.
    rounds: u64,
}

/// The watchdog of one process. A forked child makes its own, because the lock may have been held at the fork. The parent's thread
/// does not run in the child. Its handle must be neither joined nor dropped there, because a thread of the child may have the same id.
struct OfProcess {
    generation: usize,
    shared: Mutex<WatchdogState>,
}

machine_static! {
    /// The watchdog of this process, or of an ancestor of it. The values are leaked: one for each fork that uses pools.
    static CURRENT: AtomicPtr<OfProcess> = AtomicPtr::new(ptr::null_mut());
}

/// Locks the state of this process's watchdog.
fn lock() -> MutexGuard<'static, WatchdogState> {
    let generation = crate::process::generation();
    loop {
        // Acquire pairs with the release below: the value is there.
        let watchdog = CURRENT.load(Acquire);
        // SAFETY: null, or from `Box::leak`, and never freed.
        match unsafe { watchdog.as_ref() } {
            Some(watchdog) if watchdog.generation == generation => {
                return watchdog.shared.lock().expect("nobody panics with this lock");
            }
            _ => {
                let new = Box::into_raw(Box::new(OfProcess { generation, shared: Mutex::default() }));
                // Release: see above. If another thread was faster, its value is used.
                if CURRENT.compare_exchange(watchdog, new, Release, Relaxed).is_err() {
                    // SAFETY: just made, and no other thread has seen it.
                    drop(unsafe { Box::from_raw(new) });
                }
            }
        }
    }
}

/// Has the watchdog watch a pool. Returns `false` if the system does not start the thread.
fn add_to_watchdog(registry: &Weak<Registry>) -> bool {
    let mut shared = lock();
    shared.new.push(Weak::clone(registry));
    shared.hurries = false;
    if shared.runs {
        if mem::take(&mut shared.lingers) {
            shared.thread.iter().for_each(|thread| thread.thread().unpark());
        }
        return true;
    }
    const STACK: usize = 64 << 10;
    match thread::Builder::new().name("furcate-watchdog".into()).stack_size(STACK).spawn(run) {
        Ok(thread) => {
            // The former thread has ended.
            shared.thread = Some(thread);
            shared.runs = true;
            true
        }
        Err(_) => {
            shared.new.clear();
            false
        }
    }
}

/// Waits until the watchdog does not watch the calling pool any more, which is ending. If no other pool is watched, waits for the end
/// of the watchdog's thread too.
fn leave_watchdog() {
    let mut before = None;
    loop {
        let mut shared = lock();
        let me = thread::current().id();
        if shared.thread.as_ref().is_some_and(|watchdog| watchdog.thread().id() == me) {
            // The watchdog itself has dropped a pool that another pool's handler had kept.
            return;
        }
        if !shared.runs {
            let thread = shared.thread.take();
            drop(shared);
            // The watchdog does not panic.
            thread.into_iter().for_each(|thread| _ = thread.join());
            return;
        }
        // The second look from now on sees that the pool is ending.
        if shared.rounds >= *before.get_or_insert(shared.rounds) + 2 {
            return;
        }
        shared.hurries = true;
        shared.thread.iter().for_each(|thread| thread.thread().unpark());
        drop(shared);
        thread::yield_now();
    }
}

/// The main function of the watchdog's thread.
fn run() {
    let mut watched = Vec::<Weak<Registry>>::new();
    let mut idle_since = None;
    loop {
        {
            let mut shared = lock();
            shared.rounds += 1;
            watched.append(&mut shared.new);
            shared.lingers = watched.is_empty();
            if watched.is_empty() {
                let since = *idle_since.get_or_insert_with(Instant::now);
                if shared.hurries || since.elapsed() >= LINGER {
                    shared.runs = false;
                    return;
                }
            } else {
                idle_since = None;
            }
        }
        thread::park_timeout(if watched.is_empty() { LINGER } else { TURN });
        // No lock is held here: looks take the pools' locks, under which they call `add_to_watchdog`.
        watched.retain(|registry| registry.upgrade().is_some_and(|registry| registry.look_after()));
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::engine::registry::{Setup, sleep::Sleep};
    use crate::engine::worker::{Current, HeapJob, JobRef};
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
        let mut slots = registry.lock();
        slots.begin_on_turn(worker);
        let slots = registry.keep_watch(slots, worker);
        assert_eq!((worker.slot(), slots.has_claims()), (Some(0), false));
        drop(slots);
        let job = worker.find_broadcast().expect("the second one");
        // SAFETY: just taken from a queue.
        unsafe { worker.execute_detachable(job) };
    }

    /// A worker that is on turn does not count as searching. If it is on turn before it is awake, it must not take itself for a searching one: the end of
    /// its search would be counted, but not the begin.
    #[test]
    fn a_worker_that_is_on_turn_before_it_is_awake_ends_its_turn() {
        let registry = Registry::new(1, Setup::default());
        let worker = registry.worker(0).unwrap();
        std::thread::scope(|threads| {
            let sleeper = threads.spawn(|| {
                let worker = registry.worker(0).unwrap();
                // SAFETY: the registry outlives the value, and this thread alone is the worker.
                let _current = unsafe { Current::enter(worker) };
                matches!(registry.sleep_until_needed(worker, &mut None), Sleep::Needed)
            });
            while worker.counters.parks.get() == 0 {
                std::thread::yield_now();
            }
            registry.lock().watch_on_turn(worker);
            assert!(sleeper.join().unwrap());
        });
        // Nothing was queued, so it searches.
        assert_eq!((worker.slot(), registry.slots.searching.count()), (Some(0), 1));
    }
}
