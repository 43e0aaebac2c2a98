//! The order in which two sides are merged.

use std::cmp::Ordering;

/// An order in which two sides are merged.
pub trait Order<T>: Sync + Send {
    /// Whether an item of the right side goes before one of the left side (`merge`'s invariant 1).
    fn right_first(&self, right: &T, left: &T) -> bool;
}

/// The order of the items themselves.
#[derive(Clone, Copy, Debug)]
pub struct Natural;

impl<T: Ord> Order<T> for Natural {
    #[inline]
    fn right_first(&self, right: &T, left: &T) -> bool {
        right < left
    }
}

/// The order of a given comparison.
#[allow(missing_debug_implementations, reason = "a closure")]
#[derive(Clone, Copy)]
pub struct By<F>(pub(crate) F);

impl<T, F: Fn(&T, &T) -> Ordering + Sync + Send> Order<T> for By<F> {
    #[inline]
    fn right_first(&self, right: &T, left: &T) -> bool {
        (self.0)(right, left).is_lt()
    }
}

/// The order of the items' keys.
#[allow(missing_debug_implementations, reason = "a closure")]
#[derive(Clone, Copy)]
pub struct ByKey<F>(pub(crate) F);

impl<T, K: Ord, F: Fn(&T) -> K + Sync + Send> Order<T> for ByKey<F> {
    #[inline]
    fn right_first(&self, right: &T, left: &T) -> bool {
        (self.0)(right) < (self.0)(left)
    }
}
