//! A [`std::iter::Map`] whose function has a name.
//!
//! The leaf of an adaptor is a type that the adaptor must be able to name, and a closure's type has no name. So if a
//! leaf calls more than a borrowed closure, it is a [`Mapped`].

use std::iter::FusedIterator;

/// A function of items of type `T`, with the values that it holds.
pub trait MapItem<T> {
    /// Result for an item.
    type Output;

    /// Maps one item.
    fn map_item(&mut self, item: T) -> Self::Output;
}

impl<T, M: MapItem<T>> MapItem<T> for &mut M {
    type Output = M::Output;

    #[inline]
    fn map_item(&mut self, item: T) -> M::Output {
        (**self).map_item(item)
    }
}

/// An iterator whose items go through a [`MapItem`].
#[derive(Debug)]
pub struct Mapped<I, M> {
    base: I,
    mapper: M,
}

impl<I, M> Mapped<I, M> {
    #[inline]
    pub(crate) fn new(base: I, mapper: M) -> Self {
        Mapped { base, mapper }
    }
}

impl<I: Iterator, M: MapItem<I::Item>> Iterator for Mapped<I, M> {
    type Item = M::Output;

    #[inline]
    fn next(&mut self) -> Option<M::Output> {
        self.base.next().map(|item| self.mapper.map_item(item))
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        self.base.size_hint()
    }

    #[inline]
    fn fold<B, F: FnMut(B, M::Output) -> B>(mut self, init: B, mut fold_op: F) -> B {
        self.base.fold(init, |folded, item| fold_op(folded, self.mapper.map_item(item)))
    }
}

impl<I: DoubleEndedIterator, M: MapItem<I::Item>> DoubleEndedIterator for Mapped<I, M> {
    #[inline]
    fn next_back(&mut self) -> Option<M::Output> {
        self.base.next_back().map(|item| self.mapper.map_item(item))
    }

    #[inline]
    fn rfold<B, F: FnMut(B, M::Output) -> B>(mut self, init: B, mut fold_op: F) -> B {
        self.base.rfold(init, |folded, item| fold_op(folded, self.mapper.map_item(item)))
    }
}

impl<I: ExactSizeIterator, M: MapItem<I::Item>> ExactSizeIterator for Mapped<I, M> {
    #[inline]
    fn len(&self) -> usize {
        self.base.len()
    }
}

impl<I: FusedIterator, M: MapItem<I::Item>> FusedIterator for Mapped<I, M> {}
