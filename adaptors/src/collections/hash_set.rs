//! Hash sets, in the order in which std iterates over them.

use super::through_vec;
use crate::iter::{IntoParallelIterator, ParallelDrainFull, clone_base, newtype_iterator};
use crate::vec;
use std::collections::HashSet;
use std::marker::PhantomData;

through_vec! {
    /// A parallel iterator over a set's items by value. They are moved to a vector first.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// let set = std::collections::HashSet::from([1, 2, 3]);
    /// let it: furcate::collections::hash_set::IntoIter<_> = set.into_par_iter();
    /// assert_eq!(it.sum::<i32>(), 6);
    /// ```
    #[derive(Clone, Debug)]
    IntoIter<T: Send> over T, from HashSet<T, S>, any S
}

through_vec! {
    /// A parallel iterator over a set's items by shared reference. The references are written to a vector first.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// let set = std::collections::HashSet::from([1, 2, 3]);
    /// let it: furcate::collections::hash_set::Iter<_> = set.par_iter();
    /// assert_eq!(it.sum::<i32>(), 6);
    /// ```
    #[derive(Debug)]
    Iter<'data, T: Sync> over &'data T, from &'data HashSet<T, S>, any S
}

clone_base!(Iter<'data, T>);

newtype_iterator! {
    /// A draining parallel iterator: see [`ParallelDrainFull`]. The items are moved to a vector first.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// let mut set = std::collections::HashSet::from([1, 2, 3]);
    /// let it: furcate::collections::hash_set::Drain<_> = set.par_drain();
    /// assert_eq!(it.sum::<i32>(), 6);
    /// assert!(set.is_empty());
    /// ```
    #[derive(Debug)]
    Drain<'data, T: Send>(vec::IntoIter<T>, &'data mut HashSet<T>)
}

impl<'data, T: Send, S> ParallelDrainFull for &'data mut HashSet<T, S> {
    type Iter = Drain<'data, T>;
    type Item = T;

    fn par_drain(self) -> Self::Iter {
        Drain { base: Vec::from_iter(self.drain()).into_par_iter(), borrowed: PhantomData }
    }
}
