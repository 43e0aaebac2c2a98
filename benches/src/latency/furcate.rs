//! Furcate: `io_await`, and forks whose leaves call `block_on`.

use super::gates::Gates;
use super::sweep::{Leaf, Sweep, leaves};
use super::{Engine, Load, after};
use crate::fork::FurcateFork;
use async_io::Timer;
use furcate::prelude::*;
use furcate::{ThreadPool, ThreadPoolBuilder};
use std::time::Duration;

/// `io_await`, with async-io's timers.
#[derive(Debug)]
pub struct Furcate(ThreadPool);

/// `io_await`, with tokio's timers, which one thread of tokio's drives.
#[derive(Debug)]
pub struct FurcateTokio(ThreadPool, ::tokio::runtime::Runtime);

/// `join`, with `block_on` in the leaves.
#[derive(Debug)]
pub struct FurcateForked(ThreadPool);

fn pool(threads: usize) -> ThreadPool {
    ThreadPoolBuilder::new().num_threads(threads).build().expect("threads can be started")
}

impl Furcate {
    /// Makes a pool.
    #[must_use]
    pub fn new(threads: usize) -> Self {
        Furcate(pool(threads))
    }

    /// Returns the pool's counters.
    #[must_use]
    pub fn stats(&self) -> furcate::WorkerStats {
        self.0.stats().total()
    }
}

impl FurcateTokio {
    /// Makes a pool, and a runtime.
    #[must_use]
    pub fn new(threads: usize) -> Self {
        FurcateTokio(pool(threads), super::tokio::runtime(1))
    }

    fn sleep(&self) -> impl Fn(Duration) -> ::tokio::time::Sleep + Copy + Send + Sync {
        |latency| {
            let _entered = self.1.enter();
            ::tokio::time::sleep(latency)
        }
    }
}

impl FurcateForked {
    /// Makes a pool.
    #[must_use]
    pub fn new(threads: usize) -> Self {
        FurcateForked(pool(threads))
    }
}

/// Runs a load as a chain. `sleep` makes a timer. (The other engines' items, too, make it in their first poll. A timer that is moved into an
/// `async` block has two places there.)
fn chain<T: Future<Output: Send> + Send>(
    pool: &ThreadPool,
    load: Load,
    sleep: impl Fn(Duration) -> T + Copy + Send + Sync,
) -> u64 {
    let load = &load;
    let fetch = |item| async move {
        sleep(load.latency).await;
        item
    };
    let compute = |item| load.compute(&FurcateFork, item);
    let items = (0..load.n).into_par_iter();
    match load.awaits {
        1 => items.map(fetch).io_await().max_in_flight(load.cap).map(compute).on(pool).sum(),
        4 => {
            let items = items.map(fetch).io_await().map(compute).map(fetch).io_await().map(compute);
            let items = items.map(fetch).io_await().map(compute).map(fetch).io_await();
            items.max_in_flight(load.cap).map(compute).on(pool).sum()
        }
        awaits => unimplemented!("a chain of {awaits}"),
    }
}

impl Engine for Furcate {
    fn name(&self) -> String {
        "furcate".into()
    }

    fn load(&self, load: Load) -> Option<u64> {
        Some(chain(&self.0, load, Timer::after))
    }

    fn sweep(&self, sweep: Sweep) -> Option<u64> {
        let leaf = |leaf: Leaf| async move {
            if let Some(latency) = leaf.latency {
                Timer::after(latency).await;
            }
            leaf.value()
        };
        Some(sweep.flat().into_par_iter().map(leaf).io_await().unbounded().on(&self.0).sum())
    }

    fn gates(&self, gates: &'static Gates) -> Option<u64> {
        let numbers = (0..gates.n()).into_par_iter();
        let passed = numbers.map(|number| gates.gate(number)).io_await().unbounded();
        Some(passed.map(|number| gates.pass(number)).on(&self.0).sum())
    }
}

impl Engine for FurcateTokio {
    fn name(&self) -> String {
        "furcate, tokio's timers".into()
    }

    fn load(&self, load: Load) -> Option<u64> {
        Some(chain(&self.0, load, self.sleep()))
    }

    fn collect(&self, n: u64, latency: Duration) -> Option<usize> {
        let sleep = self.sleep();
        let items = (0..n).into_par_iter().map(|item| after(sleep, latency, item)).io_await().unbounded();
        Some(items.on(&self.0).collect::<Vec<u64>>().len())
    }
}

impl Engine for FurcateForked {
    fn name(&self) -> String {
        "furcate, join + block_on".into()
    }

    fn load(&self, _load: Load) -> Option<u64> {
        None
    }

    fn sweep(&self, sweep: Sweep) -> Option<u64> {
        fn walk(sweep: &Sweep, n: u32, first: u64) -> u64 {
            if n < 2 {
                let leaf = sweep.leaf(first, n);
                if let Some(latency) = leaf.latency {
                    furcate::block_on(Timer::after(latency));
                }
                return leaf.value();
            }
            let behind = first + leaves(n - 1);
            let (a, b) = furcate::join(|| walk(sweep, n - 1, first), || walk(sweep, n - 2, behind));
            a + b
        }
        Some(self.0.install(|| walk(&sweep, sweep.n, 0)))
    }
}
