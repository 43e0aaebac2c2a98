//! The adaptor `log`, which names a place of a chain in traces.

use crate::iter::adaptor::adaptor;
use crate::iter::stage::{Adapted, PerItem, Stage};
use crate::iter::{IndexedParallelIterator, ParallelIterator, inherit_schedule};
use furcate_pool::trace::{self, Mark, Name};

adaptor! {
    /// Names a place of the chain in traces: see [`ParallelIterator::log`].
    ///
    /// ```
    /// use furcate::prelude::*;
    /// let it: furcate::iter::Log<_> = (0..3).into_par_iter().log("numbers");
    /// assert_eq!(it.sum::<i32>(), 3);
    /// ```
    Log<I> { name: Name }
}

impl<I: ParallelIterator> ParallelIterator for Log<I> {
    type Item = I::Item;
    type Producer<'a>
        = Adapted<I::Producer<'a>, PerItem<LogOp>>
    where
        Self: 'a;

    inherit_schedule!(base: I);

    #[inline]
    fn producer(&mut self) -> Self::Producer<'_> {
        Adapted::per_item(self.base.producer(), LogOp(self.name))
    }

    #[inline]
    fn units(&self) -> Option<usize> {
        self.base.units()
    }

    #[inline]
    fn opt_len(&self) -> Option<usize> {
        self.base.opt_len()
    }
}

impl<I: IndexedParallelIterator> IndexedParallelIterator for Log<I> {
    type IndexedProducer<'a>
        = Adapted<I::IndexedProducer<'a>, PerItem<LogOp>>
    where
        Self: 'a;

    #[inline]
    fn indexed_producer(&mut self) -> Self::IndexedProducer<'_> {
        Adapted::per_item(self.base.indexed_producer(), LogOp(self.name))
    }

    #[inline]
    fn len(&self) -> usize {
        self.base.len()
    }
}

#[derive(Clone, Copy, Debug)]
pub struct LogOp(Name);

impl<T> Stage<T> for LogOp {
    const SINGLE: bool = true;
    type Item = T;
    type Iter<I: Iterator<Item = T>> = Logged<I>;

    #[inline]
    fn apply<I: Iterator<Item = T>>(self, items: I) -> Self::Iter<I> {
        Logged { items, mark: trace::log(self.0) }
    }
}

/// The items of a leaf, from whose first look to its end a mark lasts.
#[allow(missing_debug_implementations, reason = "holds the user's iterator")]
pub struct Logged<I> {
    items: I,
    mark: Mark,
}

impl<I: Iterator> Iterator for Logged<I> {
    type Item = I::Item;

    #[inline]
    fn next(&mut self) -> Option<I::Item> {
        self.items.next()
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        self.items.size_hint()
    }

    #[inline]
    fn fold<B, F: FnMut(B, I::Item) -> B>(self, init: B, f: F) -> B {
        let Logged { items, mark } = self;
        let folded = items.fold(init, f);
        drop(mark);
        folded
    }
}

impl<I: DoubleEndedIterator> DoubleEndedIterator for Logged<I> {
    #[inline]
    fn next_back(&mut self) -> Option<I::Item> {
        self.items.next_back()
    }
}

impl<I: ExactSizeIterator> ExactSizeIterator for Logged<I> {}
