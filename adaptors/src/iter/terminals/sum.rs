//! `sum`

use furcate_schedulers::Reduction;
use std::iter::once;
use std::marker::PhantomData;
use std::ops::ControlFlow;

pub(crate) struct Sum<S> {
    sum: PhantomData<fn() -> S>,
}

impl<S> Sum<S> {
    pub(crate) fn new() -> Self {
        Sum { sum: PhantomData }
    }
}

impl<S> Clone for Sum<S> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<S> Copy for Sum<S> {}

/// The sum of two, by the only means that [`std::iter::Sum`] gives.
#[inline]
fn add<S: std::iter::Sum>(left: S, right: S) -> S {
    once(left).chain(once(right)).sum()
}

impl<T, S: Send + std::iter::Sum<T> + std::iter::Sum> Reduction<T> for Sum<S> {
    type Accumulator = S;
    type Output = S;

    #[inline]
    fn start(&self) -> S {
        std::iter::empty::<T>().sum()
    }

    #[inline]
    fn step(&self, sum: S, item: T) -> ControlFlow<S, S> {
        ControlFlow::Continue(add(sum, once(item).sum()))
    }

    #[inline]
    fn fold<I: Iterator<Item = T>>(&self, sum: S, items: I) -> S {
        add(sum, items.sum())
    }

    #[inline]
    fn finish(&self, sum: S) -> S {
        sum
    }

    #[inline]
    fn reduce(&self, left: S, right: S) -> S {
        add(left, right)
    }
}
