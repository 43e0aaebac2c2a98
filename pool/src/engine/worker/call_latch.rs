//! Latches that wake a worker, or the caller of a pool.

use super::Worker;
use crate::sync::latch::{Latch, LockLatch};

impl Worker {
    /// Sets a latch, and resumes its waiter, which is this worker, if it has blocked. `setter` is the calling worker, if the caller is
    /// one. A waiter of the same pool may take the setter's slot.
    ///
    /// # Safety
    ///
    /// `waiter` is a worker, and as for [`Latch::set`]: the caller keeps the registry of the worker until this returns.
    #[inline]
    pub(crate) unsafe fn set_latch(waiter: *const Self, latch: *const Latch, setter: Option<&Worker>) {
        // SAFETY: the caller's. Workers live as long as their registry.
        unsafe { Latch::set(latch, || (*waiter).registry().resume(&*waiter, setter)) };
    }
}

/// A latch for the caller of a pool: one of the pool's workers, a worker of another pool, or a thread that is no worker.
///
/// A worker of another pool waits as a worker, so that its own pool goes on: that pool can use the slot, the worker runs its broadcast
/// jobs, and it runs queued jobs if no other worker can.
#[derive(Debug)]
pub(crate) struct CallLatch {
    /// The caller; null if it is no worker.
    caller: *const Worker,
    /// The latch for a caller that is a worker.
    latch: Latch,
    /// The latch for a caller that is no worker.
    lock: Option<LockLatch>,
}

impl CallLatch {
    /// Makes a latch for the calling thread to wait for. `caller` is the calling thread's worker, if it is one.
    pub(crate) fn new(caller: Option<&Worker>) -> Self {
        let lock = caller.is_none().then(LockLatch::new);
        let caller = caller.map_or(std::ptr::null(), std::ptr::from_ref);
        CallLatch { caller, latch: Latch::new(), lock }
    }

    /// Returns the latch for a caller that is a worker.
    pub(crate) fn latch(&self) -> &Latch {
        &self.latch
    }

    /// Returns the latch for a caller that is no worker.
    pub(crate) fn lock(&self) -> &LockLatch {
        self.lock.as_ref().expect("the caller is no worker")
    }

    /// Sets the latch, and wakes the caller.
    ///
    /// # Safety
    ///
    /// `this` points to a latch that is not set; `setter` is the calling thread's worker, if it is one.
    pub(crate) unsafe fn set(this: *const Self, setter: Option<&Worker>) {
        // SAFETY: the latch is not set, so it is alive (invariant 1), and its caller too.
        unsafe {
            let caller = (*this).caller;
            let latch = &raw const (*this).latch;
            match caller.as_ref() {
                None => LockLatch::set(&raw const *(*this).lock()),
                Some(waiter) => match setter.filter(|setter| waiter.is_of(setter.registry())) {
                    Some(setter) => Worker::set_latch(caller, latch, Some(setter)),
                    None => {
                        // The caller's pool may end as soon as the latch is set.
                        let _kept = waiter.registry().this();
                        Worker::set_latch(caller, latch, None);
                    }
                },
            }
        }
    }
}
