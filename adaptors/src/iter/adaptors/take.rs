//! The adaptor `take`.

use crate::iter::{IndexedParallelIterator, PeekParallelIterator, indexed_iterator};
use furcate_schedulers::Divisible;

/// Keeps the first items: see [`IndexedParallelIterator::take`].
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
    impl[I] Take<I> where [I: IndexedParallelIterator]
    schedule of base: I;
    type Item = I::Item;
    type Producer<'a> = I::IndexedProducer<'a>;
    fn len(this) {
        this.base.len().min(this.n)
    }
    fn lend(this) {
        this.base.indexed_producer().divide_at(this.n).0
    }
}

impl<I: PeekParallelIterator> PeekParallelIterator for Take<I> {
    type PeekProducer<'a>
        = I::PeekProducer<'a>
    where
        Self: 'a;

    #[inline]
    fn peek_producer(&mut self) -> Self::PeekProducer<'_> {
        self.base.peek_producer().divide_at(self.n).0
    }
}
