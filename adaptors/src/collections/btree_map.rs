//! Maps in the order of their keys.

use super::through_vec;
use crate::iter::clone_base;
use std::collections::BTreeMap;

through_vec! {
    /// A parallel iterator over a map's entries by value, in order. They are moved to a vector first.
    #[derive(Clone, Debug)]
    IntoIter<K: Send, V: Send> over (K, V), from BTreeMap<K, V>
}

through_vec! {
    /// A parallel iterator over a map's entries by shared reference, in order. The references are written to a vector
    /// first.
    #[derive(Debug)]
    Iter<'data, K: Sync, V: Sync> over (&'data K, &'data V), from &'data BTreeMap<K, V>
}

clone_base!(Iter<'data, K, V>);

through_vec! {
    /// A parallel iterator over a map's entries with mutable references to the values, in order. The references are
    /// written to a vector first.
    #[derive(Debug)]
    IterMut<'data, K: Sync, V: Send> over (&'data K, &'data mut V), from &'data mut BTreeMap<K, V>
}
