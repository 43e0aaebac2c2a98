//! The global pool: calls from outside every pool use it.

use crate::engine::builder::{Spawn, ThreadPoolBuildError, ThreadPoolBuilder};
use crate::engine::registry::Registry;
use crate::engine::worker::Worker;
use crate::sync::machine::{OnceLock, machine_static};
use std::sync::Arc;

machine_static! {
    static GLOBAL: OnceLock<Arc<Registry>> = OnceLock::new();
}

/// Returns the global pool. If there is none yet, makes it with the defaults.
///
/// # Panics
///
/// If its threads cannot be started.
#[inline]
pub(crate) fn registry() -> &'static Registry {
    GLOBAL.get_or_init(|| {
        let built = ThreadPoolBuilder::new().build_registry().or_else(|error| {
            if !error.is_unsupported() {
                return Err(error);
            }
            // As in rayon: where there are no threads, the caller's is the pool's only one.
            ThreadPoolBuilder::new().num_threads(1).use_current_thread().build_registry()
        });
        let registry = built.expect("the global thread pool's threads can be started");
        end_with_machine(&registry);
        registry
    })
}

/// Has the global pool end with a simulated machine. (Else it lasts as long as the process.)
fn end_with_machine(registry: &Arc<Registry>) {
    #[cfg(furcate_sim)]
    furcate_sim::at_exit({
        let registry = Arc::clone(registry);
        move || registry.end()
    });
    let _ = registry;
}

/// Returns the global pool, if it has been made.
pub(crate) fn get() -> Option<&'static Registry> {
    GLOBAL.get().map(|registry| &**registry)
}

impl<S: Spawn> ThreadPoolBuilder<S> {
    /// Makes the global pool.
    ///
    /// # Errors
    ///
    /// If a thread cannot be started, or if there is a global pool already: its first use makes it with the defaults.
    pub fn build_global(self) -> Result<(), ThreadPoolBuildError> {
        if GLOBAL.get().is_some() {
            return Err(ThreadPoolBuildError::already_initialized());
        }
        // If a thread cannot be started, there is no global pool: another attempt, or the default, may still make it.
        let registry = self.build_registry()?;
        GLOBAL.set(Arc::clone(&registry)).map(|()| end_with_machine(&registry)).map_err(|second| {
            second.end();
            ThreadPoolBuildError::already_initialized()
        })
    }
}

impl Registry {
    /// Calls `f` with the registry of the pool that the calling thread is in, or with the global one if it is in none.
    #[inline]
    pub(crate) fn with_current<R>(f: impl FnOnce(&Registry) -> R) -> R {
        Worker::with_current(|current| match current {
            Some(worker) => f(worker.registry()),
            None => f(registry()),
        })
    }
}

/// Returns the counts of the global pool's actions so far.
///
/// ```
/// let forks = furcate::global_stats().total().forks;
/// furcate::join(|| (), || ());
/// assert!(furcate::global_stats().total().forks > forks);
/// ```
#[must_use]
pub fn global_stats() -> crate::engine::stats::Stats {
    registry().stats()
}
