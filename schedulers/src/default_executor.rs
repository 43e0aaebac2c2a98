//! The engine of every computation that names none.

/// The engine of every computation that names none.
///
/// ```
/// use furcate::{DefaultExecutor, Executor};
/// assert!(DefaultExecutor::default().num_threads() >= 1);
/// ```
#[cfg(not(any(loom, furcate_rayon)))]
pub type DefaultExecutor = furcate_pool::Pool;

/// For tests: everything that names no engine runs on rayon's.
#[cfg(all(furcate_rayon, not(loom)))]
pub type DefaultExecutor = furcate_rayon::Rayon;

/// Models have no pool.
#[cfg(loom)]
pub type DefaultExecutor = furcate_pool::Inline;

#[cfg(all(furcate_rayon, not(any(loom, feature = "rayon"))))]
compile_error!(
    "`--cfg furcate_rayon` makes rayon's engine the default one, which is not there without the feature `rayon`: \
     add `--features furcate/rayon`"
);
