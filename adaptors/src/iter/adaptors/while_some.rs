//! The adaptor `while_some`.

use crate::iter::ParallelIterator;
use crate::iter::adaptor::adaptor;
use crate::iter::flag::Flag;
use crate::iter::gate::{Gate, Through};
use crate::iter::stage::adapt_items;

adaptor! {
    /// The values in the `Some`s, until a `None` comes: see [`ParallelIterator::while_some`].
    ///
    /// ```
    /// use furcate::prelude::*;
    /// let it: furcate::iter::WhileSome<_> = [Some(1), Some(2)].into_par_iter().while_some();
    /// assert_eq!(it.sum::<i32>(), 3);
    /// ```
    WhileSome<I> {
        /// Whether a `None` has come.
        ended: Flag,
    }
}

adapt_items! {
    impl[I, T] WhileSome<I> by Through<UntilNone<'a>> = |it| Through(UntilNone(it.ended.lowered())) => T, shuts
    where [I: ParallelIterator<Item = Option<T>>, T: Send]
}

/// Gate that a `None` closes.
#[derive(Clone, Copy, Debug)]
pub struct UntilNone<'a>(&'a Flag);

impl<T> Gate<Option<T>> for UntilNone<'_> {
    type Output = T;
    type Guard = ();

    #[inline]
    fn guard(self) {}

    #[inline]
    fn is_closed(self) -> bool {
        self.0.is_raised()
    }

    #[inline]
    fn pass(self, item: Option<T>) -> Option<T> {
        if item.is_none() {
            self.0.raise();
        }
        item
    }
}
