//! The adaptor `fold_chunks_with`.

use super::batches::{Batches, Gather, batch_len};
use crate::iter::{IndexedParallelIterator, debug_base, indexed_iterator};

/// Folds every few items into one: see [`IndexedParallelIterator::fold_chunks_with`].
///
/// ```
/// use furcate::prelude::*;
/// let it: furcate::iter::FoldChunksWith<_, _, _> = (0..5).into_par_iter().fold_chunks_with(2, 0, i32::max);
/// assert_eq!(it.collect::<Vec<_>>(), [1, 3, 4]);
/// ```
#[must_use = "iterators do nothing until a terminal drives them"]
#[derive(Clone)]
pub struct FoldChunksWith<I, T, F> {
    base: I,
    chunk_size: usize,
    init: T,
    fold_op: F,
}

impl<I, T, F> FoldChunksWith<I, T, F> {
    #[track_caller]
    pub(crate) fn new(base: I, chunk_size: usize, init: T, fold_op: F) -> Self {
        FoldChunksWith { base, chunk_size: batch_len(chunk_size), init, fold_op }
    }
}

debug_base!(FoldChunksWith<I, T, F>);

indexed_iterator! {
    impl[I, T, F] FoldChunksWith<I, T, F> where [
        I: IndexedParallelIterator,
        T: Send + Clone,
        F: Fn(T, I::Item) -> T + Send + Sync,
    ]
    schedule of base: I, in batches of chunk_size;
    type Item = T;
    type Producer<'a> = Batches<I::IndexedProducer<'a>, FoldingWith<'a, T, F>>;
    fn len(this) {
        this.base.len().div_ceil(this.chunk_size)
    }
    fn lend(this) {
        let folding = FoldingWith { init: this.init.clone(), fold_op: &this.fold_op };
        Batches::new(this.base.indexed_producer(), this.chunk_size, folding)
    }
}

/// Folds a batch, starting from a clone of a value. Every part has its own value, so that it need not be `Sync`.
#[allow(missing_debug_implementations, reason = "a borrowed closure")]
pub struct FoldingWith<'a, T, F> {
    init: T,
    fold_op: &'a F,
}

impl<T: Clone, F> Clone for FoldingWith<'_, T, F> {
    fn clone(&self) -> Self {
        FoldingWith { init: self.init.clone(), fold_op: self.fold_op }
    }
}

impl<T, U, F> Gather<U> for FoldingWith<'_, T, F>
where
    T: Send + Clone,
    F: Fn(T, U) -> T + Sync,
{
    type Output = T;

    #[inline]
    fn gather(&self, batch: impl Iterator<Item = U>) -> T {
        batch.fold(self.init.clone(), self.fold_op)
    }
}
