//! The adaptor `chunks`.

use super::batches::{Batches, Gather, batch_len};
use crate::iter::{IndexedParallelIterator, indexed_iterator};

/// Vectors of several items: see [`IndexedParallelIterator::chunks`].
///
/// ```
/// use furcate::prelude::*;
/// let it: furcate::iter::Chunks<_> = (0..5).into_par_iter().chunks(2);
/// assert_eq!(it.collect::<Vec<_>>(), [vec![0, 1], vec![2, 3], vec![4]]);
/// ```
#[must_use = "iterators do nothing until a terminal drives them"]
#[derive(Clone, Debug)]
pub struct Chunks<I> {
    base: I,
    chunk_size: usize,
}

impl<I> Chunks<I> {
    #[track_caller]
    pub(crate) fn new(base: I, chunk_size: usize) -> Self {
        Chunks { base, chunk_size: batch_len(chunk_size) }
    }
}

indexed_iterator! {
    impl[I] Chunks<I> where [I: IndexedParallelIterator]
    schedule of base: I, in batches of chunk_size;
    type Item = Vec<I::Item>;
    type Producer<'a> = Batches<I::IndexedProducer<'a>, IntoVec>;
    fn len(this) {
        this.base.len().div_ceil(this.chunk_size)
    }
    fn lend(this) {
        Batches::new(this.base.indexed_producer(), this.chunk_size, IntoVec)
    }
}

/// A batch becomes a vector.
#[derive(Clone, Copy, Debug)]
pub struct IntoVec;

impl<T> Gather<T> for IntoVec {
    type Output = Vec<T>;

    const FREE: bool = true;

    #[inline]
    fn gather(&self, batch: impl Iterator<Item = T>) -> Vec<T> {
        batch.collect()
    }
}
