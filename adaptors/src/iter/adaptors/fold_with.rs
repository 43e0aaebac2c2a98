//! The adaptor `fold_with`.

use super::fold::{Folding, Throughout};
use crate::iter::adaptor::adaptor;
use crate::iter::task_state::CloneSeed;
use crate::iter::{ParallelIterator, inherit_schedule};

adaptor! {
    /// Folds the items of every task to one, starting from a clone of a value: see [`ParallelIterator::fold_with`].
    ///
    /// ```
    /// use furcate::prelude::*;
    /// let it: furcate::iter::FoldWith<_, _, _> = (0..5).into_par_iter().fold_with(0, |sum, x| sum + x);
    /// assert_eq!(it.sum::<i32>(), 10); // the tasks' sums
    /// ```
    FoldWith<I, T, F> {
        /// Initial value; `None` once it has been lent.
        init: Option<T>,
        fold_op: F,
    }
}

impl<I, T, F> ParallelIterator for FoldWith<I, T, F>
where
    I: ParallelIterator,
    F: Fn(T, I::Item) -> T + Sync + Send,
    T: Clone + Send,
{
    type Item = T;
    type Producer<'a>
        = Folding<I::Producer<'a>, CloneSeed<T>, Throughout<'a, F>>
    where
        Self: 'a;

    inherit_schedule!(base: I);

    #[inline]
    fn producer(&mut self) -> Self::Producer<'_> {
        Folding::new(self.base.producer(), CloneSeed::take(&mut self.init), Throughout(&self.fold_op))
    }
}
