//! The adaptor `skip`.

use crate::iter::indexed_iterator;
use furcate_schedulers::IndexedProducer;

/// Leaves out the first items: see [`skip`](crate::iter::IndexedParallelIterator::skip).
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

/// Returns the items behind the first n. Closures before `skip` are called for these, as std's `skip` calls them.
fn without<P: IndexedProducer>(n: usize, base: P) -> P {
    let (skipped, rest) = base.divide_at(n);
    if !P::FACTS.free {
        skipped.into_iter().for_each(drop);
    }
    rest
}

indexed_iterator! {
    impl[I] Skip<I> where over base;
    type Item = I::Item;
    type Producer<P> = P;
    fn len(this) { this.base.len().saturating_sub(this.n) }
    fn lend(this, base) { without(this.n, base) }
}
