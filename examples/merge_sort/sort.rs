//! The sort: two levels, and a schedule for each.
//!
//! ```text
//!   sort level    (slice, buffer).wrap_iter()  .map(std's sort)  .reduce_with(merge)
//!                                                                     │
//!   merge level        MergeBy::Iterators    to.par_iter_mut().zip(left.par_iter().merge(right)).for_each(copy)
//!                      MergeBy::Slices       (left, right, to).work(merge the next n)
//! ```
//!
//! *Sort level*: the slice is divided together with a buffer of its length, as the level's policy says. The leaves are
//! sorted by std's stable sort. Two neighbors are reduced by a merge into the other one of the two places. Leaves are
//! at even depths (`even_levels`), so that the result of the last merge is in the slice.
//!
//! *Merge level*: a merge is itself a parallel computation, and has a schedule of its own.
//!
//! # Invariants
//!
//! 1. The elements of a run are *home*, in the slice, or *away*, in the buffer. A merge only reads them at their
//!    present place, and they count as moved when the merge has returned. A run that is dropped brings its elements
//!    home.
//! 2. So whatever a comparison does, be it a panic or a contradiction, the slice has its elements, each as often as
//!    before, when the sort returns or unwinds.
//! 3. The left one of two equal elements goes first, in leaves and in merges.

use super::run::Run;
use super::slice_merge::SliceMerge;
use furcate::Schedule;
use furcate::prelude::*;
use furcate::slice::SlicePart;
use std::cmp::Ordering;

/// A stable merge sort whose levels are scheduled as you like.
///
/// Elements are `Copy`: a merge reads them in one place while it writes them to another, and without `unsafe` that is a
/// copy. (`par_sort` moves them, and takes any.) They are `Sync`, because two threads search the same run for
/// their halves.
///
/// Cost: a buffer as long as the slice; O(n log n) comparisons; about log2 n of them for each division of a merge.
#[derive(Clone, Debug)]
pub(crate) struct MergeSort<S, M> {
    /// How the slice is divided into leaves, and how these are run and reduced. A division costs one more merge of everything that
    /// is divided, so a few parts for each thread are enough.
    pub(crate) sort_level: S,
    /// How a merge is divided and run.
    pub(crate) merge_level: M,
    pub(crate) merge_by: MergeBy,
}

/// The implementation of the merges.
#[derive(Clone, Copy, Debug)]
pub(crate) enum MergeBy {
    /// By the iterator adaptor `merge_by`, zipped with the destination: three lines.
    Iterators,
    /// In steps over three slices, under `work`: a hand-written loop, and faster.
    Slices,
}

impl<S: Schedule + Sync, M: Schedule + Sync> MergeSort<S, M> {
    /// Sorts stably. If a comparison panics or contradicts itself, the slice has its elements, in any order.
    pub(crate) fn sort_by<T, F>(&self, slice: &mut [T], compare: F)
    where
        T: Copy + Send + Sync,
        F: Fn(&T, &T) -> Ordering + Sync,
    {
        const { assert!(!S::Policy::STOPS && !M::Policy::STOPS, "a sort that is stopped has no result") };
        let mut buffer: Vec<T> = slice.par_iter().copied().collect();
        (SlicePart::new(slice), SlicePart::new(&mut buffer))
            .wrap_iter()
            .even_levels()
            .with(&self.sort_level)
            .map(|(mut home, buffer)| {
                home.sort_by(&compare);
                Run::new(home, buffer)
            })
            .reduce_with(|left, right| {
                left.merge_with(right, |left, right, to| self.merge(left, right, to, &compare))
            })
            .into_iter()
            .for_each(Run::come_home);
    }

    /// Merges two sides, under the schedule of the merge level.
    fn merge<T, F>(&self, left: &[T], right: &[T], to: &mut [T], compare: &F)
    where
        T: Copy + Send + Sync,
        F: Fn(&T, &T) -> Ordering + Sync,
    {
        match self.merge_by {
            MergeBy::Iterators => {
                let merge = left.par_iter().merge_by(right, |a, b| compare(a, b));
                to.par_iter_mut().zip(merge).with(&self.merge_level).for_each(|(slot, x)| *slot = *x);
            }
            MergeBy::Slices => SliceMerge::new(left, right, to, compare)
                .work(|_| (), |(), merge, count| merge.step(count), |()| ())
                .with(&self.merge_level)
                .for_each(drop),
        }
    }
}
