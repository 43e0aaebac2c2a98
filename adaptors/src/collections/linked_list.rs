//! Linked lists.

use super::through_vec;
use crate::iter::clone_base;
use std::collections::LinkedList;

through_vec! {
    /// A parallel iterator over a list's items by value. They are moved to a vector first.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// let list = std::collections::LinkedList::from([1, 2, 3]);
    /// let it: furcate::collections::linked_list::IntoIter<_> = list.into_par_iter();
    /// assert_eq!(it.sum::<i32>(), 6);
    /// ```
    #[derive(Clone, Debug)]
    IntoIter<T: Send> over T, from LinkedList<T>
}

through_vec! {
    /// A parallel iterator over a list's items by shared reference. The references are written to a vector first.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// let list = std::collections::LinkedList::from([1, 2, 3]);
    /// let it: furcate::collections::linked_list::Iter<_> = list.par_iter();
    /// assert_eq!(it.sum::<i32>(), 6);
    /// ```
    #[derive(Debug)]
    Iter<'data, T: Sync> over &'data T, from &'data LinkedList<T>
}

clone_base!(Iter<'data, T>);

through_vec! {
    /// A parallel iterator over a list's items by mutable reference. The references are written to a vector first.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// let mut list = std::collections::LinkedList::from([1, 2, 3]);
    /// let it: furcate::collections::linked_list::IterMut<_> = list.par_iter_mut();
    /// it.for_each(|x| *x *= 10);
    /// assert_eq!(list.iter().sum::<i32>(), 60);
    /// ```
    #[derive(Debug)]
    IterMut<'data, T: Send> over &'data mut T, from &'data mut LinkedList<T>
}
