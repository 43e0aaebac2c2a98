//! The value of a success: one item, or none for an error.

use crate::iter::{
    IndexedParallelIterator, IntoParallelIterator, clone_base, newtype_iterator, pass_indexed,
};
use crate::option;

newtype_iterator! {
    /// A parallel iterator over the value of a result, if it is `Ok`. An error is dropped.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// assert_eq!("3".parse::<i32>().into_par_iter().sum::<i32>(), 3);
    /// assert_eq!("x".parse::<i32>().into_par_iter().sum::<i32>(), 0);
    /// ```
    #[derive(Clone, Debug)]
    IntoIter<T: Send>(option::IntoIter<T>)
}

impl<T: Send, E> IntoParallelIterator for Result<T, E> {
    type Iter = IntoIter<T>;
    type Item = T;

    fn into_par_iter(self) -> Self::Iter {
        IntoIter { base: self.ok().into_par_iter() }
    }
}

impl<T: Send> IndexedParallelIterator for IntoIter<T> {
    pass_indexed!(base: option::IntoIter<T>);
}

newtype_iterator! {
    /// A parallel iterator over the value of a result by shared reference.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// assert_eq!(Ok::<i32, ()>(3).par_iter().sum::<i32>(), 3);
    /// ```
    #[derive(Debug)]
    Iter<'data, T: Sync>(option::IntoIter<&'data T>)
}

clone_base!(Iter<'data, T>);

impl<'data, T: Sync, E> IntoParallelIterator for &'data Result<T, E> {
    type Iter = Iter<'data, T>;
    type Item = &'data T;

    fn into_par_iter(self) -> Self::Iter {
        Iter { base: self.as_ref().ok().into_par_iter() }
    }
}

impl<'data, T: Sync> IndexedParallelIterator for Iter<'data, T> {
    pass_indexed!(base: option::IntoIter<&'data T>);
}

newtype_iterator! {
    /// A parallel iterator over the value of a result by mutable reference.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// let mut result = Ok::<i32, ()>(3);
    /// result.par_iter_mut().for_each(|x| *x += 1);
    /// assert_eq!(result, Ok(4));
    /// ```
    #[derive(Debug)]
    IterMut<'data, T: Send>(option::IntoIter<&'data mut T>)
}

impl<'data, T: Send, E> IntoParallelIterator for &'data mut Result<T, E> {
    type Iter = IterMut<'data, T>;
    type Item = &'data mut T;

    fn into_par_iter(self) -> Self::Iter {
        IterMut { base: self.as_mut().ok().into_par_iter() }
    }
}

impl<'data, T: Send> IndexedParallelIterator for IterMut<'data, T> {
    pass_indexed!(base: option::IntoIter<&'data mut T>);
}
