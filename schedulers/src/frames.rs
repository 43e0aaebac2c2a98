//! How many forks lie on top of each other on a thread's stack.
//!
//! Counted per thread, not along a path of the division tree: a worker that waits for a stolen half takes other work
//! *onto the stack that it has*, be it of this call, of another one, or of a call made by a leaf.

use std::cell::Cell;
use std::marker::PhantomData;

/// The most forks on one stack.
///
/// A balanced division of anything that fits memory needs less. With an engine's part of it, and that of a steal made
/// while it waits, a fork takes up to 10 KiB in a debug build, a fraction of that in an optimised one: stacks of
/// 512 KiB are enough for both.
pub(crate) const MAX_FRAMES: u32 = if cfg!(debug_assertions) { 40 } else { 128 };

thread_local! {
    static FRAMES: Cell<u32> = const { Cell::new(0) };
}

/// A fork's place on this thread's stack; dropped when the fork is over, also by a panic.
#[derive(Debug)]
pub(crate) struct Frame {
    /// Not `Send`: it counts on the thread that has made it.
    _this_thread: PhantomData<*const ()>,
}

impl Frame {
    /// A place for one fork more, if there is one.
    #[inline]
    pub(crate) fn enter() -> Option<Self> {
        FRAMES.with(|frames| {
            let now = frames.get();
            (now < MAX_FRAMES).then(|| {
                frames.set(now + 1);
                Frame { _this_thread: PhantomData }
            })
        })
    }
}

impl Drop for Frame {
    #[inline]
    fn drop(&mut self) {
        FRAMES.with(|frames| frames.set(frames.get() - 1));
    }
}

/// How many there are on this thread's stack now.
#[cfg(test)]
pub(crate) fn frames() -> u32 {
    FRAMES.with(Cell::get)
}
