//! The slots: their holders, the claims for them, and the states of all workers.
//!
//! A *slot* is the right to run jobs. The slot's `holder` is the worker that occupies it. [`Slots`] owns the slots, the table of workers,
//! and the workers' states. States and slots change under one mutex, the *slot lock*, by the methods of [`Locked`]. This module knows
//! neither jobs nor threads: the [registry](crate::engine::registry) tells it whether there is work, and starts threads when it is told to.
//!
//! The states of a worker and of a slot are in the tables of the crate's `README.md`, with the argument why no wake-up is lost.
//!
//! # Invariants
//!
//! 1. *No lost wake-up.* If a slot is free, a worker sleeps and there is work, then some worker searches or is about to be woken.
//!    A publisher publishes, passes a full fence, and reads the count of searching workers. A worker that ends its search decrements
//!    the count. If it was the last searching worker, it then passes a fence, and looks for work everywhere once more: the [final
//!    check](Slots::final_check). So the publisher sees the new count, or the worker sees the work. A thread that makes a slot free
//!    also does a final check.
//!
//!    A worker that pushes a job on its own deque must not pay for a full fence. The push reads the deque's *limit* instead. If the
//!    limit says so, the push *checks the registry*: the worker shares jobs, and wakes another worker if none searches. A final
//!    check that sees no work at once sets the limits of all slot holders' deques by
//!    [`Deque::request_split`](crate::deque::Deque::request_split), passes a *heavy* fence, and looks again.
//! 2. *No needless wake-up.* A parked worker is woken to search only if a slot is free and no worker searches. Three exceptions. A worker
//!    that was woken, and has stolen a fork, wakes [several more](Locked::wake_more) with the first job that it shares, if the call is
//!    old: see "Many workers". And see `registry/turns.rs`: the parked worker takes over the slot of a stuck holder; or no slot is free, and the parked worker becomes
//!    the watcher, which does not search. If the last searching worker finds a job, it does a final check, and wakes the next worker
//!    if there is more work. (The timed searcher counts as searching: for its wake-ups see below. A broadcast job wakes its worker in
//!    any case.)
//! 3. A worker's state, its slot and the list of free slots change under the slot lock. A worker that is given a slot is unparked.
//!    The token of a parker may be stale, so a worker checks its state after each sleep.
//! 4. A worker that releases its slot has no spawned jobs in its deque. Its forks stay in its deque. If there are any, the worker is
//!    on the [shelf], where thieves find it, until it holds a slot again. Exception: a worker that [gives](Locked::give_turn) its
//!    slot to another thread claims a new slot in the same critical section. Its jobs stay in its deque, where no thief sees them. As
//!    long as there is a claim, no slot is free, and searching workers release theirs, unless they find a queued job of more
//!    [priority] than the claim. So either every slot is in use, or the claimant holds a slot again and thieves see its jobs.
//!
//! # The timed searcher
//!
//! A wake-up costs the waker microseconds. So the first worker that gives up its search becomes the *timed searcher*, if there is
//! none and a slot is free. Workers that give up later park. The timed searcher sleeps for short times, and still counts as
//! searching. Each sleep takes an eighth of the time since its timed search began, but at least 50 and at most 250 µs. The timed
//! searcher parks 20 ms after its timed search began; earlier, if no slot is free and woken tasks or deques wait, or if another worker
//! takes its place: see "Where a woken worker runs".
//!
//! Calls that follow each other closely find a searching worker, and a call that is too small to be shared pays for no wake-up.
//! Meanwhile the pushes of some slot holders check the registry. After a fork, such a check wakes the timed searcher if the worker has had
//! work to share for more than 20 µs, or if its last call took longer. (For an external thread the time counts from the begin of its
//! call: see `worker/call.rs`.) A job that its publisher does not wait for wakes the timed searcher at once, unless another worker searches or
//! no slot is free. If that worker ends its search, or a worker makes a slot free, and the job is queued still, this worker wakes the timed searcher.
//!
//! # Many workers
//!
//! If each worker woke the next one when it has found a job, the last of 64 workers would begin after 64 wake-ups, some 2.5 ms. So the number of
//! workers that a call has woken grows by a factor with each wake-up, if two conditions hold. The call has run for so long that it is likely to run
//! on. And work is plentiful: the woken worker has stolen a fork soon, and has a part of it to share. The bound is on the number of searching workers: at most three
//! for each one that runs a job.
//!
//! # More workers than processors
//!
//! If more workers run than there are processors, each keeps another one from running, and a preempted thief delays the owner that waits for its fork. So
//! while as many workers hold slots as there are processors, a fork does not wake the timed searcher, and a worker that would be one more does not steal
//! forks: it becomes the timed searcher, or parks. (That worker still runs queued and spawned jobs: their callers take turns on the processors.) But slot holders may sleep
//! in system calls. So the timed searcher compares the processor time that they have used during its sleep with the time that has passed on all processors.
//! If half of it is missing, it searches for forks, too. If three quarters are missing, the pool takes the holders for sleepers until a later sleep shows otherwise, and
//! workers are woken as if each had a processor. (Where the system does not tell, all holders seem to sleep.) And if forks have been left to busy holders for
//! 20 ms, one worker more searches for them: the holders may wait, and spin, for these very forks.
//!
//! Each sleep takes a processor from a holder, when it ends. So beside busy holders a sleep takes half of the time since the timed search began, at most 2 ms.
//! (Nine of thirteen programs with eight threads on two processors took 3 to 10 % more wall time with sleeps of at most 250 µs.)
//!
//! # Where a woken worker runs
//!
//! Linux may let a woken thread wait for the processor on which it went to sleep, though another one is idle. If that is the processor of the worker that wakes
//! it, and goes on, it waits for the end of that worker's leaf. So a worker that goes on wakes one that went to sleep on another processor, if one of the last
//! eight that have parked did (and no worker watches, which comes first). If the timed searcher would have to wait so, it parks, and such a worker takes its place
//! and is woken.
//!
//! # Timed waits
//!
//! A worker may have to keep its slot while it waits for a latch: its wait rule says so, or no thread could use the slot. Such a
//! worker sleeps for short times, and looks for jobs that it may run between them. If every slot holder waits in this way, no fork
//! can appear. Then the worker sleeps *long*: for as long as it has found nothing, at most 10 ms. Two steps prevent a lost wake-up:
//! the publisher of a job or a task publishes it, passes a full fence, and wakes the long sleepers; a worker counts itself as a
//! long sleeper, passes a full fence, and looks for queued jobs once more before it sleeps. A claim wakes all that wait in their slots, because they give
//! them away. The last worker that begins to wait wakes those that wait for others, because they are the ones to run queued jobs then.
//! So does one that goes on waiting, if a job is queued.

mod hands;
mod monitor;
pub(crate) mod priority;
pub(crate) mod searching;
mod shelf;
mod tokens;
mod waits;
mod wake;

pub(crate) use monitor::{Look, Monitor, STUCK, Seen};
pub use priority::Priority;
pub(crate) use tokens::{Token, TokenSource};

#[cfg(all(test, loom))]
mod models;

use crate::process::processors;
use crate::slots::searching::Searching;
use crate::slots::tokens::Tokens;
use crate::sync::atomic::{
    AtomicBool, AtomicPtr, AtomicU8, AtomicUsize,
    Ordering::{Acquire, Relaxed, Release},
};
use crate::sync::clock::Instant;
use crate::sync::fence;
use crate::sync::machine::OnceLock;
use crate::sync::{Mutex, MutexGuard};
use crossbeam_utils::CachePadded;
use std::collections::VecDeque;
use std::mem;
use std::ops::{Deref, DerefMut};
use std::ptr;
use std::time::Duration;

/// A worker, as the slots see it.
pub(crate) trait Occupant {
    /// Returns the worker's index in the table of workers.
    fn number(&self) -> usize;

    /// Returns the index of the slot that this worker holds, or held until another worker took it over.
    fn slot(&self) -> Option<usize>;

    /// Notes the index of the slot that this worker holds. Called with the slot lock held.
    fn set_slot(&self, slot: Option<usize>);

    /// Whether this worker has jobs that can be stolen. Callers that must not miss any have passed a fence.
    fn has_jobs(&self) -> bool;

    /// Makes the worker check the registry at its next push, and share jobs: see [`Deque::poke`](crate::deque::Deque::poke).
    fn poke(&self);

    /// As [`poke`](Self::poke). In addition, tells the worker that another worker wants jobs: a pop of a spawned job shares jobs, too.
    /// See [`Deque::request_split`](crate::deque::Deque::request_split).
    fn request_split(&self);

    /// Counts a heavy fence that this worker passes.
    fn count_barrier(&self);

    /// Notes that this worker has taken a stuck holder's slot over: it is to look for that holder's forks.
    fn note_take_over(&self);

    /// Notes that this worker is woken beside others.
    fn set_woken_more(&self);

    /// Returns the priority of what this worker runs.
    fn priority(&self) -> Priority;

    /// Returns the rank of this worker's claim: its priority, or the [raised](Self::raise) rank, if that is higher.
    fn rank(&self) -> Priority;

    /// Raises the rank of this worker's claim, until the worker gets a slot. Called with the slot lock held.
    fn raise(&self, rank: Priority);

    /// Returns the number of the worker that waits for the stolen fork that this worker runs, if there is one.
    fn serves(&self) -> Option<usize>;

    /// Notes that this worker is woken [ahead](Locked::resume) of its latch. Returns whether it was before, in the same wait.
    fn set_awake_ahead(&self) -> bool;

    /// Notes that this worker watches: if it wakes in a slot, it may be on turn, and then it does not search.
    fn set_watches(&self);

    /// Wakes the worker's thread.
    fn unpark(&self);

    /// Returns the processor on which the worker's thread went to sleep, if the system tells.
    fn processor(&self) -> Option<usize>;

    /// Returns the processor time that the worker's thread has used, if the system tells.
    fn used_time(&self) -> Option<Duration>;

    /// Whether the worker's thread sleeps in the system, if the system tells.
    fn sleeps(&self) -> Option<bool>;
}

/// The state of a worker: see the table above.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WorkerState {
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
    /// Watches the queues, without a slot.
    Watching,
}

/// A slot in transit: the list of free slots does not contain the slot, and no worker holds it. (In a take-over the stuck worker holds
/// the slot up to `occupy`.) The owner of this value must have a worker [occupy](Locked::occupy) the slot, or make the slot
/// [available](Locked::make_available).
#[derive(Debug)]
#[must_use = "a slot that is dropped is lost"]
pub(crate) struct FreeSlot(usize);

/// The outcome of a [wake-up](Locked::wake_searcher).
#[must_use]
pub(crate) enum WakeOutcome {
    /// A worker searches already, or the pool ends.
    Needless,
    /// A worker has got a slot, and searches.
    Woken,
    /// No slot is free. The caller has the queues watched.
    Full,
    /// No worker is parked. The caller starts a thread in this slot, or [wakes a blocked worker](Locked::wake_blocked).
    NoWorker(FreeSlot),
}

/// The outcome of [`park_searcher`](Locked::park_searcher).
#[derive(Debug, PartialEq, Eq)]
#[must_use]
pub(crate) enum SearchEnd {
    /// There is work. The worker searches again, in a slot.
    SeesWork,
    /// The worker is parked, and another worker searches, or the pool ends.
    Parked,
    /// The worker is parked, and was the last one to search. The caller has the queues watched, if they have jobs.
    ParkedLast,
}

/// Bounds on the number of threads.
#[derive(Debug)]
pub(crate) struct ThreadBounds {
    /// Number of the next spare thread.
    pub(crate) next: usize,
    /// First number that no spare thread may have.
    pub(crate) end: usize,
    /// Whether the system has refused to start a thread.
    pub(crate) refused: bool,
    /// Number of times that the [attendant](crate::engine::registry) has run tasks; wraps.
    pub(crate) attended: usize,
    /// Time at which `end` was last raised, and `attended` then; before that, at the first call of [`raise`](Self::raise).
    raised: Option<(Instant, usize)>,
}

impl ThreadBounds {
    /// If the bound is reached, raises it by one, at most to `limit`. Does so once in each `pause`, and far more seldom if the attendant
    /// has run tasks since: then the waiters probably wait for tasks. (Tasks that come again and again do not keep other jobs waiting
    /// for ever.)
    pub(crate) fn raise(&mut self, limit: usize, pause: Duration) {
        const WITH_TASKS: u32 = 10;
        let now = Instant::now();
        let (raised, attended) = *self.raised.get_or_insert((now, self.attended));
        let pause = if attended == self.attended { pause } else { WITH_TASKS * pause };
        if now - raised >= pause && !self.has_room() && self.end < limit {
            self.end += 1;
            self.raised = Some((now, self.attended));
        }
    }

    /// Whether one more thread may be started.
    pub(crate) fn has_room(&self) -> bool {
        self.next < self.end
    }

    /// Returns the number of a thread that the caller is about to start. Returns `None` if the bound is reached.
    #[must_use]
    pub(crate) fn start(&mut self) -> Option<usize> {
        let number = self.next;
        self.has_room().then(|| self.next += 1)?;
        Some(number)
    }

    /// Notes that the thread with that number could not be started. The pool does not try to start further threads, so that waiting
    /// workers know that no thread will take their slots.
    pub(crate) fn refuse(&mut self, number: usize) {
        let number = number.min(self.next);
        (self.next, self.end, self.refused) = (number, number, true);
    }
}

/// State that the slot lock protects.
pub(crate) struct SlotTable {
    /// State of each worker, by the worker's number.
    states: Vec<WorkerState>,
    /// Numbers of the parked workers. The last one is woken first.
    parked: Vec<usize>,
    /// Number of the timed searcher.
    timed_searcher: Option<usize>,
    /// Number of the parked worker that is the [driver](crate::engine::registry::main_loop), or else of the one that was the last one.
    driver: Option<usize>,
    /// Whether there is a driver.
    is_driven: bool,
    /// Number of times that a worker has become the driver; wraps.
    drives: usize,
    /// Time since which forks have been left to slot holders that keep all processors busy.
    pub(crate) left_since: Option<Instant>,
    /// Indices of the free slots.
    free: Vec<usize>,
    tokens: Tokens,
    /// Numbers of the workers that wait for a slot: by [rank](Occupant::rank), and the oldest claim first. An entry whose worker is `Active` is outdated, and is
    /// skipped.
    claims: VecDeque<usize>,
    pub(crate) threads: ThreadBounds,
    /// Whether the pool ends: its threads end as soon as they have nothing to do.
    terminating: bool,
    /// Numbers of the workers that wait in their slots for other threads, and do not help those threads: see
    /// [`Wait::for_others`](crate::engine::worker::Wait::for_others).
    waiting_for_others: Vec<usize>,
    /// Numbers of the workers without a slot that wait for other threads, and do not help those threads.
    blocked_for_others: Vec<usize>,
    /// Number of long sleepers: see "Timed waits" in the module's doc.
    long_sleepers: usize,
    /// Numbers of the workers on the [shelf], where thieves find them. Each of these workers holds no slot, and had jobs in its deques
    /// when it was put here.
    shelved: Vec<usize>,
    /// Numbers of the workers to unpark when the lock is released. They are not unparked earlier: a woken worker's first step is to
    /// take this lock, so the worker would block.
    woken: Vec<usize>,
    pub(crate) monitor: Monitor,
}

/// A pool's slots and workers.
pub(crate) struct Slots<W> {
    /// Workers by number. Each is made when it is first needed, and never moved.
    workers: Box<[OnceLock<Box<W>>]>,
    /// The holder of each slot; null if the slot is free.
    holders: Box<[CachePadded<AtomicPtr<W>>]>,
    table: Mutex<SlotTable>,
    pub(crate) searching: CachePadded<Searching>,
    /// Number of workers on the shelf; written with the slot lock held.
    shelved: AtomicUsize,
    /// The rank of the first worker that claims a slot, plus 1; 0 if none does. Written with the slot lock held.
    first_claim: AtomicU8,
    /// The highest priority of the overdue threads, plus 1; 0 if no thread is overdue. Written with the slot lock held.
    wanted: AtomicU8,
    /// Whether a queue is neglected; written with the slot lock held.
    neglected: AtomicBool,
    /// Whether slot holders were seen to sleep in the system while the pool was [crowded](Self::is_crowded).
    holders_sleep: AtomicBool,
}

impl<W: Occupant> Slots<W> {
    /// Makes the slots of a pool of `threads` threads, with room for `workers` workers. The first `threads` workers count as parked.
    /// Further threads of the pool have numbers below `end`.
    pub(crate) fn new(threads: usize, end: usize, workers: usize) -> Self {
        Slots {
            workers: (0..workers).map(|_| OnceLock::new()).collect(),
            holders: (0..threads).map(|_| CachePadded::new(AtomicPtr::new(ptr::null_mut()))).collect(),
            table: Mutex::new(SlotTable {
                states: vec![WorkerState::Parked; threads],
                parked: (0..threads).rev().collect(),
                timed_searcher: None,
                driver: None,
                is_driven: false,
                drives: 0,
                left_since: None,
                free: (0..threads).rev().collect(),
                tokens: Tokens::default(),
                claims: VecDeque::new(),
                threads: ThreadBounds { next: threads, end, refused: false, attended: 0, raised: None },
                terminating: false,
                waiting_for_others: Vec::new(),
                blocked_for_others: Vec::new(),
                long_sleepers: 0,
                shelved: Vec::new(),
                woken: Vec::new(),
                monitor: Monitor::default(),
            }),
            searching: CachePadded::new(Searching::new(threads, threads)),
            shelved: AtomicUsize::new(0),
            first_claim: AtomicU8::new(0),
            wanted: AtomicU8::new(0),
            neglected: AtomicBool::new(false),
            holders_sleep: AtomicBool::new(false),
        }
    }

    /// Returns the number of slots.
    pub(crate) fn len(&self) -> usize {
        self.holders.len()
    }

    /// Returns how many workers may be woken beside those that search: as many as there are free slots and [room](Self::room), while at most three
    /// quarters of the holders search. A hint.
    pub(crate) fn wants_more(&self) -> usize {
        let free = self.searching.free();
        if free == 0 {
            return 0;
        }
        // Each of them would search, and hold a slot.
        (3 * self.held() + 1).saturating_sub(4 * self.searching.count()).min(free).min(self.room())
    }

    /// Returns the number of slots that workers hold. A hint.
    pub(crate) fn held(&self) -> usize {
        self.len().saturating_sub(self.searching.unheld())
    }

    /// Returns how many workers more would have a processor each. A hint.
    pub(crate) fn room(&self) -> usize {
        if self.holders_sleep.load(Relaxed) { self.len() } else { processors().saturating_sub(self.held()) }
    }

    /// Whether the pool is crowded: more workers hold slots than there are processors, and they keep the processors busy. A hint.
    pub(crate) fn is_crowded(&self) -> bool {
        self.held() > processors() && !self.holders_sleep.load(Relaxed)
    }

    /// Whether the pool may be crowded. A hint.
    pub(crate) fn is_full(&self) -> bool {
        self.len() > processors() && self.held() >= processors()
    }

    /// Returns the processor time that the slot holders have used, as far as the system tells.
    pub(crate) fn used_time(&self) -> Duration {
        self.slot_holders().filter_map(Occupant::used_time).sum()
    }

    /// Notes whether slot holders sleep in the system: see "More workers than processors".
    pub(crate) fn set_holders_sleep(&self, sleep: bool) {
        if self.holders_sleep.load(Relaxed) != sleep {
            self.holders_sleep.store(sleep, Relaxed);
        }
    }

    /// Returns the number of workers that there is room for.
    pub(crate) fn max_workers(&self) -> usize {
        self.workers.len()
    }

    /// Returns all workers that have been made.
    pub(crate) fn workers(&self) -> impl Iterator<Item = &W> {
        self.workers.iter().filter_map(OnceLock::get).map(|worker| &**worker)
    }

    /// Returns the worker with the given number, if it has been made.
    pub(crate) fn worker(&self, number: usize) -> Option<&W> {
        self.workers.get(number)?.get().map(|worker| &**worker)
    }

    /// Returns the worker with the given number, which must have been made.
    fn known(&self, number: usize) -> &W {
        self.worker(number).expect("a worker that has a state is there")
    }

    /// Returns the worker with the given number, and makes it if needed.
    pub(crate) fn make_worker(&self, number: usize, make: impl FnOnce() -> W) -> &W {
        self.workers[number].get_or_init(|| Box::new(make()))
    }

    /// Returns the worker that holds the slot; `None` if the slot is free.
    pub(crate) fn holder(&self, slot: usize) -> Option<&W> {
        // Acquire pairs with the release in `set_holder`: the worker is initialized. It stays as long as the table of workers.
        // SAFETY: null, or a pointer to a worker of this table.
        unsafe { self.holders[slot].load(Acquire).as_ref() }
    }

    fn set_holder(&self, slot: usize, worker: Option<&W>) {
        // Release: see `holder`.
        self.holders[slot]
            .store(worker.map_or(ptr::null_mut(), |worker| ptr::from_ref(worker).cast_mut()), Release);
    }

    /// Whether the worker holds a slot. A worker whose slot was taken over still has an index, but holds no slot.
    pub(crate) fn holds_slot(&self, worker: &W) -> bool {
        let holder = worker.slot().and_then(|slot| self.holder(slot));
        holder.is_some_and(|holder| ptr::eq(holder, worker))
    }

    /// Returns the workers that hold slots.
    pub(crate) fn slot_holders(&self) -> impl Iterator<Item = &W> {
        (0..self.len()).filter_map(|slot| self.holder(slot))
    }

    /// Returns the rank of the first worker that claims a slot. One relaxed load; a hint.
    pub(crate) fn first_claim(&self) -> Option<Priority> {
        self.first_claim.load(Relaxed).checked_sub(1).map(Priority::of_bits)
    }

    /// The final check. If no worker searches and a slot is free, makes later pushes check the registry, and then looks for work by
    /// `sees_work`. Returns `true` if there is work: the caller must then wake a worker. Called when perhaps no worker searches any
    /// more, or when a slot has become free.
    pub(crate) fn final_check(&self, by: &W, sees_work: impl Fn() -> bool) -> bool {
        // The fence lies between the caller's store (of the count of searching workers, or of free slots) and the loads below. See
        // `Searching::final_check`.
        fence::full();
        let held = self.held();
        let others = held.saturating_sub(self.holds_slot(by).into());
        if others > 0 || self.has_shelved() {
            return self.searching.final_check(|| self.request_all_splits(by), sees_work);
        }
        // No other worker holds a slot, and none is on the shelf. So no other worker runs jobs, except a former holder whose slot was
        // taken over: that one was poked, and checks the registry at its next push. So no fork of another worker can be missed. The
        // heavy fence, which interrupts other cores, is not needed. This worker's next push checks the registry, and so does the first
        // push of a worker that gets a slot later.
        let is_needed = self.searching.needs_searcher();
        if is_needed {
            by.request_split();
        }
        is_needed && sees_work()
    }

    /// Requests a split from every slot holder. Counts, for the worker `by`, the heavy fence that the caller passes next.
    fn request_all_splits(&self, by: &W) {
        self.slot_holders().for_each(W::request_split);
        by.count_barrier();
    }

    /// Takes the slot lock.
    #[cfg_attr(furcate_sim, track_caller)]
    pub(crate) fn lock(&self) -> Locked<'_, W> {
        Locked { slots: self, table: Some(self.table.lock().expect("nobody panics with this lock")) }
    }

    /// Takes the slot lock, unless another thread holds it.
    pub(crate) fn try_lock(&self) -> Option<Locked<'_, W>> {
        Some(Locked { slots: self, table: Some(self.table.try_lock().ok()?) })
    }
}

/// The slot lock, held. Workers that its methods wake are unparked when it is dropped.
pub(crate) struct Locked<'a, W: Occupant> {
    slots: &'a Slots<W>,
    table: Option<MutexGuard<'a, SlotTable>>,
}

impl<W: Occupant> Deref for Locked<'_, W> {
    type Target = SlotTable;
    fn deref(&self) -> &SlotTable {
        self.table.as_ref().expect("held until dropped")
    }
}

impl<W: Occupant> DerefMut for Locked<'_, W> {
    fn deref_mut(&mut self) -> &mut SlotTable {
        self.table.as_mut().expect("held until dropped")
    }
}

impl<W: Occupant> Drop for Locked<'_, W> {
    fn drop(&mut self) {
        let settled = self.settle();
        let woken = mem::take(&mut self.woken);
        self.table = None;
        for number in woken {
            self.slots.known(number).unpark();
        }
        let (unused, source) = settled;
        drop(unused);
        if let Some(request) = source {
            request();
        }
    }
}

impl<'a, W: Occupant> Locked<'a, W> {
    pub(crate) fn state(&self, worker: &W) -> WorkerState {
        self.states.get(worker.number()).copied().unwrap_or(WorkerState::Active)
    }

    /// Whether the pool ends.
    pub(crate) fn is_terminating(&self) -> bool {
        self.terminating
    }

    /// Whether a slot is free.
    pub(crate) fn has_free(&self) -> bool {
        !self.free.is_empty()
    }

    /// Whether a worker claims a slot.
    pub(crate) fn has_claims(&self) -> bool {
        !self.claims.is_empty()
    }

    /// Whether this worker claims a slot.
    pub(crate) fn claims(&self, worker: &W) -> bool {
        self.claims.contains(&worker.number())
    }

    /// Returns the worker that parked last.
    pub(crate) fn last_parked(&self) -> Option<&'a W> {
        self.parked.last().map(|&number| self.slots.known(number))
    }

    /// Whether a parked worker or the timed searcher could use one more slot.
    pub(crate) fn has_spare_worker(&self) -> bool {
        !self.parked.is_empty() || self.timed_searcher.is_some()
    }

    /// Whether every slot holder waits.
    pub(crate) fn all_holders_wait(&self) -> bool {
        self.slots.slot_holders().all(|holder| self.state(holder) == WorkerState::Waiting)
    }

    /// Whether a waiting worker must now run queued jobs itself: every slot holder waits, and no worker searches or can be woken to
    /// search. Without this rule, a queued job that a waiting worker depends on might never run.
    ///
    /// `for_others` says that the asking worker waits for other threads without helping them. Such workers run the jobs first: for any
    /// other worker the result is `false` as long as one of them waits in its slot.
    pub(crate) fn all_wait(&self, for_others: bool) -> bool {
        let none_wakes = self.free.is_empty() || !self.has_spare_worker();
        none_wakes
            && self.slots.searching.no_searcher()
            && (for_others || self.waiting_for_others.is_empty())
            && self.all_holders_wait()
    }
}
