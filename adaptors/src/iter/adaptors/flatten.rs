//! `flatten`

use crate::iter::adaptor::adaptor;
use crate::iter::item_wise::{ItemWise, adapt_items};
use crate::iter::{IntoParallelIterator, ParallelIterator};
use std::ops::ControlFlow;

adaptor! {
    /// The items of items that are parallel iterators, one after the other: see [`ParallelIterator::flatten`].
    ///
    /// ```
    /// use furcate::prelude::*;
    /// let it: furcate::iter::Flatten<_> = [vec![1, 2], vec![3]].into_par_iter().flatten();
    /// assert_eq!(it.collect::<Vec<_>>(), [1, 2, 3]);
    /// ```
    Flatten<I> {}
}

adapt_items! {
    impl[I] Flatten<I> by FlattenOp => <I::Item as IntoParallelIterator>::Item
    where [I: ParallelIterator<Item: IntoParallelIterator>]
}

/// Runs an item, in parallel, and walks what came out.
#[derive(Clone, Copy, Debug)]
pub struct FlattenOp;

/// The items of one inner iterator, which runs under its own schedule.
fn run<P: IntoParallelIterator>(inner: P) -> Vec<P::Item> {
    inner.into_par_iter().collect()
}

impl<T: IntoParallelIterator> ItemWise<T> for FlattenOp {
    type Output = T::Item;
    type Leaf<I: Iterator<Item = T>> = std::iter::FlatMap<I, Vec<T::Item>, fn(T) -> Vec<T::Item>>;

    #[inline]
    fn leaf<I: Iterator<Item = T>>(self, base: I) -> Self::Leaf<I> {
        base.flat_map(run)
    }

    #[inline]
    fn feed<B, C, G>(self, accumulator: B, item: T, fold_op: &mut G) -> ControlFlow<C, B>
    where
        G: FnMut(B, T::Item) -> ControlFlow<C, B>,
    {
        run(item).into_iter().try_fold(accumulator, fold_op)
    }
}
