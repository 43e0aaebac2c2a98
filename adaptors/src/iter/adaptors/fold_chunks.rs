//! The adaptor `fold_chunks`.

use super::batches::{Batches, Gather, batch_len};
use crate::iter::{IndexedParallelIterator, debug_base, indexed_iterator};

/// Folds every few items into one: see [`IndexedParallelIterator::fold_chunks`].
///
/// ```
/// use furcate::prelude::*;
/// let it: furcate::iter::FoldChunks<_, _, _> = (0..5).into_par_iter().fold_chunks(2, || 0, |a, b| a + b);
/// assert_eq!(it.collect::<Vec<_>>(), [1, 5, 4]);
/// ```
#[must_use = "iterators do nothing until a terminal drives them"]
#[derive(Clone)]
pub struct FoldChunks<I, ID, F> {
    base: I,
    chunk_size: usize,
    identity: ID,
    fold_op: F,
}

impl<I, ID, F> FoldChunks<I, ID, F> {
    #[track_caller]
    pub(crate) fn new(base: I, chunk_size: usize, identity: ID, fold_op: F) -> Self {
        FoldChunks { base, chunk_size: batch_len(chunk_size), identity, fold_op }
    }
}

debug_base!(FoldChunks<I, ID, F>);

indexed_iterator! {
    impl[I, ID, T, F] FoldChunks<I, ID, F> where [
        I: IndexedParallelIterator,
        ID: Fn() -> T + Send + Sync,
        F: Fn(T, I::Item) -> T + Send + Sync,
        T: Send,
    ]
    schedule of base: I, in batches of chunk_size;
    type Item = T;
    type Producer<'a> = Batches<I::IndexedProducer<'a>, BatchFolding<'a, ID, F>>;
    fn len(this) {
        this.base.len().div_ceil(this.chunk_size)
    }
    fn lend(this) {
        let folding = BatchFolding { identity: &this.identity, fold_op: &this.fold_op };
        Batches::new(this.base.indexed_producer(), this.chunk_size, folding)
    }
}

/// Folds a batch, starting from a value that a closure makes.
#[allow(missing_debug_implementations, reason = "borrowed closures")]
pub struct BatchFolding<'a, ID, F> {
    identity: &'a ID,
    fold_op: &'a F,
}

impl<ID, F> Clone for BatchFolding<'_, ID, F> {
    #[inline]
    fn clone(&self) -> Self {
        BatchFolding { identity: self.identity, fold_op: self.fold_op }
    }
}

impl<T, U, ID, F> Gather<U> for BatchFolding<'_, ID, F>
where
    ID: Fn() -> T + Sync,
    F: Fn(T, U) -> T + Sync,
{
    type Output = T;

    #[inline]
    fn gather(&self, batch: impl Iterator<Item = U>) -> T {
        batch.fold((self.identity)(), self.fold_op)
    }
}
