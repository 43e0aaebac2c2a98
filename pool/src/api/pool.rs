//! Furcate's own pool as an engine.

use crate::api::join;
use crate::detach::Unattended;
use crate::engine::external;
use crate::engine::registry::Registry;
use crate::engine::scope::{self, Scope};
use crate::engine::worker::Worker;
use crate::{Context, Executor, IntoExecutor, ThreadPool};
use std::sync::Arc;

/// An engine on furcate's own pool: the pool that the caller is in (for instance inside
/// [`ThreadPool::install`](crate::ThreadPool::install)), or the global one if the caller is in none. The calling thread then takes part
/// in the global pool.
///
/// ```
/// use furcate::{Executor, Pool};
/// let (a, b) = Pool.join_context(|_| 1 + 1, |_| 2 + 2);
/// assert_eq!((a, b), (2, 4));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pool;

/// A handle of one of furcate's own pools, which is an [`Executor`].
///
/// If the pool [lets callers take part](crate::ThreadPoolBuilder::caller_takes_part), an external thread runs parts of its own call, on
/// its own stack and in one of the pool's slots.
pub(crate) trait PoolHandle: Clone + Send + Sync {
    /// Whether the pool is always the one that the caller is in. Such a handle forks as [`join`](crate::join()) does.
    const IS_CALLERS: bool = false;

    /// Returns the pool; `None` for the pool that the caller is in, or the global one if the caller is in none.
    fn registry(&self) -> Option<&Registry>;
}

/// Calls `f` with the registry of the handle's pool.
#[inline]
fn with_registry<R>(handle: &impl PoolHandle, f: impl FnOnce(&Registry) -> R) -> R {
    match handle.registry() {
        Some(registry) => f(registry),
        None => Registry::with_current(f),
    }
}

impl PoolHandle for Pool {
    const IS_CALLERS: bool = true;

    #[inline]
    fn registry(&self) -> Option<&Registry> {
        None
    }
}

impl PoolHandle for &ThreadPool {
    #[inline]
    fn registry(&self) -> Option<&Registry> {
        Some(&self.registry)
    }
}

impl PoolHandle for Arc<ThreadPool> {
    #[inline]
    fn registry(&self) -> Option<&Registry> {
        Some(&self.registry)
    }
}

/// `.on(&pool)` of a shared pool: the engine owns a share, as `Arc::clone(&pool)` does.
impl IntoExecutor for &Arc<ThreadPool> {
    type Executor = Arc<ThreadPool>;

    fn into_executor(self) -> Arc<ThreadPool> {
        Arc::clone(self)
    }
}

#[diagnostic::do_not_recommend]
impl<P: PoolHandle> Executor for P {
    type Scope<'scope> = Scope<'scope>;

    #[inline]
    fn detached<'scope, B, R>(&self, body: B) -> R
    where
        B: FnOnce(&Self::Scope<'scope>) -> R + Send,
        R: Send,
    {
        external::call(self.registry(), |worker, _outside| scope::on_worker(worker, body))
    }

    #[inline]
    fn enter<F, R>(&self, f: F) -> R
    where
        F: FnOnce() -> R + Send,
        R: Send,
    {
        external::call(self.registry(), |_, _outside| f())
    }

    #[inline]
    fn is_entered(&self) -> bool {
        external::is_inside(self.registry())
    }

    fn spawn_detached<C: Unattended<Self>>(&self, computation: C) {
        with_registry(self, |registry| scope::spawn_root::<Self, C>(registry, computation));
    }

    #[inline(always)] // so that it costs no call
    fn join_context<A, B, RA, RB>(&self, left: A, right: B) -> (RA, RB)
    where
        A: FnOnce(Context) -> RA + Send,
        B: FnOnce(Context) -> RB + Send,
        RA: Send,
        RB: Send,
    {
        if const { P::IS_CALLERS } {
            return join::fork(left_half(left), right_half(right));
        }
        external::call(self.registry(), |worker, _outside| {
            worker.fork(|_| left(Context::new(false)), |_, migrated| right(Context::new(migrated)))
        })
    }

    #[inline]
    fn num_threads(&self) -> usize {
        with_registry(self, Registry::num_threads)
    }
}

// Functions and no closures inside `join_context`: the type of such a closure would name both halves, and a backtrace has the name in many frames.

#[inline(always)]
fn left_half<A: FnOnce(Context) -> R, R>(left: A) -> impl FnOnce(&Worker, bool) -> R {
    move |_, _outside| left(Context::new(false))
}

#[inline(always)]
fn right_half<B: FnOnce(Context) -> R, R>(right: B) -> impl FnOnce(&Worker, bool, bool) -> R {
    move |_, migrated, _outside| right(Context::new(migrated))
}

/// Returns how many threads run jobs at once in the caller's pool, or in the global pool if the caller is in none.
///
/// ```
/// let pool = furcate::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
/// assert_eq!(pool.install(furcate::current_num_threads), 3);
/// ```
#[must_use]
#[inline]
pub fn current_num_threads() -> usize {
    Registry::with_current(Registry::num_threads)
}

/// Returns the index of the slot that the calling thread holds in its pool, see
/// [`ThreadPool::current_thread_index`](crate::ThreadPool::current_thread_index); `None` if the thread is in no pool. Every closure of
/// a call, also of an external thread's call, has an index. There are two exceptions in an external thread: a chain that is
/// `sequential`, and the body of an [`in_place_scope`](crate::in_place_scope).
///
/// ```
/// assert_eq!(furcate::current_thread_index(), None);
/// let (index, _) = furcate::join(furcate::current_thread_index, || ());
/// assert!(index.unwrap() < furcate::current_num_threads());
/// ```
#[must_use]
pub fn current_thread_index() -> Option<usize> {
    Worker::with_current(|worker| worker?.slot())
}

/// Returns whether the calling thread has queued jobs of its own; `None` if the thread is no worker.
///
/// ```
/// assert_eq!(furcate::current_thread_has_pending_tasks(), None);
/// ```
#[must_use]
pub fn current_thread_has_pending_tasks() -> Option<bool> {
    Worker::with_current(|worker| worker.map(Worker::has_pending_jobs))
}

/// Returns the largest number of threads that a pool can have. It is larger than any machine's number of cores.
///
/// ```
/// assert!(furcate::current_num_threads() <= furcate::max_num_threads());
/// ```
#[must_use]
pub const fn max_num_threads() -> usize {
    crate::engine::registry::MAX_THREADS
}
