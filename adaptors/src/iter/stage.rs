//! Adaptors that treat every item by itself, or item after item: `map`, `filter`, `map_init`, `while_some` and so on.
//!
//! A *stage* is the one thing that such an adaptor says: into which std iterator it turns a std iterator. Division, sizes, steps,
//! facts and futures are the producer's, [`Adapted`], and are written here once. There are three kinds of stages:
//!
//! | kind | says | examples |
//! |---|---|---|
//! | [`Stage`] | what becomes of the items of a leaf | `map`, `filter`, `flat_map_iter` |
//! | [`Gate`](super::gate::Gate) | whether an item passes, and whether any further one will | `while_some`, `take_any` |
//! | [`TaskStage`] | the same as `Stage`, with a state that a task keeps | `map_init`, `map_with` |
//!
//! The first two become the third: a [`PerItem`] has no state, and a [`Through`](super::gate::Through) may be closed.

use super::ParallelIterator;
use super::adaptor::{adaptor, divide_by_cut};
use furcate_schedulers::{
    Divisible, Facts, FoldFacts, IndexedProducer, NextStep, PeekProducer, Producer, StepFold, Steps,
    StepsFacts, Suspendable,
};
use std::ops::ControlFlow;

/// An item-wise operation: turns the sequential iterator over a leaf into another one.
///
/// Implement this trait for an adaptor of your own, and apply it by [`stage`](super::ParallelIterator::stage). Every
/// scheduler, policy and terminal then works with it, and `io_await` before and behind it.
///
/// A stage is cloned for every part of the computation, so it should be small: a reference to a closure, say.
///
/// ```
/// use furcate::iter::{Stage, Staged};
/// use furcate::prelude::*;
/// use std::iter::Map;
///
/// /// Halves numbers.
/// #[derive(Clone)]
/// struct Halve;
///
/// impl Stage<u64> for Halve {
///     type Item = u64;
///     type Iter<I: Iterator<Item = u64>> = Map<I, fn(u64) -> u64>;
///     fn apply<I: Iterator<Item = u64>>(self, items: I) -> Self::Iter<I> {
///         items.map(|x| x / 2)
///     }
/// }
///
/// trait Halves: ParallelIterator<Item = u64> {
///     fn halve(self) -> Staged<Self, Halve> {
///         self.stage(Halve)
///     }
/// }
/// impl<I: ParallelIterator<Item = u64>> Halves for I {}
///
/// assert_eq!((0..6_u64).into_par_iter().halve().collect::<Vec<_>>(), [0, 0, 1, 1, 2, 2]);
/// ```
pub trait Stage<T>: Clone + Send {
    /// Item type that comes out.
    type Item;

    /// The iterator that comes out.
    type Iter<I: Iterator<Item = T>>: Iterator<Item = Self::Item>;

    /// Facts about the operation. By default several items may come out for each item.
    const FACTS: StageFacts = StageFacts::MANY;

    /// Adapts the items of a leaf, or of a step of a task.
    fn apply<I: Iterator<Item = T>>(self, items: I) -> Self::Iter<I>;
}

/// Facts about a [`Stage`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StageFacts {
    /// Whether at most one item comes out for each item, at once: see [`Facts::single`].
    pub single: bool,

    /// Whether the operation may be applied to an item more than once, at no cost and with no effect.
    pub free: bool,

    /// Whether an item goes on before new ones begin: see [`FoldFacts::goes_first`].
    pub goes_first: bool,

    /// Whether the items keep their order: see [`Facts::in_order`].
    pub in_order: bool,
}

impl StageFacts {
    /// Several items may come out for each item, in order.
    pub const MANY: StageFacts = StageFacts { single: false, free: false, goes_first: false, in_order: true };

    /// At most one item comes out for each item, in order.
    pub const ONE: StageFacts = StageFacts { single: true, ..StageFacts::MANY };
}

/// A stage with a state for every task.
pub trait TaskStage<T>: Clone + Send {
    /// Item type that comes out.
    type Item;

    /// The iterator over an adapted leaf. It owns the leaf's state.
    type Leaf<I: Iterator<Item = T>>: Iterator<Item = Self::Item>;

    /// The state of a task. It never leaves the task's thread.
    type State;

    /// See [`Stage::FACTS`].
    const FACTS: StageFacts = StageFacts::MANY;

    /// Adapts a leaf, which is a task of its own.
    fn leaf<I: Iterator<Item = T>>(self, base: I) -> Self::Leaf<I>;

    /// Makes the state of a task.
    fn start(&self) -> Self::State;

    /// Folds the adapted items of a step. `Break` ends the task.
    fn fold_step<'s, I, B, F>(
        &self,
        state: &mut Self::State,
        folded: B,
        items: I,
        fold: &mut F,
    ) -> ControlFlow<B, B>
    where
        I: Iterator<Item = T>,
        B: Suspendable<'s>,
        F: StepFold<'s, Self::Item, B>;

    /// Whether no item will come out any more, in any task. If so, this stays true.
    #[inline]
    fn is_closed(&self) -> bool {
        false
    }
}

/// A [`Stage`], without a state.
#[derive(Clone, Copy, Debug)]
pub struct PerItem<S>(pub(crate) S);

impl<T, S: Stage<T>> TaskStage<T> for PerItem<S> {
    type Item = S::Item;
    type Leaf<I: Iterator<Item = T>> = S::Iter<I>;
    type State = ();

    const FACTS: StageFacts = S::FACTS;

    #[inline]
    fn leaf<I: Iterator<Item = T>>(self, base: I) -> S::Iter<I> {
        self.0.apply(base)
    }

    #[inline]
    fn start(&self) {}

    #[inline]
    fn fold_step<'s, I, B, F>(&self, _: &mut (), folded: B, items: I, fold: &mut F) -> ControlFlow<B, B>
    where
        I: Iterator<Item = T>,
        B: Suspendable<'s>,
        F: StepFold<'s, S::Item, B>,
    {
        fold.fold(folded, self.0.clone().apply(items))
    }
}

/// Declares a reference to a closure that lies in the adaptor. The producer's parts hold the reference.
macro_rules! borrowed_op {
    ($Op:ident) => {
        #[allow(missing_debug_implementations, reason = "a borrowed closure")]
        pub struct $Op<'a, F>(&'a F);

        $crate::iter::copies::copies!(impl[F] $Op<'_, F>);
    };
}
pub(crate) use borrowed_op;

/// Implements the traits of iterators for an adaptor of a `base: I` with a stage:
///
/// ```text
/// adapt_items! {
///     impl[I, F, R] Map<I, F> by PerItem<MapOp<'a, F>> = |it| PerItem(MapOp(&it.map_op)) => R, peek
///     where [I: ParallelIterator, F: Fn(I::Item) -> R + Sync + Send, R: Send]
/// }
/// ```
///
/// reads: the pieces of a `Map<I, F>` hold a `PerItem<MapOp>`, made of `it: &mut Self`, and give items `R`. The last word says what the adaptor
/// keeps of its base, besides the items: `indexed` positions, `peek` positions and looks at items. An adaptor that `shuts` runs in steps, to end early.
macro_rules! adapt_items {
    (
        impl[$($generics:tt)*] $Name:ident<$($param:tt),*>
        by $Stage:ty = |$it:ident| $stage:expr => $Item:ty $(, $keeps:ident)?
        where [$($bounds:tt)*]
    ) => {
        impl<$($generics)*> $crate::iter::ParallelIterator for $Name<$($param),*>
        where
            $($bounds)*
        {
            type Item = $Item;
            type Producer<'a>
                = $crate::iter::stage::Adapted<I::Producer<'a>, $Stage>
            where
                Self: 'a;

            $crate::iter::stage::adapt_items!(@schedule $($keeps)?);

            #[inline]
            fn producer(&mut self) -> Self::Producer<'_> {
                let $it = self;
                let stage = $stage;
                $crate::iter::stage::Adapted::new($it.base.producer(), stage)
            }

            #[inline]
            fn units(&self) -> Option<usize> {
                self.base.units()
            }
        }

        $crate::iter::stage::adapt_items! {
            @[$($keeps)?] [$($generics)*] [$Name<$($param),*>] [$($bounds)*] [$Stage] |$it| $stage
        }
    };
    (@schedule shuts) => {
        $crate::iter::change_schedule!(
            base: I,
            |_it, base| base.with_policy($crate::iter::gate::InSteps) => $crate::iter::PlanWith<I, $crate::iter::gate::InSteps>
        );
    };
    (@schedule) => {
        $crate::iter::inherit_schedule!(base: I);
    };
    (@schedule $indexed:ident) => {
        $crate::iter::inherit_schedule!(base: I);

        #[inline]
        fn opt_len(&self) -> Option<usize> {
            self.base.opt_len()
        }
    };
    (@[] $($rest:tt)*) => {};
    (@[shuts] $($rest:tt)*) => {};
    (@[indexed] [$($generics:tt)*] [$Type:ty] [$($bounds:tt)*] [$Stage:ty] |$it:ident| $stage:expr) => {
        impl<$($generics)*> $crate::iter::IndexedParallelIterator for $Type
        where
            I: $crate::iter::IndexedParallelIterator,
            $($bounds)*
        {
            type IndexedProducer<'a>
                = $crate::iter::stage::Adapted<I::IndexedProducer<'a>, $Stage>
            where
                Self: 'a;

            #[inline]
            fn indexed_producer(&mut self) -> Self::IndexedProducer<'_> {
                let $it = self;
                let stage = $stage;
                $crate::iter::stage::Adapted::new($it.base.indexed_producer(), stage)
            }

            #[inline]
            fn len(&self) -> usize {
                self.base.len()
            }
        }
    };
    (@[peek] [$($generics:tt)*] [$Type:ty] [$($bounds:tt)*] [$Stage:ty] |$it:ident| $stage:expr) => {
        $crate::iter::stage::adapt_items! { @[indexed] [$($generics)*] [$Type] [$($bounds)*] [$Stage] |$it| $stage }

        impl<$($generics)*> $crate::iter::PeekParallelIterator for $Type
        where
            I: $crate::iter::PeekParallelIterator,
            $($bounds)*
        {
            type PeekProducer<'a>
                = $crate::iter::stage::Adapted<I::PeekProducer<'a>, $Stage>
            where
                Self: 'a;

            #[inline]
            fn peek_producer(&mut self) -> Self::PeekProducer<'_> {
                let $it = self;
                let stage = $stage;
                $crate::iter::stage::Adapted::new($it.base.peek_producer(), stage)
            }
        }
    };
}
pub(crate) use adapt_items;

adaptor! {
    /// A parallel iterator whose items go through a stage: see
    /// [`ParallelIterator::stage`](super::ParallelIterator::stage).
    Staged<I, S> { stage: S }
}

adapt_items! {
    impl[I, S] Staged<I, S> by PerItem<S> = |it| PerItem(it.stage.clone()) => S::Item
    where [I: ParallelIterator, S: Stage<I::Item, Item: Send>]
}

/// The producer of an adaptor with a stage: a part of the base, and the stage.
#[derive(Debug)]
pub struct Adapted<P, S> {
    #[doc(hidden)]
    pub base: P,
    stage: S,
}

impl<P, S> Adapted<P, S> {
    #[inline]
    pub(crate) fn new(base: P, stage: S) -> Self {
        Adapted { base, stage }
    }

    #[inline]
    fn cut(self, cut_base: impl FnOnce(P) -> (P, P)) -> (Self, Self)
    where
        S: Clone,
    {
        let (left, right) = cut_base(self.base);
        (Adapted::new(left, self.stage.clone()), Adapted::new(right, self.stage))
    }
}

impl<P: Divisible + IntoIterator, S: TaskStage<P::Item>> Divisible for Adapted<P, S> {
    /// A part that nothing comes out of is neither divided nor begun.
    #[inline]
    fn size(&self) -> usize {
        if self.stage.is_closed() { 0 } else { self.base.size() }
    }

    #[inline]
    fn should_be_divided(&self) -> bool {
        !self.stage.is_closed() && self.base.should_be_divided()
    }

    divide_by_cut!(P);
}

impl<P: IntoIterator, S: TaskStage<P::Item>> IntoIterator for Adapted<P, S> {
    type Item = S::Item;
    type IntoIter = S::Leaf<P::IntoIter>;

    #[inline]
    fn into_iter(self) -> Self::IntoIter {
        self.stage.leaf(self.base.into_iter())
    }
}

impl<P: Producer, S: TaskStage<P::Item>> Producer for Adapted<P, S> {
    const FACTS: Facts = Facts {
        single: P::FACTS.single && S::FACTS.single,
        in_order: P::FACTS.in_order && S::FACTS.in_order,
        free: P::FACTS.free && S::FACTS.free,
        ..P::FACTS
    };

    #[inline]
    fn is_single(&self) -> bool {
        S::FACTS.single && !self.stage.is_closed() && self.base.is_single()
    }

    #[inline]
    fn partial_fold<'s, B, F, L>(self, init: B, fold: F, steps: &mut L) -> ControlFlow<B, B>
    where
        Self: 's,
        B: Suspendable<'s>,
        F: StepFold<'s, S::Item, B>,
        L: Steps<Self>,
    {
        let Adapted { base, stage } = self;
        let stage = &stage;
        let fold = FoldAdapted { fold, state: stage.start(), stage };
        base.partial_fold(init, fold, &mut BaseSteps { steps, stage })
    }
}

/// Adapts the items of all steps of a task.
struct FoldAdapted<'t, F, S, A> {
    fold: F,
    stage: &'t S,
    state: A,
}

impl<'s, T, B, F, S> StepFold<'s, T, B> for FoldAdapted<'_, F, S, S::State>
where
    B: Suspendable<'s>,
    S: TaskStage<T> + 's,
    F: StepFold<'s, S::Item, B>,
{
    type Later = AdaptLater<F::Later, S>;
    const FACTS: FoldFacts = FoldFacts { goes_first: F::FACTS.goes_first || S::FACTS.goes_first, ..F::FACTS };

    #[inline]
    fn fold<I: Iterator<Item = T>>(&mut self, folded: B, items: I) -> ControlFlow<B, B> {
        self.stage.fold_step(&mut self.state, folded, items, &mut self.fold)
    }

    fn later(&self) -> Self::Later {
        AdaptLater { fold: self.fold.later(), stage: self.stage.clone() }
    }
}

/// Adapts an item that arrives later, with a state of its own.
#[derive(Clone)]
struct AdaptLater<F, S> {
    fold: F,
    stage: S,
}

impl<'s, T, B, F, S> StepFold<'s, T, B> for AdaptLater<F, S>
where
    B: Suspendable<'s>,
    S: TaskStage<T> + 's,
    F: StepFold<'s, S::Item, B, Later = F> + Clone + Send + 's,
{
    type Later = Self;
    const FACTS: FoldFacts = FoldFacts { goes_first: F::FACTS.goes_first || S::FACTS.goes_first, ..F::FACTS };

    fn fold<I: Iterator<Item = T>>(&mut self, folded: B, items: I) -> ControlFlow<B, B> {
        let mut state = self.stage.start();
        self.stage.fold_step(&mut state, folded, items, &mut self.fold)
    }

    fn later(&self) -> Self {
        self.clone()
    }
}

/// The steps of the base. They are the adaptor's steps, until the stage is closed.
struct BaseSteps<'l, L, S> {
    steps: &'l mut L,
    stage: &'l S,
}

impl<P, S, L> Steps<P> for BaseSteps<'_, L, S>
where
    P: IntoIterator,
    S: TaskStage<P::Item>,
    L: Steps<Adapted<P, S>>,
{
    const FACTS: StepsFacts = L::FACTS;

    #[inline]
    fn keeps(&self) -> Option<usize> {
        self.steps.keeps()
    }

    #[inline]
    fn watch(&mut self, size: usize) -> Option<usize> {
        self.steps.watch(size)
    }

    #[inline]
    fn ends_step(&mut self) -> bool {
        self.stage.is_closed() || self.steps.ends_step()
    }

    #[inline]
    fn next(&mut self, size: usize) -> NextStep {
        if self.stage.is_closed() { NextStep::Stop } else { self.steps.next(size) }
    }

    #[inline]
    fn take(&mut self, right: P) {
        self.steps.take(Adapted::new(right, self.stage.clone()));
    }

    #[inline]
    fn take_back(&mut self) -> Option<P> {
        self.steps.take_back().map(|back| back.base)
    }

    #[inline]
    fn grown(&mut self, size: usize) -> bool {
        self.steps.grown(size)
    }

    #[inline]
    fn ahead(&mut self, size: usize) -> bool {
        self.steps.ahead(size)
    }
}

impl<P, S> IndexedProducer for Adapted<P, S>
where
    P: IndexedProducer,
    S: TaskStage<P::Item>,
    S::Leaf<P::IntoIter>: ExactSizeIterator + DoubleEndedIterator,
{
}

/// A look at an item adapts the item, as taking it does.
impl<P, S> PeekProducer for Adapted<P, S>
where
    P: PeekProducer,
    S: TaskStage<P::Item>,
    S::Leaf<P::IntoIter>: ExactSizeIterator + DoubleEndedIterator,
{
    const LOOKS_ARE_ITEMS: bool = P::LOOKS_ARE_ITEMS && S::FACTS.free;

    #[inline]
    fn peek(&self, index: usize) -> S::Item {
        let item = std::iter::once(self.base.peek(index));
        self.stage.clone().leaf(item).next().expect("an adaptor with positions makes one item of each")
    }
}
