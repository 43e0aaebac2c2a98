//! The adaptor `skip_any_while`.

use crate::iter::ParallelIterator;
use crate::iter::adaptor::adaptor;
use crate::iter::copies::copies;
use crate::iter::flag::Flag;
use crate::iter::gate::{Gate, Through};
use crate::iter::stage::adapt_items;

adaptor! {
    /// The items after a predicate was false for one: see [`ParallelIterator::skip_any_while`].
    ///
    /// ```
    /// use furcate::prelude::*;
    /// let it: furcate::iter::SkipAnyWhile<_, _> = (0..9).into_par_iter().skip_any_while(|&x| x < 100);
    /// assert_eq!(it.count(), 0);
    /// ```
    SkipAnyWhile<I, P> {
        predicate: P,
        /// Whether the predicate was false for an item.
        ended: Flag,
    }
}

impl<I, P> SkipAnyWhile<I, P> {
    pub(crate) fn of(base: I, predicate: P) -> Self {
        SkipAnyWhile::new(base, predicate, Flag::default())
    }
}

adapt_items! {
    impl[I, P] SkipAnyWhile<I, P>
    by Through<OnceFalse<'a, P>> = |it| Through(OnceFalse { ended: it.ended.lowered(), predicate: &it.predicate }) => I::Item
    where [I: ParallelIterator, P: Fn(&I::Item) -> bool + Sync + Send]
}

/// Gate that never closes. No item passes before one for which the predicate is false.
#[allow(missing_debug_implementations, reason = "a borrowed closure")]
pub struct OnceFalse<'a, P> {
    predicate: &'a P,
    ended: &'a Flag,
}

copies!(impl[P] OnceFalse<'_, P>);

impl<T, P: Fn(&T) -> bool + Sync> Gate<T> for OnceFalse<'_, P> {
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
        if self.ended.is_raised() {
            return Some(item);
        }
        if (self.predicate)(&item) {
            return None;
        }
        self.ended.raise();
        Some(item)
    }
}
