//! Linked lists.

use super::through_vec;
use crate::iter::clone_base;
use std::collections::LinkedList;

through_vec! {
    /// A parallel iterator over a list's items by value. They are moved to a vector first.
    #[derive(Clone, Debug)]
    IntoIter<T: Send> over T, from LinkedList<T>
}

through_vec! {
    /// A parallel iterator over a list's items by shared reference. The references are written to a vector first.
    #[derive(Debug)]
    Iter<'data, T: Sync> over &'data T, from &'data LinkedList<T>
}

clone_base!(Iter<'data, T>);

through_vec! {
    /// A parallel iterator over a list's items by mutable reference. The references are written to a vector first.
    #[derive(Debug)]
    IterMut<'data, T: Send> over &'data mut T, from &'data mut LinkedList<T>
}
