//! Deques of what was spawned, and how they change hands: ProWS-R.
//!
//! Every worker has one deque for jobs and tasks that are [spawned](crate::Worker), its *active* one. When a task is pending that
//! it has taken from there, or from elsewhere, and there is something else in its deque, the deque is *suspended*: it waits
//! with the task, which lies at its bottom, so to speak; the worker takes an empty one and looks for work. Meanwhile others
//! steal from its top. When the task is woken the deque is *resumable*; after the next steal it is *muggable*: whoever finds it
//! takes all of it, and goes on with the task, as the worker would have done that has suspended it. (Steal before mug: who
//! is the first to come takes the oldest job, which is likely to be the largest.)
//!
//! A deque in which there is nothing else is not suspended at all: its task alone is put into a set when it is woken. So a
//! million tasks that wait need no deque but those of the workers.
//!
//! Deques that wait are in the [stealable sets](crate::stealable), by one entry each; see [`control`] for the states and
//! for what keeps two threads from doing the same. Deques are never freed while there is a pool: a thief may look into one
//! that is no longer whose it was, and then steals a job all the same. Those that nobody uses are used again.

mod control;
mod spawn_deque;

pub(crate) use control::{Open, Orphan, Resume, Settle};

use crate::job::{Header, JobRef};
use std::ptr::NonNull;
use std::sync::{Mutex, MutexGuard};

/// A deque of spawned jobs.
pub(crate) type SpawnDeque = spawn_deque::SpawnDeque<Header, JobRef>;

/// A deque, as its pool's parts know it. It stays as long as the registry does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DequeRef(NonNull<SpawnDeque>);

// SAFETY: what it points to is `Sync`.
unsafe impl Send for DequeRef {}

impl DequeRef {
    /// # Safety
    ///
    /// The registry that it comes from is there as long as what is returned is used.
    pub(crate) unsafe fn get<'a>(self) -> &'a SpawnDeque {
        // SAFETY: the caller's: `Deques` keeps it.
        unsafe { self.0.as_ref() }
    }

    pub(crate) fn as_ptr(self) -> *mut SpawnDeque {
        self.0.as_ptr()
    }

    /// # Safety
    ///
    /// `deque` comes from [`as_ptr`](Self::as_ptr).
    pub(crate) unsafe fn from_ptr(deque: *mut SpawnDeque) -> Self {
        // SAFETY: the caller's: it is not null.
        DequeRef(unsafe { NonNull::new_unchecked(deque) })
    }
}

/// How many jobs a deque has room for before it grows. Few: there may be as many deques as tasks that wait.
const ROOM: usize = 16;

/// All deques of a pool, and those among them that nobody uses.
pub(crate) struct Deques {
    /// Ordinary fences only: every job is shared at once.
    always_shared: bool,
    all: Mutex<All>,
}

#[derive(Default)]
struct All {
    #[expect(clippy::vec_box, reason = "they must not move")]
    deques: Vec<Box<SpawnDeque>>,
    free: Vec<DequeRef>,
    stats: DequeStats,
}

impl Deques {
    pub(crate) fn new(always_shared: bool) -> Self {
        Deques { always_shared, all: Mutex::default() }
    }

    fn lock(&self) -> MutexGuard<'_, All> {
        self.all.lock().expect("nobody panics with this lock")
    }

    /// An empty one, for a worker whose active one it becomes.
    pub(crate) fn take(&self) -> DequeRef {
        let mut all = self.lock();
        all.stats.made += 1;
        all.stats.peak = all.stats.peak.max(all.stats.live());
        let free = all.free.pop().unwrap_or_else(|| {
            let deque = Box::new(SpawnDeque::new(ROOM, self.always_shared));
            let free = DequeRef(NonNull::from(&*deque));
            all.deques.push(deque);
            free
        });
        // SAFETY: this is where it comes from.
        unsafe { free.get() }.activate();
        free
    }

    /// Gives an active one back, which is empty.
    pub(crate) fn retire(&self, deque: DequeRef) {
        // SAFETY: it comes from here.
        unsafe { deque.get() }.retire();
        self.free(deque);
    }

    /// Keeps one that its state says is free.
    pub(crate) fn free(&self, deque: DequeRef) {
        // SAFETY: it comes from here.
        debug_assert!(unsafe { deque.get() }.jobs().is_empty());
        let mut all = self.lock();
        all.stats.freed += 1;
        all.free.push(deque);
    }

    pub(crate) fn stats(&self) -> DequeStats {
        self.lock().stats
    }
}

/// What has become of a pool's [deques of spawned jobs](crate::Suspension).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct DequeStats {
    /// Taken in use: one for every thread that takes part, and one whenever a worker's is suspended.
    pub made: u64,
    /// Given back, empty.
    pub freed: u64,
    /// The most that were in use at once.
    pub peak: u64,
}

impl DequeStats {
    /// How many are in use: the workers' own, and those that wait.
    #[must_use]
    pub fn live(&self) -> u64 {
        self.made - self.freed
    }
}
