//! The adaptor `zip_eq`.

use super::Zip;
use crate::iter::schedule::{pass_indexed, pass_items};
use crate::iter::{IndexedParallelIterator, ParallelIterator, inherit_schedule};

/// Pairs the items of two iterators of the same length: see [`IndexedParallelIterator::zip_eq`].
///
/// ```
/// use furcate::prelude::*;
/// let it: furcate::iter::ZipEq<_, _> = (0..2).into_par_iter().zip_eq(['a', 'b']);
/// assert_eq!(it.collect::<Vec<_>>(), [(0, 'a'), (1, 'b')]);
/// ```
#[must_use = "iterators do nothing until a terminal drives them"]
#[derive(Clone, Debug)]
pub struct ZipEq<A, B> {
    base: Zip<A, B>,
}

impl<A: IndexedParallelIterator, B: IndexedParallelIterator> ZipEq<A, B> {
    #[track_caller]
    pub(crate) fn new(left: A, right: B) -> Self {
        assert_eq!(left.len(), right.len(), "zip_eq: the iterators differ in length");
        ZipEq { base: Zip::new(left, right) }
    }
}

impl<A: IndexedParallelIterator, B: IndexedParallelIterator> ParallelIterator for ZipEq<A, B> {
    pass_items!(base: Zip<A, B>);
    inherit_schedule!(base: Zip<A, B>);
}

impl<A: IndexedParallelIterator, B: IndexedParallelIterator> IndexedParallelIterator for ZipEq<A, B> {
    pass_indexed!(base: Zip<A, B>);
}
