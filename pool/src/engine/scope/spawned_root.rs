//! Scopes of spawned roots: computations that own the data that their parts borrow, and for which no thread waits.
//!
//! A computation and its scope lie in one node on the heap. The node is a job, which is queued twice. The thread that
//! spawns the computation queues it to begin the computation. The last one to arrive at the scope queues it to take the
//! node apart and to call the computation's `end`. So `end` is called on a worker, on top of no frame and under no
//! lock, wherever the last part has ended.
//!
//! ```text
//!   spawn ──> queue ──> begin(&mut computation, &scope) ──┐ arrives
//!                         jobs, tasks, handles ───────────┤ arrive
//!                                                    last one ──> queue ──> end(computation)
//! ```
//!
//! # Invariants
//!
//! 1. The node stays at its address from `spawn` until `end` takes it apart. It is in at most one queue: `begin`'s own
//!    count must arrive, too, before the last arrival queues the node for the second time. So the node has then been run
//!    for the first time.
//! 2. *Borrowed for the scope's lifetime, and no longer.* `begin` is called once, for some `'s` that it does not know,
//!    with the computation as `&'s mut`. Everything that it makes with the computation and the scope is counted until
//!    it is gone (invariant 1 of [`scope`](super), and those of `suspended` and `detached`). It can leave no other
//!    value with this lifetime, since the computation itself is `'static`. So after the last arrival the computation
//!    belongs to the node alone.
//! 3. The node counts as a job of its registry until the computation's `end` has returned. So until then the registry
//!    is there, and so are workers that run queued jobs.
//! 4. *Cancellation from outside.* A scope is in its registry's [`List`] from before it is queued until it is cancelled,
//!    or `end` takes it out. The node is freed only after `end` has looked there. A thread that finds a scope in the
//!    list counts itself, under the lock, as one of those that are to arrive, and takes the scope out, unless all have
//!    arrived. So the scope is there while it is being cancelled, and is not ended twice.

use super::{AtEnd, Scope, ScopePointer, next_number};
use crate::Executor;
use crate::detach::{SpawnedOutcome, Unattended};
use crate::engine::registry::Registry;
use crate::engine::settings::current_priority;
use crate::engine::spawn;
use crate::engine::worker::{Header, SpawnHeader, Worker};
use crate::sync::machine::atomic::{AtomicBool, Ordering::Relaxed};
use crate::sync::machine::{Mutex, MutexGuard};
use std::cell::{Cell, UnsafeCell};
use std::collections::BTreeMap;
use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::NonNull;

/// A computation and its scope.
#[repr(C)]
struct RootNode<E, C> {
    header: SpawnHeader,
    scope: Scope<'static>,
    /// Whether it has been run for the first time. Only the worker that runs it reads this.
    begun: Cell<bool>,
    computation: UnsafeCell<C>,
    _engine: PhantomData<fn(E)>,
}

/// Runs a computation in a pool: see [`Executor::spawn_detached`].
pub(crate) fn spawn_root<E, C>(registry: &Registry, computation: C)
where
    E: for<'s> Executor<Scope<'s> = Scope<'s>>,
    C: Unattended<E>,
{
    // Before the computation is counted: if this panics, the pool does not wait for it.
    registry.check_generation();
    registry.job_made();
    // Replaced below, when the node has its address.
    let at_end = AtEnd::Queue(NonNull::dangling());
    let scope = Scope {
        runtime: registry.runtime_of_call(),
        ..Scope::of(registry, at_end, next_number(current_priority()))
    };
    let node = NonNull::from(Box::leak(Box::new(RootNode::<E, C> {
        // SAFETY: the header is the first field, and `run` expects a pointer to it.
        header: unsafe { SpawnHeader::new(RootNode::<E, C>::run, scope.number()) },
        scope,
        begun: Cell::new(false),
        computation: UnsafeCell::new(computation),
        _engine: PhantomData,
    })));
    // SAFETY: no other thread knows the node; it is queued once, here.
    unsafe {
        (*node.as_ptr()).scope.at_end = AtEnd::Queue(node.cast());
        registry.spawned_roots().insert(&node.as_ref().scope);
        spawn::queue(registry, node.cast());
    }
}

/// Queues a node for the second time.
///
/// # Safety
///
/// The caller was the last one to arrive at the node's scope, and does not use the scope again. `worker` is this
/// thread's, and of that registry.
pub(super) unsafe fn queue(registry: NonNull<Registry>, node: NonNull<Header>, worker: Option<&Worker>) {
    // SAFETY: invariant 3.
    let registry = unsafe { registry.as_ref() };
    // Once workers can find the node, it does not keep the registry alive. A worker does so anyway; another thread must
    // hold a reference.
    let _kept = worker.is_none().then(|| registry.this());
    // SAFETY: queued once, for the second time (invariant 1).
    unsafe { spawn::queue(registry, node) };
}

impl<E, C> RootNode<E, C>
where
    E: for<'s> Executor<Scope<'s> = Scope<'s>>,
    C: Unattended<E>,
{
    /// # Safety
    ///
    /// As [`JobRef::run`](crate::engine::worker::JobRef::run); `job` points to one of these.
    unsafe fn run(job: NonNull<Header>, worker: &Worker, _from: *const Worker) {
        let this = job.cast::<Self>();
        // SAFETY: a node in a queue is there (invariant 1); all else is the caller's promise.
        unsafe {
            if this.as_ref().begun.replace(true) {
                Self::end(this, worker);
            } else {
                Self::begin(this, worker);
            }
        }
    }

    /// # Safety
    ///
    /// The node is run for the first time.
    unsafe fn begin(this: NonNull<Self>, worker: &Worker) {
        // SAFETY: `begin`'s own count keeps the node (invariant 1). No other thread accesses the computation before the
        // last arrival: it is borrowed for the scope's lifetime, whatever that lifetime is called here (invariant 2).
        let (scope, computation) =
            unsafe { (&(*this.as_ptr()).scope, &mut *(*this.as_ptr()).computation.get()) };
        worker.enter_scope(scope.number());
        // A cancellation that has come already came from outside. Relaxed: a hint.
        let begins = !worker.registry().spawned_roots().cancelled.load(Relaxed);
        let computation = begins.then_some(computation);
        let begin = move |scope: &Scope<'static>| {
            if let Some(computation) = computation {
                scope.guard(|| computation.begin(scope));
            }
        };
        // SAFETY: `begin`'s count arrives once, here.
        unsafe { Scope::run_counted(scope, worker, begin) };
    }

    /// # Safety
    ///
    /// The node is run for the second time.
    unsafe fn end(this: NonNull<Self>, worker: &Worker) {
        // The node may be all that keeps the pool alive. The thread that runs it keeps the registry.
        let registry = worker.registry();
        // SAFETY: all have arrived; a thread that still looks at the scope does so under the list's lock (invariant 4).
        let scope = unsafe { &(*this.as_ptr()).scope };
        let cancelled = registry.spawned_roots().remove(scope);
        scope.stop.disarm();
        // SAFETY: from `Box::leak`, and no other thread has a reference any more.
        let RootNode { scope, computation, .. } = *unsafe { Box::from_raw(this.as_ptr()) };
        let end = match scope.panic.into_inner().expect("nobody panics with this lock") {
            Some(payload) => SpawnedOutcome::Panicked(payload),
            None if cancelled => SpawnedOutcome::Cancelled,
            None => SpawnedOutcome::Done(()),
        };
        // Unwind-safe: no code sees the computation again.
        let entered = scope.runtime.enter();
        if let Err(payload) = catch_unwind(AssertUnwindSafe(|| computation.into_inner().end(end))) {
            registry.handle_task_panic(payload);
        }
        entered.leave();
        registry.job_done();
    }
}

/// The scopes of a registry's spawned roots, which are cancelled with the registry.
#[derive(Debug, Default)]
pub(crate) struct List {
    /// The scopes by their numbers, without those that have been cancelled.
    /// By number. (The order of a `HashMap` depends on a random seed, so simulated runs would not repeat.)
    scopes: Mutex<BTreeMap<u64, ScopePointer<'static>>>,
    /// Whether all scopes of the list have been taken out to be cancelled: a hint, but for threads that hold the lock. Then every new
    /// scope is cancelled at once.
    cancelled: AtomicBool,
}

impl List {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<u64, ScopePointer<'static>>> {
        self.scopes.lock().expect("nobody panics with this lock")
    }

    /// Adds a scope, which has not been queued yet. If all have been cancelled, so is this one.
    fn insert(&self, scope: &Scope<'static>) {
        let mut scopes = self.lock();
        // Relaxed: written under the lock.
        if self.cancelled.load(Relaxed) {
            drop(scopes);
            scope.cancel_tasks();
        } else {
            scopes.insert(scope.number(), ScopePointer(scope));
        }
    }

    /// Takes a scope out. Returns whether it has been cancelled.
    fn remove(&self, scope: &Scope<'static>) -> bool {
        self.lock().remove(&scope.number()).is_none()
    }

    /// Cancels the suspended tasks of all scopes in the list, and of future ones.
    pub(crate) fn cancel(&self) {
        let mut counted = Vec::new();
        let mut scopes = self.lock();
        scopes.retain(|_, scope| {
            // SAFETY: a scope is there while it is in the list (invariant 4).
            let is_over = unsafe { !(*scope.0).pending.try_announce() };
            if !is_over {
                counted.push(*scope);
            }
            is_over
        });
        // The flag is set before any task is dropped, so that no further computation begins meanwhile.
        self.cancelled.store(true, Relaxed);
        drop(scopes);
        for ScopePointer(scope) in counted {
            // SAFETY: this count has been announced, and arrives once (invariant 4).
            unsafe {
                (*scope).cancel_tasks();
                Worker::with_current(|worker| {
                    let worker = worker.filter(|worker| worker.is_of((*scope).registry()));
                    Scope::arrive(scope, 1, worker);
                });
            }
        }
    }
}
