//! Number of allocations, and bytes, for a future that is pending.
//!
//! Not on the engine of rayon, which cannot suspend.
#![cfg(not(furcate_rayon))]

use furcate::ThreadPoolBuilder;
use furcate::prelude::*;
use std::alloc::{GlobalAlloc, Layout, System};
use std::pin::Pin;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::task::{Context, Poll, Waker};

/// Counts the allocations of all threads.
struct Counting;

static ALLOCATIONS: AtomicUsize = AtomicUsize::new(0);
/// Bytes that are allocated now, as they were asked for.
static BYTES: AtomicUsize = AtomicUsize::new(0);

// SAFETY: every call is forwarded to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Relaxed);
        BYTES.fetch_add(layout.size(), Relaxed);
        // SAFETY: the caller's promise.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        BYTES.fetch_sub(layout.size(), Relaxed);
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(memory, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

/// A future that is pending once, until [`wake_all`] is called. Waiting costs no allocation of its own.
struct Waits<'w> {
    wakers: &'w Mutex<Vec<Waker>>,
    polled: bool,
}

impl Future for Waits<'_> {
    type Output = u64;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<u64> {
        if self.polled {
            return Poll::Ready(1);
        }
        self.polled = true;
        self.wakers.lock().unwrap().push(context.waker().clone());
        Poll::Pending
    }
}

const ITEMS: usize = 20_000;

/// Bound on the bytes that an item of a sum holds while it waits, beside its future.
const BESIDE: f64 = 128.0;

/// Memory that a call takes for each pending future.
struct Taken {
    /// Number of allocations.
    allocations: f64,
    /// Bytes that are held while all futures wait.
    bytes: f64,
}

/// Memory that a call with `ITEMS` pending futures takes for each of them.
fn taken(threads: usize, call: impl Fn(&Mutex<Vec<Waker>>) -> u64 + Sync) -> Taken {
    let pool = ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    let wakers = Mutex::new(Vec::with_capacity(ITEMS));
    let run = || {
        let (before, held) = (ALLOCATIONS.load(Relaxed), BYTES.load(Relaxed));
        let bytes = std::thread::scope(|scope| {
            let bytes = scope.spawn(|| {
                while wakers.lock().unwrap().len() < ITEMS {
                    std::thread::yield_now();
                }
                let bytes = BYTES.load(Relaxed) - held;
                // Not under the lock: the woken tasks would wait for it.
                let mut woken = std::mem::take(&mut *wakers.lock().unwrap());
                woken.drain(..).for_each(Waker::wake);
                *wakers.lock().unwrap() = woken;
                bytes
            });
            assert_eq!(pool.install(|| call(&wakers)), ITEMS as u64);
            bytes.join().unwrap()
        });
        let each = |all: usize| all as f64 / ITEMS as f64;
        Taken { allocations: each(ALLOCATIONS.load(Relaxed) - before), bytes: each(bytes) }
    };
    // The first call allocates memory that the pool keeps: queues grow, for example.
    run();
    run()
}

#[test]
fn a_pending_item_costs_what_is_documented() {
    for threads in [1, 2] {
        let sum = taken(threads, |wakers| {
            let waits = |_| Waits { wakers, polled: false };
            (0..ITEMS).into_par_iter().map(waits).io_await().unbounded().map(|x| x + 1).sum::<u64>() / 2
        });
        let Taken { allocations, bytes } = sum;
        println!("{threads} threads: {allocations:.4} allocations and {bytes:.1} bytes per pending item");
        // One for the future's task, one in 16 for a row, one in 16 for the row's outputs, one in 16 for a node above the rows; and a few for the call and its
        // leaves.
        assert!((1.187..1.2).contains(&allocations), "{threads} threads: {allocations}");
        // The task without the future, the continuation, and the item's share of rows and nodes.
        let beside = bytes - size_of::<Waits>() as f64;
        assert!(beside < BESIDE, "{threads} threads: {beside} bytes beside the future");
        let twice = taken(threads, |wakers| {
            let waits = |_| Waits { wakers, polled: false };
            let ready = |x| std::future::ready(x);
            (0..ITEMS).into_par_iter().map(waits).io_await().unbounded().map(ready).io_await().sum::<u64>()
        });
        let Taken { allocations, bytes } = twice;
        println!("{threads} threads: {allocations:.4} and {bytes:.1} where a second future follows");
        // Two more: a frame, and room for the second future.
        assert!((3.187..3.2).contains(&allocations), "{threads} threads: {allocations}");
        // Nothing of that while the first one waits.
        let beside = bytes - size_of::<Waits>() as f64;
        assert!(beside < BESIDE, "{threads} threads: {beside} bytes beside the future, of two");
        let found = taken(threads, |wakers| {
            let waits = |_| Waits { wakers, polled: false };
            let none = (0..ITEMS).into_par_iter().map(waits).io_await().unbounded().find_any(|x| *x == 7);
            none.unwrap_or(ITEMS as u64)
        });
        let Taken { allocations, bytes } = found;
        println!("{threads} threads: {allocations:.4} and {bytes:.1} in a search");
        // There are no rows: no output waits for its neighbors.
        assert!((2.0..2.01).contains(&allocations), "{threads} threads: {allocations}");
    }
}
