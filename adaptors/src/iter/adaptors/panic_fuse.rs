//! The adaptor `panic_fuse`.

use crate::iter::ParallelIterator;
use crate::iter::adaptor::adaptor;
use crate::iter::flag::Flag;
use crate::iter::gate::{Gate, PASSING, Passing, Through};
use crate::iter::stage::{StageFacts, adapt_items};
use furcate_pool::sync::machine::thread::panicking;

adaptor! {
    /// All items, or no more after a panic anywhere: see [`ParallelIterator::panic_fuse`].
    ///
    /// ```
    /// use furcate::prelude::*;
    /// let it: furcate::iter::PanicFuse<_> = (0..10).into_par_iter().panic_fuse();
    /// assert_eq!(it.sum::<i32>(), 45);
    /// ```
    PanicFuse<I> {
        /// Whether anything has panicked.
        blown: Flag,
    }
}

// The fuse does not ask for steps: items are collected in place.
adapt_items! {
    impl[I] PanicFuse<I> by Through<Fuse<'a>> = |it| Through(Fuse(it.blown.lowered())) => I::Item, indexed
    where [I: ParallelIterator]
}

/// Gate that a panic closes.
#[derive(Clone, Copy, Debug)]
pub struct Fuse<'a>(&'a Flag);

impl<'a, T> Gate<T> for Fuse<'a> {
    type Output = T;
    type Guard = Fusible<'a>;

    /// True unless there is a panic, and in that case the items that came out are never seen.
    const EXACT: bool = true;

    /// A panic blows the fuse while it unwinds through the leaf.
    const FACTS: StageFacts = StageFacts { single: false, ..PASSING };

    #[inline]
    fn guard(self) -> Fusible<'a> {
        Fusible { blown: self.0, was_panicking: panicking() }
    }

    #[inline]
    fn is_closed(self) -> bool {
        self.0.is_raised()
    }

    #[inline]
    fn pass(self, item: T) -> Option<T> {
        Some(item)
    }
}

/// Blows the fuse when it is dropped by unwinding. (That may have begun before, if items are run by a destructor.)
#[derive(Debug)]
pub struct Fusible<'a> {
    blown: &'a Flag,
    was_panicking: bool,
}

impl Drop for Fusible<'_> {
    #[inline]
    fn drop(&mut self) {
        if !self.was_panicking && panicking() {
            self.blown.raise();
        }
    }
}

impl<'a, I: ExactSizeIterator> ExactSizeIterator for Passing<I, Fuse<'a>, Fusible<'a>> {
    #[inline]
    fn len(&self) -> usize {
        self.size_hint().0
    }
}
