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
//! An inner iterator lends its producer, so it has to live until all parts of that producer are done. It lies in a
//! *slot* of the adaptor, which lives as long as the call.
//!
//! A task that walks outer items looks at the size of each inner iterator first ([`ParallelIterator::units`]). If one
//! is long, the task stops in front of it, and continues with a part of three things: the inner iterator, unfolded; the
//! outer items of the same step, which are made now; and the remaining outer units. Such a part can be divided
//! like any other, on demand or, where the policy [says so](Steps::grown), at once. (Of the items of another `flat_map`,
//! only a part of one item is unfolded.)
//!
//! ```text
//!   walked      met               items   outer units
//!   o o o o     i i i i i i i i   o o     o o o o o o
//!               └─ cut here, or between outer items ─┘
//! ```
//!
//! # Invariants
//!
//! 1. *A slot is used once.* A part has the only reference to its slots, and cuts them when it is cut. Unfolding uses
//!    up a slot. A part without a slot is not unfolded.
//! 2. *Bounded.* A call begins with [`SLOTS`] slots at most. A part with one slot may put as many again into that slot,
//!    once. So no more than `SLOTS * SLOTS` inner iterators are kept to the end of the call. All others are made and
//!    dropped by the task that walks them.
//! 3. *Nothing is made in vain.* A part is unfolded only if its outer producer yields one item at most, at once
//!    ([`Producer::is_single`]). So neither an endless outer leaf nor a pending future is unfolded. Fewer than
//!    [`BLOCK`] outer items are made before the inner iterator in front of them has been walked.
//! 4. *One schedule.* Inner parts are parts of the chain's division tree: its policy, its scheduler and its engine hold
//!    for them. The schedule of the inner iterator itself is not used.
//! 5. *Few.* Behind a long inner iterator, only one that is twice as long counts as long, in all parts of the rest. So
//!    a branch of the division tree is divided for that reason at most once for each power of two.

use crate::iter::{IntoParallelIterator, ParallelIterator};
use furcate_schedulers::{
    ByRef, Divisible, Facts, FoldFacts, InPart, NextStep, Producer, StepFold, Steps, StepsFacts, Suspendable,
};
use std::cell::RefCell;
use std::ops::ControlFlow;
use std::{fmt, mem, vec};

/// Makes a parallel iterator of an outer item.
pub trait Unfold<T>: Sync + Send {
    /// Inner iterator.
    type Inner: ParallelIterator;

    /// Makes the inner iterator of an item.
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

/// Uses the item itself as the inner iterator.
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

/// Size up to which an inner iterator is not worth a division on demand.
const SMALL: usize = 64;

/// Size up to which an inner iterator is not worth a division without demand.
const SHORT: usize = 256;

/// Number of outer units that are walked between two checks for a long inner iterator. At most this many outer items
/// are made before the inner iterator in front of them is walked.
const BLOCK: usize = 64;

/// The place of an inner iterator while it is divided.
pub(super) enum InnerSlot<N> {
    Free,
    Inner(N),
    /// Slots of a part whose last slot this was.
    More(Vec<InnerSlot<N>>),
}

fn free_slots<N>(slots: usize) -> Vec<InnerSlot<N>> {
    (0..slots).map(|_| InnerSlot::Free).collect()
}

/// A part of an inner iterator, and the outer items behind it, of which `F` makes inner iterators.
pub struct FlatProducer<'a, P: IntoIterator, F, N: ParallelIterator + 'a> {
    inner: Option<N::Producer<'a>>,
    rest: Rest<'a, P, N>,
    op: &'a F,
}

/// The slots of a part.
struct Own<'a, N> {
    /// Invariant 1.
    slots: &'a mut [InnerSlot<N>],
    /// Whether the last slot may become more (invariant 2).
    refills: bool,
}

impl<'a, N> Own<'a, N> {
    fn none() -> Self {
        Own { slots: &mut [], refills: false }
    }

    /// Puts more slots into the last one, if that is allowed.
    fn refill(&mut self, units: usize) {
        if !matches!((&*self.slots, self.refills), ([_], true)) {
            return;
        }
        if let Some(last) = mem::take(&mut self.slots).first_mut() {
            *last = InnerSlot::More(free_slots(units.clamp(2, SLOTS)));
            let InnerSlot::More(more) = last else { unreachable!("it has just been written") };
            *self = Own { slots: more, refills: false };
        }
    }

    /// Cuts the slots where the units are cut. Each unit needs one slot, so no side gets more slots than it has units
    /// if the other side needs them.
    fn cut(mut self, left: usize, right: usize) -> (Self, Self) {
        if left > 0 && right > 0 {
            self.refill(left.saturating_add(right));
        }
        let Own { slots, refills } = self;
        let half = slots.len() - slots.len() / 2;
        let most = left.min(slots.len());
        let least = slots.len().saturating_sub(right);
        let (left, right) = slots.split_at_mut(half.max(least).min(most));
        (Own { slots: left, refills }, Own { slots: right, refills })
    }

    /// Puts an inner iterator into a slot.
    fn put(&mut self, inner: N, units: usize) -> Option<&'a mut N> {
        self.refill(units.saturating_add(1));
        let (slot, slots) = mem::take(&mut self.slots).split_first_mut()?;
        self.slots = slots;
        *slot = InnerSlot::Inner(inner);
        match slot {
            InnerSlot::Inner(inner) => Some(inner),
            _ => None,
        }
    }
}

/// The rest of a part, behind its part of an inner iterator.
struct Rest<'a, P: IntoIterator, N> {
    /// Outer items that were made early, fewer than [`BLOCK`].
    items: vec::IntoIter<P::Item>,
    outer: Option<P>,
    own: Own<'a, N>,
    /// Inner iterators up to this size do not count as long (invariant 5).
    long: usize,
}

impl<P: IntoIterator, F, N: ParallelIterator> fmt::Debug for FlatProducer<'_, P, F, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FlatProducer").finish_non_exhaustive()
    }
}

impl<'a, P: Producer, N> Rest<'a, P, N> {
    fn empty() -> Self {
        Rest { items: Vec::new().into_iter(), outer: None, own: Own::none(), long: 0 }
    }

    #[inline]
    fn of(outer: P, own: Own<'a, N>, long: usize) -> Self {
        Rest { items: Vec::new().into_iter(), outer: Some(outer), own, long }
    }

    #[inline]
    fn size(&self) -> usize {
        self.outer.size().saturating_add(self.items.len())
    }

    #[inline]
    fn is_empty(&self) -> bool {
        self.size() == 0
    }

    fn cut_outer(self, cut: impl FnOnce(P) -> (P, P)) -> (Self, Self) {
        let (left, right) = self.outer.map(cut).unzip();
        let (left_own, right_own) = self.own.cut(left.size().saturating_add(self.items.len()), right.size());
        (
            Rest { items: self.items, outer: left, own: left_own, long: self.long },
            Rest { items: Vec::new().into_iter(), outer: right, own: right_own, long: self.long },
        )
    }

    fn divide_at(mut self, index: usize) -> (Self, Self) {
        let items = self.items.len();
        if index >= items {
            return self.cut_outer(|outer| outer.divide_at(index - items));
        }
        let left: Vec<P::Item> = self.items.by_ref().take(index).collect();
        let behind = self.size();
        let (left_own, right_own) = self.own.cut(index, behind);
        (
            Rest { items: left.into_iter(), outer: None, own: left_own, long: self.long },
            Rest { items: self.items, outer: self.outer, own: right_own, long: self.long },
        )
    }
}

impl<'a, P, F, N> FlatProducer<'a, P, F, N>
where
    P: Producer<Item: Send>,
    F: Unfold<P::Item, Inner = N>,
    N: ParallelIterator + 'a,
{
    /// Whether tasks look for long inner iterators (invariants 1 and 3).
    const MEETS: bool = P::FACTS.single && !P::FACTS.pieces && !P::FACTS.costly_cuts;

    /// Makes a producer over the items of all inner iterators. The call's slots are put into `slots`.
    pub(super) fn whole(outer: P, slots: &'a mut Vec<InnerSlot<N>>, op: &'a F) -> Self {
        // The outer items of another `flat_map` are single once it has unfolded its own.
        let may_unfold = P::FACTS.single || P::FACTS.grows;
        *slots = free_slots(if may_unfold { outer.size().min(SLOTS) } else { 0 });
        let own = Own { slots, refills: true };
        FlatProducer { inner: None, rest: Rest::of(outer, own, 0), op }
    }

    /// Whether this is a part of one outer unit that can be unfolded (invariants 1 and 3).
    #[inline]
    fn unfolds(&self) -> bool {
        let Rest { items, outer, own, .. } = &self.rest;
        let is_single = || match (items.len(), outer) {
            (0, Some(outer)) => outer.is_single(),
            (items, outer) => items == 1 && outer.size() == 0,
        };
        self.inner.is_none() && !own.slots.is_empty() && is_single()
    }

    /// Makes the inner iterator of the only outer unit, in a slot.
    fn unfold(mut self) -> Option<N::Producer<'a>> {
        let item = self.rest.items.next().or_else(|| self.rest.outer?.into_iter().next())?;
        Some(self.rest.own.put(self.op.unfold(item), 0)?.producer())
    }

    /// Makes a part of an inner iterator alone.
    fn of_inner(inner: Option<N::Producer<'a>>, op: &'a F) -> Self {
        FlatProducer { inner, rest: Rest::empty(), op }
    }

    /// Divides a part of an inner iterator alone.
    fn divide_inner(inner: Option<N::Producer<'a>>, op: &'a F) -> (Self, Self) {
        let (left, right) = inner.divide();
        (Self::of_inner(left, op), Self::of_inner(right, op))
    }
}

impl<'a, P, F, N> Divisible for FlatProducer<'a, P, F, N>
where
    P: Producer<Item: Send>,
    F: Unfold<P::Item, Inner = N>,
    N: ParallelIterator + 'a,
{
    /// The size in units of the inner iterator and of the outer units behind it.
    #[inline]
    fn size(&self) -> usize {
        self.inner.size().saturating_add(self.rest.size())
    }

    #[inline]
    fn should_be_divided(&self) -> bool {
        match (&self.inner, &self.rest.outer) {
            (None, Some(outer)) if self.rest.items.len() == 0 => outer.should_be_divided() || self.unfolds(),
            (Some(inner), _) if self.rest.is_empty() => inner.should_be_divided(),
            _ => self.size() > 1 || self.unfolds(),
        }
    }

    #[inline]
    fn divide(self) -> (Self, Self) {
        if self.unfolds() {
            let op = self.op;
            return Self::divide_inner(self.unfold(), op);
        }
        if self.inner.is_some() && self.rest.is_empty() {
            return Self::divide_inner(self.inner, self.op);
        }
        if self.inner.is_none() && self.rest.items.len() == 0 {
            let (left, right) = self.rest.cut_outer(P::divide);
            let part = |rest| FlatProducer { inner: None, rest, op: self.op };
            let (left, right) = (part(left), part(right));
            // Another `flat_map` has unfolded its outer item, which makes one item: the next one in turn.
            return if left.rest.is_empty() && right.unfolds() { right.divide() } else { (left, right) };
        }
        let half = self.size() / 2;
        self.divide_at(half)
    }

    #[inline]
    fn divide_at(self, index: usize) -> (Self, Self) {
        let FlatProducer { inner, rest, op } = self;
        let size = inner.size();
        if index < size || rest.is_empty() {
            let (left, right) = inner.divide_at(index);
            return (Self::of_inner(left, op), FlatProducer { inner: right, rest, op });
        }
        let (left, right) = rest.divide_at(index - size);
        (FlatProducer { inner, rest: left, op }, FlatProducer { inner: None, rest: right, op })
    }
}

impl<'a, P, F, N> IntoIterator for FlatProducer<'a, P, F, N>
where
    P: Producer<Item: Send>,
    F: Unfold<P::Item, Inner = N>,
    N: ParallelIterator + 'a,
{
    type Item = N::Item;
    type IntoIter = FlatWalk<'a, <N::Producer<'a> as IntoIterator>::IntoIter, P::IntoIter, F, N::Item>;

    #[inline]
    fn into_iter(self) -> Self::IntoIter {
        FlatWalk {
            inner: self.inner.map(IntoIterator::into_iter),
            collected: Vec::new().into_iter(),
            items: self.rest.items,
            outer: self.rest.outer.map(IntoIterator::into_iter),
            op: self.op,
        }
    }
}

impl<'a, P, F, N> Producer for FlatProducer<'a, P, F, N>
where
    P: Producer<Item: Send>,
    F: Unfold<P::Item, Inner = N>,
    N: ParallelIterator + 'a,
{
    const FACTS: Facts = {
        let both = P::FACTS.and(<N::Producer<'a> as Producer>::FACTS);
        let are_plain = !both.pieces && !both.costly_cuts && !both.fetched && (!both.grows || both.unfolds);
        Facts {
            single: false,
            free: false,
            grows: P::FACTS.grows || Self::MEETS,
            unfolds: (P::FACTS.single || P::FACTS.unfolds) && are_plain,
            ..P::FACTS
        }
    };

    /// A part of an inner iterator alone is single if the inner part is.
    #[inline]
    fn is_single(&self) -> bool {
        self.rest.is_empty() && self.inner.as_ref().is_some_and(Producer::is_single)
    }

    /// Folds the part. A task that can be divided puts a long inner iterator into a slot, and continues with that one
    /// and the rest of its outer units.
    fn partial_fold<'s, B, G, L>(self, init: B, mut fold: G, steps: &mut L) -> ControlFlow<B, B>
    where
        Self: 's,
        B: Suspendable<'s>,
        G: StepFold<'s, N::Item, B>,
        L: Steps<Self>,
    {
        let op = self.op;
        let (mut folded, mut next) = (init, Some(self));
        while let Some(part) = next.take() {
            if let Some(inner) = part.inner {
                let mut looks =
                    InnerSteps { steps: &mut *steps, op, behind: part.rest, over: false, back: None };
                folded = inner.partial_fold(folded, InPart(ByRef(&mut fold)), &mut looks)?;
                next = looks.goes_on();
                continue;
            }
            let looks_out =
                Self::MEETS && (L::FACTS.divides || L::FACTS.grows) && !part.rest.own.slots.is_empty();
            let short = if L::FACTS.divides { SMALL } else { SHORT };
            let met = RefCell::new(None);
            let long = part.rest.long;
            let mut walk =
                WalkUntilLong { op, fold: ByRef(&mut fold), met: &met, looks_out, long: long.max(short) };
            let (outer, mut own) = if part.rest.items.len() > 0 {
                // These items were made early, and are few.
                match steps.next(part.size()) {
                    NextStep::Fold(_) => {}
                    NextStep::Stop => break,
                    NextStep::Give => {
                        steps.take(part);
                        break;
                    }
                    NextStep::Divide => {
                        let (left, right) = part.divide();
                        steps.take(right);
                        next = Some(left);
                        continue;
                    }
                }
                folded = walk.fold(folded, part.rest.items)?;
                (part.rest.outer, part.rest.own)
            } else if let Some(outer) = part.rest.outer {
                let (steps, own, met) = (&mut *steps, part.rest.own, &met);
                let mut looks =
                    OuterSteps { steps, op, own, long, met, looks_out, asked: 0, left: None, back: None };
                folded = outer.partial_fold(folded, walk, &mut looks)?;
                if let Some(back) = looks.back {
                    next = Some(back);
                    continue;
                }
                (looks.left, looks.own)
            } else {
                next = steps.take_back();
                continue;
            };
            next = match met.into_inner() {
                Some(Met { inner, units, items }) => {
                    let inner = own.put(inner, units).expect("a task that looks out has a slot").producer();
                    let rest = Rest { items, outer, own, long: units.saturating_mul(2) };
                    let met = FlatProducer { inner: Some(inner), rest, op };
                    if L::FACTS.grows && steps.grown(met.size()) {
                        steps.take(met);
                        break;
                    }
                    Some(met)
                }
                // The items that were made early are all walked.
                None => outer.map(|outer| FlatProducer { inner: None, rest: Rest::of(outer, own, long), op }),
            };
        }
        ControlFlow::Continue(folded)
    }
}

/// A long inner iterator that a task has found.
struct Met<N, T> {
    inner: N,
    /// Size of the inner iterator.
    units: usize,
    /// The outer items of the same step behind it.
    items: vec::IntoIter<T>,
}

/// The steps of the outer producer.
struct OuterSteps<'l, 'a, P: IntoIterator, F, N: ParallelIterator, L> {
    steps: &'l mut L,
    op: &'a F,
    own: Own<'a, N>,
    long: usize,
    met: &'l RefCell<Option<Met<N, P::Item>>>,
    /// Whether the steps are short, and end at a long inner iterator.
    looks_out: bool,
    /// Number of units that the scheduler has asked for and that were not folded yet.
    asked: usize,
    /// The rest of the outer producer behind the long inner iterator.
    left: Option<P>,
    /// A part that was taken back and has more than outer units.
    back: Option<FlatProducer<'a, P, F, N>>,
}

impl<P: Producer, F, N: ParallelIterator, L> OuterSteps<'_, '_, P, F, N, L> {
    #[inline]
    fn has_met(&self) -> bool {
        self.looks_out && self.met.borrow().is_some()
    }
}

impl<'a, P, F, N, L> Steps<P> for OuterSteps<'_, 'a, P, F, N, L>
where
    P: Producer<Item: Send>,
    F: Unfold<P::Item, Inner = N>,
    N: ParallelIterator + 'a,
    L: Steps<FlatProducer<'a, P, F, N>>,
{
    const FACTS: StepsFacts = StepsFacts { watches: false, ..L::FACTS };

    #[inline]
    fn next(&mut self, size: usize) -> NextStep {
        if !self.looks_out {
            return self.steps.next(size);
        }
        if self.has_met() {
            return NextStep::Give;
        }
        if self.asked == 0 {
            match self.steps.next(size) {
                NextStep::Fold(units) => self.asked = units.max(1),
                next => return next,
            }
        }
        let units = self.asked.min(BLOCK);
        self.asked -= units;
        NextStep::Fold(units)
    }

    fn grown(&mut self, size: usize) -> bool {
        self.steps.grown(size)
    }

    fn ahead(&mut self, size: usize) -> bool {
        !self.has_met() && self.steps.ahead(size)
    }

    fn take(&mut self, right: P) {
        if self.has_met() {
            self.left = Some(right);
            return;
        }
        let own = mem::replace(&mut self.own, Own::none());
        let size = right.size();
        let (left, right_own) = own.cut(size, size);
        self.own = left;
        let rest = Rest::of(right, right_own, self.long);
        self.steps.take(FlatProducer { inner: None, rest, op: self.op });
    }

    fn take_back(&mut self) -> Option<P> {
        if self.has_met() {
            // The long inner iterator comes first.
            return None;
        }
        let back = self.steps.take_back()?;
        if back.inner.is_some() || back.rest.items.len() > 0 {
            self.back = Some(back);
            return None;
        }
        if back.rest.own.slots.len() > self.own.slots.len() {
            self.own = back.rest.own;
        }
        back.rest.outer
    }
}

/// The steps of an inner producer.
struct InnerSteps<'l, 'a, P: IntoIterator, F, N: ParallelIterator + 'a, L> {
    steps: &'l mut L,
    op: &'a F,
    /// The rest behind the inner producer, which is given away with its right part.
    behind: Rest<'a, P, N>,
    /// Whether the fold ends here: the rest is not to be folded.
    over: bool,
    /// A part that was taken back and has no part of an inner iterator.
    back: Option<FlatProducer<'a, P, F, N>>,
}

impl<'a, P: Producer, F, N: ParallelIterator + 'a, L> InnerSteps<'_, 'a, P, F, N, L> {
    fn size(&self, inner: usize) -> usize {
        inner.saturating_add(self.behind.size())
    }

    /// Returns the part to fold after the inner producer.
    fn goes_on(self) -> Option<FlatProducer<'a, P, F, N>> {
        let InnerSteps { op, behind: rest, over, back, .. } = self;
        let goes_on = !over && !rest.is_empty();
        back.or_else(|| goes_on.then_some(FlatProducer { inner: None, rest, op }))
    }
}

impl<'a, P, F, N, L> Steps<N::Producer<'a>> for InnerSteps<'_, 'a, P, F, N, L>
where
    P: Producer<Item: Send>,
    F: Unfold<P::Item, Inner = N>,
    N: ParallelIterator + 'a,
    L: Steps<FlatProducer<'a, P, F, N>>,
{
    const FACTS: StepsFacts = StepsFacts { watches: false, ..L::FACTS };

    #[inline]
    fn next(&mut self, size: usize) -> NextStep {
        let next = self.steps.next(self.size(size));
        self.over |= next == NextStep::Stop;
        next
    }

    fn grown(&mut self, size: usize) -> bool {
        self.steps.grown(self.size(size))
    }

    fn take(&mut self, right: N::Producer<'a>) {
        let rest = mem::replace(&mut self.behind, Rest::empty());
        self.steps.take(FlatProducer { inner: Some(right), rest, op: self.op });
    }

    /// Returns `None` if a rest lies behind the inner producer, because the rest comes first.
    fn take_back(&mut self) -> Option<N::Producer<'a>> {
        if !self.behind.is_empty() {
            return None;
        }
        let FlatProducer { inner, rest, op } = self.steps.take_back()?;
        if inner.is_none() {
            self.back = Some(FlatProducer { inner, rest, op });
            return None;
        }
        self.behind = rest;
        inner
    }
}

/// Keeps the long inner iterator, and makes the outer items of the step behind it.
#[cold]
fn meet<N, T>(met: &RefCell<Option<Met<N, T>>>, inner: N, units: usize, items: impl Iterator<Item = T>) {
    let items = items.collect::<Vec<T>>().into_iter();
    *met.borrow_mut() = Some(Met { inner, units, items });
}

/// Walks the inner iterators of the outer items of a step up to the first long one.
struct WalkUntilLong<'w, 'a, F, G, N, T> {
    op: &'a F,
    fold: G,
    met: &'w RefCell<Option<Met<N, T>>>,
    looks_out: bool,
    long: usize,
}

impl<'s, 'a: 's, T, B, F, G, N> StepFold<'s, T, B> for WalkUntilLong<'_, 'a, F, G, N, T>
where
    B: Suspendable<'s>,
    F: Unfold<T, Inner = N>,
    N: ParallelIterator,
    G: StepFold<'s, N::Item, B>,
{
    type Later = WalkEach<'a, F, G::Later>;
    const FACTS: FoldFacts = G::FACTS;

    #[inline]
    fn fold<I: Iterator<Item = T>>(&mut self, folded: B, mut items: I) -> ControlFlow<B, B> {
        if !self.looks_out {
            return walk_each(self.op, &mut self.fold, folded, items);
        }
        let WalkUntilLong { op, fold, .. } = self;
        // At least a constant: for inner iterators with a constant length the compiler then leaves the comparison out.
        let long = self.long.max(SMALL);
        let end = items.try_fold(folded, |folded, item| {
            let mut inner = op.unfold(item);
            let units = inner.units().unwrap_or(0);
            if units > long {
                return ControlFlow::Break(Ok((folded, inner, units)));
            }
            fold.fold(folded, inner.producer().into_iter()).map_break(Err)
        });
        match end {
            ControlFlow::Continue(folded) => {
                // Dropped before the result is returned: a panic in this drop would leak the result.
                drop(items);
                ControlFlow::Continue(folded)
            }
            ControlFlow::Break(Ok((folded, inner, units))) => {
                meet(self.met, inner, units, items);
                ControlFlow::Continue(folded)
            }
            ControlFlow::Break(Err(end)) => {
                drop(items); // before the result is returned, as above
                ControlFlow::Break(end)
            }
        }
    }
    fn later(&self) -> Self::Later {
        WalkEach { op: self.op, fold: self.fold.later() }
    }
}

/// Walks the inner iterators of outer items, each where it lies.
#[inline]
fn walk_each<'s, T, B, F, G, I>(op: &F, fold: &mut G, folded: B, mut items: I) -> ControlFlow<B, B>
where
    F: Unfold<T>,
    G: StepFold<'s, <F::Inner as ParallelIterator>::Item, B>,
    I: Iterator<Item = T>,
{
    let end = items.try_fold(folded, |folded, item| {
        let mut inner = op.unfold(item);
        fold.fold(folded, inner.producer().into_iter())
    });
    // Dropped before the result is returned: a panic in this drop would leak the result.
    drop(items);
    end
}

/// Walks the inner iterator of an outer item that arrives later.
struct WalkEach<'a, F, G> {
    op: &'a F,
    fold: G,
}

impl<F, G: Clone> Clone for WalkEach<'_, F, G> {
    fn clone(&self) -> Self {
        WalkEach { op: self.op, fold: self.fold.clone() }
    }
}

impl<'s, 'a: 's, T, B, F, G> StepFold<'s, T, B> for WalkEach<'a, F, G>
where
    F: Unfold<T>,
    G: StepFold<'s, <F::Inner as ParallelIterator>::Item, B, Later = G> + Clone + Send + 's,
{
    type Later = Self;
    const FACTS: FoldFacts = G::FACTS;

    fn fold<I: Iterator<Item = T>>(&mut self, folded: B, items: I) -> ControlFlow<B, B> {
        walk_each(self.op, &mut self.fold, folded, items)
    }

    fn later(&self) -> Self {
        self.clone()
    }
}

/// The sequential iterator over the items of parallel iterators.
///
/// A parallel iterator lends its producer, so the two cannot lie in one value. `fold` walks each inner iterator in its own frame;
/// `next` collects its items in a vector first.
pub struct FlatWalk<'a, Q, I: Iterator, F, T> {
    inner: Option<Q>,
    collected: vec::IntoIter<T>,
    items: vec::IntoIter<I::Item>,
    outer: Option<I>,
    op: &'a F,
}

impl<Q, I: Iterator, F, T> fmt::Debug for FlatWalk<'_, Q, I, F, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Walk").finish_non_exhaustive()
    }
}

impl<Q, I, F, T> Iterator for FlatWalk<'_, Q, I, F, T>
where
    Q: Iterator<Item = T>,
    I: Iterator,
    F: Unfold<I::Item, Inner: ParallelIterator<Item = T>>,
{
    type Item = T;

    fn next(&mut self) -> Option<T> {
        if let Some(item) = self.inner.as_mut().and_then(Iterator::next) {
            return Some(item);
        }
        self.inner = None;
        loop {
            if let Some(item) = self.collected.next() {
                return Some(item);
            }
            let item = self.items.next().or_else(|| self.outer.as_mut()?.next())?;
            let mut inner = self.op.unfold(item);
            self.collected = inner.producer().into_iter().collect::<Vec<T>>().into_iter();
        }
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        let (least, most) = self.inner.as_ref().map_or((0, Some(0)), Iterator::size_hint);
        let collected = self.collected.len();
        let none_follows =
            self.items.len() == 0 && self.outer.as_ref().is_none_or(|outer| outer.size_hint().1 == Some(0));
        let most = if none_follows { most.and_then(|most| most.checked_add(collected)) } else { None };
        (least.saturating_add(collected), most)
    }

    #[inline]
    fn fold<B, G: FnMut(B, T) -> B>(self, init: B, mut fold_op: G) -> B {
        let FlatWalk { inner, collected, items, outer, op } = self;
        let mut folded = init;
        if let Some(inner) = inner {
            folded = inner.fold(folded, &mut fold_op);
        }
        if collected.len() > 0 {
            folded = collected.fold(folded, &mut fold_op);
        }
        let mut walk = |folded, item| op.unfold(item).producer().into_iter().fold(folded, &mut fold_op);
        if items.len() > 0 {
            folded = items.fold(folded, &mut walk);
        }
        match outer {
            Some(outer) => outer.fold(folded, walk),
            None => folded,
        }
    }
}
