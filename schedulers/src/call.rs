//! What all tasks of one call share: has one of them panicked?
//!
//! Then nobody will see the result, and what has not begun need not begin: the rest of the call ends soon.

use std::mem;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// One run of a scheduler; it lies in the frame that waits for it.
#[derive(Debug, Default)]
pub(crate) struct Call {
    failed: AtomicBool,
}

impl Call {
    /// Has a task panicked? Relaxed, here and below: a hint. The panic itself goes its own way to the caller.
    #[inline]
    pub(crate) fn has_failed(&self) -> bool {
        self.failed.load(Relaxed)
    }

    /// Runs a part of the call; if it unwinds, the call has failed.
    #[inline]
    pub(crate) fn watch<R>(&self, part: impl FnOnce() -> R) -> R {
        struct Unwinding<'c>(&'c Call);
        impl Drop for Unwinding<'_> {
            fn drop(&mut self) {
                self.0.failed.store(true, Relaxed);
            }
        }
        let unwinding = Unwinding(self);
        let result = part();
        mem::forget(unwinding);
        result
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::panic::{AssertUnwindSafe, catch_unwind};

    #[test]
    fn only_unwinding_fails() {
        let call = Call::default();
        assert_eq!(call.watch(|| 1), 1);
        assert!(!call.has_failed());
        let caught = catch_unwind(AssertUnwindSafe(|| call.watch(|| panic!("once"))));
        assert!(caught.is_err() && call.has_failed());
    }
}
