//! Searching: the lock-free part of the sleep protocol. It tells a publisher of work whether a worker must be woken.
//!
//! # Invariants
//!
//! 1. Work is published first, then [`needs_searcher`](Searching::needs_searcher) is asked; between the two lies a full fence (see
//!    [`notify`](Searching::notify)), or, for a fork, a light one, and the question is asked only if the deque's limit says
//!    so.
//! 2. A worker that ceases to be alert says so first ([`end`](Searching::end)), and a thread that makes a slot free says so first
//!    ([`set_free`](Searching::set_free)). Then they [look out](Searching::final_check): they ask the owners of deques to look up,
//!    pass a heavy fence, and look for work everywhere.
//! 3. A worker that dozes says so first ([`set_long_sleepers`](Searching::set_long_sleepers)), passes a full fence, and looks for queued jobs once
//!    more ([`may_sleep_long`](Searching::may_sleep_long)).
//! 4. If every slot is taken and no worker searches, a *watcher* is there for queued tasks
//!    ([`needs_watcher`](Searching::needs_watcher)). A publisher asks after its fence, the last searcher asks after it has
//!    [looked out](Searching::final_check), and a watcher that stops says so, passes a full fence, and looks once more
//!    ([`may_stop_watching`](Searching::may_stop_watching)).
//!
//! So for every piece of work and every moment at which the last alert worker ceases to be alert: the publisher sees that none is
//! alert, or the worker sees the work, or both. The idle lock then decides which worker is woken. A nap needs no such care: the
//! napper is alert, and looks for work at the nap's end. A publisher that does not see a nap begin loses the time of one nap.

use crate::fence;
use crate::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};

/// Counts of searching and dozing workers, of free slots, and flags for the napper and the watcher.
#[derive(Debug)]
pub(crate) struct Searching {
    /// Workers that look for work, a napping one included.
    count: AtomicUsize,
    /// Number of free slots.
    free: AtomicUsize,
    /// Whether one of the searching workers naps.
    timed_searcher: AtomicBool,
    /// Number of workers that doze.
    long_sleepers: AtomicUsize,
    /// Whether a thread watches queued tasks, or none can.
    watched: AtomicBool,
}

impl Searching {
    pub(crate) fn new(free: usize) -> Self {
        Searching {
            count: AtomicUsize::new(0),
            free: AtomicUsize::new(free),
            timed_searcher: AtomicBool::new(false),
            long_sleepers: AtomicUsize::new(0),
            watched: AtomicBool::new(false),
        }
    }

    /// Whether no worker is alert although a slot is free.
    ///
    /// Relaxed, as all of these: a caller has passed a fence, or its deque was asked to look up by a worker that has.
    pub(crate) fn needs_searcher(&self) -> bool {
        self.no_searcher() && self.free() > 0
    }

    pub(crate) fn no_searcher(&self) -> bool {
        self.count.load(Relaxed) == 0
    }

    pub(crate) fn free(&self) -> usize {
        self.free.load(Relaxed)
    }

    pub(crate) fn set_free(&self, free: usize) {
        self.free.store(free, Relaxed);
    }

    /// Whether a worker naps. A hint.
    pub(crate) fn has_timed_searcher(&self) -> bool {
        self.timed_searcher.load(Relaxed)
    }

    /// Written with the idle lock held.
    pub(crate) fn set_timed_searcher(&self, timed_searcher: bool) {
        self.timed_searcher.store(timed_searcher, Relaxed);
    }

    /// Written with the idle lock held.
    pub(crate) fn set_long_sleepers(&self, long_sleepers: usize) {
        self.long_sleepers.store(long_sleepers, Relaxed);
    }

    /// One more looks for work.
    pub(crate) fn begin(&self) {
        self.count.fetch_add(1, Relaxed);
    }

    /// One worker ceases to look for work. Returns `true` if it was the last one.
    #[must_use = "the last one looks out"]
    pub(crate) fn end(&self) -> bool {
        self.count.fetch_sub(1, Relaxed) == 1
    }

    /// Called after work was published where every worker looks: calls the closures for the wake-ups that are needed (invariant 1).
    pub(crate) fn notify(
        &self,
        wake_one: impl FnOnce(),
        wake_timed_searcher: impl FnOnce(),
        wake_long_sleepers: impl FnOnce(),
    ) {
        // Dekker: the caller has published the work, and now looks for alert and dozing workers. A worker that ceases to be alert, or
        // dozes, says so and then looks for work.
        fence::full();
        if self.no_searcher() {
            wake_one();
        } else if self.has_timed_searcher() {
            wake_timed_searcher();
        }
        if self.long_sleepers.load(Relaxed) > 0 {
            wake_long_sleepers();
        }
    }

    /// Whether nothing is queued, as seen by a worker that has just said that it dozes (invariant 3).
    pub(crate) fn may_sleep_long(&self, is_queued: impl FnOnce() -> bool) -> bool {
        // Pairs with the one in `notify`.
        fence::full();
        !is_queued()
    }

    /// Whether queued tasks need a watcher: no worker searches, no slot is free, and no thread watches (invariant 4).
    ///
    /// Relaxed: as for [`needs_searcher`](Self::needs_searcher).
    pub(crate) fn needs_watcher(&self) -> bool {
        self.no_searcher() && self.free() == 0 && !self.watched.load(Relaxed)
    }

    /// Written with the idle lock held.
    pub(crate) fn set_watched(&self, watched: bool) {
        self.watched.store(watched, Relaxed);
    }

    /// Whether no task is queued, as seen by a watcher that has just said that it stops (invariant 4).
    pub(crate) fn may_stop_watching(&self, is_queued: impl FnOnce() -> bool) -> bool {
        // Pairs with the one in `notify`.
        fence::full();
        !is_queued()
    }

    /// Asks the publishers of work to look up from now on, then looks for work that they have published before
    /// (invariant 2). Returns `true` if there is some, and a worker is to be woken for it.
    pub(crate) fn final_check(&self, request_split: impl FnOnce(), sees_work: impl FnOnce() -> bool) -> bool {
        // Between the caller's store and the question here. If one thread ceases to be alert and another makes a slot free, at least
        // the later of the two sees both stores.
        fence::full();
        if !self.needs_searcher() {
            return false;
        }
        request_split();
        fence::heavy();
        sees_work()
    }
}

#[cfg(all(test, loom))]
mod models;
