//! Values that nobody will see: dropped without a panic on top of another one, which would abort the process.

use std::mem::{self, ManuallyDrop};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread;

/// Drops a result nobody will see. A panic in that drop has been preceded by the one that counts, and its payload is
/// forgotten: that drop might panic as well.
pub fn drop_quietly<T>(value: T) {
    let value = ManuallyDrop::new(value);
    if let Err(payload) = catch_unwind(AssertUnwindSafe(|| drop(ManuallyDrop::into_inner(value)))) {
        mem::forget(payload);
    }
}

/// Drops what a frame still holds at its end: [quietly](drop_quietly) if it ends because of a panic.
pub fn drop_at_end<T>(value: T) {
    if thread::panicking() {
        drop_quietly(value);
    } else {
        drop(value);
    }
}
