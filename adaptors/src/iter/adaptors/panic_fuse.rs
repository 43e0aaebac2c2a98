//! The adaptor `panic_fuse`.

use crate::iter::adaptor::adaptor;
use crate::iter::flag::Flag;
use crate::iter::gate::{Gate, Passing, Through};
use crate::iter::stage::Adapted;
use crate::iter::{IndexedParallelIterator, ParallelIterator, inherit_schedule};
use std::thread::panicking;

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

impl<I> PanicFuse<I> {
    pub(crate) fn of(base: I) -> Self {
        PanicFuse::new(base, Flag::default())
    }
}

impl<I: ParallelIterator> ParallelIterator for PanicFuse<I> {
    type Item = I::Item;
    type Producer<'a>
        = Adapted<I::Producer<'a>, Through<Fuse<'a>>>
    where
        Self: 'a;

    // The fuse does not ask for steps: items are collected in place.
    inherit_schedule!(base: I);

    #[inline]
    fn producer(&mut self) -> Self::Producer<'_> {
        Adapted::new(self.base.producer(), Through(Fuse(self.blown.lowered())))
    }

    #[inline]
    fn opt_len(&self) -> Option<usize> {
        self.base.opt_len()
    }
}

impl<I: IndexedParallelIterator> IndexedParallelIterator for PanicFuse<I> {
    type IndexedProducer<'a>
        = Adapted<I::IndexedProducer<'a>, Through<Fuse<'a>>>
    where
        Self: 'a;

    #[inline]
    fn indexed_producer(&mut self) -> Self::IndexedProducer<'_> {
        Adapted::new(self.base.indexed_producer(), Through(Fuse(self.blown.lowered())))
    }

    #[inline]
    fn len(&self) -> usize {
        self.base.len()
    }
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
    const SINGLE: bool = false;

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
