//! The adaptor `try_fold`.

use super::fold::{FoldTask, Folding};
use crate::iter::copies::copies;
use crate::iter::task_state::CallSeed;
use crate::iter::{ParallelIterator, Try, debug_base, inherit_schedule};
use std::marker::PhantomData;
use std::ops::ControlFlow;

/// Folds the items of every task to one, until the fold fails: see [`ParallelIterator::try_fold`].
///
/// ```
/// use furcate::prelude::*;
/// let it: furcate::iter::TryFold<_, Option<u8>, _, _> =
///     [100_u8, 200].par_iter().sequential().try_fold(|| 0_u8, |sum, &x| sum.checked_add(x));
/// assert_eq!(it.collect::<Vec<_>>(), [None]);
/// ```
#[must_use = "iterators do nothing until a terminal drives them"]
pub struct TryFold<I, U, ID, F> {
    base: I,
    identity: ID,
    fold_op: F,
    outcome: PhantomData<fn() -> U>,
}

impl<I, U, ID, F> TryFold<I, U, ID, F> {
    pub(crate) fn new(base: I, identity: ID, fold_op: F) -> Self {
        TryFold { base, identity, fold_op, outcome: PhantomData }
    }
}

impl<I: Clone, U, ID: Clone, F: Clone> Clone for TryFold<I, U, ID, F> {
    fn clone(&self) -> Self {
        TryFold::new(self.base.clone(), self.identity.clone(), self.fold_op.clone())
    }
}

debug_base!(TryFold<I, U, ID, F>);

impl<I, U, ID, F> ParallelIterator for TryFold<I, U, ID, F>
where
    I: ParallelIterator,
    U: Try + Send,
    ID: Fn() -> U::Output + Sync + Send,
    F: Fn(U::Output, I::Item) -> U + Sync + Send,
{
    type Item = U;
    type Producer<'a>
        = Folding<I::Producer<'a>, CallSeed<'a, ID>, FoldUntilFailure<'a, U, F>>
    where
        Self: 'a;

    inherit_schedule!(base: I);

    #[inline]
    fn producer(&mut self) -> Self::Producer<'_> {
        Folding::new(self.base.producer(), CallSeed(&self.identity), FoldUntilFailure::new(&self.fold_op))
    }
}

/// Folds the items of a task until the fold fails.
#[allow(missing_debug_implementations, reason = "a borrowed closure")]
pub struct FoldUntilFailure<'a, U, F> {
    fold_op: &'a F,
    outcome: PhantomData<fn() -> U>,
}

impl<'a, U, F> FoldUntilFailure<'a, U, F> {
    #[inline]
    pub(super) fn new(fold_op: &'a F) -> Self {
        FoldUntilFailure { fold_op, outcome: PhantomData }
    }
}

copies!(impl[U, F] FoldUntilFailure<'_, U, F>);

impl<T, U, F> FoldTask<U::Output, T> for FoldUntilFailure<'_, U, F>
where
    U: Try,
    F: Fn(U::Output, T) -> U + Sync,
{
    type Break = U::Residual;
    type Output = U;

    #[inline]
    fn fold_items<I: Iterator<Item = T>>(
        self,
        state: U::Output,
        mut items: I,
    ) -> ControlFlow<U::Residual, U::Output> {
        let end = items.try_fold(state, |state, item| (self.fold_op)(state, item).branch());
        // Dropped before the result is returned: a panic in this drop would leak the result.
        drop(items);
        end
    }

    #[inline]
    fn finish(self, end: ControlFlow<U::Residual, U::Output>) -> U {
        match end {
            ControlFlow::Continue(output) => U::from_output(output),
            ControlFlow::Break(residual) => U::from_residual(residual),
        }
    }
}
