//! The functions and types of users: each module is the public form of a part of the [engine](crate::engine).

mod any_executor;
mod at_priority;
mod block_on;
mod broadcast;
mod join;
mod pool;
mod spawn_future;
mod thread_pool;
mod yields;

pub use crate::engine::{
    builder::{CustomSpawn, DefaultSpawn, Spawn, ThreadBuilder, ThreadPoolBuildError, ThreadPoolBuilder},
    global::global_stats,
    registry::main_loop::MainLoop,
    scope::{
        Handle as ScopeHandle, Scope, ScopeFifo, in_place_scope, in_place_scope_fifo, scope, scope_fifo,
    },
    settings::{Fairness, Saturation, SaturationCause, Suspension, current_priority, with_priority},
    spawn::{spawn, spawn_fifo},
    stats::{DequeStats, Stats, StealStats, WakeToRun, WorkerStats},
    task::JoinHandle,
    worker::{WaitRule, Worker},
};
pub use any_executor::AnyExecutor;
pub use at_priority::AtPriority;
pub use block_on::block_on;
pub use broadcast::{BroadcastContext, broadcast, spawn_broadcast};
#[doc(hidden)]
pub use join::join_context_as_in_rayon;
pub use join::{FnContext, join, join_context, join_with};
pub use pool::{
    Pool, current_num_threads, current_thread_has_pending_tasks, current_thread_index, max_num_threads,
};
pub use spawn_future::{spawn_future, spawn_handle};
pub use thread_pool::ThreadPool;
pub use yields::{Yield, yield_local, yield_now};
