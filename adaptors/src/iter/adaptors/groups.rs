//! Producers counted in groups: the shared part of `step_by` and the `chunks` family.

use furcate_schedulers::Divisible;

/// A producer whose unit is a group of items; the last group may be shorter.
///
/// Cuts lie between groups, so every part but the last consists of full groups. As a producer it yields the first item of each group
/// (`step_by`).
#[derive(Debug)]
pub struct Groups<P> {
    pub(super) base: P,
    /// Number of items of a group, not 0.
    pub(super) group: usize,
}

impl<P: Divisible> Groups<P> {
    /// Makes groups of `len` items, or one group of all items if there are fewer.
    ///
    /// This bound keeps products in range: if they were out of range, std's `StepBy` on top of a `StepBy` would count
    /// for ages.
    #[inline]
    pub(super) fn new(base: P, len: usize) -> Self {
        let group = len.min(base.size()).max(1);
        Groups { base, group }
    }
}

impl<P: Divisible> Divisible for Groups<P> {
    #[inline]
    fn size(&self) -> usize {
        self.base.size().div_ceil(self.group)
    }

    #[inline]
    fn divide_at(self, index: usize) -> (Self, Self) {
        // A product that does not fit lies past the end.
        let (left, right) = self.base.divide_at(index.saturating_mul(self.group));
        (Groups { base: left, group: self.group }, Groups { base: right, group: self.group })
    }
}
