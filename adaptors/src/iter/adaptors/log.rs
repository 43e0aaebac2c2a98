//! The adaptor `log`, which names a place of a chain in traces.

use crate::iter::ParallelIterator;
use crate::iter::adaptor::adaptor;
use crate::iter::stage::{PerItem, Stage, StageFacts, adapt_items};
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

adapt_items! {
    impl[I] Log<I> by PerItem<LogOp> = |it| PerItem(LogOp(it.name)) => I::Item, indexed
    where [I: ParallelIterator]
}

#[derive(Clone, Copy, Debug)]
pub struct LogOp(Name);

impl<T> Stage<T> for LogOp {
    const FACTS: StageFacts = StageFacts::ONE;
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
