//! The adaptors `by_exponential_blocks` and `by_uniform_blocks`: block by block, under rayon's names.

use crate::iter::{SchedulerOf, WithScheduler};
use furcate_schedulers::ByBlocks;
use std::iter::Repeat;

/// An iterator that is run in blocks of doubling sizes: see [`ParallelIterator::by_exponential_blocks`](crate::iter::ParallelIterator::by_exponential_blocks).
///
/// ```
/// use furcate::prelude::*;
/// let it: furcate::iter::ExponentialBlocks<_> = (0..1000).into_par_iter().by_exponential_blocks();
/// assert_eq!(it.sum::<i32>(), 499_500);
/// ```
pub type ExponentialBlocks<I> = WithScheduler<I, ByBlocks<SchedulerOf<I>>>;

/// An iterator that is run in blocks of one size: see [`ParallelIterator::by_uniform_blocks`](crate::iter::ParallelIterator::by_uniform_blocks).
///
/// ```
/// use furcate::prelude::*;
/// let it: furcate::iter::UniformBlocks<_> = (0..1000).into_par_iter().by_uniform_blocks(100);
/// assert_eq!(it.sum::<i32>(), 499_500);
/// ```
pub type UniformBlocks<I> = WithScheduler<I, ByBlocks<SchedulerOf<I>, Repeat<usize>>>;
