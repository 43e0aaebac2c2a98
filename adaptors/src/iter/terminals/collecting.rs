//! `async_collect`: a collection that its first failure decides.

use crate::iter::FromParallelIterator;
use crate::iter::collect::{Lists, concat};
use crate::iter::flag::Flag;
use furcate_schedulers::{Ends, Reduction};
use std::collections::LinkedList;
use std::marker::PhantomData;
use std::ops::ControlFlow;

/// Collects into vectors, of which a `C` is made afterwards, up to an item that
/// [decides](FromParallelIterator::is_decided_by) the collection.
pub(crate) struct Collecting<C> {
    decided: Flag,
    collection: PhantomData<fn() -> C>,
}

impl<C> Collecting<C> {
    pub(crate) fn new() -> Self {
        Collecting { decided: Flag::default(), collection: PhantomData }
    }
}

impl<T: Send, C: FromParallelIterator<T>> Reduction<T> for &Collecting<C> {
    type Accumulator = Vec<T>;
    type Output = LinkedList<Vec<T>>;

    const ENDS: Ends = Ends::ALL;

    #[inline]
    fn start(&self) -> Vec<T> {
        Vec::new()
    }

    #[inline]
    fn fold_item(&self, mut items: Vec<T>, item: T) -> ControlFlow<Vec<T>, Vec<T>> {
        let decided = C::is_decided_by(&item);
        items.push(item);
        if decided {
            self.decided.raise();
            return ControlFlow::Break(items);
        }
        ControlFlow::Continue(items)
    }

    #[inline]
    fn finish(&self, items: Vec<T>) -> LinkedList<Vec<T>> {
        Lists::new(Vec::is_empty).only(items)
    }

    #[inline]
    fn reduce(&self, left: LinkedList<Vec<T>>, right: LinkedList<Vec<T>>) -> LinkedList<Vec<T>> {
        concat(left, right)
    }

    #[inline]
    fn stopped(&self) -> bool {
        self.decided.is_raised()
    }
}
