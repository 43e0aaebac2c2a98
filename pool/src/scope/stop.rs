//! Stopping the tasks of a scope from outside: from any thread, at any time, also when the scope is gone.
//!
//! The thread that stops must take effect at once, and must not pay for it: it may be a server's, a timer's or one that holds a
//! lock. So it sets the flag that every task of the scope reads before its future is polled, and leaves the rest to an
//! [urgent](crate::urgent) job: that drops the futures that nobody would wake.
//!
//! ```text
//!   Stop::stop ── flag ──> tasks in queues: dropped, unpolled, by the worker that takes them out
//!        └─ urgent job ──> tasks that wait: dropped by the worker that runs the job
//! ```
//!
//! # Invariants
//!
//! 1. *No dangling scope.* The address is in the cell only while the scope is there, at that address: the scope
//!    [disarms](Slot::disarm) its cell, under the lock, when all have arrived and before it moves or is freed.
//! 2. *Counted.* A thread that stops counts itself as one of the scope's jobs before it gives up the lock, unless all have
//!    arrived. The urgent job takes over that count. So the scope is there until the job has run.
//! 3. *No user code* runs in the thread that stops, and none under the lock.

use super::{Pointer, Scope};
use crate::job::{HeapJob, JobRef};
use std::ptr;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};

/// What a scope and those that may stop it have in common.
#[derive(Debug)]
pub(crate) struct Stop {
    /// `None` once the scope is over.
    scope: Mutex<Option<Address>>,
    /// Whether this has cancelled the scope's tasks, and nobody before.
    has_stopped: AtomicBool,
}

/// The address of a scope.
#[derive(Debug)]
struct Address(*const Scope<'static>);

// SAFETY: `Scope` is `Sync`; who dereferences the address has invariants 1 and 2.
unsafe impl Send for Address {}

impl Stop {
    fn lock(&self) -> MutexGuard<'_, Option<Address>> {
        self.scope.lock().expect("nobody panics with this lock")
    }

    /// Cancels the scope's tasks, unless the scope is over or has been cancelled.
    pub(crate) fn stop(&self) {
        let scope = {
            let scope = self.lock();
            match *scope {
                // SAFETY: the scope is there while its address is (invariant 1), that is until the lock is released.
                Some(Address(scope)) if unsafe { (*scope).pending.try_announce() } => scope,
                _ => return,
            }
        };
        // SAFETY: counted (invariant 2), until `sweep` has run, or `arrive` here.
        unsafe {
            if !(*scope).tasks.mark_cancelled() {
                // In the middle of a job, perhaps, of another scope.
                Scope::arrive(scope, 1, None);
                return;
            }
            // Relaxed: whoever reads it learns of the scope's end first, which comes after this count has arrived.
            self.has_stopped.store(true, Relaxed);
            // Once the job is where it can be found, nothing of it keeps the registry.
            let registry = (*scope).registry().this();
            registry
                .inject_urgent(JobRef::new(HeapJob::queueable((*scope).number, sweep(scope)), ptr::null()));
        }
    }

    /// Whether this has cancelled the scope's tasks, and nobody before. Exact when the scope is over.
    pub(crate) fn has_stopped(&self) -> bool {
        // Relaxed: see `stop`.
        self.has_stopped.load(Relaxed)
    }
}

/// A job that drops all tasks that wait, and arrives at the scope.
fn sweep(scope: *const Scope<'static>) -> impl FnOnce(&crate::worker::Worker) + Send {
    let scope = Pointer(scope);
    move |worker| {
        let scope = scope;
        // SAFETY: the job has not arrived (invariant 2), and arrives once, here.
        unsafe {
            let this = &*scope.0;
            let ((), in_hand) = this.with_in_hand(0, worker, || this.tasks.sweep());
            Scope::arrive(this, 1 + in_hand, Some(worker));
        }
    }
}

/// Where a scope keeps its cell, if there is one: most scopes are never asked for it.
#[derive(Debug, Default)]
pub(super) struct Slot(OnceLock<Arc<Stop>>);

impl Slot {
    /// The scope is over. Called when all have arrived, at the address that the scope has had (invariant 1).
    #[inline]
    pub(super) fn disarm(&self) {
        if let Some(stop) = self.0.get() {
            *stop.lock() = None;
        }
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.disarm();
    }
}

impl Scope<'_> {
    /// What stops this scope's tasks from outside. The caller is counted: the scope does not move any more.
    pub(super) fn stop(&self) -> &Arc<Stop> {
        self.stop.0.get_or_init(|| {
            let scope = Mutex::new(Some(Address(ptr::from_ref(self).cast())));
            Arc::new(Stop { scope, has_stopped: AtomicBool::new(false) })
        })
    }
}
