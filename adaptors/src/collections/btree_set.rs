//! Sets in order.

use super::through_vec;
use crate::iter::clone_base;
use std::collections::BTreeSet;

through_vec! {
    /// A parallel iterator over a set's items by value, in order. They are moved to a vector first.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// let set = std::collections::BTreeSet::from([3, 1, 2]);
    /// let it: furcate::collections::btree_set::IntoIter<_> = set.into_par_iter();
    /// assert_eq!(it.collect::<Vec<_>>(), [1, 2, 3]);
    /// ```
    #[derive(Clone, Debug)]
    IntoIter<T: Send> over T, from BTreeSet<T>
}

through_vec! {
    /// A parallel iterator over a set's items by shared reference, in order. The references are written to a vector
    /// first.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// let set = std::collections::BTreeSet::from([3, 1, 2]);
    /// let it: furcate::collections::btree_set::Iter<_> = set.par_iter();
    /// assert_eq!(it.collect::<Vec<_>>(), [&1, &2, &3]);
    /// ```
    #[derive(Debug)]
    Iter<'data, T: Sync> over &'data T, from &'data BTreeSet<T>
}

clone_base!(Iter<'data, T>);
