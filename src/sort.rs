//! A merge sort made of public parts of the library: two levels, and a schedule for each.
//!
//! ```
//! use furcate::prelude::*;
//! use furcate::sort::MergeSort;
//! let mut v: Vec<u64> = (0..10_000).map(|x| x * 7919 % 10_007).collect();
//! MergeSort::new()
//!     .sort_level(|it| it.join_context_policy(4).depjoin())
//!     .merge_level(|it| it.adaptive())
//!     .sort(&mut v);
//! assert!(v.is_sorted());
//! ```
//!
//! Slices have sorts of their own, [`par_sort`](crate::slice::ParallelSliceMut::par_sort) and similar methods, which
//! take any elements and need no choices. [`MergeSort`] is Kvik's (Section 3.4 of its paper), written with the
//! library's public API and without a line of `unsafe`. Read it, measure it, and change it for data that are not in a
//! slice. The paper also uses it to compare schedules.
//!
//! # The two levels
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
//! at [even depths](crate::iter::ParallelIterator::even_levels), so that the result of the last merge is in the slice.
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

mod run;
mod slice_merge;

use crate::iter::{Empty, ParallelIterator, PolicyOf, With, WithScheduler, empty};
use crate::prelude::*;
use crate::slice::SlicePart;
use crate::{Adaptive, PlanOf, Policy};
use run::Run;
use slice_merge::SliceMerge;
use std::cmp::Ordering;

/// A stable merge sort whose levels are scheduled as you like: see the [module](self).
///
/// A level's schedule is written as usual, by chaining. The chain starts at an empty iterator, and only its policies,
/// its scheduler and its executor count:
///
/// ```
/// use furcate::prelude::*;
/// use furcate::sort::{MergeBy, MergeSort};
/// let sort = MergeSort::new()
///     .sort_level(|it| it.thief_splitting(3).cap(6))
///     .merge_level(|it| it.size_limit(1000).depjoin())
///     .merge_by(MergeBy::Iterators);
/// let (mut v, mut w) = ([3, 1, 2], ['z', 'a']);
/// sort.sort(&mut v);
/// sort.sort_by(&mut w, |a, b| b.cmp(a));
/// assert_eq!((v, w), ([1, 2, 3], ['z', 'a']));
/// ```
///
/// By default the sorts have the default policy and scheduler, and the merges have [slices](MergeBy::Slices) and
/// [`adaptive`](ParallelIterator::adaptive).
///
/// # Elements
///
/// Elements are `Copy`: a merge reads them in one place while it writes them to another, and without `unsafe` that is a
/// copy. (`par_sort` moves them, and takes any.) They are `Sync`, because two threads search the same run for
/// their halves.
///
/// # Panics
///
/// If a comparison panics. In this case, and after a comparison that contradicts itself, the slice has its elements, in
/// any order.
///
/// Cost: a buffer as long as the slice; O(n log n) comparisons; about log2 n of them for each division of a merge.
#[derive(Clone, Debug)]
#[must_use = "it sorts when `sort` is called"]
pub struct MergeSort<S = Empty<()>, M = WithScheduler<Empty<()>, Adaptive>> {
    sort_level: S,
    merge_level: M,
    merge_by: MergeBy,
}

/// The implementation of [`MergeSort`]'s merges.
///
/// ```
/// use furcate::sort::{MergeBy, MergeSort};
/// let mut v = [2, 1];
/// MergeSort::new().merge_by(MergeBy::Iterators).sort(&mut v);
/// assert_eq!(v, [1, 2]);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum MergeBy {
    /// Merges by the iterator adaptor [`merge_by`](crate::iter::IndexedParallelIterator::merge_by), zipped with the
    /// destination: three lines.
    Iterators,
    /// Merges in steps over three slices, under [`work`](crate::iter::WrapIter::work): a hand-written loop, and faster.
    #[default]
    Slices,
}

impl MergeSort {
    /// Makes a sort with the default schedules.
    pub fn new() -> Self {
        MergeSort { sort_level: empty(), merge_level: empty().adaptive(), merge_by: MergeBy::default() }
    }
}

impl Default for MergeSort {
    fn default() -> Self {
        MergeSort::new()
    }
}

impl<S, M> MergeSort<S, M> {
    /// Chooses how the slice is divided into leaves, and how these are run and reduced.
    ///
    /// Policies are counted in elements. A division costs one more merge of everything that is divided, so a few parts
    /// for each thread are enough.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// use furcate::sort::MergeSort;
    /// let mut v = [4, 2, 3, 1];
    /// MergeSort::new().sort_level(|it| it.bound_depth(2).depjoin()).sort(&mut v);
    /// assert_eq!(v, [1, 2, 3, 4]);
    /// ```
    ///
    /// A policy that [ends computations](Policy::STOPS) does not compile, because it would leave elements unsorted.
    pub fn sort_level<C: ParallelIterator>(self, chain: impl FnOnce(Empty<()>) -> C) -> MergeSort<C, M> {
        const { assert!(!PolicyOf::<C>::STOPS, "a sort that is stopped is none: use no `StopOn`, no `Deadline`") };
        MergeSort { sort_level: chain(empty()), merge_level: self.merge_level, merge_by: self.merge_by }
    }

    /// Chooses how the merges are divided and run.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// use furcate::sort::MergeSort;
    /// let mut v = [4, 2, 3, 1];
    /// MergeSort::new().merge_level(|it| it.thief_splitting(4)).sort(&mut v);
    /// assert_eq!(v, [1, 2, 3, 4]);
    /// ```
    ///
    /// A policy that [ends computations](Policy::STOPS) does not compile, as in [`sort_level`](Self::sort_level).
    pub fn merge_level<C: ParallelIterator>(self, chain: impl FnOnce(Empty<()>) -> C) -> MergeSort<S, C> {
        const { assert!(!PolicyOf::<C>::STOPS, "a merge that is stopped is none: use no `StopOn`, no `Deadline`") };
        MergeSort { sort_level: self.sort_level, merge_level: chain(empty()), merge_by: self.merge_by }
    }

    /// Chooses the implementation of a part of a merge.
    pub fn merge_by(self, merge_by: MergeBy) -> Self {
        MergeSort { merge_by, ..self }
    }
}

impl<S, M> MergeSort<S, M>
where
    S: ParallelIterator + Sync,
    M: ParallelIterator + Sync,
{
    /// Sorts stably.
    ///
    /// ```
    /// let mut v = [4, 2, 3, 1];
    /// furcate::sort::MergeSort::new().sort(&mut v);
    /// assert_eq!(v, [1, 2, 3, 4]);
    /// ```
    pub fn sort<T>(&self, slice: &mut [T])
    where
        T: Ord + Copy + Send + Sync,
    {
        self.sort_by(slice, T::cmp);
    }

    /// Sorts stably by a key, which is computed for every comparison.
    ///
    /// ```
    /// let mut v = ["fig", "apple", "plum", "nut"];
    /// furcate::sort::MergeSort::new().sort_by_key(&mut v, |word| word.len());
    /// assert_eq!(v, ["fig", "nut", "plum", "apple"]);
    /// ```
    pub fn sort_by_key<T, K, F>(&self, slice: &mut [T], key: F)
    where
        T: Copy + Send + Sync,
        K: Ord,
        F: Fn(&T) -> K + Sync,
    {
        self.sort_by(slice, |a, b| key(a).cmp(&key(b)));
    }

    /// Sorts stably by a comparison.
    ///
    /// ```
    /// let mut v = [0.5, -1.0, 0.25];
    /// furcate::sort::MergeSort::new().sort_by(&mut v, f64::total_cmp);
    /// assert_eq!(v, [-1.0, 0.25, 0.5]);
    /// ```
    pub fn sort_by<T, F>(&self, slice: &mut [T], compare: F)
    where
        T: Copy + Send + Sync,
        F: Fn(&T, &T) -> Ordering + Sync,
    {
        let mut buffer: Vec<T> = slice.par_iter().copied().collect();
        let leaves = (SlicePart::new(slice), SlicePart::new(&mut buffer)).wrap_iter().even_levels();
        scheduled_as(&self.sort_level, leaves)
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
                scheduled_as(&self.merge_level, to.par_iter_mut().zip(merge))
                    .for_each(|(slot, x)| *slot = *x);
            }
            MergeBy::Slices => {
                let merge = SliceMerge::new(left, right, to, compare);
                let tasks = merge.work(|_| (), |(), merge, count| merge.step(count), |()| ());
                scheduled_as(&self.merge_level, tasks).for_each(drop);
            }
        }
    }
}

/// Runs a computation under the schedule of a chain.
fn scheduled_as<C: ParallelIterator, I: ParallelIterator>(chain: &C, it: I) -> With<I, PlanOf<C::Schedule>> {
    it.with(chain.schedule())
}
