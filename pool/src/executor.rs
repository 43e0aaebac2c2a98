//! The contract between schedulers and engines.
//!
//! # Invariants an engine keeps
//!
//! 1. [`Executor::join_context`] returns or unwinds only after both closures have returned or unwound (or were
//!    dropped unrun): they may borrow from the caller's stack.
//! 2. If a closure panics, the panic reaches the caller; if both do, the left one's payload does.
//! 3. The left closure runs on the worker that the caller is on, or that the call was taken to when it came from
//!    outside; it is never [migrated](Context::migrated).
//! 4. [`Context::migrated`] is true exactly when another worker runs the closure than the one that forked it. That a
//!    job went through a queue and came back to its owner is not a migration.

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
    /// A context for closures run by another worker than the one that forked them (`true`), or by the same.
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
/// Implementations are small handles, cheap to clone. The module's invariants are what schedulers rely on; safe code
/// that breaks them gets wrong results, hangs or panics, never undefined behaviour.
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

    /// Runs both closures, potentially in parallel, and returns both results.
    ///
    /// # Panics
    ///
    /// With the payload of the closure that panicked, the left one's if both did.
    fn join_context<A, B, RA, RB>(&self, left: A, right: B) -> (RA, RB)
    where
        A: FnOnce(Context) -> RA + Send,
        B: FnOnce(Context) -> RB + Send,
        RA: Send,
        RB: Send;

    /// Runs `f` where the engine's tasks run, and returns its result. Schedulers call it once, around a whole computation, so that a
    /// computation that never forks runs there too.
    ///
    /// By default `f` runs in the calling thread.
    ///
    /// Cost on furcate's own pool: one look at a thread-local inside the pool; a thread from outside takes a slot of the pool, or
    /// hands the call over to the pool's threads, see
    /// [`caller_takes_part`](crate::ThreadPoolBuilder::caller_takes_part).
    ///
    /// # Panics
    ///
    /// If `f` does.
    ///
    /// ```
    /// use furcate::{Executor, Pool};
    /// assert_eq!(Pool.thread_index(), None);
    /// assert!(Pool.enter(|| Pool.thread_index()).is_some());
    /// ```
    fn enter<F, R>(&self, f: F) -> R
    where
        F: FnOnce() -> R + Send,
        R: Send,
    {
        f()
    }

    /// Runs a computation whose parts can outlive the frames that make them, and returns when all of it has ended: see
    /// [`detach`](crate::detach).
    ///
    /// # Panics
    ///
    /// With the payload of the body's panic or of a part's.
    fn detached<'scope, B, R>(&self, body: B) -> R
    where
        B: FnOnce(&Self::Scope<'scope>) -> R + Send,
        R: Send;

    /// Runs a computation without waiting for it. The computation owns all values that its parts borrow, and is told its end. On
    /// furcate's own pool it blocks no thread while it waits. If the pool is dropped, the computation's suspended tasks are dropped, and
    /// [`Unattended::end`] is told [`End::Cancelled`](crate::detach::End::Cancelled).
    ///
    /// The default, for engines that cannot do better, runs the computation in the calling thread before it returns.
    ///
    /// Cost on furcate's own pool: an allocation, an entry in a table, and two jobs.
    ///
    /// # Panics
    ///
    /// Not here: panics of the computation are told to [`Unattended::end`]. A panic of that method is treated like the panic of a
    /// [spawned future](crate::spawn_future) whose handle was dropped: it goes to the pool's panic handler, if there is one. The default
    /// implementation panics in turn.
    fn spawn_detached<C: Unattended<Self>>(&self, computation: C) {
        run_blocking(self, computation);
    }

    /// How many threads may run jobs at once; at least 1.
    fn num_threads(&self) -> usize;

    /// Returns whether another worker wants work from the caller. A hint, cheap enough to be asked between small pieces of work:
    /// one relaxed load on furcate's own pool. Engines that cannot tell return `false`.
    fn demand(&self) -> bool {
        false
    }

    /// The caller's index among this engine's workers (`0..num_threads`), `None` if it is not one of them.
    fn thread_index(&self) -> Option<usize>;
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
