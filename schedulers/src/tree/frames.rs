//! Forks that lie on top of each other on a thread's stack: how many there may be.
//!
//! Counted per thread, not along a path of the division tree: a worker that waits for a stolen half takes other work
//! *onto its current stack*. That work may belong to this call, to another one, or to a call made by a leaf.

use furcate_pool::sync::stack;
use std::cell::Cell;
use std::marker::PhantomData;

/// Greatest number of forks on a stack of 512 KiB, or of unknown size. A pool's own threads have larger stacks and may have more, in proportion.
///
/// A balanced division of data that fit into memory needs fewer. A fork takes up to 10 KiB of stack in a debug build,
/// with the engine's share and a steal that is made while the fork waits. In an optimized build it takes a fraction of
/// that.
pub(crate) const MAX_FRAMES: u32 = if cfg!(debug_assertions) { 40 } else { 128 };

furcate_pool::sync::machine::thread_local! {
    static FRAMES: Cell<u32> = const { Cell::new(0) };
}

/// One fork on this thread's stack. Its drop ends the fork, also during a panic.
#[derive(Debug)]
pub(crate) struct ForkFrame {
    /// Makes the type not `Send`: the frame counts on the thread that has made it.
    _this_thread: PhantomData<*const ()>,
}

impl ForkFrame {
    /// Counts one more fork on this thread's stack, unless there is no room.
    #[inline]
    pub(crate) fn enter() -> Option<Self> {
        FRAMES.with(|frames| {
            let now = frames.get();
            (now < MAX_FRAMES || now < more_frames()).then(|| {
                frames.set(now + 1);
                ForkFrame { _this_thread: PhantomData }
            })
        })
    }
}

/// Returns the greatest number of forks on this thread's stack, if it is large.
#[cold]
fn more_frames() -> u32 {
    MAX_FRAMES * (stack::size() >> 19).min(1 << 16) as u32
}

impl Drop for ForkFrame {
    #[inline]
    fn drop(&mut self) {
        FRAMES.with(|frames| frames.set(frames.get() - 1));
    }
}

/// Returns the number of forks on this thread's stack.
#[cfg(test)]
pub(crate) fn frames() -> u32 {
    FRAMES.with(Cell::get)
}
