//! So many and no more, whoever comes first.

use std::sync::atomic::{AtomicUsize, Ordering};

/// How many items may still be taken. It lies in the iterator; a clone of it is another computation's, and untouched.
#[derive(Debug)]
pub(crate) struct Quota {
    items: usize,
    left: AtomicUsize,
}

impl Quota {
    pub(crate) fn new(items: usize) -> Self {
        Quota { items, left: AtomicUsize::new(items) }
    }

    /// The quota for a run that begins: untouched.
    pub(crate) fn untouched(&mut self) -> &Self {
        *self.left.get_mut() = self.items;
        self
    }

    /// Takes one, if there is one left.
    #[inline]
    pub(crate) fn take(&self) -> bool {
        // Relaxed, here and below: nothing is read on the strength of the number, and its own modification order sees to
        // it that no more are taken than there were. The look before makes an exhausted quota cost no writing.
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
