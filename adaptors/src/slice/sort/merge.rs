//! The stable merge of two sorted runs into memory elsewhere.
//!
//! # Invariants
//!
//! 1. A [`RunMerge`] owns the elements of both runs, and the destination, which has room for exactly as many. No other
//!    code reads or writes there while the merge lives. (Nothing is ever dropped here: elements only move.)
//! 2. When the merge is dropped, the destination holds all elements of both runs: in order if the merge ran to its end,
//!    else in any order. The runs' memory then counts as uninitialized.
//! 3. An element that has been moved is never looked at in its old place.
//! 4. Merges are dropped, not forgotten, in the frame that made them, after everything that was forked has returned.
#![allow(unsafe_code)]

use crate::co_rank::co_rank;
use furcate_pool::Executor;
use std::marker::PhantomData;
use std::mem::replace;
use std::ptr::copy_nonoverlapping;

/// Merges of no more elements than this are not divided to keep the processor busy.
const INTERLEAVED_LEN: usize = 128;

/// Stretches of one run shorter than this are merged step by step: a search for the end of a stretch, and a copy, would cost more.
const LONG_STRETCH: usize = 64;

/// Number of elements that are merged step by step before stretches are looked for again.
const BETWEEN_STRETCHES: usize = 8192;

/// Elements that are still to be merged: two runs, and their destination.
pub(super) struct RunMerge<'a, T> {
    left: *mut T,
    left_len: usize,
    right: *mut T,
    right_len: usize,
    dest: *mut T,
    /// Type and lifetime of the pointers' targets.
    places: PhantomData<&'a mut [T]>,
}

// SAFETY: a merge owns its elements (invariant 1), as a vector does: they may be used on another thread if they are
// `Send`.
unsafe impl<T: Send> Send for RunMerge<'_, T> {}

impl<'a, T> RunMerge<'a, T> {
    /// Makes the merge of `source[..mid]` and `source[mid..len]`.
    ///
    /// # Safety
    ///
    /// For `'a`, `source` points to `len` elements that the caller gives up, and `dest` to writable memory for `len`
    /// elements that no other code uses. The two do not overlap, and `mid` is at most `len`.
    pub(super) unsafe fn new(source: *mut T, mid: usize, len: usize, dest: *mut T) -> Self {
        // SAFETY: the caller's promise: `mid` is in bounds.
        let right = unsafe { source.add(mid) };
        RunMerge { left: source, left_len: mid, right, right_len: len - mid, dest, places: PhantomData }
    }

    /// Number of elements that are still to be merged.
    fn len(&self) -> usize {
        self.left_len + self.right_len
    }

    /// Merges in parallel. If a comparison panics, [dropping](Drop) the merge moves the rest.
    pub(super) fn run<L, E>(&mut self, is_less: &L, grain: usize, executor: &E)
    where
        T: Send,
        L: Fn(&T, &T) -> bool + Sync,
        E: Executor,
    {
        if self.len() <= grain.max(1) {
            return self.take().run_here(is_less);
        }
        let mut second = self.split_off(self.len() / 2, is_less);
        executor
            .join_context(|_| self.run(is_less, grain, executor), |_| second.run(is_less, grain, executor));
    }

    /// Cuts off the elements behind the first `rank` elements of the result.
    fn split_off(&mut self, rank: usize, is_less: &impl Fn(&T, &T) -> bool) -> Self {
        let (left, right) = self.runs();
        let in_left = co_rank(rank, left, right, is_less);
        let in_right = rank - in_left;
        assert!(in_left <= self.left_len && in_right <= self.right_len);
        // SAFETY: the numbers are in bounds, as just asserted, and the destination is as long as both runs.
        let rest = unsafe {
            RunMerge {
                left: self.left.add(in_left),
                left_len: self.left_len - in_left,
                right: self.right.add(in_right),
                right_len: self.right_len - in_right,
                dest: self.dest.add(rank),
                places: PhantomData,
            }
        };
        (self.left_len, self.right_len) = (in_left, in_right);
        rest
    }

    /// Takes the whole merge, into a local variable that the compiler can keep in registers.
    fn take(&mut self) -> Self {
        let RunMerge { left, right, dest, .. } = *self;
        replace(self, RunMerge { left, left_len: 0, right, right_len: 0, dest, places: PhantomData })
    }

    /// Merges on this thread: while whole stretches of one run come before the next element of the other, by copies of stretches
    /// (galloping, as in timsort: Peters 2002); else step by step.
    fn run_here(mut self, is_less: &impl Fn(&T, &T) -> bool) {
        loop {
            self.copy_stretches(is_less);
            if self.len() <= BETWEEN_STRETCHES {
                return self.run_interleaved(is_less);
            }
            let rest = self.split_off(BETWEEN_STRETCHES, is_less);
            replace(&mut self, rest).run_interleaved(is_less);
        }
    }

    /// Copies stretches of either run, until both runs' stretches are short or a run is used up.
    fn copy_stretches(&mut self, is_less: &impl Fn(&T, &T) -> bool) {
        let mut longest = LONG_STRETCH;
        while longest >= LONG_STRETCH && self.sure_steps() > 0 {
            let (left, right) = self.runs();
            let from_left = stretch(left, |x| !is_less(&right[0], x));
            let right_len = match left.get(from_left) {
                Some(next) => stretch(right, |x| is_less(x, next)),
                None => 0,
            };
            longest = from_left.max(right_len);
            // SAFETY: the numbers are at most the runs' lengths, because they were counted in the runs' slices.
            unsafe {
                self.copy_left(from_left);
                self.copy_right(right_len);
            }
        }
    }

    /// Returns the elements that are still to be merged.
    fn runs(&self) -> (&[T], &[T]) {
        // SAFETY: both runs are the merge's own (invariant 1), of these lengths.
        unsafe {
            (
                std::slice::from_raw_parts(self.left, self.left_len),
                std::slice::from_raw_parts(self.right, self.right_len),
            )
        }
    }

    /// Moves elements of the left run to the destination.
    ///
    /// # Safety
    ///
    /// The run has so many.
    unsafe fn copy_left(&mut self, count: usize) {
        // SAFETY: the elements are the merge's own, and there is room for them (invariant 1). They count as moved from here on.
        unsafe {
            copy_nonoverlapping(self.left, self.dest, count);
            self.dest = self.dest.add(count);
            self.left = self.left.add(count);
        }
        self.left_len -= count;
    }

    /// Moves elements of the right run to the destination.
    ///
    /// # Safety
    ///
    /// The run has so many.
    unsafe fn copy_right(&mut self, count: usize) {
        // SAFETY: as above.
        unsafe {
            copy_nonoverlapping(self.right, self.dest, count);
            self.dest = self.dest.add(count);
            self.right = self.right.add(count);
        }
        self.right_len -= count;
    }

    /// Merges step by step.
    ///
    /// The outcome of one step decides which elements the next one compares. To keep the processor busy meanwhile, a
    /// long merge is divided in four that take their steps in turn.
    fn run_interleaved(mut self, is_less: &impl Fn(&T, &T) -> bool) {
        if self.len() > INTERLEAVED_LEN {
            let mut third = self.split_off(self.len() / 2, is_less);
            let mut second = self.split_off(self.len() / 2, is_less);
            let mut fourth = third.split_off(third.len() / 2, is_less);
            loop {
                let all = [&self, &second, &third, &fourth];
                let Some(steps @ 1..) = all.into_iter().map(RunMerge::sure_steps).min() else { break };
                for _ in 0..steps {
                    // SAFETY: there are at least `steps` elements in each run of all four.
                    unsafe {
                        self.step(is_less);
                        second.step(is_less);
                        third.step(is_less);
                        fourth.step(is_less);
                    }
                }
            }
            second.run_alone(is_less);
            third.run_alone(is_less);
            fourth.run_alone(is_less);
        }
        self.run_alone(is_less);
    }

    /// Merges step by step. When one run is used up, dropping the merge moves the rest of the other.
    fn run_alone(&mut self, is_less: &impl Fn(&T, &T) -> bool) {
        loop {
            let steps = self.sure_steps();
            if steps == 0 {
                break;
            }
            for _ in 0..steps {
                // SAFETY: there are at least `steps` elements in each run.
                unsafe { self.step(is_less) };
            }
        }
    }

    /// Number of steps that can be made before either run is empty.
    #[inline(always)]
    fn sure_steps(&self) -> usize {
        self.left_len.min(self.right_len)
    }

    /// Moves the next element to its destination, without a branch on the outcome of the comparison.
    ///
    /// # Safety
    ///
    /// Neither run is empty.
    #[inline(always)]
    unsafe fn step(&mut self, is_less: &impl Fn(&T, &T) -> bool) {
        // SAFETY: the merge owns both (invariant 1), and neither has been moved (invariant 3).
        let from_right = unsafe { is_less(&*self.right, &*self.left) };
        let next = if from_right { self.right } else { self.left };
        // SAFETY: `next` is the merge's own, and there is room for it (invariant 1). The element counts as moved from
        // here on: nothing between the copy and the new lengths can panic.
        unsafe {
            copy_nonoverlapping(next, self.dest, 1);
            self.dest = self.dest.add(1);
            self.right = self.right.add(usize::from(from_right));
            self.left = self.left.add(usize::from(!from_right));
        }
        self.right_len -= usize::from(from_right);
        self.left_len -= usize::from(!from_right);
    }
}

/// Returns how many elements at the front of a run belong to it: all those up to the first that does not. The search takes longer and
/// longer steps, so that short stretches are found soon (Bentley and Yao 1976).
fn stretch<T>(run: &[T], belongs: impl Fn(&T) -> bool) -> usize {
    let (mut known, mut step) = (0, 1);
    while let Some(last) = run.get(known + step - 1) {
        if !belongs(last) {
            break;
        }
        known += step;
        step *= 2;
    }
    let end = (known + step - 1).min(run.len());
    known + run[known..end].partition_point(belongs)
}

impl<T> Drop for RunMerge<'_, T> {
    /// Moves the elements that have not been merged.
    fn drop(&mut self) {
        // SAFETY: the elements and the room for them are the merge's own (invariant 1).
        unsafe {
            copy_nonoverlapping(self.left, self.dest, self.left_len);
            copy_nonoverlapping(self.right, self.dest.add(self.left_len), self.right_len);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::random;
    use super::RunMerge;
    use furcate_pool::Inline;
    use furcate_schedulers::DefaultExecutor;
    use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
    use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

    /// Merges two runs of elements that own memory, and returns the destination.
    fn merge<T: Send>(
        mut source: Vec<T>,
        mid: usize,
        run: impl FnOnce(&mut RunMerge<'_, T>),
    ) -> (Vec<T>, bool) {
        let len = source.len();
        let mut dest: Vec<T> = Vec::with_capacity(len);
        // SAFETY: the source's elements are given up, and the destination has room for them all.
        let mut merge = unsafe {
            source.set_len(0);
            RunMerge::new(source.as_mut_ptr(), mid, len, dest.as_mut_ptr())
        };
        let outcome = catch_unwind(AssertUnwindSafe(|| run(&mut merge)));
        drop(merge);
        // SAFETY: the dropped merge has moved all elements there.
        unsafe { dest.set_len(len) };
        (dest, outcome.is_ok())
    }

    /// A key and a tag, on the heap, so that a double drop or a leak is noticed.
    type Element = Box<(u64, usize)>;

    /// Two runs, ascending by keys.
    fn runs(left: usize, right: usize, distinct: u64, seed: u64) -> Vec<Element> {
        let mut next = random(seed);
        let mut v: Vec<_> = (0..left + right).map(|tag| Box::new((next() % distinct, tag))).collect();
        v[..left].sort();
        v[left..].sort();
        v
    }

    /// The merge by its definition.
    fn naive(v: &[Element], mid: usize) -> Vec<Element> {
        let (mut left, mut right) = (v[..mid].iter().peekable(), v[mid..].iter().peekable());
        let mut merged = Vec::new();
        while let (Some(l), Some(r)) = (left.peek(), right.peek()) {
            merged.extend(if r.0 < l.0 { right.next() } else { left.next() });
        }
        merged.extend(left);
        merged.extend(right);
        merged.into_iter().cloned().collect()
    }

    #[test]
    fn merges_as_the_naive_merge_does() {
        let lens =
            [(0, 0), (0, 9), (9, 0), (1, 1), (2, 7), (64, 64), (65, 64), (1, 300), (300, 1), (500, 411)];
        for (seed, (left, right)) in (0..).zip(lens.into_iter().cycle().take(200)) {
            let v = runs(left, right, [2, 10, u64::MAX][seed as usize % 3], seed);
            let expected = naive(&v, left);
            for grain in [1, 10, 200, usize::MAX] {
                let is_less = |a: &Element, b: &Element| a.0 < b.0;
                let (merged, _) = merge(v.clone(), left, |merge| merge.run(&is_less, grain, &Inline));
                assert_eq!(merged, expected, "{left} {right} {grain}");
                let executor = DefaultExecutor::default();
                let (merged, _) = merge(v.clone(), left, |merge| merge.run(&is_less, grain, &executor));
                assert_eq!(merged, expected, "{left} {right} {grain}, in parallel");
            }
        }
    }

    #[test]
    fn a_panic_moves_everything() {
        for (left, right, grain) in [(4, 3, 1), (20, 30, 10), (90, 71, 1000), (90, 71, 30)] {
            for fuse in 0.. {
                let v = runs(left, right, 50, fuse as u64);
                let left_comparisons = AtomicUsize::new(fuse);
                let is_less = |a: &Element, b: &Element| {
                    if left_comparisons.fetch_sub(1, SeqCst) == 0 {
                        resume_unwind(Box::new(()));
                    }
                    a.0 < b.0
                };
                let (mut merged, done) =
                    merge(v, left, |merge| merge.run(&is_less, grain, &DefaultExecutor::default()));
                merged.sort_by_key(|element| element.1);
                assert!(merged.iter().map(|element| element.1).eq(0..left + right));
                if done {
                    assert!(fuse > 0);
                    break;
                }
            }
        }
    }
}
