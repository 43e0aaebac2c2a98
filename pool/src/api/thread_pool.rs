//! Pools besides the global one.

mod build;

use crate::Yield;
use crate::api::broadcast::{self, BroadcastContext};
use crate::api::join::FnContext;
use crate::api::spawn_future;
use crate::engine::registry::Registry;
use crate::engine::scope::{self, Scope, ScopeFifo};
use crate::engine::spawn;
use crate::engine::stats::Stats;
use crate::engine::task::JoinHandle;
use crate::engine::worker::Worker;
use std::fmt;
use std::sync::Arc;

/// A pool of threads that steal work from each other.
///
/// A [`ThreadPoolBuilder`](crate::ThreadPoolBuilder) makes pools. All calls inside [`install`](Self::install), at any depth, run on
/// this pool. A pool is also an [`Executor`](crate::Executor), for a single iterator chain: `.on(&pool)`.
///
/// Dropping the pool waits until all spawned jobs have run and its threads have ended. If one of its own threads drops the pool, or
/// the pool [does not wait](crate::ThreadPoolBuilder::wait_on_drop), the threads end by themselves later. [`abandon`](Self::abandon) drops
/// the jobs that have not begun.
///
/// ```
/// let pool = furcate::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
/// let (a, b) = pool.install(|| furcate::join(|| 6 * 7, || furcate::current_num_threads()));
/// assert_eq!((a, b), (42, 2));
/// ```
///
/// # As an engine
///
/// `&ThreadPool` and `Arc<ThreadPool>` are engines. The latter owns a share of the pool, as computations that are `'static` need (the
/// `async_*` terminals).
///
/// If the pool [lets callers take part](crate::ThreadPoolBuilder::caller_takes_part), an external thread runs parts of its own call, on
/// its own stack and in one of the pool's slots. Closures given to the methods of `ThreadPool` itself, such as
/// [`install`](ThreadPool::install), always run on the pool's threads, except for the body of an
/// [`in_place_scope`](ThreadPool::in_place_scope).
///
/// ```
/// use furcate::prelude::*;
/// use std::sync::Arc;
///
/// let pool = Arc::new(furcate::ThreadPoolBuilder::new().num_threads(2).build().unwrap());
/// let sum = (0..1000_u64).into_par_iter().on(&pool).async_sum::<u64>();
/// assert_eq!(furcate::block_on(sum), 499_500);
/// ```
pub struct ThreadPool {
    pub(crate) registry: Arc<Registry>,
}

impl ThreadPool {
    /// Runs `op` on one of the pool's threads (on the calling thread, if it is one of them) and returns its result.
    ///
    /// Cost: from outside the pool, a hand-over to another thread and back. If the caller is a worker of another pool, it releases its
    /// slot there while it waits.
    ///
    /// # Panics
    ///
    /// If `op` does.
    pub fn install<OP, R>(&self, op: OP) -> R
    where
        OP: FnOnce() -> R + Send,
        R: Send,
    {
        self.registry.inside(|_| op())
    }

    /// [`join`](crate::join) on this pool: `install(|| join(left, right))`.
    ///
    /// # Panics
    ///
    /// As [`join`](crate::join).
    pub fn join<A, B, RA, RB>(&self, left: A, right: B) -> (RA, RB)
    where
        A: FnOnce() -> RA + Send,
        B: FnOnce() -> RB + Send,
        RA: Send,
        RB: Send,
    {
        self.install(|| crate::join(left, right))
    }

    /// [`join_context`](crate::join_context) on one of this pool's threads, as with [`install`](Self::install).
    ///
    /// # Panics
    ///
    /// As [`join`](crate::join).
    pub fn join_context<A, B, RA, RB>(&self, left: A, right: B) -> (RA, RB)
    where
        A: FnOnce(FnContext) -> RA + Send,
        B: FnOnce(FnContext) -> RB + Send,
        RA: Send,
        RB: Send,
    {
        self.install(|| crate::join_context(left, right))
    }

    /// [`join_with`](crate::join_with) on this pool.
    ///
    /// # Panics
    ///
    /// As [`join`](crate::join).
    pub fn join_with<A, B, RA, RB>(&self, left: A, right: B) -> (RA, RB)
    where
        A: FnOnce(&Worker) -> RA + Send,
        B: FnOnce(&Worker) -> RB + Send,
        RA: Send,
        RB: Send,
    {
        self.install(|| crate::join_with(left, right))
    }

    /// [`scope`](crate::scope()) on this pool.
    ///
    /// # Panics
    ///
    /// As [`scope`](crate::scope()).
    pub fn scope<'scope, OP, R>(&self, op: OP) -> R
    where
        OP: FnOnce(&Scope<'scope>) -> R + Send,
        R: Send,
    {
        self.registry.inside(|worker| scope::on_worker(worker, op))
    }

    /// [`scope_fifo`](crate::scope_fifo) on this pool.
    ///
    /// # Panics
    ///
    /// As [`scope`](crate::scope()).
    pub fn scope_fifo<'scope, OP, R>(&self, op: OP) -> R
    where
        OP: FnOnce(&ScopeFifo<'scope>) -> R + Send,
        R: Send,
    {
        self.scope(|scope: &Scope<'scope>| op(ScopeFifo::of(scope)))
    }

    /// [`in_place_scope`](crate::in_place_scope) with this pool.
    ///
    /// # Panics
    ///
    /// As [`scope`](crate::scope()).
    pub fn in_place_scope<'scope, OP, R>(&self, op: OP) -> R
    where
        OP: FnOnce(&Scope<'scope>) -> R,
    {
        scope::in_place(&self.registry, true, op)
    }

    /// [`in_place_scope_fifo`](crate::in_place_scope_fifo) with this pool.
    ///
    /// # Panics
    ///
    /// As [`scope`](crate::scope()).
    pub fn in_place_scope_fifo<'scope, OP, R>(&self, op: OP) -> R
    where
        OP: FnOnce(&ScopeFifo<'scope>) -> R,
    {
        self.in_place_scope(|scope: &Scope<'scope>| op(ScopeFifo::of(scope)))
    }

    /// [`spawn`](crate::spawn) on this pool.
    pub fn spawn<OP>(&self, op: OP)
    where
        OP: FnOnce() + Send + 'static,
    {
        spawn::on(&self.registry, op);
    }

    /// [`spawn_future`](crate::spawn_future) in this pool.
    ///
    /// # Panics
    ///
    /// As there.
    pub fn spawn_future<F>(&self, future: F) -> JoinHandle<F::Output>
    where
        F: Future<Output: Send + 'static> + Send + 'static,
    {
        spawn_future::on(&self.registry, future)
    }

    /// Queues `op` for the pool's own thread with that number, `0 .. current_num_threads()`. Returns without waiting for it.
    ///
    /// The same number always means the same thread, whichever slot the thread holds: threads that stand in for it, and threads from
    /// outside, do not run `op`. So values that are bound to a thread, for instance a graphics context, can be made, used and dropped by such
    /// jobs. The number is that of [`BroadcastContext::index`]; with [`use_current_thread`](crate::ThreadPoolBuilder::use_current_thread),
    /// thread 0 is the one that has built the pool.
    ///
    /// The thread runs `op` as it runs its part of a [`broadcast`](Self::broadcast): when it has no job to do, or waits for other threads of
    /// the pool, before other queued jobs. While the thread is in a long job, or blocks outside the pool, `op` waits. If it waits, `op` runs
    /// on top of the frame that waits, so `op` must not want a lock that this frame holds. Jobs for the same thread begin in the order in
    /// which they were queued. A pool that is dropped runs them before it ends. (So a thread that drops or abandons the
    /// pool may wait for a thread 0 that has built the pool to come to its jobs.)
    ///
    /// Cost: an allocation, and the pool's lock.
    ///
    /// # Panics
    ///
    /// If there is no such thread. For a panic of `op` see [`spawn`](crate::spawn).
    ///
    /// ```
    /// use std::cell::Cell;
    /// use std::sync::mpsc::channel;
    /// thread_local!(static CONTEXT: Cell<u32> = const { Cell::new(0) });
    ///
    /// let pool = furcate::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
    /// let (send, receive) = channel();
    /// pool.spawn_on(1, || CONTEXT.set(7));
    /// pool.spawn_on(1, move || send.send(CONTEXT.get()).unwrap());
    /// assert_eq!(receive.recv(), Ok(7));
    /// ```
    pub fn spawn_on<OP>(&self, index: usize, op: OP)
    where
        OP: FnOnce() + Send + 'static,
    {
        broadcast::spawn_at(&self.registry, index, op);
    }

    /// [`spawn_handle`](crate::spawn_handle) on this pool.
    ///
    /// # Panics
    ///
    /// As there.
    pub fn spawn_handle<OP, T>(&self, op: OP) -> JoinHandle<T>
    where
        OP: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        self.spawn_future(async move { op() })
    }

    /// [`spawn_fifo`](crate::spawn_fifo) on this pool.
    pub fn spawn_fifo<OP>(&self, op: OP)
    where
        OP: FnOnce() + Send + 'static,
    {
        spawn::fifo_on(&self.registry, op);
    }

    /// [`broadcast`](crate::broadcast()) on this pool.
    ///
    /// # Panics
    ///
    /// If `op` does in one of the threads.
    pub fn broadcast<OP, R>(&self, op: OP) -> Vec<R>
    where
        OP: Fn(BroadcastContext<'_>) -> R + Sync,
        R: Send,
    {
        broadcast::on(&self.registry, op)
    }

    /// [`spawn_broadcast`](crate::spawn_broadcast) on this pool.
    pub fn spawn_broadcast<OP>(&self, op: OP)
    where
        OP: Fn(BroadcastContext<'_>) + Send + Sync + 'static,
    {
        broadcast::spawn_on(&self.registry, op);
    }

    /// Ends the pool as a drop does, but drops the spawned jobs that have not begun, and returns their number.
    ///
    /// Jobs that run go on to their end. What they spawn from now on is dropped, too. This concerns jobs of `spawn`, `spawn_fifo`,
    /// `spawn_on` and `spawn_broadcast` (which counts once for each thread). A scope waits for its jobs, so these run. Futures, and
    /// closures with [handles](crate::spawn_handle), end as with a drop, and are not counted: their handles tell.
    ///
    /// The pool's threads drop the jobs, one after the other. Then the call returns. Where [a drop does not wait](ThreadPool) for the
    /// threads, and where a [spawn handler](crate::ThreadPoolBuilder::spawn_handler) has started them, it returns at once, with the number
    /// of jobs dropped so far.
    ///
    /// # Panics
    ///
    /// Not here: if the drop of a job's values panics, as if the job did, see [`spawn`](crate::spawn).
    ///
    /// ```
    /// use std::sync::Arc;
    /// use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
    /// use std::time::Duration;
    ///
    /// let pool = furcate::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
    /// let done = Arc::new(AtomicUsize::new(0));
    /// for _ in 0..10_000 {
    ///     let done = Arc::clone(&done);
    ///     pool.spawn(move || {
    ///         std::thread::sleep(Duration::from_millis(1));
    ///         done.fetch_add(1, SeqCst);
    ///     });
    /// }
    /// let dropped = pool.abandon(); // does not take five seconds
    /// assert_eq!(done.load(SeqCst) + dropped, 10_000);
    /// ```
    pub fn abandon(self) -> usize {
        let registry = Arc::clone(&self.registry);
        registry.abandon_spawned();
        drop(self);
        registry.num_abandoned()
    }

    /// Returns how many threads run jobs at once: the pool's number of slots.
    #[must_use]
    pub fn current_num_threads(&self) -> usize {
        self.registry.num_threads()
    }

    /// Returns the index of the slot that the calling thread holds in this pool, `0 .. current_num_threads()`; `None` if it holds none.
    ///
    /// No two threads hold the same slot at the same time, unless one [took it over](crate::WorkerStats::slots_taken_over) from the
    /// other, or [borrows](crate::Fairness) it for a woken task: see [`Worker::index`](crate::Worker::index). A thread may hold another slot
    /// after a `join` or a scope than before: see [`WaitRule`](crate::WaitRule).
    #[must_use]
    pub fn current_thread_index(&self) -> Option<usize> {
        self.of_current(|worker| worker?.slot())
    }

    /// Returns whether the calling thread has queued jobs of its own; `None` if the thread is not one of this pool's.
    #[must_use]
    pub fn current_thread_has_pending_tasks(&self) -> Option<bool> {
        self.of_current(|worker| worker.map(Worker::has_pending_jobs))
    }

    /// [`yield_now`](crate::yield_now()), if the calling thread is one of this pool's.
    pub fn yield_now(&self) -> Option<Yield> {
        self.of_current(|worker| worker.map(|worker| worker.yield_once(false).into()))
    }

    /// [`yield_local`](crate::yield_local), if the calling thread is one of this pool's.
    pub fn yield_local(&self) -> Option<Yield> {
        self.of_current(|worker| worker.map(|worker| worker.yield_once(true).into()))
    }

    /// Returns the counts of the pool's actions so far.
    #[must_use]
    pub fn stats(&self) -> Stats {
        self.registry.stats()
    }

    /// Calls `f` with the calling thread's worker, if that belongs to this pool.
    fn of_current<R>(&self, f: impl FnOnce(Option<&Worker>) -> R) -> R {
        Worker::with_current(|worker| f(worker.filter(|worker| worker.is_of(&self.registry))))
    }
}

impl fmt::Debug for ThreadPool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ThreadPool").field("num_threads", &self.current_num_threads()).finish_non_exhaustive()
    }
}

impl Drop for ThreadPool {
    fn drop(&mut self) {
        self.registry.end();
    }
}
