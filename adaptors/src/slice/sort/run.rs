//! Elements that lie in one of two places.
//!
//! # Invariants
//!
//! 1. A [`Run`]'s elements are all *home*, in the slice, or all *away*, in the buffer, as its flag says. The other
//!    place counts as uninitialized.
//! 2. When a run is dropped, its elements are home.
//! 3. While a run is split, its parts have its elements. The parts bring them home or give them back to the run before
//!    it is used again.
#![allow(unsafe_code)]

use super::merge::RunMerge;
use furcate_pool::Executor;
use std::mem::{MaybeUninit, forget};

/// A range of the slice and of the buffer, and a flag that says which of the two holds the elements.
pub(super) struct Run<'a, T> {
    home: &'a mut [T],
    buffer: &'a mut [MaybeUninit<T>],
    away: bool,
}

impl<'a, T> Run<'a, T> {
    /// Makes a run in a slice, with a buffer of its length.
    pub(super) fn at_home(home: &'a mut [T], buffer: &'a mut [MaybeUninit<T>]) -> Self {
        assert_eq!(home.len(), buffer.len());
        Run { home, buffer, away: false }
    }

    pub(super) fn len(&self) -> usize {
        self.home.len()
    }

    /// Returns the elements at their present place.
    pub(super) fn elements(&mut self) -> &mut [T] {
        if self.away {
            let elements = std::ptr::from_mut(self.buffer) as *mut [T];
            // SAFETY: all of the buffer is initialized (invariant 1), and borrowed with the run.
            unsafe { &mut *elements }
        } else {
            self.home
        }
    }

    /// Sorts the first `mid` elements and the others with `sort`, which may leave either part at either place, and makes them one sorted
    /// run.
    ///
    /// # Panics
    ///
    /// If the run is away, or shorter than `mid`.
    pub(super) fn sort_in_two<L, E>(
        &mut self,
        mid: usize,
        sort: impl FnOnce(&mut Run<'_, T>, &mut Run<'_, T>),
        is_less: &L,
        grain: usize,
        executor: &E,
    ) where
        T: Send,
        L: Fn(&T, &T) -> bool + Sync,
        E: Executor,
    {
        assert!(!self.away);
        let (left, right) = self.home.split_at_mut(mid);
        let (left_buffer, right_buffer) = self.buffer.split_at_mut(mid);
        let mut left = Run::at_home(left, left_buffer);
        let mut right = Run::at_home(right, right_buffer);
        sort(&mut left, &mut right);
        let relation = match (left.elements(), right.elements()) {
            ([.., last], [first, ..]) if !is_less(first, last) => RunRelation::InOrder,
            ([first, ..], [.., last]) if is_less(last, first) => RunRelation::Swapped,
            _ => RunRelation::Mixed,
        };
        if left.away != right.away {
            // One half has to move. If they are in order, they will not move again; else, if both are away, the merge
            // leads home.
            let straggler =
                if left.away == (relation == RunRelation::InOrder) { &mut left } else { &mut right };
            straggler.move_over(grain, executor);
        }
        self.away = left.away;
        // The parts give their elements back (invariant 3).
        forget((left, right));
        match relation {
            RunRelation::InOrder => {}
            RunRelation::Swapped => swap_parts(self.elements(), mid, grain, executor),
            RunRelation::Mixed => self.change_place(mid).run(is_less, grain, executor),
        }
    }

    /// Moves the elements to the other place, in parallel.
    fn move_over<E: Executor>(&mut self, grain: usize, executor: &E)
    where
        T: Send,
    {
        let len = self.len();
        self.change_place(len).run(&|_, _| false, grain, executor);
    }

    /// Makes sure that the elements are home, in parallel if they have to be moved.
    pub(super) fn come_home<E: Executor>(&mut self, grain: usize, executor: &E)
    where
        T: Send,
    {
        if self.away {
            self.move_over(grain, executor);
        }
    }

    /// Makes a merge of `..mid` and `mid..` into the other place. The elements are there when the merge has been
    /// dropped.
    fn change_place(&mut self, mid: usize) -> RunMerge<'_, T> {
        let len = self.len();
        assert!(mid <= len);
        let home = self.home.as_mut_ptr();
        let buffer = self.buffer.as_mut_ptr().cast::<T>();
        let (source, dest) = if self.away { (buffer, home) } else { (home, buffer) };
        self.away = !self.away;
        // SAFETY: both places are borrowed for as long as the merge lives, and they are disjoint. The source is
        // initialized (invariant 1), and no longer counts as such. The destination counts as initialized from now on.
        // It is initialized before the run can be used again, because the merge has been dropped then.
        unsafe { RunMerge::new(source, mid, len, dest) }
    }
}

/// The relation of two sorted runs.
#[derive(Clone, Copy, PartialEq, Eq)]
enum RunRelation {
    /// No element on the right comes before any on the left.
    InOrder,
    /// All elements on the right come before all on the left.
    Swapped,
    /// Neither is known.
    Mixed,
}

/// Brings `mid..` before `..mid`, in parallel. It is meant for parts of about the same length.
pub(super) fn swap_parts<T: Send, E: Executor>(slice: &mut [T], mid: usize, grain: usize, executor: &E) {
    let (left, right) = slice.split_at_mut(mid);
    let both = left.len().min(right.len());
    let longer_on_the_right = right.len() - both;
    // `a b` with `b` longer by `c`: swapped front to front that is `b1 a c`, of which the rear is rotated.
    let from = left.len() - both;
    swap_all(&mut left[from..], &mut right[..both], grain, executor);
    if longer_on_the_right > 0 {
        right.rotate_right(longer_on_the_right);
    } else {
        left.rotate_left(from);
    }
}

/// Swaps the elements of two slices of the same length.
fn swap_all<T: Send, E: Executor>(left: &mut [T], right: &mut [T], grain: usize, executor: &E) {
    if left.len() <= grain.max(1) {
        return left.swap_with_slice(right);
    }
    let mid = left.len() / 2;
    let (left_front, left_rear) = left.split_at_mut(mid);
    let (right_front, right_rear) = right.split_at_mut(mid);
    executor.join_context(
        |_| swap_all(left_front, right_front, grain, executor),
        |_| swap_all(left_rear, right_rear, grain, executor),
    );
}

impl<T> Drop for Run<'_, T> {
    fn drop(&mut self) {
        if self.away {
            let len = self.len();
            drop(self.change_place(len));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::swap_parts;
    use furcate_pool::Inline;

    #[test]
    fn parts_are_swapped() {
        for len in 0..20 {
            for mid in 0..=len {
                for grain in [1, 3, 100] {
                    let mut v: Vec<usize> = (0..len).collect();
                    swap_parts(&mut v, mid, grain, &Inline);
                    assert!(v.into_iter().eq((mid..len).chain(0..mid)));
                }
            }
        }
    }
}
