//! Room on the stacks of the pool's own threads.

use super::machine::thread_local;
use std::cell::Cell;

/// Returns the size in bytes of a stack that the user has not set: the default of `std::thread`.
pub(crate) fn default_size() -> usize {
    let said = std::env::var("RUST_MIN_STACK").ok().and_then(|size| size.parse().ok());
    said.unwrap_or(2 << 20)
}

thread_local! {
    /// Address of the middle of this thread's stack, which grows downward from there; the greatest address if its size is unknown.
    static MIDDLE: Cell<usize> = const { Cell::new(usize::MAX) };
}

/// Notes that this thread's stack has `size` bytes, hardly any of which are used so far.
pub(crate) fn begin(size: usize) {
    MIDDLE.set(here() - size / 2);
}

/// Whether more than half of this thread's stack is free. False if its size is unknown, as outside the pool's own threads.
#[must_use]
pub fn has_room() -> bool {
    here() > MIDDLE.get()
}

#[inline(never)]
fn here() -> usize {
    let byte = 0_u8;
    (&raw const byte).addr()
}
