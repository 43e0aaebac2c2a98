//! The skeleton of all iterators over subslices of one length: chunks from the front and from the back, exact or not,
//! and windows.
//!
//! A kind ([`Chunking`]) names the std iterator of a leaf, and the places of the subslices in the slice.
//! Everything else is in this module, once, for shared and mutable slices alike.

use crate::iter::indexed_iterator;
use furcate_schedulers::{Divisible, Facts, IndexedProducer, PeekProducer, Producer};
use std::mem::take;

/// A way to see a slice `V` as a sequence of subslices.
pub trait Chunking<V>: Copy + Send {
    /// std's iterator for a leaf.
    type Leaf: Iterator<Item: Send> + ExactSizeIterator + DoubleEndedIterator;

    /// Makes std's iterator over the subslices, each `size` long.
    fn leaf(self, slice: V, size: usize) -> Self::Leaf;

    /// Returns the number of subslices in `len` elements.
    #[inline]
    fn count(len: usize, size: usize) -> usize {
        len.div_ceil(size)
    }

    /// Returns the elements of the first `index` subslices, and the elements of the others.
    fn cut(slice: V, size: usize, index: usize) -> (V, V);
}

/// A parallel iterator over subslices of one length.
///
/// It is the type behind `Chunks`, `RChunksExactMut`, `Windows` and similar iterators: see [`crate::slice`].
///
/// ```
/// use furcate::prelude::*;
/// let it: furcate::slice::Chunked<_, _> = [1, 2, 3, 4, 5].par_windows(4);
/// assert_eq!(it.collect::<Vec<_>>(), [[1, 2, 3, 4], [2, 3, 4, 5]]);
/// ```
#[must_use = "iterators do nothing until a terminal drives them"]
#[derive(Clone, Debug)]
pub struct Chunked<V, K> {
    slice: V,
    /// Elements that an exact kind leaves over; empty for other kinds.
    remainder: V,
    size: usize,
    kind: K,
}

impl<V: Default, K> Chunked<V, K> {
    #[inline]
    pub(crate) fn new(slice: V, size: usize, kind: K) -> Self {
        Chunked::with_remainder(slice, V::default(), size, kind)
    }
}

impl<V, K> Chunked<V, K> {
    #[inline]
    pub(crate) fn with_remainder(slice: V, remainder: V, size: usize, kind: K) -> Self {
        Chunked { slice, remainder, size, kind }
    }

    pub(crate) fn left_over(&self) -> &V {
        &self.remainder
    }

    pub(crate) fn left_over_mut(&mut self) -> &mut V {
        &mut self.remainder
    }
}

indexed_iterator! {
    impl[V, K] Chunked<V, K> where [V: Divisible + Default + Send, K: Chunking<V>]
    type Item = <K::Leaf as Iterator>::Item;
    type Producer<'a> = ChunkedProducer<V, K>;
    fn len(this) { K::count(this.slice.size(), this.size) }
    fn lend(this) { ChunkedProducer { slice: take(&mut this.slice), size: this.size, kind: this.kind } }
    peek where [V: Copy]
}

/// The producer of [`Chunked`].
#[derive(Debug)]
pub struct ChunkedProducer<V, K> {
    slice: V,
    size: usize,
    kind: K,
}

/// Cuts between subslices, at no cost.
impl<V: Divisible, K: Chunking<V>> Divisible for ChunkedProducer<V, K> {
    #[inline]
    fn size(&self) -> usize {
        K::count(self.slice.size(), self.size)
    }

    #[inline]
    fn divide_at(self, index: usize) -> (Self, Self) {
        let ChunkedProducer { slice, size, kind } = self;
        let (left, right) = K::cut(slice, size, index);
        (ChunkedProducer { slice: left, size, kind }, ChunkedProducer { slice: right, size, kind })
    }
}

impl<V, K: Chunking<V>> IntoIterator for ChunkedProducer<V, K> {
    type Item = <K::Leaf as Iterator>::Item;
    type IntoIter = K::Leaf;

    #[inline]
    fn into_iter(self) -> K::Leaf {
        self.kind.leaf(self.slice, self.size)
    }
}

impl<V: Divisible + Send, K: Chunking<V>> Producer for ChunkedProducer<V, K> {
    const FACTS: Facts = Facts::SINGLE;
}
impl<V: Divisible + Send, K: Chunking<V>> IndexedProducer for ChunkedProducer<V, K> {}

/// Only shared slices can be looked at.
impl<V: Divisible + Copy + Send, K: Chunking<V>> PeekProducer for ChunkedProducer<V, K> {
    #[inline]
    fn peek(&self, index: usize) -> Self::Item {
        let (_, from_there) = K::cut(self.slice, self.size, index);
        let (only, _) = K::cut(from_there, self.size, 1);
        self.kind.leaf(only, self.size).next().expect("a look past the end of a slice")
    }
}
