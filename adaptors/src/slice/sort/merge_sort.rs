//! The stable sort: leaves sorted by std, then merged pairwise, each merge in parallel.

use super::run::Run;
use super::{SortPlan, one_run};
use furcate_pool::Executor;

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
        if one_run::settle(slice, &self.is_less, self.plan.grain, &self.executor).is_ok() {
            return;
        }
        let len = slice.len();
        let mut buffer = Vec::with_capacity(len);
        let mut run = Run::at_home(slice, &mut buffer.spare_capacity_mut()[..len]);
        self.sort_run(&mut run, self.plan.levels);
        run.come_home(self.plan.grain, &self.executor);
    }

    /// Sorts a run that is home. Afterwards it may be away.
    fn sort_run<T>(&self, run: &mut Run<'_, T>, levels: u32)
    where
        T: Send,
        L: Fn(&T, &T) -> bool + Sync,
        S: Fn(&mut [T]) + Sync,
    {
        if levels == 0 || run.len() < 2 {
            return (self.sort_leaf)(run.elements());
        }
        let sort_both = |left: &mut Run<'_, T>, right: &mut Run<'_, T>| {
            self.executor
                .join_context(|_| self.sort_run(left, levels - 1), |_| self.sort_run(right, levels - 1));
        };
        run.sort_by_halves(sort_both, &self.is_less, self.plan.grain, &self.executor);
    }
}
