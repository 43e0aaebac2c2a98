//! *Where* parallel work runs: the [`Executor`] trait and its engines.
//!
//! This is the lowest of furcate's four layers. Everything above it (`furcate-schedulers`: what is divided, when
//! and how; `furcate-adaptors`: the iterators) is written against [`Executor`] alone and never names an engine.
//!
//! | engine | feature | runs |
//! |---|---|---|
//! | [`Inline`] | always there | both halves in the calling thread, left first |
//! | `Rayon` | `rayon` (default) | on rayon-core's pool: the one the caller is in, else the global one |
//!
//! [`DefaultExecutor`] is the engine of every iterator that names none.
#![forbid(unsafe_code)]

mod executor;
mod inline;
#[cfg(feature = "rayon")]
mod rayon;
#[doc(hidden)]
pub mod sync;

pub use executor::{Context, Executor};
pub use inline::Inline;
#[cfg(feature = "rayon")]
pub use rayon::Rayon;

/// The engine of every computation that names none: `Rayon` with feature `rayon`, else [`Inline`].
///
/// ```
/// use furcate::{DefaultExecutor, Executor};
/// assert!(DefaultExecutor::default().num_threads() >= 1);
/// ```
#[cfg(feature = "rayon")]
pub type DefaultExecutor = Rayon;

/// The engine of every computation that names none: `Rayon` with feature `rayon`, else [`Inline`].
///
/// ```
/// use furcate::{DefaultExecutor, Executor};
/// assert!(DefaultExecutor::default().num_threads() >= 1);
/// ```
#[cfg(not(feature = "rayon"))]
pub type DefaultExecutor = Inline;
