//! The adaptor `zip`.

use crate::iter::indexed_iterator;
use furcate_schedulers::{Divisible, Facts, IndexedProducer, PeekProducer, Producer};

/// Pairs the items of two iterators: see [`zip`](crate::iter::IndexedParallelIterator::zip).
///
/// ```
/// use furcate::prelude::*;
/// let it: furcate::iter::Zip<_, _> = (0..9).into_par_iter().zip(['a', 'b']);
/// assert_eq!(it.collect::<Vec<_>>(), [(0, 'a'), (1, 'b')]);
/// ```
#[must_use = "iterators do nothing until a terminal drives them"]
#[derive(Clone, Debug)]
pub struct Zip<A, B> {
    left: A,
    right: B,
}

impl<A, B> Zip<A, B> {
    pub(crate) fn new(left: A, right: B) -> Self {
        Zip { left, right }
    }
}

indexed_iterator! {
    impl[A, B] Zip<A, B> where over left and right;
    type Item = (A::Item, B::Item);
    type Producer<P, Q> = ZipProducer<P, Q>;
    fn len(this) { this.left.len().min(this.right.len()) }
    fn lend(_this, left, right) { ZipProducer::new(left, right) }
}

/// The producer of [`Zip`]: two producers of the same length, cut at the same place.
#[derive(Debug)]
pub struct ZipProducer<A, B> {
    left: A,
    right: B,
}

impl<A: Divisible, B: Divisible> ZipProducer<A, B> {
    /// Cuts off the excess of the longer side, so that both can be walked from the back too.
    #[inline]
    pub(crate) fn new(left: A, right: B) -> Self {
        let len = left.size().min(right.size());
        ZipProducer { left: left.divide_at(len).0, right: right.divide_at(len).0 }
    }
}

impl<A: Divisible, B: Divisible> Divisible for ZipProducer<A, B> {
    #[inline]
    fn size(&self) -> usize {
        self.left.size().min(self.right.size())
    }

    #[inline]
    fn divide_at(self, index: usize) -> (Self, Self) {
        let (left_head, left_tail) = self.left.divide_at(index);
        let (right_head, right_tail) = self.right.divide_at(index);
        (
            ZipProducer { left: left_head, right: right_head },
            ZipProducer { left: left_tail, right: right_tail },
        )
    }
}

impl<A: IntoIterator, B: IntoIterator> IntoIterator for ZipProducer<A, B> {
    type Item = (A::Item, B::Item);
    type IntoIter = std::iter::Zip<A::IntoIter, B::IntoIter>;

    #[inline]
    fn into_iter(self) -> Self::IntoIter {
        self.left.into_iter().zip(self.right)
    }
}

// Steps cut off their items, so that they run on std's zip, too.
impl<A: Producer, B: Producer> Producer for ZipProducer<A, B> {
    const FACTS: Facts = A::FACTS.and(B::FACTS);
}
impl<A: IndexedProducer, B: IndexedProducer> IndexedProducer for ZipProducer<A, B> {}

impl<A: PeekProducer, B: PeekProducer> PeekProducer for ZipProducer<A, B> {
    const LOOKS_ARE_ITEMS: bool = A::LOOKS_ARE_ITEMS && B::LOOKS_ARE_ITEMS;

    #[inline]
    fn peek(&self, index: usize) -> (A::Item, B::Item) {
        (self.left.peek(index), self.right.peek(index))
    }
}
