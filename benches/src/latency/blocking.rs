//! Engines that cannot suspend: rayon, whose threads sleep; and bare threads that do not wait at all.

use super::sweep::{Sweep, leaves};
use super::{Engine, Load};
use crate::fork::RayonFork;
use rayon::iter::{IntoParallelIterator, ParallelIterator};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::thread;
use std::time::Duration;

/// rayon's parallel iterator and join, with `thread::sleep`.
#[derive(Debug)]
pub struct Blocking(pub(super) rayon::ThreadPool, usize);

/// Bare threads that take one item after the other, and do not wait: they show the speed of the processors.
#[derive(Debug)]
pub struct Threads(pub usize);

impl Threads {
    /// The name in tables. It says that these threads do less work than the other engines.
    pub const NAME: &'static str = "threads that do not wait";
}

/// Makes a pool of rayon's.
pub(super) fn pool(threads: usize) -> rayon::ThreadPool {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads can be started")
}

impl Blocking {
    /// Makes a pool of so many times P threads.
    #[must_use]
    pub fn new(p: usize, times: usize) -> Self {
        Blocking(pool(times * p), times)
    }
}

impl Engine for Blocking {
    fn name(&self) -> String {
        let times = if self.1 == 1 { String::new() } else { self.1.to_string() };
        format!("rayon, {times}P threads, sleep")
    }

    fn load(&self, load: Load) -> Option<u64> {
        let fetch = |mut item| {
            for _ in 0..load.awaits {
                thread::sleep(load.latency);
                item = load.compute(&RayonFork, item);
            }
            item
        };
        let items = || IntoParallelIterator::into_par_iter(0..load.n).map(fetch).sum();
        (self.0.current_num_threads() <= load.cap).then(|| self.0.install(items))
    }

    fn sweep(&self, sweep: Sweep) -> Option<u64> {
        fn walk(sweep: &Sweep, n: u32, first: u64) -> u64 {
            if n < 2 {
                let leaf = sweep.leaf(first, n);
                leaf.latency.into_iter().for_each(thread::sleep);
                return leaf.value();
            }
            let behind = first + leaves(n - 1);
            let (a, b) = rayon::join(|| walk(sweep, n - 1, first), || walk(sweep, n - 2, behind));
            a + b
        }
        Some(self.0.install(|| walk(&sweep, sweep.n, 0)))
    }

    fn foreseen(&self, waits: u64, latency: Duration) -> Duration {
        let turns = waits.div_ceil(self.0.current_num_threads() as u64);
        latency.saturating_mul(turns.try_into().unwrap_or(u32::MAX))
    }
}

impl Engine for Threads {
    fn name(&self) -> String {
        Threads::NAME.into()
    }

    fn load(&self, load: Load) -> Option<u64> {
        let next = AtomicU64::new(0);
        let thread = || {
            let numbers = std::iter::repeat_with(|| next.fetch_add(1, Relaxed));
            numbers.take_while(|&number| number < load.n).map(|number| load.compute_all(number)).sum::<u64>()
        };
        Some(thread::scope(|threads| {
            let all: Vec<_> = (0..self.0).map(|_| threads.spawn(thread)).collect();
            all.into_iter().map(|thread| thread.join().expect("no thread panics")).sum()
        }))
    }
}
