//! `merge`, `merge_by`, `merge_by_key`: two sorted iterators as one (Kvik, Section 3.6.1).
//!
//! # How it is divided
//!
//! The first `k` items of the merged sequence are the first `l` of the left side and the first `k - l` of the right
//! one, and `l` is found by binary search over the two sides ([co-ranking](crate::co_rank)).
//!
//! So a cut is exact wherever it is asked for: both halves of a division are equally long, whatever the data, and the
//! merge has positions, as its sides have.
//!
//! A cut takes a search. So the [default scheduler](furcate_schedulers::ByTerminal) cuts only when another worker wants
//! a part, unless a policy says how to divide: see [`Facts::costly_cuts`].
//!
//! # Leaves
//!
//! A leaf is a sequential merge, of one of two kinds. `Looking` peeks at items and selects without a branch. It is for
//! sides where a peeked item is as good as a taken one (slices, ranges). `Taking` walks with std's iterators and holds
//! the items that it compares. It is for all other sides (owned elements, mapped items).
//!
//! # Invariants
//!
//! 1. *Stability.* An item of the right side goes before one of the left side only if it is less. Cuts, looks, and the
//!    leaves' walks from both ends ask this one question (`Order::right_first`), with the right item first.
//! 2. *Any order is safe.* If sides are unsorted, or the comparison is inconsistent, each side is still cut at a place
//!    between its ends, and a leaf takes only items that a side has. So every item comes out once. Only their order
//!    then depends on the cuts.

mod looking;
mod order;
mod taking;

use looking::Looking;
use order::Order;
pub(crate) use order::{By, ByKey, Natural};
use taking::Taking;

use crate::co_rank::co_rank_by;
use crate::iter::indexed_iterator::total_len;
use crate::iter::{PeekParallelIterator, indexed_iterator};
use either::Either;
use furcate_schedulers::{Divisible, Facts, IndexedProducer, PeekProducer, Producer};
use std::fmt;

/// Two sorted iterators, merged in the order of their items: see
/// [`IndexedParallelIterator::merge`](crate::iter::IndexedParallelIterator::merge).
///
/// ```
/// use furcate::prelude::*;
/// let it: furcate::iter::Merge<_, _> = [1, 4].into_par_iter().merge([2, 3]);
/// assert_eq!(it.collect::<Vec<_>>(), [1, 2, 3, 4]);
/// ```
#[must_use = "iterators do nothing until a terminal drives them"]
#[derive(Clone)]
pub struct Merge<I, J, O = Natural> {
    left: I,
    right: J,
    order: O,
}

/// Two sorted iterators, merged by a comparison of one's own: see
/// [`IndexedParallelIterator::merge_by`](crate::iter::IndexedParallelIterator::merge_by).
///
/// ```
/// use furcate::prelude::*;
/// let down = |a: &i32, b: &i32| b.cmp(a);
/// let it: furcate::iter::MergeBy<_, _, _> = [4, 1].into_par_iter().merge_by([3, 2], down);
/// assert_eq!(it.collect::<Vec<_>>(), [4, 3, 2, 1]);
/// ```
pub type MergeBy<I, J, F> = Merge<I, J, By<F>>;

/// Two sorted iterators, merged in the order of a key: see
/// [`IndexedParallelIterator::merge_by_key`](crate::iter::IndexedParallelIterator::merge_by_key).
///
/// ```
/// use furcate::prelude::*;
/// let it: furcate::iter::MergeByKey<_, _, _> = ["a", "ccc"].into_par_iter().merge_by_key(["bb"], |s| s.len());
/// assert_eq!(it.collect::<Vec<_>>(), ["a", "bb", "ccc"]);
/// ```
pub type MergeByKey<I, J, F> = Merge<I, J, ByKey<F>>;

impl<I, J, O> Merge<I, J, O> {
    pub(crate) fn new(left: I, right: J, order: O) -> Self {
        Merge { left, right, order }
    }
}

impl<I: fmt::Debug, J: fmt::Debug, O> fmt::Debug for Merge<I, J, O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Merge").field("left", &self.left).field("right", &self.right).finish_non_exhaustive()
    }
}

indexed_iterator! {
    impl[I, J, O] Merge<I, J, O>
    where [I: PeekParallelIterator, J: PeekParallelIterator<Item = I::Item>, O: Order<I::Item>]
    schedule of left: I, before right: J;
    type Item = I::Item;
    type Producer<'a> = MergeProducer<'a, I::PeekProducer<'a>, J::PeekProducer<'a>, O>;
    fn len(this) {
        total_len(this.left.len(), this.right.len())
    }
    fn lend(this) {
        let (left, right) = (this.left.peek_producer(), this.right.peek_producer());
        let _checked = total_len(left.size(), right.size());
        MergeProducer { left, right, order: &this.order }
    }
    peek where []
}

/// The producer of [`Merge`]: two parts that are next to each other in the merged sequence.
#[allow(missing_debug_implementations, reason = "a borrowed closure")]
pub struct MergeProducer<'a, A, B, O> {
    left: A,
    right: B,
    order: &'a O,
}

impl<A, B, O> MergeProducer<'_, A, B, O>
where
    A: PeekProducer,
    B: PeekProducer<Item = A::Item>,
    O: Order<A::Item>,
{
    /// Returns the numbers of items that each side contributes to the first `index` items, which exist.
    ///
    /// Cost: a look at both sides and a comparison for each level of a binary search in the shorter one.
    fn co_rank(&self, index: usize) -> (usize, usize) {
        // Every result is a place between the sides' ends (invariant 2).
        let from_left = co_rank_by(index, self.left.size(), self.right.size(), |right, left| {
            self.order.right_first(&self.right.peek(right), &self.left.peek(left))
        });
        (from_left, index - from_left)
    }
}

/// Cuts both sides where the merged sequence is to be cut.
impl<A, B, O> Divisible for MergeProducer<'_, A, B, O>
where
    A: PeekProducer,
    B: PeekProducer<Item = A::Item>,
    O: Order<A::Item>,
{
    #[inline]
    fn size(&self) -> usize {
        self.left.size().saturating_add(self.right.size())
    }

    fn divide_at(self, index: usize) -> (Self, Self) {
        let (from_left, from_right) = self.co_rank(index.min(self.size()));
        let (left_head, left_tail) = self.left.divide_at(from_left);
        let (right_head, right_tail) = self.right.divide_at(from_right);
        (
            MergeProducer { left: left_head, right: right_head, order: self.order },
            MergeProducer { left: left_tail, right: right_tail, order: self.order },
        )
    }
}

impl<'a, A, B, O> IntoIterator for MergeProducer<'a, A, B, O>
where
    A: PeekProducer,
    B: PeekProducer<Item = A::Item>,
    O: Order<A::Item>,
{
    type Item = A::Item;
    /// `Looking` if looks are items on both sides, else `Taking`. The choice is known at compile time.
    type IntoIter = Either<Looking<'a, A, B, O>, Taking<'a, A::IntoIter, B::IntoIter, O>>;

    #[inline]
    fn into_iter(self) -> Self::IntoIter {
        let MergeProducer { left, right, order } = self;
        if A::LOOKS_ARE_ITEMS && B::LOOKS_ARE_ITEMS {
            Either::Left(Looking::new(left, right, order))
        } else {
            Either::Right(Taking::new(left.into_iter(), right.into_iter(), order))
        }
    }
}

/// Cuts are costly: each is a search on both sides.
impl<A, B, O> Producer for MergeProducer<'_, A, B, O>
where
    A: PeekProducer,
    B: PeekProducer<Item = A::Item>,
    O: Order<A::Item>,
{
    const FACTS: Facts = Facts { costly_cuts: true, ..A::FACTS.and(B::FACTS) };
}

impl<A, B, O> IndexedProducer for MergeProducer<'_, A, B, O>
where
    A: PeekProducer,
    B: PeekProducer<Item = A::Item>,
    O: Order<A::Item>,
{
}

/// A look costs as much as a cut.
impl<A, B, O> PeekProducer for MergeProducer<'_, A, B, O>
where
    A: PeekProducer,
    B: PeekProducer<Item = A::Item>,
    O: Order<A::Item>,
{
    fn peek(&self, index: usize) -> A::Item {
        let (from_left, from_right) = self.co_rank(index);
        if from_left == self.left.size() {
            return self.right.peek(from_right);
        }
        let left = self.left.peek(from_left);
        if from_right == self.right.size() {
            return left;
        }
        let right = self.right.peek(from_right);
        if self.order.right_first(&right, &left) { right } else { left }
    }
}
