//! The adaptor `interleave_shortest`.

use super::{Interleave, Take};
use crate::iter::schedule::{pass_indexed, pass_items};
use crate::iter::{IndexedParallelIterator, ParallelIterator, inherit_schedule};

/// The items of two iterators in turn, until one ends: see [`IndexedParallelIterator::interleave_shortest`].
///
/// ```
/// use furcate::prelude::*;
/// let it: furcate::iter::InterleaveShortest<_, _> = (0..3).into_par_iter().interleave_shortest(7..8);
/// assert_eq!(it.collect::<Vec<_>>(), [0, 7, 1]);
/// ```
#[must_use = "iterators do nothing until a terminal drives them"]
#[derive(Clone, Debug)]
pub struct InterleaveShortest<I, J> {
    base: Interleave<Take<I>, Take<J>>,
}

impl<I, J> InterleaveShortest<I, J>
where
    I: IndexedParallelIterator,
    J: IndexedParallelIterator<Item = I::Item>,
{
    pub(crate) fn new(left: I, right: J) -> Self {
        let (left_len, right_len) = (left.len(), right.len());
        // The left side begins, so it may give one item more.
        let from_left = left_len.min(right_len.saturating_add(1));
        let from_right = right_len.min(left_len);
        InterleaveShortest { base: Interleave::new(Take::new(left, from_left), Take::new(right, from_right)) }
    }
}

impl<I, J> ParallelIterator for InterleaveShortest<I, J>
where
    I: IndexedParallelIterator,
    J: IndexedParallelIterator<Item = I::Item>,
{
    pass_items!(base: Interleave<Take<I>, Take<J>>);
    inherit_schedule!(base: Interleave<Take<I>, Take<J>>);
}

impl<I, J> IndexedParallelIterator for InterleaveShortest<I, J>
where
    I: IndexedParallelIterator,
    J: IndexedParallelIterator<Item = I::Item>,
{
    pass_indexed!(base: Interleave<Take<I>, Take<J>>);
}
