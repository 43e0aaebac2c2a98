//! A worker: a thread that runs jobs, its deques, and the fork.

mod call;
mod search;
mod spawned;
mod wait;

pub(crate) use call::Call;
pub use wait::WaitRule;
pub(crate) use wait::{DOZE, NAP, Wait};

use crate::deque::{Deque, Steal};
use crate::deques::{DequeRef, SpawnDeque};
use crate::fifo::Fifo;
use crate::job::{Header, JobRef, StackJob};
use crate::latch::Latch;
use crate::parker::Parker;
use crate::process::ThreadClock;
use crate::registry::Registry;
use crate::scope::InHand;
use crate::stats::Counters;
use crate::unseen::drop_quietly;
use crossbeam_deque::Injector;
use std::any::Any;
use std::cell::Cell;
use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::ptr::{self, NonNull};
use std::sync::atomic::{
    AtomicBool, AtomicPtr, AtomicU64, AtomicUsize,
    Ordering::{Acquire, Relaxed, Release},
};
use std::time::Instant;

/// How many jobs a deque has room for before it grows.
const ROOM: usize = 256;

/// Value of [`Worker::place`] for a worker that holds no slot.
const NOWHERE: usize = usize::MAX;

/// A thread that takes part in a pool, as its own jobs see it: forking with this handle saves the look-up of a
/// thread-local.
///
/// Handed to closures by [`join_with`](crate::join_with) and by [`Worker::join`]. It cannot leave its thread.
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
    /// Forked jobs: the right halves of this thread's open joins, oldest at the top.
    ///
    /// Invariant: when a worker starts a job that it stole, or waits for one that was stolen, this is empty. So what
    /// a thief finds in it is forked by the job that the owner has started last; unless it [runs something
    /// aside](Worker::is_aside), or began the job with forks open, see [`starts`](Worker::starts).
    forks: Deque<Header>,
    /// Spawned jobs, each of which belongs to a scope, or to none: its active deque, see [`spawned`]. Written by its thread.
    active: AtomicPtr<SpawnDeque>,
    /// The job that it has started last may give the active deque away: no frame below pops from it; this thread's.
    pub(crate) can_suspend: Cell<bool>,
    /// Whether this worker has run a task since it last searched; this thread's.
    pub(crate) ran_task: Cell<bool>,
    /// How long its searches are; this thread's.
    vigor: Cell<search::Vigor>,
    /// Number of jobs on this thread's stack that run on top of the frame that spawned them; this thread's.
    in_place: Cell<u32>,
    /// Jobs that every thread of the pool runs once.
    pub(crate) broadcasts: Injector<JobRef>,
    /// Jobs of this thread's `spawn_fifo`.
    pub(crate) fifo: Fifo,
    pub(crate) counters: Counters,
    pub(crate) parker: Parker,
    /// When this thread may give its slot to another one again, after it has got it back; this thread's.
    pub(crate) keeps_slot_until: Cell<Option<Instant>>,
    /// The processor time of the thread that is this worker.
    pub(crate) clock: ThreadClock,
    registry: NonNull<Registry>,
    number: usize,
    guest: bool,
    /// Index of this worker's slot, or `NOWHERE`. Written with the registry's rest lock held, by this thread, or by another one while
    /// this thread rests. If another worker has taken the slot over, the index stays until this thread notices.
    place: AtomicUsize,
    /// For the thief's random choice; this thread's.
    random: Cell<u64>,
    /// Whether the last [fair](Self::find_fair) look began with woken tasks; this thread's.
    woken_first: Cell<bool>,
    /// The kind of job that comes first at the next look [by turns](Self::find_by_turns); this thread's.
    kind: Cell<u8>,
    /// If calls take turns: the scope of the task that this thread has just taken from a set, and the time; this thread's.
    turn: Cell<Option<(u64, Instant)>>,
    /// For a guest: the time since its call began. For other workers: the time since a worker began to nap while this one had jobs to
    /// share. It decides whether a wake-up is worth its cost.
    pub(crate) call: Call,
    /// Number of *unrelated* jobs on this worker's stack: jobs on top of a frame that they do not belong to. While it is not 0, workers
    /// that wait for those frames must not steal this worker's forks, because the forks belong to the unrelated job.
    aside: AtomicUsize,
    /// Number of the scope to which the job started last belongs, if all jobs in `forks` belong to that scope too; else
    /// [`NO_ROOT`]. Written by this thread.
    root: AtomicU64,
    /// Counts of the scope of the job that this thread runs; this thread's.
    pub(crate) in_hand: Cell<InHand>,
    /// Number of scopes that this thread has open, or waits for; this thread's.
    pub(crate) scopes: Cell<usize>,
    /// Number of open frames in which this thread offers parts to other workers, or may do so; this thread's.
    pub(crate) offers: Cell<usize>,
    /// Whether a thread from outside is this worker at present, or keeps it for its next call.
    pub(crate) taken: AtomicBool,
    /// Neither `Send` nor `Sync`: only this thread may use the handle.
    _this_thread: PhantomData<*const ()>,
}

/// The `root` of a worker that runs no part of a scope. (Scopes count from 1.)
const NO_ROOT: u64 = 0;

thread_local! {
    /// The worker that this thread is.
    static CURRENT: Cell<*const Worker> = const { Cell::new(ptr::null()) };
}

/// Makes a thread a worker until the value is dropped; then the thread's former worker, if any, is its worker again.
pub(crate) struct Current(*const Worker);

impl Current {
    /// # Safety
    ///
    /// The worker outlives the value returned, and no other thread is this worker meanwhile.
    pub(crate) unsafe fn enter(worker: &Worker) -> Self {
        worker.clock.set_to_current();
        Current(CURRENT.replace(worker))
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
    pub(crate) fn new(
        registry: NonNull<Registry>,
        number: usize,
        places: usize,
        eager: bool,
        guest: bool,
        active: DequeRef,
    ) -> Self {
        Worker {
            forks: Deque::new(ROOM, eager),
            active: AtomicPtr::new(active.as_ptr()),
            can_suspend: Cell::new(false),
            ran_task: Cell::new(false),
            vigor: Cell::default(),
            in_place: Cell::new(0),
            broadcasts: Injector::new(),
            fifo: Fifo::new(0),
            counters: Counters::new(places),
            parker: Parker::new(),
            keeps_slot_until: Cell::new(None),
            clock: ThreadClock::default(),
            registry,
            number,
            guest,
            place: AtomicUsize::new(NOWHERE),
            random: Cell::new(number as u64 + 1),
            woken_first: Cell::new(false),
            kind: Cell::new(0),
            turn: Cell::new(None),
            call: Call::default(),
            aside: AtomicUsize::new(0),
            root: AtomicU64::new(NO_ROOT),
            in_hand: Cell::default(),
            scopes: Cell::new(0),
            offers: Cell::new(0),
            taken: AtomicBool::new(false),
            _this_thread: PhantomData,
        }
    }

    /// The worker that this thread is; null if it is none.
    #[inline(always)]
    pub(crate) fn current() -> *const Worker {
        CURRENT.get()
    }

    /// Calls `f` with the worker that this thread is, if it is one.
    #[inline(always)]
    pub(crate) fn with_current<R>(f: impl FnOnce(Option<&Worker>) -> R) -> R {
        // SAFETY: null, or set by `Current::enter`, whose caller sees to it that the worker is there.
        f(unsafe { Self::current().as_ref() })
    }

    pub(crate) fn registry(&self) -> &Registry {
        // SAFETY: workers are owned by their registry.
        unsafe { self.registry.as_ref() }
    }

    pub(crate) fn is_of(&self, registry: &Registry) -> bool {
        ptr::eq(self.registry.as_ptr(), registry)
    }

    pub(crate) fn number(&self) -> usize {
        self.number
    }

    /// Whether this worker is a thread from outside that takes part in its own call.
    pub(crate) fn is_guest(&self) -> bool {
        self.guest
    }

    pub(crate) fn place(&self) -> Option<usize> {
        // Relaxed: the thread's own, or written under a lock or before an unpark that it has passed.
        let place = self.place.load(Relaxed);
        (place != NOWHERE).then_some(place)
    }

    /// To be called with the rest lock held.
    pub(crate) fn set_place(&self, place: Option<usize>) {
        self.place.store(place.unwrap_or(NOWHERE), Relaxed);
    }

    /// Returns the index of the slot that the thread holds in its pool, `0 .. num_threads`.
    ///
    /// No two threads hold the same slot at the same time, with one exception: if a thread blocks on a lock of the program or in a
    /// system call, and uses no processor time for 20 ms, another thread may [take its slot
    /// over](crate::WorkerStats::slots_taken_over). Then both threads have that index until the first one next forks, waits, or ends
    /// its job. So if jobs may block, data that is kept by index has to be synchronized. A thread may come out of a `join`, a scope or
    /// another wait with another slot than it went in with: see [`WaitRule`](crate::WaitRule).
    ///
    /// # Panics
    ///
    /// If the thread holds none: a handle of one pool was carried into a job of another one that the thread waits for.
    #[must_use]
    pub fn index(&self) -> usize {
        self.place().expect("a thread that runs a job has a place")
    }

    /// How many threads of the pool run jobs at once.
    #[must_use]
    pub fn num_threads(&self) -> usize {
        self.registry().num_threads()
    }

    /// Runs both closures, potentially in parallel, as [`join`](crate::join) does.
    ///
    /// # Panics
    ///
    /// With the payload of the closure that panicked, the left one's if both did.
    #[inline(always)] // so that it costs no call
    pub fn join<A, B, RA, RB>(&self, left: A, right: B) -> (RA, RB)
    where
        A: FnOnce(&Worker) -> RA + Send,
        B: FnOnce(&Worker) -> RB + Send,
        RA: Send,
        RB: Send,
    {
        self.fork(left, |worker, _migrated| right(worker))
    }

    /// The fork: `right` lies in the deque while `left` runs; then this worker takes it back, or waits for its thief.
    /// `right` is told whether it migrated.
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
        let index = unsafe { self.lay_ready(job.header()) };
        // Unwind-safe: if it panics, this call does, once the right half is done.
        match catch_unwind(AssertUnwindSafe(|| left(self))) {
            Ok(left) => {
                // SAFETY: the owner; every push since has had its pop, for joins nest.
                let right = if unsafe { self.forks.pop(index) } {
                    // SAFETY: taken back unrun.
                    let right = unsafe { job.take() };
                    right(self, false)
                } else {
                    self.wait_for(job.latch());
                    // SAFETY: the latch is set.
                    unsafe { job.outcome() }.unwrap_or_else(|payload| resume_unwind(payload))
                };
                (left, right)
            }
            Err(payload) => self.unwind(&job, index, payload),
        }
    }

    /// The left half has panicked: the right one is done before the panic goes on, for it may borrow from the caller's
    /// frame.
    #[cold]
    fn unwind<F, R>(&self, job: &StackJob<F, R>, index: u64, payload: Box<dyn Any + Send>) -> !
    where
        F: FnOnce(&Worker, bool) -> R + Send,
        R: Send,
    {
        // SAFETY: as in `fork`.
        let outcome = if unsafe { self.forks.pop(index) } {
            // SAFETY: taken back unrun.
            let right = unsafe { job.take() };
            catch_unwind(AssertUnwindSafe(|| right(self, false)))
        } else {
            self.wait_for(job.latch());
            // SAFETY: the latch is set.
            unsafe { job.outcome() }
        };
        drop_quietly(outcome);
        resume_unwind(payload)
    }

    /// Lays a fork ready for thieves. Returns its index, to [pick it up](Self::pick_up) again.
    ///
    /// # Safety
    ///
    /// The calling thread is the worker. The job is there until it was picked up, or until its thief has run it.
    #[inline(always)]
    pub(crate) unsafe fn lay_ready(&self, job: NonNull<Header>) -> u64 {
        self.counters.forks.add();
        // SAFETY: the caller's.
        let (index, look_up) = unsafe { self.forks.push(job) };
        if look_up {
            self.look_up();
        }
        index
    }

    /// Takes the newest fork back. Returns `false` if it was stolen.
    ///
    /// # Safety
    ///
    /// The calling thread is the worker, and every fork laid ready since was picked up.
    #[inline(always)]
    pub(crate) unsafe fn pick_up(&self, index: u64) -> bool {
        // SAFETY: the caller's.
        unsafe { self.forks.pop(index) }
    }

    /// Whether this worker's fork of that index, which it has not picked up, was stolen.
    #[inline]
    pub(crate) fn is_gone(&self, index: u64) -> bool {
        self.forks.is_gone(index)
    }

    /// Whether the fork of that index is the newest one.
    #[inline]
    pub(crate) fn is_newest(&self, index: u64) -> bool {
        self.forks.is_newest(index)
    }

    /// Looks up from work, after a push that said so.
    #[cold]
    fn look_up(&self) {
        // SAFETY: this thread is the owner.
        let asked = unsafe { self.forks.answer(|| self.guest && self.call.is_young()) };
        if asked {
            self.registry().share(self);
            self.registry().give_turn(self);
        }
    }

    /// Whether this worker's forks are worth waking the napping worker.
    pub(crate) fn is_worth_a_wake_up(&self) -> bool {
        self.call.is_worth_a_wake_up()
    }

    /// Marks who runs a job, for the waiter to help it: if all that will be in this worker's deque is the job's.
    ///
    /// It is not when the job is run on top of a frame that has open forks, as `yield_now` may.
    pub(crate) fn starts(&self, latch: &Latch) {
        self.begins_part();
        if self.forks.is_empty() {
            latch.started_by(self.number);
        }
    }

    /// A job that was stolen begins.
    pub(crate) fn begins_part(&self) {
        self.counters.migrated.add();
        // The job's waiter will want to help. The nudge has the first fork shared, so that the waiter finds it.
        self.forks.nudge();
    }

    /// Notes that this thread runs a part of that scope from now on. Returns the former value, for [`leave_root`](Self::leave_root).
    ///
    /// Relaxed, here and where it is read: a thief reads it after it has found a job, with an acquire, which was pushed
    /// after this store; and if the job was pushed before, it is gone before this store, and the thief does not get it.
    pub(crate) fn enter_root(&self, scope: u64) -> u64 {
        let before = self.root.load(Relaxed);
        self.root.store(if self.forks.is_empty() { scope } else { NO_ROOT }, Relaxed);
        before
    }

    /// Notes the end of the part; `before` is the value that [`enter_root`](Self::enter_root) has returned.
    pub(crate) fn leave_root(&self, before: u64) {
        self.root.store(before, Relaxed);
    }

    /// Whether all of this worker's forks are parts of that scope.
    fn is_root(&self, scope: u64) -> bool {
        self.root.load(Relaxed) == scope && !self.is_aside()
    }

    /// Whether another worker wants work from this one, or rests or naps and is worth waking for a part of this one's work. In the
    /// common case, that none does, it costs one relaxed load.
    #[inline]
    pub(crate) fn demand(&self) -> bool {
        self.forks.nudged() && self.is_wanted()
    }

    /// Marks a cooperative point between two small pieces of work. If a thread has waited too long for a slot, gives it this worker's
    /// slot, and waits for another one. In the common case, that none has, it costs one relaxed load.
    #[inline]
    pub(crate) fn cooperate(&self) {
        if self.forks.nudged() {
            self.registry().give_turn(self);
        }
    }

    #[cold]
    fn is_wanted(&self) -> bool {
        self.registry().give_turn(self);
        if self.forks.asked() {
            return !(self.guest && self.call.is_young());
        }
        (self.registry().is_napping() || self.registry().needs_one_more()) && self.is_worth_a_wake_up()
    }

    /// Whether this worker shares every job at once.
    pub(crate) fn is_eager(&self) -> bool {
        self.forks.is_eager()
    }

    /// Has the worker look up at its next push, and share a job: another worker wants work.
    pub(crate) fn ask(&self) {
        self.forks.ask();
        self.spawns().ask();
    }

    /// Has the worker look up at its next push.
    pub(crate) fn nudge(&self) {
        self.forks.nudge();
        self.spawns().nudge();
    }

    /// Whether this worker has jobs that could be stolen. Callers that must not miss any have passed a fence.
    pub(crate) fn has_jobs(&self) -> bool {
        !self.forks.is_empty() || !self.spawns().is_empty()
    }

    /// Whether this worker has open forks that were not stolen, or open scopes. Called by its own thread.
    pub(crate) fn has_frames(&self) -> bool {
        !self.forks.is_empty() || self.scopes.get() > 0
    }

    /// Notes that this thread has a frame that waits in the pool, until the value is dropped.
    pub(crate) fn opens_frame(&self) -> impl Drop + '_ {
        struct Frame<'a>(&'a Worker);
        impl Drop for Frame<'_> {
            fn drop(&mut self) {
                self.0.scopes.set(self.0.scopes.get() - 1);
            }
        }
        self.scopes.set(self.scopes.get() + 1);
        Frame(self)
    }

    /// Makes all its jobs findable without its slot, before it gives that up. Spawned jobs move to the injector. Forks stay in
    /// their deque, so that their owner can take them back; the registry [shelves](Registry::steal_shelved) the worker.
    pub(crate) fn spill(&self) {
        let spawns = self.spawns();
        while !spawns.is_empty() {
            // SAFETY: this thread is the owner.
            unsafe { spawns.share_all() };
            if let Steal::Job(job) = spawns.steal(|| true) {
                self.registry().injector.push(JobRef::new(job, self));
            }
        }
        // SAFETY: this thread is the owner.
        unsafe { self.forks.share_all() };
    }

    /// Steals the oldest job of this worker, which has no slot: a fork, or else a spawned job. Called with the rest lock held.
    pub(crate) fn steal_shelved(&self) -> Option<JobRef> {
        let job = steal_surely(&self.forks).or_else(|| steal_surely(self.spawns()))?;
        Some(JobRef::new(job, self))
    }

    /// Takes this thread's own oldest fork, as a thief would. Called when no other thread is left to run the fork, and the frames on
    /// top of it may wait for it.
    pub(super) fn take_own_fork(&self) -> Option<JobRef> {
        // SAFETY: this thread is the owner.
        unsafe { self.forks.share_all() };
        steal_surely(&self.forks).map(|job| JobRef::new(job, self))
    }

    /// Whether this thread is a worker of that registry and holds a slot. If not, jobs that it spawns there go to the injector, because
    /// no thief looks into the deques of a worker without a slot.
    pub(crate) fn is_seated_in(&self, registry: &Registry) -> bool {
        self.is_of(registry) && registry.holds_slot(self)
    }

    /// Whether this worker has jobs of its own that wait to be run.
    pub(crate) fn has_pending_jobs(&self) -> bool {
        self.has_jobs() || !self.broadcasts.is_empty()
    }

    /// Runs one job on top of the current frame, if there is any: one of this worker's own if `local`. False if not.
    pub(crate) fn yield_once(&self, local: bool) -> bool {
        // A job that yields in a loop does not keep its slot for ever, nor go on without one.
        self.registry().give_turn(self);
        let job = if local { self.find_local() } else { self.find_anywhere() };
        let Some(job) = job else { return false };
        self.run_aside(job);
        self.registry().regain_place(self);
        true
    }

    /// Runs jobs from every queue and deque until there are none.
    pub(crate) fn run_all(&self) {
        while self.yield_once(false) {}
    }

    /// Runs a job, just taken from a queue, that need have nothing to do with what this thread is running.
    fn run_aside(&self, job: JobRef) {
        // Only this thread writes. A thief that finds one of this job's forks has synchronised with the push after this
        // store; Release below: one that reads the lower number finds those forks gone.
        self.aside.store(self.aside.load(Relaxed) + 1, Relaxed);
        // SAFETY: the caller's.
        unsafe { self.execute(job) };
        self.aside.store(self.aside.load(Relaxed) - 1, Release);
    }

    /// Whether this worker runs an unrelated job on top of another one.
    fn is_aside(&self) -> bool {
        self.aside.load(Acquire) > 0
    }

    /// Runs a job that this thread took from a queue.
    ///
    /// # Safety
    ///
    /// As for [`JobRef::run`].
    pub(crate) unsafe fn execute(&self, job: JobRef) {
        self.can_suspend.set(false);
        // SAFETY: the caller's.
        unsafe { self.run(job) }
    }

    /// Runs a job that this thread took from a queue. The job may give the active deque away: frames below look for their spawned jobs
    /// in every queue and deque.
    ///
    /// # Safety
    ///
    /// As for [`JobRef::run`].
    pub(crate) unsafe fn execute_detachable(&self, job: JobRef) {
        self.can_suspend.set(true);
        // SAFETY: the caller's.
        unsafe { self.run(job) }
    }

    /// # Safety
    ///
    /// As for [`JobRef::run`].
    #[inline]
    unsafe fn run(&self, job: JobRef) {
        match self.turn.take() {
            // SAFETY: the caller's; this thread is the worker.
            None => unsafe { job.run(self) },
            // SAFETY: as above.
            Some(turn) => unsafe { self.run_and_charge(job, turn) },
        }
    }

    /// Runs a job, and charges its scope for the time since its turn began.
    ///
    /// # Safety
    ///
    /// As for [`JobRef::run`].
    #[inline(never)]
    unsafe fn run_and_charge(&self, job: JobRef, (scope, since): (u64, Instant)) {
        // SAFETY: the caller's; this thread is the worker.
        unsafe { job.run(self) }
        self.registry().stealable.charge(scope, since.elapsed());
    }

    /// A pseudo-random number: xorshift (Marsaglia 2003).
    fn random(&self) -> u64 {
        let mut x = self.random.get();
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        self.random.set(x);
        x
    }

    /// Gives a worker that was released to a thread, if no other one has it.
    pub(crate) fn take(&self) -> bool {
        self.taken.compare_exchange(false, true, Acquire, Relaxed).is_ok()
    }
}

/// Steals the oldest job of a deque, private ones too. None if there is none.
fn steal_surely(deque: &Deque<Header>) -> Option<NonNull<Header>> {
    loop {
        let stolen = match deque.steal(|| true) {
            Steal::Private => deque.reach(|| true, || ()),
            other => other,
        };
        match stolen {
            Steal::Job(job) => return Some(job),
            Steal::Empty => return None,
            // Another thief, or the owner.
            Steal::Lost | Steal::Private => std::hint::spin_loop(),
        }
    }
}

impl std::fmt::Debug for Worker {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Worker")
            .field("number", &self.number)
            .field("place", &self.place())
            .finish_non_exhaustive()
    }
}
