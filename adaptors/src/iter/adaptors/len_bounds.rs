//! `with_min_len`, `with_max_len`: policies under rayon's names.

use crate::iter::WithPolicy;
use furcate_schedulers::policy;

/// An iterator with a minimum length of parts: see
/// [`ParallelIterator::with_min_len`](crate::iter::ParallelIterator::with_min_len).
pub type MinLen<I> = WithPolicy<I, policy::MinLen>;

/// An iterator with a maximum length of parts: see
/// [`ParallelIterator::with_max_len`](crate::iter::ParallelIterator::with_max_len).
pub type MaxLen<I> = WithPolicy<I, policy::MaxLen>;
