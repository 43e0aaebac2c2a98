//! An engine that is chosen at run time.

use crate::api::pool::PoolHandle;
use crate::engine::registry::Registry;
use crate::{Pool, ThreadPool};
use std::sync::Arc;

/// One of furcate's pools, chosen at run time: the caller's, or a shared one.
///
/// The choice costs one branch per call of the engine. To have all work done by the calling thread, choose the scheduler
/// `Sequential` instead of an engine. [`Inline`](crate::Inline) and engines of other crates are no choices, because their parts run in scopes
/// of other types.
///
/// ```
/// use furcate::prelude::*;
/// use furcate::{AnyExecutor, ThreadPoolBuilder};
/// use std::sync::Arc;
///
/// let pool = Arc::new(ThreadPoolBuilder::new().num_threads(2).build().unwrap());
/// for executor in [AnyExecutor::default(), AnyExecutor::from(&pool)] {
///     assert_eq!((0..100).into_par_iter().on(executor).sum::<i32>(), 4950);
/// }
/// ```
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub enum AnyExecutor {
    /// [`Pool`]: the pool that the caller is in, or the global one.
    #[default]
    Pool,
    /// A pool of which the engine owns a share.
    Shared(Arc<ThreadPool>),
}

impl From<Pool> for AnyExecutor {
    fn from(_: Pool) -> Self {
        AnyExecutor::Pool
    }
}

impl From<Arc<ThreadPool>> for AnyExecutor {
    fn from(pool: Arc<ThreadPool>) -> Self {
        AnyExecutor::Shared(pool)
    }
}

impl From<&Arc<ThreadPool>> for AnyExecutor {
    fn from(pool: &Arc<ThreadPool>) -> Self {
        AnyExecutor::Shared(Arc::clone(pool))
    }
}

impl PoolHandle for AnyExecutor {
    #[inline]
    fn registry(&self) -> Option<&Registry> {
        match self {
            AnyExecutor::Pool => None,
            AnyExecutor::Shared(pool) => Some(&pool.registry),
        }
    }
}
