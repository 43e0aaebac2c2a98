//! The field's fork-join programs, each once as a plain function and once over any [`Fork`].
//!
//! The plain function gives a table's TS: the same algorithm, without a call or closure that is there for forking.

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
    /// The input, which is made anew for every run, and not timed.
    type Input: Send;

    /// The result.
    type Output: PartialEq + Send;

    /// Returns its name and size.
    fn name(&self) -> String;

    /// Makes an input.
    fn input(&self) -> Self::Input;

    /// Runs it without forks.
    fn serial(&self, input: Self::Input) -> Self::Output;

    /// Runs it with forks.
    fn forked<F: Fork>(&self, fork: &F, input: Self::Input) -> Self::Output;

    /// Returns the number of forks, if the program measures forks.
    fn forks(&self) -> Option<u64> {
        None
    }

    /// Compares an output with the oracle.
    ///
    /// # Panics
    ///
    /// If it is wrong.
    fn check(&self, output: &Self::Output);
}
