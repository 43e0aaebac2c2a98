//! The contract between schedulers and engines.
//!
//! # Invariants that an engine keeps
//!
//! 1. [`Executor::join_context`] returns or unwinds only after both closures have returned or unwound (or were
//!    dropped and not run): they may borrow from the caller's stack.
//! 2. If a closure panics, the panic reaches the caller. If both panic, the left one's payload does.
//! 3. The left closure runs on the caller's worker, or on the worker to which a call from outside was handed over. It never
//!    [migrates](Context::migrated).
//! 4. [`Context::migrated`] is true exactly if the closure runs on another worker than the one that forked it. A job that
//!    went through a queue and came back to its owner has not migrated.

mod inline;

pub use inline::Inline;

use crate::detach::{Detach, Unattended, run_blocking};

/// Facts that an engine passes to a closure: whether the closure has migrated.
///
/// ```
/// use furcate::{Executor, Inline};
/// let (left, right) = Inline.join_context(|c| c.migrated(), |c| c.migrated());
/// assert_eq!((left, right), (false, false));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Context {
    migrated: bool,
}

impl Context {
    /// Makes a context for closures that run on another worker than the one that forked them (`true`), or on the same (`false`).
    #[must_use]
    pub const fn new(migrated: bool) -> Self {
        Context { migrated }
    }

    /// Returns whether another worker runs the closure than the one that forked it.
    ///
    /// The name is rayon's (`FnContext::migrated`), the meaning is stricter: a job that merely went through a queue
    /// and is run by its own worker has not migrated.
    #[must_use]
    pub const fn migrated(self) -> bool {
        self.migrated
    }
}

/// An engine: something that runs two closures, potentially in parallel.
///
/// Implementations are small handles, cheap to clone. Schedulers rely on the module's invariants. Safe code
/// that breaks them gets wrong results, hangs or panics, but never undefined behavior.
///
/// ```
/// use furcate::{DefaultExecutor, Executor};
///
/// fn fib<E: Executor>(n: u32, on: &E) -> u64 {
///     if n < 2 {
///         return u64::from(n);
///     }
///     let (a, b) = on.join_context(|_| fib(n - 1, on), |_| fib(n - 2, on));
///     a + b
/// }
/// assert_eq!(fib(16, &DefaultExecutor::default()), 987);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is nowhere to run tasks",
    note = "`.on(..)` takes an engine: `&ThreadPool`, `Arc<ThreadPool>`, `&Arc<ThreadPool>`, `Pool`, `Inline`, or `Rayon` (feature `rayon`)"
)]
pub trait Executor: Clone + Send + Sync {
    /// The scope with which a computation detaches its parts; [`Alone`](crate::detach::Alone) for an engine that cannot detach parts.
    type Scope<'scope>: Detach<'scope>;

    /// Whether the engine gives its computations a [priority](crate::AtPriority). An engine that is named behind it would lose that, so it
    /// does not compile. An engine that wraps another one has that one's value.
    const HAS_PRIORITY: bool = false;

    /// Runs both closures, potentially in parallel, and returns both results.
    ///
    /// # Panics
    ///
    /// If a closure panics, with its payload. If both panic, with the left one's payload.
    fn join_context<A, B, RA, RB>(&self, left: A, right: B) -> (RA, RB)
    where
        A: FnOnce(Context) -> RA + Send,
        B: FnOnce(Context) -> RB + Send,
        RA: Send,
        RB: Send;

    /// Runs `f` on a thread on which the engine runs its tasks, and returns the result. Schedulers call this method once, around a
    /// whole computation, so that a computation that never forks runs there too.
    ///
    /// By default `f` runs in the calling thread.
    ///
    /// Cost on furcate's own pool: inside the pool, one look at a thread-local. An external thread occupies a slot of the pool, or
    /// hands the call over to the pool's threads, see
    /// [`caller_takes_part`](crate::ThreadPoolBuilder::caller_takes_part).
    ///
    /// # Panics
    ///
    /// If `f` does.
    ///
    /// ```
    /// use furcate::{Executor, Pool, current_thread_index};
    /// assert_eq!(current_thread_index(), None);
    /// assert!(Pool.enter(current_thread_index).is_some());
    /// ```
    fn enter<F, R>(&self, f: F) -> R
    where
        F: FnOnce() -> R + Send,
        R: Send,
    {
        f()
    }

    /// Whether the calling thread runs one of the engine's jobs or calls, so that [`enter`](Self::enter) would change nothing. A call from outside is likely
    /// to be the only one, and is divided into more parts than one of many within a job.
    ///
    /// By default true.
    fn is_entered(&self) -> bool {
        true
    }

    /// Runs a computation whose parts can outlive the frames that make them. Returns when the whole computation has ended: see
    /// [`detach`](crate::detach).
    ///
    /// # Panics
    ///
    /// With the payload of the body's panic or of a part's.
    fn detached<'scope, B, R>(&self, body: B) -> R
    where
        B: FnOnce(&Self::Scope<'scope>) -> R + Send,
        R: Send;

    /// Runs a computation without waiting for it. The computation owns all values that its parts borrow, and its method
    /// [`Unattended::end`] is called at its end. On furcate's own pool the computation blocks no thread while it waits. If the pool is
    /// dropped, the computation's suspended tasks are dropped, and `end` gets [`SpawnedOutcome::Cancelled`](crate::detach::SpawnedOutcome::Cancelled).
    ///
    /// The default runs the computation in the calling thread before it returns. It is for engines that cannot do better.
    ///
    /// Cost on furcate's own pool: an allocation, an entry in a table, and two jobs.
    ///
    /// # Panics
    ///
    /// Not here: [`Unattended::end`] gets the payload if the computation panics. A panic of `end` itself is treated like the panic of a
    /// [spawned future](crate::spawn_future) whose handle was dropped: it goes to the pool's panic handler, if there is one. The
    /// default implementation lets it unwind.
    fn spawn_detached<C: Unattended<Self>>(&self, computation: C) {
        run_blocking(self, computation);
    }

    /// Returns how many threads may run jobs at once; at least 1.
    fn num_threads(&self) -> usize;
}

/// Types that `.on(..)` takes: an engine, or an `&Arc<ThreadPool>`, which is cloned.
///
/// ```
/// use furcate::{Executor, IntoExecutor, ThreadPool, ThreadPoolBuilder};
/// use std::sync::Arc;
///
/// fn threads(on: impl IntoExecutor) -> usize {
///     on.into_executor().num_threads()
/// }
/// let pool = Arc::new(ThreadPoolBuilder::new().num_threads(3).build().unwrap());
/// assert_eq!((threads(&*pool), threads(&pool), threads(pool)), (3, 3, 3));
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is nowhere to run tasks",
    note = "`.on(..)` takes an engine: `&ThreadPool`, `Arc<ThreadPool>`, `&Arc<ThreadPool>`, `Pool`, `Inline`, or `Rayon` (feature `rayon`)"
)]
pub trait IntoExecutor {
    /// The engine.
    type Executor: Executor;

    /// Returns the engine.
    fn into_executor(self) -> Self::Executor;
}

impl<E: Executor> IntoExecutor for E {
    type Executor = E;

    #[inline]
    fn into_executor(self) -> E {
        self
    }
}
