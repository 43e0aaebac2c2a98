//! Deques of spawned jobs, and how they change hands: ProWS-R (Section 3.1).
//!
//! Every worker has one deque for jobs and tasks that are [spawned](crate::Worker), its *active* one. Suppose a task
//! that the worker runs is pending, and the worker's deque is not empty. Then the deque is *suspended* together with
//! the task, as if the task lay at its bottom. The worker takes an empty deque and looks for work. Meanwhile other
//! workers steal from the suspended deque's top. When the task is woken, the deque is *resumable*. After the next steal
//! it is *muggable*: the worker that finds it next takes all of it, and goes on with the task, as the worker would have
//! done that has suspended it. (Steal before mug: the first worker to come takes the oldest job, which is likely to be
//! the largest.)
//!
//! An empty deque is not suspended: its task alone is put into a set when it is woken. So a million waiting tasks need
//! no deques but those of the workers.
//!
//! A waiting deque has one entry in the [stealable sets](crate::engine::queues::stealable). See [`control`](crate::deque::control) for the states, and for the
//! rules that keep two threads from taking the same deque. Deques are never freed while the pool exists: a thief may
//! look into a deque that has changed hands meanwhile, and then steals a job from it all the same. Unused deques are
//! used again.

pub(crate) use crate::deque::control::{FirstAction, Orphan, ResumeAction, Settle};
use crate::deque::spawn_deque;

use crate::engine::job::{Header, JobRef};
use crate::sync::machine::{Mutex, MutexGuard};
use std::ptr::NonNull;

/// A deque of spawned jobs.
pub(crate) type SpawnDeque<W> = spawn_deque::SpawnDeque<Header<W>, JobRef<W>>;

/// A reference to a deque. The deque stays as long as the registry does.
#[derive(Debug)]
pub(crate) struct DequeRef<W>(NonNull<SpawnDeque<W>>);

impl<W> Clone for DequeRef<W> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<W> Copy for DequeRef<W> {}

// SAFETY: the deque is `Sync`.
unsafe impl<W> Send for DequeRef<W> {}

impl<W> DequeRef<W> {
    /// # Safety
    ///
    /// The registry of this deque stays as long as the returned reference is used.
    pub(crate) unsafe fn get<'a>(self) -> &'a SpawnDeque<W> {
        // SAFETY: by the caller's promise: `Deques` keeps the deque.
        unsafe { self.0.as_ref() }
    }

    pub(crate) fn as_ptr(self) -> *mut SpawnDeque<W> {
        self.0.as_ptr()
    }

    /// # Safety
    ///
    /// `deque` comes from [`as_ptr`](Self::as_ptr).
    pub(crate) unsafe fn from_ptr(deque: *mut SpawnDeque<W>) -> Self {
        // SAFETY: by the caller's promise: the pointer is not null.
        DequeRef(unsafe { NonNull::new_unchecked(deque) })
    }
}

/// Number of jobs for which a new deque has room before it grows. Few, since there may be as many deques as waiting
/// tasks.
const ROOM: usize = 16;

/// All deques of a pool, and the unused ones among them.
pub(crate) struct Deques<W> {
    /// Whether heavy fences are missing, so that every job is shared at once.
    always_shared: bool,
    all: Mutex<All<W>>,
}

struct All<W> {
    #[expect(clippy::vec_box, reason = "they must not move")]
    deques: Vec<Box<SpawnDeque<W>>>,
    free: Vec<DequeRef<W>>,
    stats: DequeStats,
}

impl<W> Deques<W> {
    pub(crate) fn new(always_shared: bool) -> Self {
        let all = All { deques: Vec::new(), free: Vec::new(), stats: DequeStats::default() };
        Deques { always_shared, all: Mutex::new(all) }
    }

    fn lock(&self) -> MutexGuard<'_, All<W>> {
        self.all.lock().expect("nobody panics with this lock")
    }

    /// Returns an empty deque, which becomes the active one of a worker.
    pub(crate) fn take(&self) -> DequeRef<W> {
        let mut all = self.lock();
        all.stats.made += 1;
        all.stats.peak = all.stats.peak.max(all.stats.live());
        let free = all.free.pop().unwrap_or_else(|| {
            let deque = Box::new(SpawnDeque::new(ROOM, self.always_shared));
            let free = DequeRef(NonNull::from(&*deque));
            all.deques.push(deque);
            free
        });
        // SAFETY: the deque comes from here.
        unsafe { free.get() }.activate();
        free
    }

    /// Takes back an active deque, which is empty.
    pub(crate) fn retire(&self, deque: DequeRef<W>) {
        // SAFETY: the deque comes from here.
        unsafe { deque.get() }.retire();
        self.free(deque);
    }

    /// Keeps a deque that is free by its state.
    pub(crate) fn free(&self, deque: DequeRef<W>) {
        // SAFETY: the deque comes from here.
        debug_assert!(unsafe { deque.get() }.jobs().is_empty());
        let mut all = self.lock();
        all.stats.freed += 1;
        all.free.push(deque);
    }

    pub(crate) fn stats(&self) -> DequeStats {
        self.lock().stats
    }
}

/// Counts of a pool's [deques of spawned jobs](crate::Suspension).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct DequeStats {
    /// Deques taken in use: one for every thread that takes part, and one whenever a worker's deque is suspended.
    pub made: u64,
    /// Deques given back, empty.
    pub freed: u64,
    /// The most deques in use at once.
    pub peak: u64,
}

impl DequeStats {
    /// Returns the number of deques in use: the workers' own, and the waiting ones.
    #[must_use]
    pub fn live(&self) -> u64 {
        self.made - self.freed
    }
}
