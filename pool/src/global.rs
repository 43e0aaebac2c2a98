//! The global pool: the one that calls from outside every pool use.

use crate::builder::{ThreadPoolBuildError, ThreadPoolBuilder};
use crate::registry::Registry;
use std::sync::{Arc, OnceLock};

static GLOBAL: OnceLock<Arc<Registry>> = OnceLock::new();

/// The global pool, made with the defaults if nobody has made it yet.
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

/// The global pool, if it has been made.
pub(crate) fn get() -> Option<&'static Registry> {
    GLOBAL.get().map(|registry| &**registry)
}

/// Makes the global pool of a registry that has its threads already; refused if there is one.
pub(crate) fn set(
    make: impl FnOnce() -> Result<Arc<Registry>, ThreadPoolBuildError>,
) -> Result<(), ThreadPoolBuildError> {
    let mut result = Err(ThreadPoolBuildError::already_initialized());
    // A first attempt that fails leaves the way free for another one, or for the default.
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

/// What the global pool has done so far.
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
