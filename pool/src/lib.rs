//! *Where* parallel work runs: the [`Executor`] trait, furcate's own work-stealing pool, and other engines.
//!
//! This is the lowest of furcate's four layers. The layers above it (`furcate-schedulers`: policies and schedulers of divisions;
//! `furcate-adaptors`: the iterators) use [`Executor`] alone and never name an engine.
//!
//! | engine | where it is | runs |
//! |---|---|---|
//! | [`Pool`] | here | on furcate's own pool: the caller's, or the global one if the caller is in none |
//! | [`&ThreadPool`](ThreadPool), `Arc<ThreadPool>` | here | on that pool |
//! | [`Inline`] | here | both halves in the calling thread, left first |
//! | `furcate_rayon::Rayon` | a crate of its own | on rayon-core's pool: the caller's, or the global one if the caller is in none |
//!
//! The crate's `README.md` has the pool's protocol on one page: the states of its parts, and the threads that may change them. The modules'
//! documentation has the invariants, and the argument for each memory ordering.
//!
//! # Layers
//!
//! A module imports modules of its own row and of the rows above it in this table, and no others.
//!
//! | room | contents | models |
//! |---|---|---|
//! | `sync` | what threads and tasks wait for and look at: fences, latches, parkers, the state of a task, clocks, counters | yes |
//! | `process`, `quiet_drop`, [`trace`] | the process and its threads; drops that do not unwind; the recorder of traces | |
//! | `deque` | the split deque, and the deque of spawned jobs with its states | yes |
//! | `slots` | the right to run jobs: slots, searching workers, wake-ups | yes |
//! | `executor`, [`detach`] | the contracts between schedulers and engines; [`Inline`] | |
//! | `engine/`: `job`, `settings`, `stats`, `queues` | what any kind of worker runs, and where it lies | |
//! | `engine/`: `worker`, `registry` | a thread that runs jobs; a pool's shared state | |
//! | `engine/`: `builder`, `global`, `external` | how pools are made, and how threads from outside enter them | |
//! | `engine/`: `spawn`, `scope`, `task` | jobs and futures that outlive a frame | |
//! | `api` | the functions and types of users | |
//!
//! Loom's models need the rows from `sync` to `detach`; `engine` and `api` are not compiled for them.
//!
//! Three circles are left:
//!
//! - `worker` and `registry`: a worker looks for jobs in its pool, and the pool runs the main loops of its workers.
//! - `scope` and `task`: a scope spawns tasks and returns their handles, and a task counts in its scope until it ends.
//! - `executor` and `detach`: each of the two public traits has the other one as the bound of an associated type.
//!
//! This crate must not depend on rayon-core, because furcate's own `rayon-core` depends on this crate. (A `[patch]` replaces the
//! `rayon-core` of crates.io by furcate's.)

// Both panic if the stream is closed. Library code writes by functions that ignore errors.
#![cfg_attr(not(test), deny(clippy::print_stdout, clippy::print_stderr))]
#![cfg_attr(docsrs, feature(doc_cfg))]
#![cfg_attr(
    loom,
    allow(dead_code, unused_imports, reason = "models use parts of what lies below the engine")
)]

#[cfg(all(furcate_sim, not(feature = "sim")))]
compile_error!(
    "`--cfg furcate_sim` needs the feature `sim`: name `furcate = { features = [\"sim\"], .. }` among the dev-dependencies"
);

#[cfg(not(loom))]
mod api;
mod deque;
pub mod detach;
#[cfg(not(loom))]
mod engine;
mod executor;
#[cfg(all(test, loom))]
mod models;
mod process;
#[doc(hidden)]
pub mod quiet_drop;
mod slots;
#[doc(hidden)]
pub mod sync;
pub mod trace;

#[cfg(not(loom))]
pub use api::*;
pub use executor::{Context, Executor, Inline, IntoExecutor};
pub use slots::Priority;
