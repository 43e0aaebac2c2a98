//! The adaptor `inspect`.

use crate::iter::ParallelIterator;
use crate::iter::adaptor::adaptor;
use crate::iter::item_wise::{ItemWise, adapt_items, borrowed_op};

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
    impl[I, F] Inspect<I, F> by InspectOp<F>(inspect_op) => I::Item, indexed
    where [I: ParallelIterator, F: Fn(&I::Item) + Sync + Send]
}

borrowed_op!(InspectOp);

impl<'a, T, F> ItemWise<T> for InspectOp<'a, F>
where
    F: Fn(&T) + Sync,
{
    type Output = T;
    type Leaf<I: Iterator<Item = T>> = std::iter::Inspect<I, &'a F>;

    #[inline]
    fn leaf<I: Iterator<Item = T>>(self, base: I) -> Self::Leaf<I> {
        base.inspect(self.0)
    }
}
