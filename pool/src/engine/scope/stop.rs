//! Stops of a scope's tasks from outside: from any thread, at any time, even if the scope is gone.
//!
//! A stop must take effect at once, and must cost the stopping thread little: it may be a server's, a timer's, or one that holds a
//! lock. So that thread sets the flag that every task of the scope reads before its future is polled. It leaves the rest to an
//! [urgent](crate::engine::queues::ranked) job, which drops the futures of suspended tasks, because no event may ever wake these.
//!
//! ```text
//!   ScopeStop::stop ── flag ──> tasks in queues: dropped, unpolled, by the worker that takes them out
//!        └─ urgent job ──> tasks that wait: dropped by the worker that runs the job
//! ```
//!
//! # Invariants
//!
//! 1. *No dangling scope.* The address is in the cell only while the scope is there, at that address: the scope
//!    [disarms](StopCell::disarm) its cell, under the lock, when all have arrived and before it moves or is freed.
//! 2. *Counted.* A thread that stops counts itself as one of the scope's jobs before it gives up the lock, unless all have
//!    arrived. The urgent job takes over that count. So the scope is there until the job has run.
//! 3. *No user code* runs in the thread that stops, and none under the lock.

use super::{Scope, ScopePointer};
use crate::detach;
use crate::engine::worker::JobRef;
use crate::sync::machine::atomic::{AtomicBool, Ordering::Relaxed};
use crate::sync::machine::{Mutex, MutexGuard, OnceLock};
use crate::trace::{self, Kind};
use std::ptr;
use std::sync::Arc;

/// State that a scope shares with the handles that may stop it.
#[derive(Debug)]
pub(crate) struct ScopeStop {
    /// `None` once the scope is over.
    scope: Mutex<Option<ScopePointer<'static>>>,
    /// Whether [`stop`](detach::EngineStop::stop) was the first to cancel the scope's tasks.
    has_stopped: AtomicBool,
}

impl ScopeStop {
    fn lock(&self) -> MutexGuard<'_, Option<ScopePointer<'static>>> {
        self.scope.lock().expect("nobody panics with this lock")
    }
}

impl detach::EngineStop for ScopeStop {
    /// Cancels the scope's tasks, unless the scope is over or has been cancelled.
    fn stop(&self) {
        let scope = {
            let address = self.lock();
            let Some(ScopePointer(scope)) = *address else { return };
            // SAFETY: the scope is there while its address is (invariant 1), that is until the lock is released.
            if !unsafe { (*scope).pending.try_announce() } {
                return;
            }
            scope
        };
        // SAFETY: counted (invariant 2), until the job that sweeps has run, or `arrive` here.
        unsafe {
            if !(*scope).tasks.mark_cancelled() {
                // In the middle of a job, perhaps, of another scope.
                Scope::arrive(scope, 1, None);
                return;
            }
            trace::record(Kind::Cancel, 0);
            // Relaxed: a reader learns of the scope's end first, which comes after this count has arrived.
            self.has_stopped.store(true, Relaxed);
            // Once the job can be found, it does not keep the registry alive. So this thread holds a reference.
            let registry = (*scope).registry().this();
            let sweep = (*scope).counted_job(|scope| scope.tasks.sweep());
            registry.inject_urgent(JobRef::new(sweep, ptr::null()));
        }
    }

    /// Whether [`stop`](detach::EngineStop::stop) was the first to cancel the scope's tasks. Exact when the scope is over.
    fn has_stopped(&self) -> bool {
        // Relaxed: see `stop`.
        self.has_stopped.load(Relaxed)
    }
}

/// A scope's [`ScopeStop`], made when first asked for: most scopes never are.
#[derive(Debug, Default)]
pub(super) struct StopCell(OnceLock<Arc<ScopeStop>>);

impl StopCell {
    /// Ends the use of the scope's address. Called when all have arrived, at the address that the scope has had
    /// (invariant 1).
    #[inline]
    pub(super) fn disarm(&self) {
        if let Some(stop) = self.0.get() {
            *stop.lock() = None;
        }
    }
}

impl Drop for StopCell {
    fn drop(&mut self) {
        self.disarm();
    }
}

impl Scope<'_> {
    /// Returns the handle that stops this scope's tasks from outside. The caller is counted in the scope, so the scope
    /// does not move any more.
    pub(super) fn stop(&self) -> &Arc<ScopeStop> {
        self.stop.0.get_or_init(|| {
            let scope = Mutex::new(Some(ScopePointer(ptr::from_ref(self).cast())));
            Arc::new(ScopeStop { scope, has_stopped: AtomicBool::new(false) })
        })
    }
}
