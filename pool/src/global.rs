//! The global pool: calls from outside every pool use it.

use crate::builder::{ThreadPoolBuildError, ThreadPoolBuilder};
use crate::registry::Registry;
use std::sync::{Arc, OnceLock};

static GLOBAL: OnceLock<Arc<Registry>> = OnceLock::new();

/// Returns the global pool. If there is none yet, makes it with the defaults.
///
/// # Panics
///
/// If its threads cannot be started.
#[inline]
pub(crate) fn registry() -> &'static Registry {
    GLOBAL.get_or_init(|| {
        ThreadPoolBuilder::new().build_registry().expect("the global thread pool's threads can be started")
    })
}

/// Returns the global pool, if it has been made.
pub(crate) fn get() -> Option<&'static Registry> {
    GLOBAL.get().map(|registry| &**registry)
}

/// Makes the global pool of the registry that `make` returns, with its threads started. Fails if there is a global pool already.
pub(crate) fn set(
    make: impl FnOnce() -> Result<Arc<Registry>, ThreadPoolBuildError>,
) -> Result<(), ThreadPoolBuildError> {
    let mut result = Err(ThreadPoolBuildError::already_initialized());
    // If `make` fails, there is no global pool: another attempt, or the default, may still make it.
    if GLOBAL.get().is_none() {
        let registry = make()?;
        GLOBAL.get_or_init(|| {
            result = Ok(());
            Arc::clone(&registry)
        });
        if result.is_err() {
            registry.end();
        }
    }
    result
}

/// Returns the counts of the global pool's actions so far.
///
/// ```
/// let forks = furcate::global_stats().total().forks;
/// furcate::join(|| (), || ());
/// assert!(furcate::global_stats().total().forks > forks);
/// ```
#[must_use]
pub fn global_stats() -> crate::stats::Stats {
    registry().stats()
}
