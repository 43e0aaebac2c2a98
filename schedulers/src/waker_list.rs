//! The tasks that wait for something that all tasks of a computation share: first come, first called.

use std::collections::BTreeMap;
use std::mem;
use std::task::Waker;

/// The wakers of the waiting tasks, by their numbers.
///
/// Wakers are handed out, so that the caller can wake or drop them after releasing the lock that protects this value:
/// both may run code that takes the same lock.
#[derive(Debug, Default)]
pub(super) struct Waiting {
    wakers: BTreeMap<u64, Waker>,
    next: u64,
}

impl Waiting {
    /// Returns a number for a new task.
    pub(super) fn number(&mut self) -> u64 {
        self.next += 1;
        self.next
    }

    /// Makes a task wait (again). Returns the waker that is not needed any more.
    #[must_use = "to be dropped without the lock"]
    pub(super) fn wait(&mut self, number: u64, waker: &Waker) -> Option<Waker> {
        self.wakers.insert(number, waker.clone())
    }

    /// Ends the wait of a task. Returns `None` if it did not wait, or was called.
    #[must_use = "to be dropped without the lock"]
    pub(super) fn leave(&mut self, number: u64) -> Option<Waker> {
        self.wakers.remove(&number)
    }

    /// Calls the task that has waited longest.
    #[must_use = "to be woken without the lock"]
    pub(super) fn call(&mut self) -> Option<(u64, Waker)> {
        self.wakers.pop_first()
    }

    /// Calls all tasks.
    #[must_use = "to be woken without the lock"]
    pub(super) fn call_all(&mut self) -> impl Iterator<Item = Waker> + use<> {
        mem::take(&mut self.wakers).into_values()
    }

    /// Whether no task waits.
    #[cfg(test)]
    pub(super) fn is_empty(&self) -> bool {
        self.wakers.is_empty()
    }
}
