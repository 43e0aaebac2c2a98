//! Waiting for a future in the thread that needs its output.
//!
//! # Invariants
//!
//! 1. *Polled in place.* Only the calling thread polls the future, which lies in that thread's frame. So the future need not be `Send`.
//!    After a wake the thread needs nothing from the pool but a slot.
//! 2. *Own wakers.* A waker holds no reference to the frame: it may be kept, and called, after `block_on` has returned. A stale
//!    waker at most makes its worker poll once more.

use crate::engine::registry::Registry;
use crate::engine::settings::runtime;
use crate::engine::worker::Worker;
use crate::sync::latch::Latch;
use crate::sync::parker;
use std::pin::{Pin, pin};
use std::sync::{Arc, Weak};
use std::task::{Context, Poll, Wake, Waker};

/// Runs a future to its end, and returns its output.
///
/// The calling thread polls the future itself. So the future may borrow, and need not be `Send`.
///
/// In a job of a pool, the caller runs no other job while the future is pending. It gives its slot to another thread
/// ([`WaitRule`](crate::WaitRule)), so that no core idles. When the future is woken, the caller takes a free slot, or the next one
/// that becomes free. After a millisecond the caller is overdue: busy workers give it a slot at their next fork. If all slot holders
/// block on a lock that the caller holds, it takes over the slot of one of them after some 20 ms, which is
/// [counted](crate::WorkerStats::slots_taken_over).
///
/// A thread that is no pool's worker blocks.
///
/// Cost: an allocation. In a job of a pool, also a thread that stands in for the caller while it waits, see
/// [`max_blocking_threads`](crate::ThreadPoolBuilder::max_blocking_threads). If no further thread may stand in, the caller keeps its
/// slot, but for the time that one thread needs to poll spawned futures. To wait for many futures at once, use
/// [`join_async`](crate::ScopeHandle::join_async), or `io_await` in an iterator: these need no thread for each future.
///
/// # Panics
///
/// If the future does.
///
/// ```
/// let name = String::from("furcate");
/// let len = furcate::block_on(async {
///     futures_lite::future::yield_now().await;
///     name.len()
/// });
/// assert_eq!(len, 7);
/// ```
pub fn block_on<F: Future>(future: F) -> F::Output {
    let future = pin!(future);
    runtime::explaining(|| {
        Worker::with_current(|current| match current {
            Some(worker) => on_worker(worker, future),
            None => {
                // Futures may use the runtime that the global pool was built with.
                let _entered = crate::engine::global::get().map(Registry::enter_runtime);
                parker::block_on(future)
            }
        })
    })
}

/// The waker of a worker that waits in `block_on`.
struct WakeWorker {
    latch: Latch,
    registry: Weak<Registry>,
    number: usize,
}

impl Wake for WakeWorker {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if !self.latch.signal() {
            return;
        }
        if let Some(registry) = self.registry.upgrade() {
            let waiter = registry.worker(self.number).expect("a worker that waits is there");
            registry.resume(waiter, None);
        }
    }
}

fn on_worker<F: Future>(worker: &Worker, mut future: Pin<&mut F>) -> F::Output {
    let wake = Arc::new(WakeWorker {
        latch: Latch::new(),
        registry: Arc::downgrade(&worker.registry().this()),
        number: worker.number(),
    });
    let waker = Waker::from(Arc::clone(&wake));
    let mut context = Context::from_waker(&waker);
    let _open = worker.opens_wait();
    loop {
        wake.latch.reset();
        if let Poll::Ready(output) = future.as_mut().poll(&mut context) {
            return output;
        }
        if wake.latch.is_set() {
            // The future was woken while it was polled: it wants other jobs to have a turn.
            worker.let_others();
        } else {
            worker.wait_for_wake(&wake.latch);
        }
    }
}
