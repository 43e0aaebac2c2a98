//! One node of the division tree, and the decisions that every scheduler makes about it.
//!
//! # Invariants
//!
//! 1. *Progress.* A part that is not smaller than all its ancestors is no longer divisible. After two such
//!    divisions in a row it is a leaf, even if it must be divided. So no policy can keep a scheduler busy with a part
//!    that does not get smaller. (For the first [`BLIND_LEVELS`], two parts that both hold something are believed to be
//!    smaller than their whole, whatever their sizes say: the size of a tree, or of an endless producer, may be a
//!    guess.)
//! 2. *Nothing is reduced with nothing.* A side of size 0 is dropped, and the other side replaces the branch: its depth
//!    grows, but no fork is made and no frame is used. For its policy it is the left part, whichever side it was, since
//!    the worker goes on with it itself. A steal counts for the division after it, and not again for later ones.
//! 3. A permit to fork is asked for last, once everything else has agreed to the division, and is given back if the
//!    division is not made.

use crate::call::Call;
use crate::pace::Pace;
use crate::{Nano, NanoFold, NanoLoops, Policy, Producer, Reduction, Task, Verdict};
use std::ops::ControlFlow;

/// Folds a whole producer as one task.
///
/// If the reduction or the policy can [stop](Policy::STOPS) the task, it is folded in nano-loops. Between them the task
/// checks whether it is still needed. It is not needed either if another task of the call has panicked.
#[inline]
pub(crate) fn fold_leaf<P, L, R>(producer: P, policy: &L, reduction: &R, call: &Call) -> R::Output
where
    P: Producer,
    L: Policy,
    R: Reduction<P::Item>,
{
    let start = reduction.start();
    reduction.finish(if R::IN_LOOPS || L::STOPS {
        let mut watch = Watch {
            stopped: || call.has_failed() || is_stopped::<P::Item, _, _>(policy, reduction),
            pace: Pace::new(FIRST_NANO_LOOP, LAST_NANO_LOOP),
        };
        fold_in_loops(producer, start, reduction, &mut watch)
    } else {
        reduction.fold(start, producer.into_iter())
    })
}

/// Folds a producer in nano-loops, from an accumulator on.
#[inline]
pub(crate) fn fold_in_loops<P, R, N>(
    producer: P,
    start: R::Accumulator,
    reduction: &R,
    loops: &mut N,
) -> R::Accumulator
where
    P: Producer,
    R: Reduction<P::Item>,
    N: NanoLoops<P>,
{
    match producer.partial_fold(start, Loop(reduction), loops) {
        ControlFlow::Continue(folded) | ControlFlow::Break(folded) => folded,
    }
}

/// Folds the items of a nano-loop by the reduction.
struct Loop<'r, R>(&'r R);

impl<T, R: Reduction<T>> NanoFold<T, R::Accumulator, R::Accumulator> for Loop<'_, R> {
    #[inline]
    fn fold<I: Iterator<Item = T>>(
        &mut self,
        folded: R::Accumulator,
        items: I,
    ) -> ControlFlow<R::Accumulator, R::Accumulator> {
        self.0.fold_loop(folded, items)
    }
}

/// Whether a task of this policy and reduction need not continue.
#[inline]
pub(crate) fn is_stopped<T, L: Policy, R: Reduction<T>>(policy: &L, reduction: &R) -> bool {
    (R::INTERRUPTIBLE && reduction.stopped()) || (L::STOPS && policy.stopped())
}

/// The sizes of the nano-loops between two looks, where the items are cheap: see [`Pace`].
const FIRST_NANO_LOOP: usize = 1;
const LAST_NANO_LOOP: usize = 1 << 14;

/// Nano-loops that end when the task is no longer needed.
struct Watch<S> {
    stopped: S,
    pace: Pace,
}

impl<P, S: Fn() -> bool> NanoLoops<P> for Watch<S> {
    const DIVIDES: bool = false;

    #[inline]
    fn next(&mut self, size: usize) -> Nano {
        // If no units are left, there is nothing to stop.
        if size > 0 && (self.stopped)() {
            return Nano::Stop;
        }
        Nano::Fold(self.pace.next(size))
    }

    fn take(&mut self, _right: P) {
        unreachable!("these loops never divide")
    }
}

/// The nano-loops of a task that may [grow](Producer::GROWS). They end when the task is no longer needed.
struct Growing<'r, P, L, R> {
    policy: L,
    reduction: &'r R,
    /// Facts for the policy; the size is filled in at each question.
    task: Task,
    pace: Pace,
    /// The rest of a task, which was given away.
    rest: Option<P>,
    call: &'r Call,
}

impl<P, L, R> NanoLoops<P> for Growing<'_, P, L, R>
where
    P: Producer,
    L: Policy,
    R: Reduction<P::Item>,
{
    const DIVIDES: bool = false;
    const GROWS: bool = true;

    #[inline]
    fn next(&mut self, size: usize) -> Nano {
        if !(R::IN_LOOPS || L::STOPS) {
            return Nano::Fold(usize::MAX);
        }
        // If no units are left, there is nothing to stop.
        if size > 0 && (self.call.has_failed() || is_stopped::<P::Item, _, _>(&self.policy, self.reduction)) {
            return Nano::Stop;
        }
        Nano::Fold(self.pace.next(size))
    }

    fn grown(&mut self, size: usize) -> bool {
        let task = Task { len: size, divisible: true, ..self.task };
        // The permit is asked for again when the rest is divided: it is the same one.
        self.policy.wants_split(&task).divides(&task) && self.policy.permit_fork(&task)
    }

    fn take(&mut self, right: P) {
        self.rest = Some(right);
    }
}

/// Number of levels on which divisions are believed to make progress (invariant 1): enough for parts on any machine,
/// and few enough to end.
pub(crate) const BLIND_LEVELS: u32 = 12;

/// A part of the computation with its policy and its reduction, as they were passed down the division tree.
#[derive(Debug)]
pub(crate) struct Branch<'c, P, L, R> {
    pub(crate) producer: P,
    pub(crate) policy: L,
    pub(crate) reduction: R,
    pub(crate) depth: u32,
    pub(crate) migrated: bool,
    /// The least size that it or what it comes from has had.
    pub(crate) least: usize,
    /// How many divisions in a row have made it no smaller than that (invariant 1).
    pub(crate) fruitless: u8,
    /// Whether it is the rest of a task that held more than its size had said.
    pub(crate) grown: bool,
    pub(crate) call: &'c Call,
}

/// The decision about a branch.
pub(crate) enum Decision {
    /// Fold it.
    Leaf,
    /// Divide it as the given task; `fork` says whether the parts may run in parallel.
    Divide { task: Task, fork: bool },
}

/// The result of a division.
pub(crate) enum Parts<'c, P, L, R> {
    /// Everything is on one side (invariant 2).
    One(Branch<'c, P, L, R>),
    /// Two parts, and the reduction of their outputs.
    Two(Branch<'c, P, L, R>, Branch<'c, P, L, R>, Joint<'c, R>),
}

/// The reduction of two neighbors' outputs.
#[derive(Debug)]
pub(crate) struct Joint<'c, R> {
    pub(crate) reduction: R,
    pub(crate) call: &'c Call,
}

impl<R> Joint<'_, R> {
    /// Reduces two outputs, unless a task of the call has panicked. After a panic some parts may not have run, so the
    /// two outputs might not be neighbors. A worker that skips a part has seen that the call has failed. A later
    /// reduction of that part's output comes after that, and sees it too.
    #[inline]
    pub(crate) fn reduce<T>(&self, left: R::Output, right: R::Output) -> R::Output
    where
        R: Reduction<T>,
    {
        if self.call.has_failed() {
            drop(right);
            return left;
        }
        self.reduction.reduce(left, right)
    }

    /// Whether no later output can change this one. Always false after a panic.
    #[inline]
    pub(crate) fn is_final<T>(&self, output: &R::Output) -> bool
    where
        R: Reduction<T>,
    {
        !self.call.has_failed() && self.reduction.is_final(output)
    }
}

impl<'c, P, L, R> Branch<'c, P, L, R>
where
    P: Producer,
    L: Policy,
    R: Reduction<P::Item>,
{
    pub(crate) fn root(producer: P, policy: L, reduction: R, call: &'c Call) -> Self {
        Branch {
            producer,
            policy,
            reduction,
            depth: 0,
            migrated: false,
            least: usize::MAX,
            fruitless: 0,
            grown: false,
            call,
        }
    }

    /// Sets whether another worker runs the branch than the one that forked it.
    #[inline]
    pub(crate) fn migrated(mut self, migrated: bool) -> Self {
        self.migrated = migrated;
        self
    }

    #[inline]
    fn task(&self, threads: usize, demand: bool) -> Task {
        Task {
            len: self.producer.size(),
            divisible: self.producer.should_be_divided() && self.fruitless == 0,
            depth: self.depth,
            migrated: self.migrated,
            grown: self.grown,
            demand,
            threads,
        }
    }

    /// Asks the policy for a decision (invariant 3).
    #[inline]
    pub(crate) fn decide(&mut self, threads: usize, demand: bool) -> Decision {
        self.decide_if(threads, demand, |_| true)
    }

    /// Asks the policy only for divisions that must be made (invariant 3).
    #[inline]
    pub(crate) fn decide_what_must_be(&mut self, threads: usize) -> Decision {
        self.decide_if(threads, false, Verdict::is_must)
    }

    #[inline]
    fn decide_if(&mut self, threads: usize, demand: bool, counts: impl FnOnce(Verdict) -> bool) -> Decision {
        let over = self.fruitless > 1 || self.producer.size() == 0 || self.call.has_failed();
        if over || is_stopped::<P::Item, _, _>(&self.policy, &self.reduction) {
            return Decision::Leaf;
        }
        let task = self.task(threads, demand);
        let verdict = self.policy.wants_split(&task);
        if !verdict.divides(&task) || !counts(verdict) {
            return Decision::Leaf;
        }
        match (self.policy.permit_fork(&task), verdict.is_must()) {
            (true, _) => Decision::Divide { task, fork: true },
            (false, true) => Decision::Divide { task, fork: false },
            (false, false) => Decision::Leaf,
        }
    }

    /// Divides, after a [`Decision::Divide`] without a fork: the permit is given back first.
    pub(crate) fn divide_in_turn(mut self, task: &Task) -> Parts<'c, P, L, R> {
        self.policy.return_permit();
        self.divide(task)
    }

    /// Divides, after a [`Decision::Divide`].
    #[inline]
    pub(crate) fn divide(mut self, task: &Task) -> Parts<'c, P, L, R> {
        let (left, right) = self.producer.divide();
        let (left_size, right_size) = (left.size(), right.size());
        let least = self.least.min(task.len);
        let branch = |producer, policy, reduction, fruitless| Branch {
            producer,
            policy,
            reduction,
            depth: self.depth.saturating_add(1),
            migrated: false,
            least,
            fruitless,
            grown: false,
            call: self.call,
        };
        let fruitless = |smaller| if smaller { 0 } else { self.fruitless.saturating_add(1) };
        if left_size == 0 || right_size == 0 {
            self.policy.return_permit();
            let fruitless = fruitless(left_size.max(right_size) < least);
            let (policy, _) = self.policy.split(task);
            let (left_reduction, right_reduction) = self.reduction.divide();
            return Parts::One(if right_size == 0 {
                branch(left, policy, left_reduction, fruitless)
            } else {
                branch(right, policy, right_reduction, fruitless)
            });
        }
        let (left_policy, right_policy) = self.policy.split(task);
        let joint = Joint { reduction: self.reduction.clone(), call: self.call };
        let (left_reduction, right_reduction) = self.reduction.divide();
        let smaller = |size| size < least || task.depth < BLIND_LEVELS;
        let left = branch(left, left_policy, left_reduction, fruitless(smaller(left_size)));
        let right = branch(right, right_policy, right_reduction, fruitless(smaller(right_size)));
        Parts::Two(left, right, joint)
    }

    /// Folds the branch as one task, up to the point where it [grows](Producer::GROWS) and its policy wants the rest
    /// divided. Returns that rest, and the reduction of both outputs.
    pub(crate) fn fold_or_grow(self, threads: usize) -> (R::Output, Option<(Self, Joint<'c, R>)>) {
        let Branch { producer, policy, reduction, depth, migrated, call, .. } = self;
        let start = reduction.start();
        if call.has_failed() {
            // The call has failed, so no one sees this output.
            return (reduction.finish(start), None);
        }
        let mut loops = Growing {
            task: Task { depth, migrated, threads, grown: true, ..Task::new(0) },
            pace: Pace::new(FIRST_NANO_LOOP, LAST_NANO_LOOP),
            policy,
            reduction: &reduction,
            rest: None,
            call,
        };
        let folded = fold_in_loops(producer, start, &reduction, &mut loops);
        let Growing { rest, policy, .. } = loops;
        let Some(producer) = rest else {
            let output = reduction.finish(folded);
            drop(policy);
            return (output, None);
        };
        let joint = Joint { reduction: reduction.clone(), call };
        let (done, reduction) = reduction.divide();
        let output = done.finish(folded);
        let rest = Branch { depth, migrated, grown: true, ..Branch::root(producer, policy, reduction, call) };
        (output, Some((rest, joint)))
    }

    /// Folds the branch as one task. Its policy (and with it any permit) is dropped when the fold is done.
    #[inline]
    pub(crate) fn fold(self) -> R::Output {
        let Branch { producer, policy, reduction, call, .. } = self;
        if call.has_failed() {
            // The call has failed, so no one sees this output.
            return reduction.finish(reduction.start());
        }
        let output = fold_leaf(producer, &policy, &reduction, call);
        drop(policy);
        output
    }
}
