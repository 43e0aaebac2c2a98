//! Shared parts of the tests of `io_await`: pools, and futures that are ready in all kinds of ways.
#![cfg(not(furcate_rayon))]

pub(crate) mod streams;

use furcate::ThreadPool;
use futures_lite::future::yield_now;
use proptest::prelude::*;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, OnceLock, mpsc};
use std::task::{Poll, Waker};
use std::time::{Duration, Instant};
pub(crate) use testkit::{LONG, pool, pools, within};

/// Checks that every task that was suspended was resumed or dropped.
#[track_caller]
pub(crate) fn assert_settled(pool: &ThreadPool) {
    let total = pool.stats().total();
    assert_eq!(total.suspensions, total.resumes + total.cancelled, "{total:?}");
}

/// [`assert_settled`], for a pool whose last tasks may still be running.
#[track_caller]
pub(crate) fn assert_settles(pool: &ThreadPool) {
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_secs(20) {
        let total = pool.stats().total();
        if total.suspensions == total.resumes + total.cancelled {
            return;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    assert_settled(pool);
}

pub(crate) async fn after(millis: u64) {
    async_io::Timer::after(Duration::from_millis(millis)).await;
}

/// A wait that no test awaits to its end.
pub(crate) async fn a_minute() {
    after(60_000).await;
}

/// A future that a thread outside all pools wakes at once, often before the poll has ended.
pub(crate) async fn by_another_thread() {
    static WAKE: OnceLock<mpsc::Sender<(Arc<AtomicBool>, Waker)>> = OnceLock::new();
    let wake = WAKE.get_or_init(|| {
        let (sender, receiver) = mpsc::channel::<(Arc<AtomicBool>, Waker)>();
        std::thread::spawn(move || {
            for (ready, waker) in receiver {
                ready.store(true, Relaxed);
                waker.wake();
            }
        });
        sender
    });
    let mut ready = None;
    std::future::poll_fn(|context| match &ready {
        None => {
            let flag = ready.insert(Arc::<AtomicBool>::default());
            wake.send((Arc::clone(flag), context.waker().clone())).unwrap();
            Poll::Pending
        }
        Some(ready) if ready.load(Relaxed) => Poll::Ready(()),
        // Polled without having been woken.
        Some(_) => Poll::Pending,
    })
    .await;
}

/// The ways in which the futures of a chain become ready. The number of a future and a seed decide the way.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Ways {
    Ready,
    Yields,
    Timers,
    Threads,
    Mixed(u64),
}

impl Ways {
    /// Waits.
    pub(crate) async fn wait(self, number: u64) {
        let mixed = |seed: u64| (number + 1).wrapping_mul(seed | 1).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32;
        match self {
            Ways::Ready => {}
            Ways::Yields => yields(number % 4).await,
            Ways::Timers => after(number % 4).await,
            Ways::Threads => by_another_thread().await,
            Ways::Mixed(seed) => match mixed(seed) % 8 {
                0..=2 => {}
                3 | 4 => yields(mixed(seed) % 5).await,
                5 => after(mixed(seed) / 8 % 4).await,
                _ => by_another_thread().await,
            },
        }
    }

    /// Waits, and returns a value.
    pub(crate) async fn give<T>(self, number: u64, value: T) -> T {
        self.wait(number).await;
        value
    }
}

async fn yields(times: u64) {
    for _ in 0..times {
        yield_now().await;
    }
}

/// Any way, chosen at run time.
pub(crate) fn any_ways() -> impl Strategy<Value = Ways> {
    prop_oneof![
        Just(Ways::Ready),
        Just(Ways::Yields),
        Just(Ways::Timers),
        Just(Ways::Threads),
        (1..1_000_u64).prop_map(Ways::Mixed),
        (1..1_000_u64).prop_map(Ways::Mixed),
    ]
}

/// Checks that a pool has not made a thread for each of many waiting tasks. Every caller has 100 waiting tasks or more. On
/// a busy machine some more threads than the pool's own serve queues that are overdue.
#[track_caller]
pub(crate) fn assert_few_threads(pool: &ThreadPool) {
    let (threads, most) = (pool.stats().workers.len(), pool.current_num_threads() + 40);
    assert!(threads <= most, "{threads} threads for what waits");
}
