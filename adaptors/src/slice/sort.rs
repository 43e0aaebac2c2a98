//! Sorting: std's sorts for the leaves; around them a parallel merge sort (stable) and a parallel quicksort (in place).
//!
//! # Protocol
//!
//! A slice that is [one run](one_run) already, ascending or strictly descending, is left alone or reversed. If only a few elements are out
//! of place, they are [put in place](one_run::settle_few).
//!
//! *Stable* ([`merge_sort`]): the slice is halved [`SortPlan::levels`] times, and std sorts the leaves, in parallel and in
//! place. On the way up two sorted halves become one [`Run`](run::Run). If the two are in order, they stay. If they are
//! in the opposite order, they are swapped. Otherwise they are merged into the other one of two places: the slice
//! (*home*) and a buffer of its length (*away*). The number of levels is even, so that elements that are merged at
//! every level end up home. A [`RunMerge`](merge::RunMerge) is divided by [co-ranking](crate::co_rank) into merges of equal
//! lengths that share no element. So the last merges, of the longest runs, are as parallel as the first.
//!
//! A leaf of [long runs](one_run::long_runs) is sorted by merges of these. [Leaves](leaf) do not panic if the
//! order contradicts itself.
//!
//! *Unstable* ([`quick_sort`]): two runs in the wrong order are [swapped](one_run::settle_swapped). Else the slice is partitioned
//! around the median of a sample, and so on with both parts in parallel, until they are leaves. A leaf of which most
//! elements are in order is sorted by [drop-merge sort](drop_merge).
//!
//! # Invariants
//!
//! 1. Whatever a comparison does (panic, contradict itself, change an element through a cell), every element is in the
//!    slice exactly once when the sort returns or unwinds. Quicksort only swaps and rotates. A `Run` brings its
//!    elements home when it is dropped, and a `RunMerge` moves those that it has not merged.
//! 2. An element is compared only at its present place, never at a place that it was moved from. So a change that a
//!    comparison makes through a cell is neither lost nor made to a copy. (This rules out merging two runs from both
//!    ends at once without dividing them first: either end would look at elements that the other has taken.)
//! 3. No two threads look at an element at the same time, since `T` need not be `Sync`: parts are made before they are
//!    forked, and comparisons across a border are made after both sides have joined.
//! 4. `unsafe` are only the moves between the two places, in [`run`] and [`merge`], and a cast in [`leaf`].

mod cached_key;
mod drop_merge;
pub(super) mod leaf;
mod merge;
mod merge_sort;
mod one_run;
mod quick_sort;
mod run;

#[cfg(test)]
mod tests;

pub(super) use cached_key::sort_by_cached_key;

use furcate_pool::Executor;
use furcate_schedulers::DefaultExecutor;
use merge_sort::MergeSort;
use quick_sort::QuickSort;

/// Slices shorter than this are sorted by std alone.
const PARALLEL_LEN: usize = 4096;

/// Parts shorter than this are not divided: a stolen fork costs as much as a few thousand steps.
const MIN_GRAIN: usize = 2048;

/// Number of parts per thread, for balance.
const PARTS_PER_THREAD: usize = 8;

/// The division of a sort.
#[derive(Clone, Copy, Debug)]
struct SortPlan {
    /// Number of times that a slice is halved, if it is to be merged.
    levels: u32,
    /// Size up to which a part is not divided.
    grain: usize,
}

impl SortPlan {
    /// Makes a plan for a slice of this length; `None` if std alone is as fast.
    fn new(len: usize, threads: usize) -> Option<SortPlan> {
        if threads < 2 || len < PARALLEL_LEN {
            return None;
        }
        let leaf_for_each = (usize::BITS - (threads - 1).leading_zeros()).next_multiple_of(2);
        let leaves_worth_it = (len / (MIN_GRAIN / 2)).ilog2();
        let grain = MIN_GRAIN.max(len / threads.saturating_mul(PARTS_PER_THREAD));
        Some(SortPlan { levels: leaf_for_each.min(leaves_worth_it), grain })
    }
}

/// Sorts a slice stably by an order. `sort_leaf` sorts by the same order.
pub(super) fn sort_stable<T, L, S>(slice: &mut [T], is_less: L, sort_leaf: S)
where
    T: Send,
    L: Fn(&T, &T) -> bool + Sync,
    S: Fn(&mut [T]) + Sync,
{
    let (is_less, sort_leaf) = (&is_less, &sort_leaf);
    sort(slice, sort_leaf, |slice, plan, executor| {
        MergeSort { is_less, sort_leaf, plan, executor }.sort(slice)
    });
}

/// Sorts a slice in place by an order. `sort_leaf` sorts by the same order.
pub(super) fn sort_unstable<T, L, S>(slice: &mut [T], is_less: L, sort_leaf: S)
where
    T: Send,
    L: Fn(&T, &T) -> bool + Sync,
    S: Fn(&mut [T]) + Sync,
{
    let (is_less, sort_leaf) = (&is_less, &sort_leaf);
    sort(slice, sort_leaf, |slice, SortPlan { grain, .. }, executor| {
        QuickSort { is_less, sort_leaf, grain, executor }.sort(slice);
    });
}

/// Sorts a slice by the plan for it, under the engine's rules for calls, as every chain runs: in its slots, with its stacks. A slice without
/// comparisons does not need the engine. Elements of size zero are left to std, which has nothing to move.
fn sort<T, S>(
    slice: &mut [T],
    sort_leaf: &S,
    by_plan: impl FnOnce(&mut [T], SortPlan, DefaultExecutor) + Send,
) where
    T: Send,
    S: Fn(&mut [T]) + Sync,
{
    let executor = DefaultExecutor::default();
    if slice.len() > 1 {
        executor.enter(|| match SortPlan::new(slice.len(), executor.num_threads()) {
            Some(plan) if size_of::<T>() > 0 => by_plan(slice, plan, executor),
            _ => sort_leaf(slice),
        });
    }
}
