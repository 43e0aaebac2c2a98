//! The fork-join scheduler.
//!
//! Divide, fork, reduce. A division's left part runs on the forking worker, and the right one is published for a thief.
//! Outputs are reduced at the fork, when both are there.
//!
//! # Invariants
//!
//! 1. The reduction tree is the division tree, children in order.
//! 2. *Bounded stack.* At most [`MAX_FRAMES`](crate::tree::frames::MAX_FRAMES) forks lie on top of each other on one thread's
//!    stack, or as many for each 512 KiB of it. Past that a branch is still divided as its policy says, but its parts are run in turn, in a loop that
//!    keeps them on the heap. A balanced division of data that fit into memory stays far below that number; a list that
//!    gives its elements one by one does not.
//!
//! A [`PartScheduler`](crate::PartScheduler) of seven lines does the same. It takes 20 ns per leaf where this one takes 15, because parts
//! are moved once more.

use crate::tree::branch::{Branch, Decision, Divided};
use crate::tree::call::{Call, is_from_outside};
use crate::tree::frames::ForkFrame;
use crate::tree::in_turn::run_in_turn;
use crate::{Divisible, Producer, Scheduler, Workload};
use furcate_pool::Executor;

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

impl Scheduler for Join {
    #[inline]
    fn schedule<W: Workload, E: Executor>(&self, work: W, executor: &E) -> W::Output {
        let from_outside = is_from_outside::<W>(executor);
        executor.enter(|| {
            let call = Call::on_threads(executor.num_threads(), from_outside);
            let branch = Branch::root(work, &call);
            if !W::Producer::FACTS.grows && branch.producer.size() == 0 {
                return branch.fold();
            }
            run(branch, executor)
        })
    }
}

fn run<W: Workload, E: Executor>(branch: Branch<'_, W>, executor: &E) -> W::Output {
    branch.position.call.watch(|| divide_or_fold(branch, executor))
}

fn divide_or_fold<W: Workload, E: Executor>(mut branch: Branch<'_, W>, executor: &E) -> W::Output {
    loop {
        let (node, fork) = match branch.decide(branch.position.call.threads) {
            Decision::Leaf => return branch.fold_and_go_on(|rest| run(rest, executor)),
            Decision::Divide { node, fork } => (node, fork),
        };
        let Some(_frame) = ForkFrame::enter() else {
            return run_in_turn(branch, |branch| branch.decide(branch.position.call.threads));
        };
        let (left, right, joint) = match branch.divide(&node) {
            Divided::One(rest) => {
                branch = rest;
                continue;
            }
            Divided::Two(left, right, joint) => (left, right, joint),
        };
        let (left, right) = if fork {
            executor.join_context(
                |_| run(left, executor),
                |context| {
                    let _in_span = right.position.call.enter_span(context);
                    run(right.migrated(context.migrated()), executor)
                },
            )
        } else {
            (run(left, executor), run(right, executor))
        };
        return joint.reduce(left, right);
    }
}

#[cfg(test)]
mod tests;
