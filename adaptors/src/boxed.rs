//! Boxed slices: by value as vectors, by reference as slices.

use crate::iter::IntoParallelIterator;
use crate::{slice, vec};

/// Iterates as a vector does. No element is moved or copied.
///
/// ```
/// use furcate::prelude::*;
/// let words: Box<[String]> = Box::new(["a".to_string(), "bc".to_string()]);
/// assert_eq!(words.into_par_iter().map(|word| word.len()).sum::<usize>(), 3);
/// ```
impl<T: Send> IntoParallelIterator for Box<[T]> {
    type Iter = vec::IntoIter<T>;
    type Item = T;

    #[inline]
    fn into_par_iter(self) -> Self::Iter {
        self.into_vec().into_par_iter()
    }
}

impl<'data, T: Sync> IntoParallelIterator for &'data Box<[T]> {
    type Iter = slice::Iter<'data, T>;
    type Item = &'data T;

    #[inline]
    fn into_par_iter(self) -> Self::Iter {
        (**self).into_par_iter()
    }
}

impl<'data, T: Send> IntoParallelIterator for &'data mut Box<[T]> {
    type Iter = slice::IterMut<'data, T>;
    type Item = &'data mut T;

    #[inline]
    fn into_par_iter(self) -> Self::Iter {
        (**self).into_par_iter()
    }
}
