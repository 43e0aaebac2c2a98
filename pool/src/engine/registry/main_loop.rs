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
//! 2. *Its own wake-ups.* A task that is woken on the driver's thread gives the driver a slot, and wakes no other worker for itself. For work that other threads
//!    publish, the driver is woken after all other parked workers.
//! 3. *Stand-by.* When the driver has got a slot in that way, a timed searcher is there, or a worker is woken to become it. It leaves queued tasks to a driver that
//!    keeps up: one that has driven between two of its looks. After [some looks](super::sleep) without a drive in between, the timed searcher
//!    drives, and the former driver becomes the timed searcher. While all threads of the pool are busy, nobody drives.
//! 4. *No worker outside a poll.* While the loop is pending, its thread is no worker: the handler may call other code, which finds a thread outside every
//!    pool. The same holds for the waker's code, on every thread. The thread alone knows that it drives ([`DRIVES`]).

use super::Registry;
use crate::engine::worker::{Current, Worker};
use std::cell::Cell;
use std::fmt;
use std::pin::Pin;
use std::ptr;
use std::task::{Context, Poll};

crate::sync::machine::thread_local! {
    /// The registry whose driver this thread is, and its worker's number. The pointer is only compared.
    static DRIVES: Cell<(*const Registry, usize)> = const { Cell::new((ptr::null(), 0)) };
}

impl Registry {
    /// Whether the calling thread has driven since the last call.
    pub(super) fn has_driven(&self) -> bool {
        let has_driven = ptr::eq(DRIVES.get().0, self);
        if has_driven {
            DRIVES.set((ptr::null(), 0));
        }
        has_driven
    }

    /// Returns the worker that the calling thread is while it drives.
    pub(super) fn driver_here(&self) -> Option<&Worker> {
        let (registry, number) = DRIVES.get();
        if ptr::eq(registry, self) { self.worker(number) } else { None }
    }
}

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
        if polled.is_pending() {
            DRIVES.set((self.registry, self.worker.number()));
        }
        polled
    }
}

impl fmt::Debug for MainLoop<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MainLoop").field("number", &self.worker.number()).finish_non_exhaustive()
    }
}
