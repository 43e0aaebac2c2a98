//! Latches: set once, waited for by one worker, or by one thread that is none.
//!
//! # Invariants
//!
//! 1. A thread that sees a latch set may free it at once (its frame returns). So [`Latch::set`] and `LockLatch::set` take a pointer,
//!    and touch the latch for the last time in the operation that sets it. It reads all values that it needs afterwards before that.
//! 2. The waiter is a worker that lives as long as its registry. The thread that sets the latch keeps that registry alive
//!    until `set` returns: it is one of the registry's workers, or holds a reference to the registry, taken before.

use crate::parker::Parker;
use crate::registry::Registry;
use crate::sync::atomic::{
    AtomicBool, AtomicUsize,
    Ordering::{AcqRel, Acquire, Relaxed, Release},
};
use crate::worker::Worker;
use std::sync::Arc;

const DONE: usize = 1;
/// The waiter has blocked, or is about to, and is to be resumed.
const WAITING: usize = 2;
/// From here on up: the number of the worker that runs the job, plus 1.
const THIEF_SHIFT: u32 = 2;

/// A latch that a worker waits for: set by another worker's job, or by the last job of a scope.
#[derive(Debug)]
pub(crate) struct Latch(AtomicUsize);

impl Latch {
    #[inline(always)]
    pub(crate) const fn new() -> Self {
        Latch(AtomicUsize::new(0))
    }

    /// Acquire pairs with the release in `set`: the result is there.
    #[inline]
    pub(crate) fn is_set(&self) -> bool {
        self.0.load(Acquire) & DONE != 0
    }

    /// Notes the number of the worker that runs this latch's job, so that the waiter can help that worker.
    pub(crate) fn started_by(&self, number: usize) {
        // Release: the waiter that reads the number finds that worker's deque empty but for what the job forks.
        self.0.fetch_or((number + 1) << THIEF_SHIFT, Release);
    }

    /// Number of the worker that runs this latch's job, if it is known and the job is not done.
    pub(crate) fn thief(&self) -> Option<usize> {
        let state = self.0.load(Acquire);
        if state & DONE != 0 { None } else { (state >> THIEF_SHIFT).checked_sub(1) }
    }

    /// Has the waiter resumed when the latch is set. False if it is set already.
    ///
    /// To be called under the registry's idle lock, which `set` takes to resume: so it finds the waiter blocked.
    pub(crate) fn will_wait(&self) -> bool {
        self.0.fetch_or(WAITING, AcqRel) & DONE == 0
    }

    /// Sets the latch, any number of times. Returns `true` if the waiter has blocked: then the caller has to
    /// [resume](Registry::resume) it. For latches that the caller keeps alive.
    pub(crate) fn signal(&self) -> bool {
        // Release publishes the caller's writes before this call. Acquire: the waiter blocked under the lock that `resume` takes.
        self.0.swap(DONE, AcqRel) & WAITING != 0
    }

    /// Unsets the latch. For the waiter of a latch that is [signaled](Self::signal).
    pub(crate) fn reset(&self) {
        // Acquire pairs with the release in `signal`: the waiter's next look sees the notifier's writes before its call.
        self.0.swap(0, AcqRel);
    }

    /// Sets the latch, and resumes the waiter if it has blocked. `setter` is the calling worker, if the caller is one. A waiter of the
    /// same pool may take the setter's slot.
    ///
    /// # Safety
    ///
    /// `this` points to a latch that is not set, and invariant 2 holds for `waiter`, a worker of `registry`.
    #[inline]
    pub(crate) unsafe fn set(
        this: *const Self,
        registry: &Registry,
        waiter: *const Worker,
        setter: Option<&Worker>,
    ) {
        // Release publishes the result. Acquire: the waiter blocked under the lock that `resume` takes.
        // SAFETY: the latch is not set, so it is there (invariant 1).
        let before = unsafe { (*this).0.swap(DONE, AcqRel) };
        if before & WAITING != 0 {
            // SAFETY: workers live as long as their registry (invariant 2).
            registry.resume(unsafe { &*waiter }, setter);
        }
    }
}

/// A latch for the thread that made it, which is no worker and blocks.
#[derive(Debug)]
pub(crate) struct LockLatch {
    is_set: AtomicBool,
    /// The thread's. Shared, so that whoever sets the latch can wake a thread that has already freed the latch.
    parker: Arc<Parker>,
}

thread_local! {
    static PARKER: Arc<Parker> = Arc::new(Parker::new());
}

impl LockLatch {
    /// A latch for the calling thread.
    fn new() -> Self {
        // A thread whose thread-locals have been destroyed gets a parker for this latch alone.
        let parker = PARKER.try_with(Arc::clone).unwrap_or_else(|_| Arc::new(Parker::new()));
        LockLatch { is_set: AtomicBool::new(false), parker }
    }

    /// Sets it. The waiter does not meet the setter at a lock: it needs only the flag, and the wake-up comes after that.
    ///
    /// # Safety
    ///
    /// `this` points to a latch that is not set.
    unsafe fn set(this: *const Self) {
        // SAFETY: the latch is not set, so it is there (invariant 1). The store is the last use of it.
        let parker = unsafe {
            let parker = Arc::clone(&(*this).parker);
            // Release pairs with the acquire in `is_set`: the result is there.
            (*this).is_set.store(true, Release);
            parker
        };
        parker.unpark();
    }

    fn is_set(&self) -> bool {
        // Acquire pairs with the release in `set`.
        self.is_set.load(Acquire)
    }

    /// Blocks until it is set.
    pub(crate) fn wait(&self) {
        // The token may be an older latch's, whose waiter saw the flag before it slept.
        while !self.is_set() {
            self.parker.park();
        }
    }

    /// As [`wait`](Self::wait), after looking for a while without blocking.
    pub(crate) fn wait_actively(&self, looks: u32) {
        for _ in 0..looks {
            if self.is_set() {
                return;
            }
            std::hint::spin_loop();
        }
        self.wait();
    }
}

/// A latch for whoever calls a pool: one of its workers, one of another pool, or a thread that is none.
///
/// A worker of another pool waits as a worker, so that its own pool goes on: its pool can use its slot, the worker runs its broadcasts,
/// and it runs queued jobs if no other worker can.
#[derive(Debug)]
pub(crate) struct CallLatch {
    /// Null if the caller is no worker.
    caller: *const Worker,
    latch: Latch,
    /// For a caller that is no worker.
    lock: Option<LockLatch>,
}

impl CallLatch {
    /// To be waited for by the calling thread, which is that worker, if any.
    pub(crate) fn new(caller: Option<&Worker>) -> Self {
        let lock = caller.is_none().then(LockLatch::new);
        let caller = caller.map_or(std::ptr::null(), std::ptr::from_ref);
        CallLatch { caller, latch: Latch::new(), lock }
    }

    /// The latch for a caller that is a worker.
    pub(crate) fn latch(&self) -> &Latch {
        &self.latch
    }

    /// Blocks the caller until it is set, if it is no worker.
    pub(crate) fn lock(&self) -> &LockLatch {
        self.lock.as_ref().expect("the caller is no worker")
    }

    /// Sets it.
    ///
    /// # Safety
    ///
    /// `this` points to a latch that is not set; `setter` is the calling thread's worker, if it is one.
    pub(crate) unsafe fn set(this: *const Self, setter: Option<&Worker>) {
        // SAFETY: the latch is not set, so it is there (invariant 1), and its caller with it.
        unsafe {
            let caller = (*this).caller;
            let latch = &raw const (*this).latch;
            match caller.as_ref() {
                None => LockLatch::set(&raw const *(*this).lock()),
                Some(waiter) => match setter.filter(|setter| waiter.is_of(setter.registry())) {
                    Some(setter) => Latch::set(latch, setter.registry(), caller, Some(setter)),
                    // Once it is set the caller's pool may end.
                    None => Latch::set(latch, &waiter.registry().this(), caller, None),
                },
            }
        }
    }
}

/// A latch that is set when as many have arrived as were announced.
#[derive(Debug)]
pub(crate) struct Count(AtomicUsize);

impl Count {
    pub(crate) const fn new(count: usize) -> Self {
        Count(AtomicUsize::new(count))
    }

    /// Announces one more. The caller is itself counted, so the count is not 0; Relaxed, as for `Arc`.
    pub(crate) fn announce(&self) {
        self.announce_many(1);
    }

    /// Announces so many more.
    pub(crate) fn announce_many(&self, more: usize) {
        self.0.fetch_add(more, Relaxed);
    }

    /// Announces one more, unless all have arrived.
    pub(crate) fn try_announce(&self) -> bool {
        // Relaxed, as above: who looks has another way to know that the count is there.
        self.0.fetch_update(Relaxed, Relaxed, |count| (count > 0).then(|| count + 1)).is_ok()
    }

    /// True for the last one. Release: what every one did is there for whoever learns of the last (acquire).
    pub(crate) fn arrive(&self) -> bool {
        self.arrive_many(1)
    }

    /// So many arrive together: true if they are the last ones.
    pub(crate) fn arrive_many(&self, counts: usize) -> bool {
        self.0.fetch_sub(counts, AcqRel) == counts
    }

    pub(crate) fn get(&self) -> usize {
        self.0.load(Acquire)
    }
}
