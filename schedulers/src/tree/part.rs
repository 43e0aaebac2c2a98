//! The base of schedulers that are a few lines long.
//!
//! A [`PartScheduler`] says in which order, and where, the parts of a computation run. All else comes with the part: the policy's
//! decision and its permits, the rule that parts get smaller, the bound on the stack, the end after a panic, and the order
//! of the reduction.
//!
//! # Invariants
//!
//! 1. *The stack is bounded* if [`PartScheduler::run`] calls itself for the two parts of a division only, or for a
//!    task's rest. A [`Fork`] holds one of the [frames](crate::tree::frames) that a thread may have.
//!    If there is no frame left, a part says that it is a leaf, and divides itself while it is folded, in a loop that
//!    keeps its parts on the heap.
//! 2. *No type of the chain gets out.* A scheduler sees a part, its size and its output. So a scheduler cannot fold an
//!    item twice, lose one, or mix up left and right, because the fork itself puts the outputs together.

use crate::tree::branch::{Branch, Decision, Divided, Joint};
use crate::tree::call::{Call, is_from_outside};
use crate::tree::frames::ForkFrame;
use crate::tree::in_turn::run_in_turn;
use crate::{Divisible, Scheduler, Workload};
use furcate_pool::Executor;
use std::fmt;

/// A scheduler that runs part by part. Every such type is a [`Scheduler`], for `with_scheduler`.
///
/// The division tree is the policy's. The scheduler decides in which order parts run, and whether two of them run in
/// parallel.
///
/// ```
/// use furcate::prelude::*;
/// use furcate::{Division, Fork, Part, PartScheduler};
///
/// /// Forks large parts, and runs the parts of small ones in turn.
/// #[derive(Clone)]
/// struct Coarse(usize);
///
/// impl PartScheduler for Coarse {
///     fn run<P: Part>(&self, part: P) -> P::Output {
///         let is_large = part.size() > self.0;
///         match part.divide() {
///             Division::Leaf(part) => part.fold(|rest| self.run(rest)),
///             Division::Two(fork) if is_large => fork.join(|part| self.run(part)),
///             Division::Two(fork) => fork.in_turn(|part| self.run(part)),
///         }
///     }
/// }
///
/// let squares = (0..1000_u64).into_par_iter().map(|x| x * x).size_limit(10).with_scheduler(Coarse(100));
/// assert_eq!(squares.sum::<u64>(), 332_833_500);
/// ```
pub trait PartScheduler: Clone + Send + Sync {
    /// Runs a part of a computation: the whole to begin with, then the parts of the divisions.
    ///
    /// # Contract
    ///
    /// The method calls itself for the two parts of a [`Fork`] and for the rest of a [fold](Part::fold), and for nothing else. Then the
    /// stack is bounded: if no more forks fit on it, [`Part::divide`] says that the part is a leaf, and the part divides itself while
    /// it is folded, in the order of its items. A computation that is spawned (an `async_` terminal) holds one thread while it runs.
    fn run<P: Part>(&self, part: P) -> P::Output;
}

/// A part of a computation, which has not run yet. Its type is the scheduler's only view of a chain.
///
/// This trait is not implemented outside this crate.
pub trait Part: Sized + Send + fmt::Debug + Sealed {
    /// Output of the part. The outputs of neighbors are reduced to one where a [fork](Fork) ends.
    type Output: Send;

    /// The two parts of a division.
    type Fork: Fork<Part = Self>;

    /// Returns the number of units that are left, as [`Divisible::size`](crate::Divisible::size) counts them.
    fn size(&self) -> usize;

    /// Whether another worker runs this part than the one that forked it.
    fn is_migrated(&self) -> bool;

    /// Divides the part, if the policy says so, and if anything can be divided.
    fn divide(self) -> Division<Self>;

    /// Folds the part as one task.
    ///
    /// A task may turn out to hold much more than its size has said (a `flat_map` with a long inner iterator). If the
    /// policy wants that divided, `run` is called for the rest of the task. It has to run the rest, as `run` of the
    /// scheduler does.
    fn fold(self, run: impl FnOnce(Self) -> Self::Output) -> Self::Output;
}

/// The result of [`Part::divide`].
#[derive(Debug)]
pub enum Division<P: Part> {
    /// The part is to be folded: nothing is to be divided, or no more forks fit on the stack.
    Leaf(P),
    /// There are two parts.
    Two(P::Fork),
}

/// The two parts of a division, and the reduction of their outputs.
pub trait Fork: Sized + fmt::Debug + Sealed {
    /// A part.
    type Part: Part;

    /// Whether the policy allows the parts to run in parallel. (A `cap` may not.)
    fn may_fork(&self) -> bool;

    /// Runs both parts, in parallel if that is [allowed](Self::may_fork), and reduces their outputs. The calling thread
    /// begins with the left part.
    fn join(self, run: impl Fn(Self::Part) -> OutputOf<Self> + Sync) -> OutputOf<Self>;

    /// Runs the left part and then the right one, in the calling thread, and reduces their outputs. A `cap` counts both as tasks until
    /// they are done.
    fn in_turn(self, run: impl Fn(Self::Part) -> OutputOf<Self>) -> OutputOf<Self>;

    /// Runs the right part and then the left one, in the calling thread, and reduces their outputs. A `cap` counts both as tasks until
    /// they are done.
    fn right_first(self, run: impl Fn(Self::Part) -> OutputOf<Self>) -> OutputOf<Self>;
}

/// Output type of the parts of a fork.
pub type OutputOf<F> = <<F as Fork>::Part as Part>::Output;

mod sealed {
    /// Keeps the traits of this module from being implemented elsewhere.
    pub trait Sealed {}
}
use sealed::Sealed;

/// A branch of the division tree, with the executor.
pub(crate) struct BranchPart<'c, W: Workload, E> {
    branch: Branch<'c, W>,
    executor: &'c E,
    /// Whether no further frame may lie on the stack (invariant 1).
    is_too_deep: bool,
}

/// Two branches, with the executor.
pub(crate) struct BranchFork<'c, W: Workload, E> {
    left: Branch<'c, W>,
    right: Branch<'c, W>,
    joint: Joint<'c, W>,
    executor: &'c E,
    may_fork: bool,
    _frame: ForkFrame,
}

impl<W: Workload, E> fmt::Debug for BranchPart<'_, W, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Part").finish_non_exhaustive()
    }
}

impl<W: Workload, E> fmt::Debug for BranchFork<'_, W, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Fork").field("may_fork", &self.may_fork).finish_non_exhaustive()
    }
}

impl<W: Workload, E> Sealed for BranchPart<'_, W, E> {}
impl<W: Workload, E> Sealed for BranchFork<'_, W, E> {}

impl<'c, W: Workload, E: Executor> Part for BranchPart<'c, W, E> {
    type Output = W::Output;
    type Fork = BranchFork<'c, W, E>;

    #[inline]
    fn size(&self) -> usize {
        self.branch.producer.size()
    }

    #[inline]
    fn is_migrated(&self) -> bool {
        self.branch.position.marks.is_migrated()
    }

    #[inline]
    fn divide(self) -> Division<Self> {
        let BranchPart { mut branch, executor, .. } = self;
        loop {
            let (node, may_fork) = match branch.decide(branch.position.call.threads) {
                Decision::Leaf => {
                    return Division::Leaf(BranchPart { branch, executor, is_too_deep: false });
                }
                Decision::Divide { node, fork } => (node, fork),
            };
            let Some(frame) = ForkFrame::enter() else {
                // The part divides itself when it is folded, and asks again then.
                return Division::Leaf(BranchPart { branch, executor, is_too_deep: true });
            };
            match branch.divide(&node) {
                Divided::One(rest) => branch = rest,
                Divided::Two(left, right, joint) => {
                    return Division::Two(BranchFork {
                        left,
                        right,
                        joint,
                        executor,
                        may_fork,
                        _frame: frame,
                    });
                }
            }
        }
    }

    #[inline]
    fn fold(self, run: impl FnOnce(Self) -> W::Output) -> W::Output {
        let BranchPart { branch, executor, is_too_deep } = self;
        if is_too_deep {
            return run_in_turn(branch, |branch| branch.decide(branch.position.call.threads));
        }
        branch.fold_and_go_on(|rest| run_watched(rest, executor, run))
    }
}

impl<'c, W: Workload, E: Executor> Fork for BranchFork<'c, W, E> {
    type Part = BranchPart<'c, W, E>;

    #[inline]
    fn may_fork(&self) -> bool {
        self.may_fork
    }

    #[inline]
    fn join(self, run: impl Fn(Self::Part) -> W::Output + Sync) -> W::Output {
        let BranchFork { left, right, joint, executor, may_fork, .. } = self;
        let run = |branch| run_watched(branch, executor, &run);
        let (left, right) = if may_fork {
            executor.join_context(
                |_| run(left),
                |context| {
                    let _in_span = right.position.call.enter_span(context);
                    run(right.migrated(context.migrated()))
                },
            )
        } else {
            (run(left), run(right))
        };
        joint.reduce(left, right)
    }

    #[inline]
    fn in_turn(self, run: impl Fn(Self::Part) -> W::Output) -> W::Output {
        let BranchFork { left, right, joint, executor, .. } = self;
        let left = run_watched(left, executor, &run);
        let right = run_watched(right, executor, &run);
        joint.reduce(left, right)
    }

    #[inline]
    fn right_first(self, run: impl Fn(Self::Part) -> W::Output) -> W::Output {
        let BranchFork { left, right, joint, executor, .. } = self;
        let right = run_watched(right, executor, &run);
        let left = run_watched(left, executor, &run);
        joint.reduce(left, right)
    }
}

/// Runs a branch. If that unwinds, the call has failed.
#[inline]
fn run_watched<'c, W: Workload, E, O>(
    branch: Branch<'c, W>,
    executor: &'c E,
    run: impl FnOnce(BranchPart<'c, W, E>) -> O,
) -> O {
    let call = branch.position.call;
    call.watch(|| run(BranchPart { branch, executor, is_too_deep: false }))
}

impl<S: PartScheduler> Scheduler for S {
    #[inline]
    fn schedule<W: Workload, E: Executor>(&self, work: W, executor: &E) -> W::Output {
        let from_outside = is_from_outside::<W>(executor);
        executor.enter(|| {
            let call = Call::on_threads(executor.num_threads(), from_outside);
            run_watched(Branch::root(work, &call), executor, |part| self.run(part))
        })
    }
}
