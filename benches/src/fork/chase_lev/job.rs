//! The right half of a fork, on the stack of the frame that forked it, and a reference to it without its type.

use std::cell::UnsafeCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::Result;

use super::ChaseLevWorker;

/// A closure, then its result.
pub(super) struct StackJob<F, R> {
    state: UnsafeCell<State<F, R>>,
    /// Set by the thief as the last thing it does to the job.
    done: AtomicBool,
}

enum State<F, R> {
    Waiting(F),
    Running,
    Done(Result<R>),
}

/// A job in a deque.
#[derive(Debug)]
pub(super) struct JobRef {
    job: *const (),
    execute: unsafe fn(*const (), &ChaseLevWorker),
}

// SAFETY: it refers to a `StackJob` whose closure and result are `Send`, and whose owner accesses neither until the job
// is popped or done.
unsafe impl Send for JobRef {}

impl JobRef {
    /// Runs the job.
    ///
    /// # Safety
    ///
    /// The job is alive, and this is the only `JobRef` made of it.
    pub(super) unsafe fn execute(self, worker: &ChaseLevWorker) {
        // SAFETY: `as_job_ref` paired pointer and function; the rest is the caller's promise.
        unsafe { (self.execute)(self.job, worker) }
    }
}

impl<F, R> StackJob<F, R>
where
    F: FnOnce(&ChaseLevWorker) -> R + Send,
    R: Send,
{
    pub(super) fn new(closure: F) -> Self {
        Self { state: UnsafeCell::new(State::Waiting(closure)), done: AtomicBool::new(false) }
    }

    /// Makes a reference for the deque.
    ///
    /// # Safety
    ///
    /// Called once. The job is neither moved nor used until the reference is gone or the job done, and is kept till
    /// then.
    pub(super) unsafe fn as_job_ref(&self) -> JobRef {
        JobRef { job: std::ptr::from_ref(self).cast(), execute: Self::execute }
    }

    unsafe fn execute(job: *const (), worker: &ChaseLevWorker) {
        // SAFETY: the pointer is of this type, and alive until `done` is set.
        let job = unsafe { &*job.cast::<Self>() };
        // SAFETY: the owner does not look at the state before `done` is set.
        let closure = match unsafe { std::mem::replace(&mut *job.state.get(), State::Running) } {
            State::Waiting(closure) => closure,
            State::Running | State::Done(_) => unreachable!("a job runs once"),
        };
        let result = catch_unwind(AssertUnwindSafe(|| closure(worker)));
        // SAFETY: as above.
        unsafe { *job.state.get() = State::Done(result) };
        // Release, for the acquire in `is_done`: publishes the result. Nothing touches the job after it.
        job.done.store(true, Ordering::Release);
    }

    /// Whether a thief has run it to the end.
    pub(super) fn is_done(&self) -> bool {
        // Acquire: makes the result visible, see `execute`.
        self.done.load(Ordering::Acquire)
    }

    /// Returns the closure of a job that was popped.
    #[inline]
    pub(super) fn into_closure(self) -> F {
        match self.state.into_inner() {
            State::Waiting(closure) => closure,
            State::Running | State::Done(_) => unreachable!("popped before anyone ran it"),
        }
    }

    /// Returns the result of a job that is done.
    pub(super) fn into_result(self) -> Result<R> {
        match self.state.into_inner() {
            State::Done(result) => result,
            State::Waiting(_) | State::Running => unreachable!("the thief stored a result"),
        }
    }
}
