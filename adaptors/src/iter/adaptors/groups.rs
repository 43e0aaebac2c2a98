//! Producers counted in groups: what `step_by` and the `chunks` family have in common.

use furcate_schedulers::Divisible;

/// A producer whose unit is a group of items; the last group may be shorter.
///
/// Cuts lie between groups, so every part but the last consists of full groups.
#[derive(Debug)]
pub(super) struct Groups<P> {
    pub(super) base: P,
    /// How many items a group has, not 0.
    pub(super) group: usize,
}

impl<P> Groups<P> {
    #[inline]
    pub(super) fn new(base: P, group: usize) -> Self {
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
        (Groups::new(left, self.group), Groups::new(right, self.group))
    }
}
