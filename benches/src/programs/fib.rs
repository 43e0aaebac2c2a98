//! The Fibonacci numbers by their definition: nothing but forks.

use std::hint::black_box;

use super::Program;
use crate::fork::Fork;

/// `fib(n)`, forked down to `n < 2`.
#[derive(Clone, Copy, Debug)]
pub struct Fib(pub u32);

impl Fib {
    /// Computes the number by iteration.
    fn iterated(n: u32) -> u64 {
        (0..n).fold((0, 1), |(a, b), _| (b, a + b)).0
    }
}

/// Computes the number by its definition.
fn plain(n: u32) -> u64 {
    if n < 2 { u64::from(n) } else { plain(n - 1) + plain(n - 2) }
}

fn forked<F: Fork>(fork: &F, n: u32) -> u64 {
    if n < 2 {
        return u64::from(n);
    }
    let (a, b) = fork.join(|fork| forked(fork, n - 1), |fork| forked(fork, n - 2));
    a + b
}

impl Program for Fib {
    type Input = u32;
    type Output = u64;

    fn name(&self) -> String {
        format!("fib({})", self.0)
    }

    fn input(&self) -> u32 {
        black_box(self.0)
    }

    fn serial(&self, n: u32) -> u64 {
        plain(n)
    }

    fn forked<F: Fork>(&self, fork: &F, n: u32) -> u64 {
        forked(fork, n)
    }

    /// Returns the number of forks: one for every call with `n >= 2`.
    fn forks(&self) -> Option<u64> {
        Some(Self::iterated(self.0 + 1) - 1)
    }

    fn check(&self, output: &u64) {
        assert_eq!(*output, Self::iterated(self.0));
    }
}
