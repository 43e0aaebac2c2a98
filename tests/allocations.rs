//! Number of allocations for a future that is pending.
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

// SAFETY: every call is forwarded to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Relaxed);
        // SAFETY: the caller's promise.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
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

/// Number of allocations of a call with `ITEMS` pending futures.
fn allocations(threads: usize, call: impl Fn(&Mutex<Vec<Waker>>) -> u64 + Sync) -> f64 {
    let pool = ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    let wakers = Mutex::new(Vec::with_capacity(ITEMS));
    let run = || {
        let before = ALLOCATIONS.load(Relaxed);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while wakers.lock().unwrap().len() < ITEMS {
                    std::thread::yield_now();
                }
                // Not under the lock: the woken tasks would wait for it.
                let mut woken = std::mem::take(&mut *wakers.lock().unwrap());
                woken.drain(..).for_each(Waker::wake);
                *wakers.lock().unwrap() = woken;
            });
            assert_eq!(pool.install(|| call(&wakers)), ITEMS as u64);
        });
        (ALLOCATIONS.load(Relaxed) - before) as f64 / ITEMS as f64
    };
    // The first call allocates memory that the pool keeps: queues grow, for example.
    run();
    run()
}

#[test]
fn a_pending_item_costs_what_is_documented() {
    for threads in [1, 2] {
        let sum = allocations(threads, |wakers| {
            let waits = |_| Waits { wakers, polled: false };
            (0..ITEMS).into_par_iter().map(waits).io_await().unbounded().map(|x| x + 1).sum::<u64>() / 2
        });
        println!("{threads} threads: {sum:.4} allocations per pending item");
        // One for the future's task, one in eight for a row, one in eight for a node above the rows; and a few for the call and its
        // leaves.
        assert!((1.25..1.26).contains(&sum), "{threads} threads: {sum}");
        let twice = allocations(threads, |wakers| {
            let waits = |_| Waits { wakers, polled: false };
            let ready = |x| std::future::ready(x);
            (0..ITEMS).into_par_iter().map(waits).io_await().unbounded().map(ready).io_await().sum::<u64>()
        });
        println!("{threads} threads: {twice:.4} allocations where a second future follows");
        // Two more: a frame, and room for the second future.
        assert!((3.25..3.26).contains(&twice), "{threads} threads: {twice}");
        let found = allocations(threads, |wakers| {
            let waits = |_| Waits { wakers, polled: false };
            let none = (0..ITEMS).into_par_iter().map(waits).io_await().unbounded().find_any(|x| *x == 7);
            none.unwrap_or(ITEMS as u64)
        });
        println!("{threads} threads: {found:.4} allocations in a search");
        // There are no rows: no output waits for its neighbors.
        assert!((2.0..2.01).contains(&found), "{threads} threads: {found}");
    }
}
