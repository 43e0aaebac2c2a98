//! Frames: the facts about the job on top of a worker's stack.
//!
//! [`Worker::run`](Worker::execute) pushes a frame before a job, and pops it at the job's end. A scope pushes one for its body. Between the
//! two, the job writes its facts into the frame. Nothing has to be restored by hand.
//!
//! # Invariants
//!
//! 1. Frames nest: the value that [`push_frame`](Worker::push_frame) returns is dropped in the stack frame that has pushed it, while
//!    unwinding too. Then the worker's frame is the same as before the push.
//! 2. A pushed frame has no [credits](Credits): a job on top of another one neither spends nor loses the other one's credits.
//! 3. Only this thread writes. Other threads read `scope`, `unrelated`, and, as hints, the priorities.

use super::Worker;
use crate::slots::Priority;
use crate::sync::machine::atomic::{
    AtomicU8, AtomicU64, AtomicUsize,
    Ordering::{Acquire, Relaxed, Release},
};
use std::cell::Cell;

/// Spare counts of a scope: see [`credits`](crate::scope).
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Credits {
    /// Number of the scope; 0 if there is none.
    pub(crate) scope: u64,
    pub(crate) counts: usize,
}

/// Facts about the job on top of a worker's stack.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Frame {
    pub(crate) credits: Credits,
    /// Number of scopes and waits for futures that are open here and in the frames below.
    open: u32,
    /// Number of calls of [`offers`](crate::detach::Detach::offers) that are open here and in the frames below.
    pub(crate) offers: u32,
    /// Number of jobs here and in the frames below that were run [in place](Worker::run_if_newest).
    pub(super) in_place: u32,
    /// Whether the job may give the active deque away: no frame below pops from it.
    pub(crate) can_suspend: bool,
}

/// The `scope` of a worker that runs no part of a scope. (The numbers of scopes begin with 8.)
const NO_SCOPE: u64 = 0;

/// A worker's frame.
#[derive(Debug)]
pub(super) struct Frames {
    top: Cell<Frame>,
    /// Number of the scope of the job that was started last, if all of the worker's forks belong to that scope too. Otherwise
    /// [`NO_SCOPE`].
    scope: AtomicU64,
    /// Number of *unrelated* jobs on the worker's stack: jobs on top of a frame that they do not belong to. While the number is not 0,
    /// workers that wait for those frames must not steal this worker's forks, because the forks belong to the unrelated job.
    unrelated: AtomicUsize,
    /// The [priority](Priority) of the job on top.
    priority: AtomicU8,
    /// The index of the first fork of that job, and the priority of the forks before it. A hint: those of still older frames may have another one.
    since: AtomicU64,
    below: AtomicU8,
}

impl Default for Frames {
    fn default() -> Self {
        let (top, scope, unrelated, since) = Default::default();
        let [priority, below] = [(); 2].map(|()| AtomicU8::new(Priority::Normal as u8));
        Frames { top, scope, unrelated, priority, since, below }
    }
}

/// How a job relates to the frames below it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Relation {
    /// A frame below may pop from the active deque.
    Part,
    /// The frames below look for their spawned jobs in every queue and deque. So the job may give the active deque away.
    Detachable,
    /// The job was spawned by the frame below, which waits for nothing else.
    InPlace,
    /// The job may be unrelated to the frames below.
    Unrelated,
    /// The body of a scope, in the calling frame.
    Scope,
}

/// A pushed frame. Its drop pops the frame.
#[must_use = "the frame is popped at once"]
pub(crate) struct Pushed<'a> {
    frames: &'a Frames,
    below: Frame,
    scope: u64,
    unrelated: usize,
    priority: [u8; 2],
    since: u64,
}

impl Drop for Pushed<'_> {
    #[inline]
    fn drop(&mut self) {
        self.frames.top.set(self.below);
        // Relaxed: see `belongs_to`.
        self.frames.scope.store(self.scope, Relaxed);
        self.frames.priority.store(self.priority[0], Relaxed);
        self.frames.below.store(self.priority[1], Relaxed);
        self.frames.since.store(self.since, Relaxed);
        // Release: a thief that reads the lower number finds the unrelated job's forks gone.
        self.frames.unrelated.store(self.unrelated, Release);
    }
}

impl Worker {
    /// Pushes a frame, which stays until the returned value is dropped (invariant 1).
    #[inline]
    pub(super) fn push_frame(&self, relation: Relation) -> Pushed<'_> {
        let frames = &self.frames;
        let below = frames.top.get();
        // Relaxed: this thread's own stores.
        let (scope, unrelated) = (frames.scope.load(Relaxed), frames.unrelated.load(Relaxed));
        frames.top.set(Frame {
            credits: Credits::default(),
            open: below.open + u32::from(relation == Relation::Scope),
            in_place: below.in_place + u32::from(relation == Relation::InPlace),
            can_suspend: relation == Relation::Detachable,
            ..below
        });
        if relation == Relation::Unrelated {
            // Relaxed: a thief that finds one of the job's forks has synchronized with the push after this store.
            frames.unrelated.store(unrelated + 1, Relaxed);
        }
        // Relaxed: hints for thieves.
        let priority = [&frames.priority, &frames.below].map(|it| it.load(Relaxed));
        let since = frames.since.load(Relaxed);
        frames.below.store(priority[0], Relaxed);
        frames.since.store(self.forks.next_index(), Relaxed);
        Pushed { frames, below, scope, unrelated, priority, since }
    }

    /// Begins a call of that priority, in the middle of the job on top. It ends when the returned value is dropped.
    pub(crate) fn begin_call(&self, priority: Priority) -> Pushed<'_> {
        let pushed = self.push_frame(Relation::Part);
        self.set_priority(priority);
        pushed
    }

    /// Returns the priority of a fork that was just stolen from this worker. A hint.
    pub(super) fn priority_of_stolen(&self) -> Priority {
        let frames = &self.frames;
        let is_of_top = self.forks.is_gone(frames.since.load(Relaxed));
        Priority::of_bits(if is_of_top { &frames.priority } else { &frames.below }.load(Relaxed))
    }

    /// Returns the priority of the job on top. A hint, for other threads.
    pub(crate) fn priority(&self) -> Priority {
        Priority::of_bits(self.frames.priority.load(Relaxed))
    }

    /// Sets the priority of the job on top, up to the end of its frame. Jobs set it as they begin.
    #[inline]
    pub(crate) fn set_priority(&self, priority: Priority) {
        self.frames.priority.store(priority as u8, Relaxed);
    }

    /// Pushes the frame of a scope's body. The frame stays open until the scope's end.
    pub(crate) fn push_scope(&self) -> Pushed<'_> {
        self.push_frame(Relation::Scope)
    }

    /// Returns the facts about the job on top.
    #[inline]
    pub(crate) fn frame(&self) -> Frame {
        self.frames.top.get()
    }

    /// Sets the credits of the job on top.
    #[inline]
    pub(crate) fn set_credits(&self, credits: Credits) {
        self.frames.top.set(Frame { credits, ..self.frame() });
    }

    /// Notes that one more call of `offers` is open. Returns the number of such calls.
    #[inline]
    pub(crate) fn open_offers(&self) -> u32 {
        let offers = self.frame().offers + 1;
        self.set_offers(offers);
        offers
    }

    /// Sets the number of open calls of `offers`.
    #[inline]
    pub(crate) fn set_offers(&self, offers: u32) {
        self.frames.top.set(Frame { offers, ..self.frame() });
    }

    fn set_open(&self, open: u32) {
        self.frames.top.set(Frame { open, ..self.frame() });
    }

    /// Notes that this thread's frame waits in the pool, until the value is dropped.
    pub(crate) fn opens_wait(&self) -> impl Drop + '_ {
        struct OpenWait<'a>(&'a Worker);
        impl Drop for OpenWait<'_> {
            fn drop(&mut self) {
                self.0.set_open(self.0.frame().open - 1);
            }
        }
        self.set_open(self.frame().open + 1);
        OpenWait(self)
    }

    /// Whether this worker has open forks that were not stolen, open scopes, or waits. Called by its own thread.
    pub(crate) fn has_frames(&self) -> bool {
        !self.forks.is_empty() || self.frame().open > 0
    }

    /// Notes that the job on top is a part of that scope. The note ends with the job's frame.
    pub(crate) fn enter_scope(&self, scope: u64) {
        // Relaxed, here and at the load. A thief loads the value after it has found a job by an acquire. If the job was pushed after
        // this store, the thief sees the store. If the job was pushed before, it has left the deque before this store, and the thief
        // does not get it.
        self.frames.scope.store(if self.forks.is_empty() { scope } else { NO_SCOPE }, Relaxed);
        self.set_priority(Priority::of_scope(scope));
    }

    /// Whether all of this worker's forks are parts of that scope.
    pub(super) fn belongs_to(&self, scope: u64) -> bool {
        self.frames.scope.load(Relaxed) == scope && !self.runs_unrelated()
    }

    /// Whether this worker runs an unrelated job on top of another one.
    pub(super) fn runs_unrelated(&self) -> bool {
        // Acquire pairs with the release in the pop.
        self.frames.unrelated.load(Acquire) > 0
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::engine::registry::{Registry, Setup};
    use std::panic::{AssertUnwindSafe, catch_unwind};

    const CREDITS: Credits = Credits { scope: 7, counts: 3 };

    #[test]
    fn a_frame_is_popped_while_unwinding() {
        let registry = Registry::new(1, Setup::default());
        let worker = registry.worker(0).unwrap();
        worker.set_credits(CREDITS);
        worker.enter_scope(7);
        let panics = AssertUnwindSafe(|| {
            let _frame = worker.push_frame(Relation::Unrelated);
            worker.enter_scope(8);
            assert!(worker.runs_unrelated() && !worker.belongs_to(7) && !worker.has_frames());
            let _scope = worker.push_scope();
            let _open = worker.opens_wait();
            worker.set_offers(1);
            assert!(worker.has_frames());
            std::panic::resume_unwind(Box::new("a panic of the test"));
        });
        assert!(catch_unwind(panics).is_err());
        assert!(worker.belongs_to(7) && !worker.runs_unrelated() && !worker.has_frames());
        let frame = worker.frame();
        assert_eq!((frame.credits.counts, frame.offers, frame.in_place), (3, 0, 0));
    }

    #[test]
    fn a_job_on_top_neither_spends_nor_loses_credits() {
        let registry = Registry::new(1, Setup::default());
        let worker = registry.worker(0).unwrap();
        worker.set_credits(CREDITS);
        let frame = worker.push_frame(Relation::Part);
        assert_eq!(worker.frame().credits.counts, 0);
        worker.set_credits(Credits { scope: 8, counts: 5 });
        drop(frame);
        assert_eq!((worker.frame().credits.scope, worker.frame().credits.counts), (7, 3));
    }
}
