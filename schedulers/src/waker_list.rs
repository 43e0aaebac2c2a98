//! The tasks that wait for something that other tasks share: first come, first called.

use std::collections::BTreeMap;
use std::mem;
use std::task::Waker;

/// Wakers of the waiting tasks, by their numbers.
///
/// A task that was called and finds nothing waits again under its old number, before all tasks that came later. (Permits for futures are
/// handed to the task that is called, so no task waits twice for one: the lines of `Semaphore` grow at their ends, and allocate nothing for a
/// task.)
///
/// Wakers are handed out, so that the caller can wake or drop them after releasing the lock that protects this value:
/// both may run code that takes the same lock.
#[derive(Debug, Default)]
pub struct WakerList {
    wakers: BTreeMap<u64, Waker>,
    next: u64,
}

impl WakerList {
    /// Returns a number for a new task.
    pub fn number(&mut self) -> u64 {
        self.next += 1;
        self.next
    }

    /// Makes a task wait (again). Returns the waker that is not needed any more.
    #[must_use = "to be dropped without the lock"]
    pub fn wait(&mut self, number: u64, waker: Waker) -> Option<Waker> {
        self.wakers.insert(number, waker)
    }

    /// Ends the wait of a task. Returns `None` if it did not wait, or was called.
    #[must_use = "to be dropped without the lock"]
    pub fn leave(&mut self, number: u64) -> Option<Waker> {
        self.wakers.remove(&number)
    }

    /// Calls the task that has waited longest.
    #[must_use = "to be woken without the lock"]
    pub fn call(&mut self) -> Option<(u64, Waker)> {
        self.wakers.pop_first()
    }

    /// Calls all tasks.
    #[must_use = "to be woken without the lock"]
    pub fn call_all(&mut self) -> impl Iterator<Item = Waker> + use<> {
        mem::take(&mut self.wakers).into_values()
    }

    /// Whether no task waits.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.wakers.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_task_that_waits_again_keeps_its_place() {
        let mut list = WakerList::default();
        let waker = || Waker::noop().clone();
        let [first, second, third] = [(); 3].map(|()| list.number());
        for number in [first, second, third] {
            assert!(list.wait(number, waker()).is_none());
        }
        assert!(list.wait(second, waker()).is_some(), "its waker is replaced");
        assert_eq!(list.call().map(|(number, _)| number), Some(first));
        assert!(list.leave(first).is_none(), "it was called");
        assert!(list.wait(first, waker()).is_none());
        assert!(list.leave(second).is_some());
        assert_eq!(list.call().map(|(number, _)| number), Some(first));
        assert_eq!(list.call_all().count(), 1);
        assert!(list.is_empty() && list.call().is_none());
    }
}
