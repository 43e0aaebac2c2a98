//! The adaptor `fold_chunks`.

use super::batches::{Batches, Gather};
use crate::iter::adaptor::adaptor;
use crate::iter::task_state::{CallSeed, Seed};
use crate::iter::{IndexedParallelIterator, indexed_iterator};

adaptor! {
    /// Folds every few items into one: see [`IndexedParallelIterator::fold_chunks`].
    ///
    /// ```
    /// use furcate::prelude::*;
    /// let it: furcate::iter::FoldChunks<_, _, _> = (0..5).into_par_iter().fold_chunks(2, || 0, |a, b| a + b);
    /// assert_eq!(it.collect::<Vec<_>>(), [1, 5, 4]);
    /// ```
    FoldChunks<I, ID, F> {
        /// Length of a batch, not 0.
        chunk_size: usize,
        identity: ID,
        fold_op: F,
    }
}

indexed_iterator! {
    impl[I, ID, T, F] FoldChunks<I, ID, F> where [
        I: IndexedParallelIterator,
        ID: Fn() -> T + Send + Sync,
        F: Fn(T, I::Item) -> T + Send + Sync,
        T: Send,
    ]
    schedule of base: I, in batches of chunk_size;
    type Item = T;
    type Producer<'a> = Batches<I::IndexedProducer<'a>, BatchFolding<'a, CallSeed<'a, ID>, F>>;
    fn len(this) {
        this.base.len().div_ceil(this.chunk_size)
    }
    fn lend(this) {
        let folding = BatchFolding { seed: CallSeed(&this.identity), fold_op: &this.fold_op };
        Batches::new(this.base.indexed_producer(), this.chunk_size, folding)
    }
}

/// Folds a batch, from a state that is made for it.
#[allow(missing_debug_implementations, reason = "a borrowed closure")]
pub struct BatchFolding<'a, S, F> {
    pub(super) seed: S,
    pub(super) fold_op: &'a F,
}

impl<S: Clone, F> Clone for BatchFolding<'_, S, F> {
    #[inline]
    fn clone(&self) -> Self {
        BatchFolding { seed: self.seed.clone(), fold_op: self.fold_op }
    }
}

impl<S, U, F> Gather<U> for BatchFolding<'_, S, F>
where
    S: Seed,
    F: Fn(S::State, U) -> S::State + Sync,
{
    type Output = S::State;

    const FREE: bool = false;

    #[inline]
    fn gather(&self, batch: impl Iterator<Item = U>) -> S::State {
        batch.fold(self.seed.clone().into_state(), self.fold_op)
    }
}
