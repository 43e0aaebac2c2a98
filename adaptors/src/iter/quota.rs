//! A number of items that all tasks share: the first ones in time are counted.

use furcate_pool::sync::machine::atomic::{AtomicUsize, Ordering};

/// Number of items that may still be taken. It lies in the iterator. A clone belongs to another computation, and is
/// untouched.
#[derive(Debug)]
pub(crate) struct Quota {
    items: usize,
    left: AtomicUsize,
}

impl Quota {
    pub(crate) fn new(items: usize) -> Self {
        Quota { items, left: AtomicUsize::new(items) }
    }

    /// Resets the quota, for a run that begins.
    pub(crate) fn untouched(&mut self) -> &Self {
        *self.left.get_mut() = self.items;
        self
    }

    /// Takes one, if there is one left. Returns whether there was.
    #[inline]
    pub(crate) fn take(&self) -> bool {
        // Relaxed, here and below: no other memory access depends on the number, and its own modification order ensures
        // that no more are taken than there were. Checking first spares an exhausted quota the write.
        !self.is_exhausted()
            && self
                .left
                .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1))
                .is_ok()
    }

    #[inline]
    pub(crate) fn is_exhausted(&self) -> bool {
        self.left.load(Ordering::Relaxed) == 0
    }
}

impl Clone for Quota {
    fn clone(&self) -> Self {
        Quota::new(self.items)
    }
}
