//! `reduce`

use furcate_schedulers::Reduction;
use std::ops::ControlFlow;

/// Folds the items of a task, starting from an identity, and then the tasks' values, with one operation.
#[derive(Debug)]
pub(crate) struct Reduce<ID, F> {
    pub(crate) identity: ID,
    pub(crate) op: F,
}

impl<T, ID, F> Reduction<T> for &Reduce<ID, F>
where
    T: Send,
    ID: Fn() -> T + Sync,
    F: Fn(T, T) -> T + Sync,
{
    type Accumulator = T;
    type Output = T;

    #[inline]
    fn start(&self) -> T {
        (self.identity)()
    }

    #[inline]
    fn fold_item(&self, value: T, item: T) -> ControlFlow<T, T> {
        ControlFlow::Continue((self.op)(value, item))
    }

    #[inline]
    fn fold<I: Iterator<Item = T>>(&self, value: T, items: I) -> T {
        items.fold(value, &self.op)
    }

    #[inline]
    fn finish(&self, value: T) -> T {
        value
    }

    #[inline]
    fn reduce(&self, left: T, right: T) -> T {
        (self.op)(left, right)
    }
}
