//! A flag by which one task tells all other tasks of a call that they may stop.

use furcate_pool::sync::machine::atomic::{AtomicBool, Ordering};

/// A flag that is raised once and seen by all tasks. It lies in the iterator or on the caller's stack. A clone of it
/// belongs to another computation, and is not raised.
#[derive(Debug, Default)]
pub(crate) struct Flag(AtomicBool);

impl Flag {
    #[inline]
    pub(crate) fn raise(&self) {
        // Relaxed: the flag only says "you may stop". The result of the task that raises it travels as that task's
        // output, which the executor hands over. So nothing is published through the flag. A task that sees it late
        // does more work than needed.
        self.0.store(true, Ordering::Relaxed);
    }

    #[inline]
    pub(crate) fn is_raised(&self) -> bool {
        // Relaxed: as in `raise`, no other memory access depends on it.
        self.0.load(Ordering::Relaxed)
    }

    /// Lowers the flag, for a run that begins.
    #[inline]
    pub(crate) fn lowered(&mut self) -> &Self {
        *self.0.get_mut() = false;
        self
    }
}

impl Clone for Flag {
    fn clone(&self) -> Self {
        Flag::default()
    }
}
