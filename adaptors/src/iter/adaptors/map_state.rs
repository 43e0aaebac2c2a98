//! Shared parts of `map_with` and `map_init`: mapping with a state that the task keeps.

use crate::iter::mapped::{MapItem, Mapped};
use crate::iter::stage::TaskStage;
use crate::iter::task_state::Seed;
use furcate_schedulers::{StepFold, Suspendable};
use std::ops::ControlFlow;

/// The stage of both adaptors: the seed of the tasks' states, and the function.
#[allow(missing_debug_implementations, reason = "a borrowed closure")]
pub struct MapState<'a, S, F> {
    pub(super) seed: S,
    pub(super) map_op: &'a F,
}

impl<S: Clone, F> Clone for MapState<'_, S, F> {
    #[inline]
    fn clone(&self) -> Self {
        MapState { seed: self.seed.clone(), map_op: self.map_op }
    }
}

/// A function with the state of its task.
#[allow(missing_debug_implementations, reason = "a borrowed closure")]
pub struct WithState<'a, S, F> {
    state: S,
    map_op: &'a F,
}

impl<T, S, F, R> MapItem<T> for WithState<'_, S, F>
where
    F: Fn(&mut S, T) -> R,
{
    type Output = R;

    #[inline]
    fn map_item(&mut self, item: T) -> R {
        (self.map_op)(&mut self.state, item)
    }
}

impl<'a, T, S, F, R> TaskStage<T> for MapState<'a, S, F>
where
    S: Seed,
    F: Fn(&mut S::State, T) -> R + Sync,
{
    type Item = R;
    type Leaf<I: Iterator<Item = T>> = Mapped<I, WithState<'a, S::State, F>>;
    type State = WithState<'a, S::State, F>;

    #[inline]
    fn leaf<I: Iterator<Item = T>>(self, base: I) -> Self::Leaf<I> {
        let MapState { seed, map_op } = self;
        Mapped::new(base, WithState { state: seed.into_state(), map_op })
    }

    #[inline]
    fn start(&self) -> Self::State {
        WithState { state: self.seed.clone().into_state(), map_op: self.map_op }
    }

    #[inline]
    fn fold_step<'s, I, B, G>(
        &self,
        state: &mut Self::State,
        folded: B,
        items: I,
        fold: &mut G,
    ) -> ControlFlow<B, B>
    where
        I: Iterator<Item = T>,
        B: Suspendable<'s>,
        G: StepFold<'s, R, B>,
    {
        fold.fold(folded, Mapped::new(items, state))
    }
}
