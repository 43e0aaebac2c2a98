//! `sum`, `product` and `count`.

use super::Aggregate;
use std::iter::once;
use std::marker::PhantomData;

macro_rules! sums {
    ($($Name:ident, $name:ident);+) => {$(
        #[doc = concat!("`", stringify!($name), "`")]
        #[derive(Debug)]
        pub(crate) struct $Name<S>(PhantomData<fn() -> S>);

        impl<S> $Name<S> {
            pub(crate) fn new() -> Self {
                $Name(PhantomData)
            }
        }

        impl<S> Clone for $Name<S> {
            fn clone(&self) -> Self {
                *self
            }
        }

        impl<S> Copy for $Name<S> {}

        impl<T, S: Send + std::iter::$Name<T> + std::iter::$Name> Aggregate<T> for $Name<S> {
            type Output = S;

            #[inline]
            fn of<I: Iterator<Item = T>>(self, items: I) -> S {
                items.$name()
            }

            // A chain of two values is the only means that std's trait offers.
            #[inline]
            fn both(self, left: S, right: S) -> S {
                once(left).chain(once(right)).$name()
            }
        }
    )+};
}

sums!(Sum, sum; Product, product);

/// `count`
#[derive(Clone, Copy, Debug)]
pub(crate) struct Count;

impl<T> Aggregate<T> for Count {
    type Output = usize;

    #[inline]
    fn of<I: Iterator<Item = T>>(self, items: I) -> usize {
        items.count()
    }

    #[inline]
    fn both(self, left: usize, right: usize) -> usize {
        left + right
    }
}
