//! Slices, shared and mutable.

use crate::{Divisible, Facts, IndexedProducer, PeekProducer, Producer};

/// Cut between elements; no cost.
///
/// ```
/// use furcate::Divisible;
/// assert_eq!([1, 2, 3, 4, 5][..].divide(), (&[1, 2][..], &[3, 4, 5][..]));
/// assert_eq!([1, 2][..].divide_at(9), (&[1, 2][..], &[][..]));
/// ```
impl<T> Divisible for &[T] {
    #[inline]
    fn size(&self) -> usize {
        self.len()
    }

    #[inline]
    fn divide_at(self, index: usize) -> (Self, Self) {
        self.split_at(index.min(self.len()))
    }
}

/// Cut between elements; no cost.
impl<T> Divisible for &mut [T] {
    #[inline]
    fn size(&self) -> usize {
        self.len()
    }

    #[inline]
    fn divide_at(self, index: usize) -> (Self, Self) {
        let index = index.min(self.len());
        self.split_at_mut(index)
    }
}

impl<T: Sync> Producer for &[T] {
    const FACTS: Facts = Facts::SINGLE;
}
impl<T: Sync> IndexedProducer for &[T] {}

impl<T: Sync> PeekProducer for &[T] {
    const LOOKS_ARE_ITEMS: bool = true;

    #[inline]
    fn peek(&self, index: usize) -> Self::Item {
        &self[index]
    }
}

impl<T: Send> Producer for &mut [T] {
    const FACTS: Facts = Facts::SINGLE;
}
impl<T: Send> IndexedProducer for &mut [T] {}
