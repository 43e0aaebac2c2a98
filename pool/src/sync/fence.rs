//! Asymmetric fences: free for the side that runs often, expensive for the side that runs seldom.
//!
//! Two threads that each store to one location and then load the other's (Dekker's pattern) need a full fence between
//! store and load on both sides. Otherwise both may miss the other's store. A worker does this at every fork and at
//! every pop. A thief does it only when it must steal another worker's private jobs, or goes to sleep. So the worker's
//! fence is a [`light`] one, which restrains the compiler alone, and the thief's is a [`heavy`] one: `membarrier(2)`
//! makes every running thread of the process pass a full fence before the call returns. (A thread that is not running
//! has passed one when it was switched out.)
//!
//! # Invariant
//!
//! For each [`heavy`] fence H and each thread T there is a point in T's program order such that everything before the
//! point happens before everything after H, and everything before H happens before everything after the point. If the
//! system call is missing ([`asymmetric`] is false), no code relies on a light fence: see the deque's *always-shared* mode.
//!
//! Miri does not know the call, and so tests the always-shared mode.
//!
//! # Under loom
//!
//! Both fences are read-modify-writes of one location. Loom orders these, one happening before the other, so the point
//! lies between two light fences. That is exactly the invariant. Loom's own fences would be too strong for a light one,
//! since they turn the relaxed stores after them into releases.

use std::sync::atomic::Ordering::SeqCst;
#[cfg(not(loom))]
use std::sync::atomic::compiler_fence;

#[cfg(loom)]
loom::lazy_static! {
    static ref FENCES: loom::sync::atomic::AtomicUsize = loom::sync::atomic::AtomicUsize::new(0);
}

/// The fence of the side that runs often.
#[inline(always)]
pub(crate) fn light() {
    #[cfg(not(loom))]
    compiler_fence(SeqCst);
    #[cfg(loom)]
    FENCES.fetch_add(1, std::sync::atomic::Ordering::AcqRel);
}

/// Makes loom try the code after this call before, between and after the other threads' light fences. Orders no memory.
///
/// Loom goes back to the last access of a location that conflicts with the next one, not to the last access of every
/// thread. If a thread has loaded a location itself, loom does not try the thread's store before an older load of
/// another thread.
#[cfg(all(test, loom))]
pub(crate) fn turn() {
    FENCES.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
}

/// A full fence of the calling thread alone.
#[inline]
pub(crate) fn full() {
    crate::sync::atomic::fence(SeqCst);
}

/// The fence of the side that runs seldom. Pairs with [`light`] fences where [`asymmetric`] holds, and is a [`full`]
/// one everywhere.
///
/// Cost: a system call that interrupts every core on which a thread of this process runs. It takes some 0.2 us if that
/// is only the caller's core, and a few us if others must be interrupted.
#[cold]
#[cfg_attr(furcate_sim, track_caller)]
pub(crate) fn heavy() {
    #[cfg(furcate_sim)]
    if furcate_sim::is_simulated() {
        return crate::sync::atomic::heavy_fence();
    }
    full();
    #[cfg(loom)]
    light();
    #[cfg(all(target_os = "linux", not(any(loom, miri))))]
    if asymmetric() {
        membarrier::private_expedited();
    }
}

/// Whether [`heavy`] fences pair with [`light`] ones on this system.
#[cfg(all(target_os = "linux", not(any(loom, miri))))]
pub(crate) fn asymmetric() -> bool {
    static REGISTERED: std::sync::LazyLock<bool> = std::sync::LazyLock::new(membarrier::register);
    *REGISTERED
}

/// Whether [`heavy`] fences pair with [`light`] ones on this system.
#[cfg(not(all(target_os = "linux", not(any(loom, miri)))))]
pub(crate) const fn asymmetric() -> bool {
    cfg!(loom)
}

#[cfg(all(target_os = "linux", not(any(loom, miri))))]
mod membarrier {
    use libc::{SYS_membarrier, c_int, syscall};

    const PRIVATE_EXPEDITED: c_int = 1 << 3;
    const REGISTER_PRIVATE_EXPEDITED: c_int = 1 << 4;

    fn membarrier(command: c_int) -> bool {
        const NO_FLAGS: c_int = 0;
        const ANY_CPU: c_int = 0;
        // SAFETY: the call takes no pointers and changes nothing but how this process's threads are interrupted.
        unsafe { syscall(SYS_membarrier, command, NO_FLAGS, ANY_CPU) == 0 }
    }

    /// Registers the process's intent. Returns false if the kernel does not know the call, or forbids it.
    pub(super) fn register() -> bool {
        membarrier(REGISTER_PRIVATE_EXPEDITED)
    }

    pub(super) fn private_expedited() {
        // The kernel may run out of memory for its bookkeeping, and then fails this one call only.
        while !membarrier(PRIVATE_EXPEDITED) {
            std::thread::yield_now();
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn heavy_returns_while_others_run() {
        let stop = std::sync::atomic::AtomicBool::new(false);
        std::thread::scope(|threads| {
            threads.spawn(|| {
                while !stop.load(SeqCst) {
                    light();
                }
            });
            (0..100).for_each(|_| heavy());
            stop.store(true, SeqCst);
        });
    }
}
