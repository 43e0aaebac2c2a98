//! The bounds of `sum` and `product`, as traits with messages of their own.

use std::iter::{Product, Sum};

/// Result of [`sum`](crate::iter::ParallelIterator::sum) over items of type `T`: any type that std's `Sum` can make of such items
/// and of its own values.
///
/// Implemented for all such types; there is nothing to implement.
///
/// ```
/// use furcate::iter::SumOf;
/// use furcate::prelude::*;
/// fn total<T: Send, S: SumOf<T>>(items: Vec<T>) -> S {
///     items.into_par_iter().sum()
/// }
/// assert_eq!(total::<_, f64>(vec![0.5, 1.0]), 1.5);
/// ```
#[diagnostic::on_unimplemented(
    message = "a value of type `{Self}` cannot be made by adding up items of type `{T}`",
    label = "the items are of type `{T}`",
    note = "`sum` needs `{Self}: Sum<{T}>` for the items, and `{Self}: Sum<{Self}> + Send` for the tasks' parts",
    note = "if the items are futures, wait for them first: `.io_await().sum()`"
)]
pub trait SumOf<T>: Send + Sum<T> + Sum<Self> {}

#[diagnostic::do_not_recommend]
impl<T, S: Send + Sum<T> + Sum<S>> SumOf<T> for S {}

/// Result of [`product`](crate::iter::ParallelIterator::product) over items of type `T`: any type that std's `Product` can make
/// of such items and of its own values.
///
/// Implemented for all such types; there is nothing to implement.
///
/// ```
/// use furcate::iter::ProductOf;
/// use furcate::prelude::*;
/// fn product<T: Send, P: ProductOf<T>>(items: Vec<T>) -> P {
///     items.into_par_iter().product()
/// }
/// assert_eq!(product::<_, f64>(vec![0.5, 3.0]), 1.5);
/// ```
#[diagnostic::on_unimplemented(
    message = "a value of type `{Self}` cannot be made by multiplying items of type `{T}`",
    label = "the items are of type `{T}`",
    note = "`product` needs `{Self}: Product<{T}>` for the items, and `{Self}: Product<{Self}> + Send` for the tasks' parts",
    note = "if the items are futures, wait for them first: `.io_await().product()`"
)]
pub trait ProductOf<T>: Send + Product<T> + Product<Self> {}

#[diagnostic::do_not_recommend]
impl<T, P: Send + Product<T> + Product<P>> ProductOf<T> for P {}
