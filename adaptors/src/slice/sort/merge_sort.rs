//! The stable sort: leaves sorted by std, then merged pairwise, each merge in parallel.

use super::run::Run;
use super::{PARALLEL_LEN, SortPlan, one_run};
use crate::slice::co_rank;
use furcate_pool::Executor;

/// The rest of a slice behind its first run is short if it is this part of the slice at most.
const SHORT_REST: usize = 16;

/// State that all tasks of a sort share.
pub(super) struct MergeSort<L, S, E> {
    pub(super) is_less: L,
    pub(super) sort_leaf: S,
    pub(super) plan: SortPlan,
    pub(super) executor: E,
}

impl<L, S, E: Executor> MergeSort<L, S, E> {
    /// Sorts; stably, if `sort_leaf` does.
    pub(super) fn sort<T>(&self, slice: &mut [T])
    where
        T: Send,
        L: Fn(&T, &T) -> bool + Sync,
        S: Fn(&mut [T]) + Sync,
    {
        let Err(descent) = one_run::settle(slice, &self.is_less, self.plan.grain, &self.executor) else {
            return;
        };
        if one_run::settle_few(slice, descent, &self.is_less, self.plan.grain, &self.executor) {
            return;
        }
        if slice.len() - descent > slice.len() / SHORT_REST {
            return self.sort_apart(slice);
        }
        // The elements before `descent` are still sorted.
        let rest = &mut slice[descent..];
        if rest.len() < PARALLEL_LEN {
            (self.sort_leaf)(rest);
        } else {
            self.sort_apart(rest);
        }
        self.merge_in_place(slice, descent, self.plan.levels.div_ceil(2));
    }

    /// Sorts a slice with a buffer of its length.
    fn sort_apart<T>(&self, slice: &mut [T])
    where
        T: Send,
        L: Fn(&T, &T) -> bool + Sync,
        S: Fn(&mut [T]) + Sync,
    {
        let len = slice.len();
        let mut buffer = Vec::with_capacity(len);
        let mut run = Run::at_home(slice, &mut buffer.spare_capacity_mut()[..len]);
        self.sort_run(&mut run, self.plan.levels);
        run.come_home(self.plan.grain, &self.executor);
    }

    /// Merges two sorted parts of a slice, of which one is short. A rotation makes two merges of equal lengths of it, and so on; std's sort merges two runs
    /// with a buffer for the shorter one.
    fn merge_in_place<T>(&self, slice: &mut [T], mid: usize, levels: u32)
    where
        T: Send,
        L: Fn(&T, &T) -> bool + Sync,
        S: Fn(&mut [T]) + Sync,
    {
        if mid == 0 || mid == slice.len() {
            return;
        }
        if levels == 0 {
            return (self.sort_leaf)(slice);
        }
        let half = slice.len() / 2;
        let (left, right) = slice.split_at(mid);
        let from_left = co_rank(half, left, right, &self.is_less);
        let from_right = half - from_left;
        slice[from_left..mid + from_right].rotate_left(mid - from_left);
        let (front, back) = slice.split_at_mut(half);
        self.executor.join_context(
            |_| self.merge_in_place(front, from_left, levels - 1),
            |_| self.merge_in_place(back, mid - from_left, levels - 1),
        );
    }

    /// Sorts a run that is home. Afterwards it may be away.
    fn sort_run<T>(&self, run: &mut Run<'_, T>, levels: u32)
    where
        T: Send,
        L: Fn(&T, &T) -> bool + Sync,
        S: Fn(&mut [T]) + Sync,
    {
        if levels == 0 || run.len() < 2 {
            return self.sort_by_runs(run);
        }
        let sort_both = |left: &mut Run<'_, T>, right: &mut Run<'_, T>| {
            self.executor
                .join_context(|_| self.sort_run(left, levels - 1), |_| self.sort_run(right, levels - 1));
        };
        run.sort_in_two(run.len() / 2, sort_both, &self.is_less, self.plan.grain, &self.executor);
    }

    /// Sorts a leaf that is home: by merges of its runs if these are long, as in natural merge sort (Knuth 1973), else by std.
    fn sort_by_runs<T>(&self, leaf: &mut Run<'_, T>)
    where
        T: Send,
        L: Fn(&T, &T) -> bool + Sync,
        S: Fn(&mut [T]) + Sync,
    {
        let elements = leaf.elements();
        let mut ends = one_run::long_runs(elements, &self.is_less);
        let sorted = ends.last().copied().unwrap_or(0);
        // Two merges of everything, so that it is home again, cost more than std's sort if the runs are less than half.
        let sorted = if sorted < elements.len() / 2 { 0 } else { sorted };
        if sorted < elements.len() {
            (self.sort_leaf)(&mut elements[sorted..]);
            ends.push(elements.len());
        }
        if sorted > 0 {
            self.merge_runs(leaf, &ends, 0);
        }
    }

    /// Merges the runs of a part that is home. `ends` are the ends of the runs, and `start` is the start of the part.
    fn merge_runs<T>(&self, part: &mut Run<'_, T>, ends: &[usize], start: usize)
    where
        T: Send,
        L: Fn(&T, &T) -> bool + Sync,
        S: Fn(&mut [T]) + Sync,
    {
        if ends.len() < 2 {
            return;
        }
        // The end of a run that is next to the middle, so that no element takes part in many more merges than others.
        let middle = start + part.len() / 2;
        let behind = ends[..ends.len() - 1].partition_point(|&end| end < middle).clamp(1, ends.len() - 1);
        let before_is_closer =
            behind == ends.len() - 1 || middle - ends[behind - 1].min(middle) <= ends[behind] - middle;
        let runs = if before_is_closer { behind } else { behind + 1 };
        let (left_ends, right_ends) = ends.split_at(runs);
        let mid = left_ends[runs - 1];
        let sort_both = |left: &mut Run<'_, T>, right: &mut Run<'_, T>| {
            self.merge_runs(left, left_ends, start);
            self.merge_runs(right, right_ends, mid);
        };
        part.sort_in_two(mid - start, sort_both, &self.is_less, self.plan.grain, &self.executor);
    }
}
