//! Terminals: the results of parallel iterators, as [`Reduction`](furcate_schedulers::Reduction)s.
//!
//! Most terminals are one of seven shapes, given closures or a small strategy:
//!
//! | shape | a task's accumulator is | terminals |
//! |---|---|---|
//! | [`Visit`] | a state to which items are shown | `for_each`, `for_each_with`, `for_each_init`, `unzip`, `partition` |
//! | [`Reduce`] | a value into which items are folded | `reduce` |
//! | [`Totals`] | the result of std's `sum` or `product` | `sum`, `product` |
//! | [`Aggregated`] | the result of a method of std's `Iterator` | `count`, `min`, `max`, `reduce_with` ... |
//! | [`AnyHit`] | any hit | `any`, `all`, `find_any`, `find_map_any`, `position_any`, `eq` |
//! | [`OutermostHit`] | the hit nearest to one end | `find_first`, `find_last`, `position_first`, `cmp` ... |
//! | [`TryReduce`] | a value, or the failure instead | `try_reduce`, `try_reduce_with`, `try_for_each` ... |

mod aggregate;
mod any_hit;
mod collecting;
mod outermost_hit;
mod picks;
mod reduce;
mod search_loop;
mod sums;
mod total;
mod try_reduce;
mod visit;

pub(crate) use aggregate::{Aggregate, Aggregated};
pub(crate) use any_hit::AnyHit;
pub(crate) use collecting::Collecting;
pub(crate) use outermost_hit::{First, Last};
pub(crate) use picks::{Max, MaxBy, Min, MinBy, ReduceWith};
pub(crate) use reduce::Reduce;
use search_loop::SearchLoop;
pub(crate) use sums::{Count, Product, Sum};
pub(crate) use total::Totals;
pub(crate) use try_reduce::TryReduce;
pub(crate) use visit::effects;

use super::collect::{SortInto, TwoLists};
use super::{FromParallelIterator, Try};
use furcate_schedulers::Reduction;
use outermost_hit::{Outermost, OutermostHit};
use std::collections::LinkedList;

/// A terminal over items of type `T`, as a value that owns everything that its reduction borrows. A call that a thread waits for may
/// use the reduction alone; a future owns the terminal.
pub(crate) trait Terminal<T>: Send + 'static {
    /// Output of the reduction.
    type Output: Send + 'static;
    /// The reduction, which may borrow from the terminal.
    type Reduction<'a>: Reduction<T, Output = Self::Output>
    where
        Self: 'a;

    fn reduction(&self) -> Self::Reduction<'_>;
}

/// Implements [`Terminal`] for terminals to which references are reductions.
macro_rules! by_reference {
    ($(impl[$($Param:ident),*] $Type:ty => $Output:ty where [$($bounds:tt)*])+) => {$(
        impl<T: Send + 'static, $($Param: 'static),*> Terminal<T> for $Type
        where
            $($bounds)*
        {
            type Output = $Output;
            type Reduction<'a> = &'a Self;

            fn reduction(&self) -> &Self {
                self
            }
        }
    )+};
}

by_reference! {
    impl[A] Aggregated<A> => A::Output where [A: Aggregate<T, Output: 'static>]
    impl[A] Totals<A> => A::Output where [A: Aggregate<T, Output: 'static>]
    impl[ID, F] Reduce<ID, F> => T where [ID: Fn() -> T + Sync + Send, F: Fn(T, T) -> T + Sync + Send]
    impl[ID, F] TryReduce<ID, F> => Option<T>
    where [T: Try, ID: Fn() -> Option<T::Output> + Sync + Send, F: Fn(T::Output, T::Output) -> T + Sync + Send]
    impl[H, F] AnyHit<F> => Option<H> where [H: Send, F: Fn(T) -> Option<H> + Sync + Send]
    impl[A, B, F] SortInto<A, B, F> => TwoLists<A, B>
    where [A: Send, B: Send, F: Fn(T, &mut Vec<A>, &mut Vec<B>) + Sync + Send]
    impl[C] Collecting<C> => LinkedList<Vec<T>> where [C: FromParallelIterator<T>]
}

impl<T, H, F, const BACK: bool> Terminal<T> for Outermost<F, BACK>
where
    H: Send + 'static,
    F: Fn(T) -> Option<H> + Sync + Send + 'static,
{
    type Output = Option<H>;
    type Reduction<'a> = OutermostHit<'a, F, BACK>;

    fn reduction(&self) -> OutermostHit<'_, F, BACK> {
        self.reduction()
    }
}
