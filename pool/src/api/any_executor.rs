//! An engine that is chosen at run time.

use crate::detach::Unattended;
use crate::engine::registry::Registry;
use crate::engine::scope::{self, Scope};
use crate::{Context, Executor, Pool, ThreadPool};
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

/// Evaluates an expression with the chosen engine.
macro_rules! chosen {
    ($any:expr, |$engine:ident| $result:expr) => {
        match $any {
            AnyExecutor::Pool => {
                let $engine = &Pool;
                $result
            }
            AnyExecutor::Shared(pool) => {
                let $engine = &&**pool;
                $result
            }
        }
    };
}

impl Executor for AnyExecutor {
    type Scope<'scope> = Scope<'scope>;

    #[inline]
    fn detached<'scope, B, R>(&self, body: B) -> R
    where
        B: FnOnce(&Self::Scope<'scope>) -> R + Send,
        R: Send,
    {
        chosen!(self, |engine| Executor::detached(engine, body))
    }

    #[inline]
    fn enter<F, R>(&self, f: F) -> R
    where
        F: FnOnce() -> R + Send,
        R: Send,
    {
        chosen!(self, |engine| Executor::enter(engine, f))
    }

    fn spawn_detached<C: Unattended<Self>>(&self, computation: C) {
        match self {
            AnyExecutor::Pool => {
                Registry::with_current(|registry| scope::spawn_root::<Self, C>(registry, computation));
            }
            AnyExecutor::Shared(pool) => scope::spawn_root::<Self, C>(&pool.registry, computation),
        }
    }

    #[inline]
    fn join_context<A, B, RA, RB>(&self, left: A, right: B) -> (RA, RB)
    where
        A: FnOnce(Context) -> RA + Send,
        B: FnOnce(Context) -> RB + Send,
        RA: Send,
        RB: Send,
    {
        chosen!(self, |engine| Executor::join_context(engine, left, right))
    }

    #[inline]
    fn num_threads(&self) -> usize {
        chosen!(self, |engine| Executor::num_threads(engine))
    }
}
