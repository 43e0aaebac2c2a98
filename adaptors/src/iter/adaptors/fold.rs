//! The adaptor `fold`.

use crate::iter::adaptor::{adaptor, divide_by_cut};
use crate::iter::copies::copies;
use crate::iter::task_state::{Call, Seed};
use crate::iter::{ParallelIterator, inherit_schedule};
use furcate_schedulers::{Divisible, NanoFold, NanoLoops, Producer, Suspendable};
use std::convert::Infallible;
use std::ops::ControlFlow;

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
        = Folding<I::Producer<'a>, Call<'a, ID>, Throughout<'a, F>>
    where
        Self: 'a;

    inherit_schedule!(base: I);

    #[inline]
    fn producer(&mut self) -> Self::Producer<'_> {
        Folding::new(self.base.producer(), Call(&self.identity), Throughout(&self.fold_op))
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
        ControlFlow::Continue(items.fold(state, self.0))
    }

    #[inline]
    fn finish(self, end: ControlFlow<Infallible, S>) -> S {
        let ControlFlow::Continue(state) = end;
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
    /// A task yields one item, so every cut makes one more.
    const PIECES: bool = true;
    /// A task has one accumulator for all loops.
    const LOOPS_CUT: bool = P::LOOPS_CUT;
    const GROWS: bool = P::GROWS;
    const COSTLY_CUTS: bool = P::COSTLY_CUTS;
    const IN_ORDER: bool = P::IN_ORDER;

    fn partial_fold<B, C, G, L>(self, init: B, mut fold: G, loops: &mut L) -> ControlFlow<C, B>
    where
        G: NanoFold<F::Output, B, C>,
        L: NanoLoops<Self>,
    {
        let Folding { part: Some((base, seed)), how } = self else {
            return fold.fold(init, std::iter::empty());
        };
        let wrap = |right| Folding::new(right, seed.clone(), how);
        let unwrap = |back: Self| back.part.map(|(base, _)| base);
        let end =
            base.partial_fold(seed.clone().into_state(), FoldLoops(how), &mut loops.wrapping(wrap, unwrap));
        fold.fold(init, std::iter::once(how.finish(end)))
    }

    fn suspending_fold<'s, B, G, L>(self, init: B, mut fold: G, loops: &mut L) -> ControlFlow<B, B>
    where
        Self: 's,
        B: Suspendable<'s>,
        G: NanoFold<F::Output, B, B> + Clone + Send + 's,
        L: NanoLoops<Self>,
    {
        let Folding { part: Some((base, seed)), how } = self else {
            return fold.fold(init, std::iter::empty());
        };
        let by_loop = FoldByLoop { fold, seed: seed.clone(), how };
        let wrap = |right| Folding::new(right, seed.clone(), how);
        let unwrap = |back: Self| back.part.map(|(base, _)| base);
        base.suspending_fold(init, by_loop, &mut loops.wrapping(wrap, unwrap))
    }
}

/// Folds the items of every step to one.
#[derive(Clone)]
struct FoldByLoop<G, S, F> {
    fold: G,
    seed: S,
    how: F,
}

impl<T, B, C, G, S, F> NanoFold<T, B, C> for FoldByLoop<G, S, F>
where
    S: Seed,
    F: FoldTask<S::State, T>,
    G: NanoFold<F::Output, B, C>,
{
    const IS_WHOLE: bool = G::IS_WHOLE;
    const WAITS: bool = G::WAITS;
    const GOES_FIRST: bool = G::GOES_FIRST;

    fn fold<I: Iterator<Item = T>>(&mut self, folded: B, items: I) -> ControlFlow<C, B> {
        let end = self.how.fold_items(self.seed.clone().into_state(), items);
        self.fold.fold(folded, std::iter::once(self.how.finish(end)))
    }
}

/// Folds every item of every step.
struct FoldLoops<F>(F);

impl<S, T, F: FoldTask<S, T>> NanoFold<T, S, F::Break> for FoldLoops<F> {
    #[inline]
    fn fold<I: Iterator<Item = T>>(&mut self, state: S, items: I) -> ControlFlow<F::Break, S> {
        self.0.fold_items(state, items)
    }
}
