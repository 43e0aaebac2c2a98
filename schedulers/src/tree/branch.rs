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

use crate::tree::call::Call;
use crate::tree::frames::ForkFrame;
use crate::tree::pace::Pace;
use crate::{
    Blocking, Divisible, FoldFacts, NeverLater, NextStep, Node, Policy, Producer, Reduction, StepFold, Steps,
    StepsFacts, Verdict, Workload,
};
use furcate_pool::trace;
use std::marker::PhantomData;
use std::ops::ControlFlow;

/// Folds a producer in steps, from an accumulator on.
#[inline]
pub(crate) fn fold_in_steps<P: Producer, R: Reduction<P::Item>>(
    producer: P,
    start: R::Accumulator,
    reduction: &R,
    steps: &mut impl Steps<P>,
) -> R::Accumulator {
    Blocking::at(producer.partial_fold(Blocking(start), ReductionFold(reduction), steps))
}

/// Folds the items of a step by the reduction.
struct ReductionFold<'r, R>(&'r R);

impl<'s, T, R: Reduction<T>> StepFold<'s, T, Blocking<R::Accumulator>> for ReductionFold<'_, R> {
    type Later = NeverLater;
    const FACTS: FoldFacts = FoldFacts::WHOLE;

    #[inline]
    fn fold<I: Iterator<Item = T>>(
        &mut self,
        Blocking(folded): Blocking<R::Accumulator>,
        items: I,
    ) -> ControlFlow<Blocking<R::Accumulator>, Blocking<R::Accumulator>> {
        Blocking::of(self.0.fold_step(folded, items))
    }

    fn later(&self) -> NeverLater {
        NeverLater::needed()
    }
}

/// Whether a task of this policy and reduction need not continue.
#[inline]
pub(crate) fn is_stopped<W: Workload>(policy: &W::Policy, reduction: &W::Reduction) -> bool {
    (W::Reduction::ENDS.interruptible && reduction.stopped()) || (W::Policy::STOPS && policy.stopped())
}

/// The sizes of the steps between two looks, where the items are cheap: see [`Pace`].
const FIRST_STEP: usize = 1;
const LONGEST_STEP: usize = 1 << 14;

/// Steps that end when the task is no longer needed.
struct Watch<S> {
    stopped: S,
    pace: Pace,
}

impl<P, S: Fn() -> bool> Steps<P> for Watch<S> {
    const FACTS: StepsFacts = StepsFacts::LOOKING;

    #[inline]
    fn next(&mut self, size: usize) -> NextStep {
        // If no units are left, there is nothing to stop.
        if size > 0 && (self.stopped)() {
            return NextStep::Stop;
        }
        NextStep::Fold(self.pace.next(size))
    }

    fn take(&mut self, _right: P) {
        unreachable!("these steps never divide")
    }
}

/// The steps of a task that may [grow](crate::Facts::grows). They end when the task is no longer needed.
struct Growing<'r, W: Workload> {
    policy: W::Policy,
    reduction: &'r W::Reduction,
    /// Facts for the policy; the size is filled in at each question.
    node: Node,
    pace: Pace,
    /// The rest of a task, which was given away.
    rest: Option<W::Producer>,
    call: &'r Call,
}

impl<W: Workload> Steps<W::Producer> for Growing<'_, W> {
    const FACTS: StepsFacts = StepsFacts { grows: true, ..StepsFacts::LOOKING };

    #[inline]
    fn next(&mut self, size: usize) -> NextStep {
        if !Branch::<W>::IN_STEPS {
            return NextStep::Fold(usize::MAX);
        }
        // If no units are left, there is nothing to stop.
        if size > 0 && (self.call.has_failed() || is_stopped::<W>(&self.policy, self.reduction)) {
            return NextStep::Stop;
        }
        NextStep::Fold(self.pace.next(size))
    }

    fn grown(&mut self, size: usize) -> bool {
        let node = Node { len: size, divisible: true, ..self.node };
        // The permit is asked for again when the rest is divided: it is the same one.
        self.policy.wants_split(&node).divides(&node) && self.policy.permit_fork(&node)
    }

    fn take(&mut self, right: W::Producer) {
        self.rest = Some(right);
    }
}

/// Number of levels on which divisions are believed to make progress (invariant 1): enough for parts on any machine,
/// and few enough to end.
pub(crate) const BLIND_LEVELS: u32 = 12;

/// A part of the computation with its policy and its reduction, as they were passed down the division tree.
#[derive(Debug)]
pub(crate) struct Branch<'c, W: Workload> {
    pub(crate) producer: W::Producer,
    pub(crate) policy: W::Policy,
    pub(crate) reduction: W::Reduction,
    pub(crate) position: Position<'c>,
}

/// Position of a branch in the division tree. Its methods name no type of the chain, so they are compiled once for all chains.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Position<'c> {
    pub(crate) marks: Marks,
    /// The least size that the branch or any branch above it has had.
    pub(crate) least: usize,
    pub(crate) call: &'c Call,
}

/// Depth and flags of a branch, in one word.
///
/// As fields they cost a fork 4 ns: a branch is moved in words, and a load of bytes some of which have just been stored by themselves waits
/// for the store.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Marks(u64);

impl Marks {
    const MIGRATED: u64 = 1 << 32;
    const GROWN: u64 = 1 << 33;
    const FRUITLESS: u32 = 40;

    #[inline]
    pub(crate) fn new(depth: u32, fruitless: u8) -> Self {
        Marks(u64::from(depth) | (u64::from(fruitless) << Self::FRUITLESS))
    }

    #[inline]
    pub(crate) fn depth(self) -> u32 {
        self.0 as u32
    }

    /// How many divisions in a row have made the branch no smaller than its [least size](Position::least) (invariant 1).
    #[inline]
    pub(crate) fn fruitless(self) -> u8 {
        (self.0 >> Self::FRUITLESS) as u8
    }

    /// Whether another worker runs the branch than the one that forked it.
    #[inline]
    pub(crate) fn is_migrated(self) -> bool {
        self.0 & Self::MIGRATED != 0
    }

    #[inline]
    pub(crate) fn migrated(self, migrated: bool) -> Self {
        Marks((self.0 & !Self::MIGRATED) | (u64::from(migrated) * Self::MIGRATED))
    }

    /// Whether the branch is the rest of a task that held more than its size had said.
    #[inline]
    fn has_grown(self) -> bool {
        self.0 & Self::GROWN != 0
    }

    #[inline]
    pub(crate) fn grown(self, grown: bool) -> Self {
        Marks((self.0 & !Self::GROWN) | (u64::from(grown) * Self::GROWN))
    }
}

impl<'c> Position<'c> {
    pub(crate) fn root(call: &'c Call) -> Self {
        Position { marks: Marks::new(0, 0).migrated(call.from_outside), least: usize::MAX, call }
    }

    /// Whether a branch of this size is a leaf, whatever its policy says.
    #[inline]
    fn is_over(&self, size: usize) -> bool {
        self.marks.fruitless() > 1 || size == 0 || self.call.has_failed()
    }

    /// Facts about a branch of this size, for its policy.
    #[inline]
    pub(crate) fn node(&self, len: usize, divisible: bool, threads: usize) -> Node {
        Node {
            len,
            divisible: divisible && self.marks.fruitless() == 0,
            depth: self.marks.depth(),
            migrated: self.marks.is_migrated(),
            grown: self.marks.has_grown(),
            threads,
        }
    }

    /// The positions of the two parts of a task, which have these sizes.
    #[inline]
    fn parts(self, node: &Node, left: usize, right: usize, is_one: bool) -> (Self, Self) {
        let least = self.least.min(node.len);
        let depth = self.marks.depth().saturating_add(1);
        let part = |size, believed| {
            let is_fruitful = size < least || believed;
            let fruitless = if is_fruitful { 0 } else { self.marks.fruitless().saturating_add(1) };
            Position { marks: Marks::new(depth, fruitless), least, call: self.call }
        };
        // If one side is empty the other is the whole, and is not believed to be smaller.
        let believed = !is_one && node.depth < BLIND_LEVELS;
        (part(left, believed), part(right, believed))
    }
}

/// The decision about a branch.
pub(crate) enum Decision {
    /// Fold it.
    Leaf,
    /// Divide it as the given task; `fork` says whether the parts may run in parallel.
    Divide { node: Node, fork: bool },
}

/// The result of a division.
pub(crate) enum Divided<'c, W: Workload> {
    /// Everything is on one side (invariant 2).
    One(Branch<'c, W>),
    /// Two parts, and the reduction of their outputs.
    Two(Branch<'c, W>, Branch<'c, W>, Joint<'c, W>),
}

/// The reduction of two neighbors' outputs.
#[derive(Debug)]
pub(crate) struct Joint<'c, W: Workload> {
    pub(crate) reduction: W::Reduction,
    pub(crate) call: &'c Call,
}

impl<W: Workload> Joint<'_, W> {
    /// Reduces two outputs, unless a task of the call has panicked. After a panic some parts may not have run, so the
    /// two outputs might not be neighbors. A worker that skips a part has seen that the call has failed. A later
    /// reduction of that part's output comes after that, and sees it too.
    #[inline]
    pub(crate) fn reduce(&self, left: W::Output, right: W::Output) -> W::Output {
        if self.call.has_failed() {
            drop(right);
            return left;
        }
        let _reduction = trace::reduction();
        self.reduction.reduce(left, right)
    }

    /// Whether no later output can change this one. Always false after a panic.
    #[inline]
    pub(crate) fn is_final(&self, output: &W::Output) -> bool {
        !self.call.has_failed() && self.reduction.is_final(output)
    }
}

impl<'c, W: Workload> Branch<'c, W> {
    #[inline]
    pub(crate) fn root(work: W, call: &'c Call) -> Self {
        let (producer, policy, reduction) = work.parts();
        Branch { producer, policy, reduction, position: Position::root(call) }
    }

    /// Sets whether another worker runs the branch than the one that forked it.
    #[inline]
    pub(crate) fn migrated(mut self, migrated: bool) -> Self {
        self.position.marks = self.position.marks.migrated(migrated);
        self
    }

    /// Asks the policy for a decision (invariant 3).
    #[inline]
    pub(crate) fn decide(&mut self, threads: usize) -> Decision {
        self.decide_if(threads, Verdict::Pass)
    }

    /// Asks the policy only for divisions that must be made (invariant 3).
    #[inline]
    pub(crate) fn decide_what_must_be(&mut self, threads: usize) -> Decision {
        self.decide_if(threads, Verdict::TooLong)
    }

    /// Verdicts that are weaker than `weakest` do not count.
    #[inline]
    fn decide_if(&mut self, threads: usize, weakest: Verdict) -> Decision {
        let size = self.producer.size();
        if self.position.is_over(size) || is_stopped::<W>(&self.policy, &self.reduction) {
            return Decision::Leaf;
        }
        let node = self.position.node(size, self.producer.should_be_divided(), threads);
        let verdict = self.policy.wants_split(&node);
        if !verdict.divides(&node) || verdict < weakest {
            return Decision::Leaf;
        }
        let fork = self.policy.permit_fork(&node);
        if fork || verdict >= Verdict::TooLong { Decision::Divide { node, fork } } else { Decision::Leaf }
    }

    /// Divides, after a [`Decision::Divide`] without a fork: the permit is given back first.
    pub(crate) fn divide_in_turn(mut self, node: &Node) -> Divided<'c, W> {
        self.policy.return_permit();
        self.divide(node)
    }

    /// Divides, after a [`Decision::Divide`].
    #[inline]
    pub(crate) fn divide(mut self, node: &Node) -> Divided<'c, W> {
        let (left, right) = self.producer.divide();
        let (left_size, right_size) = (left.size(), right.size());
        let is_one = left_size == 0 || right_size == 0;
        if is_one {
            self.policy.return_permit();
        }
        let positions = self.position.parts(node, left_size, right_size, is_one);
        let policies = self.policy.split(node);
        let joint = Joint { reduction: self.reduction.clone(), call: self.position.call };
        let reductions = self.reduction.divide();
        if is_one {
            return Self::one(right_size == 0, (left, right), policies.0, reductions, positions);
        }
        let left =
            Branch { producer: left, policy: policies.0, reduction: reductions.0, position: positions.0 };
        let right =
            Branch { producer: right, policy: policies.1, reduction: reductions.1, position: positions.1 };
        Divided::Two(left, right, joint)
    }

    /// The side of a division that holds everything (invariant 2). Out of line: with it inside, a fork takes 18 instructions more.
    #[cold]
    fn one(
        is_left: bool,
        producers: (W::Producer, W::Producer),
        policy: W::Policy,
        reductions: (W::Reduction, W::Reduction),
        positions: (Position<'c>, Position<'c>),
    ) -> Divided<'c, W> {
        let (producer, empty, reduction, position) = if is_left {
            (producers.0, producers.1, reductions.0, positions.0)
        } else {
            (producers.1, producers.0, reductions.1, positions.1)
        };
        // Dropped before the return value is made: a panic in this drop would leak that value. (A part behind a closed gate has size 0, and
        // may hold items.)
        drop(empty);
        Divided::One(Branch { producer, policy, reduction, position })
    }

    /// Folds the branch as one task, up to the point where it [grows](crate::Facts::grows) and its policy wants the rest
    /// divided. Returns that rest, and the reduction of both outputs.
    pub(crate) fn fold_or_grow(self, threads: usize) -> (W::Output, Option<(Self, Joint<'c, W>)>) {
        let Branch { producer, policy, reduction, position } = self;
        let Position { marks, call, .. } = position;
        let start = reduction.start();
        if call.has_failed() {
            // The call has failed, so no one sees this output.
            return (reduction.finish(start), None);
        }
        let mut steps = Growing::<W> {
            node: Node { grown: true, ..position.node(0, false, threads) },
            pace: Pace::new(FIRST_STEP, LONGEST_STEP),
            policy,
            reduction: &reduction,
            rest: None,
            call,
        };
        let leaf = trace::leaf(producer.size());
        let folded = fold_in_steps(producer, start, &reduction, &mut steps);
        drop(leaf);
        let Growing { rest, policy, .. } = steps;
        let Some(producer) = rest else {
            let output = reduction.finish(folded);
            drop(policy);
            return (output, None);
        };
        let joint = Joint { reduction: reduction.clone(), call };
        let (done, reduction) = reduction.divide();
        let output = done.finish(folded);
        let marks = Marks::new(marks.depth(), 0).migrated(marks.is_migrated()).grown(true);
        let position = Position { marks, ..Position::root(call) };
        let rest = Branch { producer, policy, reduction, position };
        (output, Some((rest, joint)))
    }

    /// Folds the branch as one task. If it grows and its policy wants the rest divided, `run` is called for the rest, unless no
    /// further frame may lie on the stack.
    #[inline]
    pub(crate) fn fold_and_go_on<F: FnOnce(Self) -> W::Output>(self, run: F) -> W::Output {
        (GrowingLeaf::<W, F>::FOLD)(self, run)
    }

    /// Folds the branch as one task. Its policy (and with it any permit) is dropped when the fold is done.
    ///
    /// If the reduction or the policy can [stop](Policy::STOPS) the task, it is folded in steps. Between them the task
    /// checks whether it is still needed. It is not needed either if another task of the call has panicked.
    #[inline]
    pub(crate) fn fold(self) -> W::Output {
        let Branch { producer, policy, reduction, position } = self;
        if position.call.has_failed() {
            // The call has failed, so no one sees this output.
            return reduction.finish(reduction.start());
        }
        let leaf = trace::leaf(producer.size());
        let output = (Self::FOLD)(producer, &policy, &reduction, position.call);
        drop(leaf);
        drop(policy);
        output
    }

    /// Whether a leaf looks between its steps for an early end.
    const IN_STEPS: bool = W::Reduction::ENDS.in_steps || W::Policy::STOPS;

    /// The choice between two ways to fold a leaf, made in a constant, as in `by_terminal.rs`.
    #[expect(clippy::type_complexity, reason = "the three parts of a branch, and its call")]
    const FOLD: fn(W::Producer, &W::Policy, &W::Reduction, &Call) -> W::Output = if Self::IN_STEPS {
        Self::fold_in_steps
    } else {
        |producer, _, reduction, _| reduction.finish(reduction.fold(reduction.start(), producer.into_iter()))
    };

    #[inline]
    fn fold_in_steps(
        producer: W::Producer,
        policy: &W::Policy,
        reduction: &W::Reduction,
        call: &Call,
    ) -> W::Output {
        let mut watch = Watch {
            stopped: || call.has_failed() || is_stopped::<W>(policy, reduction),
            pace: Pace::new(FIRST_STEP, LONGEST_STEP),
        };
        reduction.finish(fold_in_steps(producer, reduction.start(), reduction, &mut watch))
    }
}

/// The choice between two ways to fold a leaf that may grow, made in a constant, as in `by_terminal.rs`.
struct GrowingLeaf<W: Workload, F>(PhantomData<(W, F)>);

/// Folds a leaf. `F` runs the rest, if the leaf grows.
type FoldGrowing<'c, W, F> = fn(Branch<'c, W>, F) -> <W as Workload>::Output;

impl<'c, W: Workload, F: FnOnce(Branch<'c, W>) -> W::Output> GrowingLeaf<W, F> {
    const FOLD: FoldGrowing<'c, W, F> =
        if W::Producer::FACTS.grows { Self::in_two } else { |branch, _| branch.fold() };

    fn in_two(branch: Branch<'c, W>, run: F) -> W::Output {
        let Some(_frame) = ForkFrame::enter() else { return branch.fold() };
        let threads = branch.position.call.threads;
        match branch.fold_or_grow(threads) {
            (output, None) => output,
            (output, Some((rest, joint))) => joint.reduce(output, run(rest)),
        }
    }
}
