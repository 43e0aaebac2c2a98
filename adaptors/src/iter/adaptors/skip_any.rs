//! The adaptor `skip_any`.

use super::take_any::QuotaGate;
use crate::iter::ParallelIterator;
use crate::iter::adaptor::adaptor;
use crate::iter::gate::Through;
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
    impl[I] SkipAny<I> by Through<QuotaGate<'a, false>> = |it| Through(QuotaGate(it.quota.untouched())) => I::Item
    where [I: ParallelIterator]
}
