//! The first poll of a future, in place, before it is a task.

use super::Task;
use super::erased::{Core, Held};
use crate::detach::Resume;
use crate::engine::job::Outcome;
use crate::engine::scope::Scope;
use std::panic::resume_unwind;
use std::ptr::NonNull;
use std::task::Poll;

/// Memory for a task, or one whose future is pending and has no continuation yet: see [`Suspend`](crate::detach::Suspend).
pub struct Spare<'scope, F, K>(Option<NonNull<Task<'scope, F, K>>>);

// SAFETY: the value holds at most a future; only wakers share the node, and they may be in any thread.
unsafe impl<F: Send, K> Send for Spare<'_, F, K> {}

impl<F, K> std::fmt::Debug for Spare<'_, F, K> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Spare").finish_non_exhaustive()
    }
}

impl<F, K> Default for Spare<'_, F, K> {
    fn default() -> Self {
        Spare(None)
    }
}

impl<'scope, F, K> Spare<'scope, F, K>
where
    F: Future + Send + 'scope,
    K: Resume<'scope, Scope<'scope>, F::Output>,
{
    /// Polls a future once, in place. A pending future stays here, for [`suspend`](Self::suspend).
    ///
    /// # Panics
    ///
    /// If the future panics; it is dropped before.
    pub(crate) fn poll(&mut self, scope: &Scope<'scope>, future: F) -> Poll<F::Output> {
        let task = self.take(scope, false).unwrap_or_else(|| {
            self.empty().unwrap_or_else(|payload| resume_unwind(payload));
            Task::<F, K>::new(scope)
        });
        // SAFETY: the node is this value's (invariant 1), and empty.
        let polled = unsafe {
            Task::set_future(task, future);
            Task::poll(task)
        };
        let Poll::Ready(polled) = polled else {
            self.0 = Some(task);
            return Poll::Pending;
        };
        // SAFETY: as above; a remaining waker must not wake the next future.
        let polled = unsafe {
            let polled = Task::drop_future(task, polled);
            if task.as_ref().core.state.renew() {
                self.0 = Some(task);
            } else {
                Core::finish(task.cast());
            }
            polled
        };
        Poll::Ready(polled.unwrap_or_else(|payload| resume_unwind(payload)))
    }

    /// Suspends the task of the pending future: the scope counts it from now on.
    ///
    /// # Safety
    ///
    /// The scope is not complete: the caller is in its body or one of its jobs, or is counted otherwise.
    ///
    /// # Panics
    ///
    /// If no future that was polled with this scope is pending.
    pub(crate) unsafe fn suspend(&mut self, scope: &Scope<'scope>, then: K) {
        // SAFETY: the caller's.
        drop(unsafe { self.hold(scope, then) });
    }

    /// As [`suspend`](Self::suspend), but no thread can resume the task before the returned value is dropped.
    ///
    /// # Safety
    ///
    /// As for `suspend`, until the returned value is dropped.
    ///
    /// # Panics
    ///
    /// As `suspend`.
    pub(crate) unsafe fn hold(&mut self, scope: &Scope<'scope>, then: K) -> Held<'scope> {
        let task = self
            .take(scope, true)
            .expect("only a future that is pending can be suspended, and by its own scope");
        scope.announce_task();
        // SAFETY: the node is this value's until it is settled or abandoned (invariant 1), and the scope counts it.
        unsafe {
            *task.as_ref().then.get() = Some(then);
            Held::insert(task.cast())
        }
    }
}

impl<'scope, F, K> Spare<'scope, F, K> {
    /// Takes the node, if it was made for this scope and has a pending future, or has none.
    fn take(&mut self, scope: &Scope<'scope>, is_pending: bool) -> Option<NonNull<Task<'scope, F, K>>> {
        self.0.take_if(|task| {
            // SAFETY: this value's node.
            let (core, has_future) = unsafe { (&task.as_ref().core, task.as_ref().core.has_future()) };
            // Not by its address: a later scope may lie where that one was.
            core.header.scope() == scope.number() && has_future == is_pending
        })
    }

    /// Gives the node up, and drops a pending future in it. Returns the panic of the drop.
    fn empty(&mut self) -> Outcome<()> {
        let Some(task) = self.0.take() else { return Ok(()) };
        // SAFETY: this value's node, which it gives up.
        unsafe {
            let dropped = Task::drop_future(task, Ok(()));
            Core::finish(task.cast());
            dropped
        }
    }
}

impl<F, K> Drop for Spare<'_, F, K> {
    fn drop(&mut self) {
        if let Err(payload) = self.empty() {
            if crate::sync::machine::thread::panicking() {
                std::mem::forget(payload);
            } else {
                resume_unwind(payload);
            }
        }
    }
}
