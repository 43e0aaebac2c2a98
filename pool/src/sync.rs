//! Fences, latches, parkers, the state of a task, clocks, counters and stacks. The primitives below them are loom's under `--cfg loom`, so that the
//! models check the very code that ships; else they are those of the [`machine`].

pub mod clock;
pub(crate) mod counter;
pub(crate) mod fence;
pub(crate) mod latch;
pub(crate) mod parker;
pub mod stack;
pub(crate) mod task_state;
pub(crate) mod ticks;

pub mod machine;

#[cfg(loom)]
pub use loom::sync::{Arc, Condvar, Mutex, MutexGuard, atomic};
#[cfg(not(loom))]
pub use {
    machine::{Condvar, Mutex, MutexGuard, atomic},
    std::sync::Arc,
};
