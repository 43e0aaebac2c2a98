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

impl<I, P> TakeAnyWhile<I, P> {
    pub(crate) fn of(base: I, predicate: P) -> Self {
        TakeAnyWhile::new(base, predicate, Flag::default())
    }
}

adapt_items! {
    impl[I, P] TakeAnyWhile<I, P>
    by Through<WhileTrue<'a, P>> = |it| Through(WhileTrue { ended: it.ended.lowered(), predicate: &it.predicate }) => I::Item, shuts
    where [I: ParallelIterator, P: Fn(&I::Item) -> bool + Sync + Send]
}

/// Gate that closes at an item for which the predicate is false.
#[allow(missing_debug_implementations, reason = "a borrowed closure")]
pub struct WhileTrue<'a, P> {
    predicate: &'a P,
    ended: &'a Flag,
}

copies!(impl[P] WhileTrue<'_, P>);

impl<T, P: Fn(&T) -> bool + Sync> Gate<T> for WhileTrue<'_, P> {
    type Output = T;
    type Guard = ();

    #[inline]
    fn guard(self) {}

    #[inline]
    fn is_closed(self) -> bool {
        self.ended.is_raised()
    }

    #[inline]
    fn pass(self, item: T) -> Option<T> {
        if (self.predicate)(&item) {
            return Some(item);
        }
        self.ended.raise();
        None
    }
}
