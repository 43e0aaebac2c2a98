//! The adaptor `fold_chunks_with`.

use super::batches::Batches;
use super::fold_chunks::BatchFolding;
use crate::iter::adaptor::adaptor;
use crate::iter::task_state::CloneSeed;
use crate::iter::{IndexedParallelIterator, indexed_iterator};

adaptor! {
    /// Folds every few items into one: see [`IndexedParallelIterator::fold_chunks_with`].
    ///
    /// ```
    /// use furcate::prelude::*;
    /// let it: furcate::iter::FoldChunksWith<_, _, _> = (0..5).into_par_iter().fold_chunks_with(2, 0, i32::max);
    /// assert_eq!(it.collect::<Vec<_>>(), [1, 3, 4]);
    /// ```
    FoldChunksWith<I, T, F> {
        /// Length of a batch, not 0.
        chunk_size: usize,
        init: T,
        fold_op: F,
    }
}

indexed_iterator! {
    impl[I, T, F] FoldChunksWith<I, T, F> where [
        I: IndexedParallelIterator,
        T: Send + Clone,
        F: Fn(T, I::Item) -> T + Send + Sync,
    ]
    schedule of base: I, in batches of chunk_size;
    type Item = T;
    type Producer<'a> = Batches<I::IndexedProducer<'a>, BatchFolding<'a, CloneSeed<T>, F>>;
    fn len(this) {
        this.base.len().div_ceil(this.chunk_size)
    }
    fn lend(this) {
        let folding = BatchFolding { seed: CloneSeed(this.init.clone()), fold_op: &this.fold_op };
        Batches::new(this.base.indexed_producer(), this.chunk_size, folding)
    }
}
