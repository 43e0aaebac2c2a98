//! Latches: each is set once, and waited for by one worker, or by one thread that is no worker.
//!
//! # Invariants
//!
//! 1. A thread that sees a latch set may free it at once (its frame returns). So [`Latch::set`] and [`LockLatch::set`] take a pointer,
//!    and touch the latch for the last time in the operation that sets it. It reads all values that it needs afterwards before that.
//! 2. The waiter is a worker that lives as long as its registry. The thread that sets the latch keeps that registry alive
//!    until `set` returns: it is one of the registry's workers, or holds a reference to the registry, taken before.

use crate::sync::atomic::{
    AtomicBool, AtomicUsize,
    Ordering::{AcqRel, Acquire, Relaxed, Release},
};
use crate::sync::parker::Parker;
use std::sync::Arc;

#[cfg(all(test, loom))]
mod models;

/// The latch is set.
const DONE: usize = 1;
/// The waiter has blocked, or is about to block, and has to be resumed.
const WAITING: usize = 2;
/// The bits from this one upwards are the number of the worker that runs the job, plus 1; 0 if the number is not known.
const THIEF_SHIFT: u32 = 2;

/// A latch that a worker waits for: set by another worker's job, or by the last job of a scope.
#[derive(Debug)]
pub(crate) struct Latch(AtomicUsize);

impl Latch {
    #[inline(always)]
    pub(crate) fn new() -> Self {
        Latch(AtomicUsize::new(0))
    }

    /// Whether the latch is set. Acquire pairs with the release in `set`: the caller sees the result.
    #[inline]
    pub(crate) fn is_set(&self) -> bool {
        self.0.load(Acquire) & DONE != 0
    }

    /// Notes the number of the worker that runs this latch's job, so that the waiter can help that worker.
    pub(crate) fn started_by(&self, number: usize) {
        // Release: the waiter that reads the number finds in that worker's deque only forks of this job.
        self.0.fetch_or((number + 1) << THIEF_SHIFT, Release);
    }

    /// Returns the number of the worker that runs this latch's job, if the number is known and the job is not done.
    pub(crate) fn thief(&self) -> Option<usize> {
        let state = self.0.load(Acquire);
        if state & DONE != 0 { None } else { (state >> THIEF_SHIFT).checked_sub(1) }
    }

    /// Notes that the waiter has to be resumed when the latch is set. Returns `false` if the latch is set already.
    ///
    /// Called under the slot lock, which `set` takes to resume the waiter: so `set` finds the waiter blocked.
    pub(crate) fn will_wait(&self) -> bool {
        self.0.fetch_or(WAITING, AcqRel) & DONE == 0
    }

    /// Sets the latch, which may be set already. Returns `true` if the waiter has blocked: then the caller has to
    /// resume the waiter. For latches that the caller keeps alive.
    pub(crate) fn signal(&self) -> bool {
        // Release publishes the caller's writes before this call. Acquire: the waiter blocked under the lock that `resume` takes.
        self.0.swap(DONE, AcqRel) & WAITING != 0
    }

    /// Unsets the latch. For the waiter of a latch that is [signaled](Self::signal).
    pub(crate) fn reset(&self) {
        // Acquire pairs with the release in `signal`: the waiter sees what the caller of `signal` has written before.
        self.0.swap(0, AcqRel);
    }

    /// Sets the latch, and calls `resume` if the waiter has blocked.
    ///
    /// # Safety
    ///
    /// `this` points to a latch that is not set, and invariant 2 holds for the waiter that `resume` resumes.
    #[inline]
    pub(crate) unsafe fn set(this: *const Self, resume: impl FnOnce()) {
        // Release publishes the result. Acquire: the waiter blocked under the lock that `resume` takes.
        // SAFETY: the latch is not set, so it is alive (invariant 1).
        let before = unsafe { (*this).0.swap(DONE, AcqRel) };
        if before & WAITING != 0 {
            resume();
        }
    }
}

/// A latch for the thread that has made it. That thread is no worker, and blocks until the latch is set.
#[derive(Debug)]
pub(crate) struct LockLatch {
    is_set: AtomicBool,
    /// The waiting thread's parker. Shared, so that the setter can wake a thread that has already freed the latch.
    parker: Arc<Parker>,
}

#[cfg(not(loom))]
crate::sync::machine::thread_local! {
    static PARKER: Arc<Parker> = Arc::new(Parker::new());
}

impl LockLatch {
    /// Makes a latch for the calling thread.
    pub(crate) fn new() -> Self {
        // A thread whose thread-locals have been destroyed gets a parker for this latch alone.
        #[cfg(not(loom))]
        let parker = PARKER.try_with(Arc::clone).unwrap_or_else(|_| Arc::new(Parker::new()));
        // A parker of loom lives for one execution of a model.
        #[cfg(loom)]
        let parker = Arc::new(Parker::new());
        LockLatch { is_set: AtomicBool::new(false), parker }
    }

    /// Sets the latch. The waiter takes no lock of the setter: it needs only the flag, which is set before the wake-up.
    ///
    /// # Safety
    ///
    /// `this` points to a latch that is not set.
    pub(crate) unsafe fn set(this: *const Self) {
        // SAFETY: the latch is not set, so it is alive (invariant 1). The store is its last use.
        let parker = unsafe {
            let parker = Arc::clone(&(*this).parker);
            // Release pairs with the acquire in `is_set`: the waiter sees the result.
            (*this).is_set.store(true, Release);
            parker
        };
        // Its thread leaves no waker.
        _ = parker.unpark();
    }

    fn is_set(&self) -> bool {
        // Acquire pairs with the release in `set`.
        self.is_set.load(Acquire)
    }

    /// Blocks until the latch is set.
    pub(crate) fn wait(&self) {
        // The token may come from an older latch of this thread, if the thread saw that latch's flag before it slept.
        while !self.is_set() {
            self.parker.park();
        }
    }

    /// Spins for `looks` rounds, and then does the same as [`wait`](Self::wait).
    pub(crate) fn wait_actively(&self, looks: u32) {
        for _ in 0..looks {
            if self.is_set() {
                return;
            }
            crate::sync::machine::hint::spin_loop();
        }
        self.wait();
    }
}

/// A count of jobs that have been announced and have not arrived. The last one to arrive learns that it is the last.
#[derive(Debug)]
pub(crate) struct JobCount(AtomicUsize);

impl JobCount {
    pub(crate) fn new(count: usize) -> Self {
        JobCount(AtomicUsize::new(count))
    }

    /// Announces one more. The caller is itself counted, so the count is not 0. Relaxed, as for `Arc`.
    pub(crate) fn announce(&self) {
        self.announce_many(1);
    }

    /// Announces `more` at once.
    pub(crate) fn announce_many(&self, more: usize) {
        self.0.fetch_add(more, Relaxed);
    }

    /// Announces one more, unless all have arrived. Returns whether it has done so.
    pub(crate) fn try_announce(&self) -> bool {
        // Relaxed, as above: the caller has another reason to know that the count is alive.
        self.0.fetch_update(Relaxed, Relaxed, |count| (count > 0).then(|| count + 1)).is_ok()
    }

    /// Arrives. Returns `true` for the last one. AcqRel: the last one sees the writes of all others before their arrival.
    pub(crate) fn arrive(&self) -> bool {
        self.arrive_many(1)
    }

    /// Arrives for `counts` at once. Returns `true` if they are the last ones.
    pub(crate) fn arrive_many(&self, counts: usize) -> bool {
        self.0.fetch_sub(counts, AcqRel) == counts
    }

    /// Returns the number of those that have not arrived.
    pub(crate) fn get(&self) -> usize {
        self.0.load(Acquire)
    }
}
