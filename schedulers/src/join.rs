//! The fork-join scheduler.
//!
//! Divide, fork, reduce. A division's left part runs on the forking worker, and the right one is published for a thief.
//! Outputs are reduced at the fork, when both are there.
//!
//! # Invariants
//!
//! 1. The reduction tree is the division tree, children in order.
//! 2. *Bounded stack.* At most [`MAX_FRAMES`](crate::frames::MAX_FRAMES) forks lie on top of each other on one thread's
//!    stack. Past that a branch is still divided as its policy says, but its parts are run in turn, in a loop that
//!    keeps them on the heap. A balanced division of data that fit into memory stays far below that number; a list that
//!    gives its elements one by one does not.

use crate::{Division, Fork, Part, PartScheduler};

/// Divide, fork, reduce: the default for everything except [searches](crate::ByTerminal).
///
/// Cost: one fork ([`Executor::join_context`](furcate_pool::Executor::join_context)) per division; no allocations except the policy's.
///
/// ```
/// # use furcate::{Join, Scheduler};
/// # fn any_scheduler(_: impl Scheduler) {}
/// any_scheduler(Join);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Join;

impl PartScheduler for Join {
    // Not inline: the method calls itself, and inlined into itself it takes twice the time to build.
    fn run<P: Part>(&self, part: P) -> P::Output {
        match part.divide() {
            Division::Leaf(part) => part.fold(|rest| self.run(rest)),
            Division::Two(fork) => fork.join(|part| self.run(part)),
        }
    }
}

#[cfg(test)]
mod tests;
