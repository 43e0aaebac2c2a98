//! Tasks of a scope: futures that wait.
//!
//! # Invariants
//!
//! 1. A task counts as a job of its scope from its first suspension until its future and its continuation are gone. It has
//!    [`TASK`] counts: its own, and one for the handle that its continuation is likely to make.
//! 2. A [`Handle`] counts as a job of its scope as long as it lives. So the scope is there while a handle exists, and
//!    the owner of a handle may suspend tasks.

use super::Scope;
use crate::detach::{OneShot, Resume, Stopper, Suspend};
use crate::engine::registry::Registry;
use crate::engine::settings::Suspension;
use crate::engine::stats::{Counter, Counters};
use crate::engine::task::{self, Held, JoinHandle, Spare, Tasks};
use crate::engine::worker::Worker;
use crate::trace::{self, Kind};
use std::marker::PhantomData;
use std::ptr;
use std::sync::Arc;
use std::task::Poll;

/// Number of counts of a task (invariant 1).
pub(crate) const TASK: usize = 2;

/// A handle that suspends tasks of a scope: see [`Suspend`].
///
/// The scope does not end while a handle exists.
#[derive(Debug)]
pub struct Handle<'scope> {
    scope: *const Scope<'scope>,
    _scope: PhantomData<fn(&'scope ()) -> &'scope ()>,
}

// SAFETY: it stands for a reference to the scope, which is `Sync`.
unsafe impl Send for Handle<'_> {}
// SAFETY: as above.
unsafe impl Sync for Handle<'_> {}

impl<'scope> Handle<'scope> {
    /// Spawns a future into the scope: see [`Scope::spawn_future`].
    ///
    /// ```
    /// // A task that spawns further ones.
    /// let data = vec![3, 4];
    /// let data = &data;
    /// let product = furcate::scope(|s| {
    ///     let handle = s.handle();
    ///     let product = s.spawn_future(async move {
    ///         let right = handle.spawn_future(async move { data[1] });
    ///         data[0] * right.await
    ///     });
    ///     furcate::block_on(product)
    /// });
    /// assert_eq!(product, 12);
    /// ```
    pub fn spawn_future<F>(&self, future: F) -> JoinHandle<F::Output>
    where
        F: Future<Output: Send + 'scope> + Send + 'scope,
    {
        self.scope().spawn_future(future)
    }

    /// Runs two futures, potentially in parallel: the fork and join of tasks. (Rayon-LH has none. There
    /// a frame spawns and awaits a `FutureJob`, and stays on the stack meanwhile.)
    ///
    /// The right future is spawned, so any worker can take it; the left one is polled by the calling task. If no worker
    /// has taken the right one when the left one is ready, the calling task runs the right one in place, as
    /// [`join`](crate::join()) does. If the returned future is dropped before its end, the right one goes on in the
    /// scope.
    ///
    /// A function that calls itself through `join_async` boxes its calls. It also names its future's type, as below, or
    /// promises an `impl Future<..> + Send`: the compiler cannot tell whether the future of an `async fn` that contains
    /// itself is `Send`.
    ///
    /// Cost: two allocations, and those of a suspension if one of the two futures is pending.
    ///
    /// ```
    /// use furcate::ScopeHandle;
    /// use std::pin::Pin;
    ///
    /// fn fib<'s>(n: u32, handle: ScopeHandle<'s>) -> Pin<Box<dyn Future<Output = u64> + Send + 's>> {
    ///     Box::pin(async move {
    ///         if n < 2 {
    ///             return n.into();
    ///         }
    ///         let (a, b) = handle.join_async(fib(n - 1, handle.clone()), fib(n - 2, handle.clone())).await;
    ///         a + b
    ///     })
    /// }
    /// let fib = furcate::scope(|s| furcate::block_on(fib(10, s.handle())));
    /// assert_eq!(fib, 55);
    /// ```
    pub async fn join_async<A, B>(&self, left: A, right: B) -> (A::Output, B::Output)
    where
        A: Future,
        B: Future<Output: Send + 'scope> + Send + 'scope,
    {
        let right = self.spawn_future(right);
        let left = left.await;
        self.scope()
            .with_worker(|worker| worker.into_iter().for_each(|worker| worker.run_if_newest(right.job())));
        (left, right.await)
    }

    fn scope(&self) -> &Scope<'scope> {
        // SAFETY: invariant 2.
        unsafe { &*self.scope }
    }
}

impl Clone for Handle<'_> {
    fn clone(&self) -> Self {
        self.scope().handle()
    }
}

impl Drop for Handle<'_> {
    fn drop(&mut self) {
        // SAFETY: the handle was announced when it was made (invariant 2), and arrives once. The pointer is not used
        // again. No reference to the scope lives on while the handle arrives, since the scope may be gone at that
        // moment.
        Worker::with_current(|worker| unsafe { Scope::give_back(self.scope, worker) });
    }
}

impl<'scope> Suspend<'scope, Scope<'scope>> for Handle<'scope> {
    type Slot<F, K>
        = Spare<'scope, F, K>
    where
        F: Future + Send + 'scope,
        K: Resume<'scope, Scope<'scope>, F::Output>;

    fn poll_once<F, K>(&self, slot: &mut Spare<'scope, F, K>, future: F) -> Poll<F::Output>
    where
        F: Future + Send + 'scope,
        K: Resume<'scope, Scope<'scope>, F::Output>,
    {
        let polled = slot.poll(self.scope(), future);
        self.scope().count_poll(polled.is_ready());
        polled
    }

    fn suspend<F, K>(&self, slot: &mut Spare<'scope, F, K>, then: K)
    where
        F: Future + Send + 'scope,
        K: Resume<'scope, Scope<'scope>, F::Output>,
    {
        // SAFETY: invariant 2.
        unsafe { slot.suspend(self.scope(), then) };
    }

    type Held = Held<'scope>;

    fn hold<F, K>(&self, slot: &mut Spare<'scope, F, K>, then: K) -> Held<'scope>
    where
        F: Future + Send + 'scope,
        K: Resume<'scope, Scope<'scope>, F::Output>,
    {
        // SAFETY: invariant 2.
        unsafe { slot.hold(self.scope(), then) }
    }

    fn suspend_beside(&self, held: Held<'scope>) {
        held.suspend_deque();
    }

    fn is_proactive(&self) -> bool {
        self.scope().registry().suspension() == Some(Suspension::Proactive)
    }

    fn waits_for_room(&self) {
        self.scope().count(|counters| &counters.waits_for_room, 1);
    }

    #[inline]
    fn cooperate(&self) {
        self.scope().with_worker(|worker| worker.into_iter().for_each(Worker::cooperate));
    }

    fn cancel(&self) {
        self.scope().cancel_tasks();
    }

    fn is_cancelled(&self) -> bool {
        self.scope().tasks.are_cancelled()
    }

    fn stopper(&self) -> Stopper {
        let stop = Arc::clone(self.scope().stop());
        Stopper::of(stop)
    }
}

impl<'scope> Scope<'scope> {
    /// Returns a handle of the scope, with which tasks spawn others. The handle may be kept as long as the data that
    /// the scope's jobs borrow.
    ///
    /// The scope does not end before all its handles have been dropped. So a handle that is forgotten, or returned from
    /// the scope's closure, makes the scope's caller wait for ever.
    #[must_use]
    pub fn handle(&self) -> Handle<'scope> {
        self.announce(1);
        Handle { scope: ptr::from_ref(self), _scope: PhantomData }
    }

    /// Spawns a future into the scope: a task that any worker polls, and that holds no worker while it is pending.
    ///
    /// As with [`spawn`](Self::spawn), the scope waits for the future's end, whether its handle is awaited or not, and
    /// the future may borrow data that outlive the scope. After a panic in the scope a future that has not ended is
    /// dropped. A future that spawns further ones takes a [`handle`](Self::handle) along.
    ///
    /// Cost: two allocations.
    ///
    /// # Panics
    ///
    /// Does not panic itself: the panic of a future is raised by the function that made the scope.
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// let names = ["Ada".to_string(), "Grace".to_string()];
    /// let lengths = furcate::scope(|s| {
    ///     let waits: Vec<_> = names
    ///         .iter()
    ///         .map(|name| {
    ///             s.spawn_future(async move {
    ///                 async_io::Timer::after(Duration::from_millis(10)).await;
    ///                 name.len()
    ///             })
    ///         })
    ///         .collect();
    ///     waits.into_iter().map(furcate::block_on).collect::<Vec<_>>()
    /// });
    /// assert_eq!(lengths, [3, 5]);
    /// ```
    pub fn spawn_future<F>(&self, future: F) -> JoinHandle<F::Output>
    where
        F: Future<Output: Send + 'scope> + Send + 'scope,
    {
        // Before the future is counted: if this panics, no thread waits for the future.
        self.registry().check_generation();
        let (place, sender) = OneShot::new();
        JoinHandle::new(place, task::spawn(self, future, sender), None)
    }

    /// Calls `f` with the worker that this thread is, if it is one of the scope's pool.
    pub(crate) fn with_worker<R>(&self, f: impl FnOnce(Option<&Worker>) -> R) -> R {
        Worker::with_current(|worker| f(self.mine(worker)))
    }

    /// Returns the worker if it is one of the scope's pool.
    #[inline]
    pub(crate) fn mine<'w>(&self, worker: Option<&'w Worker>) -> Option<&'w Worker> {
        worker.filter(|worker| worker.is_of(self.registry()))
    }

    /// Adds to this thread's counter: the worker's own, or the one for threads outside the pool.
    #[inline]
    pub(crate) fn count(&self, counter: fn(&Counters) -> &Counter, more: u64) {
        self.with_worker(|worker| match worker {
            Some(worker) => counter(&worker.counters).add_up(more),
            None => counter(&self.registry().outside).add_shared(more),
        });
    }

    /// Counts a poll of a future that was not suspended.
    #[inline]
    fn count_poll(&self, is_ready: bool) {
        self.with_worker(|worker| {
            if let Some(worker) = worker {
                worker.counters.polls.add();
                if is_ready {
                    worker.counters.ready.add();
                }
            }
        });
    }

    pub(crate) fn registry(&self) -> &Registry {
        // SAFETY: the scope keeps it, or it keeps the scope.
        unsafe { self.registry.as_ref() }
    }

    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    pub(crate) fn tasks(&self) -> &Tasks {
        &self.tasks
    }

    /// Counts a task that is suspended for the first time.
    pub(crate) fn announce_task(&self) {
        self.announce(TASK);
    }

    /// Cancels all tasks: drops suspended ones, also those that would be suspended later. Called in the body, in a job,
    /// or by another counted thread.
    pub(crate) fn cancel_tasks(&self) {
        if self.tasks.mark_cancelled() {
            trace::record(Kind::Cancel, 0);
            // SAFETY: the caller's count is still to arrive.
            unsafe { self.tasks.sweep() };
        }
    }
}
