//! One deque of spawned jobs: the jobs, and [whose it is](super::control).

use super::control::{Control, Open, Orphan, Resume, Settle};
use crate::deque::{Deque, Steal};
use crate::sync::atomic::{AtomicU64, Ordering::Relaxed};
use crate::sync::{Mutex, MutexGuard};
use std::ptr::NonNull;

/// A deque of spawned jobs.
pub(crate) struct SpawnDeque<J, T> {
    jobs: Deque<J>,
    control: Mutex<Control<T>>,
    /// The number of the scope that its task belongs to, while it waits.
    scope: AtomicU64,
}

impl<J, T: Copy> SpawnDeque<J, T> {
    /// An empty one, that is nobody's, with room for so many jobs before it grows.
    pub(super) fn new(room: usize, always_shared: bool) -> Self {
        SpawnDeque {
            jobs: Deque::new(room, always_shared),
            control: Mutex::new(Control::free()),
            scope: AtomicU64::new(0),
        }
    }

    /// Its jobs.
    pub(crate) fn jobs(&self) -> &Deque<J> {
        &self.jobs
    }

    /// A hint, to those that have not the entry in their hand.
    pub(crate) fn scope(&self) -> u64 {
        // Relaxed: written before the deque was put where it is found, which is behind a lock.
        self.scope.load(Relaxed)
    }

    fn control(&self) -> MutexGuard<'_, Control<T>> {
        self.control.lock().expect("nobody panics with this lock")
    }

    /// It becomes a worker's own.
    pub(super) fn activate(&self) {
        self.control().activate();
    }

    /// It is empty, and no worker's any more.
    pub(super) fn retire(&self) {
        self.control().retire();
    }

    /// Its task, of that scope, waits. The caller, whose it is, puts an entry in a set.
    ///
    /// # Safety
    ///
    /// The deque is the active one of the calling worker, which takes another one before the task can be woken, and uses the
    /// owner's side no more.
    pub(crate) unsafe fn suspend(&self, scope: u64) {
        // SAFETY: the caller's. What is shared is stolen without an owner's help.
        unsafe { self.jobs.share_all() };
        self.scope.store(scope, Relaxed);
        self.control().suspend();
    }

    /// Its task was woken.
    pub(crate) fn resume(&self, task: T) -> Resume {
        self.control().resume(task)
    }

    /// Its task, which waited, is no more.
    pub(crate) fn orphan(&self) -> Orphan {
        self.control().orphan()
    }

    /// The caller has its entry.
    pub(crate) fn open(&self) -> Open<T> {
        self.control().open()
    }

    /// As `open`, for who has a deque that is not empty.
    pub(crate) fn open_beside(&self) -> Option<T> {
        self.control().open_beside()
    }

    /// The caller has its entry, and has stolen from it, or found nothing. Also says whether that was from a resumable deque.
    pub(crate) fn settle(&self, stolen: bool) -> (Settle<T>, bool) {
        // Nothing is pushed to it any more: once empty it stays so.
        self.control().settle(stolen, self.jobs.is_empty())
    }

    /// Steals the oldest job of one that waits.
    pub(crate) fn steal(&self) -> Option<NonNull<J>> {
        loop {
            match self.jobs.steal(|| true) {
                Steal::Job(job) => return Some(job),
                Steal::Empty => return None,
                // Somebody else has got one meanwhile; and all that is in a deque that waits is shared.
                Steal::Lost | Steal::Private => std::hint::spin_loop(),
            }
        }
    }
}

#[cfg(all(test, loom))]
mod models;
