//! Shared parts of `map_with` and `map_init`: mapping with a state that the task keeps.

use crate::iter::adaptor::divide_by_cut;
use crate::iter::mapped::{MapItem, Mapped};
use crate::iter::task_state::Seed;
use furcate_schedulers::{Divisible, IndexedProducer, NanoFold, NanoLoops, Producer, Suspendable};
use std::ops::ControlFlow;

/// The producer of both adaptors: a part of the base and the seed of its tasks' states.
#[allow(missing_debug_implementations, reason = "a borrowed closure")]
pub struct MapState<'a, P, S, F> {
    base: P,
    seed: S,
    map_op: &'a F,
}

impl<'a, P, S: Seed, F> MapState<'a, P, S, F> {
    #[inline]
    pub(super) fn new(base: P, seed: S, map_op: &'a F) -> Self {
        MapState { base, seed, map_op }
    }

    /// Cuts the base by a given function.
    #[inline]
    fn cut(self, cut_base: impl FnOnce(P) -> (P, P)) -> (Self, Self) {
        let MapState { base, seed, map_op } = self;
        let (left, right) = cut_base(base);
        (MapState { base: left, seed: seed.clone(), map_op }, MapState { base: right, seed, map_op })
    }
}

impl<P: Divisible, S: Seed, F> Divisible for MapState<'_, P, S, F> {
    #[inline]
    fn size(&self) -> usize {
        self.base.size()
    }

    #[inline]
    fn should_be_divided(&self) -> bool {
        self.base.should_be_divided()
    }

    divide_by_cut!(P);
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

impl<'a, P, S, F, R> IntoIterator for MapState<'a, P, S, F>
where
    P: IntoIterator,
    S: Seed,
    F: Fn(&mut S::State, P::Item) -> R,
{
    type Item = R;
    type IntoIter = Mapped<P::IntoIter, WithState<'a, S::State, F>>;

    #[inline]
    fn into_iter(self) -> Self::IntoIter {
        let state = self.seed.into_state();
        Mapped::new(self.base.into_iter(), WithState { state, map_op: self.map_op })
    }
}

impl<P, S, F, R> Producer for MapState<'_, P, S, F>
where
    P: Producer,
    S: Seed,
    F: Fn(&mut S::State, P::Item) -> R + Sync,
{
    const PIECES: bool = P::PIECES;
    const LOOPS_CUT: bool = P::LOOPS_CUT;
    const GROWS: bool = P::GROWS;
    const COSTLY_CUTS: bool = P::COSTLY_CUTS;
    const IN_ORDER: bool = P::IN_ORDER;

    fn partial_fold<B, C, G, L>(self, init: B, fold: G, loops: &mut L) -> ControlFlow<C, B>
    where
        G: NanoFold<R, B, C>,
        L: NanoLoops<Self>,
    {
        let MapState { base, seed, map_op } = self;
        let state = WithState { state: seed.clone().into_state(), map_op };
        let wrap = |right| MapState { base: right, seed: seed.clone(), map_op };
        base.partial_fold(init, FoldMapped { fold, state }, &mut loops.wrapping(wrap, |back| Some(back.base)))
    }

    fn suspending_fold<'s, B, G, L>(self, init: B, fold: G, loops: &mut L) -> ControlFlow<B, B>
    where
        Self: 's,
        B: Suspendable<'s>,
        G: NanoFold<R, B, B> + Clone + Send + 's,
        L: NanoLoops<Self>,
    {
        let MapState { base, seed, map_op } = self;
        let by_loop = MapByLoop { fold, seed: seed.clone(), map_op };
        let wrap = |right| MapState { base: right, seed: seed.clone(), map_op };
        base.suspending_fold(init, by_loop, &mut loops.wrapping(wrap, |back| Some(back.base)))
    }
}

/// Maps the items of every step with a state of its own.
struct MapByLoop<'a, G, S, F> {
    fold: G,
    seed: S,
    map_op: &'a F,
}

impl<G: Clone, S: Clone, F> Clone for MapByLoop<'_, G, S, F> {
    fn clone(&self) -> Self {
        MapByLoop { fold: self.fold.clone(), seed: self.seed.clone(), map_op: self.map_op }
    }
}

impl<T, B, C, R, G, S, F> NanoFold<T, B, C> for MapByLoop<'_, G, S, F>
where
    S: Seed,
    F: Fn(&mut S::State, T) -> R,
    G: NanoFold<R, B, C>,
{
    const IS_WHOLE: bool = G::IS_WHOLE;
    const WAITS: bool = G::WAITS;
    const GOES_FIRST: bool = G::GOES_FIRST;

    fn fold<I: Iterator<Item = T>>(&mut self, folded: B, items: I) -> ControlFlow<C, B> {
        let state = self.seed.clone().into_state();
        self.fold.fold(folded, Mapped::new(items, WithState { state, map_op: self.map_op }))
    }
}

/// Maps the items of all the steps of a task with one state.
struct FoldMapped<G, M> {
    fold: G,
    state: M,
}

impl<T, B, C, M: MapItem<T>, G: NanoFold<M::Output, B, C>> NanoFold<T, B, C> for FoldMapped<G, M> {
    #[inline]
    fn fold<I: Iterator<Item = T>>(&mut self, folded: B, items: I) -> ControlFlow<C, B> {
        self.fold.fold(folded, Mapped::new(items, &mut self.state))
    }
}

impl<P, S, F, R> IndexedProducer for MapState<'_, P, S, F>
where
    P: IndexedProducer,
    S: Seed,
    F: Fn(&mut S::State, P::Item) -> R + Sync,
{
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
                = $crate::iter::adaptors::map_state::MapState<'a, I::Producer<'a>, $Seed, F>
            where
                Self: 'a;

            $crate::iter::inherit_schedule!(base: I);

            #[inline]
            fn producer(&mut self) -> Self::Producer<'_> {
                let $adaptor = self;
                let seed = $seed;
                let base = $adaptor.base.producer();
                $crate::iter::adaptors::map_state::MapState::new(base, seed, &$adaptor.map_op)
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
                = $crate::iter::adaptors::map_state::MapState<'a, I::IndexedProducer<'a>, $Seed, F>
            where
                Self: 'a;

            #[inline]
            fn indexed_producer(&mut self) -> Self::IndexedProducer<'_> {
                let $adaptor = self;
                let seed = $seed;
                let base = $adaptor.base.indexed_producer();
                $crate::iter::adaptors::map_state::MapState::new(base, seed, &$adaptor.map_op)
            }

            #[inline]
            fn len(&self) -> usize {
                self.base.len()
            }
        }
    };
}
pub(super) use map_with_state;
