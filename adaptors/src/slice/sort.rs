//! Sorting: leaves by std's sorts, then parallel merges between the slice and one buffer of its length.
//!
//! # Protocol
//!
//! A slice that is one run already, ascending or strictly descending, is left alone or reversed. Else it is halved
//! [`Plan::levels`] times. The leaves are sorted by std, in parallel and in place. On the way up two sorted halves
//! become one [`Run`](run::Run): if they are in order as they lie, nothing moves, else they are merged into the other
//! of two places, the slice (*home*) and the buffer (*away*). With an even number of levels, what is merged at all of
//! them is home at the end without a copy. A merge is divided by [co-ranking](split) into merges of equal lengths that
//! share no element, so the last ones, of the longest runs, are as parallel as the first.
//!
//! # Invariants
//!
//! 1. Whatever a comparison does (panic, contradict itself, change an element through a cell), every element is
//!    in the slice exactly once when the sort returns or unwinds: a [`Run`](run::Run) brings its elements home when
//!    it is dropped, a [`Merge`](merge::Merge) moves what it has not merged.
//! 2. An element is compared where it lives and never after it was moved from there, so a change made to it by a
//!    comparison is not lost. (This forbids merging one pair of runs from both ends at once, where either end
//!    looks at elements which the other has taken.)
//! 3. No two threads see an element at the same time, since `T` need not be `Sync`: a merge is divided before its parts
//!    are forked, and each comparison across a border is made when both sides have joined.
//! 4. Only raw moves between the places are `unsafe`, in [`run`] and [`merge`].

mod cached_key;
#[allow(unsafe_code)]
mod merge;
mod one_run;
#[allow(unsafe_code)]
mod run;
mod split;

pub(super) use cached_key::sort_by_cached_key;

use furcate_pool::{DefaultExecutor, Executor};
use run::Run;

/// Slices shorter than this are sorted by std alone.
const PARALLEL_LEN: usize = 4096;

/// Merges of no more elements than this are not divided.
const MERGE_LEN: usize = 1 << 14;

/// Merges per thread and level, for balance.
const MERGES_PER_THREAD: usize = 4;

/// How a sort is divided.
#[derive(Clone, Copy, Debug)]
struct Plan {
    /// How many times the slice is halved.
    levels: u32,
    /// Merges of no more elements are not divided, nor are other passes over so many.
    grain: usize,
}

impl Plan {
    /// For a slice of this length; `None` if std alone is as fast.
    fn new(len: usize, threads: usize) -> Option<Plan> {
        if threads < 2 || len < PARALLEL_LEN {
            return None;
        }
        let levels = threads.next_power_of_two().ilog2().next_multiple_of(2);
        // Not more than there are leaves of half the length that would be worth a fork.
        let worth = (len / (PARALLEL_LEN / 4)).ilog2();
        Some(Plan { levels: levels.min(worth), grain: MERGE_LEN.max(len / (threads * MERGES_PER_THREAD)) })
    }
}

/// Sorts a slice by an order, which `sort_leaf` sorts by too: stably, if `sort_leaf` does.
pub(super) fn sort<T, L, S>(slice: &mut [T], is_less: L, sort_leaf: S)
where
    T: Send,
    L: Fn(&T, &T) -> bool + Sync,
    S: Fn(&mut [T]) + Sync,
{
    let executor = DefaultExecutor::default();
    // Elements without a size need no moves, and a buffer of them would be none.
    match Plan::new(slice.len(), executor.num_threads()).filter(|_| size_of::<T>() != 0) {
        None => sort_leaf(slice),
        Some(plan) => Sort { is_less, sort_leaf, plan, executor }.sort(slice),
    }
}

/// What all tasks of a sort share.
struct Sort<L, S, E> {
    is_less: L,
    sort_leaf: S,
    plan: Plan,
    executor: E,
}

impl<L, S, E: Executor> Sort<L, S, E> {
    fn sort<T>(&self, slice: &mut [T])
    where
        T: Send,
        L: Fn(&T, &T) -> bool + Sync,
        S: Fn(&mut [T]) + Sync,
    {
        if one_run::settle(slice, &self.is_less, self.plan.grain, &self.executor) {
            return;
        }
        let len = slice.len();
        let mut buffer = Vec::with_capacity(len);
        let mut run = Run::at_home(slice, &mut buffer.spare_capacity_mut()[..len]);
        self.sort_run(&mut run, self.plan.levels);
        run.come_home(self.plan.grain, &self.executor);
    }

    /// Sorts a run that is at home. Afterwards it may be away.
    fn sort_run<T>(&self, run: &mut Run<'_, T>, levels: u32)
    where
        T: Send,
        L: Fn(&T, &T) -> bool + Sync,
        S: Fn(&mut [T]) + Sync,
    {
        if levels == 0 {
            return (self.sort_leaf)(run.elements());
        }
        let mid = run.len() / 2;
        run.with_halves(mid, |left, right| {
            self.executor
                .join_context(|_| self.sort_run(left, levels - 1), |_| self.sort_run(right, levels - 1));
        });
        run.merge_halves(mid, &self.is_less, self.plan.grain, &self.executor);
    }
}
