//! The adaptor `fold`.

use crate::iter::adaptor::{adaptor, divide_by_cut};
use crate::iter::copies::copies;
use crate::iter::task_state::{CallSeed, Seed};
use crate::iter::{ParallelIterator, inherit_schedule};
use furcate_schedulers::{ByRef, Divisible, Facts, FoldFacts, Producer, StepFold, Steps, Suspendable};
use std::convert::Infallible;
use std::iter;
use std::ops::ControlFlow::{self, Break, Continue};

adaptor! {
    /// Folds the items of every task to one: see [`ParallelIterator::fold`].
    ///
    /// ```
    /// use furcate::prelude::*;
    /// let it: furcate::iter::Fold<_, _, _> = (0..5).into_par_iter().fold(|| 0, |sum, x| sum + x);
    /// assert_eq!(it.sum::<i32>(), 10); // the tasks' sums
    /// ```
    Fold<I, ID, F> {
        identity: ID,
        fold_op: F,
    }
}

impl<I, ID, F, T> ParallelIterator for Fold<I, ID, F>
where
    I: ParallelIterator,
    ID: Fn() -> T + Sync + Send,
    F: Fn(T, I::Item) -> T + Sync + Send,
    T: Send,
{
    type Item = T;
    type Producer<'a>
        = Folding<I::Producer<'a>, CallSeed<'a, ID>, Throughout<'a, F>>
    where
        Self: 'a;

    inherit_schedule!(base: I);

    #[inline]
    fn producer(&mut self) -> Self::Producer<'_> {
        Folding::new(self.base.producer(), CallSeed(&self.identity), Throughout(&self.fold_op))
    }
}

/// The way in which a task folds items of type `T` to one.
pub trait FoldTask<S, T>: Copy + Send {
    /// Result that ends the task before its items do.
    type Break;

    /// Item type that comes out.
    type Output;

    /// Folds the items of a leaf or of a step.
    fn fold_items<I: Iterator<Item = T>>(self, state: S, items: I) -> ControlFlow<Self::Break, S>;

    /// Ends the task.
    fn finish(self, end: ControlFlow<Self::Break, S>) -> Self::Output;
}

/// Folds all items of a task.
#[allow(missing_debug_implementations, reason = "a borrowed closure")]
pub struct Throughout<'a, F>(pub(super) &'a F);

copies!(impl[F] Throughout<'_, F>);

impl<S, T, F: Fn(S, T) -> S + Sync> FoldTask<S, T> for Throughout<'_, F> {
    type Break = Infallible;
    type Output = S;

    #[inline]
    fn fold_items<I: Iterator<Item = T>>(self, state: S, items: I) -> ControlFlow<Infallible, S> {
        Continue(items.fold(state, self.0))
    }

    #[inline]
    fn finish(self, end: ControlFlow<Infallible, S>) -> S {
        let Continue(state) = end;
        state
    }
}

/// The producer of `fold`, `try_fold` and similar adaptors: a part of the base, the seed of its tasks' accumulators,
/// and the fold. A task's accumulator becomes the one item that the task yields. The leaf is the producer itself, so
/// that nothing is folded before that item is asked for.
#[derive(Debug)]
pub struct Folding<P, S, F> {
    /// The part and its seed; `None` once the item is out.
    part: Option<(P, S)>,
    how: F,
}

impl<P, S: Seed, F: Copy> Folding<P, S, F> {
    #[inline]
    pub(super) fn new(base: P, seed: S, how: F) -> Self {
        Folding { part: Some((base, seed)), how }
    }

    /// Returns the part of the base; `None` once the item is out.
    #[doc(hidden)]
    pub fn into_base(self) -> Option<P> {
        self.part.map(|(base, _)| base)
    }

    /// Cuts the base by a given function.
    #[inline]
    fn cut(self, cut_base: impl FnOnce(P) -> (P, P)) -> (Self, Self) {
        let Folding { part, how } = self;
        let (left, right) = part
            .map(|(base, seed)| {
                let (left, right) = cut_base(base);
                ((left, seed.clone()), (right, seed))
            })
            .unzip();
        (Folding { part: left, how }, Folding { part: right, how })
    }
}

impl<P: Divisible, S: Seed, F: Copy> Divisible for Folding<P, S, F> {
    #[inline]
    fn size(&self) -> usize {
        self.part.as_ref().map_or(0, |(base, _)| base.size())
    }

    #[inline]
    fn should_be_divided(&self) -> bool {
        self.part.as_ref().is_some_and(|(base, _)| base.should_be_divided())
    }

    divide_by_cut!(P);
}

impl<P, S, F> Iterator for Folding<P, S, F>
where
    P: IntoIterator,
    S: Seed,
    F: FoldTask<S::State, P::Item>,
{
    type Item = F::Output;

    #[inline]
    fn next(&mut self) -> Option<F::Output> {
        let (base, seed) = self.part.take()?;
        let end = self.how.fold_items(seed.into_state(), base.into_iter());
        Some(self.how.finish(end))
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        let items = usize::from(self.part.is_some());
        (items, Some(items))
    }
}

impl<P, S, F> Producer for Folding<P, S, F>
where
    P: Producer,
    S: Seed,
    F: FoldTask<S::State, P::Item>,
{
    const FACTS: Facts = Facts { pieces: true, single: false, free: false, ..P::FACTS };

    fn partial_fold<'s, B, G, L>(self, init: B, mut fold: G, steps: &mut L) -> ControlFlow<B, B>
    where
        Self: 's,
        B: Suspendable<'s>,
        G: StepFold<'s, F::Output, B>,
        L: Steps<Self>,
    {
        let Folding { part: Some((base, seed)), how } = self else {
            return fold.fold(init, iter::empty());
        };
        let wrap = |right| Folding::new(right, seed.clone(), how);
        let mut fold = FoldItems { fold, seed: seed.clone(), how, state: None };
        let end = base.partial_fold(init, ByRef(&mut fold), &mut steps.wrapping(wrap, Self::into_base));
        if B::SUSPENDS {
            return end;
        }
        let (Continue(folded) | Break(folded)) = end;
        let FoldItems { mut fold, seed, how, state } = fold;
        let state = state.unwrap_or_else(|| Continue(seed.into_state()));
        fold.fold(folded, iter::once(how.finish(state)))
    }
}

/// Folds the items of a task to one. If the task [suspends](Suspendable::SUSPENDS), folds the items of each step to one, because an item
/// that waits has its place between its neighbors.
struct FoldItems<G, S: Seed, F: FoldTask<S::State, T>, T> {
    fold: G,
    seed: S,
    how: F,
    /// The task's accumulator. `None` before the first step, and always if the task suspends.
    state: Option<ControlFlow<F::Break, S::State>>,
}

impl<'s, T, B, G, S, F> StepFold<'s, T, B> for FoldItems<G, S, F, T>
where
    B: Suspendable<'s>,
    S: Seed + 's,
    F: FoldTask<S::State, T> + 's,
    G: StepFold<'s, F::Output, B>,
{
    type Later = FoldLater<G::Later, S, F>;
    const FACTS: FoldFacts = G::FACTS;

    #[inline]
    fn fold<I: Iterator<Item = T>>(&mut self, folded: B, items: I) -> ControlFlow<B, B> {
        let state = match self.state.take() {
            Some(Continue(state)) => state,
            None => self.seed.clone().into_state(),
            // The task has ended.
            over => {
                self.state = over;
                return Break(folded);
            }
        };
        let end = self.how.fold_items(state, items);
        if B::SUSPENDS {
            return self.fold.fold(folded, iter::once(self.how.finish(end)));
        }
        let is_over = end.is_break();
        self.state = Some(end);
        if is_over { Break(folded) } else { Continue(folded) }
    }

    fn later(&self) -> Self::Later {
        FoldLater { fold: self.fold.later(), seed: self.seed.clone(), how: self.how }
    }
}

/// Folds what becomes of an item that arrives later to one item.
#[derive(Clone)]
struct FoldLater<G, S, F> {
    fold: G,
    seed: S,
    how: F,
}

impl<'s, T, B, G, S, F> StepFold<'s, T, B> for FoldLater<G, S, F>
where
    B: Suspendable<'s>,
    S: Seed + 's,
    F: FoldTask<S::State, T> + 's,
    G: StepFold<'s, F::Output, B, Later = G> + Clone + Send + 's,
{
    type Later = Self;
    const FACTS: FoldFacts = G::FACTS;

    fn fold<I: Iterator<Item = T>>(&mut self, folded: B, items: I) -> ControlFlow<B, B> {
        let end = self.how.fold_items(self.seed.clone().into_state(), items);
        self.fold.fold(folded, iter::once(self.how.finish(end)))
    }

    fn later(&self) -> Self {
        self.clone()
    }
}
