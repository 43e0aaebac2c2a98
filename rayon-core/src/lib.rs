//! rayon-core's API on furcate's pool.
//!
//! This crate stands in for the registry's `rayon-core` by a `[patch]`:
//!
//! ```toml
//! [patch.crates-io]
//! rayon-core = { path = "../furcate/rayon-core" }
//! ```
//!
//! Rayon, and every crate that is built on rayon, then runs on furcate's global pool, or on the pool that its call is
//! `install`ed in. Furcate's own chains run on the same pool.
//!
//! Every item but the builder and `Configuration` is `furcate_pool`'s. What differs from rayon-core is listed in the book's chapter on the patch.
//!
//! ```
//! let (a, b) = rayon_core::join(|| 6 * 7, rayon_core::current_num_threads);
//! assert_eq!((a, b), (42, furcate::current_num_threads()));
//! ```

mod builder;
mod configuration;

pub use builder::ThreadPoolBuilder;
#[allow(deprecated, reason = "they belong to rayon-core's API")]
pub use configuration::{Configuration, initialize};
pub use furcate_pool::{
    BroadcastContext, FnContext, Scope, ScopeFifo, ThreadBuilder, ThreadPool, ThreadPoolBuildError, Yield,
    broadcast, current_num_threads, current_thread_has_pending_tasks, current_thread_index, in_place_scope,
    in_place_scope_fifo, join, join_context_as_in_rayon as join_context, max_num_threads, scope, scope_fifo,
    spawn, spawn_broadcast, spawn_fifo, yield_local, yield_now,
};
