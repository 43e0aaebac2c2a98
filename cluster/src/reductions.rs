//! The reductions of the terminals. The outputs are values that can be encoded.

use furcate_schedulers::{Ends, Reduction};
use std::iter::{Product as StdProduct, Sum as StdSum};
use std::marker::PhantomData;
use std::ops::ControlFlow::{self, Break, Continue};

/// `sum` or `product`: std's own loop.
macro_rules! total {
    ($Name:ident, $Std:ident, $method:ident) => {
        #[derive(Debug)]
        pub(crate) struct $Name<S>(PhantomData<fn() -> S>);

        impl<S> $Name<S> {
            pub(crate) fn new() -> Self {
                $Name(PhantomData)
            }
        }

        impl<S> Clone for $Name<S> {
            fn clone(&self) -> Self {
                $Name(PhantomData)
            }
        }

        impl<T, S: Send + $Std<T> + $Std<S>> Reduction<T> for $Name<S> {
            type Accumulator = Option<S>;
            type Output = S;

            #[inline]
            fn start(&self) -> Option<S> {
                None
            }

            #[inline]
            fn fold_item(&self, total: Option<S>, item: T) -> ControlFlow<Option<S>, Option<S>> {
                Continue(self.fold(total, std::iter::once(item)))
            }

            #[inline]
            fn fold<I: Iterator<Item = T>>(&self, total: Option<S>, items: I) -> Option<S> {
                let step = items.$method::<S>();
                Some(match total {
                    Some(total) => [total, step].into_iter().$method(),
                    None => step,
                })
            }

            #[inline]
            fn finish(&self, total: Option<S>) -> S {
                total.unwrap_or_else(|| std::iter::empty::<T>().$method())
            }

            #[inline]
            fn reduce(&self, left: S, right: S) -> S {
                [left, right].into_iter().$method()
            }
        }
    };
}

total!(Sum, StdSum, sum);
total!(Product, StdProduct, product);

/// `for_each`.
#[derive(Debug)]
pub(crate) struct Each<'f, F>(pub(crate) &'f F);

impl<F> Clone for Each<'_, F> {
    fn clone(&self) -> Self {
        Each(self.0)
    }
}

impl<T, F: Fn(T) + Sync> Reduction<T> for Each<'_, F> {
    type Accumulator = ();
    type Output = ();

    fn start(&self) {}

    #[inline]
    fn fold_item(&self, (): (), item: T) -> ControlFlow<(), ()> {
        (self.0)(item);
        Continue(())
    }

    #[inline]
    fn fold<I: Iterator<Item = T>>(&self, (): (), items: I) {
        items.for_each(self.0);
    }

    fn finish(&self, (): ()) {}

    fn reduce(&self, (): (), (): ()) {}
}

/// `count`.
#[derive(Clone, Debug)]
pub(crate) struct Count;

impl<T> Reduction<T> for Count {
    type Accumulator = u64;
    type Output = u64;

    fn start(&self) -> u64 {
        0
    }

    #[inline]
    fn fold_item(&self, count: u64, _: T) -> ControlFlow<u64, u64> {
        Continue(count + 1)
    }

    #[inline]
    fn fold<I: Iterator<Item = T>>(&self, count: u64, items: I) -> u64 {
        count + items.count() as u64
    }

    fn finish(&self, count: u64) -> u64 {
        count
    }

    fn reduce(&self, left: u64, right: u64) -> u64 {
        left + right
    }
}

/// `reduce`: an identity and an operation.
#[derive(Debug)]
pub(crate) struct FromIdentity<'f, D, F> {
    pub(crate) identity: &'f D,
    pub(crate) op: &'f F,
}

impl<D, F> Clone for FromIdentity<'_, D, F> {
    fn clone(&self) -> Self {
        FromIdentity { identity: self.identity, op: self.op }
    }
}

impl<T: Send, D: Fn() -> T + Sync, F: Fn(T, T) -> T + Sync> Reduction<T> for FromIdentity<'_, D, F> {
    type Accumulator = T;
    type Output = T;

    #[inline]
    fn start(&self) -> T {
        (self.identity)()
    }

    #[inline]
    fn fold_item(&self, folded: T, item: T) -> ControlFlow<T, T> {
        Continue((self.op)(folded, item))
    }

    #[inline]
    fn fold<I: Iterator<Item = T>>(&self, folded: T, items: I) -> T {
        items.fold(folded, self.op)
    }

    #[inline]
    fn finish(&self, folded: T) -> T {
        folded
    }

    #[inline]
    fn reduce(&self, left: T, right: T) -> T {
        (self.op)(left, right)
    }
}

/// `reduce_with`, `min`, `max`: an operation, and nothing for no items.
#[derive(Debug)]
pub(crate) struct Pick<'f, F>(pub(crate) &'f F);

impl<F> Clone for Pick<'_, F> {
    fn clone(&self) -> Self {
        Pick(self.0)
    }
}

impl<T: Send, F: Fn(T, T) -> T + Sync> Reduction<T> for Pick<'_, F> {
    type Accumulator = Option<T>;
    type Output = Option<T>;

    fn start(&self) -> Option<T> {
        None
    }

    #[inline]
    fn fold_item(&self, best: Option<T>, item: T) -> ControlFlow<Option<T>, Option<T>> {
        Continue(self.reduce(best, Some(item)))
    }

    #[inline]
    fn fold<I: Iterator<Item = T>>(&self, best: Option<T>, items: I) -> Option<T> {
        best.into_iter().chain(items).reduce(self.0)
    }

    fn finish(&self, best: Option<T>) -> Option<T> {
        best
    }

    #[inline]
    fn reduce(&self, left: Option<T>, right: Option<T>) -> Option<T> {
        match (left, right) {
            (Some(left), Some(right)) => Some((self.0)(left, right)),
            (left, right) => left.or(right),
        }
    }
}

/// `collect`: all items, in order.
#[derive(Clone, Debug)]
pub(crate) struct Gather;

impl<T: Send> Reduction<T> for Gather {
    type Accumulator = Vec<T>;
    type Output = Vec<T>;

    fn start(&self) -> Vec<T> {
        Vec::new()
    }

    #[inline]
    fn fold_item(&self, mut all: Vec<T>, item: T) -> ControlFlow<Vec<T>, Vec<T>> {
        all.push(item);
        Continue(all)
    }

    #[inline]
    fn fold<I: Iterator<Item = T>>(&self, mut all: Vec<T>, items: I) -> Vec<T> {
        all.extend(items);
        all
    }

    fn finish(&self, all: Vec<T>) -> Vec<T> {
        all
    }

    fn reduce(&self, mut left: Vec<T>, right: Vec<T>) -> Vec<T> {
        left.extend(right);
        left
    }
}

/// `find_any` and `find_first`: the first item of each part for which the predicate is true.
#[derive(Debug)]
pub(crate) struct Hit<'f, F>(pub(crate) &'f F);

impl<F> Clone for Hit<'_, F> {
    fn clone(&self) -> Self {
        Hit(self.0)
    }
}

impl<T: Send, F: Fn(&T) -> bool + Sync> Reduction<T> for Hit<'_, F> {
    type Accumulator = Option<T>;
    type Output = Option<T>;

    const ENDS: Ends = Ends::EARLY;

    fn start(&self) -> Option<T> {
        None
    }

    #[inline]
    fn fold_item(&self, hit: Option<T>, item: T) -> ControlFlow<Option<T>, Option<T>> {
        if hit.is_some() {
            Break(hit)
        } else if (self.0)(&item) {
            Break(Some(item))
        } else {
            Continue(None)
        }
    }

    fn finish(&self, hit: Option<T>) -> Option<T> {
        hit
    }

    fn reduce(&self, left: Option<T>, right: Option<T>) -> Option<T> {
        left.or(right)
    }
}

/// `any` and `all`: whether the predicate is true for an item.
#[derive(Debug)]
pub(crate) struct IsThere<'f, F>(pub(crate) &'f F);

impl<F> Clone for IsThere<'_, F> {
    fn clone(&self) -> Self {
        IsThere(self.0)
    }
}

impl<T, F: Fn(T) -> bool + Sync> Reduction<T> for IsThere<'_, F> {
    type Accumulator = bool;
    type Output = bool;

    const ENDS: Ends = Ends::EARLY;

    fn start(&self) -> bool {
        false
    }

    #[inline]
    fn fold_item(&self, found: bool, item: T) -> ControlFlow<bool, bool> {
        if found || (self.0)(item) { Break(true) } else { Continue(false) }
    }

    fn finish(&self, found: bool) -> bool {
        found
    }

    fn reduce(&self, left: bool, right: bool) -> bool {
        left || right
    }
}
