//! The adaptor `take`.

use crate::iter::indexed_iterator;
use furcate_schedulers::Divisible;

/// Keeps the first items: see [`take`](crate::iter::IndexedParallelIterator::take).
///
/// ```
/// use furcate::prelude::*;
/// let it: furcate::iter::Take<_> = (0..5).into_par_iter().take(2);
/// assert_eq!(it.collect::<Vec<_>>(), [0, 1]);
/// ```
#[must_use = "iterators do nothing until a terminal drives them"]
#[derive(Clone, Debug)]
pub struct Take<I> {
    base: I,
    n: usize,
}

impl<I> Take<I> {
    pub(crate) fn new(base: I, n: usize) -> Self {
        Take { base, n }
    }
}

indexed_iterator! {
    impl[I] Take<I> where over base;
    type Item = I::Item;
    type Producer<P> = P;
    fn len(this) { this.base.len().min(this.n) }
    fn lend(this, base) { base.divide_at(this.n).0 }
}
