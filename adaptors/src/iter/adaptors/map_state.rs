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

/// Implements both traits for an adaptor of a `base: I` with a `map_op: F`. The arguments are the type of its states,
/// the seed that the adaptor lends, and the bounds that this needs.
macro_rules! map_with_state {
    (
        impl[$($generics:tt)*] $Name:ident<$($param:ident),*>,
        states $State:ty, seeds $Seed:ty = |$adaptor:ident| $seed:expr,
        where [$($bounds:tt)*]
    ) => {
        impl<$($generics)*, F, R> $crate::iter::ParallelIterator for $Name<$($param),*, F>
        where
            I: $crate::iter::ParallelIterator,
            F: Fn(&mut $State, I::Item) -> R + Sync + Send,
            R: Send,
            $($bounds)*
        {
            type Item = R;
            type Producer<'a>
                = $crate::iter::stage::Adapted<I::Producer<'a>, $crate::iter::adaptors::map_state::MapState<'a, $Seed, F>>
            where
                Self: 'a;

            $crate::iter::inherit_schedule!(base: I);

            #[inline]
            fn producer(&mut self) -> Self::Producer<'_> {
                let $adaptor = self;
                let seed = $seed;
                let base = $adaptor.base.producer();
                let map_op = &$adaptor.map_op;
                $crate::iter::stage::Adapted::new(base, $crate::iter::adaptors::map_state::MapState { seed, map_op })
            }

            #[inline]
            fn opt_len(&self) -> Option<usize> {
                self.base.opt_len()
            }
        }

        impl<$($generics)*, F, R> $crate::iter::IndexedParallelIterator for $Name<$($param),*, F>
        where
            I: $crate::iter::IndexedParallelIterator,
            F: Fn(&mut $State, I::Item) -> R + Sync + Send,
            R: Send,
            $($bounds)*
        {
            type IndexedProducer<'a>
                = $crate::iter::stage::Adapted<I::IndexedProducer<'a>, $crate::iter::adaptors::map_state::MapState<'a, $Seed, F>>
            where
                Self: 'a;

            #[inline]
            fn indexed_producer(&mut self) -> Self::IndexedProducer<'_> {
                let $adaptor = self;
                let seed = $seed;
                let base = $adaptor.base.indexed_producer();
                let map_op = &$adaptor.map_op;
                $crate::iter::stage::Adapted::new(base, $crate::iter::adaptors::map_state::MapState { seed, map_op })
            }

            #[inline]
            fn len(&self) -> usize {
                self.base.len()
            }
        }
    };
}
pub(super) use map_with_state;
