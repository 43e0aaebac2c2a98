//! A worker: a thread that runs jobs, its deques, and the fork.

mod call;
mod call_latch;
mod fifo;
mod frame;
mod search;
mod spawned;
mod stack_job;
mod traced;
mod turn;
mod wait;

pub(crate) use call::CallTime;
pub(crate) use call_latch::CallLatch;
pub(crate) use fifo::Fifo;
pub(crate) use frame::Credits;
pub(crate) use stack_job::StackJob;
pub use wait::WaitRule;
pub(crate) use wait::{Awaited, LONG_SLEEP, SHORT_SLEEP, Wait};

use crate::deque::{Deque, Steal};
use crate::engine::job;
use crate::engine::job::by_pointer::{ByPointer, fits_registers, is_large};
use crate::engine::queues::deques;
use crate::engine::queues::stealable;
use crate::engine::registry::Registry;
use crate::engine::stats::{Counters, WorkerStats};
use crate::process::ThreadClock;
use crate::process::topology::processor;
use crate::quiet_drop::drop_quietly;
use crate::slots::{Occupant, Priority};
use crate::sync::latch::Latch;
use crate::sync::machine::Injector;
use crate::sync::machine::atomic::{
    AtomicBool, AtomicPtr, AtomicU8, AtomicU64, AtomicUsize,
    Ordering::{Acquire, Relaxed},
};
use crate::sync::parker::Parker;
use crate::trace::{self, Kind};
use frame::{Frames, Relation};
use search::SearchState;
use std::any::Any;
use std::cell::Cell;
use std::marker::PhantomData;
use std::mem::{ManuallyDrop, MaybeUninit};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::ptr::{self, NonNull};
use std::time::Duration;
use traced::TracedForks;
use turn::Turn;

/// The header of a pool's job.
pub(crate) type Header = job::Header<Worker>;
/// The header of a spawned job.
pub(crate) type SpawnHeader = job::SpawnHeader<Worker>;
/// A pointer to a job on its way.
pub(crate) type JobRef = job::JobRef<Worker>;
/// A spawned job.
pub(crate) type HeapJob<F> = job::HeapJob<Worker, F>;
/// A deque of spawned jobs.
type SpawnDeque = deques::SpawnDeque<Worker>;
/// A reference to a deque of spawned jobs.
pub(crate) type DequeRef = deques::DequeRef<Worker>;
/// The stealable sets.
pub(crate) type Stealable = stealable::Stealable<Worker>;
/// An entry of a stealable set.
pub(crate) type Entry = stealable::Entry<Worker>;

/// Number of jobs that a deque has room for before it grows.
const ROOM: usize = 256;

/// Slot index of a worker that holds no slot.
const NO_SLOT: usize = usize::MAX;

/// The handle of a pool's worker, for the jobs that this worker runs. A fork with this handle saves the look-up of a thread-local.
///
/// [`join_with`](crate::join_with) and [`Worker::join`] pass the handle to their closures. It cannot leave its thread.
///
/// ```
/// use furcate::{Worker, join_with};
///
/// fn fib(worker: &Worker, n: u32) -> u64 {
///     if n < 2 {
///         return u64::from(n);
///     }
///     let (a, b) = worker.join(|w| fib(w, n - 1), |w| fib(w, n - 2));
///     a + b
/// }
///
/// let (a, b) = join_with(|w| fib(w, 19), |w| fib(w, 18));
/// assert_eq!(a + b, 6765);
/// ```
///
/// ```compile_fail,E0277
/// furcate::join_with(|w| std::thread::scope(|s| { s.spawn(|| w.join(|_| (), |_| ())); }), |_| ());
/// ```
pub struct Worker {
    /// Forked jobs: the right halves of this thread's open joins, the oldest at the top.
    ///
    /// Invariant: when a worker starts a stolen job, or waits for a job that was stolen from it, this deque is empty. So the jobs that
    /// a thief finds here were forked by the job that the owner has started last. Exceptions: the owner [runs an unrelated
    /// job](Worker::runs_unrelated), or it began the job with open forks, see [`starts`](Worker::starts).
    forks: Deque<Header>,
    /// The active deque of spawned jobs, see [`spawned`]. Each of these jobs belongs to one scope or to none. Written by this thread.
    active: AtomicPtr<SpawnDeque>,
    /// Facts about the job on top of this thread's stack.
    frames: Frames,
    /// The facts that this worker keeps from one search to the next; this thread's.
    pub(crate) search: SearchState,
    /// The turns of calls, and of this thread in its slot; this thread's.
    pub(crate) turn: Turn,
    /// Jobs for this thread: parts of broadcasts, and jobs of `spawn_on`. No other thread may run them.
    pub(crate) broadcasts: Injector<JobRef>,
    /// Jobs that this thread has spawned by `spawn_fifo`.
    pub(crate) fifo: Fifo,
    pub(crate) counters: Counters,
    /// The forks in the trace; this thread's.
    traced: TracedForks,
    pub(crate) parker: Parker,
    /// The processor time of the thread that is this worker.
    pub(crate) clock: ThreadClock,
    /// What this thread waits for, as an [`Awaited`]. Written by this thread, and read for dumps: relaxed.
    awaited: AtomicU64,
    /// Number, plus 1, of the worker that waits for the stolen fork that this worker runs; 0 if it runs none.
    serves: AtomicUsize,
    /// Whether this worker was woken [ahead](crate::slots::Locked::resume) of the latch that it waits for.
    pub(crate) awake_ahead: AtomicBool,
    /// The processor on which the thread went to sleep, plus 1; 0 if the system does not tell.
    pub(crate) processor: AtomicUsize,
    /// Whether this worker was made the watcher since it last had the slot lock to go to sleep. Written with the slot lock held.
    pub(crate) watches: AtomicBool,
    /// Whether the main loop is pending, with this worker as the driver; this thread's.
    pub(crate) drives: Cell<bool>,
    registry: NonNull<Registry>,
    /// Index of this worker in the registry's table of workers.
    number: usize,
    /// Whether this worker is an external thread.
    external: bool,
    /// Index of this worker's slot, or `NO_SLOT`. Written with the registry's slot lock held, by this thread, or by another one while
    /// this thread sleeps or spins without a slot. If another worker has taken the slot over, the index stays until this thread notices.
    slot: AtomicUsize,
    /// For an external thread: the time since its call began. For other workers: the time since this worker first had jobs to share
    /// while only the timed searcher searched. The time decides whether a wake-up is worth its cost.
    pub(crate) call: CallTime,
    /// Whether an external thread is this worker at present, or keeps it for its next call.
    pub(crate) taken: AtomicBool,
    /// The rank to which this worker's claim of a slot was raised. Written with the slot lock held.
    raised: AtomicU8,
    /// Neither `Send` nor `Sync`: only this thread may use the handle.
    _this_thread: PhantomData<*const ()>,
}

crate::sync::machine::thread_local! {
    /// The worker that this thread is.
    static CURRENT: Cell<*const Worker> = const { Cell::new(ptr::null()) };
}

/// Makes the calling thread a worker until the value is dropped. Then the thread is its former worker again, if it was one.
pub(crate) struct Current(*const Worker);

impl Current {
    /// # Safety
    ///
    /// The worker outlives the value returned, and no other thread is this worker meanwhile.
    pub(crate) unsafe fn enter(worker: &Worker) -> Self {
        worker.clock.set_to_current();
        Current(CURRENT.replace(worker))
    }

    /// Makes the calling thread no worker until the value is dropped.
    pub(crate) fn leave() -> Self {
        Current(CURRENT.replace(ptr::null()))
    }
}

/// Makes this thread, which is no worker, a worker until [`disown`] is called.
///
/// # Safety
///
/// As for [`Current::enter`], until then.
pub(crate) unsafe fn adopt(worker: &Worker) {
    worker.clock.set_to_current();
    CURRENT.set(worker);
}

/// Makes this thread no worker.
pub(crate) fn disown() {
    CURRENT.set(ptr::null());
}

impl Drop for Current {
    fn drop(&mut self) {
        CURRENT.set(self.0);
    }
}

impl Worker {
    /// Returns the counts of this worker's actions.
    pub(crate) fn stats(&self) -> WorkerStats {
        let (splits_grown, splits_shrunk) = self.forks.splits();
        WorkerStats { splits_grown, splits_shrunk, ..self.counters.read() }
    }

    pub(crate) fn new(
        registry: NonNull<Registry>,
        number: usize,
        slots: usize,
        always_shared: bool,
        external: bool,
        active: DequeRef,
    ) -> Self {
        Worker {
            forks: Deque::starting_at(1, ROOM, always_shared),
            active: AtomicPtr::new(active.as_ptr()),
            frames: Frames::default(),
            search: SearchState::nth(number),
            turn: Turn::default(),
            broadcasts: Injector::new(),
            fifo: Fifo::new(0),
            counters: Counters::new(slots),
            traced: TracedForks::default(),
            parker: Parker::new(),
            clock: ThreadClock::default(),
            awaited: AtomicU64::default(),
            serves: AtomicUsize::default(),
            awake_ahead: AtomicBool::default(),
            processor: AtomicUsize::default(),
            watches: AtomicBool::default(),
            drives: Cell::default(),
            registry,
            number,
            external,
            slot: AtomicUsize::new(NO_SLOT),
            call: CallTime::default(),
            taken: AtomicBool::new(false),
            raised: AtomicU8::default(),
            _this_thread: PhantomData,
        }
    }

    /// Returns the worker that the calling thread is; null if it is none.
    #[inline(always)]
    pub(crate) fn current() -> *const Worker {
        CURRENT.get()
    }

    /// Calls `f` with the worker that the calling thread is, if it is one.
    #[inline(always)]
    pub(crate) fn with_current<R>(f: impl FnOnce(Option<&Worker>) -> R) -> R {
        // SAFETY: null, or set by `Current::enter` or `adopt`, whose callers keep the worker alive.
        f(unsafe { Self::current().as_ref() })
    }

    pub(crate) fn registry(&self) -> &Registry {
        // SAFETY: workers are owned by their registry.
        unsafe { self.registry.as_ref() }
    }

    /// Whether this worker belongs to that registry.
    pub(crate) fn is_of(&self, registry: &Registry) -> bool {
        ptr::eq(self.registry.as_ptr(), registry)
    }

    pub(crate) fn number(&self) -> usize {
        self.number
    }

    /// Whether this worker is an external thread.
    pub(crate) fn is_external(&self) -> bool {
        self.external
    }

    /// Returns the index of the slot that this worker holds, or held until another worker took it over.
    pub(crate) fn slot(&self) -> Option<usize> {
        // Relaxed: written by this thread, or under a lock that it has taken since, or before an unpark that it has passed.
        let slot = self.slot.load(Relaxed);
        (slot != NO_SLOT).then_some(slot)
    }

    /// Returns the index of the slot that the thread holds in its pool, `0 .. num_threads`.
    ///
    /// No two threads hold the same slot at the same time, with two exceptions. If a thread blocks on a lock of the program or in a
    /// system call, and uses no processor time for 20 ms, another thread may [take its slot
    /// over](crate::WorkerStats::slots_taken_over). Then both threads have that index until the first one next forks, waits, or ends
    /// its job. And a woken task may [borrow](crate::Fairness) the slot of a thread in a long leaf. So if jobs may block, or if there are
    /// futures, data that is kept by index has to be synchronized. A thread may hold another slot after a `join`,
    /// a scope or another wait than before: see [`WaitRule`](crate::WaitRule).
    ///
    /// # Panics
    ///
    /// If the thread holds no slot: a handle of one pool was carried into a job of another one that the thread waits for.
    #[must_use]
    pub fn index(&self) -> usize {
        self.slot().expect("a thread that runs a job holds a slot")
    }

    /// Returns how many threads of the pool run jobs at once.
    #[must_use]
    pub fn num_threads(&self) -> usize {
        self.registry().num_threads()
    }

    /// Runs both closures, potentially in parallel, as [`join`](crate::join) does.
    ///
    /// # Panics
    ///
    /// With the payload of the closure that panicked, the left one's if both did.
    #[inline(always)] // the fork is the function that is called
    pub fn join<A, B, RA, RB>(&self, left: A, right: B) -> (RA, RB)
    where
        A: FnOnce(&Worker) -> RA + Send,
        B: FnOnce(&Worker) -> RB + Send,
        RA: Send,
        RB: Send,
    {
        self.fork_outlined(left, |worker, _migrated| right(worker))
    }

    /// [`fork`](Self::fork) as a function of its own: see [`by_pointer`](crate::engine::job::by_pointer).
    #[inline(always)]
    fn fork_outlined<A, B, RA, RB>(&self, left: A, right: B) -> (RA, RB)
    where
        A: FnOnce(&Worker) -> RA + Send,
        B: FnOnce(&Worker, bool) -> RB + Send,
        RA: Send,
        RB: Send,
    {
        if const { fits_registers::<A>() && fits_registers::<B>() } {
            return self.fork_of_words(left, right);
        }
        if const { is_large::<A>() || is_large::<B>() } {
            return self.fork(left, right);
        }
        let (mut left, mut right) = (ManuallyDrop::new(left), ManuallyDrop::new(right));
        // SAFETY: neither is used below.
        let (left, right) = unsafe { (ByPointer::new(&mut left), ByPointer::new(&mut right)) };
        self.fork_of_words(|worker| left.take()(worker), |worker, migrated| right.take()(worker, migrated))
    }

    #[inline(never)]
    fn fork_of_words<A, B, RA, RB>(&self, left: A, right: B) -> (RA, RB)
    where
        A: FnOnce(&Worker) -> RA + Send,
        B: FnOnce(&Worker, bool) -> RB + Send,
        RA: Send,
        RB: Send,
    {
        self.fork(left, right)
    }

    /// Forks: `right` is in the deque while `left` runs. Then this worker pops `right` and runs it, or waits for the thief. The second
    /// argument of `right` says whether it has migrated.
    #[inline(always)]
    pub(crate) fn fork<A, B, RA, RB>(&self, left: A, right: B) -> (RA, RB)
    where
        A: FnOnce(&Worker) -> RA + Send,
        B: FnOnce(&Worker, bool) -> RB + Send,
        RA: Send,
        RB: Send,
    {
        let job = StackJob::new(right);
        // SAFETY: this thread is the owner: the handle cannot leave it. The frame keeps the job.
        let index = unsafe { self.push_fork(job.header()) };
        // Unwind-safe: if `left` panics, this call does so too, once the right half is done.
        let mut left_result = MaybeUninit::uninit();
        match catch_unwind(AssertUnwindSafe(|| {
            left_result.write(left(self));
        })) {
            Ok(()) => {
                // SAFETY: the closure has returned, so it has written the result.
                let left = unsafe { left_result.assume_init() };
                // SAFETY: this thread is the owner. Every later push has had its pop, because joins nest.
                let right = if unsafe { self.forks.pop(index) } {
                    // SAFETY: popped, and not run.
                    let right = unsafe { job.take() };
                    right(self, false)
                } else {
                    // SAFETY: as above; the frame keeps the job, and its latch.
                    unsafe { self.join_slowly(index, job.header(), job.latch()) };
                    // SAFETY: the latch is set.
                    unsafe { job.outcome() }.unwrap_or_else(|payload| resume_unwind(payload))
                };
                (left, right)
            }
            Err(payload) => self.unwind(&job, index, payload),
        }
    }

    /// Continues the panic of the left half once the right half is done: the right half may borrow from the caller's frame.
    #[cold]
    fn unwind<F, R>(&self, job: &StackJob<F, R>, index: u64, payload: Box<dyn Any + Send>) -> !
    where
        F: FnOnce(&Worker, bool) -> R + Send,
        R: Send,
    {
        // SAFETY: as in `fork`.
        let outcome = if unsafe { self.forks.pop(index) } {
            // SAFETY: popped, and not run.
            let right = unsafe { job.take() };
            catch_unwind(AssertUnwindSafe(|| right(self, false)))
        } else {
            // SAFETY: as in `fork`.
            unsafe { self.join_slowly(index, job.header(), job.latch()) };
            // SAFETY: the latch is set.
            unsafe { job.outcome() }
        };
        drop_quietly(outcome);
        resume_unwind(payload)
    }

    /// Pushes a fork, for thieves to steal. Returns the fork's index, with which the caller can [pop](Self::pop_fork) it.
    ///
    /// # Safety
    ///
    /// The calling thread is the worker. The job lives until it is popped, or until its thief has run it.
    #[inline(always)]
    pub(crate) unsafe fn push_fork(&self, job: NonNull<Header>) -> u64 {
        self.counters.forks.add();
        // SAFETY: the caller's.
        let (index, look_up) = unsafe { self.forks.push(job) };
        if look_up { self.look_up(index, job) } else { index }
    }

    /// As [`push_fork`](Self::push_fork), for a job with whose index the caller asks more than for the pop.
    ///
    /// # Safety
    ///
    /// As for `push_fork`.
    pub(crate) unsafe fn push_offer(&self, job: NonNull<Header>) -> u64 {
        self.counters.forks.add();
        // SAFETY: the caller's.
        let (index, look_up) = unsafe { self.forks.push(job) };
        if look_up {
            self.share_forks();
            self.watch_forks();
        }
        trace::record(Kind::Offer, job.addr().get() as u64);
        index
    }

    /// Shares all forks now, and wakes a worker for them, if no worker searches: the next look may be long in coming.
    pub(crate) fn share_at_once(&self) {
        // SAFETY: this thread is the owner.
        unsafe { self.forks.share_all() };
        self.registry().share(self);
    }

    /// Pops the newest fork. Returns `false` if it was stolen.
    ///
    /// # Safety
    ///
    /// The calling thread is the worker, and every fork pushed later was popped.
    #[inline(always)]
    pub(crate) unsafe fn pop_fork(&self, index: u64, job: NonNull<Header>) -> bool {
        // SAFETY: the caller's.
        unsafe { self.forks.pop(index) || self.take_back_recorded(index, job) }
    }

    /// Whether this worker's fork of that index, which was not popped, was stolen.
    #[inline]
    pub(crate) fn is_gone(&self, index: u64) -> bool {
        self.forks.is_gone(index)
    }

    /// Whether the fork of that index is the newest one.
    #[inline]
    pub(crate) fn is_newest(&self, index: u64) -> bool {
        self.forks.is_newest(index)
    }

    /// Looks up from work, because a push has returned `true`: shares jobs on request, wakes a worker for them, and gives an overdue
    /// thread its turn.
    ///
    /// The push was that of a fork: records it, if a trace is recorded. Returns the fork's index, as the forking frame is to use it.
    #[cold]
    fn look_up(&self, index: u64, job: NonNull<Header>) -> u64 {
        self.share_forks();
        self.record_fork(index, job)
    }

    fn share_forks(&self) {
        // A young call shares nothing: most calls end sooner than a thief could help. Its forks look up until it is older.
        let waits = self.external && !self.is_always_shared() && self.call.is_young();
        // SAFETY: this thread is the owner.
        let poked = unsafe { self.forks.publish(waits) };
        if poked && waits {
            self.registry().wake_first_searcher(self);
        } else if poked {
            self.registry().share(self);
            self.registry().give_turn(self);
        }
    }

    /// Whether this worker's forks are worth waking the timed searcher.
    pub(crate) fn is_worth_a_wake_up(&self) -> bool {
        self.call.is_worth_a_wake_up()
    }

    /// Notes this worker's number in a job's latch, so that the waiter can help this worker. Does so only if this worker's deque holds
    /// no forks: then all later forks are the job's. (If a job runs on top of a frame with open forks, as by `yield_now`, they are
    /// not.)
    ///
    /// Returns the value for [`ends`](Self::ends).
    pub(crate) fn starts(&self, latch: &Latch, owner: &Worker) -> usize {
        self.begins_part();
        if self.forks.is_empty() {
            latch.started_by(self.number);
        }
        self.set_priority(owner.priority_of_stolen());
        let before = self.serves.load(Relaxed);
        self.serves.store(owner.number + 1, Relaxed);
        before
    }

    /// Notes that a stolen fork has ended.
    pub(crate) fn ends(&self, before: usize) {
        self.serves.store(before, Relaxed);
    }

    /// Notes that a stolen job begins.
    pub(crate) fn begins_part(&self) {
        self.counters.migrated.add();
        self.watch_forks();
        // The job's waiter will want to help. The first forks are shared, so that the waiter finds them.
        // SAFETY: this thread is the owner.
        unsafe { self.forks.share_ahead() };
    }

    /// Whether another worker wants work from this one, or sleeps and is worth waking for a part of this worker's work. In the common
    /// case, that no worker does, it costs one relaxed load.
    #[inline]
    pub(crate) fn demand(&self) -> bool {
        self.forks.poked() && self.is_wanted()
    }

    /// Marks a cooperative point between two small pieces of work. If a thread has waited too long for a slot, gives that thread this
    /// worker's slot, and waits for another one. In the common case, that no thread has, it costs one relaxed load.
    #[inline]
    pub(crate) fn cooperate(&self) {
        if self.forks.poked() {
            self.registry().give_turn(self);
        }
    }

    #[cold]
    fn is_wanted(&self) -> bool {
        self.registry().give_turn(self);
        if self.forks.split_requested() {
            return !(self.external && self.call.is_young());
        }
        (self.registry().wakes_timed_searcher() || self.registry().needs_one_more())
            && self.is_worth_a_wake_up()
    }

    /// Whether this worker shares every job at once.
    pub(crate) fn is_always_shared(&self) -> bool {
        self.forks.is_always_shared()
    }

    /// Returns the processor that this worker's thread runs on, if it goes on there: if it holds a slot. `None` if the system does not tell.
    pub(crate) fn goes_on_at(&self) -> Option<usize> {
        self.slot().and_then(|_| processor())
    }

    /// Notes the processor on which this thread goes to sleep.
    pub(crate) fn note_processor(&self) {
        self.processor.store(processor().map_or(0, |number| number + 1), Relaxed);
    }

    /// Has the worker look up at its next push.
    pub(crate) fn poke(&self) {
        self.forks.poke();
        self.spawns().poke();
    }

    /// Whether this worker has jobs that can be stolen. Callers that must not miss any have passed a fence.
    pub(crate) fn has_jobs(&self) -> bool {
        !self.forks.is_empty() || !self.spawns().is_empty()
    }

    /// Whether there are spawned jobs in this worker's deque.
    pub(crate) fn has_spawned(&self) -> bool {
        !self.spawns().is_empty()
    }

    /// Drains this worker before it releases its slot, so that thieves find all of its jobs. Spawned jobs move to the
    /// [sets and the injector](Registry::requeue). Forks stay in their deque, so that their owner can pop them; the registry
    /// [shelves](Registry::steal_shelved) the worker.
    pub(crate) fn drain(&self) {
        let spawns = self.spawns();
        while !spawns.is_empty() {
            // SAFETY: this thread is the owner.
            unsafe { spawns.share_all() };
            if let Steal::Job(job) = spawns.steal(|| true) {
                // SAFETY: a spawned job; it is given away.
                unsafe { self.registry().requeue(JobRef::new(job, self)) };
            }
        }
        // SAFETY: this thread is the owner.
        unsafe { self.forks.share_all() };
    }

    /// Steals the oldest job of this worker, which has no slot: a fork, or if there is none, a spawned job. Called with the slot lock
    /// held.
    pub(crate) fn steal_shelved(&self) -> Option<JobRef> {
        let job = steal_surely(&self.forks).or_else(|| steal_surely(self.spawns()))?;
        Some(JobRef::new(job, self))
    }

    /// Takes this thread's own oldest fork, as a thief would. Called when no other thread is left to run the fork, and frames above it
    /// may wait for it.
    pub(super) fn take_own_fork(&self) -> Option<JobRef> {
        // SAFETY: this thread is the owner.
        unsafe { self.forks.share_all() };
        steal_surely(&self.forks).map(|job| JobRef::new(job, self))
    }

    /// Whether this thread is a worker of that registry and holds a slot. If not, jobs that it spawns there go to the injector, because
    /// no thief looks into the deques of a worker without a slot.
    pub(crate) fn holds_slot_in(&self, registry: &Registry) -> bool {
        self.is_of(registry) && registry.holds_slot(self)
    }

    /// Whether this worker has queued jobs of its own.
    pub(crate) fn has_pending_jobs(&self) -> bool {
        self.has_jobs() || !self.broadcasts.is_empty()
    }

    /// Runs one job on top of the current frame; if `local`, one of this worker's own. Returns `false` if there is none.
    pub(crate) fn yield_once(&self, local: bool) -> bool {
        // A job that yields in a loop neither keeps its slot for ever nor continues without one.
        self.registry().give_turn_yielding(self);
        let job = if local { self.find_local() } else { self.find_anywhere() };
        let Some(job) = job else { return false };
        self.run_unrelated(job);
        self.registry().regain_slot(self);
        true
    }

    /// Runs jobs from all queues and deques until there are none.
    pub(crate) fn run_all(&self) {
        while self.yield_once(false) {}
    }

    /// Runs a job, just taken from a queue, that may be unrelated to the frames below it.
    fn run_unrelated(&self, job: JobRef) {
        // SAFETY: the caller's.
        unsafe { self.run(job, Relation::Unrelated) };
    }

    /// Runs a job that this thread took from a queue.
    ///
    /// # Safety
    ///
    /// As for [`JobRef::run`].
    pub(crate) unsafe fn execute(&self, job: JobRef) {
        // SAFETY: the caller's.
        unsafe { self.run(job, Relation::Part) }
    }

    /// Runs a job that this thread took from a queue. The job may give the active deque away, because the frames below look for their
    /// spawned jobs in every queue and deque.
    ///
    /// # Safety
    ///
    /// As for [`JobRef::run`].
    pub(crate) unsafe fn execute_detachable(&self, job: JobRef) {
        // SAFETY: the caller's.
        unsafe { self.run(job, Relation::Detachable) }
    }

    /// # Safety
    ///
    /// As for [`JobRef::run`].
    #[inline]
    unsafe fn run(&self, job: JobRef, relation: Relation) {
        let _frame = self.push_frame(relation);
        if !trace::is_on() {
            // SAFETY: the caller's.
            return unsafe { self.run_or_charge(job) };
        }
        trace::record(Kind::JobBegin, trace::beside(job.number(), self.number));
        self.watch_forks();
        // SAFETY: the caller's.
        unsafe { self.run_or_charge(job) };
        trace::record(Kind::JobEnd, 0);
    }

    /// Takes this worker for the calling external thread. Returns `false` if another thread has it.
    pub(crate) fn take(&self) -> bool {
        self.taken.compare_exchange(false, true, Acquire, Relaxed).is_ok()
    }
}

impl Occupant for Worker {
    fn number(&self) -> usize {
        self.number
    }

    fn slot(&self) -> Option<usize> {
        self.slot()
    }

    fn priority(&self) -> Priority {
        self.priority()
    }

    fn rank(&self) -> Priority {
        self.priority().max(Priority::of_bits(self.raised.load(Relaxed)))
    }

    fn raise(&self, rank: Priority) {
        self.raised.store(rank as u8, Relaxed);
    }

    fn set_woken_more(&self) {
        self.search.woken_more.store(true, Relaxed);
    }

    fn serves(&self) -> Option<usize> {
        // Relaxed: this thread has written it before it blocked, under the slot lock.
        self.serves.load(Relaxed).checked_sub(1)
    }

    fn processor(&self) -> Option<usize> {
        // Relaxed: a hint.
        self.processor.load(Relaxed).checked_sub(1)
    }

    fn set_awake_ahead(&self) -> bool {
        self.awake_ahead.swap(true, Relaxed)
    }

    fn set_watches(&self) {
        self.watches.store(true, Relaxed);
    }

    fn set_slot(&self, slot: Option<usize>) {
        self.raised.store(0, Relaxed);
        self.slot.store(slot.unwrap_or(NO_SLOT), Relaxed);
    }

    fn has_jobs(&self) -> bool {
        self.has_jobs()
    }

    fn poke(&self) {
        self.poke();
    }

    fn request_split(&self) {
        self.forks.request_split();
        self.spawns().request_split();
    }

    fn count_barrier(&self) {
        self.counters.barriers.add();
    }

    fn note_take_over(&self) {
        self.search.for_forks.store(true, Relaxed);
        self.counters.slots_taken_over.add();
    }

    fn unpark(&self) {
        let Some(waker) = self.parker.unpark() else { return };
        // The caller may be in the middle of a search or a push, which the waker must not see. And it wakes other workers, too.
        let _outside = Current::leave();
        if let Err(payload) = catch_unwind(AssertUnwindSafe(|| waker.wake())) {
            self.registry().handle_panic(payload);
        }
    }

    fn used_time(&self) -> Option<Duration> {
        self.clock.used()
    }

    fn sleeps(&self) -> Option<bool> {
        self.clock.sleeps()
    }
}

/// Steals the oldest job of a deque, be it shared or private. Returns `None` if the deque is empty.
fn steal_surely(deque: &Deque<Header>) -> Option<NonNull<Header>> {
    loop {
        let stolen = match deque.steal(|| true) {
            Steal::Private => deque.steal_private(|| true, || ()),
            other => other,
        };
        match stolen {
            Steal::Job(job) => return Some(job),
            Steal::Empty => return None,
            // Another thief, or the owner.
            Steal::Lost | Steal::Private => crate::sync::machine::hint::spin_loop(),
        }
    }
}

impl std::fmt::Debug for Worker {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Worker")
            .field("number", &self.number)
            .field("slot", &self.slot())
            .finish_non_exhaustive()
    }
}
