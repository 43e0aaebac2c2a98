//! The adaptor `skip_any_while`.

use super::take_any_while::WhileGate;
use crate::iter::ParallelIterator;
use crate::iter::adaptor::adaptor;
use crate::iter::flag::Flag;
use crate::iter::gate::Through;
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

adapt_items! {
    impl[I, P] SkipAnyWhile<I, P>
    by Through<WhileGate<'a, P, false>> = |it| Through(WhileGate { ended: it.ended.lowered(), predicate: &it.predicate }) => I::Item
    where [I: ParallelIterator, P: Fn(&I::Item) -> bool + Sync + Send]
}
