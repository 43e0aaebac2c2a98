//! The first poll of a future, in place, before it is a task.

use super::Task;
use super::erased::Core;
use crate::detach::Resume;
use crate::engine::scope::Scope;
use crate::quiet_drop::drop_quietly;
use std::any::Any;
use std::panic::resume_unwind;
use std::ptr::NonNull;
use std::task::Poll;

/// Memory for a task, or one whose future is pending and has no continuation yet: see [`Suspend`](crate::detach::Suspend).
pub struct Spare<'scope, F, K> {
    task: Option<NonNull<Task<'scope, F, K>>>,
    is_pending: bool,
}

// SAFETY: the value holds at most a future; only wakers share the node, and they may be in any thread.
unsafe impl<F: Send, K> Send for Spare<'_, F, K> {}

impl<F, K> std::fmt::Debug for Spare<'_, F, K> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Spare").finish_non_exhaustive()
    }
}

impl<F, K> Default for Spare<'_, F, K> {
    fn default() -> Self {
        Spare { task: None, is_pending: false }
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
        if let Err(payload) = self.empty() {
            resume_unwind(payload);
        }
        let task = self.take_for(scope).unwrap_or_else(|| Task::<F, K>::new(scope));
        // SAFETY: the node is this value's (invariant 1), and empty.
        let polled = unsafe {
            Task::set_future(task, future);
            Task::poll(task)
        };
        if matches!(polled, Ok(Poll::Pending)) {
            (self.task, self.is_pending) = (Some(task), true);
            return Poll::Pending;
        }
        // SAFETY: as above.
        let dropped = unsafe { Task::drop_future(task) };
        // SAFETY: as above; a remaining waker must not wake the next future.
        unsafe {
            if task.as_ref().core.state.renew() {
                self.task = Some(task);
            } else {
                Core::finish(task.cast());
            }
        }
        match (polled, dropped) {
            (Ok(output), Ok(())) => output,
            (Err(payload), dropped) => {
                drop_quietly(dropped);
                resume_unwind(payload)
            }
            (Ok(output), Err(payload)) => {
                drop_quietly(output);
                resume_unwind(payload)
            }
        }
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
        let task = self
            .pending_for(scope)
            .expect("only a future that is pending can be suspended, and by its own scope");
        (self.task, self.is_pending) = (None, false);
        scope.announce_task();
        // SAFETY: the node is this value's until it is settled or abandoned (invariant 1), and the scope counts it.
        unsafe {
            *task.as_ref().then.get() = Some(then);
            Core::insert(task.cast());
        }
    }
}

impl<'scope, F, K> Spare<'scope, F, K> {
    /// Returns the node of the pending future, if it was polled with this scope.
    fn pending_for(&self, scope: &Scope<'scope>) -> Option<NonNull<Task<'scope, F, K>>> {
        // SAFETY: this value's node.
        self.task
            .filter(|task| self.is_pending && unsafe { task.as_ref() }.core.header.scope() == scope.number())
    }

    /// Takes the node, if it was made for this scope.
    fn take_for(&mut self, scope: &Scope<'scope>) -> Option<NonNull<Task<'scope, F, K>>> {
        let task = self.task.take()?;
        // Not by its address: a later scope may lie where that one was.
        // SAFETY: this value's node.
        if unsafe { task.as_ref() }.core.header.scope() == scope.number() {
            return Some(task);
        }
        // SAFETY: as above; it is given up.
        unsafe { Core::finish(task.cast()) };
        None
    }

    /// Drops a pending future. Returns its panic.
    fn empty(&mut self) -> Result<(), Box<dyn Any + Send>> {
        if !std::mem::take(&mut self.is_pending) {
            return Ok(());
        }
        let task = self.task.take().expect("what is pending is there");
        // SAFETY: this value's node, which it gives up.
        unsafe {
            let dropped = Task::drop_future(task);
            Core::finish(task.cast());
            dropped
        }
    }
}

impl<F, K> Drop for Spare<'_, F, K> {
    fn drop(&mut self) {
        let dropped = self.empty();
        if let Some(task) = self.task.take() {
            // SAFETY: this value's node, which is empty.
            unsafe { Core::finish(task.cast()) };
        }
        if let Err(payload) = dropped {
            if std::thread::panicking() {
                std::mem::forget(payload);
            } else {
                resume_unwind(payload);
            }
        }
    }
}
