//! The adaptor `chain`.

use crate::iter::indexed_iterator::total_len;
use crate::iter::{IndexedParallelIterator, ParallelIterator, SchedulerOf, inherit_scopes};
use furcate_schedulers::{
    ByRef, Divisible, Facts, InPart, IndexedProducer, NextStep, Producer, Scheduler, StepFold, Steps,
    StepsFacts, Suspendable,
};
use std::iter::{self, Flatten};
use std::ops::ControlFlow;
use std::option;

/// A parallel iterator over the items of one iterator and then those of another: see [`ParallelIterator::chain`].
///
/// ```
/// use furcate::prelude::*;
/// let it: furcate::iter::Chain<_, _> = (0..2).into_par_iter().chain(5..7);
/// assert_eq!(it.collect::<Vec<_>>(), [0, 1, 5, 6]);
/// ```
#[must_use = "iterators do nothing until a terminal drives them"]
#[derive(Clone, Debug)]
pub struct Chain<A, B> {
    first: A,
    second: B,
}

impl<A, B> Chain<A, B> {
    pub(crate) fn new(first: A, second: B) -> Self {
        Chain { first, second }
    }
}

impl<A, B> ParallelIterator for Chain<A, B>
where
    A: ParallelIterator,
    B: ParallelIterator<Item = A::Item>,
{
    type Item = A::Item;
    type Producer<'a>
        = ChainProducer<A::Producer<'a>, B::Producer<'a>>
    where
        Self: 'a;

    inherit_scopes!(first: A, second: B);

    type Schedule = A::Schedule;

    #[inline]
    fn schedule(&self) -> A::Schedule {
        const {
            assert!(
                !SchedulerOf::<B>::FACTS.suspends || SchedulerOf::<A>::FACTS.suspends,
                "the first side's workers would wait for the second side's futures: await that one, too, as in \
                 `.map(std::future::ready).io_await().chain(..)`"
            );
        }
        self.first.schedule()
    }

    #[inline]
    fn producer(&mut self) -> Self::Producer<'_> {
        ChainProducer { first: Some(self.first.producer()), second: Some(self.second.producer()) }
    }

    #[inline]
    fn opt_len(&self) -> Option<usize> {
        self.first.opt_len()?.checked_add(self.second.opt_len()?)
    }
}

impl<A, B> IndexedParallelIterator for Chain<A, B>
where
    A: IndexedParallelIterator,
    B: IndexedParallelIterator<Item = A::Item>,
{
    type IndexedProducer<'a>
        = IndexedChainProducer<A::IndexedProducer<'a>, B::IndexedProducer<'a>>
    where
        Self: 'a;

    #[inline]
    fn indexed_producer(&mut self) -> Self::IndexedProducer<'_> {
        let (first, second) = (self.first.indexed_producer(), self.second.indexed_producer());
        let _checked = total_len(first.size(), second.size());
        IndexedChainProducer { parts: ChainProducer { first: Some(first), second: Some(second) } }
    }

    #[inline]
    #[track_caller]
    fn len(&self) -> usize {
        total_len(self.first.len(), self.second.len())
    }
}

/// The producer of [`Chain`].
///
/// A side of which a part has nothing is `None`, not an empty producer. So an adaptor below that yields an item even
/// for no items (as `fold` yields its identity) is not asked.
#[derive(Debug)]
pub struct ChainProducer<A, B> {
    first: Option<A>,
    second: Option<B>,
}

/// Returns the part; `None` if it is empty.
#[inline]
fn non_empty<D: Divisible>(part: D) -> Option<D> {
    if part.size() > 0 { Some(part) } else { None }
}

impl<A: Divisible, B: Divisible> Divisible for ChainProducer<A, B> {
    #[inline]
    fn size(&self) -> usize {
        self.first.size().saturating_add(self.second.size())
    }

    #[inline]
    fn should_be_divided(&self) -> bool {
        (self.first.size() > 0 && self.second.size() > 0)
            || self.first.should_be_divided()
            || self.second.should_be_divided()
    }

    #[inline]
    fn divide(self) -> (Self, Self) {
        // If only one side is left, it knows best where its middle is.
        match (self.first.size(), self.second.size()) {
            (_, 0) => {
                let (left, right) = self.first.divide();
                let left = ChainProducer { first: left, second: None };
                (left, ChainProducer { first: right.and_then(non_empty), second: self.second })
            }
            (0, _) => {
                let (left, right) = self.second.divide();
                let left = ChainProducer { first: self.first, second: left };
                (left, ChainProducer { first: None, second: right })
            }
            (first, second) => self.divide_at(first.midpoint(second)),
        }
    }

    #[inline]
    fn divide_at(self, index: usize) -> (Self, Self) {
        let ChainProducer { first, second } = self;
        let first_size = first.size();
        if index >= first_size {
            let (left, right) = match second {
                Some(second) if index > first_size => {
                    let (left, right) = second.divide_at(index - first_size);
                    (Some(left), non_empty(right))
                }
                second => (None, second),
            };
            return (ChainProducer { first, second: left }, ChainProducer { first: None, second: right });
        }
        let (left, right) = if index == 0 {
            (None, first)
        } else {
            let (left, right) = first.divide_at(index);
            (left, right.and_then(non_empty))
        };
        (ChainProducer { first: left, second: None }, ChainProducer { first: right, second })
    }
}

/// The items of a side, if it is there. This type is `Flatten`, not an iterator of our own, because std's type runs the
/// side's own `try_fold`, which only std can override.
type Side<P> = Flatten<option::IntoIter<<P as IntoIterator>::IntoIter>>;

#[inline]
fn side<P: IntoIterator>(part: Option<P>) -> Side<P> {
    part.map(P::into_iter).into_iter().flatten()
}

impl<A: IntoIterator, B: IntoIterator<Item = A::Item>> IntoIterator for ChainProducer<A, B> {
    type Item = A::Item;
    type IntoIter = iter::Chain<Side<A>, Side<B>>;

    #[inline]
    fn into_iter(self) -> Self::IntoIter {
        side(self.first).chain(side(self.second))
    }
}

impl<A: Producer, B: Producer<Item = A::Item>> Producer for ChainProducer<A, B> {
    const FACTS: Facts = A::FACTS.and(B::FACTS);

    #[inline]
    fn is_single(&self) -> bool {
        // (A side whose units are not single may give an item without a unit, as a `fold` of nothing does.)
        let no_first = self.first.as_ref().is_none_or(|side| A::FACTS.single && side.size() == 0);
        let no_second = self.second.as_ref().is_none_or(|side| B::FACTS.single && side.size() == 0);
        match (&self.first, &self.second) {
            (Some(one), _) if no_second => one.is_single(),
            (_, Some(one)) if no_first => one.is_single(),
            _ => false,
        }
    }

    fn partial_fold<'s, C, F, L>(self, init: C, fold: F, steps: &mut L) -> ControlFlow<C, C>
    where
        Self: 's,
        C: Suspendable<'s>,
        F: StepFold<'s, Self::Item, C>,
        L: Steps<Self>,
    {
        let (mut folded, mut fold) = (init, InPart(fold));
        let ChainProducer { mut first, mut second } = self;
        loop {
            let mut sides = FirstSteps { steps, second, stopped: false };
            if let Some(part) = first.take() {
                folded = match part.partial_fold(folded, ByRef(&mut fold), &mut sides) {
                    ControlFlow::Continue(folded) => folded,
                    ControlFlow::Break(end) => {
                        // Dropped before the result is returned: a panic in this drop would leak the result.
                        drop(sides);
                        return ControlFlow::Break(end);
                    }
                };
            }
            if sides.stopped {
                drop(sides); // before the result is returned, as above
                return ControlFlow::Continue(folded);
            }
            second = sides.second;
            let Some(part) = second.take() else { return ControlFlow::Continue(folded) };
            // A part that was taken back and does not consist of the second side alone.
            let mut both_back = None;
            let wrap = |right| ChainProducer { first: None, second: Some(right) };
            let mut sides = steps.wrapping(wrap, |back| match back {
                ChainProducer { first: None, second } => second,
                both => {
                    both_back = Some(both);
                    None
                }
            });
            folded = part.partial_fold(folded, ByRef(&mut fold), &mut sides)?;
            match both_back {
                Some(back) => (first, second) = (back.first, back.second),
                None => return ControlFlow::Continue(folded),
            }
        }
    }
}

/// The steps over the first side, while the second one waits.
struct FirstSteps<'l, L, B> {
    steps: &'l mut L,
    second: Option<B>,
    stopped: bool,
}

impl<A, B, L> Steps<A> for FirstSteps<'_, L, B>
where
    A: Divisible,
    B: Divisible,
    L: Steps<ChainProducer<A, B>>,
{
    const FACTS: StepsFacts = L::FACTS;

    fn keeps(&self) -> Option<usize> {
        self.steps.keeps()
    }

    fn watch(&mut self, size: usize) -> Option<usize> {
        self.steps.watch(size.saturating_add(self.second.size()))
    }

    #[inline]
    fn ends_step(&mut self) -> bool {
        self.steps.ends_step()
    }

    /// A part that is given away takes the second side with it, so the fold ends as after a [`NextStep::Give`].
    fn grown(&mut self, size: usize) -> bool {
        let grown = self.steps.grown(size.saturating_add(self.second.size()));
        self.stopped |= grown;
        grown
    }

    fn ahead(&mut self, size: usize) -> bool {
        self.steps.ahead(size.saturating_add(self.second.size()))
    }

    fn next(&mut self, size: usize) -> NextStep {
        loop {
            let waiting = self.second.size();
            let next = self.steps.next(size.saturating_add(waiting));
            self.stopped = matches!(next, NextStep::Give | NextStep::Stop);
            // The seam is nearer to the middle of the whole than the first side's own middle is, unless the second side
            // is small.
            if next != NextStep::Divide || waiting == 0 || waiting < size / 2 {
                return next;
            }
            // The part behind the middle of the whole, or else behind the seam, is given away, and the steps continue.
            let (left, right) = self.second.take().divide_at(waiting.saturating_sub(size) / 2);
            self.second = left.and_then(non_empty);
            self.steps.take(ChainProducer { first: None, second: right.and_then(non_empty) });
        }
    }

    /// The second side lies to the right of any part of the first side, and goes with it.
    fn take(&mut self, right: A) {
        self.steps.take(ChainProducer { first: non_empty(right), second: self.second.take() });
    }

    /// Returns `None` if the second side comes first.
    fn take_back(&mut self) -> Option<A> {
        if self.second.is_some() {
            return None;
        }
        let ChainProducer { first, second } = self.steps.take_back()?;
        self.second = second;
        first
    }
}

/// The producer of an indexed [`Chain`].
#[derive(Debug)]
pub struct IndexedChainProducer<A, B> {
    parts: ChainProducer<A, B>,
}

impl<A: Divisible, B: Divisible> Divisible for IndexedChainProducer<A, B> {
    #[inline]
    fn size(&self) -> usize {
        self.parts.size()
    }

    #[inline]
    fn divide_at(self, index: usize) -> (Self, Self) {
        let (left, right) = self.parts.divide_at(index);
        (IndexedChainProducer { parts: left }, IndexedChainProducer { parts: right })
    }
}

impl<A: Producer, B: Producer<Item = A::Item>> IntoIterator for IndexedChainProducer<A, B> {
    type Item = A::Item;
    type IntoIter = Counted<iter::Chain<Side<A>, Side<B>>>;

    #[inline]
    fn into_iter(self) -> Self::IntoIter {
        let len = self.size();
        Counted { items: self.parts.into_iter(), len }
    }
}

impl<A: Producer, B: Producer<Item = A::Item>> Producer for IndexedChainProducer<A, B> {
    const FACTS: Facts = A::FACTS.and(B::FACTS);

    #[inline]
    fn partial_fold<'s, C, F, L>(self, init: C, fold: F, steps: &mut L) -> ControlFlow<C, C>
    where
        Self: 's,
        C: Suspendable<'s>,
        F: StepFold<'s, Self::Item, C>,
        L: Steps<Self>,
    {
        let wrap = |parts| IndexedChainProducer { parts };
        self.parts.partial_fold(init, fold, &mut steps.wrapping(wrap, |back| Some(back.parts)))
    }
}

impl<A: IndexedProducer, B: IndexedProducer<Item = A::Item>> IndexedProducer for IndexedChainProducer<A, B> {}

/// An iterator with its length: std's chain does not know its own.
#[derive(Debug)]
pub struct Counted<I> {
    pub(super) items: I,
    pub(super) len: usize,
}

impl<I: Iterator> Iterator for Counted<I> {
    type Item = I::Item;

    #[inline]
    fn next(&mut self) -> Option<I::Item> {
        let item = self.items.next()?;
        self.len = self.len.saturating_sub(1);
        Some(item)
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.len, Some(self.len))
    }

    #[inline]
    fn nth(&mut self, n: usize) -> Option<I::Item> {
        self.len = self.len.saturating_sub(n.saturating_add(1));
        self.items.nth(n)
    }

    #[inline]
    fn fold<B, F: FnMut(B, I::Item) -> B>(self, init: B, fold_op: F) -> B {
        self.items.fold(init, fold_op)
    }
}

impl<I: DoubleEndedIterator> DoubleEndedIterator for Counted<I> {
    #[inline]
    fn next_back(&mut self) -> Option<I::Item> {
        let item = self.items.next_back()?;
        self.len = self.len.saturating_sub(1);
        Some(item)
    }

    #[inline]
    fn nth_back(&mut self, n: usize) -> Option<I::Item> {
        self.len = self.len.saturating_sub(n.saturating_add(1));
        self.items.nth_back(n)
    }

    #[inline]
    fn rfold<B, F: FnMut(B, I::Item) -> B>(self, init: B, fold_op: F) -> B {
        self.items.rfold(init, fold_op)
    }
}

impl<I: Iterator> ExactSizeIterator for Counted<I> {}
