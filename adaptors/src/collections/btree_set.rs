//! Sets in order.

use super::through_vec;
use crate::iter::clone_base;
use std::collections::BTreeSet;

through_vec! {
    /// A parallel iterator over a set's items by value, in order. They are moved to a vector first.
    #[derive(Clone, Debug)]
    IntoIter<T: Send> over T, from BTreeSet<T>
}

through_vec! {
    /// A parallel iterator over a set's items by shared reference, in order. The references are written to a vector
    /// first.
    #[derive(Debug)]
    Iter<'data, T: Sync> over &'data T, from &'data BTreeSet<T>
}

clone_base!(Iter<'data, T>);
