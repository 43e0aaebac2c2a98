//! The skeleton of adaptors that let some items pass and drop the others, by a state that all tasks share:
//! `while_some`, `take_any`, `skip_any_while` and so on, and the collecting of `Result`s.
//!
//! Such an adaptor only says which items pass its [`Gate`]. Some gates close. Then the base of the adaptor is not
//! needed any more, wherever in the chain the adaptor stands. An iterator that is chained to it may still be needed. So
//! a closed gate does not end the computation, but ends this producer, in every task:
//!
//! 1. *Before a task:* a part whose gate is closed has size 0, so it is neither divided nor begun.
//! 2. *Within a task:* the gate is checked before every item, so that no item is computed in vain.
//! 3. *Within a task whose items do not reach the gate* (behind a `filter`, say): the gate is checked before each of
//!    the task's steps. The policy [`InLoops`] asks for these.
//! 4. *Futures before the gate* are dropped if nothing else waits: neither behind the gate nor in another side of a
//!    chain.

use crate::iter::adaptor::divide_by_cut;
use furcate_schedulers::{
    Divisible, IndexedProducer, Nano, NanoFold, NanoLoops, Policy, Producer, Suspendable, Task, Verdict,
};
use std::marker::PhantomData;
use std::ops::ControlFlow::{self, Break, Continue};

/// A gate for items of type `T`. A copy is the same gate.
pub trait Gate<T>: Copy + Send {
    /// Item type after the gate.
    type Output;

    /// Whether every item passes, unless the whole result is lost.
    const EXACT: bool = false;

    /// Whether the items that pass keep their order. See [`Producer::IN_ORDER`].
    const IN_ORDER: bool = true;

    /// Whether an item may leave its leaf, to be divided further ([`Producer::SINGLE`]). It may not if the
    /// [guard](Self::guard) has to be alive while the item is processed.
    const SINGLE: bool = true;

    /// Guard that lives as long as items are being passed on; made by [`guard`](Self::guard).
    type Guard;

    /// Makes a guard. Called where a run of items begins.
    fn guard(self) -> Self::Guard;

    /// Whether the gate is closed: no item will pass any more. A closed gate stays closed.
    fn is_shut(self) -> bool;

    /// Returns the item if the gate lets it through, else drops it. If this item closes the gate, `is_shut` is true on
    /// return.
    fn pass(self, item: T) -> Option<Self::Output>;
}

/// A [`Policy`] whose only demand is that tasks be folded in steps. It is for a producer that may end in them.
#[derive(Clone, Copy, Debug)]
pub struct InLoops;

impl Policy for InLoops {
    const STOPS: bool = true;
    const DECIDES: bool = false;

    #[inline]
    fn wants_split(&mut self, _task: &Task) -> Verdict {
        Verdict::Pass
    }
}

/// The producer of an adaptor with a gate.
#[derive(Debug)]
pub struct Gated<P, G> {
    base: P,
    gate: G,
}

impl<P, G> Gated<P, G> {
    #[inline]
    pub(crate) fn new(base: P, gate: G) -> Self {
        Gated { base, gate }
    }

    #[inline]
    fn cut(self, cut_base: impl FnOnce(P) -> (P, P)) -> (Self, Self)
    where
        G: Copy,
    {
        let (left, right) = cut_base(self.base);
        (Gated::new(left, self.gate), Gated::new(right, self.gate))
    }
}

impl<P: Divisible + IntoIterator, G: Gate<P::Item>> Divisible for Gated<P, G> {
    #[inline]
    fn size(&self) -> usize {
        if self.gate.is_shut() { 0 } else { self.base.size() }
    }

    #[inline]
    fn should_be_divided(&self) -> bool {
        !self.gate.is_shut() && self.base.should_be_divided()
    }

    divide_by_cut!(P);
}

impl<P: IntoIterator, G: Gate<P::Item>> IntoIterator for Gated<P, G> {
    type Item = G::Output;
    type IntoIter = Passing<P::IntoIter, G, G::Guard>;

    #[inline]
    fn into_iter(self) -> Self::IntoIter {
        Passing::new(self.base.into_iter(), self.gate)
    }
}

impl<P: Producer, G: Gate<P::Item>> Producer for Gated<P, G> {
    const PIECES: bool = P::PIECES;
    const LOOPS_CUT: bool = P::LOOPS_CUT;
    const GROWS: bool = P::GROWS;
    const SINGLE: bool = P::SINGLE && G::SINGLE;
    const COSTLY_CUTS: bool = P::COSTLY_CUTS;
    const IN_ORDER: bool = P::IN_ORDER && G::IN_ORDER;

    #[inline]
    fn partial_fold<B, C, F, L>(self, init: B, fold: F, loops: &mut L) -> ControlFlow<C, B>
    where
        F: NanoFold<G::Output, B, C>,
        L: NanoLoops<Self>,
    {
        let Gated { base, gate } = self;
        base.partial_fold(init, FoldPassing { fold, gate }, &mut OpenLoops { loops, gate })
    }

    fn suspending_fold<'s, B, F, L>(self, init: B, fold: F, loops: &mut L) -> ControlFlow<B, B>
    where
        Self: 's,
        B: Suspendable<'s>,
        F: NanoFold<G::Output, B, B> + Clone + Send + 's,
        L: NanoLoops<Self>,
    {
        let Gated { base, gate } = self;
        let fold = FoldUntilShut { fold: FoldPassing { fold, gate }, ends: PhantomData };
        base.suspending_fold(init, fold, &mut OpenLoops { loops, gate })
    }
}

impl<P, G> IndexedProducer for Gated<P, G>
where
    P: IndexedProducer,
    G: Gate<P::Item>,
    Passing<P::IntoIter, G, G::Guard>: ExactSizeIterator<Item = G::Output>,
{
}

/// Folds the items of a step that pass.
#[derive(Clone)]
struct FoldPassing<F, G> {
    fold: F,
    gate: G,
}

impl<T, B, C, G: Gate<T>, F: NanoFold<G::Output, B, C>> NanoFold<T, B, C> for FoldPassing<F, G> {
    const IS_WHOLE: bool = F::IS_WHOLE;
    const WAITS: bool = F::WAITS;
    const GOES_FIRST: bool = true;

    #[inline]
    fn fold<I: Iterator<Item = T>>(&mut self, folded: B, items: I) -> ControlFlow<C, B> {
        self.fold.fold(folded, Passing::new(items, self.gate))
    }
}

/// Folds the awaited items that pass. If nothing else waits, it drops pending futures when the gate is closed.
struct FoldUntilShut<'s, F, G> {
    fold: FoldPassing<F, G>,
    /// Lifetime of the awaited futures: they end before `'s` does.
    ends: PhantomData<&'s ()>,
}

impl<F: Clone, G: Clone> Clone for FoldUntilShut<'_, F, G> {
    fn clone(&self) -> Self {
        FoldUntilShut { fold: self.fold.clone(), ends: PhantomData }
    }
}

impl<'s, T, B, G, F> NanoFold<T, B, B> for FoldUntilShut<'s, F, G>
where
    B: Suspendable<'s>,
    G: Gate<T>,
    F: NanoFold<G::Output, B, B>,
{
    const IS_WHOLE: bool = F::IS_WHOLE;
    const WAITS: bool = F::WAITS;
    const GOES_FIRST: bool = true;

    fn fold<I: Iterator<Item = T>>(&mut self, folded: B, items: I) -> ControlFlow<B, B> {
        let folded = self.fold.fold(folded, items)?;
        if F::IS_WHOLE && !F::WAITS && self.fold.gate.is_shut() {
            folded.cancel();
            return Break(folded);
        }
        Continue(folded)
    }
}

/// The steps of the base: they end when the gate is closed.
struct OpenLoops<'l, L, G> {
    loops: &'l mut L,
    gate: G,
}

impl<P, G, L> NanoLoops<P> for OpenLoops<'_, L, G>
where
    P: IntoIterator,
    G: Gate<P::Item>,
    L: NanoLoops<Gated<P, G>>,
{
    const DIVIDES: bool = L::DIVIDES;
    const GROWS: bool = L::GROWS;

    #[inline]
    fn grown(&mut self, size: usize) -> bool {
        self.loops.grown(size)
    }

    #[inline]
    fn next(&mut self, size: usize) -> Nano {
        if self.gate.is_shut() { Nano::Stop } else { self.loops.next(size) }
    }

    #[inline]
    fn take(&mut self, right: P) {
        self.loops.take(Gated::new(right, self.gate));
    }

    #[inline]
    fn take_back(&mut self) -> Option<P> {
        self.loops.take_back().map(|back| back.base)
    }
}

/// The items of a leaf or of a step that pass.
#[derive(Debug)]
pub struct Passing<I, G, U> {
    base: I,
    gate: G,
    _guard: U,
}

impl<I: Iterator, G: Gate<I::Item>> Passing<I, G, G::Guard> {
    #[inline]
    fn new(base: I, gate: G) -> Self {
        Passing { base, gate, _guard: gate.guard() }
    }
}

/// Folds one item: passes it on, and ends if the gate is closed, so that the next item is not even
/// computed.
#[inline]
fn step<T, B, G: Gate<T>>(
    gate: G,
    mut fold_op: impl FnMut(B, G::Output) -> B,
) -> impl FnMut(B, T) -> ControlFlow<B, B> {
    move |folded, item| {
        let folded = match gate.pass(item) {
            Some(item) => fold_op(folded, item),
            None => folded,
        };
        if gate.is_shut() { Break(folded) } else { Continue(folded) }
    }
}

impl<I: Iterator, G: Gate<I::Item>> Iterator for Passing<I, G, G::Guard> {
    type Item = G::Output;

    #[inline]
    fn next(&mut self) -> Option<G::Output> {
        while !self.gate.is_shut() {
            if let Some(item) = self.gate.pass(self.base.next()?) {
                return Some(item);
            }
        }
        None
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        let (least, most) = self.base.size_hint();
        (if G::EXACT { least } else { 0 }, most)
    }

    #[inline]
    fn fold<B, F: FnMut(B, G::Output) -> B>(mut self, init: B, fold_op: F) -> B {
        if self.gate.is_shut() {
            return init;
        }
        let (Continue(folded) | Break(folded)) = self.base.try_fold(init, step(self.gate, fold_op));
        folded
    }
}

impl<I: DoubleEndedIterator, G: Gate<I::Item>> DoubleEndedIterator for Passing<I, G, G::Guard> {
    #[inline]
    fn next_back(&mut self) -> Option<G::Output> {
        while !self.gate.is_shut() {
            if let Some(item) = self.gate.pass(self.base.next_back()?) {
                return Some(item);
            }
        }
        None
    }

    #[inline]
    fn rfold<B, F: FnMut(B, G::Output) -> B>(mut self, init: B, fold_op: F) -> B {
        if self.gate.is_shut() {
            return init;
        }
        let (Continue(folded) | Break(folded)) = self.base.try_rfold(init, step(self.gate, fold_op));
        folded
    }
}

/// Implements [`ParallelIterator`](super::ParallelIterator) for an adaptor of a `base: I`:
///
/// ```text
/// adapt_gate! {
///     impl[I, T] WhileSome<I> by UntilNone<'a> = |it| UntilNone(it.ended.lowered()) => T, shuts
///     where [I: ParallelIterator<Item = Option<T>>, T: Send]
/// }
/// ```
///
/// `shuts`, if the gate may close.
macro_rules! adapt_gate {
    (
        impl[$($generics:tt)*] $Name:ident<$($param:tt),*>
        by $Gate:ty = |$adaptor:ident| $gate:expr => $Item:ty $(, $shuts:ident)?
        where [$($bounds:tt)*]
    ) => {
        impl<$($generics)*> $crate::iter::ParallelIterator for $Name<$($param),*>
        where
            $($bounds)*
        {
            type Item = $Item;
            type Producer<'a>
                = $crate::iter::gate::Gated<I::Producer<'a>, $Gate>
            where
                Self: 'a;

            $crate::iter::gate::adapt_gate!(@schedule $($shuts)?);

            #[inline]
            fn units(&self) -> Option<usize> {
                self.base.units()
            }

            #[inline]
            fn producer(&mut self) -> Self::Producer<'_> {
                let $adaptor = self;
                let gate = $gate;
                $crate::iter::gate::Gated::new($adaptor.base.producer(), gate)
            }
        }
    };
    (@schedule) => {
        $crate::iter::inherit_schedule!(base: I);
    };
    (@schedule shuts) => {
        $crate::iter::schedule_with_policy!(base: I, |_this| $crate::iter::gate::InLoops => $crate::iter::gate::InLoops);
    };
}
pub(crate) use adapt_gate;
