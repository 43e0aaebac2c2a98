//! Items that are waited for, and computed with.

use super::spread;
use crate::fork::{Fork, Serial};
use std::hint::black_box;
use std::time::{Duration, Instant};

/// `n` items; each waits and computes in turn, `awaits` times.
#[derive(Clone, Copy, Debug)]
pub struct Load {
    /// How many items.
    pub n: u64,
    /// How often each is waited for.
    pub awaits: usize,
    /// For how long.
    pub latency: Duration,
    /// At most so many wait at once.
    pub cap: usize,
    /// What is computed after every wait.
    pub cpu: Cpu,
}

/// What is computed with an item.
#[derive(Clone, Copy, Debug)]
pub enum Cpu {
    /// Nothing.
    Nothing,
    /// So many rounds of a serial loop.
    Rounds(u64),
    /// `fib(n)`, forked down to `cutoff` (MapReduceFib: 30 and 25).
    Fib {
        /// Of which the Fibonacci number is computed.
        n: u32,
        /// From here on serially.
        cutoff: u32,
    },
}

/// Items are numbers below this.
const MODULUS: u64 = 1_000_000_000;

impl Load {
    /// Computes with an item, by an engine's forks.
    #[inline]
    pub fn compute<F: Fork>(&self, fork: &F, item: u64) -> u64 {
        spread::count();
        match self.cpu {
            Cpu::Nothing => item,
            Cpu::Rounds(rounds) => spin(rounds, item) % MODULUS,
            Cpu::Fib { n, cutoff } => (item + fib(fork, black_box(n), cutoff)) % MODULUS,
        }
    }

    /// All that is computed with an item.
    #[must_use]
    pub fn compute_all(&self, item: u64) -> u64 {
        (0..self.awaits).fold(item, |item, _| self.compute(&Serial, item))
    }

    /// T1: all that is computed, without forks or waits. Returns the sum.
    #[must_use]
    pub fn serial(&self) -> u64 {
        (0..self.n).map(|item| self.compute_all(item)).sum()
    }

    /// The measure that papers take, if `t1` is what it takes to compute everything serially: the time of as many
    /// processors, or of an item's waits and computations one after the other, or of as many waits as may be at once.
    #[must_use]
    pub fn ideal(&self, t1: Duration, threads: usize) -> Duration {
        let work = t1 / threads as u32;
        let span = match self.cpu {
            // Of one item's, what is not forked, over what is: fib(25) / fib(30).
            Cpu::Fib { n, cutoff } => 1.618_f64.powi(cutoff as i32 - n as i32),
            _ => 1.0,
        };
        let waits = self.latency * self.awaits as u32;
        let critical = waits + (t1 / self.n as u32).mul_f64(span);
        let turns = (self.n * self.awaits as u64).div_ceil(self.cap as u64) as u32;
        work.max(critical).max(self.latency * turns)
    }

    /// The least time that any schedule takes: the ideal, or all that is computed, after a wait in which there is nothing to
    /// compute for anybody.
    #[must_use]
    pub fn bound(&self, t1: Duration, threads: usize) -> Duration {
        self.ideal(t1, threads).max(self.latency + t1 / threads as u32)
    }
}

impl Cpu {
    /// A serial loop that takes so long here.
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

/// A chain of instructions that nobody shortens.
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

pub(super) fn plain(n: u32) -> u64 {
    if n < 2 { u64::from(n) } else { plain(n - 1) + plain(n - 2) }
}
