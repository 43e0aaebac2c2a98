//! Detached parts on furcate's own pool: jobs of a scope that lie among the worker's forks.
//!
//! Forks and offers go to the deque that `join` uses, so thieves take the oldest of all, and jobs are pushed, shared
//! and popped in the same way. Only a thief's first step differs: it counts the part as a job of the scope and moves it
//! out of the owner's frame, so that the frame may end.
//!
//! # Invariants
//!
//! 1. A forked part lies in its owner's frame. The frame does not end before the part was taken back unrun, or before
//!    the thief has moved the part out and set the latch. Setting the latch is the thief's last access to the frame.
//! 2. An offered part owns itself. It counts as a job of its scope from the moment it is offered until it has been
//!    taken back or run.
//! 3. A thread that uses the scope is in the scope's body, or runs one of its jobs: so the scope is there (invariant 1
//!    of [`scope`](super)). A thief that has taken a forked part makes it a job of the scope before it sets the latch.
//!    Until then the owner waits, in the body or in a job.
//! 4. Pushes and pops nest: `fork` pops the part that it has pushed before it returns, and an [`Offered`] pops its part
//!    before it is dropped, unless the part was stolen. An `Offered` leaves neither its thread nor its frame. While a
//!    newer `Offered` of the same worker exists, an older one does not push. And if the newer one has a part in the
//!    deque, the older one does not pop: it sees that the newest job of the deque is not its own.
//! 5. While a worker [belongs to a scope](Worker::enter_scope), all jobs in its `forks` were forked by jobs of that scope. So
//!    threads that wait for the scope's end may steal them.

use super::{Handle, Scope};
use crate::Context;
use crate::detach::{Detach, Detachable, ONE_AT_A_TIME, Offers, RightPart, left_first};
use crate::engine::worker::{Header, Worker};
use crate::quiet_drop::{drop_at_end, drop_quietly};
use crate::sync::latch::Latch;
use std::cell::UnsafeCell;
use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::ptr::{self, NonNull};
use std::sync::Arc;

impl<'scope> Detach<'scope> for Scope<'scope> {
    type Offers<'o, J: Detachable<'scope, Self>>
        = Offered<'o, 'scope, J>
    where
        Self: 'o;

    type Handle = Handle<'scope>;

    fn handle(&self) -> Handle<'scope> {
        Scope::handle(self)
    }

    fn num_threads(&self) -> usize {
        self.registry().num_threads()
    }

    #[inline]
    fn fork<J, A, R>(&self, left: A, right: J) -> (R, RightPart<J, J::Meeting>)
    where
        J: Detachable<'scope, Self>,
        A: FnOnce() -> R + Send,
    {
        Worker::with_current(|current| match self.mine(current) {
            Some(worker) => self.fork_on(worker, left, right),
            None => left_first(left, right),
        })
    }

    fn spawn_part<J: Detachable<'scope, Self>>(&self, part: J, meeting: Arc<J::Meeting>) {
        let number = |scope: &Self| scope.with_worker(|worker| worker.map(Worker::number));
        let spawned_by = number(self);
        self.spawn(move |scope| part.run(scope, meeting, Context::new(number(scope) != spawned_by)));
    }

    #[inline]
    fn offers<J, B, R>(&self, body: B) -> R
    where
        J: Detachable<'scope, Self>,
        B: FnOnce(&mut Offered<'_, 'scope, J>) -> R,
    {
        Worker::with_current(|current| {
            let worker = self.mine(current);
            let level = worker.map_or(0, Worker::open_offers);
            body(&mut Offered {
                scope: self,
                worker,
                level,
                part: OfferState::None,
                _this_thread: PhantomData,
            })
        })
    }
}

impl<'scope> Scope<'scope> {
    #[inline]
    fn fork_on<J, A, R>(&self, worker: &Worker, left: A, right: J) -> (R, RightPart<J, J::Meeting>)
    where
        J: Detachable<'scope, Self>,
        A: FnOnce() -> R + Send,
    {
        let job = Forked {
            // SAFETY: the header is the first field, and `run` expects a pointer to it.
            header: unsafe { Header::new(Forked::<J>::run) },
            latch: Latch::new(),
            scope: self,
            part: UnsafeCell::new(ManuallyDrop::new(right)),
            meeting: UnsafeCell::new(None),
        };
        // SAFETY: this thread is the worker; the frame keeps the job (invariant 1).
        let index = unsafe { worker.push_fork(NonNull::from(&job).cast()) };
        // Unwind-safe: if `left` panics, so does this call, once the right part is out of the frame.
        let left = catch_unwind(AssertUnwindSafe(left));
        // SAFETY: this thread is the worker, and every push since has had its pop (invariant 4).
        let right = if unsafe { worker.pop_fork(index, NonNull::from(&job).cast()) } {
            // SAFETY: taken back unrun.
            RightPart::Back(unsafe { ManuallyDrop::take(&mut *job.part.get()) })
        } else {
            worker.wait_until_taken(&job.latch);
            // SAFETY: the thief has written it before it set the latch.
            let meeting = unsafe { (*job.meeting.get()).take() };
            RightPart::Taken(meeting.expect("whoever takes a part leaves a meeting"))
        };
        match left {
            Ok(left) => (left, right),
            Err(payload) => {
                drop_quietly(right);
                resume_unwind(payload)
            }
        }
    }

    /// Runs a part that was taken, as a job that the scope counts already.
    ///
    /// # Safety
    ///
    /// As for [`Scope::arrive`], which this calls.
    unsafe fn run_part<J>(
        this: *const Self,
        part: J,
        meeting: Arc<J::Meeting>,
        worker: &Worker,
        from: *const Worker,
    ) where
        J: Detachable<'scope, Self>,
    {
        worker.begins_part();
        let run = |scope: &Self| {
            if scope.has_panicked() {
                drop_quietly((part, meeting));
            } else {
                let context = Context::new(!ptr::eq(worker, from));
                scope.guard(|| part.run(scope, meeting, context));
            }
        };
        // SAFETY: the caller's.
        unsafe {
            worker.enter_scope((*this).number);
            Scope::run_counted(this, worker, run);
        }
    }
}

/// Message of the panic of `offer` (invariant 4).
const INNERMOST: &str = "parts can be offered only where the thread's last call of `offers` can be used";

/// Makes a meeting. Aborts on a panic, which would leave the owner waiting for ever.
fn meet<M: Default>() -> Arc<M> {
    catch_unwind(Arc::<M>::default).unwrap_or_else(|_| std::process::abort())
}

/// The right part of a fork, in the forking frame.
#[repr(C)]
struct Forked<'scope, J: Detachable<'scope, Scope<'scope>>> {
    header: Header,
    latch: Latch,
    scope: *const Scope<'scope>,
    part: UnsafeCell<ManuallyDrop<J>>,
    /// Written by the thief before it sets the latch.
    meeting: UnsafeCell<Option<Arc<J::Meeting>>>,
}

impl<'scope, J: Detachable<'scope, Scope<'scope>>> Forked<'scope, J> {
    /// # Safety
    ///
    /// As [`JobRef::run`](crate::engine::worker::JobRef::run); `job` points to one of these, and `from` to its owner, a worker of the
    /// same registry.
    unsafe fn run(job: NonNull<Header>, worker: &Worker, from: *const Worker) {
        let job = job.cast::<Self>();
        let (scope, part, meeting) = {
            // SAFETY: the frame waits for the latch (invariant 1).
            let this = unsafe { job.as_ref() };
            // SAFETY: this is the one run, and the owner does not take the part back.
            let part = unsafe { ManuallyDrop::take(&mut *this.part.get()) };
            let meeting = meet();
            // SAFETY: the owner reads it when the latch is set.
            unsafe { *this.meeting.get() = Some(Arc::clone(&meeting)) };
            // SAFETY: invariant 3.
            unsafe { (*this.scope).pending.announce() };
            (this.scope, part, meeting)
        };
        // SAFETY: not set before; the owner is a worker of this worker's registry, which this worker keeps alive. A
        // pointer and no reference: the frame may end at that moment.
        unsafe { Worker::set_latch(from, &raw const (*job.as_ptr()).latch, None) };
        // SAFETY: announced above (invariant 3).
        unsafe { Scope::run_part(scope, part, meeting, worker, from) };
    }
}

/// The offers of a scope's task: see [`Detach::offers`].
pub struct Offered<'o, 'scope, J: Detachable<'scope, Scope<'scope>>> {
    scope: &'o Scope<'scope>,
    /// `None` in a thread that is not a worker of the pool: no thief sees its offers.
    worker: Option<&'o Worker>,
    /// Number of the worker's `Offered` values when this one was made, including this one (invariant 4).
    level: u32,
    part: OfferState<'scope, J>,
    /// Neither `Send` nor `Sync` (invariant 4).
    _this_thread: PhantomData<*const ()>,
}

/// State of the part on offer.
enum OfferState<'scope, J: Detachable<'scope, Scope<'scope>>> {
    None,
    /// Kept here: no thief sees it.
    Kept(J),
    /// In the deque at that index, or stolen.
    Laid {
        job: NonNull<Offer<'scope, J>>,
        index: u64,
    },
}

/// A part on offer, on the heap (invariant 2).
#[repr(C)]
struct Offer<'scope, J: Detachable<'scope, Scope<'scope>>> {
    header: Header,
    scope: *const Scope<'scope>,
    part: J,
    meeting: Arc<J::Meeting>,
}

impl<'scope, J: Detachable<'scope, Scope<'scope>>> Offer<'scope, J> {
    /// # Safety
    ///
    /// As [`JobRef::run`](crate::engine::worker::JobRef::run); `job` points to one of these.
    unsafe fn run(job: NonNull<Header>, worker: &Worker, from: *const Worker) {
        // SAFETY: from `Box::leak`, and this is the one run (invariant 2).
        let this = *unsafe { Box::from_raw(job.cast::<Self>().as_ptr()) };
        // SAFETY: announced when it was offered (invariant 2).
        unsafe { Scope::run_part(this.scope, this.part, this.meeting, worker, from) };
    }
}

impl<'scope, J: Detachable<'scope, Scope<'scope>>> Offers<J, J::Meeting> for Offered<'_, 'scope, J> {
    #[inline]
    fn demand(&mut self) -> bool {
        self.worker.is_some_and(Worker::demand)
    }

    fn offer(&mut self, part: J) -> Arc<J::Meeting> {
        assert!(matches!(self.part, OfferState::None) || self.is_taken(), "{ONE_AT_A_TIME}");
        let innermost = self.worker.is_none_or(|worker| worker.frame().offers == self.level);
        assert!(innermost, "{INNERMOST}");
        let meeting = meet();
        let Some(worker) = self.worker else {
            self.part = OfferState::Kept(part);
            return meeting;
        };
        self.scope.pending.announce();
        let job = Box::new(Offer {
            // SAFETY: the header is the first field, and `run` expects a pointer to it.
            header: unsafe { Header::new(Offer::<J>::run) },
            scope: self.scope,
            part,
            meeting: Arc::clone(&meeting),
        });
        let job = NonNull::from(Box::leak(job));
        // SAFETY: this thread is the worker; the job owns itself.
        let index = unsafe { worker.push_offer(job.cast()) };
        self.part = OfferState::Laid { job, index };
        meeting
    }

    fn share(&mut self) {
        self.worker.inspect(|worker| worker.share_at_once());
    }

    #[inline]
    fn is_taken(&mut self) -> bool {
        // Between two small pieces of work, as `demand` is.
        self.worker.inspect(|worker| worker.cooperate());
        let (&OfferState::Laid { index, .. }, Some(worker)) = (&self.part, self.worker) else { return false };
        let gone = worker.is_gone(index);
        if gone {
            self.part = OfferState::None;
        }
        gone
    }

    fn take_back(&mut self) -> Option<J> {
        match std::mem::replace(&mut self.part, OfferState::None) {
            OfferState::None => None,
            OfferState::Kept(part) => Some(part),
            OfferState::Laid { job, index } => {
                let worker = self.worker?;
                if !worker.is_newest(index) {
                    if !worker.is_gone(index) {
                        // An inner task has a part on offer, on top of this one (invariant 4).
                        self.part = OfferState::Laid { job, index };
                    }
                    return None;
                }
                // SAFETY: this thread is the worker, and no other job was pushed since.
                if !unsafe { worker.pop_fork(index, job.cast()) } {
                    return None;
                }
                // SAFETY: from `Box::leak`; it has left the deque unrun (invariant 2).
                let offer = *unsafe { Box::from_raw(job.as_ptr()) };
                // The body, or the job that this is called in, has not arrived.
                let last = self.scope.pending.arrive();
                debug_assert!(!last);
                Some(offer.part)
            }
        }
    }
}

impl<'scope, J: Detachable<'scope, Scope<'scope>>> Drop for Offered<'_, 'scope, J> {
    fn drop(&mut self) {
        let part = self.take_back();
        if let Some(worker) = self.worker {
            worker.set_offers(self.level - 1);
        }
        drop_at_end(part);
    }
}

impl<'scope, J: Detachable<'scope, Scope<'scope>>> std::fmt::Debug for Offered<'_, 'scope, J> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Offered").finish_non_exhaustive()
    }
}
