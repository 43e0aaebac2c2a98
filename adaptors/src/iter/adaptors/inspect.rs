//! The adaptor `inspect`.

use crate::iter::ParallelIterator;
use crate::iter::adaptor::adaptor;
use crate::iter::stage::{PerItem, Stage, StageFacts, adapt_items, borrowed_op};

adaptor! {
    /// Calls a function with a reference to every item: see [`ParallelIterator::inspect`].
    ///
    /// ```
    /// use furcate::prelude::*;
    /// let it: furcate::iter::Inspect<_, _> = (0..3).into_par_iter().inspect(|x| println!("{x}"));
    /// assert_eq!(it.sum::<i32>(), 3);
    /// ```
    Inspect<I, F> { inspect_op: F }
}

adapt_items! {
    impl[I, F] Inspect<I, F> by PerItem<InspectOp<'a, F>> = |it| PerItem(InspectOp(&it.inspect_op)) => I::Item, peek
    where [I: ParallelIterator, F: Fn(&I::Item) + Sync + Send]
}

borrowed_op!(InspectOp);

impl<'a, T, F> Stage<T> for InspectOp<'a, F>
where
    F: Fn(&T) + Sync,
{
    const FACTS: StageFacts = StageFacts::ONE;
    type Item = T;
    type Iter<I: Iterator<Item = T>> = std::iter::Inspect<I, &'a F>;

    #[inline]
    fn apply<I: Iterator<Item = T>>(self, items: I) -> Self::Iter<I> {
        items.inspect(self.0)
    }
}
