//! `flatten`
//!
//! The task that comes to an inner iterator walks it, as one leaf: so the schedule of the chain holds for all of it
//! (a [`cap`](ParallelIterator::cap) is not exceeded, [`sequential`](ParallelIterator::sequential) is sequential),
//! nothing is collected, and a search can end in the middle.

use crate::iter::adaptor::adaptor;
use crate::iter::item_wise::{ItemWise, adapt_items};
use crate::iter::{IntoParallelIterator, ParallelIterator};
use furcate_schedulers::NanoFold;
use std::ops::ControlFlow;
use std::vec;

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

/// Walks an item.
#[derive(Clone, Copy, Debug)]
pub struct FlattenOp;

impl<T: IntoParallelIterator> ItemWise<T> for FlattenOp {
    type Output = T::Item;
    type Leaf<I: Iterator<Item = T>> = Walk<I, T::Item>;

    #[inline]
    fn leaf<I: Iterator<Item = T>>(self, base: I) -> Self::Leaf<I> {
        Walk { outer: base, collected: Vec::new().into_iter() }
    }

    /// Walks each inner iterator where it lies.
    #[inline]
    fn fold_loop<I, B, C, G>(self, accumulator: B, mut items: I, fold: &mut G) -> ControlFlow<C, B>
    where
        I: Iterator<Item = T>,
        G: NanoFold<T::Item, B, C>,
    {
        items.try_fold(accumulator, |accumulator, item| {
            let mut inner = item.into_par_iter();
            fold.fold(accumulator, inner.producer().into_iter())
        })
    }
}

/// The sequential iterator over the items of parallel iterators.
///
/// A parallel iterator lends what it walks over, and cannot lie beside it: so a fold walks each where it is, and only
/// who asks for one item after the other gets them from a vector.
#[derive(Debug)]
pub struct Walk<I, T> {
    outer: I,
    collected: vec::IntoIter<T>,
}

impl<I, T> Iterator for Walk<I, T>
where
    I: Iterator<Item: IntoParallelIterator<Item = T>>,
{
    type Item = T;

    fn next(&mut self) -> Option<T> {
        loop {
            if let Some(item) = self.collected.next() {
                return Some(item);
            }
            let mut inner = self.outer.next()?.into_par_iter();
            self.collected = inner.producer().into_iter().collect::<Vec<T>>().into_iter();
        }
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        let at_most = if self.outer.size_hint().1 == Some(0) { Some(self.collected.len()) } else { None };
        (self.collected.len(), at_most)
    }

    #[inline]
    fn fold<B, F: FnMut(B, T) -> B>(self, init: B, mut fold_op: F) -> B {
        let folded = self.collected.fold(init, &mut fold_op);
        self.outer.fold(folded, |folded, inner| {
            let mut inner = inner.into_par_iter();
            inner.producer().into_iter().fold(folded, &mut fold_op)
        })
    }
}
