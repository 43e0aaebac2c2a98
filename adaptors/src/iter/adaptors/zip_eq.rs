//! The adaptor `zip_eq`.

use super::Zip;
use crate::iter::{IndexedParallelIterator, newtype_iterator};

newtype_iterator! {
    /// Pairs the items of two iterators of the same length: see [`IndexedParallelIterator::zip_eq`].
    ///
    /// ```
    /// use furcate::prelude::*;
    /// let it: furcate::iter::ZipEq<_, _> = (0..2).into_par_iter().zip_eq(['a', 'b']);
    /// assert_eq!(it.collect::<Vec<_>>(), [(0, 'a'), (1, 'b')]);
    /// ```
    #[derive(Clone, Debug)]
    ZipEq<A: IndexedParallelIterator, B: IndexedParallelIterator>(Zip<A, B>), indexed
}

impl<A: IndexedParallelIterator, B: IndexedParallelIterator> ZipEq<A, B> {
    #[track_caller]
    pub(crate) fn new(left: A, right: B) -> Self {
        assert_eq!(left.len(), right.len(), "zip_eq: the iterators differ in length");
        ZipEq { base: Zip::new(left, right) }
    }
}
