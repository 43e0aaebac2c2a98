//! Sizes of the stacks of the pool's own threads.

use super::machine::thread_local;
use std::cell::Cell;

thread_local! {
    /// Size of this thread's stack, in bytes; 0 if it is not known.
    static SIZE: Cell<usize> = const { Cell::new(0) };
}

/// Notes the size that this thread was started with; `None` is the default of `std::thread`.
pub(crate) fn begin(size: Option<usize>) {
    let default = || {
        let said = std::env::var("RUST_MIN_STACK").ok().and_then(|size| size.parse().ok());
        if cfg!(any(unix, windows)) { said.unwrap_or(2 << 20) } else { 0 }
    };
    SIZE.set(size.unwrap_or_else(default));
}

/// Returns the size of this thread's stack, in bytes; 0 if it is not known, as outside the pool's own threads.
#[must_use]
pub fn size() -> usize {
    SIZE.get()
}
