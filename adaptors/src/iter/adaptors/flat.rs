//! The producer of `flat_map` and `flatten`, which divides inner iterators, too.
//!
//! A part holds outer items, and is cut between them. A part of one outer item that is to be divided further is *unfolded*: it
//! becomes the producer of the inner iterator that its item makes, and is divided as that.
//!
//! ```text
//!   outer items   o o o o | o o o o        cut between outer items
//!                     o o | o              a part of one item ...
//!                           └► i i i i i i | i i i i i i      ... is unfolded, and cut in the inner iterator
//! ```
//!
//! An inner iterator lends its producer, so it has to live until all parts of that are done. It lies in a *slot* of the adaptor,
//! which lives as long as the call.
//!
//! # Invariants
//!
//! 1. *A slot is used once.* A part has the only reference to its slots, and cuts them as it is cut. Unfolding uses up a slot; a
//!    part without one is not unfolded.
//! 2. *Bounded.* There are [`SLOTS`] at most, so no more inner iterators than that are kept to the end of the call. All others
//!    are made and dropped by the task that walks them.
//! 3. *Nothing is made in vain.* Only a part of one unit is unfolded, of an outer producer whose units give one item at most,
//!    at once ([`Producer::SINGLE`]): neither an endless outer leaf nor a future that would be waited for.
//! 4. *One schedule.* Inner parts are parts of the chain's division tree: its policy, its scheduler and its engine hold for them.
//!    The schedule of the inner iterator itself is not used.

use crate::iter::{IntoParallelIterator, ParallelIterator};
use either::Either;
use furcate_schedulers::{Divisible, Nano, NanoFold, NanoLoops, Producer, Suspendable};
use std::fmt;
use std::iter::Flatten;
use std::mem;
use std::ops::ControlFlow;
use std::{option, vec};

/// Makes a parallel iterator of an outer item.
pub trait Unfold<T>: Sync + Send {
    /// The inner iterator.
    type Inner: ParallelIterator;

    /// Makes one.
    fn unfold(&self, item: T) -> Self::Inner;
}

impl<T, P, F> Unfold<T> for F
where
    F: Fn(T) -> P + Sync + Send,
    P: IntoParallelIterator,
{
    type Inner = P::Iter;

    #[inline]
    fn unfold(&self, item: T) -> P::Iter {
        self(item).into_par_iter()
    }
}

/// The item itself.
#[derive(Clone, Copy, Debug)]
pub struct Itself;

impl<T: IntoParallelIterator> Unfold<T> for Itself {
    type Inner = T::Iter;

    #[inline]
    fn unfold(&self, item: T) -> T::Iter {
        item.into_par_iter()
    }
}

/// The greatest number of inner iterators that are divided in one call: more than there are threads to divide them for.
const SLOTS: usize = 64;

/// An inner iterator of that size is not worth a division.
const SMALL: usize = 64;

/// The slots of a call; a clone of an adaptor has none until it lends.
pub(super) struct Slots<N>(Vec<Option<N>>);

impl<N> Slots<N> {
    pub(super) const fn new() -> Self {
        Slots(Vec::new())
    }

    /// Lends a producer of all that the outer producer's items become.
    pub(super) fn lend<'a, P: Producer, F>(&'a mut self, outer: P, op: &'a F) -> FlatProducer<'a, P, F, N>
    where
        N: ParallelIterator,
    {
        let slots = if P::SINGLE { outer.size().min(SLOTS) } else { 0 };
        self.0.clear();
        self.0.extend((0..slots).map(|_| None));
        FlatProducer { part: Part::Outer(outer), op, slots: &mut self.0 }
    }
}

impl<N> Clone for Slots<N> {
    fn clone(&self) -> Self {
        Slots::new()
    }
}

/// Outer items, of which `F` makes inner iterators; or a part of one inner iterator.
pub struct FlatProducer<'a, P, F, N: ParallelIterator + 'a> {
    part: Part<P, N::Producer<'a>>,
    op: &'a F,
    /// Invariant 1.
    slots: &'a mut [Option<N>],
}

enum Part<P, Q> {
    Outer(P),
    /// A part of an inner iterator; or nothing, where an outer unit has given no item.
    Inner(Option<Q>),
}

impl<P, F, N: ParallelIterator> fmt::Debug for FlatProducer<'_, P, F, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FlatProducer").finish_non_exhaustive()
    }
}

impl<'a, P, F, N> FlatProducer<'a, P, F, N>
where
    P: Producer,
    F: Unfold<P::Item, Inner = N>,
    N: ParallelIterator + 'a,
{
    /// Whether this is a part of one outer unit that can be unfolded (invariants 1 and 3).
    #[inline]
    fn unfolds(&self) -> bool {
        match &self.part {
            Part::Outer(outer) => P::SINGLE && !self.slots.is_empty() && outer.size() == 1,
            Part::Inner(_) => false,
        }
    }

    /// Makes the inner iterator of the last outer unit, in a slot.
    fn unfold(outer: P, op: &'a F, slots: &mut &'a mut [Option<N>]) -> Option<N::Producer<'a>> {
        let item = outer.into_iter().next()?;
        let (slot, rest) = mem::take(slots).split_first_mut().expect("whoever unfolds has seen a slot");
        *slots = rest;
        Some(slot.insert(op.unfold(item)).producer())
    }

    /// Cuts both parts' slots where the outer items are cut.
    fn cut_outer(
        (left, right): (P, P),
        op: &'a F,
        slots: &'a mut [Option<N>],
    ) -> (FlatProducer<'a, P, F, N>, FlatProducer<'a, P, F, N>) {
        let half = slots.len() - slots.len() / 2;
        // A slot is for one unit: no side gets more than it has units, if the other one needs them.
        let most = left.size().min(slots.len());
        let least = slots.len().saturating_sub(right.size());
        let (left_slots, right_slots) = slots.split_at_mut(half.max(least).min(most));
        (
            FlatProducer { part: Part::Outer(left), op, slots: left_slots },
            FlatProducer { part: Part::Outer(right), op, slots: right_slots },
        )
    }

    #[inline]
    fn cut(
        mut self,
        cut_outer: impl FnOnce(P) -> (P, P),
        cut_inner: impl FnOnce(N::Producer<'a>) -> (N::Producer<'a>, N::Producer<'a>),
        unfolds: bool,
    ) -> (Self, Self) {
        let inner = match self.part {
            Part::Outer(outer) if unfolds => Self::unfold(outer, self.op, &mut self.slots),
            Part::Outer(outer) => return Self::cut_outer(cut_outer(outer), self.op, self.slots),
            Part::Inner(inner) => inner,
        };
        let (left, right) = inner.map(cut_inner).unzip();
        (
            FlatProducer { part: Part::Inner(left), op: self.op, slots: self.slots },
            FlatProducer { part: Part::Inner(right), op: self.op, slots: &mut [] },
        )
    }
}

impl<'a, P, F, N> Divisible for FlatProducer<'a, P, F, N>
where
    P: Producer,
    F: Unfold<P::Item, Inner = N>,
    N: ParallelIterator + 'a,
{
    /// In outer units, and in the units of an inner iterator once it has been unfolded.
    #[inline]
    fn size(&self) -> usize {
        match &self.part {
            Part::Outer(outer) => outer.size(),
            Part::Inner(inner) => inner.as_ref().map_or(0, Divisible::size),
        }
    }

    #[inline]
    fn should_be_divided(&self) -> bool {
        match &self.part {
            Part::Outer(outer) => outer.should_be_divided() || self.unfolds(),
            Part::Inner(inner) => inner.as_ref().is_some_and(Divisible::should_be_divided),
        }
    }

    #[inline]
    fn divide(self) -> (Self, Self) {
        let unfolds = self.unfolds();
        self.cut(P::divide, Divisible::divide, unfolds)
    }

    #[inline]
    fn divide_at(self, index: usize) -> (Self, Self) {
        self.cut(|outer| outer.divide_at(index), |inner| inner.divide_at(index), false)
    }
}

impl<'a, P, F, N> IntoIterator for FlatProducer<'a, P, F, N>
where
    P: Producer,
    F: Unfold<P::Item, Inner = N>,
    N: ParallelIterator + 'a,
{
    type Item = N::Item;
    type IntoIter = Either<Walk<'a, P::IntoIter, F, N::Item>, Flatten<option::IntoIter<N::Producer<'a>>>>;

    #[inline]
    fn into_iter(self) -> Self::IntoIter {
        match self.part {
            Part::Outer(outer) => Either::Left(Walk {
                outer: outer.into_iter(),
                op: self.op,
                collected: Vec::new().into_iter(),
            }),
            Part::Inner(inner) => Either::Right(inner.into_iter().flatten()),
        }
    }
}

impl<'a, P, F, N> Producer for FlatProducer<'a, P, F, N>
where
    P: Producer,
    F: Unfold<P::Item, Inner = N>,
    N: ParallelIterator + 'a,
{
    const PIECES: bool = P::PIECES;
    const LOOPS_CUT: bool = P::LOOPS_CUT;
    const COSTLY_CUTS: bool = P::COSTLY_CUTS;
    const IN_ORDER: bool = P::IN_ORDER;

    /// A task that can be divided keeps its last outer item back, and unfolds it: so thieves that ask while it is walked get a
    /// part of it.
    fn partial_fold<B, C, G, L>(self, init: B, mut fold: G, loops: &mut L) -> ControlFlow<C, B>
    where
        G: NanoFold<N::Item, B, C>,
        L: NanoLoops<Self>,
    {
        let (mut folded, mut next) = (init, Some(self));
        while let Some(FlatProducer { part, op, mut slots }) = next.take() {
            let (inner, is_unfolded) = match part {
                Part::Inner(inner) => (inner, false),
                Part::Outer(outer) => {
                    let unfolds = P::SINGLE && !P::PIECES && L::DIVIDES;
                    let mut looks = OuterLoops::new(&mut *loops, op, slots, unfolds);
                    let walk = WalkEach { op, fold: ByRef(&mut fold) };
                    folded = outer.partial_fold(folded, walk, &mut looks)?;
                    let OuterLoops { slots: left, last, back, .. } = looks;
                    (slots, next) = (left, back);
                    let Some(last) = last else { continue };
                    (Self::unfold(last, op, &mut slots), true)
                }
            };
            match inner {
                // In the loop that was asked for the outer item.
                Some(inner) if is_unfolded && inner.size() <= SMALL => {
                    folded = fold.fold(folded, inner.into_iter())?;
                    next = loops.take_back();
                }
                Some(inner) => {
                    let mut looks = InnerLoops { loops: &mut *loops, op, back: None };
                    folded = inner.partial_fold(folded, ByRef(&mut fold), &mut looks)?;
                    next = looks.back;
                }
                None => next = loops.take_back(),
            }
        }
        ControlFlow::Continue(folded)
    }

    fn suspending_fold<'s, B, G, L>(self, init: B, fold: G, loops: &mut L) -> ControlFlow<B, B>
    where
        Self: 's,
        B: Suspendable<'s>,
        G: NanoFold<N::Item, B, B> + Clone + Send + 's,
        L: NanoLoops<Self>,
    {
        let FlatProducer { part, op, slots } = self;
        match part {
            Part::Outer(outer) => {
                let mut looks = OuterLoops::new(loops, op, slots, false);
                outer.suspending_fold(init, WalkEach { op, fold }, &mut looks)
            }
            Part::Inner(Some(inner)) => {
                inner.suspending_fold(init, fold, &mut InnerLoops { loops, op, back: None })
            }
            Part::Inner(None) => ControlFlow::Continue(init),
        }
    }
}

/// The nano-loops of the outer producer.
struct OuterLoops<'l, 'a, P, F, N: ParallelIterator, L> {
    loops: &'l mut L,
    op: &'a F,
    slots: &'a mut [Option<N>],
    /// Whether the last outer unit is kept back, to be unfolded, if there is a slot.
    unfolds: bool,
    /// Whether a loop that the scheduler has asked for holds that unit, too.
    asked: bool,
    /// Whether the unit that the producer gives next is that one.
    keeps: bool,
    /// The unit that was kept back.
    last: Option<P>,
    /// A part of an inner iterator that was taken back.
    back: Option<FlatProducer<'a, P, F, N>>,
}

impl<'l, 'a, P, F, N: ParallelIterator, L> OuterLoops<'l, 'a, P, F, N, L> {
    #[inline]
    fn new(loops: &'l mut L, op: &'a F, slots: &'a mut [Option<N>], unfolds: bool) -> Self {
        OuterLoops { loops, op, slots, unfolds, asked: false, keeps: false, last: None, back: None }
    }
}

impl<'a, P, F, N, L> NanoLoops<P> for OuterLoops<'_, 'a, P, F, N, L>
where
    P: Producer,
    F: Unfold<P::Item, Inner = N>,
    N: ParallelIterator + 'a,
    L: NanoLoops<FlatProducer<'a, P, F, N>>,
{
    const DIVIDES: bool = L::DIVIDES;

    #[inline]
    fn next(&mut self, size: usize) -> Nano {
        if !self.unfolds || self.slots.is_empty() {
            return self.loops.next(size);
        }
        if size > 1 {
            return match self.loops.next(size) {
                Nano::Fold(limit) if limit >= size => {
                    self.asked = true;
                    Nano::Fold(size - 1)
                }
                next => {
                    self.asked = false;
                    next
                }
            };
        }
        match if self.asked { Nano::Fold(size) } else { self.loops.next(size) } {
            Nano::Fold(_) if size == 1 => {
                self.keeps = true;
                Nano::Give
            }
            next => next,
        }
    }

    fn take(&mut self, right: P) {
        if self.keeps {
            self.last = Some(right);
            return;
        }
        let slots = mem::take(&mut self.slots);
        let (left, right_slots) = slots.split_at_mut(slots.len() - slots.len() / 2);
        self.slots = left;
        self.loops.take(FlatProducer { part: Part::Outer(right), op: self.op, slots: right_slots });
    }

    fn take_back(&mut self) -> Option<P> {
        let back = self.loops.take_back()?;
        match back.part {
            Part::Outer(outer) => {
                if back.slots.len() > self.slots.len() {
                    self.slots = back.slots;
                }
                Some(outer)
            }
            part @ Part::Inner(_) => {
                self.back = Some(FlatProducer { part, ..back });
                None
            }
        }
    }
}

/// The nano-loops of an inner producer.
struct InnerLoops<'l, 'a, P, F, N: ParallelIterator, L> {
    loops: &'l mut L,
    op: &'a F,
    /// A part that was taken back and does not belong to the inner iterator.
    back: Option<FlatProducer<'a, P, F, N>>,
}

impl<'a, P, F, N, L> NanoLoops<N::Producer<'a>> for InnerLoops<'_, 'a, P, F, N, L>
where
    P: Producer,
    F: Unfold<P::Item, Inner = N>,
    N: ParallelIterator + 'a,
    L: NanoLoops<FlatProducer<'a, P, F, N>>,
{
    const DIVIDES: bool = L::DIVIDES;

    #[inline]
    fn next(&mut self, size: usize) -> Nano {
        self.loops.next(size)
    }

    fn take(&mut self, right: N::Producer<'a>) {
        self.loops.take(FlatProducer { part: Part::Inner(Some(right)), op: self.op, slots: &mut [] });
    }

    fn take_back(&mut self) -> Option<N::Producer<'a>> {
        let back = self.loops.take_back()?;
        match back.part {
            Part::Inner(Some(inner)) => Some(inner),
            part => {
                self.back = Some(FlatProducer { part, ..back });
                None
            }
        }
    }
}

/// Walks the inner iterators of the outer items of a nano-loop, each where it lies.
struct WalkEach<'a, F, G> {
    op: &'a F,
    fold: G,
}

impl<F, G: Clone> Clone for WalkEach<'_, F, G> {
    fn clone(&self) -> Self {
        WalkEach { op: self.op, fold: self.fold.clone() }
    }
}

impl<T, B, C, F, G> NanoFold<T, B, C> for WalkEach<'_, F, G>
where
    F: Unfold<T>,
    G: NanoFold<<F::Inner as ParallelIterator>::Item, B, C>,
{
    const IS_WHOLE: bool = G::IS_WHOLE;
    const WAITS: bool = G::WAITS;
    const GOES_FIRST: bool = G::GOES_FIRST;

    #[inline]
    fn fold<I: Iterator<Item = T>>(&mut self, folded: B, mut items: I) -> ControlFlow<C, B> {
        let end = items.try_fold(folded, |folded, item| {
            let mut inner = self.op.unfold(item);
            self.fold.fold(folded, inner.producer().into_iter())
        });
        // Dropped before the result is returned: a panic in this drop would leak the result.
        drop(items);
        end
    }
}

/// The same fold, for several producers one after the other.
struct ByRef<'g, G>(&'g mut G);

impl<T, B, C, G: NanoFold<T, B, C>> NanoFold<T, B, C> for ByRef<'_, G> {
    const IS_WHOLE: bool = G::IS_WHOLE;
    const WAITS: bool = G::WAITS;
    const GOES_FIRST: bool = G::GOES_FIRST;

    #[inline]
    fn fold<I: Iterator<Item = T>>(&mut self, folded: B, items: I) -> ControlFlow<C, B> {
        self.0.fold(folded, items)
    }
}

/// The sequential iterator over the items of parallel iterators.
///
/// A parallel iterator lends its producer, so the two cannot lie in one value. `fold` walks each inner iterator in its own frame;
/// `next` collects its items in a vector first.
pub struct Walk<'a, I, F, T> {
    outer: I,
    op: &'a F,
    collected: vec::IntoIter<T>,
}

impl<I, F, T> fmt::Debug for Walk<'_, I, F, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Walk").finish_non_exhaustive()
    }
}

impl<I, F, T> Iterator for Walk<'_, I, F, T>
where
    I: Iterator,
    F: Unfold<I::Item, Inner: ParallelIterator<Item = T>>,
{
    type Item = T;

    fn next(&mut self) -> Option<T> {
        loop {
            if let Some(item) = self.collected.next() {
                return Some(item);
            }
            let mut inner = self.op.unfold(self.outer.next()?);
            self.collected = inner.producer().into_iter().collect::<Vec<T>>().into_iter();
        }
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        let at_most = if self.outer.size_hint().1 == Some(0) { Some(self.collected.len()) } else { None };
        (self.collected.len(), at_most)
    }

    #[inline]
    fn fold<B, G: FnMut(B, T) -> B>(self, init: B, mut fold_op: G) -> B {
        let folded = self.collected.fold(init, &mut fold_op);
        let op = self.op;
        self.outer.fold(folded, |folded, item| {
            let mut inner = op.unfold(item);
            inner.producer().into_iter().fold(folded, &mut fold_op)
        })
    }
}
