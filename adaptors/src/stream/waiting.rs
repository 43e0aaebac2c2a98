//! Who waits for something that all tasks of a computation share: first come, first called.

use std::collections::BTreeMap;
use std::mem;
use std::task::Waker;

/// The wakers of those who wait, by their numbers.
///
/// Wakers are handed out, to be woken or dropped when the lock that this lies behind is free again: both may run code that
/// wants it.
#[derive(Debug, Default)]
pub(super) struct Waiting {
    wakers: BTreeMap<u64, Waker>,
    next: u64,
}

impl Waiting {
    /// A number for someone new.
    pub(super) fn number(&mut self) -> u64 {
        self.next += 1;
        self.next
    }

    /// Someone waits (again). Returns the waker that is not needed any more.
    #[must_use = "to be dropped without the lock"]
    pub(super) fn wait(&mut self, number: u64, waker: &Waker) -> Option<Waker> {
        self.wakers.insert(number, waker.clone())
    }

    /// Someone does not wait any more. `None` if he did not, or was called.
    #[must_use = "to be dropped without the lock"]
    pub(super) fn leave(&mut self, number: u64) -> Option<Waker> {
        self.wakers.remove(&number)
    }

    /// Calls the one who has waited longest.
    #[must_use = "to be woken without the lock"]
    pub(super) fn call(&mut self) -> Option<(u64, Waker)> {
        self.wakers.pop_first()
    }

    /// Calls all.
    #[must_use = "to be woken without the lock"]
    pub(super) fn call_all(&mut self) -> impl Iterator<Item = Waker> + use<> {
        mem::take(&mut self.wakers).into_values()
    }

    /// Does nobody wait?
    #[cfg(test)]
    pub(super) fn is_empty(&self) -> bool {
        self.wakers.is_empty()
    }
}
