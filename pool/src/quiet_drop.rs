//! Drops that do not unwind. While a thread unwinds, a second panic in a drop would abort the process.

use crate::sync::machine::thread;
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Drops a value that no caller receives, and swallows a panic of the drop. Another panic has come before it, and is the one to report.
/// The payload of the swallowed panic is leaked, because its drop might panic as well.
pub fn drop_quietly<T>(value: T) {
    /// Compiled once, and not for each type.
    fn quietly(action: &mut dyn FnMut()) {
        if let Err(payload) = catch_unwind(AssertUnwindSafe(action)) {
            mem::forget(payload);
        }
    }
    if const { mem::needs_drop::<T>() } {
        let mut value = Some(value);
        quietly(&mut || value = None);
    }
}

/// Calls code of others around a job, where nothing may unwind. Returns `None` if it panics.
#[cfg(any(feature = "tokio", feature = "tracing"))]
pub(crate) fn ask<T>(f: impl FnOnce() -> T) -> Option<T> {
    catch_unwind(AssertUnwindSafe(f)).map_err(drop_quietly).ok()
}

/// A result that is [dropped quietly](drop_quietly) if it is not taken, since then its caller unwinds.
#[derive(Debug)]
pub struct Quiet<T>(pub Option<T>);

impl<T> Drop for Quiet<T> {
    fn drop(&mut self) {
        if let Some(value) = self.0.take() {
            drop_quietly(value);
        }
    }
}

/// Drops a value at the end of its frame: [quietly](drop_quietly) if the frame ends because of a panic.
pub fn drop_at_end<T>(value: T) {
    if thread::panicking() {
        drop_quietly(value);
    } else {
        drop(value);
    }
}
