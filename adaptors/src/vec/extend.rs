//! Collecting into vectors.

use crate::iter::collect::{append, append_lists, flatten};
use crate::iter::{FromParallelIterator, IntoParallelIterator, ParallelExtend, ParallelIterator};
use std::collections::LinkedList;

/// Collects in place, if the iterator knows its length. Else one vector per leaf is filled and appended.
impl<T: Send> FromParallelIterator<T> for Vec<T> {
    fn from_par_iter<I: IntoParallelIterator<Item = T>>(items: I) -> Self {
        let mut vec = Vec::new();
        vec.par_extend(items);
        vec
    }

    fn from_par_lists(lists: LinkedList<Vec<T>>) -> Self {
        flatten(lists)
    }
}

impl<T: Send> ParallelExtend<T> for Vec<T> {
    fn par_extend<I: IntoParallelIterator<Item = T>>(&mut self, items: I) {
        append(self, items.into_par_iter());
    }

    fn par_extend_lists(&mut self, lists: LinkedList<Vec<T>>) {
        append_lists(self, lists);
    }
}

/// Copies the value behind each item, where items are references.
///
/// ```
/// use furcate::prelude::*;
/// let mut v = vec![1];
/// v.par_extend(&[2, 3][..]);
/// assert_eq!(v, [1, 2, 3]);
/// ```
impl<'a, T: Copy + Send + Sync + 'a> ParallelExtend<&'a T> for Vec<T> {
    fn par_extend<I: IntoParallelIterator<Item = &'a T>>(&mut self, items: I) {
        self.par_extend(items.into_par_iter().copied());
    }
}
