//! Forks that outlive their frames.
//!
//! [`Executor::join_context`](crate::Executor::join_context) keeps a frame until both halves are done: a worker whose
//! right half was stolen waits in that frame. A *detached* part needs no such frame. The worker publishes the part for
//! thieves. If no thief takes the part, it comes back to that worker. A stolen part is finished by its thief, and the
//! worker goes on, or returns, without waiting. The two workers exchange results through a *meeting*. The meeting is
//! made at the steal: a node of the computation that lives until both workers have dropped it.
//!
//! Only the root of such a computation waits: [`Executor::detached`](crate::Executor::detached) returns when every part
//! has ended. So parts may borrow data that outlive that call. If a computation owns the data that its parts borrow,
//! not even the root waits: see [`Unattended`].
//!
//! ```text
//!   fork:    publish right; run left; ── still there ──> right comes back, unrun: RightPart::Back
//!                                       └─ stolen ───────> the thief runs it: RightPart::Taken(meeting)
//!   offers:  publish a part ... go on ... ── still there ──> take_back: Some
//!                                           └─ stolen ──────> is_taken
//! ```
//!
//! # Invariants an engine keeps
//!
//! 1. A part is run once, by [`Detachable::run`], or comes back unrun, or is dropped. It is dropped if a part of the
//!    same computation has panicked, or if the frame that published it unwinds.
//! 2. [`Executor::detached`](crate::Executor::detached) returns or unwinds only when all parts have ended. It unwinds
//!    with the payload of a panic, the body's or a part's.
//! 3. [`Detachable::run`] gets the same meeting as the worker that published the part.
//! 4. As with joins, [`Context::migrated`](crate::Context::migrated) is true exactly if the part runs on another worker
//!    than the one that published it.
//! 5. An [`Unattended`] computation begins once, unless it is cancelled before. Its `end` is called once, when all its
//!    parts have ended.

mod one_shot;
mod order;
#[doc(hidden)]
pub mod published;
pub mod threads;
mod unattended;

#[doc(hidden)]
pub use one_shot::{OneShot, OneShotSender};
pub(crate) use order::{QueuePosition, SOON, order};
pub use order::{wake_first, wake_soon};
use published::{Publish, PublishedOffers, SharedPart};
#[doc(no_inline)]
pub use threads::{Job, OnThreads, Threads};
#[doc(hidden)]
pub use unattended::run_blocking;
pub use unattended::{SpawnedOutcome, Unattended};

use crate::Context;
use crate::quiet_drop::{drop_at_end, drop_quietly};
use crate::sync::machine::atomic::{AtomicBool, Ordering::Relaxed};
use crate::sync::parker::block_on;
use std::any::Any;
use std::fmt;
use std::marker::PhantomData;
use std::mem;
use std::panic::{AssertUnwindSafe, RefUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::task::Poll;

/// A part of a computation that another worker may take. `S` is the engine's [`Detach`].
pub trait Detachable<'scope, S>: Send + Sized + 'scope {
    /// State that the thief and the worker share after a steal. Its `default` must not panic; if it does, the process is aborted.
    type Meeting: Default + Send + Sync + 'scope;

    /// Runs the part, after it was taken.
    fn run(self, scope: &S, meeting: Arc<Self::Meeting>, context: Context);
}

/// The state of the right part after a [`Detach::fork`].
#[derive(Debug)]
pub enum RightPart<J, M> {
    /// The part was not stolen. It is returned unrun.
    Back(J),
    /// A thief has taken the part, and has the other reference to this meeting.
    Taken(Arc<M>),
}

/// An engine's side of a computation whose parts can be detached: see the [module](crate::detach).
///
/// Safe code that breaks the module's invariants gets wrong results, hangs or panics, never undefined behavior.
///
/// ```
/// use furcate::detach::{Detach, Detachable, RightPart};
/// use furcate::{Context, DefaultExecutor, Executor};
/// use std::sync::{Arc, Mutex};
///
/// /// Says where it was run.
/// struct Right<'l>(&'l Mutex<Vec<&'static str>>);
/// impl<'scope, 'l: 'scope, S> Detachable<'scope, S> for Right<'l> {
///     type Meeting = ();
///     fn run(self, _: &S, _: Arc<()>, _: Context) {
///         self.0.lock().unwrap().push("by a thief");
///     }
/// }
///
/// let log = Mutex::new(vec![]);
/// DefaultExecutor::default().detached(|scope| {
///     let ((), right) = scope.fork(|| log.lock().unwrap().push("left"), Right(&log));
///     if let RightPart::Back(right) = right {
///         right.0.lock().unwrap().push("here");
///     }
/// });
/// assert_eq!(log.into_inner().unwrap().len(), 2);
/// ```
pub trait Detach<'scope>: Sync + Sized {
    /// Parts on offer: see [`offers`](Self::offers).
    type Offers<'o, J: Detachable<'scope, Self>>: Offers<J, J::Meeting>
    where
        Self: 'o;

    /// A handle that suspends tasks of the computation.
    type Handle: Suspend<'scope, Self>;

    /// Returns a handle that suspends tasks: parts of the computation that wait for a future.
    fn handle(&self) -> Self::Handle;

    /// Returns the number of threads that may run jobs at once; at least 1.
    fn num_threads(&self) -> usize;

    /// Runs `left` in the calling thread, while `right` is published for thieves.
    ///
    /// # Panics
    ///
    /// If `left` panics. Then the right part is dropped, unless it was stolen.
    fn fork<J, A, R>(&self, left: A, right: J) -> (R, RightPart<J, J::Meeting>)
    where
        J: Detachable<'scope, Self>,
        A: FnOnce() -> R + Send;

    /// Spawns a part as a job of its own, which this worker or any other runs later. The part's [meeting](Detachable::Meeting) is the caller's.
    /// With [`Suspend::suspend_beside`], a part that was spawned and has not been run is suspended with a task.
    ///
    /// The default, for engines that are never [proactive](Suspend::is_proactive), runs the part in place.
    fn spawn_part<J: Detachable<'scope, Self>>(&self, part: J, meeting: Arc<J::Meeting>) {
        part.run(self, meeting, Context::new(false));
    }

    /// Calls `body` with an [`Offers`]. With it the body can publish parts, one at a time, while it goes on with its
    /// own.
    ///
    /// A part that is still there at the end is dropped. If a thread has several `Offers`, only the newest one may be used.
    fn offers<J, B, R>(&self, body: B) -> R
    where
        J: Detachable<'scope, Self>,
        B: FnOnce(&mut Self::Offers<'_, J>) -> R;
}

/// Lets a running task offer parts of itself, of type `J`, to other workers.
///
/// ```
/// use furcate::detach::{Detach, Detachable, Offers};
/// use furcate::{Context, Executor, Inline};
/// use std::sync::Arc;
///
/// struct Part(u32);
/// impl<'scope, S> Detachable<'scope, S> for Part {
///     type Meeting = ();
///     fn run(self, _: &S, _: Arc<()>, _: Context) {}
/// }
///
/// Inline.detached(|scope| {
///     scope.offers(|offers| {
///         offers.offer(Part(1));
///         assert!(!offers.is_taken()); // there are no thieves here
///         assert_eq!(offers.take_back().map(|part| part.0), Some(1));
///     });
/// });
/// ```
pub trait Offers<J, M> {
    /// Whether another worker wants work. A hint, cheap enough to be asked between small pieces of work.
    fn demand(&mut self) -> bool;

    /// Publishes a part. Returns its meeting, which a thief shares if the part is stolen.
    ///
    /// # Panics
    ///
    /// If there is a part on offer that has been neither taken nor taken back. Engines may panic if the thread is in the
    /// body of another, inner call of [`offers`](Detach::offers).
    fn offer(&mut self, part: J) -> Arc<M>;

    /// Lets thieves take the part on offer from now on without this worker's help, which they may need by default. For a task whose next
    /// call of a method may be long in coming.
    fn share(&mut self) {}

    /// Whether the last part was stolen. If so, another part can be offered.
    fn is_taken(&mut self) -> bool;

    /// Takes the part on offer back, if it is still there.
    fn take_back(&mut self) -> Option<J>;
}

/// The continuation of a suspended task, run when the task's future is ready; `S` is the engine's [`Detach`], `T` the future's output.
pub trait Resume<'scope, S, T>: Send + Sized + 'scope {
    /// Continues the task with the output. [`Context::migrated`] is true if this is another worker than the one that
    /// last polled the task.
    fn resume(self, scope: &S, output: T, context: Context);

    /// Called instead of [`resume`](Self::resume) if the future was dropped because tasks were [cancelled](Suspend::cancel). (After a
    /// panic neither is called, and the continuation is dropped.)
    fn cancelled(self, scope: &S);

    /// Called if the future has panicked. Returns the payload if it is a panic of the computation, which then unwinds. This is the
    /// default.
    ///
    /// The continuation is dropped after the computation has received the payload.
    fn failed(&mut self, payload: Box<dyn Any + Send>) -> Option<Box<dyn Any + Send>> {
        Some(payload)
    }
}

/// An engine's side of *suspended* tasks: parts of a computation whose future is pending. A suspended task needs no
/// thread until the future wakes it. Then any worker goes on with it.
///
/// The computation does not end while a handle or a suspended task is alive. Futures are dropped in the memory in which
/// they were polled, and before the computation ends. So they may borrow data that outlive the computation.
///
/// Engines that cannot suspend tasks wait for the future in the calling thread: see [`BlockingSuspend`].
pub trait Suspend<'scope, S>: Clone + Send + Sync + Sized + 'scope {
    /// Whether the engine suspends tasks, rather than block the thread that polls them.
    const SUSPENDS: bool = true;

    /// Memory for a future and its continuation, to be used for one future after the other.
    type Slot<F, K>: Default
    where
        F: Future + Send + 'scope,
        K: Resume<'scope, S, F::Output>;

    /// Polls a future once. A pending future stays in the slot until it is [suspended](Self::suspend), or dropped: with
    /// the slot, or by the next call.
    ///
    /// # Panics
    ///
    /// If the future panics. The future is dropped.
    fn poll_once<F, K>(&self, slot: &mut Self::Slot<F, K>, future: F) -> Poll<F::Output>
    where
        F: Future + Send + 'scope,
        K: Resume<'scope, S, F::Output>;

    /// Suspends a task with the pending future in the slot. When the future is ready, `then` is resumed with its output.
    ///
    /// # Panics
    ///
    /// If no future of this computation is pending in the slot.
    fn suspend<F, K>(&self, slot: &mut Self::Slot<F, K>, then: K)
    where
        F: Future + Send + 'scope,
        K: Resume<'scope, S, F::Output>;

    /// A task that is about to be suspended. The drop of the value suspends the task, or [`suspend_beside`](Self::suspend_beside) does; before,
    /// no thread can resume it.
    type Held: Sized;

    /// As [`suspend`](Self::suspend), in two steps: between them the caller spawns the parts that are to be suspended beside the task.
    fn hold<F, K>(&self, slot: &mut Self::Slot<F, K>, then: K) -> Self::Held
    where
        F: Future + Send + 'scope,
        K: Resume<'scope, S, F::Output>;

    /// Suspends a held task together with the spawned parts that this thread would run next: the thread looks for work elsewhere.
    fn suspend_beside(&self, held: Self::Held) {
        drop(held);
    }

    /// Whether a part that waits is to be suspended with its rest. If not, its thread goes on with the rest. If so, right parts are
    /// [spawned](Detach::spawn_part).
    fn is_proactive(&self) -> bool {
        false
    }

    /// Polls a future once. If the future is ready, returns its output; else `then()` is resumed later.
    ///
    /// # Panics
    ///
    /// If the future or `then` panics. In both cases the future is dropped.
    fn poll<F, K>(
        &self,
        slot: &mut Self::Slot<F, K>,
        future: F,
        then: impl FnOnce() -> K,
    ) -> Option<F::Output>
    where
        F: Future + Send + 'scope,
        K: Resume<'scope, S, F::Output>,
    {
        match self.poll_once(slot, future) {
            Poll::Ready(output) => Some(output),
            Poll::Pending => {
                // Unwind-safe: if `then` panics, so does this call.
                let then = catch_unwind(AssertUnwindSafe(then)).unwrap_or_else(|payload| {
                    drop_quietly(mem::take(slot));
                    resume_unwind(payload)
                });
                self.suspend(slot, then);
                None
            }
        }
    }

    /// Counts, for the engine's statistics, that the caller is about to suspend a task because the bound on futures in flight is reached.
    fn waits_for_room(&self) {}

    /// Marks a cooperative point between two small pieces of work: the thread may give its right to run to one that has waited too long,
    /// and goes on when it has it again. Cheap enough to be called between small pieces of work.
    fn cooperate(&self) {}

    /// Cancels the computation's tasks: suspended tasks are dropped, and so are tasks that would be suspended later.
    /// Their continuations are [called](Resume::cancelled).
    fn cancel(&self);

    /// Whether the tasks have been cancelled.
    fn is_cancelled(&self) -> bool;

    /// Returns a stopper. A stopper cancels the computation's tasks from any thread, even after the handle or the
    /// computation has been dropped. A stopper does not keep the computation from ending.
    ///
    /// The default, for engines that suspend no tasks, is a stopper that does nothing.
    fn stopper(&self) -> Stopper {
        Stopper::default()
    }
}

/// Cancels the tasks of a computation, from any thread and at any time: see [`Suspend::stopper`].
///
/// ```
/// use furcate::detach::{Detach, Resume, Suspend};
/// use furcate::{Context, DefaultExecutor, Executor};
/// use std::future::pending;
///
/// /// What would follow a future that is never ready.
/// struct Then;
/// impl<'scope, S> Resume<'scope, S, ()> for Then {
///     fn resume(self, _: &S, _: (), _: Context) {}
///     fn cancelled(self, _: &S) {}
/// }
///
/// let stopper = DefaultExecutor::default().detached(|scope| {
///     let handle = scope.handle();
///     handle.poll(&mut Default::default(), pending(), || Then);
///     let stopper = handle.stopper();
///     let other = stopper.clone();
///     std::thread::spawn(move || other.stop());
///     stopper
/// }); // returns, since the future is dropped
/// assert!(stopper.has_stopped());
/// ```
#[derive(Clone, Debug, Default)]
pub struct Stopper(Option<Arc<dyn EngineStop>>);

/// An engine's side of a [`Stopper`].
pub(crate) trait EngineStop: fmt::Debug + Send + Sync + RefUnwindSafe {
    /// See [`Stopper::stop`].
    fn stop(&self);

    /// See [`Stopper::has_stopped`].
    fn has_stopped(&self) -> bool;
}

impl Stopper {
    pub(crate) fn of(stop: Arc<dyn EngineStop>) -> Self {
        Stopper(Some(stop))
    }

    /// Cancels the tasks, as [`Suspend::cancel`] does: no task of the computation is polled from now on. If the computation is over,
    /// or its tasks were cancelled before, nothing happens.
    ///
    /// The suspended futures are dropped by a worker of the pool, before it begins another job. None of their code runs
    /// in the calling thread, so a waker, a timer or a thread that holds locks may call this.
    ///
    /// Cost: an allocation, and a look for sleeping workers.
    pub fn stop(&self) {
        if let Some(stop) = &self.0 {
            stop.stop();
        }
    }

    /// Whether [`stop`](Self::stop) has cancelled the tasks, rather than an earlier [`Suspend::cancel`] or panic. Exact
    /// once the computation is over.
    #[must_use]
    pub fn has_stopped(&self) -> bool {
        self.0.as_ref().is_some_and(|stop| stop.has_stopped())
    }
}

/// A computation that stays in one thread: for engines that cannot detach parts.
///
/// ```
/// use furcate::detach::{Alone, Detach};
/// assert_eq!(Detach::num_threads(&Alone), 1);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Alone;

impl<'scope> Detach<'scope> for Alone {
    type Offers<'o, J: Detachable<'scope, Self>> = KeptOffers<J, J::Meeting>;

    type Handle = BlockingSuspend;

    fn handle(&self) -> BlockingSuspend {
        BlockingSuspend::default()
    }

    fn num_threads(&self) -> usize {
        1
    }

    #[inline]
    fn fork<J, A, R>(&self, left: A, right: J) -> (R, RightPart<J, J::Meeting>)
    where
        J: Detachable<'scope, Self>,
        A: FnOnce() -> R + Send,
    {
        left_first(left, right)
    }

    #[inline]
    fn offers<J, B, R>(&self, body: B) -> R
    where
        J: Detachable<'scope, Self>,
        B: FnOnce(&mut KeptOffers<J, J::Meeting>) -> R,
    {
        body(&mut KeptOffers::new(None))
    }
}

/// Tasks of an engine that cannot suspend: a pending future blocks its thread.
///
/// ```
/// use furcate::detach::{BlockingSuspend, Resume, Suspend};
/// use furcate::Context;
///
/// struct Never;
/// impl<'scope, S, T> Resume<'scope, S, T> for Never {
///     fn resume(self, _: &S, _: T, _: Context) {}
///     fn cancelled(self, _: &S) {}
/// }
/// let handle = BlockingSuspend::default();
/// let output = Suspend::<'_, ()>::poll(&handle, &mut Default::default(), async { 1 }, || Never);
/// assert_eq!(output, Some(1));
/// ```
#[derive(Clone, Debug, Default)]
pub struct BlockingSuspend {
    cancelled: Arc<AtomicBool>,
}

impl<'scope, S> Suspend<'scope, S> for BlockingSuspend {
    const SUSPENDS: bool = false;

    type Slot<F, K>
        = PhantomData<fn(F) -> K>
    where
        F: Future + Send + 'scope,
        K: Resume<'scope, S, F::Output>;

    fn poll_once<F, K>(&self, _: &mut Self::Slot<F, K>, future: F) -> Poll<F::Output>
    where
        F: Future + Send + 'scope,
        K: Resume<'scope, S, F::Output>,
    {
        Poll::Ready(block_on(future))
    }

    fn suspend<F, K>(&self, _: &mut Self::Slot<F, K>, _: K)
    where
        F: Future + Send + 'scope,
        K: Resume<'scope, S, F::Output>,
    {
        unreachable!("no future is ever pending here");
    }

    type Held = ();

    fn hold<F, K>(&self, slot: &mut Self::Slot<F, K>, then: K)
    where
        F: Future + Send + 'scope,
        K: Resume<'scope, S, F::Output>,
    {
        Suspend::<'_, S>::suspend(self, slot, then);
    }

    fn cancel(&self) {
        self.cancelled.store(true, Relaxed);
    }

    fn is_cancelled(&self) -> bool {
        self.cancelled.load(Relaxed)
    }
}

/// Runs `left` and returns `right` unrun: a fork without thieves.
#[inline]
pub(crate) fn left_first<A, R, J, M>(left: A, right: J) -> (R, RightPart<J, M>)
where
    A: FnOnce() -> R,
{
    let mut right = KeptOffers::<J, M>::new(Some(right));
    let left = left();
    (left, RightPart::Back(right.part.take().expect("it is kept while the left part runs")))
}

/// Offers without thieves.
#[derive(Debug)]
pub struct KeptOffers<J, M> {
    part: Option<J>,
    _meeting: PhantomData<fn() -> M>,
}

impl<J, M> KeptOffers<J, M> {
    const fn new(part: Option<J>) -> Self {
        KeptOffers { part, _meeting: PhantomData }
    }
}

impl<J, M> Drop for KeptOffers<J, M> {
    fn drop(&mut self) {
        drop_at_end(self.part.take());
    }
}

impl<J, M: Default> Offers<J, M> for KeptOffers<J, M> {
    #[inline]
    fn demand(&mut self) -> bool {
        false
    }

    fn offer(&mut self, part: J) -> Arc<M> {
        assert!(self.part.is_none(), "{ONE_AT_A_TIME}");
        self.part = Some(part);
        Arc::default()
    }

    fn is_taken(&mut self) -> bool {
        false
    }

    #[inline]
    fn take_back(&mut self) -> Option<J> {
        self.part.take()
    }
}

/// Message of the panic in [`Offers::offer`].
#[doc(hidden)]
pub const ONE_AT_A_TIME: &str = "a part is on offer already; one can be offered at a time";
