//! A pool's shared state: its workers, its slots, the jobs from outside.
//!
//! *Workers* are threads: the pool's own, spare ones, and external threads that take part in their own call. A
//! *slot* is the right to run jobs: a pool of n threads has n slots, and a worker runs jobs only while it holds
//! one. So at most n threads run jobs at once. Exceptions: if a slot's holder blocks outside the pool, another worker
//! [takes the slot over](turns); and the watcher may borrow a slot. Thieves look at the n slots, and at the list of workers
//! that left forks behind when they released their slots.
//!
//! In code, `slot` is the index of a slot.

mod adopted;
mod attendant;
mod dump;
pub(crate) mod main_loop;
mod monitor;
pub(crate) mod root;
mod sleep;
mod turns;
mod waits;
mod wake;

pub(crate) use waits::{NextJobs, Waited};

use crate::detach::{QueuePosition, SOON, order};
use crate::engine::queues::deques::{Deques, Orphan, ResumeAction};
use crate::engine::queues::ranked::Ranked;
use crate::engine::settings::Fairness;
use crate::engine::settings::Saturation;
use crate::engine::settings::Suspension;
use crate::engine::settings::current_priority;
use crate::engine::settings::runtime::{Entered, Runtime};
use crate::engine::stats::{Counters, Stats};
use crate::engine::worker::{Current, DequeRef, Entry, JobRef, Stealable, WaitRule, Worker};
use crate::process;
use crate::process::topology::{Distance, Place};
use crate::quiet_drop::drop_quietly;
use crate::slots::{self, Priority, Slots};
use crate::sync::clock::Instant;
use crate::sync::fence;
use crate::sync::latch::JobCount;
use crate::sync::machine::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering::Relaxed};
use crate::sync::machine::hint;
use crate::sync::machine::thread::{self, JoinHandle, ThreadId};
use crate::sync::machine::{Injector, Mutex, OnceLock};
use crate::sync::ticks::{self, Ticks};
use crate::trace::{self, Traced};
use crossbeam_utils::CachePadded;
use main_loop::MainLoop;
use sleep::Sleep;
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::NonNull;
use std::sync::{Arc, Weak};
use std::task::{Poll, Waker};
use std::time::Duration;

/// Called with a worker's number.
pub(crate) type Handler = Box<dyn Fn(usize) + Send + Sync>;
/// Called with the main loop of a thread, as a future.
pub(crate) type MainHandler = Box<dyn Fn(MainLoop<'_>) + Send + Sync>;
/// Called with the payload of a panic that no caller receives.
pub(crate) type PanicHandler = Box<dyn Fn(Box<dyn Any + Send>) + Send + Sync>;
/// Called once, when a waiting job first keeps its slot because no further thread may or can be started.
pub(crate) type SaturationHandler = Box<dyn Fn(&Saturation) + Send + Sync>;
/// Starts a thread with the given number and main function.
pub(crate) type Spawner =
    Box<dyn Fn(usize, Box<dyn FnOnce() + Send>) -> std::io::Result<JoinHandle<()>> + Send + Sync>;

/// Settings of a pool.
#[derive(Default)]
pub(crate) struct Setup {
    pub(crate) wait_rule: WaitRule,
    /// Whether every job is shared at once, so that ordinary fences suffice.
    pub(crate) always_shared: bool,
    pub(crate) start: Option<Handler>,
    pub(crate) exit: Option<Handler>,
    pub(crate) main: Option<MainHandler>,
    pub(crate) panic: Option<PanicHandler>,
    /// Starts spare threads; `None` if the pool may have none.
    pub(crate) spares: Option<Spawner>,
    /// Whether each thread is pinned to a core.
    pub(crate) pin: bool,
    /// Number of spare threads that may be started.
    pub(crate) max_blocking_threads: usize,
    pub(crate) saturation: Option<SaturationHandler>,
    /// Whether external threads run their calls themselves, in one of the pool's slots. Otherwise the pool's threads run the calls.
    pub(crate) caller_takes_part: bool,
    /// `None` if the builder has named none.
    pub(crate) suspension: Option<Suspension>,
    /// Whether a worker without jobs of its own looks at its slot's set as at any other slot's.
    pub(crate) uniform_victims: bool,
    pub(crate) fairness: Fairness,
    pub(crate) measures_wakes: bool,
    pub(crate) runtime: Runtime,
    /// Whether a drop of the pool's handle waits neither for jobs nor for threads.
    pub(crate) drop_does_not_wait: bool,
}

pub(crate) struct Registry {
    setup: Setup,
    /// The slots, and the workers by number: the pool's own, then spare ones, then external threads.
    slots: Slots<Worker>,
    /// Where each slot's holder ran when it last searched, as the bits of a [`Place`]. Empty if all processors are at one place.
    places: Box<[AtomicU32]>,
    /// Jobs from outside the pool, and jobs that workers without a slot have spawned.
    pub(crate) injector: Injector<JobRef>,
    /// Urgent work, for which workers look before anything else.
    pub(crate) urgent: Ranked<Worker>,
    /// Background work, for which workers look after everything else.
    pub(crate) background: Ranked<Worker>,
    /// Woken tasks, and suspended and resumable deques.
    pub(crate) stealable: Stealable,
    /// Deques of spawned jobs: the workers' active ones, and the suspended ones.
    pub(crate) deques: Deques<Worker>,
    /// Whether the [watchdog](monitor) has ever watched the pool.
    had_watchdog: AtomicBool,
    /// Number of spawned jobs that have not ended, plus 1 for the pool's handle. The pool ends when this is 0.
    pending: JobCount,
    /// Counters of threads that are no workers of this pool.
    pub(crate) outside: Counters,
    /// Handles of the started threads, except those that a custom handler has started.
    threads: Mutex<Vec<JoinHandle<()>>>,
    /// The computations that no thread waits for; made when first needed.
    unawaited: OnceLock<Box<dyn Unawaited>>,
    /// Whether the pool's handle was dropped.
    is_ending: AtomicBool,
    /// 0 while spawned jobs run. Once they are [abandoned](Self::abandon_spawned): 1 plus the number of those that were dropped.
    abandoned: AtomicUsize,
    /// Number of threads outside the pool that wait for their calls to end.
    callers: CachePadded<AtomicUsize>,
    /// Whether the pool has reported that a waiting job kept its slot for want of threads.
    is_saturated: AtomicBool,
    /// Number of the first worker that is an external thread.
    first_external: usize,
    this: Weak<Registry>,
    /// Generation of the process in which the pool was made. The pool's threads are not in a forked child.
    generation: usize,
}

// SAFETY: `Worker`s are not `Sync` so that a handle stays on its thread. The registry hands references to other workers to its own
// modules only. These call only the methods that are meant for every thread: stealing, poking, counters, the parker, the slot.
unsafe impl Sync for Registry {}
// SAFETY: as above.
unsafe impl Send for Registry {}

impl Traced for Registry {
    fn poke_workers(&self) {
        self.slots.workers().for_each(Worker::poke);
    }

    fn dump(&self, out: &mut String) {
        if !self.is_inherited() {
            // A text takes whatever is written.
            let _ = self.write_dump(out);
        }
    }
}

/// The computations of a pool that no thread waits for. They end with the pool.
pub(crate) trait Unawaited: Any + Send + Sync {
    /// Cancels the tasks of all these computations, also of those that begin later.
    fn cancel(&self);
    /// Lets callers name the type again.
    fn as_any(&self) -> &dyn Any;
}

/// The slot lock, held.
type Locked<'a> = slots::Locked<'a, Worker>;

impl Registry {
    /// Makes a pool's state, before any of its threads is started. All of the pool's own workers count as parked: work that is
    /// published before a thread runs wakes its worker as soon as the thread has begun.
    pub(crate) fn new(threads: usize, mut setup: Setup) -> Arc<Self> {
        setup.always_shared |= !fence::asymmetric();
        ticks::measure_rate();
        let always_shared = setup.always_shared;
        let spares = if setup.spares.is_some() { setup.max_blocking_threads.min(MAX_THREADS) } else { 0 };
        // Numbers for the threads that `allow_one_more` lets be started, and for the attendant.
        let first_external = threads + spares + if setup.spares.is_some() { LAST_RESORTS + 1 } else { 0 };
        let stealable = match setup.fairness {
            Fairness::Balanced | Fairness::WokenFirst => Stealable::new(threads),
            Fairness::FairQueueing => Stealable::fair(),
        };
        // A pool of one thread has no victims.
        let has_places = threads > 1 && Place::here().is_some();
        let registry = Arc::new_cyclic(|this| Registry {
            setup,
            places: (0..if has_places { threads } else { 0 }).map(|_| AtomicU32::default()).collect(),
            slots: Slots::new(threads, threads + spares, first_external + MAX_EXTERNAL),
            injector: Injector::new(),
            urgent: Ranked::new(),
            background: Ranked::new(),
            stealable,
            deques: Deques::new(always_shared),
            had_watchdog: AtomicBool::new(false),
            pending: JobCount::new(1),
            outside: Counters::new(0),
            threads: Mutex::default(),
            unawaited: OnceLock::new(),
            is_ending: AtomicBool::new(false),
            abandoned: AtomicUsize::new(0),
            callers: CachePadded::default(),
            first_external,
            is_saturated: AtomicBool::new(false),
            this: Weak::clone(this),
            generation: crate::process::generation(),
        });
        for number in 0..threads {
            registry.make_worker(number, false);
        }
        trace::record_if_asked();
        trace::register(Weak::<Registry>::clone(&registry.this));
        registry
    }

    pub(crate) fn num_threads(&self) -> usize {
        self.slots.len()
    }

    pub(crate) fn this(&self) -> Arc<Self> {
        self.this.upgrade().expect("a registry in use is alive")
    }

    pub(crate) fn has_uniform_victims(&self) -> bool {
        self.setup.uniform_victims
    }

    /// Notes where the holder of a slot runs. Returns the place. `None` if all processors are at one place.
    pub(crate) fn note_place(&self, slot: Option<usize>) -> Option<Place> {
        if self.places.is_empty() {
            return None;
        }
        let here = Place::here()?;
        // All thieves read the place, so it is not written without need.
        if let Some(place) = slot.map(|slot| &self.places[slot]).filter(|it| it.load(Relaxed) != here.bits())
        {
            place.store(here.bits(), Relaxed);
        }
        Some(here)
    }

    /// Returns how far a slot's holder is from a place. A hint.
    pub(crate) fn distance(&self, from: Place, slot: usize) -> Distance {
        from.to(Place::from_bits(self.places[slot].load(Relaxed)))
    }

    pub(crate) fn measures_wakes(&self) -> bool {
        self.setup.measures_wakes
    }

    /// Whether the pool's threads drive a reactor while they rest.
    pub(crate) fn has_drivers(&self) -> bool {
        self.setup.main.is_some()
    }

    pub(crate) fn fairness(&self) -> Fairness {
        self.setup.fairness
    }

    pub(crate) fn suspension(&self) -> Option<Suspension> {
        self.setup.suspension
    }

    pub(crate) fn wait_rule(&self) -> WaitRule {
        self.setup.wait_rule
    }

    /// Returns the worker that holds the slot; `None` if the slot is free.
    pub(crate) fn holder(&self, slot: usize) -> Option<&Worker> {
        self.slots.holder(slot)
    }

    /// Whether the worker holds a slot. A worker whose slot was taken over still has an index, but holds no slot.
    pub(crate) fn holds_slot(&self, worker: &Worker) -> bool {
        self.slots.holds_slot(worker)
    }

    /// Returns the number of processors that this pool's workers may keep busy, at least 1.
    pub(crate) fn processors(&self) -> usize {
        self.num_threads().min(process::processors())
    }

    /// Whether workers beyond the number of processors keep each other from running. A hint.
    pub(crate) fn is_crowded(&self) -> bool {
        self.slots.is_crowded()
    }

    /// Whether a fork may wake a timed searcher. A hint.
    pub(crate) fn wakes_timed_searcher(&self) -> bool {
        self.slots.searching.has_timed_searcher() && self.slots.room() > 0
    }

    /// Whether one more job would need a wake-up. A hint. (A worker that parked has requested splits of the slot holders of that
    /// moment, but of no worker that got a slot later.)
    pub(crate) fn needs_one_more(&self) -> bool {
        self.slots.searching.needs_searcher()
    }

    /// Steals the oldest job of the first worker on the shelf that has one.
    pub(crate) fn steal_shelved(&self) -> Option<JobRef> {
        if !self.slots.has_shelved() {
            return None;
        }
        self.lock().steal_shelved(Worker::steal_shelved)
    }

    /// Whether a worker on the shelf has lost its slot and may still run. The other workers on the shelf sleep in the pool.
    pub(crate) fn has_former_holder(&self) -> bool {
        self.slots.has_shelved() && self.lock().has_former_holder()
    }

    /// Takes the slot lock.
    #[cfg_attr(furcate_sim, track_caller)]
    fn lock(&self) -> Locked<'_> {
        self.lock_while(|| true).expect("it is needed until it is taken")
    }

    /// Takes the slot lock, unless `needed` says that another thread, which had the lock, has done what the caller wants to do. Spins for some tens of
    /// microseconds before it blocks: the lock is held for a fraction of one, and a thread that sleeps takes tens of them to wake.
    #[cfg_attr(furcate_sim, track_caller)]
    fn lock_while(&self, needed: impl Fn() -> bool) -> Option<Locked<'_>> {
        // Each try takes the lock's cache line from the holder, which needs it to release the lock. So the more threads wait, the less often each must
        // try: after these times, in microseconds.
        const TRIES: [u32; 7] = [0, 1, 2, 4, 8, 16, 32];
        let mut since = None;
        for micros in TRIES {
            if let Some(slots) = self.slots.try_lock() {
                return Some(slots);
            }
            let since = *since.get_or_insert_with(Ticks::now);
            while !since.elapsed().exceeds(micros) && micros > 0 {
                hint::spin_loop();
            }
            if !needed() {
                return None;
            }
        }
        Some(self.lock_contended())
    }

    /// Takes the slot lock when another thread has held it for long. In a forked child, that thread may have stayed in the parent. Then the
    /// lock will never be released, so the child is aborted.
    #[cold]
    #[cfg_attr(furcate_sim, track_caller)]
    fn lock_contended(&self) -> Locked<'_> {
        const LONG: Duration = Duration::from_secs(1);
        let since = Instant::now();
        while self.is_inherited() {
            if let Some(slots) = self.slots.try_lock() {
                return slots;
            }
            if since.elapsed() > LONG {
                self.check_wait();
            }
            thread::sleep(Duration::from_millis(1));
        }
        self.slots.lock()
    }

    /// Returns the worker with the given number, if it has been made.
    pub(crate) fn worker(&self, number: usize) -> Option<&Worker> {
        self.slots.worker(number)
    }

    /// Returns the worker with the given number, and makes it if needed.
    fn make_worker(&self, number: usize, external: bool) -> &Worker {
        self.slots.make_worker(number, || {
            let (always_shared, active) = (self.setup.always_shared, self.deques.take());
            Worker::new(NonNull::from(self), number, self.num_threads(), always_shared, external, active)
        })
    }

    /// Whether the calling external thread runs its call itself, if the pool lets it: but not an urgent call while other work keeps all slots.
    /// A queued job begins beside [long leaves](turns), in a slot that is lent; a thread that claims a slot would wait for the end of one.
    pub(crate) fn caller_takes_part(&self) -> bool {
        let is_lent_a_slot = || {
            let priority = current_priority();
            priority == Priority::Urgent && self.slots.searching.free() == 0 && self.slots.is_below(priority)
        };
        self.setup.caller_takes_part && !is_lent_a_slot()
    }

    /// Takes a worker that no thread uses for the calling external thread, or makes one. Waits if there are as many external threads as
    /// there may be.
    pub(crate) fn take_external_worker(&self) -> &Worker {
        loop {
            let numbers = self.first_external..self.slots.max_workers();
            if let Some(worker) =
                { numbers }.map(|number| self.make_worker(number, true)).find(|worker| worker.take())
            {
                return worker;
            }
            // All numbers are in use. With so many external threads, this thread would wait for a slot in any case.
            thread::yield_now();
        }
    }

    /// Queues a job from outside, or one that is to go to no worker's deque, by its priority. The job begins with a `SpawnHeader`.
    pub(crate) fn inject(&self, job: JobRef) {
        self.check_generation();
        // SAFETY: the job is about to be queued.
        unsafe { self.queue(job) };
        self.notify(None);
    }

    /// Puts a job, which is no fork, into the queue of its priority.
    ///
    /// # Safety
    ///
    /// The caller gives the job away.
    unsafe fn queue(&self, job: JobRef) {
        // SAFETY: the caller's.
        unsafe {
            if let Some(job) = self.queue_ranked(job) {
                self.injector.push(job);
            }
        }
    }

    /// As `queue`, but returns the job if its priority is normal.
    ///
    /// # Safety
    ///
    /// The caller gives the job away, unless it is returned.
    unsafe fn queue_ranked(&self, job: JobRef) -> Option<JobRef> {
        // SAFETY: the caller's.
        unsafe {
            match job.priority() {
                Priority::Urgent => self.urgent.push(job),
                Priority::Normal => return Some(job),
                Priority::Background => self.background.push(job),
            }
        }
        None
    }

    /// Queues a spawned job or a task that a worker has taken from its deque or from a queue: a task as if it was woken, and
    /// any other job as one from outside. The caller has workers woken for it.
    ///
    /// # Safety
    ///
    /// The job is no fork. The caller gives it away.
    pub(crate) unsafe fn requeue(&self, job: JobRef) {
        // SAFETY: the caller's.
        unsafe {
            if !job.is_task() {
                self.queue(job);
            } else if let Some(task) = self.queue_ranked(job) {
                self.stealable.add(Entry::Task(task));
            }
        }
    }

    /// Queues a job that workers look for before anything else. The job begins with a `SpawnHeader`. In a forked child there are no
    /// workers, and threads that stayed in the parent may hold locks. There the job is leaked: a drop that stops a
    /// computation must not hang or fail.
    pub(crate) fn inject_urgent(&self, job: JobRef) {
        if self.is_inherited() {
            return;
        }
        self.urgent.tasks.push_first(job);
        self.notify(None);
    }

    /// Puts a woken task where workers find it, with the deque that was suspended with it, if there is one. `by` is the calling
    /// worker, if the caller is one. In a forked child the task is leaked, as in [`inject_urgent`](Self::inject_urgent).
    ///
    /// # Safety
    ///
    /// The deque is of this registry.
    pub(crate) unsafe fn make_stealable(&self, task: JobRef, deque: Option<DequeRef>, by: Option<&Worker>) {
        if self.is_inherited() {
            return;
        }
        match deque {
            None => {
                // SAFETY: the caller's.
                if let Some(task) = unsafe { self.queue_ranked(task) } {
                    let (entry, slot) = (Entry::Task(task), by.and_then(Worker::slot));
                    match order() {
                        QueuePosition::Last => self.stealable.add(entry),
                        QueuePosition::Soon => self.stealable.add_behind(SOON, entry, slot),
                        QueuePosition::First => self.stealable.add_behind(0, entry, slot),
                    }
                }
            }
            // SAFETY: the caller's.
            Some(deque) => match unsafe { deque.get() }.resume(task) {
                ResumeAction::List => self.stealable.add(Entry::Deque(deque)),
                ResumeAction::Listed => {}
            },
        }
        self.notify(by);
    }

    /// Notes that the task that was suspended with this deque has been dropped.
    ///
    /// # Safety
    ///
    /// The deque is of this registry.
    pub(crate) unsafe fn orphan(&self, deque: DequeRef) {
        // SAFETY: the caller's.
        match unsafe { deque.get() }.orphan() {
            Orphan::Free => self.deques.free(deque),
            Orphan::Listed => {}
        }
    }

    /// Returns the computations that no thread waits for. `make` makes them at the first call; all calls name the same type.
    pub(crate) fn unawaited<U: Unawaited>(&self, make: impl FnOnce(&Registry) -> U) -> &U {
        let unawaited = self.unawaited.get().unwrap_or_else(|| {
            let unawaited = self.unawaited.get_or_init(|| Box::new(make(self)));
            // Dekker, with `end`: either `end` sees the value, or this thread sees that the pool ends.
            fence::full();
            if self.is_ending.load(Relaxed) {
                unawaited.cancel();
            }
            unawaited
        });
        unawaited.as_any().downcast_ref().expect("all calls name the same type")
    }

    /// Counts a job for which the pool stays alive.
    pub(crate) fn job_made(&self) {
        self.pending.announce();
    }

    /// Notes that a job for which the pool stays alive is done, or that the pool's handle was dropped.
    pub(crate) fn job_done(&self) {
        if self.pending.arrive() {
            self.lock().terminate();
        }
    }

    /// From now on, has spawned jobs that no scope waits for be dropped instead of run. Workers do so when they take them from the queues: so
    /// each is counted and dropped once, wherever it lies, and the pool ends when its last job is done, as ever.
    pub(crate) fn abandon_spawned(&self) {
        // Relaxed: it publishes nothing. A worker that has not seen it yet begins a job that it might as well have begun before.
        self.abandoned.store(1, Relaxed);
    }

    /// Whether a spawned job that is about to begin must be dropped instead. If so, counts it.
    pub(crate) fn drops_spawned(&self) -> bool {
        // Relaxed, here and below: a count. The thread that reads it has joined the threads that count.
        self.abandoned.load(Relaxed) > 0 && self.abandoned.fetch_add(1, Relaxed) > 0
    }

    /// Whether a thread outside the pool waits for its call to end. One relaxed load; a hint.
    pub(crate) fn is_awaited(&self) -> bool {
        self.callers.load(Relaxed) > 0
    }

    /// Returns the number of spawned jobs that were dropped.
    pub(crate) fn num_abandoned(&self) -> usize {
        self.abandoned.load(Relaxed).saturating_sub(1)
    }

    /// Checks that this process is the one that made the pool.
    ///
    /// # Panics
    ///
    /// In a forked child: the pool's threads are not there.
    pub(crate) fn check_generation(&self) {
        assert!(!self.is_inherited(), "{INHERITED}");
    }

    /// Whether the pool was made in another process, from which this one was forked.
    pub(crate) fn is_inherited(&self) -> bool {
        // The pool is there, and it has asked for its generation.
        self.generation != crate::process::known_generation()
    }

    /// Called when a worker is about to wait for other threads. Aborts a forked child: those threads are not there, and unwinding would
    /// free frames that jobs still refer to.
    fn check_wait(&self) {
        if self.is_inherited() {
            drop(AbortOnUnwind(INHERITED));
        }
    }

    /// Passes the panic of a future or detached computation to the panic handler, if the result was given up. Without a handler nothing
    /// is left to be done: the panic hook has printed the message, and the task's values have been dropped, as after the panic of a
    /// thread that is not joined.
    pub(crate) fn handle_task_panic(&self, payload: Box<dyn Any + Send>) {
        if self.setup.panic.is_some() {
            self.handle_panic(payload);
        } else {
            drop_quietly(payload);
        }
    }

    /// Passes the panic of a spawned closure or of a handler to the panic handler. Without a panic handler, aborts the process, as
    /// rayon does.
    pub(crate) fn handle_panic(&self, payload: Box<dyn Any + Send>) {
        let abort = AbortOnUnwind("a panic handler, or a job without one, panicked");
        match &self.setup.panic {
            Some(handler) => {
                handler(payload);
                std::mem::forget(abort);
            }
            None => drop(abort),
        }
    }

    /// Reports that a waiting job keeps its slot for want of threads, if this is the pool's first such wait. Called without a lock.
    fn report_saturation(&self, saturation: &Saturation) {
        // Relaxed: nothing is published by it; the exchange alone chooses the one reporter.
        if self.is_saturated.swap(true, Relaxed) {
            return;
        }
        match &self.setup.saturation {
            Some(handler) => {
                if let Err(payload) = catch_unwind(AssertUnwindSafe(|| handler(saturation))) {
                    self.handle_panic(payload);
                }
            }
            None => process::report(format_args!("warning: {saturation}")),
        }
    }

    /// Returns the counters of all workers.
    pub(crate) fn stats(&self) -> Stats {
        let workers = self.slots.workers().map(Worker::stats);
        Stats { workers: workers.collect(), deques: self.deques.stats(), outside: self.outside.read() }
    }

    /// Runs a pool's thread from its start to its end.
    pub(crate) fn run_thread(self: Arc<Self>, number: usize) {
        let worker = self.make_worker(number, false);
        // SAFETY: the registry is alive until this function returns, and one thread is started per number.
        let enter = || unsafe { Current::enter(worker) };
        let current = enter();
        let _entered = self.enter_runtime();
        // Handlers see a spare thread under the number of one of the pool's own threads.
        let number = number % self.num_threads();
        if self.setup.pin {
            crate::process::pin(number);
        }
        // In the pool's first calls, its own threads get the slots in this order.
        if number == worker.number() {
            self.note_place(Some(number));
        }
        let catch = |handler: &dyn Fn()| {
            if let Err(payload) = catch_unwind(AssertUnwindSafe(handler)) {
                self.handle_panic(payload);
            }
        };
        let run_handler = |handler: &Option<Handler>| {
            handler.iter().for_each(|handler| catch(&|| handler(number)));
        };
        // Handlers run in a slot, as jobs do: they may fork and spawn.
        if self.setup.start.is_some() {
            self.begin_active(worker);
            run_handler(&self.setup.start);
            // Before this thread sleeps, it runs the jobs that the handler has spawned, or moves them where other workers find them.
            self.slots.searching.begin(worker.number());
            if worker.slot().is_some() {
                self.work(worker);
            }
        }
        let _current = match &self.setup.main {
            None => current,
            Some(main) => {
                // Outside its main loop, the thread is no worker.
                drop(current);
                catch(&|| main(MainLoop::new(&self, worker)));
                // If the loop was forgotten, it has left its waker.
                drop_quietly(worker.parker.take_back());
                enter()
            }
        };
        // If the handler has returned early, the thread sleeps without it from now on.
        let _ = self.serve(worker, &mut None);
        if self.setup.exit.is_some() {
            self.occupy_slot(worker);
            run_handler(&self.setup.exit);
            // The handler may have spawned jobs, and perhaps no other thread is left to run them.
            worker.run_all();
            self.release_slot(worker);
        }
    }

    /// Has this thread, which becomes a worker, enter the runtime that the pool was built with.
    pub(crate) fn enter_runtime(&self) -> Entered<'_> {
        self.setup.runtime.enter()
    }

    /// Returns the runtime for a call that this thread makes, see [`Runtime::of_call`].
    pub(crate) fn runtime_of_call(&self) -> Runtime {
        Runtime::of_call(&self.setup.runtime)
    }

    /// Sleeps and works until the pool ends, or until this thread drives: then the waker is called when there is work.
    fn serve(&self, worker: &Worker, waker: &mut Option<Waker>) -> Poll<()> {
        loop {
            match self.sleep_until_needed(worker, waker) {
                Sleep::Needed => {
                    worker.was_woken();
                    self.work(worker);
                }
                Sleep::Drives => return Poll::Pending,
                Sleep::Ended => return Poll::Ready(()),
            }
        }
    }

    /// Searches and runs jobs until the search finds none, or the slot is gone.
    fn work(&self, worker: &Worker) {
        if self.is_attendant(worker) {
            return self.attend(worker);
        }
        // Counted across searches, so that stolen jobs do not keep queued ones waiting for ever either.
        let mut turn = 0_usize;
        while let Some(job) = worker.search() {
            self.end_search(worker);
            let mut next = Some(job);
            while let Some(job) = next {
                worker.counters.jobs.add();
                // SAFETY: just taken from a queue.
                unsafe { worker.execute_detachable(job) };
                if !self.holds_slot(worker) || self.is_claimed() {
                    break;
                }
                turn = turn.wrapping_add(1);
                // Jobs that spawn again and again, and tasks that are woken again and again, do not keep other jobs waiting.
                let fair = if turn % FAIR == 0 {
                    worker.find_last()
                } else if self.slots.is_queue_neglected() {
                    worker.find_fair()
                } else {
                    None
                };
                next = fair.or_else(|| worker.find_own());
            }
            // Under the lock: the slot may just be given back.
            if !self.holds_slot(worker) && self.lock().forget_lost(worker) {
                if worker.has_jobs() {
                    // The slot was taken over in the middle of the job.
                    worker.drain();
                    self.notify(Some(worker));
                }
                return;
            }
            self.slots.searching.begin(worker.number());
        }
        // The worker may have jobs left when it releases its slot for a claimant (invariant 4 of the sleep protocol).
        worker.drain();
    }

    /// Keeps a thread's handle, to join the thread at the pool's end.
    pub(crate) fn keep(&self, thread: JoinHandle<()>) {
        self.threads.lock().expect("nobody panics with this lock").push(thread);
    }

    /// Ends the pool, whose handle has been dropped or was never made. Waits until all jobs have run and the threads have ended, unless
    /// the calling thread is one of them, or the pool was built not to wait.
    pub(crate) fn end(&self) {
        if self.is_inherited() {
            // The pool's threads are not in a forked child.
            return;
        }
        // Futures that no thread waits for may stay pending for ever. So may futures that the last jobs will spawn.
        self.is_ending.store(true, Relaxed);
        // Pairs with the one in `unawaited`.
        fence::full();
        self.unawaited.get().inspect(|unawaited| unawaited.cancel());
        self.job_done();
        if self.setup.drop_does_not_wait {
            // The threads end by themselves; an adopted thread remains one of the pool's until it ends.
            return;
        }
        self.release_current_thread();
        let me = thread::current().id();
        Worker::with_current(|current| match current.filter(|worker| !worker.is_of(self)) {
            // The last jobs may need this thread, or its slot, in its own pool.
            Some(worker) => worker.elsewhere(|| self.join_threads(me)),
            None => self.join_threads(me),
        });
        self.slots.end_tokens();
        self.end_watch();
    }

    /// Waits for all threads to end, unless the calling thread `me` is one of them: it would wait for itself.
    fn join_threads(&self, me: ThreadId) {
        loop {
            let threads = std::mem::take(&mut *self.threads.lock().expect("nobody panics with this lock"));
            let mine = Worker::with_current(|worker| worker.is_some_and(|worker| worker.is_of(self)));
            if mine || threads.is_empty() || threads.iter().any(|thread| thread.thread().id() == me) {
                return;
            }
            for thread in threads {
                // Threads do not panic: the panics of jobs and handlers are caught.
                let _ = thread.join();
            }
        }
    }

    /// Whether a worker that has a job to run waits for a slot. One relaxed load; a hint.
    pub(crate) fn is_claimed(&self) -> bool {
        self.slots.first_claim().is_some_and(|first| !self.has_queued_above(first))
    }
}

/// The largest number of threads of a pool.
pub(crate) const MAX_THREADS: usize = (1 << 16) - 1;

/// Number of external threads that can take part in a pool at once; others wait.
const MAX_EXTERNAL: usize = 1024;

/// The largest number of threads that are started beyond [the bound](crate::ThreadPoolBuilder::max_blocking_threads). Each is started
/// because waiting threads keep all slots while jobs are queued.
const LAST_RESORTS: usize = 4096;

/// Number of own jobs that a worker runs before it looks for a job from outside or a woken task.
pub(crate) const FAIR: usize = 64;

const INHERITED: &str =
    "this thread pool's threads stayed in the parent process: a forked child must make its own pool";

/// Ends the process instead of unwinding, where unwinding would leave borrowed data behind or a panic unnoticed.
struct AbortOnUnwind(&'static str);

impl Drop for AbortOnUnwind {
    fn drop(&mut self) {
        process::report(format_args!("{}; aborting", self.0));
        std::process::abort();
    }
}

impl std::fmt::Debug for Registry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Registry").field("num_threads", &self.num_threads()).finish_non_exhaustive()
    }
}
