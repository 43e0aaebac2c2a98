//! Arrays.
//!
//! # Invariants
//!
//! 1. While `full` is true, all elements of an [`IntoIter`] are initialized and owned by it: it drops them, unless they
//!    are lent.
//! 2. Lending empties the iterator before anything else happens. From then on the elements belong to the producer
//!    ([`Owned`]'s invariant 1). The producer borrows their memory, so that the iterator can be neither moved nor
//!    dropped.
#![allow(unsafe_code)]

use crate::iter::{IntoParallelIterator, indexed_iterator};
use crate::slice;
use crate::vec::Owned;
use std::fmt;
use std::mem::MaybeUninit;

/// A parallel iterator over an array's elements by value.
///
/// The elements stay where they are, inside the iterator: nothing is allocated.
///
/// ```
/// use furcate::prelude::*;
/// let lengths: Vec<usize> = ["a".to_string(), "bc".to_string()].into_par_iter().map(|s| s.len()).collect();
/// assert_eq!(lengths, [1, 2]);
/// ```
#[must_use = "iterators do nothing until a terminal drives them"]
pub struct IntoIter<T, const N: usize> {
    elements: MaybeUninit<[T; N]>,
    full: bool,
}

impl<T, const N: usize> IntoIter<T, N> {
    /// Returns the array, unless it has been lent.
    fn array(&self) -> Option<&[T; N]> {
        // SAFETY: invariant 1.
        self.full.then(|| unsafe { self.elements.assume_init_ref() })
    }

    /// Gives the array up (invariant 2): the caller must drop the returned elements. Returns an empty slice if the
    /// array has been given up before.
    fn take(&mut self) -> &mut [T] {
        if std::mem::replace(&mut self.full, false) {
            // SAFETY: it was full, hence initialized (invariant 1).
            unsafe { self.elements.assume_init_mut() }
        } else {
            &mut []
        }
    }

    fn lend(&mut self) -> Owned<'_, T> {
        let elements = self.take();
        // SAFETY: the iterator has given the elements up.
        unsafe { Owned::new(elements) }
    }
}

impl<T, const N: usize> Drop for IntoIter<T, N> {
    #[inline]
    fn drop(&mut self) {
        drop(self.lend());
    }
}

impl<T: Clone, const N: usize> Clone for IntoIter<T, N> {
    fn clone(&self) -> Self {
        let elements = self.array().map_or_else(MaybeUninit::uninit, |array| MaybeUninit::new(array.clone()));
        IntoIter { elements, full: self.full }
    }
}

impl<T: fmt::Debug, const N: usize> fmt::Debug for IntoIter<T, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("IntoIter").field("array", &self.array()).finish()
    }
}

impl<T: Send, const N: usize> IntoParallelIterator for [T; N] {
    type Iter = IntoIter<T, N>;
    type Item = T;

    #[inline]
    fn into_par_iter(self) -> Self::Iter {
        IntoIter { elements: MaybeUninit::new(self), full: true }
    }
}

indexed_iterator! {
    impl[T, const N: usize] IntoIter<T, N> where [T: Send]
    type Item = T;
    type Producer<'a> = Owned<'a, T>;
    fn len(this) { if this.full { N } else { 0 } }
    fn lend(this) { this.lend() }
    peek where [T: Clone]
}

impl<'data, T: Sync, const N: usize> IntoParallelIterator for &'data [T; N] {
    type Iter = slice::Iter<'data, T>;
    type Item = &'data T;

    #[inline]
    fn into_par_iter(self) -> Self::Iter {
        self.as_slice().into_par_iter()
    }
}

impl<'data, T: Send, const N: usize> IntoParallelIterator for &'data mut [T; N] {
    type Iter = slice::IterMut<'data, T>;
    type Item = &'data mut T;

    #[inline]
    fn into_par_iter(self) -> Self::Iter {
        self.as_mut_slice().into_par_iter()
    }
}
