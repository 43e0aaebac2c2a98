//! Tasks: futures that the pool polls, and the continuations that take their outputs.
//!
//! A task is a future and a *continuation* in one heap node. While it waits it holds no stack, no worker and no thread.
//! The thread that wakes it puts it where [any worker finds it](crate::engine::queues::stealable). The code after the await, the
//! continuation, runs on the worker that takes it. The maker of a task polls it once in place ([`Spare::poll`]). If
//! the future is pending, the task becomes known to other threads ([`Spare::suspend`]), and its [scope](crate::Scope)
//! counts it.
//!
//! ```text
//!              poll: Ready                the node is spare again, if no waker is left
//!   Spare ──┬─────────────> output
//!           └─ Pending, suspend(then) ──> idle ── wake ──> queue ── worker: poll ──┬─ Ready: then.resume(output)
//!                                          ^                                       └─ Pending ──┐
//!                                          └────────────────────────────────────────────────────┘
//! ```
//!
//! # Invariants
//!
//! 1. *One owner.* Only one thread at a time accesses the future and the continuation: the maker of the task until
//!    `suspend`, then the thread that the [state word](state) names.
//! 2. *The future stays.* It is written to the node once, polled there, and dropped there.
//! 3. *Nothing borrowed survives.* The future and the continuation are gone from the node before the task arrives at
//!    its scope. After that only the state word, the table and the layout are used, which borrow nothing. So wakers may
//!    outlive the scope, the pool, and all data of lifetime `'scope`.
//! 4. The memory is freed by the thread that takes the count of references to 0. Each waker has one reference; the task
//!    itself has one until its future is gone.
//! 5. A task that a wake has set to *scheduled* does not arrive before it has run. So its scope is there, and so is the
//!    registry.
//! 6. `beside` and `flags` are accessed by the thread that may touch the future (invariant 1), and by the thread that has
//!    set the task to *scheduled*, before that thread queues the task. Queues order these accesses before the task's run,
//!    which may free it.
//! 7. No lock of the pool is held while code of the future or the continuation runs: polls, drops, wakers.

mod erased;
mod join_handle;
mod list;
mod spare;
mod waker;

pub(crate) use erased::{Held, Reference};
pub use join_handle::JoinHandle;
pub(crate) use list::Tasks;
pub(crate) use spare::Spare;

use crate::Context;
use crate::detach::Resume;
use crate::engine::job::Outcome;
use crate::engine::scope::{Scope, TASK};
use crate::engine::settings::Suspension;
use crate::engine::stats::Counter;
use crate::engine::worker::{Header, SpawnHeader, Worker};
use crate::quiet_drop::drop_quietly;
use crate::sync::task_state::{SuspendAction, WakeAction};
use crate::trace::{self, Kind};
use erased::{Core, NOBODY, TaskTable, name};
use std::any::Any;
use std::cell::UnsafeCell;
use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::ptr::NonNull;
use std::task::Poll;

/// Panic of a task that awaits a future that was dropped.
pub(crate) const GONE: &str = "the spawned future or closure was dropped before its end: it was cancelled, its pool was dropped, or its scope has panicked";

/// Whether the payload is the panic of a task that has awaited a dropped future.
fn is_gone(payload: &(dyn Any + Send)) -> bool {
    payload.downcast_ref::<&str>() == Some(&GONE)
}

/// A task.
#[repr(C)]
struct Task<'scope, F, K> {
    core: Core,
    /// Present if the core says so.
    future: UnsafeCell<MaybeUninit<F>>,
    then: UnsafeCell<Option<K>>,
    _scope: PhantomData<fn(&'scope ()) -> &'scope ()>,
}

impl<'scope, F, K> Task<'scope, F, K> {
    /// Puts a future in its place (invariant 2).
    ///
    /// # Safety
    ///
    /// The task is the caller's (invariant 1), and has no future.
    unsafe fn set_future(this: NonNull<Self>, future: F) {
        // SAFETY: the caller's.
        unsafe {
            (*this.as_ref().future.get()).write(future);
            this.as_ref().core.set_has_future(true);
        }
    }

    /// Drops the future, if there is one, in its place (invariant 2). Returns the outcome of its last poll, or a panic of the drop if the
    /// poll has not panicked.
    ///
    /// # Safety
    ///
    /// The task is the caller's (invariant 1).
    unsafe fn drop_future<T>(this: NonNull<Self>, polled: Outcome<T>) -> Outcome<T> {
        // SAFETY: the caller's.
        unsafe {
            let core = &this.as_ref().core;
            if !core.has_future() {
                return polled;
            }
            core.set_has_future(false);
        }
        // SAFETY: the future is there, and will not be dropped again. Unwind-safe: no code sees it again.
        let dropped =
            catch_unwind(AssertUnwindSafe(|| unsafe { (*this.as_ref().future.get()).assume_init_drop() }));
        match (polled, dropped) {
            (polled, Ok(())) => polled,
            (Ok(output), Err(payload)) => {
                drop_quietly(output);
                Err(payload)
            }
            (first, second) => {
                drop_quietly(second);
                first
            }
        }
    }
}

/// Makes a task whose first poll is made by the worker that takes it.
pub(crate) fn spawn<'scope, F, K>(scope: &Scope<'scope>, future: F, then: K) -> Reference
where
    F: Future + Send + 'scope,
    K: Resume<'scope, Scope<'scope>, F::Output>,
{
    let task = Task::<F, K>::new(scope);
    scope.announce_task();
    // SAFETY: the node is this function's until it is queued or abandoned; and the scope counts it.
    unsafe {
        Task::set_future(task, future);
        *task.as_ref().then.get() = Some(then);
        let state = &task.as_ref().core.state;
        state.retain();
        // As if it was woken in a poll: the worker that takes it begins with a poll.
        let (WakeAction::InPoll | WakeAction::Coalesced | WakeAction::Submit) = state.wake();
        if !scope.tasks().insert(task.cast()) || state.suspend() == SuspendAction::Cancelled {
            Core::abandon(task.cast());
        } else {
            crate::engine::spawn::queue(scope.registry(), task.cast());
        }
    }
    Reference(task.cast())
}

impl<'scope, F, K> Task<'scope, F, K>
where
    F: Future + Send + 'scope,
    K: Resume<'scope, Scope<'scope>, F::Output>,
{
    const TABLE: TaskTable = TaskTable { abandon: Self::abandon, free: Self::free };

    fn new(scope: &Scope<'scope>) -> NonNull<Self> {
        // SAFETY: the header is the first field of the first field, and `run` expects a pointer to it.
        let header = unsafe { SpawnHeader::of_task(Self::run, scope.number()) };
        let core = Core::new(header, &Self::TABLE, scope);
        let (future, then) = (UnsafeCell::new(MaybeUninit::uninit()), UnsafeCell::new(None));
        NonNull::from(Box::leak(Box::new(Task { core, future, then, _scope: PhantomData })))
    }

    /// # Safety
    ///
    /// The task is the caller's, and its future is there.
    unsafe fn poll(this: NonNull<Self>) -> Poll<Outcome<F::Output>> {
        // SAFETY: the caller's: it is there; and it is pinned: invariant 2.
        let future = unsafe {
            debug_assert!(this.as_ref().core.has_future());
            Pin::new_unchecked((*this.as_ref().future.get()).assume_init_mut())
        };
        // Unwind-safe: after a panic the future is dropped.
        let polled =
            waker::with(this.cast(), |context| catch_unwind(AssertUnwindSafe(|| future.poll(context))));
        polled.map_or_else(|payload| Poll::Ready(Err(payload)), |polled| polled.map(Ok))
    }

    /// # Safety
    ///
    /// As [`JobRef::run`](crate::engine::worker::JobRef::run); `job` points to a task of this type that was suspended.
    unsafe fn run(job: NonNull<Header>, worker: &Worker, _from: *const Worker) {
        let this = job.cast::<Self>();
        // SAFETY: a task in a queue is there, and so is its scope (invariant 5).
        let (core, scope) =
            unsafe { (&this.as_ref().core, &*this.as_ref().core.scope.cast::<Scope<'scope>>()) };
        let can_suspend = worker.frame().can_suspend;
        worker.search.ran_task.set(true);
        // A worker that waits for the scope will want to help.
        worker.poke();
        worker.enter_scope(scope.number());
        // SAFETY: the task is this thread's from `begin` on (invariant 1), and arrives once.
        unsafe {
            // All tasks of the scope are cancelled one after the other. None is polled meanwhile, since it may have
            // been woken by the end of another task that it awaits.
            if !core.state.begin() || scope.has_panicked() || scope.tasks().are_cancelled() {
                Self::abandon(this.cast(), Some(worker));
                return;
            }
            worker.counters.polls.add();
            core.measure(worker);
            core.count_coalesced();
            let polled_by = core.polled_by.get();
            let context = Context::new(polled_by != name(worker));
            let count = |counter: &Counter| {
                if polled_by != NOBODY {
                    counter.add()
                }
            };
            // Left before the task settles or arrives: then its scope may be gone.
            let entered = scope.enter_runtime();
            match Self::poll(this) {
                Poll::Pending => {
                    entered.leave();
                    if can_suspend && scope.suspension() == Suspension::Proactive && core.state.will_wait() {
                        core.suspend_deque(worker);
                    }
                    Core::settle(this.cast(), Some(worker));
                }
                Poll::Ready(polled) => {
                    let (then, polled) = Self::end(this, scope, polled);
                    let credits = match polled {
                        Ok(output) => {
                            count(&worker.counters.resumes);
                            trace::record(Kind::Resume, this.addr().get() as u64);
                            if context.migrated() {
                                count(&worker.counters.resumes_elsewhere);
                            }
                            let resume = || scope.guard(|| then.resume(scope, output, context));
                            scope.with_credits(TASK - 1, worker, resume).1
                        }
                        Err(payload) => {
                            count(&worker.counters.cancelled);
                            if scope.tasks().are_cancelled() && is_gone(&*payload) {
                                // The task was polled while the scope's tasks were cancelled, and has seen the end of
                                // one that it awaits.
                                Self::cancelled(scope, then);
                            } else {
                                Self::fail(scope, then, payload);
                            }
                            TASK - 1
                        }
                    };
                    entered.leave();
                    Scope::arrive(scope, 1 + credits, Some(worker));
                }
            }
        }
    }

    /// Reports that the future has panicked.
    fn fail(scope: &Scope<'scope>, mut then: K, payload: Box<dyn Any + Send>) {
        // Unwind-safe: no code sees the continuation again.
        match catch_unwind(AssertUnwindSafe(|| then.failed(payload))) {
            Ok(None) => {}
            Ok(Some(payload)) | Err(payload) => scope.keep(payload),
        }
        // Not before: a task that awaits the output sees this drop, and panics in turn.
        scope.guard(|| drop(then));
    }

    /// Reports that the future was dropped, or is treated as if it was.
    fn cancelled(scope: &Scope<'scope>, then: K) {
        if scope.has_panicked() {
            drop_quietly(then);
        } else {
            scope.guard(|| then.cancelled(scope));
        }
    }

    /// Drops the future and releases the task. Returns the continuation, and the outcome as [`drop_future`](Self::drop_future) does.
    ///
    /// # Safety
    ///
    /// The task is the caller's, who does not use it again.
    unsafe fn end<T>(this: NonNull<Self>, scope: &Scope<'scope>, polled: Outcome<T>) -> (K, Outcome<T>) {
        // SAFETY: the caller's.
        unsafe {
            let polled = Self::drop_future(this, polled);
            this.as_ref().core.count_coalesced();
            let then = (*this.as_ref().then.get()).take();
            scope.tasks().remove(this.cast());
            Core::finish(this.cast());
            (then.expect("it is taken once"), polled)
        }
    }

    /// See [`TaskTable`].
    ///
    /// # Safety
    ///
    /// `core` is a task of this type that is the caller's, who does not use it again. It has not arrived at its scope.
    unsafe fn abandon(core: NonNull<Core>, worker: Option<&Worker>) {
        // SAFETY: the caller's.
        unsafe {
            let scope = &*core.as_ref().scope.cast::<Scope<'scope>>();
            core.as_ref().leave_deque();
            if core.as_ref().polled_by.get() != NOBODY {
                scope.count(|counters| &counters.cancelled, 1);
            }
            let entered = scope.enter_runtime();
            match Self::end(core.cast(), scope, Ok(())) {
                (then, Err(payload)) => Self::fail(scope, then, payload),
                (then, Ok(())) => Self::cancelled(scope, then),
            }
            entered.leave();
            Scope::arrive(scope, TASK, worker);
        }
    }

    /// See [`TaskTable`].
    ///
    /// # Safety
    ///
    /// `core` is a task of this type with no reference left.
    unsafe fn free(core: NonNull<Core>) {
        // SAFETY: from `Box::leak`, as a `Task`. The future and the continuation are gone, so neither is dropped here.
        drop(unsafe { Box::from_raw(core.cast::<Self>().as_ptr()) });
    }
}
