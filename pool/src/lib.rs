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
//! The modules' documentation describes the pool from below to above. So does the book's chapter on the pool.
//!
//! # Layers
//!
//! A module imports modules of its own row and of the rows above it in this table, and no others.
//!
//! | layer | modules |
//! |---|---|
//! | primitives | `sync`, `fence`, `ticks`, `trace`, `by_pointer`, `parker`, `process`, `random`, `quiet_drop`, `order`, settings (`fairness`, `runtime`, `saturation`, `suspension`) |
//! | jobs, for any kind of worker | `job`, `latch`, `deque`, `deques`, `stealable`, `urgent`, `searching`, `slots`, `stats` |
//! | workers | `worker`, `registry`, `root` |
//! | making pools | `builder`, `global`, `external` |
//! | jobs that outlive a frame | `spawn`, `broadcast`, `executor`, `detach`, `one_shot`, `scope`, `task`, `join_handle` |
//! | API | `join`, `block_on`, `spawn_future`, `yields`, `inline`, `thread_pool`, `pool` |
//!
//! Three circles are left:
//!
//! - `worker` and `registry` (with `root`): a worker looks for jobs in its pool, and the pool runs the main loops of its workers.
//! - `scope`, `task` and `join_handle`: a scope spawns tasks and returns their handles, and a task counts in its scope until it ends.
//! - `executor` and `detach`: each of the two public traits has the other one as the bound of an associated type.
//!
//! This crate must not depend on rayon-core, because furcate's own `rayon-core` depends on this crate. (A `[patch]` replaces the
//! `rayon-core` of crates.io by furcate's.)

// Both panic if the stream is closed. Library code writes by functions that ignore errors.
#![cfg_attr(not(test), deny(clippy::print_stdout, clippy::print_stderr))]
#![cfg_attr(docsrs, feature(doc_cfg))]

#[cfg(not(loom))]
mod any_executor;
#[cfg(not(loom))]
mod block_on;
#[cfg(not(loom))]
mod broadcast;
#[cfg(not(loom))]
mod builder;
#[cfg(not(loom))]
mod by_pointer;
#[doc(hidden)]
pub mod clock;
#[cfg_attr(loom, allow(dead_code, reason = "models use parts of it"))]
mod counter;
mod deque;
#[cfg(not(loom))]
mod deques;
mod searching;
#[cfg(loom)]
#[allow(dead_code, reason = "models use parts of it")]
mod deques {
    mod control;
    mod spawn_deque;
}
pub mod detach;
mod executor;
#[cfg(not(loom))]
mod external;
#[cfg(not(loom))]
mod fairness;
mod fence;
#[cfg(not(loom))]
mod global;
mod inline;
#[cfg(not(loom))]
mod job;
#[cfg(not(loom))]
mod join;
#[cfg(not(loom))]
mod join_handle;
#[cfg(any(test, not(loom)))]
#[cfg_attr(loom, allow(dead_code, reason = "models use parts of it"))]
mod latch;
#[cfg(all(test, loom))]
mod models;
#[cfg(not(loom))]
mod one_shot;
#[cfg_attr(loom, allow(dead_code, reason = "models use parts of it"))]
mod order;
#[cfg_attr(loom, allow(dead_code, reason = "models use parts of it"))]
mod parker;
#[cfg(not(loom))]
mod pool;
#[cfg(not(loom))]
mod process;
#[cfg(not(loom))]
mod random;
#[cfg(not(loom))]
mod registry;
#[cfg(not(loom))]
mod root;
#[cfg(not(loom))]
mod runtime;
#[cfg(not(loom))]
mod saturation;
#[cfg(not(loom))]
mod scope;
#[cfg(any(test, not(loom)))]
#[cfg_attr(loom, allow(dead_code, reason = "models use parts of it"))]
mod slots;
#[cfg(not(loom))]
mod spawn;
#[cfg(not(loom))]
mod spawn_future;
#[cfg(not(loom))]
mod stats;
#[cfg(not(loom))]
mod stealable;
#[cfg(not(loom))]
mod suspension;
#[doc(hidden)]
pub mod sync;
#[cfg(not(loom))]
mod task;
#[cfg(loom)]
mod task {
    #[allow(dead_code, reason = "models use parts of it")]
    mod state;
}
#[doc(hidden)]
pub mod quiet_drop;
#[cfg(not(loom))]
mod thread_pool;
#[cfg(not(loom))]
mod ticks;
#[cfg(not(loom))]
pub mod trace;
#[cfg(loom)]
#[doc(hidden)]
pub mod trace {
    //! Nothing is traced in models.

    /// Something that a dump would look at.
    pub trait Traced: Send + Sync {
        /// Would write lines of the dump.
        fn dump(&self, out: &mut String);
    }

    /// Registers nothing.
    pub fn register(_new: std::sync::Weak<dyn Traced>) {}

    /// Marks nothing.
    #[derive(Debug)]
    pub struct Mark;

    /// Marks nothing.
    #[must_use]
    pub fn leaf(_size: usize) -> Mark {
        Mark
    }

    /// Marks nothing.
    #[must_use]
    pub fn right() -> Mark {
        Mark
    }

    /// A name that nobody reads.
    #[derive(Clone, Copy, Debug)]
    pub struct Name;

    impl Name {
        /// Returns a name.
        #[must_use]
        pub fn of(_name: &'static str) -> Name {
            Name
        }
    }

    /// Marks nothing.
    #[must_use]
    pub fn log(_name: Name) -> Mark {
        Mark
    }

    /// Marks nothing.
    #[must_use]
    pub fn chain(_place: &'static std::panic::Location<'static>) -> Mark {
        Mark
    }

    /// Marks nothing.
    #[must_use]
    pub fn reduction() -> Mark {
        Mark
    }
}
#[cfg(not(loom))]
mod urgent;
#[cfg(not(loom))]
mod worker;
#[cfg(not(loom))]
mod yields;

pub use executor::{Context, Executor, IntoExecutor};
pub use inline::Inline;

#[cfg(not(loom))]
pub use {
    any_executor::AnyExecutor,
    block_on::block_on,
    broadcast::{BroadcastContext, broadcast, spawn_broadcast},
    builder::{CustomSpawn, DefaultSpawn, Spawn, ThreadBuilder, ThreadPoolBuildError, ThreadPoolBuilder},
    fairness::Fairness,
    global::global_stats,
    join::{FnContext, join, join_context, join_with},
    join_handle::JoinHandle,
    pool::{
        Pool, current_num_threads, current_thread_has_pending_tasks, current_thread_index, max_num_threads,
    },
    saturation::{Saturation, SaturationCause},
    scope::{
        Handle as ScopeHandle, Scope, ScopeFifo, in_place_scope, in_place_scope_fifo, scope, scope_fifo,
    },
    spawn::{spawn, spawn_fifo},
    spawn_future::spawn_future,
    stats::{DequeStats, Stats, StealStats, WakeToRun, WorkerStats},
    suspension::Suspension,
    thread_pool::ThreadPool,
    worker::{WaitRule, Worker},
    yields::{Yield, yield_local, yield_now},
};
