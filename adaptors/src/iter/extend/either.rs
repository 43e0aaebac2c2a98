//! One of two collections.

use crate::iter::{IntoParallelIterator, ParallelExtend};
use either::{Either, for_both};
use std::collections::LinkedList;

/// Extends the collection that is there, left or right.
impl<L, R, T> ParallelExtend<T> for Either<L, R>
where
    L: ParallelExtend<T>,
    R: ParallelExtend<T>,
    T: Send,
{
    fn par_extend<I: IntoParallelIterator<Item = T>>(&mut self, items: I) {
        for_both!(self, collection => collection.par_extend(items));
    }

    fn par_extend_lists(&mut self, lists: LinkedList<Vec<T>>) {
        for_both!(self, collection => collection.par_extend_lists(lists));
    }
}
