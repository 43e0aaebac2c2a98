//! Items that wait and compute.

use super::spread;
use crate::fork::{Fork, Serial};
use std::hint::black_box;
use std::time::{Duration, Instant};

/// `n` items; each waits and computes in turn, `awaits` times.
#[derive(Clone, Copy, Debug)]
pub struct Load {
    /// Number of items.
    pub n: u64,
    /// Number of waits of each item.
    pub awaits: usize,
    /// Length of a wait.
    pub latency: Duration,
    /// Greatest number of items that wait at once.
    pub cap: usize,
    /// Computation after every wait.
    pub cpu: Cpu,
}

/// The computation on an item.
#[derive(Clone, Copy, Debug)]
pub enum Cpu {
    /// Nothing.
    Nothing,
    /// So many rounds of a serial loop.
    Rounds(u64),
    /// `fib(n)`, forked down to `cutoff` (MapReduceFib: 30 and 25).
    Fib {
        /// Number whose Fibonacci number is computed.
        n: u32,
        /// Largest number that is computed serially.
        cutoff: u32,
    },
}

/// Items are numbers below this.
const MODULUS: u64 = 1_000_000_000;

impl Load {
    /// Computes an item, with an engine's forks.
    #[inline]
    pub fn compute<F: Fork>(&self, fork: &F, item: u64) -> u64 {
        spread::count();
        self.cpu.compute(fork, item)
    }

    /// Computes all computations of an item, serially.
    #[must_use]
    pub fn compute_all(&self, item: u64) -> u64 {
        (0..self.awaits).fold(item, |item, _| self.compute(&Serial, item))
    }

    /// Computes all items, without forks or waits, and returns the sum. Its time is T1.
    #[must_use]
    pub fn serial(&self) -> u64 {
        (0..self.n).map(|item| self.compute_all(item)).sum()
    }

    /// Returns the time of one thread that computes and blocks, if `t1` is the serial time of all computations: the baseline of ProWS-R.
    #[must_use]
    pub fn blocking(&self, t1: Duration) -> Duration {
        t1 + self.latency * (self.n * self.awaits as u64) as u32
    }

    /// Returns the measure of the papers, if `t1` is the serial time of all computations. It is the greatest of three
    /// times: `t1` divided by the processors, an item's waits and computations one after the other, and all waits, with
    /// as many at once as allowed.
    #[must_use]
    pub fn ideal(&self, t1: Duration, threads: usize) -> Duration {
        let work = t1 / threads as u32;
        let span = match self.cpu {
            // For one item, the part that is not forked, divided by the whole: fib(25) / fib(30).
            Cpu::Fib { n, cutoff } => 1.618_f64.powi(cutoff as i32 - n as i32),
            _ => 1.0,
        };
        let waits = self.latency * self.awaits as u32;
        let critical = waits + (t1 / self.n as u32).mul_f64(span);
        let turns = (self.n * self.awaits as u64).div_ceil(self.cap as u64) as u32;
        work.max(critical).max(self.latency * turns)
    }

    /// Returns the least time of any schedule: the ideal; or all computations, after a wait during which there is
    /// nothing to compute yet.
    #[must_use]
    pub fn bound(&self, t1: Duration, threads: usize) -> Duration {
        self.ideal(t1, threads).max(self.latency + t1 / threads as u32)
    }
}

impl Cpu {
    /// Computes an item, with an engine's forks.
    #[inline]
    pub fn compute<F: Fork>(self, fork: &F, item: u64) -> u64 {
        match self {
            Cpu::Nothing => item,
            Cpu::Rounds(rounds) => spin(rounds, item) % MODULUS,
            Cpu::Fib { n, cutoff } => (item + fib(fork, black_box(n), cutoff)) % MODULUS,
        }
    }

    /// Returns a serial loop that takes this time on this machine.
    #[must_use]
    pub fn serial(time: Duration) -> Cpu {
        const TRIAL: u64 = 2_000_000;
        let once = || {
            let start = Instant::now();
            black_box(spin(TRIAL, black_box(1)));
            start.elapsed()
        };
        let trial = (0..5).map(|_| once()).min().expect("there are some");
        Cpu::Rounds((TRIAL as f64 * time.as_secs_f64() / trial.as_secs_f64()) as u64)
    }
}

/// Runs a chain of instructions that the compiler cannot shorten.
fn spin(rounds: u64, mut item: u64) -> u64 {
    for _ in 0..rounds {
        item = (item ^ (item >> 29)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    }
    item
}

pub(super) fn fib<F: Fork>(fork: &F, n: u32, cutoff: u32) -> u64 {
    if n <= cutoff {
        return plain(n);
    }
    let (a, b) = fork.join(|fork| fib(fork, n - 1, cutoff), |fork| fib(fork, n - 2, cutoff));
    a + b
}

/// Not inlined: in some callers the compiler unrolls it otherwise, and then the same leaf takes 0.78 of its time.
#[inline(never)]
pub(super) fn plain(n: u32) -> u64 {
    if n < 2 { u64::from(n) } else { plain(n - 1) + plain(n - 2) }
}
