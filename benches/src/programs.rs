//! The field's fork-join programs, each once as a plain function and once over any [`Fork`].
//!
//! The plain function is what a table's TS is: the same algorithm, without a call or closure that is there for forking.

mod fib;
mod matmul;
mod prompt;
mod queens;
mod quicksort;
mod uts;

#[cfg(test)]
mod tests;

pub use self::fib::Fib;
pub use self::matmul::Matmul;
pub use self::prompt::Prompt;
pub use self::queens::Queens;
pub use self::quicksort::Quicksort;
pub use self::uts::{Shape, Tree};

use crate::fork::Fork;

/// A program, with its size.
pub trait Program: Sync {
    /// What is made anew for every run, and not timed.
    type Input: Send;

    /// What it computes.
    type Output: PartialEq + Send;

    /// Its name and size.
    fn name(&self) -> String;

    /// An input.
    fn input(&self) -> Self::Input;

    /// Runs it without forks.
    fn serial(&self, input: Self::Input) -> Self::Output;

    /// Runs it with forks.
    fn forked<F: Fork>(&self, fork: &F, input: Self::Input) -> Self::Output;

    /// How many forks that takes, where it is what the program measures.
    fn forks(&self) -> Option<u64> {
        None
    }

    /// Holds an output against the oracle.
    ///
    /// # Panics
    ///
    /// If it is wrong.
    fn check(&self, output: &Self::Output);
}
