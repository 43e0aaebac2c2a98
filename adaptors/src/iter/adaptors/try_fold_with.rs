//! The adaptor `try_fold_with`.

use super::fold::Folding;
use super::try_fold::FoldUntilFailure;
use crate::iter::task_state::CloneSeed;
use crate::iter::{ParallelIterator, Try, inherit_schedule};
use std::fmt;

/// Folds the items of every task to one, starting from a clone of a value, until the fold fails: see
/// [`ParallelIterator::try_fold_with`].
///
/// ```
/// use furcate::prelude::*;
/// let it: furcate::iter::TryFoldWith<_, Option<u8>, _> =
///     [100_u8, 200].par_iter().sequential().try_fold_with(0_u8, |sum, &x| sum.checked_add(x));
/// assert_eq!(it.collect::<Vec<_>>(), [None]);
/// ```
#[must_use = "iterators do nothing until a terminal drives them"]
pub struct TryFoldWith<I, U: Try, F> {
    base: I,
    /// Initial value; `None` once it has been lent.
    init: Option<U::Output>,
    fold_op: F,
}

impl<I, U: Try, F> TryFoldWith<I, U, F> {
    pub(crate) fn new(base: I, init: U::Output, fold_op: F) -> Self {
        TryFoldWith { base, init: Some(init), fold_op }
    }
}

impl<I: Clone, U: Try<Output: Clone>, F: Clone> Clone for TryFoldWith<I, U, F> {
    fn clone(&self) -> Self {
        TryFoldWith { base: self.base.clone(), init: self.init.clone(), fold_op: self.fold_op.clone() }
    }
}

impl<I: fmt::Debug, U: Try, F> fmt::Debug for TryFoldWith<I, U, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TryFoldWith").field("base", &self.base).finish_non_exhaustive()
    }
}

impl<I, U, F> ParallelIterator for TryFoldWith<I, U, F>
where
    I: ParallelIterator,
    U: Try<Output: Clone + Send> + Send,
    F: Fn(U::Output, I::Item) -> U + Sync + Send,
{
    type Item = U;
    type Producer<'a>
        = Folding<I::Producer<'a>, CloneSeed<U::Output>, FoldUntilFailure<'a, U, F>>
    where
        Self: 'a;

    inherit_schedule!(base: I);

    #[inline]
    fn producer(&mut self) -> Self::Producer<'_> {
        let seed = CloneSeed::take(&mut self.init);
        Folding::new(self.base.producer(), seed, FoldUntilFailure::new(&self.fold_op))
    }
}
