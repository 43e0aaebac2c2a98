//! Tasks of a scope: futures that wait.
//!
//! # Invariants
//!
//! 1. A task counts as a job of its scope from its first suspension until its future and its continuation are gone.
//! 2. A [`Handle`] counts as a job of its scope as long as it lives. So the scope is there for whoever has one, and what
//!    has one may suspend tasks.

use super::Scope;
use crate::detach::{Resume, Suspend};
use crate::registry::Registry;
use crate::task::{Spare, Tasks};
use crate::worker::Worker;
use std::marker::PhantomData;
use std::ptr;
use std::sync::Arc;
use std::task::Poll;

/// What suspends tasks of a scope: see [`Suspend`].
///
/// The scope does not end as long as there is one.
#[derive(Debug)]
pub struct Handle<'scope> {
    scope: *const Scope<'scope>,
    _scope: PhantomData<fn(&'scope ()) -> &'scope ()>,
}

// SAFETY: it stands for a reference to the scope, which is `Sync`.
unsafe impl Send for Handle<'_> {}
// SAFETY: as above.
unsafe impl Sync for Handle<'_> {}

impl<'scope> Handle<'scope> {
    fn scope(&self) -> &Scope<'scope> {
        // SAFETY: invariant 2.
        unsafe { &*self.scope }
    }
}

impl Clone for Handle<'_> {
    fn clone(&self) -> Self {
        self.scope().handle_of()
    }
}

impl Drop for Handle<'_> {
    fn drop(&mut self) {
        let scope = self.scope;
        Worker::with_current(|worker| {
            // No reference to the scope lives on while this arrives: it may be gone in that moment.
            // SAFETY: it is there (invariant 2).
            let worker = worker.filter(|worker| worker.is_of(unsafe { &(*scope).registry }));
            // SAFETY: it was announced when it was made (invariant 2), and arrives once. The pointer is not used again.
            unsafe { Scope::arrive(scope, worker) };
        });
    }
}

/// Memory for a future that is polled: see [`Suspend`].
pub struct Slot<'scope, F, K>(Spare<'scope, F, K>);

impl<F, K> std::fmt::Debug for Slot<'_, F, K> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Slot").finish_non_exhaustive()
    }
}

impl<F, K> Default for Slot<'_, F, K> {
    fn default() -> Self {
        Slot(Spare::default())
    }
}

impl<'scope> Suspend<'scope, Scope<'scope>> for Handle<'scope> {
    type Slot<F, K>
        = Slot<'scope, F, K>
    where
        F: Future + Send + 'scope,
        K: Resume<'scope, Scope<'scope>, F::Output>;

    fn poll_once<F, K>(&self, slot: &mut Slot<'scope, F, K>, future: F) -> Poll<F::Output>
    where
        F: Future + Send + 'scope,
        K: Resume<'scope, Scope<'scope>, F::Output>,
    {
        let polled = slot.0.poll(self.scope(), future);
        self.scope().with_worker(|worker| {
            if let Some(worker) = worker {
                worker.counters.polls.add();
                if polled.is_ready() {
                    worker.counters.ready.add();
                }
            }
        });
        polled
    }

    fn suspend<F, K>(&self, slot: &mut Slot<'scope, F, K>, then: K)
    where
        F: Future + Send + 'scope,
        K: Resume<'scope, Scope<'scope>, F::Output>,
    {
        // SAFETY: invariant 2.
        unsafe { slot.0.suspend(self.scope(), then) };
    }

    fn cancel(&self) {
        self.scope().cancel_tasks();
    }

    fn is_cancelled(&self) -> bool {
        self.scope().tasks.are_cancelled()
    }
}

impl<'scope> Scope<'scope> {
    pub(super) fn handle_of(&self) -> Handle<'scope> {
        self.pending.announce();
        Handle { scope: ptr::from_ref(self), _scope: PhantomData }
    }

    /// Calls `f` with the worker that this thread is, if it is one of the scope's pool.
    pub(crate) fn with_worker<R>(&self, f: impl FnOnce(Option<&Worker>) -> R) -> R {
        Worker::with_current(|worker| f(worker.filter(|worker| worker.is_of(&self.registry))))
    }

    pub(crate) fn registry(&self) -> &Arc<Registry> {
        &self.registry
    }

    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    pub(crate) fn tasks(&self) -> &Tasks {
        &self.tasks
    }

    /// A task is suspended for the first time.
    pub(crate) fn announce_task(&self) {
        self.pending.announce();
    }

    /// Drops all tasks that wait, or will. Called in the body, in a job, or by one that is counted otherwise.
    pub(super) fn cancel_tasks(&self) {
        // SAFETY: the caller's count is still to arrive.
        self.with_worker(|worker| unsafe { self.tasks.cancel(worker) });
    }
}
