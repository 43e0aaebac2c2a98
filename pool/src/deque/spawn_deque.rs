//! One deque of spawned jobs: the jobs, and the deque's [state](super::control).

use super::control::{Control, FirstAction, Orphan, ResumeAction, Settle};
use crate::deque::{Deque, Steal};
use crate::sync::atomic::{AtomicU64, Ordering::Relaxed};
use crate::sync::{Mutex, MutexGuard};
use std::ptr::NonNull;

/// A deque of spawned jobs.
pub(crate) struct SpawnDeque<J, T> {
    jobs: Deque<J>,
    control: Mutex<Control<T>>,
    /// Number of the scope of its task, while the task waits.
    scope: AtomicU64,
}

impl<J, T: Copy> SpawnDeque<J, T> {
    /// Makes an empty, free deque with room for `room` jobs before it grows.
    pub(crate) fn new(room: usize, always_shared: bool) -> Self {
        SpawnDeque {
            jobs: Deque::new(room, always_shared),
            control: Mutex::new(Control::free()),
            scope: AtomicU64::new(0),
        }
    }

    /// Returns the deque's jobs.
    pub(crate) fn jobs(&self) -> &Deque<J> {
        &self.jobs
    }

    /// Returns the number of the suspended task's scope. A hint, unless the caller holds the entry.
    pub(crate) fn scope(&self) -> u64 {
        // Relaxed: written before the deque's entry is put into a set, under the set's lock.
        self.scope.load(Relaxed)
    }

    fn control(&self) -> MutexGuard<'_, Control<T>> {
        self.control.lock().expect("nobody panics with this lock")
    }

    /// Makes the deque a worker's own.
    pub(crate) fn activate(&self) {
        self.control().activate();
    }

    /// Frees the deque, which is empty and was a worker's own.
    pub(crate) fn retire(&self) {
        self.control().retire();
    }

    /// Suspends the deque, because its task, of that scope, waits. The caller, who owns it, puts an entry into a set.
    ///
    /// # Safety
    ///
    /// The deque is the active one of the calling worker. The worker takes another one before the task can be woken,
    /// and does not use the owner's methods of this one any more.
    pub(crate) unsafe fn suspend(&self, scope: u64) {
        // SAFETY: by the caller's promise. Shared jobs are stolen without an owner's help.
        unsafe { self.jobs.share_all() };
        self.scope.store(scope, Relaxed);
        self.control().suspend();
    }

    /// Makes the deque resumable: its task was woken.
    pub(crate) fn resume(&self, task: T) -> ResumeAction {
        self.control().resume(task)
    }

    /// Forgets the suspended task, which was dropped.
    pub(crate) fn orphan(&self) -> Orphan {
        self.control().orphan()
    }

    /// Begins a steal. The caller holds the deque's entry.
    pub(crate) fn open(&self) -> FirstAction<T> {
        self.control().open()
    }

    /// As `open`, for a thief whose own deque is not empty.
    pub(crate) fn open_beside(&self) -> Option<T> {
        self.control().open_beside()
    }

    /// Ends a steal. The caller holds the deque's entry, and has stolen from the deque, or found it empty. Also returns
    /// whether the deque was resumable.
    pub(crate) fn settle(&self, stolen: bool) -> (Settle<T>, bool) {
        // No job is pushed to a waiting deque: once empty, it stays empty.
        self.control().settle(stolen, self.jobs.is_empty())
    }

    /// Steals the oldest job of a waiting deque.
    pub(crate) fn steal(&self) -> Option<NonNull<J>> {
        loop {
            match self.jobs.steal(|| true) {
                Steal::Job(job) => return Some(job),
                Steal::Empty => return None,
                // Another thief was faster. (All jobs of a waiting deque are shared.)
                Steal::Lost | Steal::Private => crate::sync::machine::hint::spin_loop(),
            }
        }
    }
}

#[cfg(all(test, loom))]
mod models;
