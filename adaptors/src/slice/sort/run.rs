//! Elements that lie in one of two places.
//!
//! # Invariants
//!
//! 1. A [`Run`]'s elements are all *home*, in the slice, or all *away*, in the buffer, as its flag says. In the other
//!    place nothing counts as initialised.
//! 2. When a run is dropped, its elements are home.
//! 3. A run that has been split has its elements home, and its parts are dropped, or give their elements back to it,
//!    before it is used again.

use super::merge::Merge;
use furcate_pool::Executor;
use std::mem::{MaybeUninit, forget};

/// A range of the slice and of the buffer, and in which of them its elements are.
pub(super) struct Run<'a, T> {
    home: &'a mut [T],
    buffer: &'a mut [MaybeUninit<T>],
    away: bool,
}

impl<'a, T> Run<'a, T> {
    /// A run in a slice, with a buffer of its length.
    pub(super) fn at_home(home: &'a mut [T], buffer: &'a mut [MaybeUninit<T>]) -> Self {
        assert_eq!(home.len(), buffer.len());
        Run { home, buffer, away: false }
    }

    pub(super) fn len(&self) -> usize {
        self.home.len()
    }

    /// The elements, where they are.
    pub(super) fn elements(&mut self) -> &mut [T] {
        if self.away {
            let elements = std::ptr::from_mut(self.buffer) as *mut [T];
            // SAFETY: all of the buffer is initialised (invariant 1), and borrowed with the run.
            unsafe { &mut *elements }
        } else {
            self.home
        }
    }

    /// Has both halves sorted; each may then be at either place. `mid` is where the right one begins.
    pub(super) fn with_halves(&mut self, mid: usize, sort: impl FnOnce(&mut Run<'_, T>, &mut Run<'_, T>)) {
        assert!(!self.away);
        let (left, right) = self.home.split_at_mut(mid);
        let (left_buffer, right_buffer) = self.buffer.split_at_mut(mid);
        let mut left = Run::at_home(left, left_buffer);
        let mut right = Run::at_home(right, right_buffer);
        sort(&mut left, &mut right);
        // Else both parts come home as they are dropped (invariant 3).
        if left.away && right.away {
            forget((left, right));
            self.away = true;
        }
    }

    /// Makes two sorted halves one sorted run: moves nothing if they are in order, else merges them into the other
    /// place.
    pub(super) fn merge_halves<L, E>(&mut self, mid: usize, is_less: &L, grain: usize, executor: &E)
    where
        T: Send,
        L: Fn(&T, &T) -> bool + Sync,
        E: Executor,
    {
        let elements = self.elements();
        if is_less(&elements[mid], &elements[mid - 1]) {
            self.change_place(mid).run(is_less, grain, executor);
        }
    }

    /// Makes sure that the elements are home, in parallel if they have to be moved.
    pub(super) fn come_home<E: Executor>(&mut self, grain: usize, executor: &E)
    where
        T: Send,
    {
        if self.away {
            let len = self.len();
            self.change_place(len).run(&|_, _| false, grain, executor);
        }
    }

    /// A merge of `..mid` and `mid..` into the other place, where the elements are when it has been dropped.
    fn change_place(&mut self, mid: usize) -> Merge<'_, T> {
        let len = self.len();
        assert!(mid <= len);
        let home = self.home.as_mut_ptr();
        let buffer = self.buffer.as_mut_ptr().cast::<T>();
        let (source, dest) = if self.away { (buffer, home) } else { (home, buffer) };
        self.away = !self.away;
        // SAFETY: both places are borrowed for as long as the merge lives and apart from each other. The source is
        // initialised (invariant 1), and no longer counts as such; the destination counts as initialised from now on,
        // which it is before the run can be used again, when the merge has been dropped.
        unsafe { Merge::new(source, mid, len, dest) }
    }
}

impl<T> Drop for Run<'_, T> {
    fn drop(&mut self) {
        if self.away {
            let len = self.len();
            drop(self.change_place(len));
        }
    }
}
