//! Fences, latches, parkers, the state of a task, clocks and counters. The primitives below them are std's, or loom's under `--cfg loom`, so that the models
//! check the very code that ships.

pub mod clock;
pub(crate) mod counter;
pub(crate) mod fence;
pub(crate) mod latch;
pub(crate) mod parker;
pub(crate) mod task_state;
pub(crate) mod ticks;

#[cfg(loom)]
pub use loom::sync::{Arc, Condvar, Mutex, MutexGuard, atomic};
#[cfg(not(loom))]
pub use std::sync::{Arc, Condvar, Mutex, MutexGuard, atomic};
