//! The sequential merge by taking items: for items that are owned, or costly to make.

use super::Order;
use std::iter::FusedIterator;

/// The sequential iterator over the items of two sorted ones.
///
/// It can be walked from both ends at once. The ends may meet inside one side, of which both hold an item; [`TakenSide`]
/// handles that case.
#[allow(missing_debug_implementations, reason = "a borrowed closure")]
pub struct Taking<'a, I: Iterator, J: Iterator, O> {
    left: TakenSide<I>,
    right: TakenSide<J>,
    order: &'a O,
}

impl<'a, I: Iterator, J: Iterator, O> Taking<'a, I, J, O> {
    #[inline]
    pub(super) fn new(left: I, right: J, order: &'a O) -> Self {
        Taking { left: TakenSide::new(left), right: TakenSide::new(right), order }
    }
}

impl<I, J, O> Iterator for Taking<'_, I, J, O>
where
    I: ExactSizeIterator,
    J: ExactSizeIterator<Item = I::Item>,
    O: Order<I::Item>,
{
    type Item = I::Item;

    #[inline]
    fn next(&mut self) -> Option<I::Item> {
        match (self.left.first(), self.right.first()) {
            (Some(left), Some(right)) if self.order.right_first(right, left) => self.right.take_first(),
            (Some(_), _) => self.left.take_first(),
            (None, _) => self.right.take_first(),
        }
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        let len = self.left.len().saturating_add(self.right.len());
        (len, Some(len))
    }

    /// Folds the merged items. The two compared items are local variables while both sides have more. The rest of one
    /// side is folded in that side's own loop.
    fn fold<B, F>(mut self, init: B, mut fold_op: F) -> B
    where
        F: FnMut(B, I::Item) -> B,
    {
        let mut folded = init;
        match (self.left.take_first(), self.right.take_first()) {
            (Some(mut left), Some(mut right)) => loop {
                if self.order.right_first(&right, &left) {
                    folded = fold_op(folded, right);
                    match self.right.items.next() {
                        Some(next) => right = next,
                        None => {
                            self.left.first = Some(left);
                            break;
                        }
                    }
                } else {
                    folded = fold_op(folded, left);
                    match self.left.items.next() {
                        Some(next) => left = next,
                        None => {
                            self.right.first = Some(right);
                            break;
                        }
                    }
                }
            },
            (left, right) => {
                self.left.first = left;
                self.right.first = right;
            }
        }
        // One side is empty, except perhaps for an item that was looked at from the back.
        while self.left.first().is_some() && self.right.first().is_some() {
            if let Some(item) = self.next() {
                folded = fold_op(folded, item);
            }
        }
        let folded = self.left.into_items().fold(folded, &mut fold_op);
        self.right.into_items().fold(folded, fold_op)
    }
}

impl<I, J, O> DoubleEndedIterator for Taking<'_, I, J, O>
where
    I: ExactSizeIterator + DoubleEndedIterator,
    J: ExactSizeIterator<Item = I::Item> + DoubleEndedIterator,
    O: Order<I::Item>,
{
    /// Of equal items the right side's is the last one.
    #[inline]
    fn next_back(&mut self) -> Option<I::Item> {
        match (self.left.last(), self.right.last()) {
            (Some(left), Some(right)) if self.order.right_first(right, left) => self.left.take_last(),
            (_, Some(_)) => self.right.take_last(),
            (_, None) => self.left.take_last(),
        }
    }
}

impl<I, J, O> ExactSizeIterator for Taking<'_, I, J, O>
where
    I: ExactSizeIterator,
    J: ExactSizeIterator<Item = I::Item>,
    O: Order<I::Item>,
{
}

impl<I, J, O> FusedIterator for Taking<'_, I, J, O>
where
    I: ExactSizeIterator + FusedIterator,
    J: ExactSizeIterator<Item = I::Item> + FusedIterator,
    O: Order<I::Item>,
{
}

/// An iterator, and the items that were taken out of it at either end for comparisons. Their order is `first`, `items`,
/// `last`.
struct TakenSide<I: Iterator> {
    first: Option<I::Item>,
    items: I,
    last: Option<I::Item>,
}

impl<I: Iterator> TakenSide<I> {
    #[inline]
    fn new(items: I) -> Self {
        TakenSide { first: None, items, last: None }
    }

    #[inline]
    fn first(&mut self) -> Option<&I::Item> {
        if self.first.is_none() {
            self.first = self.items.next().or_else(|| self.last.take());
        }
        self.first.as_ref()
    }

    #[inline]
    fn take_first(&mut self) -> Option<I::Item> {
        self.first();
        self.first.take()
    }

    #[inline]
    fn len(&self) -> usize
    where
        I: ExactSizeIterator,
    {
        let held = usize::from(self.first.is_some()) + usize::from(self.last.is_some());
        self.items.len().saturating_add(held)
    }

    #[inline]
    fn into_items(self) -> impl Iterator<Item = I::Item> {
        self.first.into_iter().chain(self.items).chain(self.last)
    }
}

impl<I: DoubleEndedIterator> TakenSide<I> {
    #[inline]
    fn last(&mut self) -> Option<&I::Item> {
        if self.last.is_none() {
            self.last = self.items.next_back().or_else(|| self.first.take());
        }
        self.last.as_ref()
    }

    #[inline]
    fn take_last(&mut self) -> Option<I::Item> {
        self.last();
        self.last.take()
    }
}
