//! Elements that a producer owns although they lie in another owner's memory.
//!
//! # Invariants
//!
//! 1. An [`Owned`] (and an [`OwnedIter`]) owns all elements of its slice: its creator has given them up for good, and
//!    will neither read nor drop them again. The memory itself stays the lender's, for `'a`.
//! 2. Cutting passes the elements on, each to one side. A leaf takes all of them over. When either is dropped, its
//!    remaining elements are dropped, too. If it is forgotten instead, they leak, which is safe.
#![allow(unsafe_code)]

use furcate_schedulers::{Divisible, Facts, IndexedProducer, PeekProducer, Producer};
use std::iter::FusedIterator;
use std::mem::{ManuallyDrop, take};

/// A producer that owns the elements of a slice (invariant 1).
///
/// ```
/// use furcate::prelude::*;
/// let mut it = vec![1, 2, 3].into_par_iter();
/// let owned: furcate::vec::Owned<_> = it.producer();
/// let (left, right) = owned.divide_at(1);
/// assert!(left.into_iter().eq([1]) && right.into_iter().eq([2, 3]));
/// ```
#[derive(Debug)]
pub struct Owned<'a, T> {
    elements: &'a mut [T],
}

impl<'a, T> Owned<'a, T> {
    /// Takes all elements out of a vector, which keeps its buffer.
    pub(crate) fn take(vec: &'a mut Vec<T>) -> Self {
        let len = vec.len();
        // SAFETY: 0 is at most the capacity and needs no initialized elements.
        unsafe { vec.set_len(0) };
        let elements = std::ptr::slice_from_raw_parts_mut(vec.as_mut_ptr(), len);
        // SAFETY: the first `len` elements are initialized, and no longer the vector's (invariant 1). The vector is
        // borrowed for `'a`, so nothing else is written there and the buffer stays.
        unsafe { Owned::new(&mut *elements) }
    }

    /// # Safety
    ///
    /// The caller gives up the ownership of all elements (invariant 1).
    pub(crate) unsafe fn new(elements: &'a mut [T]) -> Self {
        Owned { elements }
    }

    /// Returns the elements, which then have no owner.
    fn disown(self) -> &'a mut [T] {
        take(&mut ManuallyDrop::new(self).elements)
    }
}

impl<T> Drop for Owned<'_, T> {
    fn drop(&mut self) {
        let elements = std::ptr::from_mut(take(&mut self.elements));
        // SAFETY: the elements are this value's (invariant 1), and the slice is not used any more.
        unsafe { elements.drop_in_place() }
    }
}

impl<T> Divisible for Owned<'_, T> {
    #[inline]
    fn size(&self) -> usize {
        self.elements.len()
    }

    #[inline]
    fn divide_at(self, index: usize) -> (Self, Self) {
        let (left, right) = self.disown().divide_at(index);
        (Owned { elements: left }, Owned { elements: right })
    }
}

impl<'a, T> IntoIterator for Owned<'a, T> {
    type Item = T;
    type IntoIter = OwnedIter<'a, T>;

    #[inline]
    fn into_iter(self) -> OwnedIter<'a, T> {
        OwnedIter { elements: self.disown().iter_mut() }
    }
}

impl<T: Send> Producer for Owned<'_, T> {
    const FACTS: Facts = Facts::SINGLE;
}
impl<T: Send> IndexedProducer for Owned<'_, T> {}

/// A look at an element clones it.
impl<T: Clone + Send> PeekProducer for Owned<'_, T> {
    #[inline]
    fn peek(&self, index: usize) -> T {
        self.elements[index].clone()
    }
}

/// The sequential iterator over the elements that an [`Owned`] owned.
///
/// ```
/// use furcate::prelude::*;
/// let mut it = vec![1, 2, 3].into_par_iter();
/// let mut leaf: furcate::vec::OwnedIter<_> = it.producer().into_iter();
/// assert_eq!((leaf.next(), leaf.next_back(), leaf.len()), (Some(1), Some(3), 1));
/// ```
#[derive(Debug)]
pub struct OwnedIter<'a, T> {
    /// Elements that have not been yielded.
    elements: std::slice::IterMut<'a, T>,
}

/// Takes an element that the iterator yields for good.
///
/// # Safety
///
/// The element is owned by the caller (invariant 1) and not used again.
#[inline]
unsafe fn read<T>(element: &mut T) -> T {
    // SAFETY: the caller's promise; the reference is valid and aligned.
    unsafe { std::ptr::read(element) }
}

impl<T> Iterator for OwnedIter<'_, T> {
    type Item = T;

    #[inline]
    fn next(&mut self) -> Option<T> {
        // SAFETY: std's iterator does not give the element again.
        self.elements.next().map(|element| unsafe { read(element) })
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        self.elements.size_hint()
    }

    #[inline]
    fn nth(&mut self, n: usize) -> Option<T> {
        let skipped = take(&mut self.elements).into_slice();
        let (skipped, rest) = skipped.divide_at(n);
        self.elements = rest.iter_mut();
        // SAFETY: the iterator owned the skipped elements and gives them up to this value (invariant 2).
        drop(unsafe { Owned::new(skipped) });
        self.next()
    }
}

impl<T> DoubleEndedIterator for OwnedIter<'_, T> {
    #[inline]
    fn next_back(&mut self) -> Option<T> {
        // SAFETY: std's iterator does not give the element again.
        self.elements.next_back().map(|element| unsafe { read(element) })
    }
}

impl<T> ExactSizeIterator for OwnedIter<'_, T> {
    #[inline]
    fn len(&self) -> usize {
        self.elements.len()
    }
}

impl<T> FusedIterator for OwnedIter<'_, T> {}

impl<T> Drop for OwnedIter<'_, T> {
    fn drop(&mut self) {
        // SAFETY: the elements not yet given out are this value's (invariant 1).
        drop(unsafe { Owned::new(take(&mut self.elements).into_slice()) });
    }
}
