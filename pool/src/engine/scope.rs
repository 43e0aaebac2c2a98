//! Scopes: jobs that may borrow data that outlive the scope.
//!
//! # Invariants
//!
//! 1. A scope counts its body and every job spawned in it, each before it is queued. The function that made the scope
//!    returns or unwinds only when all of these have arrived. Until then all data of lifetime `'scope` live.
//! 2. The last one to arrive sets the scope's latch as its last act. For a [spawned root](spawned_root), it queues the
//!    job that ends the scope instead. The scope may be gone at that moment.
//! 3. The scope keeps the first panic. The function that made the scope raises the panic when all have arrived. Until
//!    then spawned jobs run as they would have without the panic, as in rayon. Detached parts that have not begun are
//!    dropped unrun, and so are futures that have not ended: a chain ends early.

mod credits;
mod detached;
mod spawned_root;
mod stop;
mod suspended;

use spawned_root::List;
pub(crate) use spawned_root::spawn_root;
pub use suspended::Handle;
pub(crate) use suspended::TASK;

use crate::engine::external;
use crate::engine::registry::{self, Registry};
use crate::engine::settings::runtime::{self, Entered, Runtime};
use crate::engine::settings::{Suspension, current_priority};
use crate::engine::spawn;
use crate::engine::task::Tasks;
use crate::engine::worker::{CallLatch, Fifo, Header, HeapJob, JobRef, Worker};
use crate::quiet_drop::drop_quietly;
use crate::slots::Priority;
use crate::sync::latch::JobCount;
use crate::sync::machine::Mutex;
use crate::sync::machine::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use crossbeam_utils::CachePadded;
use std::any::Any;
use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::ptr::{self, NonNull};
use std::sync::Arc;

/// A scope, in which jobs are spawned; see [`scope`].
pub struct Scope<'scope> {
    /// Number of the scope, which marks its jobs; no other scope has it.
    number: u64,
    registry: NonNull<Registry>,
    /// Keeps the registry alive; `None` if the registry keeps the scope.
    _registry: Option<Arc<Registry>>,
    /// On a cache line of its own: each job and task changes it, and reads the fields beside it.
    pending: CachePadded<JobCount>,
    at_end: AtEnd,
    panicked: AtomicBool,
    is_parsimonious: AtomicBool,
    panic: Mutex<Option<Box<dyn Any + Send>>>,
    fifo: Fifo,
    /// The runtime that all its jobs enter.
    runtime: Runtime,
    /// Suspended tasks of the scope.
    tasks: Tasks,
    /// The handle by which other threads stop the tasks.
    stop: stop::StopCell,
    /// Invariant in `'scope`, since jobs may write to the data that they borrow.
    _jobs: PhantomData<fn(&'scope ()) -> &'scope ()>,
}

/// The action of the last job to arrive.
enum AtEnd {
    /// Sets the latch, which a caller waits for.
    Set(CallLatch),
    /// Queues the scope's node, which runs the end of a computation that no thread waits for.
    Queue(NonNull<Header>),
}

// SAFETY: only `CallLatch::set` uses the caller's pointer in a latch, and any thread may call that; the node's pointer
// is only queued; everything else is `Sync`.
unsafe impl Sync for Scope<'_> {}
// SAFETY: as above.
unsafe impl Send for Scope<'_> {}

/// A scope whose jobs run, as far as they are not stolen, first in, first out; see [`scope_fifo`].
#[repr(transparent)]
pub struct ScopeFifo<'scope>(pub(crate) Scope<'scope>);

/// Runs `op`, which may spawn jobs that borrow data that outlive the call. Returns the result of `op` when all jobs are
/// done.
///
/// Jobs may spawn further jobs. Among the jobs that were spawned by the same thread and not stolen, the last runs
/// first. The calling thread runs jobs of the scope while it waits. If it is not a worker, it takes part in the global
/// pool for the time of the call, as with [`join`](crate::join()).
///
/// Cost: an allocation per job.
///
/// # Panics
///
/// With the payload of the first panic, in `op` or in a job, when everything has ended. A panic does not end other
/// jobs: all jobs run, even those that are spawned after the panic. Futures of the scope that have not ended are
/// dropped.
///
/// ```
/// use std::panic::{AssertUnwindSafe, catch_unwind};
/// use std::sync::atomic::{AtomicU32, Ordering};
///
/// let run = AtomicU32::new(0);
/// let outcome = catch_unwind(AssertUnwindSafe(|| {
///     furcate::scope(|s| {
///         s.spawn(|_| panic!("one job"));
///         (0..9).for_each(|_| s.spawn(|_| _ = run.fetch_add(1, Ordering::Relaxed)));
///     })
/// }));
/// assert!(outcome.is_err());
/// assert_eq!(run.into_inner(), 9);
/// ```
///
/// # Examples
///
/// ```
/// let mut parts = [0; 3];
/// furcate::scope(|s| {
///     for (i, part) in parts.iter_mut().enumerate() {
///         s.spawn(move |_| *part = i * i);
///     }
/// });
/// assert_eq!(parts, [0, 1, 4]);
/// ```
///
/// Jobs cannot borrow values that do not outlive the scope:
///
/// ```compile_fail,E0373
/// furcate::scope(|s| {
///     let local = 1;
///     s.spawn(|_| assert_eq!(local, 1));
/// });
/// ```
pub fn scope<'scope, OP, R>(op: OP) -> R
where
    OP: FnOnce(&Scope<'scope>) -> R + Send,
    R: Send,
{
    external::call(None, |worker, _moved| on_worker(worker, op))
}

/// As [`scope()`], but among the jobs that were spawned by the same thread and not stolen, the first runs first.
///
/// # Panics
///
/// As [`scope()`].
///
/// ```
/// let sum = std::sync::atomic::AtomicU32::new(0);
/// furcate::scope_fifo(|s| {
///     for i in 1..=4 {
///         let sum = &sum;
///         s.spawn_fifo(move |_| drop(sum.fetch_add(i, std::sync::atomic::Ordering::Relaxed)));
///     }
/// });
/// assert_eq!(sum.into_inner(), 10);
/// ```
pub fn scope_fifo<'scope, OP, R>(op: OP) -> R
where
    OP: FnOnce(&ScopeFifo<'scope>) -> R + Send,
    R: Send,
{
    scope(|scope: &Scope<'scope>| op(ScopeFifo::of(scope)))
}

/// As [`scope()`], but the calling thread itself runs `op`, whether it is a worker or not. So `op` need not be `Send`.
///
/// The jobs run on the pool that the caller is in, else on the global one.
///
/// # Panics
///
/// As [`scope()`].
///
/// ```
/// let local = std::rc::Rc::new(1);
/// let two = furcate::in_place_scope(|s| {
///     s.spawn(|_| ());
///     *local + 1
/// });
/// assert_eq!(two, 2);
/// ```
pub fn in_place_scope<'scope, OP, R>(op: OP) -> R
where
    OP: FnOnce(&Scope<'scope>) -> R,
{
    Registry::with_current(|registry| in_place(registry, true, op))
}

/// As [`in_place_scope`], with the order of [`scope_fifo`].
///
/// # Panics
///
/// As [`scope()`].
///
/// ```
/// assert_eq!(furcate::in_place_scope_fifo(|s| { s.spawn_fifo(|_| ()); 3 }), 3);
/// ```
pub fn in_place_scope_fifo<'scope, OP, R>(op: OP) -> R
where
    OP: FnOnce(&ScopeFifo<'scope>) -> R,
{
    in_place_scope(|scope: &Scope<'scope>| op(ScopeFifo::of(scope)))
}

pub(crate) fn on_worker<'scope, R>(worker: &Worker, op: impl FnOnce(&Scope<'scope>) -> R) -> R {
    Scope::new(worker.registry().this(), Some(worker)).complete(Some(worker), true, op)
}

/// Runs the body in the calling thread. `helps` says whether a worker runs jobs of the scope while it waits for them.
pub(crate) fn in_place<'scope, R>(
    registry: &Registry,
    helps: bool,
    op: impl FnOnce(&Scope<'scope>) -> R,
) -> R {
    Worker::with_current(|current| Scope::new(registry.this(), current).complete(current, helps, op))
}

/// Returns a number that no other scope has, with the scope's priority in it.
fn next_number(priority: Priority) -> u64 {
    crate::sync::machine::machine_static! {
        static NEXT: AtomicU64 = AtomicU64::new(1);
    }
    NEXT.fetch_add(1, Relaxed) << 3 | priority.scope_bits()
}

impl<'scope> Scope<'scope> {
    /// `caller` is the calling thread's worker, of any pool.
    fn new(registry: Arc<Registry>, caller: Option<&Worker>) -> Self {
        // The pool does not end before the scope.
        registry.job_made();
        let at_end = AtEnd::Set(CallLatch::new(caller));
        let (runtime, scope) = (
            registry.runtime_of_call(),
            Scope::of(&registry, at_end, next_number(current_priority()) | WAITED_FOR),
        );
        Scope { _registry: Some(registry), runtime, ..scope }
    }

    /// Makes a scope without a runtime, in a registry that outlives the scope.
    fn of(registry: &Registry, at_end: AtEnd, number: u64) -> Self {
        Scope {
            number,
            registry: NonNull::from(registry),
            _registry: None,
            pending: CachePadded::new(JobCount::new(1)),
            at_end,
            panicked: AtomicBool::new(false),
            is_parsimonious: AtomicBool::new(registry.suspension() == Some(Suspension::Parsimonious)),
            panic: Mutex::new(None),
            fifo: Fifo::new(number),
            runtime: Runtime::default(),
            tasks: Tasks::default(),
            stop: stop::StopCell::default(),
            _jobs: PhantomData,
        }
    }

    /// Runs the body and waits for the jobs. `caller` is the worker given to `new`; `helps` is as for [`in_place`].
    fn complete<R>(self, caller: Option<&Worker>, helps: bool, op: impl FnOnce(&Self) -> R) -> R {
        let frame = caller.map(Worker::push_scope);
        let AtEnd::Set(done) = &self.at_end else { unreachable!("nobody waits for this scope") };
        let body = || self.guard(|| op(&self));
        let (result, credits) = match caller {
            Some(worker) => self.with_credits(0, worker, body),
            None => (body(), 0),
        };
        if !self.pending.arrive_many(1 + credits) {
            let latch = done.latch();
            match caller {
                Some(worker) if helps && worker.is_of(self.registry()) => {
                    worker.wait_for_scope(latch, self.number)
                }
                Some(worker) => worker.wait_for_others(latch),
                None => done.lock().wait(),
            }
        }
        self.stop.disarm();
        drop(frame);
        self.registry().job_done();
        let panic = self.panic.into_inner().expect("nobody panics with this lock");
        match (panic, result) {
            (None, Some(result)) => result,
            (None, None) => unreachable!("the body has ended without a result, and without a panic"),
            (Some(payload), result) => {
                drop_quietly(result);
                resume_unwind(payload)
            }
        }
    }

    /// Calls `f`. Keeps its panic, if it is the scope's first.
    pub(crate) fn guard<R>(&self, f: impl FnOnce() -> R) -> Option<R> {
        // Unwind-safe: the scope's caller unwinds with the payload.
        match catch_unwind(AssertUnwindSafe(f)) {
            Ok(result) => Some(result),
            Err(payload) => {
                self.keep(payload);
                None
            }
        }
    }

    /// Keeps a panic, if it is the first, and cancels the scope's tasks. Called in the body or in a job.
    pub(crate) fn keep(&self, payload: Box<dyn Any + Send>) {
        let payload = runtime::explain(payload);
        // Relaxed: only says that running further parts is pointless; the payload itself is behind the lock.
        self.panicked.store(true, Relaxed);
        let mut payload = Some(payload);
        let mut first = self.panic.lock().expect("nobody panics with this lock");
        if first.is_none() {
            *first = payload.take();
        }
        drop(first);
        // Without the lock: the payload's drop may panic in turn.
        drop_quietly(payload);
        self.cancel_tasks();
    }

    /// Sets what happens to a worker's deque when the worker suspends a task of this scope, from now on. Before, the
    /// [pool's setting](crate::ThreadPoolBuilder::suspension) holds.
    ///
    /// ```
    /// let sum = furcate::scope(|s| {
    ///     s.set_suspension(furcate::Suspension::Parsimonious);
    ///     furcate::block_on(s.spawn_future(async { 1 + 2 }))
    /// });
    /// assert_eq!(sum, 3);
    /// ```
    pub fn set_suspension(&self, suspension: Suspension) {
        // Relaxed: the setting only affects cost.
        self.is_parsimonious.store(suspension == Suspension::Parsimonious, Relaxed);
    }

    pub(crate) fn suspension(&self) -> Suspension {
        if self.is_parsimonious.load(Relaxed) { Suspension::Parsimonious } else { Suspension::Proactive }
    }

    /// Whether a job, or the body, has panicked.
    pub(crate) fn has_panicked(&self) -> bool {
        self.panicked.load(Relaxed)
    }

    /// Makes this thread enter the runtime of the scope's maker. Called by each thread that runs, drops or ends a part
    /// of the scope.
    #[inline]
    pub(crate) fn enter_runtime(&self) -> Entered<'_> {
        self.runtime.enter()
    }

    /// Counts one more job, and makes it.
    pub(crate) fn job<BODY>(&self, body: BODY) -> NonNull<Header>
    where
        BODY: FnOnce(&Scope<'scope>) + Send + 'scope,
    {
        // Before the job is counted: if this panics, no thread waits for the job.
        self.registry().check_generation();
        self.announce(1);
        // Runs also after a panic (invariant 3).
        let run = |scope: &Self| _ = scope.guard(|| body(scope));
        // SAFETY: announced above; the scope, and what the body borrows, is there until the job has arrived (invariant 1).
        unsafe { self.counted_job(run) }
    }

    /// Makes a job that has been counted.
    ///
    /// # Safety
    ///
    /// A count has been announced that arrives at the end of the job. Values that `body` borrows are there until then.
    unsafe fn counted_job(&self, body: impl FnOnce(&Self) + Send) -> NonNull<Header> {
        let scope = ScopePointer(self);
        // SAFETY: the job has not arrived (invariant 1), and arrives once, here.
        let run = move |worker: &Worker| unsafe { Scope::run_counted({ scope }.0, worker, body) };
        // SAFETY: the caller's.
        unsafe { HeapJob::queueable(self.number, run) }
    }

    /// Runs a job that is counted, in the scope's runtime. The job's count arrives at its end.
    ///
    /// # Safety
    ///
    /// As for [`arrive`](Self::arrive). `job` must not panic.
    unsafe fn run_counted(this: *const Self, worker: &Worker, job: impl FnOnce(&Self)) {
        // SAFETY: the caller's.
        let scope = unsafe { &*this };
        let entered = scope.enter_runtime();
        worker.set_priority(Priority::of_scope(scope.number));
        let ((), credits) = scope.with_credits(0, worker, || job(scope));
        entered.leave();
        // SAFETY: the caller's.
        unsafe { Scope::arrive(this, 1 + credits, Some(worker)) };
    }

    /// Records that `counts` of the counted jobs have ended.
    ///
    /// # Safety
    ///
    /// `this` is there, and so many announced counts arrive; they do not use the scope afterwards. `worker` is this
    /// thread's worker if the thread comes to the end of a job: the last one to arrive may give its slot to the waiter.
    /// It is `None` in the middle of a job, where jobs may still be spawned or forked.
    pub(crate) unsafe fn arrive(this: *const Self, counts: usize, worker: Option<&Worker>) {
        // SAFETY: the scope is there until the latch is set, or the node is queued, by the last one to arrive.
        unsafe {
            if (*this).pending.arrive_many(counts) {
                match &(*this).at_end {
                    AtEnd::Set(done) => CallLatch::set(done, worker),
                    &AtEnd::Queue(node) => spawned_root::queue((*this).registry, node, worker),
                }
            }
        }
    }

    /// Spawns a job into the scope.
    ///
    /// # Panics
    ///
    /// Does not panic itself: the panic of a job is raised by the function that made the scope.
    pub fn spawn<BODY>(&self, body: BODY)
    where
        BODY: FnOnce(&Scope<'scope>) + Send + 'scope,
    {
        // SAFETY: queued once, here.
        unsafe { spawn::queue(self.registry(), self.job(body)) };
    }
}

impl<'scope> ScopeFifo<'scope> {
    pub(crate) fn of<'a>(scope: &'a Scope<'scope>) -> &'a Self {
        // SAFETY: transparent.
        unsafe { &*ptr::from_ref(scope).cast() }
    }

    /// Spawns a job into the scope, after the jobs already spawned.
    ///
    /// # Panics
    ///
    /// As [`Scope::spawn`].
    pub fn spawn_fifo<BODY>(&self, body: BODY)
    where
        BODY: FnOnce(&ScopeFifo<'scope>) + Send + 'scope,
    {
        let scope = &self.0;
        let job = scope.job(|scope| body(ScopeFifo::of(scope)));
        let ticket = Fifo::push(&scope.fifo, JobRef::new(job, ptr::null()));
        // SAFETY: queued once, here; the scope is there until the job has run, and so has the ticket.
        unsafe { spawn::queue(scope.registry(), ticket) };
    }
}

/// The bit of a scope's number that says that a frame waits for the scope, and looks for its jobs in its worker's deque.
pub(crate) const WAITED_FOR: u64 = 4;

/// The computations of a pool that no thread waits for.
struct UnawaitedScopes {
    /// Scopes of the spawned futures, by priority.
    common: [Scope<'static>; 3],
    /// Scopes of the spawned roots.
    roots: List,
}

impl UnawaitedScopes {
    fn new(registry: &Registry) -> Self {
        // The scopes never end. They are dropped with the registry.
        let common = Priority::ALL
            .map(|priority| Scope::of(registry, AtEnd::Set(CallLatch::new(None)), next_number(priority)));
        UnawaitedScopes { common, roots: List::default() }
    }
}

impl registry::Unawaited for UnawaitedScopes {
    fn cancel(&self) {
        self.common.iter().for_each(Scope::cancel_tasks);
        self.roots.cancel();
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

impl Registry {
    /// Returns the scope of the futures that no thread waits for and that have the caller's priority.
    pub(crate) fn common(&self) -> &Scope<'static> {
        &self.unawaited(UnawaitedScopes::new).common[current_priority() as usize]
    }

    fn spawned_roots(&self) -> &List {
        &self.unawaited(UnawaitedScopes::new).roots
    }
}

/// A scope's address, which any thread may have. A thread that uses it keeps the scope counted.
#[derive(Clone, Copy, Debug)]
struct ScopePointer<'scope>(*const Scope<'scope>);

// SAFETY: `Scope` is `Sync`.
unsafe impl Send for ScopePointer<'_> {}

impl std::fmt::Debug for Scope<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Scope").field("pending", &self.pending.get()).finish_non_exhaustive()
    }
}

impl std::fmt::Debug for ScopeFifo<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}
