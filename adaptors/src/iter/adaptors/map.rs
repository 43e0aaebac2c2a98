//! `map`

use crate::iter::item_wise::{Adapted, ItemWise, borrowed_op};
use crate::iter::{IndexedParallelIterator, ParallelIterator, debug_base, inherit_schedule};
use std::ops::ControlFlow;

/// Transforms every item: see [`ParallelIterator::map`].
#[must_use = "iterators do nothing until a terminal drives them"]
#[derive(Clone)]
pub struct Map<I, F> {
    base: I,
    map_op: F,
}

impl<I, F> Map<I, F> {
    pub(crate) fn new(base: I, map_op: F) -> Self {
        Map { base, map_op }
    }
}

debug_base!(Map<I, F>);

impl<I, F, R> ParallelIterator for Map<I, F>
where
    I: ParallelIterator,
    F: Fn(I::Item) -> R + Sync + Send,
    R: Send,
{
    type Item = R;
    type Producer<'a>
        = Adapted<I::Producer<'a>, MapOp<'a, F>>
    where
        Self: 'a;

    inherit_schedule!(base: I);

    #[inline]
    fn producer(&mut self) -> Self::Producer<'_> {
        Adapted::new(self.base.producer(), MapOp(&self.map_op))
    }

    #[inline]
    fn opt_len(&self) -> Option<usize> {
        self.base.opt_len()
    }
}

impl<I, F, R> IndexedParallelIterator for Map<I, F>
where
    I: IndexedParallelIterator,
    F: Fn(I::Item) -> R + Sync + Send,
    R: Send,
{
    type IndexedProducer<'a>
        = Adapted<I::IndexedProducer<'a>, MapOp<'a, F>>
    where
        Self: 'a;

    #[inline]
    fn indexed_producer(&mut self) -> Self::IndexedProducer<'_> {
        Adapted::new(self.base.indexed_producer(), MapOp(&self.map_op))
    }

    #[inline]
    fn len(&self) -> usize {
        self.base.len()
    }
}

borrowed_op!(MapOp);

impl<'a, T, R, F> ItemWise<T> for MapOp<'a, F>
where
    F: Fn(T) -> R + Sync,
{
    type Output = R;
    type Leaf<I: Iterator<Item = T>> = std::iter::Map<I, &'a F>;

    #[inline]
    fn leaf<I: Iterator<Item = T>>(self, base: I) -> Self::Leaf<I> {
        base.map(self.0)
    }

    #[inline]
    fn feed<B, C, G>(self, accumulator: B, item: T, fold_op: &mut G) -> ControlFlow<C, B>
    where
        G: FnMut(B, R) -> ControlFlow<C, B>,
    {
        fold_op(accumulator, (self.0)(item))
    }
}
