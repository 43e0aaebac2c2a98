//! Tasks that fork others and wait, to compare policies of suspension.

use super::load::fib;
use crate::fork::{FurcateFork, Serial};
use async_io::Timer;
use furcate::prelude::*;
use furcate::{ScopeHandle, Suspension, ThreadPool, ThreadPoolBuilder, WorkerStats, block_on};
use std::hint::black_box;
use std::ops::Range;
use std::pin::Pin;
use std::time::{Duration, Instant};

/// How the items of [`ForkedWaits`] are divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaitForm {
    /// Tasks fork tasks, down to one for each item (`join_async`). When a task waits, its worker's deque holds jobs that this task and the
    /// ones above it have forked.
    Tasks,
    /// A chain: `par_iter().map(..).io_await()`.
    Chain,
}

/// Items, each of which computes, waits and computes again, in forks (`join`).
#[derive(Clone, Copy, Debug)]
pub struct ForkedWaits {
    /// How the items are divided.
    pub form: WaitForm,
    /// Number of items.
    pub n: u64,
    /// Length of each item's wait. A wait of no time is ready at once.
    pub latency: Duration,
}

/// A way to suspend and to choose victims, as an addition to how a pool is built.
#[derive(Clone, Copy, Debug)]
pub struct Policy {
    /// The name in tables.
    pub name: &'static str,
    with: fn(ThreadPoolBuilder) -> ThreadPoolBuilder,
}

/// All policies: ProWS-R's with the own slot's set first and with uniform victims, and the parsimonious one.
pub const POLICIES: [Policy; 3] = [
    Policy { name: "proactive", with: |builder| builder.suspension(Suspension::Proactive) },
    Policy {
        name: "uniform victims",
        with: |builder| builder.suspension(Suspension::Proactive).uniform_victims(true),
    },
    Policy { name: "parsimonious", with: |builder| builder.suspension(Suspension::Parsimonious) },
];

/// The result of a run: its time, and the pool's counters.
#[derive(Clone, Debug)]
pub struct PolicyRun {
    /// Sum of the items' results.
    pub sum: u64,
    /// Time of the run.
    pub time: Duration,
    /// Differences of the pool's counters.
    pub stats: PolicyStats,
}

/// Those counters of a pool by which policies differ.
#[derive(Clone, Copy, Debug, Default)]
pub struct PolicyStats {
    /// Attempts to steal from a deque that was not empty.
    pub attempts: u64,
    /// Jobs and tasks stolen from deques in use and from waiting ones.
    pub stolen: u64,
    /// Tasks suspended.
    pub suspensions: u64,
    /// Deques suspended.
    pub deques: u64,
    /// Deques taken over.
    pub mugs: u64,
    /// Tasks resumed by another worker than the one that had polled them last.
    pub elsewhere: u64,
}

impl Policy {
    /// Makes a pool with this policy.
    ///
    /// # Panics
    ///
    /// If there can be no more threads.
    #[must_use]
    pub fn pool(&self, threads: usize) -> ThreadPool {
        let builder = ThreadPoolBuilder::new().num_threads(threads);
        (self.with)(builder).build().expect("threads can be started")
    }
}

impl ForkedWaits {
    /// Returns the number of forks, waits and items: T1, in steps.
    #[must_use]
    pub fn work(&self) -> u64 {
        // fib(20) to 15, and fib(15) to 10, have 12 forks.
        self.n * (2 * 12 + 2) + self.n - 1
    }

    /// Returns the greatest number of steps that come one after the other: Tinf.
    #[must_use]
    pub fn span(&self) -> u64 {
        let (fib, cutoff) = self.fib();
        u64::from(self.n.next_power_of_two().ilog2() + 2 * (fib - cutoff) + 2)
    }

    /// Returns the sum and the time without forks and waits.
    #[must_use]
    pub fn serial(&self) -> (u64, Duration) {
        let start = Instant::now();
        let compute = || fib(&Serial, black_box(self.fib().0), self.fib().0);
        let sum = (0..self.n).map(|item| item + compute() + compute()).sum();
        (sum, start.elapsed())
    }

    /// Runs the program once.
    #[must_use]
    pub fn run(self, pool: &ThreadPool) -> PolicyRun {
        let (before, start) = (pool.stats().total(), Instant::now());
        let sum = pool.install(|| match self.form {
            WaitForm::Tasks => furcate::scope(|scope| block_on(self.walk(0..self.n, scope.handle()))),
            WaitForm::Chain => {
                let waits = (0..self.n).into_par_iter().map(|item| async move {
                    let before = self.compute();
                    self.wait().await;
                    item + before
                });
                waits.io_await().map(|item| item + self.compute()).sum()
            }
        });
        let time = start.elapsed();
        let (before, after) = (PolicyStats::of(&before), PolicyStats::of(&pool.stats().total()));
        let stats = PolicyStats {
            attempts: after.attempts - before.attempts,
            stolen: after.stolen - before.stolen,
            suspensions: after.suspensions - before.suspensions,
            deques: after.deques - before.deques,
            mugs: after.mugs - before.mugs,
            elsewhere: after.elsewhere - before.elsewhere,
        };
        PolicyRun { sum, time, stats }
    }

    fn walk<'s>(
        self,
        items: Range<u64>,
        scope: ScopeHandle<'s>,
    ) -> Pin<Box<dyn Future<Output = u64> + Send + 's>> {
        Box::pin(async move {
            let len = items.end - items.start;
            if len == 1 {
                return self.item(items.start).await;
            }
            let middle = items.start + len / 2;
            let left = self.walk(items.start..middle, scope.clone());
            let right = self.walk(middle..items.end, scope.clone());
            let (left, right) = scope.join_async(left, right).await;
            left + right
        })
    }

    async fn item(self, item: u64) -> u64 {
        let before = self.compute();
        self.wait().await;
        item + before + self.compute()
    }

    /// Number and cutoff of the computation that each item does twice.
    fn fib(self) -> (u32, u32) {
        match self.form {
            WaitForm::Tasks => (20, 15),
            // Cheaper, as there are more items.
            WaitForm::Chain => (15, 10),
        }
    }

    fn compute(self) -> u64 {
        let (n, cutoff) = self.fib();
        fib(&FurcateFork, black_box(n), cutoff)
    }

    async fn wait(self) {
        if !self.latency.is_zero() {
            Timer::after(self.latency).await;
        }
    }
}

impl PolicyStats {
    fn of(total: &WorkerStats) -> Self {
        let sum = |part: fn(&furcate::StealStats) -> u64| total.steals.iter().map(part).sum::<u64>();
        PolicyStats {
            attempts: sum(|steals| steals.tried) + total.steals_suspended + total.steals_resumable,
            stolen: sum(|steals| steals.won) + total.steals_suspended + total.steals_resumable,
            suspensions: total.suspensions,
            deques: total.suspended_deques,
            mugs: total.mugs,
            elsewhere: total.resumes_elsewhere,
        }
    }
}
