//! Programs of nested parallel loops, and implementations of such loops behind one trait.
//!
//! A program takes a [`Loop`] and is compiled for each of them. To add one, implement the trait.

mod counted;
mod lcs;
mod recpfor;

#[cfg(test)]
mod tests;

pub use self::counted::{Counted, Counters, Span};
pub use self::lcs::Lcs;
pub use self::recpfor::RecPFor;

use furcate::Scheduler;
use furcate::prelude::*;
use std::ops::Range;

/// A program of parallel loops inside of each other.
pub trait Nested: Sync {
    /// Its name and size.
    fn name(&self) -> String;

    /// Runs it.
    fn run(&self, on: &impl Loop) -> u64;
}

/// A loop over numbers.
pub trait Loop: Sync {
    /// Returns the wrapping sum of the body's results for the numbers.
    fn sum(&self, numbers: Range<u64>, body: impl Fn(u64) -> u64 + Sync + Send) -> u64;
}

/// Loops that run one number after the other.
#[derive(Clone, Copy, Debug)]
pub struct Serial;

impl Loop for Serial {
    fn sum(&self, numbers: Range<u64>, body: impl Fn(u64) -> u64 + Sync + Send) -> u64 {
        numbers.map(body).fold(0, u64::wrapping_add)
    }
}

/// Rayon's parallel iterator.
#[derive(Clone, Copy, Debug)]
pub struct Rayon;

impl Loop for Rayon {
    fn sum(&self, numbers: Range<u64>, body: impl Fn(u64) -> u64 + Sync + Send) -> u64 {
        use rayon::iter::{IntoParallelIterator, ParallelIterator as _};
        IntoParallelIterator::into_par_iter(numbers).map(body).reduce(|| 0, u64::wrapping_add)
    }
}

/// Furcate's parallel iterator on a scheduler.
#[derive(Clone, Copy, Debug)]
pub struct Furcate<S> {
    /// The scheduler.
    pub scheduler: S,
    /// Whether every number is a task; otherwise the default policy decides.
    pub single: bool,
}

impl<S: Scheduler + Sync> Loop for Furcate<S> {
    fn sum(&self, numbers: Range<u64>, body: impl Fn(u64) -> u64 + Sync + Send) -> u64 {
        let sums = numbers.into_par_iter().map(body).with_scheduler(self.scheduler.clone());
        if self.single {
            sums.size_limit(1).reduce(|| 0, u64::wrapping_add)
        } else {
            sums.reduce(|| 0, u64::wrapping_add)
        }
    }
}
