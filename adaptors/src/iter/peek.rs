//! Parallel iterators whose items can be looked at before they are taken.

use super::IndexedParallelIterator;
use furcate_schedulers::PeekProducer;

/// An indexed parallel iterator whose items can be looked at without being taken.
///
/// [`merge`](IndexedParallelIterator::merge) needs this trait on both sides, to find by binary search where to cut
/// them. The trait has no methods of its own to chain. It is implemented for:
///
/// * slices and everything by shared reference that lies in one (`&Vec`, arrays), their chunks and windows; ranges;
/// * vectors and arrays by value, where the elements are `Clone`: a look clones;
/// * of such, `map`, `copied`, `cloned`, `inspect`, `update` (their closures are called for every look too), `rev`,
///   `enumerate`, `zip`, `take`, `skip`, `step_by`, every policy, scheduler and executor; and
/// * `merge` itself, and prefix scans.
///
/// A look is one call of [`PeekProducer::peek`].
///
/// ```
/// use furcate::prelude::*;
/// use furcate::PeekProducer;
/// use furcate::iter::PeekParallelIterator;
///
/// let mut squares = (0..10).into_par_iter().map(|x| x * x).rev();
/// assert_eq!(squares.peek_producer().peek(2), 49);
/// ```
#[diagnostic::on_unimplemented(
    message = "the items of `{Self}` cannot be looked at without being taken",
    note = "`merge` finds its cuts by looking at items: merge slices (`par_iter()`), ranges or vectors of `Clone` elements, or adaptors of these such as `map`, `rev` and `zip`; collect anything else first, as in `.io_await().collect::<Vec<_>>().into_par_iter().merge(..)`"
)]
pub trait PeekParallelIterator: IndexedParallelIterator {
    /// Producer that the iterator lends to the scheduler, with exact cuts and with looks at the items.
    type PeekProducer<'a>: PeekProducer<Item = Self::Item>
    where
        Self: 'a;

    /// Lends all items, as [`indexed_producer`](IndexedParallelIterator::indexed_producer) does.
    fn peek_producer(&mut self) -> Self::PeekProducer<'_>;
}

/// Uses the indexed producer, which has looks, as the peek producer.
macro_rules! indexed_is_peek {
    () => {
        type PeekProducer<'p>
            = <Self as $crate::iter::IndexedParallelIterator>::IndexedProducer<'p>
        where
            Self: 'p;

        #[inline]
        fn peek_producer(&mut self) -> Self::PeekProducer<'_> {
            $crate::iter::IndexedParallelIterator::indexed_producer(self)
        }
    };
}
pub(crate) use indexed_is_peek;
