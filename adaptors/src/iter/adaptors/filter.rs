//! `filter`

use crate::iter::item_wise::{Adapted, ItemWise, borrowed_op};
use crate::iter::{ParallelIterator, debug_base, inherit_schedule};
use std::ops::ControlFlow;

/// Keeps the items that a predicate holds for: see [`ParallelIterator::filter`].
#[must_use = "iterators do nothing until a terminal drives them"]
#[derive(Clone)]
pub struct Filter<I, P> {
    base: I,
    predicate: P,
}

impl<I, P> Filter<I, P> {
    pub(crate) fn new(base: I, predicate: P) -> Self {
        Filter { base, predicate }
    }
}

debug_base!(Filter<I, P>);

impl<I, P> ParallelIterator for Filter<I, P>
where
    I: ParallelIterator,
    P: Fn(&I::Item) -> bool + Sync + Send,
{
    type Item = I::Item;
    type Producer<'a>
        = Adapted<I::Producer<'a>, FilterOp<'a, P>>
    where
        Self: 'a;

    inherit_schedule!(base: I);

    #[inline]
    fn producer(&mut self) -> Self::Producer<'_> {
        Adapted::new(self.base.producer(), FilterOp(&self.predicate))
    }
}

borrowed_op!(FilterOp);

impl<'a, T, P> ItemWise<T> for FilterOp<'a, P>
where
    P: Fn(&T) -> bool + Sync,
{
    type Output = T;
    type Leaf<I: Iterator<Item = T>> = std::iter::Filter<I, &'a P>;

    #[inline]
    fn leaf<I: Iterator<Item = T>>(self, base: I) -> Self::Leaf<I> {
        base.filter(self.0)
    }

    #[inline]
    fn feed<B, C, G>(self, accumulator: B, item: T, fold_op: &mut G) -> ControlFlow<C, B>
    where
        G: FnMut(B, T) -> ControlFlow<C, B>,
    {
        if (self.0)(&item) { fold_op(accumulator, item) } else { ControlFlow::Continue(accumulator) }
    }
}
