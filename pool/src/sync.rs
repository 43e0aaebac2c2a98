//! The synchronization primitives that furcate's crates use: std's, or loom's under `--cfg loom`, so that the models
//! check the very code that ships.

#[cfg(loom)]
pub use loom::sync::{Arc, Condvar, Mutex, MutexGuard, atomic};
#[cfg(not(loom))]
pub use std::sync::{Arc, Condvar, Mutex, MutexGuard, atomic};
