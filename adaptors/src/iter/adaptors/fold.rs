//! `fold`

use crate::iter::adaptor::{adaptor, divide_by_cut};
use crate::iter::task_state::{Call, Seed};
use crate::iter::{ParallelIterator, inherit_schedule};
use furcate_schedulers::{Divisible, NanoFold, NanoLoops, Producer};
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
        = Folding<'a, I::Producer<'a>, Call<'a, ID>, F>
    where
        Self: 'a;

    inherit_schedule!(base: I);

    #[inline]
    fn producer(&mut self) -> Self::Producer<'_> {
        Folding::new(self.base.producer(), Call(&self.identity), &self.fold_op)
    }
}

/// The producer of `fold` and `fold_with`: a part of the base and the seed of its tasks' accumulators. The one item
/// that a task gives is its accumulator. The leaf is the producer itself, so that nothing is folded before the item
/// is asked for.
#[allow(missing_debug_implementations, reason = "a borrowed closure")]
pub struct Folding<'a, P, S, F> {
    /// `None` once the item is out.
    part: Option<(P, S)>,
    fold_op: &'a F,
}

impl<'a, P, S: Seed, F> Folding<'a, P, S, F> {
    #[inline]
    pub(super) fn new(base: P, seed: S, fold_op: &'a F) -> Self {
        Folding { part: Some((base, seed)), fold_op }
    }

    /// Cuts the base as told.
    #[inline]
    fn cut(self, cut_base: impl FnOnce(P) -> (P, P)) -> (Self, Self) {
        let Folding { part, fold_op } = self;
        let (left, right) = part
            .map(|(base, seed)| {
                let (left, right) = cut_base(base);
                ((left, seed.clone()), (right, seed))
            })
            .unzip();
        (Folding { part: left, fold_op }, Folding { part: right, fold_op })
    }
}

impl<P: Divisible, S: Seed, F> Divisible for Folding<'_, P, S, F> {
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

impl<P, S, F> Iterator for Folding<'_, P, S, F>
where
    P: IntoIterator,
    S: Seed,
    F: Fn(S::State, P::Item) -> S::State,
{
    type Item = S::State;

    #[inline]
    fn next(&mut self) -> Option<S::State> {
        let (base, seed) = self.part.take()?;
        Some(base.into_iter().fold(seed.into_state(), self.fold_op))
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        let items = usize::from(self.part.is_some());
        (items, Some(items))
    }
}

impl<P, S, F> Producer for Folding<'_, P, S, F>
where
    P: Producer,
    S: Seed,
    F: Fn(S::State, P::Item) -> S::State + Sync,
{
    /// An item per task, so one more for every cut.
    const PIECES: bool = true;

    fn partial_fold<B, C, G, L>(self, init: B, mut fold: G, loops: &mut L) -> ControlFlow<C, B>
    where
        G: NanoFold<S::State, B, C>,
        L: NanoLoops<Self>,
    {
        let Folding { part: Some((base, seed)), fold_op } = self else {
            return fold.fold(init, std::iter::empty());
        };
        let wrap = |right| Folding::new(right, seed.clone(), fold_op);
        let unwrap = |back: Self| back.part.map(|(base, _)| base);
        let ControlFlow::Continue(state) =
            base.partial_fold(seed.clone().into_state(), FoldAll(fold_op), &mut loops.wrapping(wrap, unwrap));
        fold.fold(init, std::iter::once(state))
    }
}

/// Folds every item of every nano-loop.
struct FoldAll<F>(F);

impl<T, B, F: FnMut(B, T) -> B> NanoFold<T, B, Infallible> for FoldAll<F> {
    #[inline]
    fn fold<I: Iterator<Item = T>>(&mut self, folded: B, items: I) -> ControlFlow<Infallible, B> {
        ControlFlow::Continue(items.fold(folded, &mut self.0))
    }
}
