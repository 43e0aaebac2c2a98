//! The job of a fork: invariant 2 of [jobs](crate::engine::job).

use super::{Header, Worker};
use crate::engine::job::Outcome;
use crate::sync::latch::Latch;
use std::cell::UnsafeCell;
use std::mem::{ManuallyDrop, MaybeUninit};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::NonNull;

/// The right half of a fork, in the forking frame.
#[repr(C)]
pub(crate) struct StackJob<F, R> {
    header: Header,
    latch: Latch,
    function: UnsafeCell<ManuallyDrop<F>>,
    outcome: UnsafeCell<MaybeUninit<Outcome<R>>>,
}

impl<F, R> StackJob<F, R>
where
    F: FnOnce(&Worker, bool) -> R + Send,
    R: Send,
{
    #[inline(always)]
    pub(crate) fn new(function: F) -> Self {
        StackJob {
            // SAFETY: the header is the first field, and `run` expects a pointer to it.
            header: unsafe { Header::new(Self::run) },
            latch: Latch::new(),
            function: UnsafeCell::new(ManuallyDrop::new(function)),
            outcome: UnsafeCell::new(MaybeUninit::uninit()),
        }
    }

    /// Returns the pointer to queue. If the caller queues it, it keeps the frame (invariant 2).
    #[inline(always)]
    pub(crate) fn header(&self) -> NonNull<Header> {
        NonNull::from(self).cast()
    }

    pub(crate) fn latch(&self) -> &Latch {
        &self.latch
    }

    /// Takes the closure out.
    ///
    /// # Safety
    ///
    /// Called once, by the owner when the job was taken back unrun, or by the worker that runs it.
    #[inline(always)]
    pub(crate) unsafe fn take(&self) -> F {
        // SAFETY: no other thread has access (invariant 1), and the closure is not taken again.
        unsafe { ManuallyDrop::take(&mut *self.function.get()) }
    }

    /// Takes the result out.
    ///
    /// # Safety
    ///
    /// Called once, by the owner, when the latch is set.
    pub(crate) unsafe fn outcome(&self) -> Outcome<R> {
        // SAFETY: `run` has written it before it set the latch.
        unsafe { (*self.outcome.get()).assume_init_read() }
    }

    /// # Safety
    ///
    /// As [`JobRef::run`](super::JobRef::run); `job` points to a `StackJob<F, R>`, and `from` to its owner, a worker of the same registry.
    unsafe fn run(job: NonNull<Header>, worker: &Worker, from: *const Worker) {
        let job = job.cast::<Self>();
        // SAFETY: the frame waits for the latch (invariant 2).
        let this = unsafe { job.as_ref() };
        let migrated = !std::ptr::eq(worker, from);
        // SAFETY: the owner is a worker of the same registry.
        let serves = migrated.then(|| worker.starts(&this.latch, unsafe { &*from }));
        // SAFETY: this is the one run (invariant 1).
        let function = unsafe { this.take() };
        // Unwind-safe: the owner unwinds with the payload, so no code sees the state that the panic left broken.
        let outcome = catch_unwind(AssertUnwindSafe(|| function(worker, migrated)));
        if let Some(before) = serves {
            worker.ends(before);
        }
        // SAFETY: the owner reads it when the latch is set.
        unsafe { (*this.outcome.get()).write(outcome) };
        let latch: *const Latch = &this.latch;
        // SAFETY: not set before; the owner is a worker of this worker's registry, which this worker keeps alive.
        unsafe { Worker::set_latch(from, latch, Some(worker)) };
    }
}
