//! The sequential merge by looks.
//!
//! For the processor, the side of the next item is a coin toss, and a branch on it is mispredicted every other time. If
//! both items can be looked at, no branch is needed: the item is selected, and two places move on, by 0 or 1.

use super::Order;
use furcate_schedulers::PeekProducer;
use std::iter::FusedIterator;
use std::ops::Range;

/// The sequential iterator over the items of two sorted producers whose
/// [looks are items](PeekProducer::LOOKS_ARE_ITEMS).
#[allow(missing_debug_implementations, reason = "a borrowed closure")]
pub struct Looking<'a, A, B, O> {
    left: Places<A>,
    right: Places<B>,
    order: &'a O,
}

impl<'a, A: PeekProducer, B: PeekProducer, O> Looking<'a, A, B, O> {
    #[inline]
    pub(super) fn new(left: A, right: B, order: &'a O) -> Self {
        Looking { left: Places::new(left), right: Places::new(right), order }
    }
}

impl<A, B, O> Looking<'_, A, B, O>
where
    A: PeekProducer,
    B: PeekProducer<Item = A::Item>,
    O: Order<A::Item>,
{
    /// Takes the first item of two sides that both have one.
    #[inline]
    fn select_first(&mut self) -> A::Item {
        let (left, right) = (self.left.first(), self.right.first());
        let from_right = self.order.right_first(&right, &left);
        self.left.places.start += usize::from(!from_right);
        self.right.places.start += usize::from(from_right);
        if from_right { right } else { left }
    }

    /// Takes the last item of two sides that both have one. Of equal ones this is the right side's.
    #[inline]
    fn select_last(&mut self) -> A::Item {
        let (left, right) = (self.left.last(), self.right.last());
        let from_left = self.order.right_first(&right, &left);
        self.left.places.end -= usize::from(from_left);
        self.right.places.end -= usize::from(!from_left);
        if from_left { left } else { right }
    }

    #[inline]
    fn both_have_items(&self) -> bool {
        !self.left.places.is_empty() && !self.right.places.is_empty()
    }
}

impl<A, B, O> Iterator for Looking<'_, A, B, O>
where
    A: PeekProducer,
    B: PeekProducer<Item = A::Item>,
    O: Order<A::Item>,
{
    type Item = A::Item;

    #[inline]
    fn next(&mut self) -> Option<A::Item> {
        if self.both_have_items() {
            return Some(self.select_first());
        }
        self.left.next().or_else(|| self.right.next())
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        let len = self.left.places.len().saturating_add(self.right.places.len());
        (len, Some(len))
    }

    /// Folds the merged items. The rest of one side is folded in that side's own loop.
    #[inline]
    fn fold<C, F>(mut self, init: C, mut fold_op: F) -> C
    where
        F: FnMut(C, A::Item) -> C,
    {
        let mut folded = init;
        while self.both_have_items() {
            folded = fold_op(folded, self.select_first());
        }
        let folded = self.left.into_part().into_iter().fold(folded, &mut fold_op);
        self.right.into_part().into_iter().fold(folded, fold_op)
    }
}

impl<A, B, O> DoubleEndedIterator for Looking<'_, A, B, O>
where
    A: PeekProducer,
    B: PeekProducer<Item = A::Item>,
    O: Order<A::Item>,
{
    #[inline]
    fn next_back(&mut self) -> Option<A::Item> {
        if self.both_have_items() {
            return Some(self.select_last());
        }
        self.right.next_back().or_else(|| self.left.next_back())
    }

    #[inline]
    fn rfold<C, F>(mut self, init: C, mut fold_op: F) -> C
    where
        F: FnMut(C, A::Item) -> C,
    {
        let mut folded = init;
        while self.both_have_items() {
            folded = fold_op(folded, self.select_last());
        }
        let folded = self.right.into_part().into_iter().rfold(folded, &mut fold_op);
        self.left.into_part().into_iter().rfold(folded, fold_op)
    }
}

impl<A, B, O> ExactSizeIterator for Looking<'_, A, B, O>
where
    A: PeekProducer,
    B: PeekProducer<Item = A::Item>,
    O: Order<A::Item>,
{
}

impl<A, B, O> FusedIterator for Looking<'_, A, B, O>
where
    A: PeekProducer,
    B: PeekProducer<Item = A::Item>,
    O: Order<A::Item>,
{
}

/// A producer, and the places in it that have not been consumed.
struct Places<P> {
    producer: P,
    places: Range<usize>,
}

impl<P: PeekProducer> Places<P> {
    #[inline]
    fn new(producer: P) -> Self {
        let places = 0..producer.size();
        Places { producer, places }
    }

    #[inline]
    fn first(&self) -> P::Item {
        self.producer.peek(self.places.start)
    }

    #[inline]
    fn last(&self) -> P::Item {
        self.producer.peek(self.places.end - 1)
    }

    #[inline]
    fn next(&mut self) -> Option<P::Item> {
        self.places.next().map(|place| self.producer.peek(place))
    }

    #[inline]
    fn next_back(&mut self) -> Option<P::Item> {
        self.places.next_back().map(|place| self.producer.peek(place))
    }

    /// Returns the part that is left.
    #[inline]
    fn into_part(self) -> P {
        let (part, _) = self.producer.divide_at(self.places.end);
        part.divide_at(self.places.start).1
    }
}
