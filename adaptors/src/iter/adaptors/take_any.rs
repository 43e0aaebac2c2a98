//! The adaptor `take_any`.

use crate::iter::ParallelIterator;
use crate::iter::adaptor::adaptor;
use crate::iter::gate::{Gate, Through};
use crate::iter::quota::Quota;
use crate::iter::stage::adapt_items;

adaptor! {
    /// Keeps any `n` items: see [`ParallelIterator::take_any`].
    ///
    /// ```
    /// use furcate::prelude::*;
    /// let it: furcate::iter::TakeAny<_> = (0..100).into_par_iter().take_any(7);
    /// assert_eq!(it.count(), 7);
    /// ```
    TakeAny<I> { quota: Quota }
}

adapt_items! {
    impl[I] TakeAny<I> by Through<QuotaGate<'a, true>> = |it| Through(QuotaGate(it.quota.untouched())) => I::Item, shuts
    where [I: ParallelIterator]
}

/// Gate with a quota. `WITHIN`: lets the first items pass that arrive, and then closes. Otherwise: drops these, and lets all others pass.
#[derive(Clone, Copy, Debug)]
pub struct QuotaGate<'a, const WITHIN: bool>(pub(super) &'a Quota);

impl<T, const WITHIN: bool> Gate<T> for QuotaGate<'_, WITHIN> {
    type Output = T;
    type Guard = ();

    #[inline]
    fn guard(self) {}

    #[inline]
    fn is_closed(self) -> bool {
        WITHIN && self.0.is_exhausted()
    }

    #[inline]
    fn pass(self, item: T) -> Option<T> {
        (self.0.take() == WITHIN).then_some(item)
    }
}
