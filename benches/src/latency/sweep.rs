//! Forks with leaves that may wait: the parameter sweep of ProWS-R (Section 5.3).

use super::Cpu;
use crate::fork::Serial;
use std::hint::black_box;
use std::time::Duration;

/// `fib(n)`, forked down to `n < 2`. Some of its leaves wait, the others compute.
#[derive(Clone, Copy, Debug)]
pub struct Sweep {
    /// Number whose Fibonacci number is computed.
    pub n: u32,
    /// A leaf's probability to wait.
    pub probability: f64,
    /// Length of a wait.
    pub latency: Duration,
    /// Computation of each other leaf.
    pub cpu: Cpu,
}

/// A leaf.
#[derive(Clone, Copy, Debug)]
pub(super) struct Leaf {
    value: u64,
    /// Length of its wait, if it waits.
    pub(super) latency: Option<Duration>,
    cpu: Cpu,
}

impl Leaf {
    /// Returns its value, after it has waited. A leaf that does not wait computes.
    pub(super) fn value(self) -> u64 {
        if self.latency.is_none() {
            black_box(self.cpu.compute(&Serial, self.value));
        }
        self.value
    }
}

impl Sweep {
    /// Returns the number of leaves.
    #[must_use]
    pub fn leaves(&self) -> u64 {
        leaves(self.n)
    }

    /// Returns the number of leaves that wait.
    #[must_use]
    pub fn waits(&self) -> u64 {
        (0..self.leaves()).filter(|&number| self.waits_at(number)).count() as u64
    }

    /// Returns the leaf of this number, which gives `value`.
    pub(super) fn leaf(&self, number: u64, value: u32) -> Leaf {
        let latency = self.waits_at(number).then_some(self.latency);
        Leaf { value: u64::from(value), latency, cpu: self.cpu }
    }

    /// Returns all leaves, from left to right.
    pub(super) fn flat(&self) -> Vec<Leaf> {
        fn walk(sweep: &Sweep, n: u32, leaves: &mut Vec<Leaf>) {
            if n < 2 {
                leaves.push(sweep.leaf(leaves.len() as u64, n));
            } else {
                walk(sweep, n - 1, leaves);
                walk(sweep, n - 2, leaves);
            }
        }
        let mut leaves = Vec::new();
        walk(self, self.n, &mut leaves);
        leaves
    }

    /// Whether the leaf of this number waits. The same in all runs.
    fn waits_at(&self, number: u64) -> bool {
        let hash = (number + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let hash = (hash ^ (hash >> 32)).wrapping_mul(0xBF58_476D_1CE4_E5B9) >> 11;
        (hash as f64) < self.probability * (1_u64 << 53) as f64
    }
}

/// Returns the number of leaves of `fib(n)`, which the left half of `fib(n + 1)` takes.
pub(super) fn leaves(n: u32) -> u64 {
    (0..n).fold((1, 1), |(a, b), _| (b, a + b)).0
}
