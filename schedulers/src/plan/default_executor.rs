//! The default executor.

/// The executor of every computation that names none: furcate's pool.
///
/// ```
/// use furcate::{DefaultExecutor, Executor};
/// assert!(DefaultExecutor::default().num_threads() >= 1);
/// ```
#[cfg(not(any(loom, furcate_rayon)))]
pub type DefaultExecutor = furcate_pool::Pool;

/// For tests: every computation that names no executor runs on rayon's pool.
#[cfg(all(furcate_rayon, not(loom)))]
pub type DefaultExecutor = furcate_rayon::Rayon;

/// Loom models have no pool.
#[cfg(loom)]
pub type DefaultExecutor = furcate_pool::Inline;

#[cfg(all(furcate_rayon, not(any(loom, feature = "rayon"))))]
compile_error!(
    "`--cfg furcate_rayon` makes rayon's engine the default one, which is not there without the feature `rayon`: \
     add `--features furcate/rayon`"
);
