//! The adaptor `take_any_while`.

use crate::iter::ParallelIterator;
use crate::iter::adaptor::adaptor;
use crate::iter::copies::copies;
use crate::iter::flag::Flag;
use crate::iter::gate::{Gate, Through};
use crate::iter::stage::adapt_items;

adaptor! {
    /// The items until a predicate is false for one: see [`ParallelIterator::take_any_while`].
    ///
    /// ```
    /// use furcate::prelude::*;
    /// let it: furcate::iter::TakeAnyWhile<_, _> = (0..9).into_par_iter().take_any_while(|&x| x < 100);
    /// assert_eq!(it.count(), 9);
    /// ```
    TakeAnyWhile<I, P> {
        predicate: P,
        /// Whether the predicate was false for an item.
        ended: Flag,
    }
}

adapt_items! {
    impl[I, P] TakeAnyWhile<I, P>
    by Through<WhileGate<'a, P, true>> = |it| Through(WhileGate { ended: it.ended.lowered(), predicate: &it.predicate }) => I::Item, shuts
    where [I: ParallelIterator, P: Fn(&I::Item) -> bool + Sync + Send]
}

/// Gate with a predicate. `BEFORE`: lets items pass until the predicate is false for one, and then closes. Otherwise: drops these, and lets
/// that item and all later ones pass.
#[allow(missing_debug_implementations, reason = "a borrowed closure")]
pub struct WhileGate<'a, P, const BEFORE: bool> {
    pub(super) predicate: &'a P,
    pub(super) ended: &'a Flag,
}

copies!(impl[P, const BEFORE: bool] WhileGate<'_, P, BEFORE>);

impl<T, P: Fn(&T) -> bool + Sync, const BEFORE: bool> Gate<T> for WhileGate<'_, P, BEFORE> {
    type Output = T;
    type Guard = ();

    #[inline]
    fn guard(self) {}

    #[inline]
    fn is_closed(self) -> bool {
        BEFORE && self.ended.is_raised()
    }

    #[inline]
    fn pass(self, item: T) -> Option<T> {
        if !BEFORE && self.ended.is_raised() {
            return Some(item);
        }
        let holds = (self.predicate)(&item);
        if !holds {
            self.ended.raise();
        }
        (holds == BEFORE).then_some(item)
    }
}
