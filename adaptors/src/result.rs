//! The value of a success: one item, or none for an error.

use crate::iter::{clone_base, newtype_iterator};
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
    IntoIter<T: Send>(option::IntoIter<T>), indexed;
    from[E] Result<T, E> => T = |source| source.ok().into_par_iter()
}

newtype_iterator! {
    /// A parallel iterator over the value of a result by shared reference.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// assert_eq!(Ok::<i32, ()>(3).par_iter().sum::<i32>(), 3);
    /// ```
    #[derive(Debug)]
    Iter<'data, T: Sync>(option::IntoIter<&'data T>), indexed;
    from[E] &'data Result<T, E> => &'data T = |source| source.as_ref().ok().into_par_iter()
}

clone_base!(Iter<'data, T>);

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
    IterMut<'data, T: Send>(option::IntoIter<&'data mut T>), indexed;
    from[E] &'data mut Result<T, E> => &'data mut T = |source| source.as_mut().ok().into_par_iter()
}
