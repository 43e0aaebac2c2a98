//! The adaptors `with_min_len` and `with_max_len`: policies under rayon's names.

use crate::iter::WithPolicy;
use furcate_schedulers::policy;

/// An iterator with a minimum length of parts: see
/// [`ParallelIterator::with_min_len`](crate::iter::ParallelIterator::with_min_len).
///
/// ```
/// use furcate::prelude::*;
/// let it: furcate::iter::MinLen<_> = (0..1000).into_par_iter().with_min_len(100);
/// assert_eq!(it.sum::<i32>(), 499_500);
/// ```
pub type MinLen<I> = WithPolicy<I, policy::MinLen>;

/// An iterator with a maximum length of parts: see
/// [`ParallelIterator::with_max_len`](crate::iter::ParallelIterator::with_max_len).
///
/// ```
/// use furcate::prelude::*;
/// let it: furcate::iter::MaxLen<_> = (0..1000).into_par_iter().with_max_len(100);
/// assert_eq!(it.sum::<i32>(), 499_500);
/// ```
pub type MaxLen<I> = WithPolicy<I, policy::MaxLen>;
