//! Threads, atomics and locks of the system and the processor. They are std's; under `--cfg furcate_sim` the virtual ones of `furcate-sim`, which behave
//! as std's outside a simulation.
//!
//! Loom's models do not check code that imports from this module. Code that loom checks imports from [`sync`](super).

#[cfg(not(furcate_sim))]
pub(crate) use crossbeam_deque::Injector;
#[cfg(furcate_sim)]
pub(crate) use furcate_sim::Injector;
#[cfg(furcate_sim)]
pub use furcate_sim::{Condvar, Mutex, MutexGuard, OnceLock, atomic, hint, thread, thread_local};
#[cfg(not(furcate_sim))]
pub use std::{
    hint,
    sync::{Condvar, Mutex, MutexGuard, OnceLock, atomic},
    thread, thread_local,
};

/// Declares a static. Under `--cfg furcate_sim`, each simulated run has its own value.
#[cfg(not(furcate_sim))]
#[macro_export]
#[doc(hidden)]
macro_rules! machine_static {
    ($(#[$attribute:meta])* static $name:ident: $type:ty = $value:expr;) => {
        $(#[$attribute])*
        static $name: $type = $value;
    };
}

#[cfg(furcate_sim)]
#[macro_export]
#[doc(hidden)]
macro_rules! machine_static {
    ($(#[$attribute:meta])* static $name:ident: $type:ty = $value:expr;) => {
        $(#[$attribute])*
        static $name: $crate::sync::machine::thread::Static<$type> = $crate::sync::machine::thread::Static::new(|| $value);
    };
}
pub use crate::machine_static;
