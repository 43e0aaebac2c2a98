//! Vectors, by value and in part.

mod drain;
mod extend;
mod owned;

pub use drain::Drain;
pub(crate) use drain::indices;
pub use owned::{Owned, OwnedIter};

use crate::iter::{IntoParallelIterator, indexed_iterator};
use crate::slice;

/// A parallel iterator over a vector's elements by value.
///
/// ```
/// use furcate::prelude::*;
/// let lengths: Vec<usize> = vec!["a".to_string(), "bc".to_string()].into_par_iter().map(|s| s.len()).collect();
/// assert_eq!(lengths, [1, 2]);
/// ```
#[must_use = "iterators do nothing until a terminal drives them"]
#[derive(Clone, Debug)]
pub struct IntoIter<T> {
    vec: Vec<T>,
}

impl<T: Send> IntoParallelIterator for Vec<T> {
    type Iter = IntoIter<T>;
    type Item = T;

    #[inline]
    fn into_par_iter(self) -> IntoIter<T> {
        IntoIter { vec: self }
    }
}

indexed_iterator! {
    impl[T] IntoIter<T> where [T: Send]
    type Item = T;
    type Producer<'a> = Owned<'a, T>;
    fn len(this) { this.vec.len() }
    fn lend(this) { Owned::take(&mut this.vec) }
    peek where [T: Clone]
}

impl<'data, T: Sync> IntoParallelIterator for &'data Vec<T> {
    type Iter = slice::Iter<'data, T>;
    type Item = &'data T;

    #[inline]
    fn into_par_iter(self) -> Self::Iter {
        self.as_slice().into_par_iter()
    }
}

impl<'data, T: Send> IntoParallelIterator for &'data mut Vec<T> {
    type Iter = slice::IterMut<'data, T>;
    type Item = &'data mut T;

    #[inline]
    fn into_par_iter(self) -> Self::Iter {
        self.as_mut_slice().into_par_iter()
    }
}
