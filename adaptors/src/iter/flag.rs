//! A word that one task has for all others of a call: *enough*.

use std::sync::atomic::{AtomicBool, Ordering};

/// Raised once, seen by all tasks. It lies in the iterator or on the caller's stack; a clone of it is another
/// computation's flag, and not raised.
#[derive(Debug, Default)]
pub(crate) struct Flag(AtomicBool);

impl Flag {
    #[inline]
    pub(crate) fn raise(&self) {
        // Relaxed: the flag only says "you may stop". What the one who raises it has found travels as a task's output,
        // which the executor hands over, so nothing is published through the flag; who sees it late does more than is
        // needed.
        self.0.store(true, Ordering::Relaxed);
    }

    #[inline]
    pub(crate) fn is_raised(&self) -> bool {
        // Relaxed: as in `raise`, nothing is read on the strength of it.
        self.0.load(Ordering::Relaxed)
    }

    /// The flag for a run that begins: lowered.
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
