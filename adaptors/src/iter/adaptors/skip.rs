//! The adaptor `skip`.

use crate::iter::{IndexedParallelIterator, PeekParallelIterator, indexed_iterator};
use furcate_schedulers::Divisible;

/// Leaves out the first items: see [`IndexedParallelIterator::skip`].
///
/// ```
/// use furcate::prelude::*;
/// let it: furcate::iter::Skip<_> = (0..5).into_par_iter().skip(3);
/// assert_eq!(it.collect::<Vec<_>>(), [3, 4]);
/// ```
#[must_use = "iterators do nothing until a terminal drives them"]
#[derive(Clone, Debug)]
pub struct Skip<I> {
    base: I,
    n: usize,
}

impl<I> Skip<I> {
    pub(crate) fn new(base: I, n: usize) -> Self {
        Skip { base, n }
    }
}

indexed_iterator! {
    impl[I] Skip<I> where [I: IndexedParallelIterator]
    schedule of base: I;
    type Item = I::Item;
    type Producer<'a> = I::IndexedProducer<'a>;
    fn len(this) {
        this.base.len().saturating_sub(this.n)
    }
    fn lend(this) {
        this.base.indexed_producer().divide_at(this.n).1
    }
}

impl<I: PeekParallelIterator> PeekParallelIterator for Skip<I> {
    type PeekProducer<'a>
        = I::PeekProducer<'a>
    where
        Self: 'a;

    #[inline]
    fn peek_producer(&mut self) -> Self::PeekProducer<'_> {
        self.base.peek_producer().divide_at(self.n).1
    }
}
