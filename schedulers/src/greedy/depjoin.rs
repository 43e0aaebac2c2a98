//! The greedy fork-join scheduler.

use crate::greedy::{self, Done, Leaves};
use crate::tree::branch::{Branch, Decision};
use crate::tree::frames::ForkFrame;
use crate::{Computation, Producer, Scheduler, Workload};
use furcate_pool::Executor;
use furcate_pool::detach::Detach;

/// Divide, fork, and let the last finisher reduce.
///
/// As [`Join`](crate::Join), but no worker waits for a part that was stolen from it. Of two halves, the *last finisher*
/// reduces, and it goes on reducing further up as long as it is the last. So no worker is idle inside a reduction tree,
/// and no worker's stack holds frames whose parts run elsewhere. (Kvik's `depjoin`, Section 3.2, does this for one level;
/// here it is the greedy join of continuation stealing. A forerunner is Doug Lea's `CountedCompleter`, Java 8.) The order
/// of reduction is kept.
///
/// Cost: a fork that is not stolen costs as much as a fork of `Join`. A stolen fork costs an allocation as well. A call
/// costs a few atomic operations more than a call of `Join`.
///
/// ```
/// use furcate::prelude::*;
/// use furcate::DepJoin;
/// let text = ["to", "get", "her"]
///     .par_iter()
///     .map(|s| s.to_string())
///     .with_scheduler(DepJoin)
///     .reduce(String::new, |a, b| a + &b);
/// assert_eq!(text, "together");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DepJoin;

impl Scheduler for DepJoin {
    #[inline]
    fn schedule<W: Workload, E: Executor>(&self, work: W, executor: &E) -> W::Output {
        greedy::schedule(work, executor, WholeLeaves)
    }

    fn spawn<C: Computation, E: Executor + 'static>(&self, computation: C, executor: &E) {
        greedy::spawn(computation, executor, WholeLeaves);
    }
}

/// Divides as the policy says, then folds each leaf as one task.
#[derive(Clone, Copy)]
struct WholeLeaves;

impl Leaves for WholeLeaves {
    const MORE_FROM_OUTSIDE: bool = true;

    #[inline]
    fn decide<W: Workload>(self, branch: &mut Branch<'_, W>, threads: usize) -> Decision {
        branch.decide(threads)
    }

    #[inline]
    fn run<'s, S: Detach<'s>, W: Workload + 's>(self, branch: Branch<'s, W>, scope: &S) -> Done<'s, W> {
        // A constant: for most chains the rest is not compiled.
        if const { !W::Producer::FACTS.grows } {
            return Done::Here(branch.fold());
        }
        let frame = ForkFrame::enter();
        if frame.is_none() {
            return Done::Here(branch.fold());
        }
        match branch.fold_or_grow(scope.num_threads()) {
            (output, None) => Done::Here(output),
            (output, Some((rest, joint))) => Done::Here(output).join(greedy::run(rest, self, scope), joint),
        }
    }
}
