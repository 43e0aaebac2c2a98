//! The adaptor `skip_any`.

use crate::iter::ParallelIterator;
use crate::iter::adaptor::adaptor;
use crate::iter::gate::{Gate, Through};
use crate::iter::quota::Quota;
use crate::iter::stage::adapt_items;

adaptor! {
    /// Leaves out any `n` items: see [`ParallelIterator::skip_any`].
    ///
    /// ```
    /// use furcate::prelude::*;
    /// let it: furcate::iter::SkipAny<_> = (0..100).into_par_iter().skip_any(7);
    /// assert_eq!(it.count(), 93);
    /// ```
    SkipAny<I> { quota: Quota }
}

adapt_items! {
    impl[I] SkipAny<I> by Through<BeyondQuota<'a>> = |it| Through(BeyondQuota(it.quota.untouched())) => I::Item
    where [I: ParallelIterator]
}

/// Gate that never closes, but drops the first items that arrive.
#[derive(Clone, Copy, Debug)]
pub struct BeyondQuota<'a>(&'a Quota);

impl<T> Gate<T> for BeyondQuota<'_> {
    type Output = T;
    type Guard = ();

    #[inline]
    fn guard(self) {}

    #[inline]
    fn is_closed(self) -> bool {
        false
    }

    #[inline]
    fn pass(self, item: T) -> Option<T> {
        if self.0.take() { None } else { Some(item) }
    }
}
