//! A pool's shared state: its workers, its slots, the jobs from outside.
//!
//! *Workers* are threads: the pool's own, spare ones, and threads from outside that take part in their own call. A
//! *slot* is the right to run jobs: a pool of n threads has n slots, and a worker runs jobs only while it holds
//! one. So at most n threads run jobs at once. Exception: if a slot's holder blocks outside the pool, another worker
//! [takes the slot over](rest). Thieves look at the n slots, and at the list of workers that left forks behind when they
//! gave their slots up.
//!
//! Identifiers say `place` for the index of a slot.

mod adopted;
mod guest;
mod rest;

pub(crate) use guest::Part;

use crate::alert::Alert;
use crate::deques::{DequeRef, Deques, Orphan, Resume};
use crate::detach::{self, Order, SOON};
use crate::fairness::Fairness;
use crate::fence;
use crate::job::JobRef;
use crate::latch::Count;
use crate::runtime::{Entered, Runtime};
use crate::saturation::Saturation;
use crate::scope::{List, Scope};
use crate::stats::{Outside, Stats};
use crate::stealable::{Entry, Stealable};
use crate::suspension::Suspension;
use crate::unseen::drop_quietly;
use crate::urgent::Urgent;
use crate::worker::{Current, WaitRule, Worker};
use crossbeam_deque::Injector;
use crossbeam_utils::CachePadded;
pub(crate) use rest::Next;
use rest::{Rest, Turns};
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::{self, NonNull};
use std::sync::atomic::{
    AtomicBool, AtomicPtr, AtomicUsize,
    Ordering::{Acquire, Relaxed, Release},
};
use std::sync::{Arc, Mutex, OnceLock, Weak};
use std::thread::{JoinHandle, ThreadId};

/// Called with a worker's number.
pub(crate) type Handler = Box<dyn Fn(usize) + Send + Sync>;
/// Called with the payload of a panic that no thread waits for.
pub(crate) type PanicHandler = Box<dyn Fn(Box<dyn Any + Send>) + Send + Sync>;
/// Called once, if a job that waits keeps its slot because there may be no more threads.
pub(crate) type SaturationHandler = Box<dyn Fn(&Saturation) + Send + Sync>;
/// Starts a thread.
pub(crate) type Spawner =
    Box<dyn Fn(usize, Box<dyn FnOnce() + Send>) -> std::io::Result<JoinHandle<()>> + Send + Sync>;

/// Settings of a pool.
#[derive(Default)]
pub(crate) struct Setup {
    pub(crate) wait_rule: WaitRule,
    /// Ordinary fences only: every job is shared at once.
    pub(crate) eager: bool,
    pub(crate) start: Option<Handler>,
    pub(crate) exit: Option<Handler>,
    pub(crate) panic: Option<PanicHandler>,
    /// Starts spare threads, where there may be any.
    pub(crate) spares: Option<Spawner>,
    pub(crate) pin: bool,
    /// How many spare threads may be started.
    pub(crate) max_blocking_threads: usize,
    pub(crate) saturation: Option<SaturationHandler>,
    /// Threads from outside run their calls themselves, in one of the pool's slots. Else the pool's threads run them.
    pub(crate) caller_takes_part: bool,
    pub(crate) suspension: Suspension,
    pub(crate) fairness: Fairness,
    pub(crate) measures_wakes: bool,
    pub(crate) runtime: Runtime,
    /// Dropping the pool's handle waits neither for jobs nor for threads.
    pub(crate) drop_does_not_wait: bool,
}

pub(crate) struct Registry {
    setup: Setup,
    /// The holder of each slot; null if the slot is free.
    places: Box<[CachePadded<AtomicPtr<Worker>>]>,
    /// By number: the pool's own, then spare ones and guests as they come. Made when first needed, and never moved.
    workers: Workers,
    pub(crate) injector: Injector<JobRef>,
    pub(crate) urgent: Urgent,
    /// Tasks that were woken.
    pub(crate) stealable: Stealable,
    /// Deques of spawned jobs: the workers' active ones, and the suspended ones.
    pub(crate) deques: Deques,
    rest: Mutex<Rest>,
    alert: CachePadded<Alert>,
    /// How many workers lie on the shelf; written with the rest lock held.
    shelved: AtomicUsize,
    /// How many workers claim a slot; written with the rest lock held.
    claims: AtomicUsize,
    turns: Turns,
    /// The handle, and every job spawned: the pool ends when there are none.
    pending: Count,
    /// Counts of threads that are none of the pool's workers.
    pub(crate) outside: Outside,
    /// The threads started, but for those that a custom handler has started.
    threads: Mutex<Vec<JoinHandle<()>>>,
    /// Scope of the futures that no thread waits for; made when first needed.
    common: OnceLock<Box<Scope<'static>>>,
    /// Scopes that no thread waits for.
    pub(crate) unattended: List,
    /// Whether the pool has reported that a waiting job kept its slot for want of threads.
    is_saturated: AtomicBool,
    /// The number of the first guest.
    first_guest: usize,
    this: Weak<Registry>,
    /// The process's fork count when the pool was made: its threads are not in a forked child.
    generation: usize,
}

// SAFETY: `Worker`s are not `Sync` so that a handle stays on its thread. The registry hands references to other workers to its own
// modules only. These call only the methods that are meant for every thread: stealing, asking, counters, the parker, the slot.
unsafe impl Sync for Registry {}
// SAFETY: as above.
unsafe impl Send for Registry {}

/// The table of workers.
struct Workers(Box<[OnceLock<Box<Worker>>]>);

impl Registry {
    /// A pool's state, before any of its threads has been started. All its own workers count as parked: work that
    /// comes before they do wakes them as soon as they have begun.
    pub(crate) fn new(threads: usize, mut setup: Setup) -> Arc<Self> {
        setup.eager |= !fence::asymmetric();
        let eager = setup.eager;
        let spares =
            if setup.spares.is_some() { setup.max_blocking_threads.min(crate::max_num_threads()) } else { 0 };
        // Numbers for the threads that `allow_one_more` lets be started.
        let first_guest = threads + spares + if setup.spares.is_some() { LAST_RESORTS } else { 0 };
        let stealable = match setup.fairness {
            Fairness::Balanced | Fairness::WokenFirst => Stealable::new(threads),
            Fairness::FairQueueing => Stealable::fair(),
        };
        let registry = Arc::new_cyclic(|this| Registry {
            setup,
            places: (0..threads).map(|_| CachePadded::new(AtomicPtr::new(ptr::null_mut()))).collect(),
            workers: Workers((0..first_guest + guest::GUESTS).map(|_| OnceLock::new()).collect()),
            injector: Injector::new(),
            urgent: Urgent::default(),
            stealable,
            deques: Deques::new(eager),
            rest: Mutex::new(Rest::new(threads, threads + spares)),
            alert: CachePadded::new(Alert::new(threads)),
            shelved: AtomicUsize::new(0),
            claims: AtomicUsize::new(0),
            turns: Turns::default(),
            pending: Count::new(1),
            outside: Outside::default(),
            threads: Mutex::default(),
            common: OnceLock::new(),
            unattended: List::default(),
            first_guest,
            is_saturated: AtomicBool::new(false),
            this: Weak::clone(this),
            generation: crate::process::generation(),
        });
        for number in 0..threads {
            registry.make_worker(number, false);
        }
        registry
    }

    pub(crate) fn num_threads(&self) -> usize {
        self.places.len()
    }

    pub(crate) fn this(&self) -> Arc<Self> {
        self.this.upgrade().expect("whoever uses a registry keeps it alive")
    }

    /// Calls `f` with the registry of the pool that the calling thread is in, else with the global one.
    pub(crate) fn with_current<R>(f: impl FnOnce(&Registry) -> R) -> R {
        Worker::with_current(|current| match current {
            Some(worker) => f(worker.registry()),
            None => f(crate::global::registry()),
        })
    }

    pub(crate) fn measures_wakes(&self) -> bool {
        self.setup.measures_wakes
    }

    pub(crate) fn fairness(&self) -> Fairness {
        self.setup.fairness
    }

    pub(crate) fn suspension(&self) -> Suspension {
        self.setup.suspension
    }

    pub(crate) fn wait_rule(&self) -> WaitRule {
        self.setup.wait_rule
    }

    /// The worker that holds the slot of index `place`.
    pub(crate) fn at(&self, place: usize) -> Option<&Worker> {
        // Acquire pairs with the release in `seat`: the worker is there. It stays as long as the registry.
        // SAFETY: null, or a pointer to a worker of this registry.
        unsafe { self.places[place].load(Acquire).as_ref() }
    }

    fn set_at(&self, place: usize, worker: Option<&Worker>) {
        self.places[place]
            .store(worker.map_or(ptr::null_mut(), |worker| ptr::from_ref(worker).cast_mut()), Release);
    }

    pub(crate) fn worker(&self, number: usize) -> Option<&Worker> {
        self.workers.0.get(number)?.get().map(|worker| &**worker)
    }

    fn make_worker(&self, number: usize, guest: bool) -> &Worker {
        self.workers.0[number].get_or_init(|| {
            let (eager, active) = (self.setup.eager, self.deques.take());
            Box::new(Worker::new(NonNull::from(self), number, self.num_threads(), eager, guest, active))
        })
    }

    /// Says that there is work where every worker looks. `by` is the worker that says so, if one does.
    pub(crate) fn announce(&self, by: Option<&Worker>) {
        self.alert.announce(|| self.wake_if_none_is_alert(by), || self.end_nap(by), || self.wake_dozing());
    }

    /// Queues a job from outside.
    pub(crate) fn inject(&self, job: JobRef) {
        self.check_generation();
        self.injector.push(job);
        self.announce(None);
    }

    /// Queues a job that workers look for before anything else. It begins with a `SpawnHeader`. In a forked child there are no
    /// workers, and locks may be held by threads that stayed in the parent. There the job is leaked: a drop that stops a
    /// computation must not hang or fail.
    pub(crate) fn inject_urgent(&self, job: JobRef) {
        if self.is_inherited() {
            return;
        }
        self.urgent.push(job);
        self.announce(None);
    }

    /// Puts a task that was woken where workers find it, with the deque that was suspended with it, if there is one. `by` is the
    /// worker that has done so, if one has. In a forked child the task is leaked, as in [`inject_urgent`](Self::inject_urgent).
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
                let (entry, place) = (Entry::Task(task), by.and_then(Worker::place));
                match detach::order() {
                    Order::Last => self.stealable.add(entry),
                    Order::Soon => self.stealable.add_behind(SOON, entry, place),
                    Order::First => self.stealable.add_behind(0, entry, place),
                }
            }
            // SAFETY: the caller's.
            Some(deque) => match unsafe { deque.get() }.resume(task) {
                Resume::List => self.stealable.add(Entry::Deque(deque)),
                Resume::Listed => {}
            },
        }
        self.announce(by);
    }

    /// A task is no more that was suspended with a deque.
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

    /// The scope of the futures that no thread waits for.
    pub(crate) fn common(&self) -> &Scope<'static> {
        self.common.get_or_init(|| Box::new(Scope::common(self)))
    }

    /// Counts a job for which the pool stays alive.
    pub(crate) fn job_made(&self) {
        self.pending.announce();
    }

    /// Notes that a job for which the pool stays alive is done, or that the pool's handle was dropped.
    pub(crate) fn job_done(&self) {
        if self.pending.arrive() {
            self.terminate();
        }
    }

    /// # Panics
    ///
    /// In a process forked from the one that made the pool: its threads are not there.
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

    /// Handles the panic of a future or of a detached computation whose result was given up: calls the panic handler. Without a
    /// handler nothing is left to be done. The panic hook has printed the message, and the task's values have been dropped, as after
    /// the panic of a thread that is not joined.
    pub(crate) fn handle_task_panic(&self, payload: Box<dyn Any + Send>) {
        if self.setup.panic.is_some() {
            self.handle_panic(payload);
        } else {
            drop_quietly(payload);
        }
    }

    /// A spawned closure, or a handler, has panicked. Calls the panic handler, or aborts the process, as rayon does.
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

    /// A job that waits keeps its slot for want of threads: says so, the first time. Called without a lock.
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
            None => eprintln!("furcate: warning: {saturation}"),
        }
    }

    /// Counters of all workers.
    pub(crate) fn stats(&self) -> Stats {
        let workers = self.workers.0.iter().filter_map(OnceLock::get).map(|worker| worker.counters.read());
        Stats { workers: workers.collect(), deques: self.deques.stats(), outside: self.outside.read() }
    }

    /// The main function of a pool's thread.
    pub(crate) fn run_thread(self: Arc<Self>, number: usize) {
        let worker = self.make_worker(number, false);
        // SAFETY: the registry is alive until this function returns, and one thread is started per number.
        let _current = unsafe { Current::enter(worker) };
        let _entered = self.enter_runtime();
        // A spare thread has the number of one of the pool's own threads, so that handlers see no other numbers.
        let number = number % self.num_threads();
        if self.setup.pin {
            crate::process::pin(number);
        }
        let run_handler = |handler: &Option<Handler>| {
            if let Some(handler) = handler
                && let Err(payload) = catch_unwind(AssertUnwindSafe(|| handler(number)))
            {
                self.handle_panic(payload);
            }
        };
        // Handlers run in a slot, as jobs do: they may fork and spawn.
        if self.setup.start.is_some() {
            self.begin_active(worker);
            run_handler(&self.setup.start);
            // Before this thread rests, it runs the jobs that the handler has spawned, or moves them where other workers find them.
            self.become_alert();
            if worker.place().is_some() {
                self.work(worker);
            }
        }
        self.serve(worker);
        if self.setup.exit.is_some() {
            self.take_place(worker);
            run_handler(&self.setup.exit);
            // Perhaps no other thread is left to run them.
            worker.run_all();
            self.leave_place(worker);
        }
    }

    /// Has this thread, which becomes a worker, enter the runtime that the pool was built with.
    pub(crate) fn enter_runtime(&self) -> Entered<'_> {
        self.setup.runtime.enter()
    }

    /// The runtime of a call that this thread makes: its own, but for a pool whose threads have entered one already.
    pub(crate) fn runtime_of_call(&self) -> Runtime {
        if self.setup.runtime.is_some() { Runtime::default() } else { Runtime::current() }
    }

    /// Rests and works until the pool ends.
    fn serve(&self, worker: &Worker) {
        while self.rest_until_needed(worker) {
            self.work(worker);
        }
    }

    /// Searches and runs jobs until the search finds none, or the slot is gone.
    fn work(&self, worker: &Worker) {
        // Counted over searches, so that stolen jobs do not keep queued ones waiting for ever either.
        let mut turn = 0_usize;
        while let Some(job) = worker.search() {
            self.cease_to_be_alert(worker);
            let mut next = Some(job);
            while let Some(job) = next {
                worker.counters.jobs.add();
                // SAFETY: just taken from a queue.
                unsafe { worker.execute_detachable(job) };
                if !self.holds_slot(worker) || self.is_claimed() {
                    break;
                }
                turn = turn.wrapping_add(1);
                // Jobs that spawn, and tasks that are woken, again and again do not keep the others' waiting.
                let fair = if turn.is_multiple_of(FAIR) {
                    worker.find_last()
                } else if self.is_queue_overdue() {
                    worker.find_fair()
                } else {
                    None
                };
                next = fair.or_else(|| worker.find_own());
            }
            if !self.holds_slot(worker) {
                worker.set_place(None);
                if worker.has_jobs() {
                    // Its slot was taken over in the middle of the job.
                    worker.spill();
                    self.announce(Some(worker));
                }
                return;
            }
            self.become_alert();
        }
        // The worker may have jobs left when it gives its slot to a claimant (invariant 4 of the sleep protocol).
        worker.spill();
    }

    /// Keeps a thread's handle, to be joined at the end.
    pub(crate) fn keep(&self, thread: JoinHandle<()>) {
        self.threads.lock().expect("nobody panics with this lock").push(thread);
    }

    /// Ends the pool: its last handle is gone, or was never made. Waits until all jobs have run and the threads have ended, unless the
    /// calling thread is one of them, or the pool was built not to wait.
    pub(crate) fn end(&self) {
        if self.is_inherited() {
            // The pool's threads are not in a forked child.
            return;
        }
        // Futures that no thread waits for may wait for ever. So may futures that the last jobs will spawn.
        self.common().cancel_tasks();
        self.unattended.cancel();
        self.job_done();
        if self.setup.drop_does_not_wait {
            // The threads end by themselves; an adopted thread remains one of the pool's until it ends.
            return;
        }
        self.release_current_thread();
        let me = std::thread::current().id();
        Worker::with_current(|current| match current.filter(|worker| !worker.is_of(self)) {
            // The last jobs may need this thread, or its slot, in its own pool.
            Some(worker) => worker.elsewhere(|| self.join_threads(me)),
            None => self.join_threads(me),
        });
        self.end_watch();
    }

    /// Waits for all threads, unless `me` is one of them: it would wait for itself.
    fn join_threads(&self, me: ThreadId) {
        loop {
            let threads = std::mem::take(&mut *self.threads.lock().expect("nobody panics with this lock"));
            let mine = Worker::with_current(|worker| worker.is_some_and(|worker| worker.is_of(self)));
            if mine || threads.is_empty() || threads.iter().any(|thread| thread.thread().id() == me) {
                return;
            }
            for thread in threads {
                // Threads do not panic: jobs' panics are caught, handlers' too.
                let _ = thread.join();
            }
        }
    }

    /// Whether a worker that has a job to run waits for a slot. One relaxed load; a hint.
    pub(crate) fn is_claimed(&self) -> bool {
        self.claims.load(Relaxed) > 0
    }
}

/// The most threads that are started beyond [the bound](crate::ThreadPoolBuilder::max_blocking_threads), each because all slots are
/// kept by waiting threads while jobs are queued.
const LAST_RESORTS: usize = 4096;

/// Number of own jobs that a worker runs before it looks for a job from outside or a woken task.
pub(crate) const FAIR: usize = 64;

const INHERITED: &str =
    "this thread pool's threads stayed in the parent process: a forked child must make its own pool";

/// Ends the process instead of unwinding, where unwinding would leave borrowed data behind or a panic unnoticed.
struct AbortOnUnwind(&'static str);

impl Drop for AbortOnUnwind {
    fn drop(&mut self) {
        eprintln!("furcate: {}; aborting", self.0);
        std::process::abort();
    }
}

impl std::fmt::Debug for Registry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Registry").field("num_threads", &self.num_threads()).finish_non_exhaustive()
    }
}
