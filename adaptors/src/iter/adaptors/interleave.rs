//! The adaptor `interleave`.

use crate::iter::indexed_iterator::total_len;
use crate::iter::{IndexedParallelIterator, indexed_iterator};
use furcate_schedulers::{Divisible, Facts, IndexedProducer, Producer};

/// The items of two iterators in turn: see [`IndexedParallelIterator::interleave`].
///
/// ```
/// use furcate::prelude::*;
/// let it: furcate::iter::Interleave<_, _> = (0..3).into_par_iter().interleave(7..8);
/// assert_eq!(it.collect::<Vec<_>>(), [0, 7, 1, 2]);
/// ```
#[must_use = "iterators do nothing until a terminal drives them"]
#[derive(Clone, Debug)]
pub struct Interleave<I, J> {
    left: I,
    right: J,
}

impl<I, J> Interleave<I, J> {
    pub(crate) fn new(left: I, right: J) -> Self {
        Interleave { left, right }
    }
}

indexed_iterator! {
    impl[I, J] Interleave<I, J> where [I: IndexedParallelIterator, J: IndexedParallelIterator<Item = I::Item>]
    schedule of left: I, before right: J;
    type Item = I::Item;
    type Producer<'a> = InterleaveProducer<I::IndexedProducer<'a>, J::IndexedProducer<'a>>;
    fn len(this) {
        total_len(this.left.len(), this.right.len())
    }
    fn lend(this) {
        let (left, right) = (this.left.indexed_producer(), this.right.indexed_producer());
        let _checked = total_len(left.size(), right.size());
        InterleaveProducer { left, right, right_next: false }
    }
}

/// Orders the values of the two sides: first the side whose turn it is. The same call also reverses the order.
#[inline]
fn in_turn<T>(right_next: bool, (left, right): (T, T)) -> (T, T) {
    if right_next { (right, left) } else { (left, right) }
}

/// The producer of [`Interleave`]: two parts, and the side whose turn it is.
#[derive(Debug)]
pub struct InterleaveProducer<I, J> {
    left: I,
    right: J,
    /// Whether the right side gives the next item. When that side has none left, it is always the other side's turn.
    right_next: bool,
}

impl<I: Divisible, J: Divisible> Divisible for InterleaveProducer<I, J> {
    #[inline]
    fn size(&self) -> usize {
        self.left.size().saturating_add(self.right.size())
    }

    fn divide_at(self, index: usize) -> (Self, Self) {
        let index = index.min(self.size());
        let (mine, other) = in_turn(self.right_next, (self.left.size(), self.right.size()));
        // Each side gives half of the items; the odd one comes from the side that begins. If one side has too few, the
        // other one fills up.
        let from_mine = (index - (index / 2).min(other)).min(mine);
        let (from_left, from_right) = in_turn(self.right_next, (from_mine, index - from_mine));
        let (left_head, left_tail) = self.left.divide_at(from_left);
        let (right_head, right_tail) = self.right.divide_at(from_right);
        let right_next = self.right_next == (index % 2 == 0);
        (
            InterleaveProducer { left: left_head, right: right_head, right_next: self.right_next },
            InterleaveProducer { left: left_tail, right: right_tail, right_next },
        )
    }
}

impl<I, J> IntoIterator for InterleaveProducer<I, J>
where
    I: IndexedProducer,
    J: IndexedProducer<Item = I::Item>,
{
    type Item = I::Item;
    type IntoIter = InterleaveIter<I::IntoIter, J::IntoIter>;

    #[inline]
    fn into_iter(self) -> Self::IntoIter {
        InterleaveIter {
            left: self.left.into_iter(),
            right: self.right.into_iter(),
            right_next: self.right_next,
        }
    }
}

impl<I: IndexedProducer, J: IndexedProducer<Item = I::Item>> Producer for InterleaveProducer<I, J> {
    const FACTS: Facts = I::FACTS.and(J::FACTS);
}
impl<I: IndexedProducer, J: IndexedProducer<Item = I::Item>> IndexedProducer for InterleaveProducer<I, J> {}

/// The sequential iterator over the items of two in turn.
#[derive(Debug)]
pub struct InterleaveIter<I, J> {
    left: I,
    right: J,
    /// As in [`InterleaveProducer`].
    right_next: bool,
}

impl<I, J> Iterator for InterleaveIter<I, J>
where
    I: ExactSizeIterator,
    J: ExactSizeIterator<Item = I::Item>,
{
    type Item = I::Item;

    #[inline]
    fn next(&mut self) -> Option<I::Item> {
        let from_right = self.right_next;
        self.right_next = !from_right;
        if self.left.len() == 0 || (from_right && self.right.len() > 0) {
            self.right.next()
        } else {
            self.left.next()
        }
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        let len = self.left.len().saturating_add(self.right.len());
        (len, Some(len))
    }

    /// Folds pairs without a look at the turn, then the rest of the longer side in that side's own loop.
    fn fold<B, F>(mut self, init: B, mut fold_op: F) -> B
    where
        F: FnMut(B, I::Item) -> B,
    {
        let mut folded = init;
        if self.right_next {
            if let Some(item) = self.right.next() {
                folded = fold_op(folded, item);
            }
        }
        let pairs = self.left.len().min(self.right.len());
        folded =
            self.left.by_ref().zip(self.right.by_ref()).take(pairs).fold(folded, |folded, (left, right)| {
                let folded = fold_op(folded, left);
                fold_op(folded, right)
            });
        let folded = self.left.fold(folded, &mut fold_op);
        self.right.fold(folded, fold_op)
    }
}

impl<I, J> DoubleEndedIterator for InterleaveIter<I, J>
where
    I: ExactSizeIterator + DoubleEndedIterator,
    J: ExactSizeIterator<Item = I::Item> + DoubleEndedIterator,
{
    /// The longer side gives the last item. Of sides of the same length, the one whose turn it is not gives it.
    #[inline]
    fn next_back(&mut self) -> Option<I::Item> {
        let (left, right) = (self.left.len(), self.right.len());
        let from_right = if self.right_next { right > left } else { right >= left };
        if from_right { self.right.next_back() } else { self.left.next_back() }
    }
}

impl<I, J> ExactSizeIterator for InterleaveIter<I, J>
where
    I: ExactSizeIterator,
    J: ExactSizeIterator<Item = I::Item>,
{
}
