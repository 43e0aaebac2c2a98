//! Iterators that know how many items they have, and where each is.

use super::{Enumerate, IntoParallelIterator, ParallelIterator, Rev, Zip};
use furcate_schedulers::IndexedProducer;

/// A parallel iterator with exact length and positions.
///
/// The methods are rayon's, with rayon's meaning.
#[must_use = "iterators do nothing until a terminal drives them"]
#[expect(clippy::len_without_is_empty, reason = "as rayon's; an iterator is not a collection")]
pub trait IndexedParallelIterator: ParallelIterator {
    /// What the iterator lends to the scheduler: with exact length and cuts, and leaves that can be walked from both
    /// ends.
    type IndexedProducer<'a>: IndexedProducer<Item = Self::Item>
    where
        Self: 'a;

    /// Lends all items, as [`producer`](ParallelIterator::producer) does.
    fn indexed_producer(&mut self) -> Self::IndexedProducer<'_>;

    /// The exact number of items.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// assert_eq!([1, 2, 3].par_iter().len(), 3);
    /// ```
    fn len(&self) -> usize;

    // ----------------------------------------------------------------------------------- adaptors: one iterator

    /// Pairs every item with its position, counted from 0.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// let placed: Vec<_> = ['a', 'b'].par_iter().enumerate().collect();
    /// assert_eq!(placed, [(0, &'a'), (1, &'b')]);
    /// ```
    fn enumerate(self) -> Enumerate<Self> {
        Enumerate::new(self)
    }

    /// The items from the back to the front.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// let back: Vec<usize> = (0..3).into_par_iter().rev().collect();
    /// assert_eq!(back, [2, 1, 0]);
    /// ```
    fn rev(self) -> Rev<Self> {
        Rev::new(self)
    }

    // ---------------------------------------------------------------------------------- adaptors: two iterators

    /// Pairs the items of two iterators, up to the end of the shorter one.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// let dot: i32 = [1, 2, 3].par_iter().zip(&[4, 5, 6]).map(|(a, b)| a * b).sum();
    /// assert_eq!(dot, 32);
    /// ```
    fn zip<Z>(self, other: Z) -> Zip<Self, Z::Iter>
    where
        Z: IntoParallelIterator,
        Z::Iter: IndexedParallelIterator,
    {
        Zip::new(self, other.into_par_iter())
    }

    // ------------------------------------------------------------------------------------- terminals: comparisons

    // ------------------------------------------------------------------------------------- terminals: positions

    // ------------------------------------------------------------------------------------- terminals: collections
}
