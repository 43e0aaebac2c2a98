//! The main loop of a pool's thread as a future, for a [main handler](crate::ThreadPoolBuilder::main_handler).
//!
//! A reactor's `block_on` polls its future, and waits for I/O and timers while the future is pending. If a thread's main loop is that future, the thread
//! runs jobs inside the poll, and waits for I/O while it rests. It then sees itself which waits are over, and runs the woken tasks itself. Without that,
//! each wake-up goes from the reactor's thread to a worker.
//!
//! # Invariants
//!
//! 1. *One driver.* The main loop is pending only while its worker is parked and is the pool's *driver*; there is at most one. The final check comes
//!    first, as before any other sleep. So for the protocol of sleep, the driver is a parked worker whose parker has a waker. Other workers sleep as they would
//!    without a handler.
//! 2. *Wake-ups.* Work that a thread outside the workers publishes wakes the driver, if there is one: usually the driver itself has seen that a wait is over. Work that a
//!    worker publishes is its own first: the driver is woken after all other parked workers, and the timed searcher not at all.
//! 3. *Stand-by.* When the driver is woken, a timed searcher is there, or another worker is woken to become it. It leaves queued tasks to a driver that
//!    keeps up: one that has driven between two of its looks. After [some looks](super::sleep) without a drive in between, the timed searcher
//!    drives, and the former driver becomes the timed searcher. If all threads of the pool are busy, the reactor is left alone.
//! 4. *No worker outside a poll.* While the loop is pending, its thread is no worker: the handler may call other code, which finds a thread outside every
//!    pool. The same holds for the waker's code, on every thread. When the loop is dropped, or the worker sleeps without it, another parked
//!    worker becomes the driver.

use super::Registry;
use crate::engine::worker::{Current, Worker};
use crate::quiet_drop::drop_quietly;
use crate::sync::machine::atomic::Ordering::Relaxed;
use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll};

/// The main loop of one of a pool's threads. The future runs the pool's jobs when it is polled, and is ready when the pool ends.
///
/// See [`ThreadPoolBuilder::main_handler`](crate::ThreadPoolBuilder::main_handler).
#[must_use = "the thread runs jobs when the loop is polled"]
pub struct MainLoop<'a> {
    registry: &'a Registry,
    /// A worker's handle stays on its thread, and so does the loop.
    worker: &'a Worker,
}

impl<'a> MainLoop<'a> {
    pub(super) fn new(registry: &'a Registry, worker: &'a Worker) -> Self {
        MainLoop { registry, worker }
    }
}

impl Registry {
    /// Has a driver whose loop is gone be woken no more until it sleeps again. If it was given a slot meanwhile, gives the slot back. Returns `false` if it
    /// was given the slot for a turn: then it is as before.
    fn stop_serving(&self, worker: &Worker) -> bool {
        let mut slots = self.lock();
        if !slots.begin_active(worker) {
            if !self.holds_slot(worker) || worker.watches.load(Relaxed) {
                return false;
            }
            // A worker that was given a slot counts as searching. The final check follows.
            let _ = self.slots.searching.end(worker.number());
            slots.release(worker);
        }
        slots.replace_driver();
        drop(slots);
        self.final_check(worker);
        true
    }
}

impl Future for MainLoop<'_> {
    type Output = ();

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        // Wakers are cloned and dropped outside the pool, too (invariant 4).
        drop(self.worker.parker.take_back());
        let mut waker = Some(context.waker().clone()).filter(|_| !self.registry.is_attendant(self.worker));
        // SAFETY: made by the thread that is this worker, which outlives the borrow.
        let current = unsafe { Current::enter(self.worker) };
        let polled = self.registry.serve(self.worker, &mut waker);
        drop(current);
        polled
    }
}

impl Drop for MainLoop<'_> {
    /// Gives the driver's role back: the handler may go on for long.
    fn drop(&mut self) {
        drop_quietly(self.worker.parker.take_back());
        if self.worker.drives.get() {
            self.worker.drives.set(!self.registry.stop_serving(self.worker));
        }
    }
}

impl fmt::Debug for MainLoop<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MainLoop").field("number", &self.worker.number()).finish_non_exhaustive()
    }
}
