//! Parallel iterators of one type, whatever their parts: chains that are put together at run time.
//!
//! All calls of a scheduler or an adaptor to a producer reach the real one: cuts, lengths, steps, and parts that
//! are given away and taken back in them. So each adaptor is compiled once, on an erased base, and each terminal once,
//! for all chains and schedules.
//!
//! The constants (`Producer::FACTS`, `Policy::STOPS`) do not get through. They choose between
//! ways of running that are all tried by name.

use super::schedule::{AnyPolicy, AnyScheduler};
use furcate::iter::{ExecutorOf, SchedulerOf};
use furcate::prelude::*;
use furcate::{
    Blocking, DefaultExecutor, Facts, FoldFacts, IndexedProducer, NeverLater, NextStep, Plan, Schedule,
    StepFold, Steps, StepsFacts, Suspendable,
};
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex};

/// A parallel iterator of numbers.
pub(crate) struct Items<'s>(Box<dyn AnyIter + 's>);

/// A parallel iterator of numbers that has positions.
pub(crate) struct Indexed<'s>(Box<dyn AnyIndexed + 's>);

impl<'s> Items<'s> {
    pub(crate) fn new<I>(items: I) -> Self
    where
        I: ParallelIterator<
                Item = u64,
                Schedule: Schedule<Policy: Into<AnyPolicy>, Scheduler: Into<AnyScheduler>>,
            > + 's,
    {
        Items(Box::new(items))
    }

    /// Makes items whose policy has a part that cannot be erased: the one for adaptors that may end early, such as
    /// `take_any`. It is left out, so that only schedulers that fold in steps anyway do so.
    pub(crate) fn gated<I>(policy: AnyPolicy, items: I) -> Self
    where
        I: ParallelIterator<Item = u64, Schedule: Schedule<Scheduler: Into<AnyScheduler>>> + 's,
    {
        Items(Box::new(Gated { policy, items }))
    }
}

impl<'s> Indexed<'s> {
    pub(crate) fn new<I>(items: I) -> Self
    where
        I: IndexedParallelIterator<
                Item = u64,
                Schedule: Schedule<Policy: Into<AnyPolicy>, Scheduler: Into<AnyScheduler>>,
            > + 's,
    {
        Indexed(Box::new(items))
    }
}

trait AnyIter: Send {
    fn lend(&mut self) -> Erased<'_, Forward<'_>>;
    fn known_len(&self) -> Option<usize>;
    fn when(&self) -> AnyPolicy;
    fn how(&self) -> AnyScheduler;
}

trait AnyIndexed: AnyIter {
    fn lend_indexed(&mut self) -> Erased<'_, BothWays<'_>>;
    fn exact_len(&self) -> usize;
}

impl<I> AnyIter for I
where
    I: ParallelIterator<
            Item = u64,
            Schedule: Schedule<Policy: Into<AnyPolicy>, Scheduler: Into<AnyScheduler>>,
        >,
{
    fn lend(&mut self) -> Erased<'_, Forward<'_>> {
        Erased(Box::new(self.producer()))
    }
    fn known_len(&self) -> Option<usize> {
        self.opt_len()
    }
    fn when(&self) -> AnyPolicy {
        self.policy().into()
    }
    fn how(&self) -> AnyScheduler {
        self.scheduler().into()
    }
}

impl<I> AnyIndexed for I
where
    I: IndexedParallelIterator<
            Item = u64,
            Schedule: Schedule<Policy: Into<AnyPolicy>, Scheduler: Into<AnyScheduler>>,
        >,
{
    fn lend_indexed(&mut self) -> Erased<'_, BothWays<'_>> {
        Erased(Box::new(self.indexed_producer()))
    }
    fn exact_len(&self) -> usize {
        self.len()
    }
}

struct Gated<I> {
    policy: AnyPolicy,
    items: I,
}

impl<I: ParallelIterator<Item = u64, Schedule: Schedule<Scheduler: Into<AnyScheduler>>>> ParallelIterator
    for Gated<I>
{
    type Item = u64;
    type Producer<'a>
        = I::Producer<'a>
    where
        Self: 'a;
    type Schedule = Plan<AnyPolicy, SchedulerOf<I>, ExecutorOf<I>>;

    fn producer(&mut self) -> Self::Producer<'_> {
        self.items.producer()
    }
    fn schedule(&self) -> Self::Schedule {
        let Plan { scheduler, executor, .. } = self.items.schedule().into_plan();
        Plan { policy: self.policy.clone(), scheduler, executor }
    }
    fn opt_len(&self) -> Option<usize> {
        self.items.opt_len()
    }
}

macro_rules! erased_iterator {
    ($Name:ident) => {
        impl ParallelIterator for $Name<'_> {
            type Item = u64;
            type Producer<'a>
                = Erased<'a, Forward<'a>>
            where
                Self: 'a;
            type Schedule = Plan<AnyPolicy, AnyScheduler>;

            fn producer(&mut self) -> Self::Producer<'_> {
                self.0.lend()
            }
            fn schedule(&self) -> Self::Schedule {
                Plan { policy: self.0.when(), scheduler: self.0.how(), executor: DefaultExecutor::default() }
            }
            fn opt_len(&self) -> Option<usize> {
                self.0.known_len()
            }
        }
    };
}
erased_iterator!(Items);
erased_iterator!(Indexed);

impl IndexedParallelIterator for Indexed<'_> {
    type IndexedProducer<'a>
        = Erased<'a, BothWays<'a>>
    where
        Self: 'a;

    fn indexed_producer(&mut self) -> Self::IndexedProducer<'_> {
        self.0.lend_indexed()
    }
    fn len(&self) -> usize {
        self.0.exact_len()
    }
}

/// The leaf of a producer without positions.
pub(crate) type Forward<'a> = Box<dyn Iterator<Item = u64> + 'a>;

/// The leaf of a producer with positions.
pub(crate) type BothWays<'a> = Box<dyn Walk + 'a>;

pub(crate) trait Walk: ExactSizeIterator<Item = u64> + DoubleEndedIterator {}
impl<I: ExactSizeIterator<Item = u64> + DoubleEndedIterator> Walk for I {}

/// A way to erase a leaf.
trait Enclose<I> {
    fn enclose(leaf: I) -> Self;
}

impl<'a, I: Iterator<Item = u64> + 'a> Enclose<I> for Forward<'a> {
    fn enclose(leaf: I) -> Self {
        Box::new(leaf)
    }
}

impl<'a, I: ExactSizeIterator<Item = u64> + DoubleEndedIterator + 'a> Enclose<I> for BothWays<'a> {
    fn enclose(leaf: I) -> Self {
        Box::new(leaf)
    }
}

/// A producer with leaves of type `I`.
pub(crate) struct Erased<'a, I>(Box<dyn AnyProducer<'a, I> + 'a>);

/// The fold of the items of a step; the accumulator is captured.
type Fold<'f> = dyn FnMut(&mut dyn Iterator<Item = u64>) -> ControlFlow<()> + 'f;

trait AnyProducer<'a, I>: Send {
    fn any_size(&self) -> usize;
    fn any_divisible(&self) -> bool;
    fn any_divide(self: Box<Self>) -> (Erased<'a, I>, Erased<'a, I>);
    fn any_divide_at(self: Box<Self>, index: usize) -> (Erased<'a, I>, Erased<'a, I>);
    fn any_into_iter(self: Box<Self>) -> I;
    /// Folds in steps that divide. `watching` folds in steps that do not: [`StepsFacts::divides`].
    fn dividing(self: Box<Self>, fold: &mut Fold<'_>, steps: &mut dyn Loops<Erased<'a, I>>);
    fn watching(self: Box<Self>, fold: &mut Fold<'_>, steps: &mut dyn Loops<Erased<'a, I>>);
}

/// [`Steps`] without the constant.
trait Loops<P> {
    fn next(&mut self, size: usize) -> NextStep;
    fn take(&mut self, right: P);
    fn take_back(&mut self) -> Option<P>;
}

impl<P, L: Steps<P>> Loops<P> for L {
    fn next(&mut self, size: usize) -> NextStep {
        Steps::next(self, size)
    }
    fn take(&mut self, right: P) {
        Steps::take(self, right);
    }
    fn take_back(&mut self) -> Option<P> {
        Steps::take_back(self)
    }
}

impl<'a, I, P> AnyProducer<'a, I> for P
where
    P: Producer<Item = u64> + 'a,
    I: Enclose<P::IntoIter> + 'a,
{
    fn any_size(&self) -> usize {
        self.size()
    }
    fn any_divisible(&self) -> bool {
        self.should_be_divided()
    }
    fn any_divide(self: Box<Self>) -> (Erased<'a, I>, Erased<'a, I>) {
        let (left, right) = self.divide();
        (Erased(Box::new(left)), Erased(Box::new(right)))
    }
    fn any_divide_at(self: Box<Self>, index: usize) -> (Erased<'a, I>, Erased<'a, I>) {
        let (left, right) = self.divide_at(index);
        (Erased(Box::new(left)), Erased(Box::new(right)))
    }
    fn any_into_iter(self: Box<Self>) -> I {
        I::enclose((*self).into_iter())
    }
    fn dividing(self: Box<Self>, fold: &mut Fold<'_>, steps: &mut dyn Loops<Erased<'a, I>>) {
        let _ =
            self.partial_fold(Blocking(()), ErasedFold(fold), &mut Real::<_, _, true> { steps, given: None });
    }
    fn watching(self: Box<Self>, fold: &mut Fold<'_>, steps: &mut dyn Loops<Erased<'a, I>>) {
        let _ = self.partial_fold(
            Blocking(()),
            ErasedFold(fold),
            &mut Real::<_, _, false> { steps, given: None },
        );
    }
}

struct ErasedFold<'f, 'c>(&'f mut Fold<'c>);

impl<'s> StepFold<'s, u64, Blocking<()>> for ErasedFold<'_, '_> {
    type Later = NeverLater;
    const FACTS: FoldFacts = FoldFacts::NONE;
    fn fold<I: Iterator<Item = u64>>(
        &mut self,
        _: Blocking<()>,
        mut items: I,
    ) -> ControlFlow<Blocking<()>, Blocking<()>> {
        Blocking::of((self.0)(&mut items))
    }
    fn later(&self) -> NeverLater {
        NeverLater::needed()
    }
}

/// The steps of a real producer of type `P`, which forward to those of an erased one.
struct Real<'l, L: ?Sized, P, const DIVIDES: bool> {
    steps: &'l mut L,
    /// The part that was given away last, if it is still there.
    given: Option<Arc<Mutex<Option<P>>>>,
}

impl<'a, I, P, const DIVIDES: bool> Steps<P> for Real<'_, dyn Loops<Erased<'a, I>> + '_, P, DIVIDES>
where
    P: Producer<Item = u64> + 'a,
    I: Enclose<P::IntoIter> + 'a,
{
    const FACTS: StepsFacts = StepsFacts { divides: DIVIDES, ..StepsFacts::DIVIDING };

    fn next(&mut self, size: usize) -> NextStep {
        self.steps.next(size)
    }
    fn take(&mut self, right: P) {
        let given = Arc::new(Mutex::new(Some(right)));
        self.steps.take(Erased(Box::new(Given(Arc::clone(&given)))));
        self.given = Some(given);
    }
    fn take_back(&mut self) -> Option<P> {
        self.steps.take_back()?;
        let back = self.given.take().expect("only what was given comes back");
        let back = back.lock().unwrap().take();
        Some(back.expect("what comes back is there"))
    }
}

/// A producer that was given away. Its user takes it, unless it is taken back before.
struct Given<P>(Arc<Mutex<Option<P>>>);

impl<P> Given<P> {
    fn take(&self) -> Box<P> {
        Box::new(self.0.lock().unwrap().take().expect("it was not taken back"))
    }
    fn look<T>(&self, look: impl FnOnce(&P) -> T) -> T {
        look(self.0.lock().unwrap().as_ref().expect("it was not taken back"))
    }
}

impl<'a, I, P> AnyProducer<'a, I> for Given<P>
where
    P: Producer<Item = u64> + 'a,
    I: Enclose<P::IntoIter> + 'a,
{
    fn any_size(&self) -> usize {
        self.look(P::size)
    }
    fn any_divisible(&self) -> bool {
        self.look(P::should_be_divided)
    }
    fn any_divide(self: Box<Self>) -> (Erased<'a, I>, Erased<'a, I>) {
        self.take().any_divide()
    }
    fn any_divide_at(self: Box<Self>, index: usize) -> (Erased<'a, I>, Erased<'a, I>) {
        self.take().any_divide_at(index)
    }
    fn any_into_iter(self: Box<Self>) -> I {
        self.take().any_into_iter()
    }
    fn dividing(self: Box<Self>, fold: &mut Fold<'_>, steps: &mut dyn Loops<Erased<'a, I>>) {
        self.take().dividing(fold, steps);
    }
    fn watching(self: Box<Self>, fold: &mut Fold<'_>, steps: &mut dyn Loops<Erased<'a, I>>) {
        self.take().watching(fold, steps);
    }
}

impl<I> Divisible for Erased<'_, I> {
    fn size(&self) -> usize {
        self.0.any_size()
    }
    fn should_be_divided(&self) -> bool {
        self.0.any_divisible()
    }
    fn divide(self) -> (Self, Self) {
        self.0.any_divide()
    }
    fn divide_at(self, index: usize) -> (Self, Self) {
        self.0.any_divide_at(index)
    }
}

impl<I: Iterator<Item = u64>> IntoIterator for Erased<'_, I> {
    type Item = u64;
    type IntoIter = I;
    fn into_iter(self) -> I {
        self.0.any_into_iter()
    }
}

impl<I: Iterator<Item = u64>> Producer for Erased<'_, I> {
    const FACTS: Facts = Facts::ITEMS;

    fn partial_fold<'s, B, F, L>(self, init: B, mut fold: F, steps: &mut L) -> ControlFlow<B, B>
    where
        Self: 's,
        B: Suspendable<'s>,
        F: StepFold<'s, u64, B>,
        L: Steps<Self>,
    {
        let (mut folded, mut end) = (Some(init), None);
        let mut step = |items: &mut dyn Iterator<Item = u64>| match fold
            .fold(folded.take().expect("nothing is folded after the end"), items)
        {
            ControlFlow::Continue(more) => {
                folded = Some(more);
                ControlFlow::Continue(())
            }
            ControlFlow::Break(with) => {
                end = Some(with);
                ControlFlow::Break(())
            }
        };
        if L::FACTS.divides {
            self.0.dividing(&mut step, steps)
        } else {
            self.0.watching(&mut step, steps)
        }
        match (end, folded) {
            (Some(end), _) => ControlFlow::Break(end),
            (None, folded) => ControlFlow::Continue(folded.expect("there was no end")),
        }
    }
}

impl IndexedProducer for Erased<'_, BothWays<'_>> {}
