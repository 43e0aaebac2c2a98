//! Scopes that nobody waits for: of computations that own what their parts borrow.
//!
//! A computation and its scope lie in one node on the heap. The node is a job, which is queued twice: by who spawns the
//! computation, to begin it; and by the last one to arrive at the scope, to take the node apart and to tell the computation
//! its end. So that happens on a worker, on top of no frame and under no lock, wherever the last part has ended.
//!
//! ```text
//!   spawn ──> queue ──> begin(&mut computation, &scope) ──┐ arrives
//!                         jobs, tasks, handles ───────────┤ arrive
//!                                                    last one ──> queue ──> end(computation)
//! ```
//!
//! # Invariants
//!
//! 1. The node stays where it is from `spawn` until `end` takes it apart. It is in one queue at most: `begin`'s own count is
//!    among those that the last one waits for, so it is queued for the second time after it was run for the first.
//! 2. *Borrowed for the scope's lifetime, and no longer.* `begin` is called once, for some `'s` that it does not know, with the
//!    computation as `&'s mut`. What it makes of that with the scope counts until it is gone (invariant 1 of
//!    [`scope`](super), and those of `suspended` and `detached`); elsewhere it can leave nothing that has the lifetime, for
//!    the computation itself is `'static`. So when the last one has arrived the computation is the node's alone.
//! 3. The node counts as a job of its registry until the computation has been told its end. So until then the registry is
//!    there, and workers that run what is queued.
//! 4. *Cancellation from outside.* A scope is in its registry's [`List`] from before it is queued until `end` takes it out, and
//!    only afterwards is the node freed. Who finds a scope there, under the lock, counts itself as one of those that are to
//!    arrive, unless all have: so the scope is there while it is being cancelled, and is not ended twice.

use super::{AtEnd, Scope};
use crate::Executor;
use crate::detach::{End, Unattended};
use crate::job::{Header, SpawnHeader};
use crate::registry::Registry;
use crate::runtime::Runtime;
use crate::spawn;
use crate::worker::Worker;
use std::any::Any;
use std::cell::{Cell, UnsafeCell};
use std::collections::HashMap;
use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard};

/// A computation and its scope.
#[repr(C)]
struct Node<E, C> {
    header: SpawnHeader,
    scope: Scope<'static>,
    /// Has it been run for the first time? Only who runs it looks.
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
    // Before it is counted: if this panics the pool does not wait for it.
    registry.check_generation();
    registry.job_made();
    // To be told its node.
    let at_end = AtEnd::Queue(NonNull::dangling());
    let scope = Scope { runtime: registry.runtime_of_call(), ..Scope::of(registry, at_end) };
    let node = NonNull::from(Box::leak(Box::new(Node::<E, C> {
        // SAFETY: the header is the first field, and `run` expects a pointer to it.
        header: unsafe { SpawnHeader::new(Node::<E, C>::run, scope.number()) },
        scope,
        begun: Cell::new(false),
        computation: UnsafeCell::new(computation),
        _engine: PhantomData,
    })));
    // SAFETY: nobody else knows of the node; it is queued once, here.
    unsafe {
        (*node.as_ptr()).scope.at_end = AtEnd::Queue(node.cast());
        registry.spawned_roots.insert(&node.as_ref().scope);
        spawn::queue(registry, node.cast());
    }
}

/// Queues a node for the second time.
///
/// # Safety
///
/// The caller was the last one to arrive at the node's scope, and does not use that again. `worker` is this thread's, and of
/// that registry.
pub(super) unsafe fn queue(registry: NonNull<Registry>, node: NonNull<Header>, worker: Option<&Worker>) {
    // SAFETY: invariant 3.
    let registry = unsafe { registry.as_ref() };
    // Once the node is where it can be found, nothing of it keeps the registry: a worker does, others must.
    let _kept = worker.is_none().then(|| registry.this());
    // SAFETY: queued once, for the second time (invariant 1).
    unsafe { spawn::queue(registry, node) };
}

impl<E, C> Node<E, C>
where
    E: for<'s> Executor<Scope<'s> = Scope<'s>>,
    C: Unattended<E>,
{
    /// # Safety
    ///
    /// As [`JobRef::run`](crate::job::JobRef::run); `job` points to one of these.
    unsafe fn run(job: NonNull<Header>, worker: &Worker, _from: *const Worker) {
        let this = job.cast::<Self>();
        // SAFETY: a node in a queue is there (invariant 1); what follows is the caller's.
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
        // SAFETY: `begin`'s own count keeps the node (invariant 1). Nobody else touches the computation until the last one has
        // arrived: it is borrowed for the scope's lifetime, whatever that is called here (invariant 2).
        let (scope, computation) =
            unsafe { (&(*this.as_ptr()).scope, &mut *(*this.as_ptr()).computation.get()) };
        // If it is cancelled already, then from outside. Relaxed: a hint.
        let mut credits = 0;
        if !worker.registry().spawned_roots.cancelled.load(Relaxed) {
            let root = worker.enter_root(scope.number());
            let _entered = scope.enter_runtime();
            (_, credits) = scope.with_credits(0, worker, || scope.guard(|| computation.begin(scope)));
            worker.leave_root(root);
        }
        // SAFETY: it arrives once, here.
        unsafe { Scope::arrive(scope, 1 + credits, Some(worker)) };
    }

    /// # Safety
    ///
    /// The node is run for the second time.
    unsafe fn end(this: NonNull<Self>, worker: &Worker) {
        // The node may be all that keeps the pool going; the thread that runs it keeps the registry.
        let registry = worker.registry();
        // SAFETY: all have arrived; who may still look at the scope does so under the list's lock (invariant 4).
        let scope = unsafe { &(*this.as_ptr()).scope };
        let cancelled = registry.spawned_roots.remove(scope);
        scope.stop.disarm();
        // SAFETY: from `Box::leak`, and nobody else knows of it any more.
        let Node { scope, computation, .. } = *unsafe { Box::from_raw(this.as_ptr()) };
        let (panic, runtime) = scope.into_panic();
        let end = match panic {
            Some(payload) => End::Panicked(payload),
            None if cancelled => End::Cancelled,
            None => End::Done(()),
        };
        // Unwind-safe: nobody sees the computation again.
        let entered = runtime.enter();
        if let Err(payload) = catch_unwind(AssertUnwindSafe(|| computation.into_inner().end(end))) {
            registry.handle_task_panic(payload);
        }
        entered.leave();
        registry.job_done();
    }
}

impl Scope<'_> {
    /// The first panic, and the runtime.
    fn into_panic(self) -> (Option<Box<dyn Any + Send>>, Runtime) {
        (self.panic.into_inner().expect("nobody panics with this lock"), self.runtime)
    }
}

/// The scopes of a registry that nobody waits for, to be cancelled with it.
#[derive(Debug, Default)]
pub(crate) struct List {
    entries: Mutex<Entries>,
    /// All that are there have been told so: a hint.
    cancelled: AtomicBool,
}

#[derive(Debug, Default)]
struct Entries {
    /// By their numbers.
    scopes: HashMap<u64, Entry>,
    /// All are cancelled that come.
    cancelled: bool,
}

#[derive(Debug)]
struct Entry {
    scope: *const Scope<'static>,
    cancelled: bool,
}

// SAFETY: `Scope` is `Sync`.
unsafe impl Send for Entry {}

impl List {
    fn lock(&self) -> MutexGuard<'_, Entries> {
        self.entries.lock().expect("nobody panics with this lock")
    }

    /// Puts a scope in, which has not been queued. If all have been cancelled, so is this one.
    fn insert(&self, scope: &Scope<'static>) {
        let mut entries = self.lock();
        let cancelled = entries.cancelled;
        entries.scopes.insert(scope.number(), Entry { scope, cancelled });
        drop(entries);
        if cancelled {
            scope.cancel_tasks();
        }
    }

    /// Takes a scope out. Has it been cancelled?
    fn remove(&self, scope: &Scope<'static>) -> bool {
        self.lock().scopes.remove(&scope.number()).is_some_and(|entry| entry.cancelled)
    }

    /// Cancels what waits in all scopes that are there, or will be.
    pub(crate) fn cancel(&self) {
        let scopes: Vec<*const Scope<'static>> = {
            let mut entries = self.lock();
            entries.cancelled = true;
            // SAFETY: a scope is there as long as it is in the list (invariant 4).
            let cancel = |entry: &mut Entry| unsafe { (*entry.scope).pending.try_announce() };
            let all = entries.scopes.values_mut();
            let marked = all
                .filter_map(|entry| cancel(entry).then(|| (entry.cancelled = true, entry.scope).1))
                .collect();
            // Now that all know it none of them begins, before the first one's tasks are dropped.
            self.cancelled.store(true, Relaxed);
            marked
        };
        for scope in scopes {
            // SAFETY: this has been announced, and arrives once (invariant 4).
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
