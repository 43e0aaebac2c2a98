//! `fold`

use crate::iter::adaptor::{adaptor, divide_by_cut};
use crate::iter::task_state::{Call, Seed, TaskState};
use crate::iter::{ParallelIterator, inherit_schedule};
use furcate_schedulers::{Divisible, Producer};
use std::convert::Infallible;
use std::ops::ControlFlow;

adaptor! {
    /// Folds the items of every task to one: see [`ParallelIterator::fold`].
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

/// The producer of `fold` and `fold_with`: a part of the base and the accumulator of its task, which is the one item
/// that the leaf gives. The leaf is the producer itself, so that nothing is folded before the item is asked for.
#[allow(missing_debug_implementations, reason = "a borrowed closure")]
pub struct Folding<'a, P, S: Seed, F> {
    /// `None` once the item is out.
    task: Option<(P, TaskState<S>)>,
    fold_op: &'a F,
}

impl<'a, P, S: Seed, F> Folding<'a, P, S, F> {
    #[inline]
    pub(super) fn new(base: P, seed: S, fold_op: &'a F) -> Self {
        Folding { task: Some((base, TaskState::new(seed))), fold_op }
    }

    /// Cuts the base as told, and the state at the same place.
    #[inline]
    fn cut(self, cut_base: impl FnOnce(P) -> (P, P)) -> (Self, Self) {
        let Folding { task, fold_op } = self;
        let (left, right) = task
            .map(|(base, state)| {
                let (left, right) = cut_base(base);
                let (left_state, right_state) = state.divide();
                ((left, left_state), (right, right_state))
            })
            .unzip();
        (Folding { task: left, fold_op }, Folding { task: right, fold_op })
    }
}

impl<P: Divisible, S: Seed, F> Divisible for Folding<'_, P, S, F> {
    /// The base's, and at least 1 while there is a state (invariant 4 of `task_state`).
    #[inline]
    fn size(&self) -> usize {
        self.task.as_ref().map_or(0, |(base, state)| base.size().max(usize::from(state.is_held())))
    }

    #[inline]
    fn should_be_divided(&self) -> bool {
        self.task.as_ref().is_some_and(|(base, _)| base.should_be_divided())
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
        let (base, state) = self.task.take()?;
        Some(base.into_iter().fold(state.into_state(), self.fold_op))
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        let items = usize::from(self.task.is_some());
        (items, Some(items))
    }
}

impl<P, S, F> Producer for Folding<'_, P, S, F>
where
    P: Producer,
    S: Seed,
    F: Fn(S::State, P::Item) -> S::State + Sync,
{
    fn partial_fold<B, C, G>(mut self, init: B, fold_op: G, limit: usize) -> ControlFlow<C, (B, Self)>
    where
        G: FnMut(B, S::State) -> ControlFlow<C, B>,
    {
        let Some((base, mut task)) = self.task.take() else {
            return ControlFlow::Continue((init, self));
        };
        if limit > 0 && base.size() == 0 {
            // Only the state is left (or what the base still holds back, which goes into it).
            self.task = Some((base, task));
            let folded = self.try_fold(init, fold_op)?;
            return ControlFlow::Continue((folded, self));
        }
        let step = |state, item| ControlFlow::<Infallible, _>::Continue((self.fold_op)(state, item));
        let ControlFlow::Continue((state, base)) = base.partial_fold(task.take(), step, limit);
        self.task = Some((base, task.hold(state)));
        ControlFlow::Continue((init, self))
    }
}
