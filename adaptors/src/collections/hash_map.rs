//! Hash maps, in the order in which std iterates over them.

use super::through_vec;
use crate::iter::{IntoParallelIterator, ParallelDrainFull, clone_base, newtype_iterator};
use crate::vec;
use std::collections::HashMap;
use std::marker::PhantomData;

through_vec! {
    /// A parallel iterator over a map's entries by value. They are moved to a vector first.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// let map = std::collections::HashMap::from([('a', 1), ('b', 2)]);
    /// let it: furcate::collections::hash_map::IntoIter<_, _> = map.into_par_iter();
    /// assert_eq!(it.map(|(_, value)| value).sum::<i32>(), 3);
    /// ```
    #[derive(Clone, Debug)]
    IntoIter<K: Send, V: Send> over (K, V), from HashMap<K, V, S>, any S
}

through_vec! {
    /// A parallel iterator over a map's entries by shared reference. The references are written to a vector first.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// let map = std::collections::HashMap::from([('a', 1), ('b', 2)]);
    /// let it: furcate::collections::hash_map::Iter<_, _> = map.par_iter();
    /// assert_eq!(it.map(|(_, value)| value).sum::<i32>(), 3);
    /// ```
    #[derive(Debug)]
    Iter<'data, K: Sync, V: Sync> over (&'data K, &'data V), from &'data HashMap<K, V, S>, any S
}

clone_base!(Iter<'data, K, V>);

through_vec! {
    /// A parallel iterator over a map's entries with mutable references to the values. The references are written to a
    /// vector first.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// let mut map = std::collections::HashMap::from([('a', 1), ('b', 2)]);
    /// let it: furcate::collections::hash_map::IterMut<_, _> = map.par_iter_mut();
    /// it.for_each(|(_, value)| *value *= 10);
    /// assert_eq!(map[&'a'], 10);
    /// ```
    #[derive(Debug)]
    IterMut<'data, K: Sync, V: Send> over (&'data K, &'data mut V), from &'data mut HashMap<K, V, S>, any S
}

newtype_iterator! {
    /// A draining parallel iterator: see [`ParallelDrainFull`]. The entries are moved to a vector first.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// let mut map = std::collections::HashMap::from([('a', 1), ('b', 2)]);
    /// let it: furcate::collections::hash_map::Drain<_, _> = map.par_drain();
    /// assert_eq!(it.map(|(_, value)| value).sum::<i32>(), 3);
    /// assert!(map.is_empty());
    /// ```
    #[derive(Debug)]
    Drain<'data, K: Send, V: Send>(vec::IntoIter<(K, V)>, &'data mut HashMap<K, V>)
}

impl<'data, K: Send, V: Send, S> ParallelDrainFull for &'data mut HashMap<K, V, S> {
    type Iter = Drain<'data, K, V>;
    type Item = (K, V);

    fn par_drain(self) -> Self::Iter {
        Drain { base: Vec::from_iter(self.drain()).into_par_iter(), borrowed: PhantomData }
    }
}
