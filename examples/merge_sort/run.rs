//! Sorted runs in one of two places.

use furcate::prelude::*;
use furcate::slice::SlicePart;
use std::mem::take;

/// A part of the slice, the same part of the buffer, and a flag that says which of the two holds the elements.
pub(crate) struct Run<'a, T: Copy + Send + Sync> {
    home: SlicePart<'a, T>,
    buffer: SlicePart<'a, T>,
    away: bool,
}

impl<'a, T: Copy + Send + Sync> Run<'a, T> {
    /// Makes a run at home.
    pub(crate) fn new(home: SlicePart<'a, T>, buffer: SlicePart<'a, T>) -> Self {
        Run { home, buffer, away: false }
    }

    /// Makes two neighbors one run: `merge` gets both and the destination of their merge.
    pub(crate) fn merge_with(mut self, mut right: Self, merge: impl FnOnce(&[T], &[T], &mut [T])) -> Self {
        if self.away != right.away {
            // The two are not both at even depths: a part of one element is not divided again.
            self.bring_home();
            right.bring_home();
        }
        let middle = self.home.len();
        // Both runs are left empty, with nothing to bring home.
        let (away, _) = (take(&mut self.away), take(&mut right.away));
        let mut both = Run {
            home: take(&mut self.home).fuse(take(&mut right.home)),
            buffer: take(&mut self.buffer).fuse(take(&mut right.buffer)),
            away,
        };
        let (from, to) = both.places();
        let (left, right) = from.split_at(middle);
        merge(left, right, to);
        both.away = !both.away;
        both
    }

    /// Makes sure that the elements are in the slice.
    pub(crate) fn come_home(mut self) {
        self.bring_home();
    }

    fn bring_home(&mut self) {
        if self.away {
            let (from, to) = self.places();
            to.par_iter_mut().zip(from).for_each(|(slot, x)| *slot = *x);
            self.away = false;
        }
    }

    /// Returns the place that holds the elements, and the other place.
    fn places(&mut self) -> (&[T], &mut [T]) {
        if self.away { (&self.buffer, &mut self.home) } else { (&self.home, &mut self.buffer) }
    }
}

/// Brings the elements home (invariant 1 of the sort), without help and without code that could panic.
impl<T: Copy + Send + Sync> Drop for Run<'_, T> {
    fn drop(&mut self) {
        if self.away {
            self.home.copy_from_slice(&self.buffer);
        }
    }
}
