//! `flat_map`

use super::flatten::FlattenOp;
use crate::iter::adaptor::adaptor;
use crate::iter::item_wise::{ItemWise, adapt_items, borrowed_op};
use crate::iter::{IntoParallelIterator, ParallelIterator};
use furcate_schedulers::NanoFold;
use std::ops::ControlFlow;

adaptor! {
    /// The items of the parallel iterators that the items become, one after the other: see
    /// [`ParallelIterator::flat_map`].
    ///
    /// ```
    /// use furcate::prelude::*;
    /// let it: furcate::iter::FlatMap<_, _> = (1..4).into_par_iter().flat_map(|n| 0..n);
    /// assert_eq!(it.collect::<Vec<_>>(), [0, 0, 1, 0, 1, 2]);
    /// ```
    FlatMap<I, F> { map_op: F }
}

adapt_items! {
    impl[I, F, P] FlatMap<I, F> by FlatMapOp<F>(map_op) => P::Item
    where [I: ParallelIterator, F: Fn(I::Item) -> P + Sync + Send, P: IntoParallelIterator]
}

borrowed_op!(FlatMapOp);

impl<'a, T, P, F> ItemWise<T> for FlatMapOp<'a, F>
where
    F: Fn(T) -> P + Sync,
    P: IntoParallelIterator,
{
    type Output = P::Item;
    type Leaf<I: Iterator<Item = T>> = <FlattenOp as ItemWise<P>>::Leaf<std::iter::Map<I, &'a F>>;

    #[inline]
    fn leaf<I: Iterator<Item = T>>(self, base: I) -> Self::Leaf<I> {
        FlattenOp.leaf(base.map(self.0))
    }

    #[inline]
    fn fold_loop<I, B, C, G>(self, accumulator: B, items: I, fold: &mut G) -> ControlFlow<C, B>
    where
        I: Iterator<Item = T>,
        G: NanoFold<P::Item, B, C>,
    {
        FlattenOp.fold_loop(accumulator, items.map(self.0), fold)
    }
}
