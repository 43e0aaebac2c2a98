//! Maps in the order of their keys.

use super::through_vec;
use crate::iter::clone_base;
use std::collections::BTreeMap;

through_vec! {
    /// A parallel iterator over a map's entries by value, in order. They are moved to a vector first.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// let map = std::collections::BTreeMap::from([('a', 1), ('b', 2)]);
    /// let it: furcate::collections::btree_map::IntoIter<_, _> = map.into_par_iter();
    /// assert_eq!(it.map(|(_, value)| value).sum::<i32>(), 3);
    /// ```
    #[derive(Clone, Debug)]
    IntoIter<K: Send, V: Send> over (K, V), from BTreeMap<K, V>
}

through_vec! {
    /// A parallel iterator over a map's entries by shared reference, in order. The references are written to a vector
    /// first.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// let map = std::collections::BTreeMap::from([('a', 1), ('b', 2)]);
    /// let it: furcate::collections::btree_map::Iter<_, _> = map.par_iter();
    /// assert_eq!(it.map(|(_, value)| value).sum::<i32>(), 3);
    /// ```
    #[derive(Debug)]
    Iter<'data, K: Sync, V: Sync> over (&'data K, &'data V), from &'data BTreeMap<K, V>
}

clone_base!(Iter<'data, K, V>);

through_vec! {
    /// A parallel iterator over a map's entries with mutable references to the values, in order. The references are
    /// written to a vector first.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// let mut map = std::collections::BTreeMap::from([('a', 1), ('b', 2)]);
    /// let it: furcate::collections::btree_map::IterMut<_, _> = map.par_iter_mut();
    /// it.for_each(|(_, value)| *value *= 10);
    /// assert_eq!(map[&'a'], 10);
    /// ```
    #[derive(Debug)]
    IterMut<'data, K: Sync, V: Send> over (&'data K, &'data mut V), from &'data mut BTreeMap<K, V>
}
