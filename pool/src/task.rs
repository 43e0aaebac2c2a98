//! Tasks: futures that the pool polls, and what is to be done with their outputs.
//!
//! A task is a future and a *continuation* in one heap node. While it waits it holds no stack, no worker and no thread:
//! whoever wakes it puts it where [any worker finds it](crate::stealable), and what follows the await, the continuation,
//! runs there. Who makes a task polls it once in place ([`Spare::poll`]); only if it is pending does it become one that
//! others know of ([`Spare::suspend`]), and then its [scope](crate::Scope) counts it.
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
//! 1. *One owner.* The future and the continuation are touched by one thread at a time: by who made the task, until
//!    `suspend`; then by whom the [state word](state) says.
//! 2. *The future stays.* It is written to the node once, polled there, and dropped there.
//! 3. *Nothing borrowed survives.* The future and the continuation are gone from the node before the task arrives at its
//!    scope. After that only the state word, the table and the layout are used, which borrow nothing: so wakers may outlive
//!    the scope, the pool, and everything `'scope`.
//! 4. The memory is freed by who takes the count of references to 0: wakers have one each, the task itself has one until
//!    its future is gone.
//! 5. From the moment at which a wake puts it to *scheduled* until it is run, a task has not arrived: so its scope is
//!    there, and the registry.
//! 6. No lock of ours is held while code of the future or the continuation runs: polls, drops, wakers.

mod list;
mod spare;
mod state;
mod waker;

pub(crate) use list::Tasks;
pub(crate) use spare::Spare;

use crate::Context;
use crate::detach::Resume;
use crate::job::{Header, JobRef, SpawnHeader};
use crate::scope::Scope;
use crate::stats::Counter;
use crate::unseen::drop_quietly;
use crate::worker::Worker;
use list::Links;
use state::{Begin, Cancel, State, Suspend, Wake};
use std::any::Any;
use std::cell::UnsafeCell;
use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::ptr::{self, NonNull};
use std::task::Poll;

/// What every task begins with.
#[repr(C)]
pub(crate) struct Core {
    header: SpawnHeader,
    state: State,
    table: &'static Table,
    /// Null until `suspend`.
    scope: *const Scope<'static>,
    /// Its place in the scope's list, whose lock guards it.
    links: UnsafeCell<Links>,
    /// The number of the worker whose poll it has been suspended after; the owner's (invariant 1).
    polled_by: UnsafeCell<usize>,
}

/// It was not suspended yet.
const NOBODY: usize = usize::MAX;
/// A thread that is none of the pool's workers.
const OUTSIDE: usize = NOBODY - 1;

/// What can be done with a task whose types are not known.
struct Table {
    /// Ends a task that belongs to the caller, without another poll.
    abandon: unsafe fn(NonNull<Core>, Option<&Worker>),
    /// Frees the memory.
    free: unsafe fn(NonNull<Core>),
}

/// A task.
#[repr(C)]
struct Task<'scope, F, K> {
    core: Core,
    future: UnsafeCell<Option<F>>,
    then: UnsafeCell<Option<K>>,
    _scope: PhantomData<fn(&'scope ()) -> &'scope ()>,
}

impl<'scope, F, K> Task<'scope, F, K> {
    /// Drops the future in its place (invariant 2). Returns its panic.
    ///
    /// # Safety
    ///
    /// The task is the caller's (invariant 1).
    unsafe fn drop_future(this: NonNull<Self>) -> Result<(), Box<dyn Any + Send>> {
        // SAFETY: the caller's. An assignment drops in place. Unwind-safe: nobody sees the future again.
        catch_unwind(AssertUnwindSafe(|| unsafe { *this.as_ref().future.get() = None }))
    }
}

/// Somebody who knows of a task, and may cancel it.
#[derive(Debug)]
pub(crate) struct Reference(NonNull<Core>);

// SAFETY: any thread may retain, cancel and release a task.
unsafe impl Send for Reference {}
// SAFETY: as above.
unsafe impl Sync for Reference {}

impl Reference {
    /// Drops the future, if it is not at its end: at once, or, if it is being polled or in a queue, by whoever has it.
    pub(crate) fn cancel(&self) {
        // SAFETY: its reference.
        unsafe { Core::cancel(self.0) };
    }
}

impl Drop for Reference {
    fn drop(&mut self) {
        // SAFETY: its own reference.
        unsafe { Core::release(self.0) };
    }
}

/// Makes a task that is polled for the first time by whoever takes it up.
pub(crate) fn spawn<'scope, F, K>(scope: &Scope<'scope>, future: F, then: K) -> Reference
where
    F: Future + Send + 'scope,
    K: Resume<'scope, Scope<'scope>, F::Output>,
{
    let task = Task::<F, K>::new(scope);
    scope.announce_task();
    // SAFETY: the node is this function's until it is queued or abandoned; and the scope counts it.
    unsafe {
        *task.as_ref().future.get() = Some(future);
        *task.as_ref().then.get() = Some(then);
        let state = &task.as_ref().core.state;
        state.retain();
        // As if it was woken in a poll: whoever takes it up begins with one.
        let (Wake::InPoll | Wake::Coalesced | Wake::Submit) = state.wake();
        if !scope.tasks().insert(task.cast()) || state.suspend() == Suspend::Cancelled {
            scope.with_worker(|worker| Task::<F, K>::abandon(task.cast(), worker));
        } else {
            crate::spawn::queue(scope.registry(), task.cast());
        }
    }
    Reference(task.cast())
}

impl<'scope, F, K> Task<'scope, F, K>
where
    F: Future + Send + 'scope,
    K: Resume<'scope, Scope<'scope>, F::Output>,
{
    const TABLE: Table = Table { abandon: Self::abandon, free: Self::free };

    fn new(scope: &Scope<'scope>) -> NonNull<Self> {
        // SAFETY: the header is the first field of the first field, and `run` expects a pointer to it.
        let header = unsafe { SpawnHeader::new(Self::run, scope.number()) };
        let core = Core {
            header,
            state: State::running(),
            table: &Self::TABLE,
            scope: ptr::from_ref(scope).cast(),
            links: UnsafeCell::default(),
            polled_by: UnsafeCell::new(NOBODY),
        };
        let (future, then) = (UnsafeCell::new(None), UnsafeCell::new(None));
        NonNull::from(Box::leak(Box::new(Task { core, future, then, _scope: PhantomData })))
    }

    /// # Safety
    ///
    /// The task is the caller's, and its future is there.
    unsafe fn poll(this: NonNull<Self>) -> Result<Poll<F::Output>, Box<dyn Any + Send>> {
        // SAFETY: the caller's; the future is pinned: invariant 2.
        let future =
            unsafe { Pin::new_unchecked((*this.as_ref().future.get()).as_mut().expect("it is there")) };
        // Unwind-safe: after a panic the future is dropped.
        waker::with(this.cast(), |context| catch_unwind(AssertUnwindSafe(|| future.poll(context))))
    }

    /// After a poll that gave `Pending`: the task is everybody's, or nobody's.
    ///
    /// # Safety
    ///
    /// The task is the caller's, who does not use it again; it is in its scope's list, or was. `worker` is this thread's.
    unsafe fn settle(this: NonNull<Self>, worker: Option<&Worker>) {
        // SAFETY: the caller's; after `suspend` it is used no more, but where that says so.
        unsafe {
            let core = &this.as_ref().core;
            let polled_by = &mut *core.polled_by.get();
            match worker {
                _ if *polled_by != NOBODY => {}
                Some(worker) => worker.counters.suspensions.add(),
                None => (*core.scope).registry().outside.suspensions.add(),
            }
            *polled_by = worker.map_or(OUTSIDE, Worker::number);
            match core.state.suspend() {
                Suspend::Suspended => {}
                Suspend::Again => Core::submit(this.cast()),
                Suspend::Cancelled => Self::abandon(this.cast(), worker),
            }
        }
    }

    /// # Safety
    ///
    /// As [`JobRef::run`]; `job` points to a task of this type that was suspended.
    unsafe fn run(job: NonNull<Header>, worker: &Worker, _from: *const Worker) {
        let this = job.cast::<Self>();
        // SAFETY: a task in a queue is there, and so is its scope (invariant 5).
        let (core, scope) =
            unsafe { (&this.as_ref().core, &*this.as_ref().core.scope.cast::<Scope<'scope>>()) };
        // Whoever waits for the scope will want to help.
        worker.nudge();
        let root = worker.enter_root(scope.number());
        // SAFETY: the task is this thread's from `begin` on (invariant 1), and arrives once.
        unsafe {
            if core.state.begin() == Begin::Drop || scope.has_panicked() {
                Self::abandon(this.cast(), Some(worker));
                worker.leave_root(root);
                return;
            }
            worker.counters.polls.add();
            let polled_by = *core.polled_by.get();
            let context = Context::new(polled_by != worker.number());
            let count = |counter: &Counter| {
                if polled_by != NOBODY {
                    counter.add()
                }
            };
            match Self::poll(this) {
                Ok(Poll::Pending) => Self::settle(this, Some(worker)),
                Ok(Poll::Ready(output)) => {
                    match Self::end(this, scope) {
                        (then, Ok(())) => {
                            count(&worker.counters.resumes);
                            scope.guard(|| then.resume(scope, output, context));
                        }
                        (then, Err(payload)) => {
                            count(&worker.counters.cancelled);
                            Self::fail(scope, then, payload);
                            drop_quietly(output);
                        }
                    }
                    Scope::arrive(scope, Some(worker));
                }
                Err(payload) => {
                    count(&worker.counters.cancelled);
                    let (then, dropped) = Self::end(this, scope);
                    Self::fail(scope, then, payload);
                    drop_quietly(dropped);
                    Scope::arrive(scope, Some(worker));
                }
            }
        }
        worker.leave_root(root);
    }

    /// The future has panicked.
    fn fail(scope: &Scope<'scope>, then: K, payload: Box<dyn Any + Send>) {
        // Unwind-safe: nobody sees the continuation again.
        match catch_unwind(AssertUnwindSafe(|| then.failed(payload))) {
            Ok(None) => {}
            Ok(Some(payload)) | Err(payload) => scope.keep(payload),
        }
    }

    /// Drops the future and gives the task up. Returns the continuation, and a panic of the drop.
    ///
    /// # Safety
    ///
    /// The task is the caller's, who does not use it again.
    unsafe fn end(this: NonNull<Self>, scope: &Scope<'scope>) -> (K, Result<(), Box<dyn Any + Send>>) {
        // SAFETY: the caller's.
        unsafe {
            let dropped = Self::drop_future(this);
            let then = (*this.as_ref().then.get()).take();
            scope.tasks().remove(this.cast());
            Core::finish(this.cast());
            (then.expect("it is taken once"), dropped)
        }
    }

    /// See [`Table`].
    ///
    /// # Safety
    ///
    /// `core` is a task of this type that is the caller's, who does not use it again. It has not arrived at its scope.
    unsafe fn abandon(core: NonNull<Core>, worker: Option<&Worker>) {
        // SAFETY: the caller's.
        unsafe {
            let scope = &*core.as_ref().scope.cast::<Scope<'scope>>();
            match worker {
                _ if *core.as_ref().polled_by.get() == NOBODY => {}
                Some(worker) => worker.counters.cancelled.add(),
                None => scope.registry().outside.cancelled.add(),
            }
            match Self::end(core.cast(), scope) {
                (then, Err(payload)) => Self::fail(scope, then, payload),
                (then, Ok(())) if scope.has_panicked() => drop_quietly(then),
                (then, Ok(())) => drop(scope.guard(|| then.cancelled(scope))),
            }
            Scope::arrive(scope, worker);
        }
    }

    /// See [`Table`].
    ///
    /// # Safety
    ///
    /// `core` is a task of this type with no reference left.
    unsafe fn free(core: NonNull<Core>) {
        // SAFETY: from `Box::leak`, as a `Task`. The future and the continuation are gone: what is dropped is `None`s.
        drop(unsafe { Box::from_raw(core.cast::<Self>().as_ptr()) });
    }
}

impl Core {
    /// The future is gone: nothing will happen to the task any more.
    ///
    /// # Safety
    ///
    /// The task is the caller's, who does not use it again; it is in no list.
    unsafe fn finish(this: NonNull<Core>) {
        // SAFETY: the caller's; the reference is the task's own (invariant 4).
        unsafe {
            this.as_ref().state.finish();
            Self::release(this);
        }
    }

    /// Gives one reference up.
    ///
    /// # Safety
    ///
    /// It is the caller's, who does not use the task again.
    unsafe fn release(this: NonNull<Core>) {
        // SAFETY: the reference keeps the memory; what is needed afterwards is read before it is given up.
        let free = unsafe { this.as_ref() }.table.free;
        // SAFETY: as above.
        if unsafe { this.as_ref() }.state.release() {
            // SAFETY: it was the last one (invariant 4).
            unsafe { free(this) };
        }
    }

    /// Wakes the task.
    ///
    /// # Safety
    ///
    /// The caller has a reference.
    unsafe fn wake(this: NonNull<Core>) {
        // SAFETY: the reference keeps the memory.
        if unsafe { this.as_ref() }.state.wake() == Wake::Submit {
            // SAFETY: this caller has made it scheduled.
            unsafe { Self::submit(this) };
        }
    }

    /// Puts a task where workers find it.
    ///
    /// # Safety
    ///
    /// The caller has put its state to scheduled, and does not use it again but by a reference of its own.
    unsafe fn submit(this: NonNull<Core>) {
        // SAFETY: invariant 5.
        let registry = unsafe { (*this.as_ref().scope).registry() };
        Worker::with_current(|worker| match worker.filter(|worker| worker.is_of(registry)) {
            Some(worker) => registry.make_stealable(JobRef::new(this.cast(), worker), Some(worker)),
            None => {
                // Once the task is where it can be found, nothing of it keeps the registry.
                let registry = registry.this();
                registry.make_stealable(JobRef::new(this.cast(), ptr::null()), None);
            }
        });
    }

    /// Cancels a task: drops its future, or has that done by whom it belongs to.
    ///
    /// # Safety
    ///
    /// The caller has a reference.
    unsafe fn cancel(this: NonNull<Core>) {
        // SAFETY: the caller's. A task that is to be dropped has not arrived, so its scope is there.
        unsafe {
            if this.as_ref().state.cancel() == Cancel::Drop {
                let scope = this.as_ref().scope;
                (*scope).with_worker(|worker| (this.as_ref().table.abandon)(this, worker));
            }
        }
    }
}
