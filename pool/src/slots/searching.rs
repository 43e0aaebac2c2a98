//! The count of searching workers: the lock-free part of the sleep protocol. It tells a publisher of work whether to wake a worker.
//!
//! The part that the slot lock protects is in `slots.rs`, with the table of the workers' states. A *timed searcher* counts as
//! searching. A *long sleeper* waits for a latch in its slot, and sleeps for up to 10 ms.
//!
//! # Invariants
//!
//! 1. A publisher publishes its work before it calls [`needs_searcher`](Searching::needs_searcher). Between the two lies a full fence
//!    (see [`notify`](Searching::notify)). For a fork it is a light fence, and `needs_searcher` is called only if the deque's limit
//!    says so.
//! 2. A worker that ends its search calls [`end`](Searching::end) first, and a thread that makes a slot free calls
//!    [`set_free`](Searching::set_free) first. Then the thread, or the worker if it was the last searching one, does the [final
//!    check](Searching::final_check): it looks for work everywhere. If it sees none, it requests a split of every deque, passes a heavy fence, and looks again.
//! 3. A long sleeper first counts itself ([`set_long_sleepers`](Searching::set_long_sleepers)), then passes a full fence and looks for
//!    queued jobs once more ([`may_sleep`](Searching::may_sleep)).
//! 4. If every slot is taken and no worker searches, a *watcher* looks after queued tasks
//!    ([`needs_watcher`](Searching::needs_watcher)). A publisher checks that after its fence, and the last searcher after its
//!    [final check](Searching::final_check). A watcher that stops first says so, then passes a full fence and looks once more
//!    ([`may_sleep`](Searching::may_sleep)).
//!
//! 5. *The count has two levels* (a SNZI: Ellen et al., *Scalable Nonzero Indicators*, PODC 2007): workers count themselves in their group, and `count` is the
//!    number of groups in which a worker searches. The worker that brings its group from 0 to 1 adds the group, and the one that brings it from 1 to 0
//!    then takes the group away. Between those two steps `count` is behind. A publisher that sees too small a count wakes a worker in vain. If it sees
//!    too large a count, a worker is about to take its group away. That worker does the final check, or another group was added meanwhile.
//!    `count` is never negative: a group is taken away only after the worker that adds it has ended its search, and so has added it.
//!
//! So for every piece of work and every end of the last search, the publisher sees that no worker searches, or the worker sees the
//! work, or both. The slot lock then decides which worker is woken. The sleeps of the timed searcher need no such care: it counts as
//! searching, and looks for work after each sleep. A publisher that does not see the timed searcher loses the time of one sleep.

use crate::sync::atomic::{
    AtomicBool, AtomicUsize,
    Ordering::{AcqRel, Relaxed},
};
use crate::sync::fence;
use crossbeam_utils::CachePadded;

/// Number of workers that count their searches together, at least. Eight cores share a cache on many machines. In a large pool a group has
/// the square root of the pool's size: the larger a group, the more seldom it changes `count`.
const GROUP: usize = 8;

/// Bit beside the number of free slots: one more slot would be free if a token was [requested](crate::slots::Token).
const ON_REQUEST: usize = 1 << (usize::BITS - 1);

/// Counts of searching workers, long sleepers and free slots, and flags for the timed searcher and the watcher.
///
/// All workers read these values often. Those that change with every search have cache lines of their own.
#[derive(Debug)]
pub(crate) struct Searching {
    /// Number of searching workers of each group, the timed searcher included. Empty if there is only one group.
    groups: Box<[CachePadded<AtomicUsize>]>,
    /// Number of workers of a group.
    group_size: usize,
    /// Number of groups in which a worker searches; of searching workers, if there is only one group.
    count: CachePadded<AtomicUsize>,
    /// Number of free slots, and [`ON_REQUEST`]; number of slots that are free or withheld.
    free: CachePadded<(AtomicUsize, AtomicUsize)>,
    /// Whether one of the searching workers is the timed searcher.
    timed_searcher: CachePadded<AtomicBool>,
    /// Number of long sleepers.
    long_sleepers: AtomicUsize,
    /// Whether a thread watches queued tasks.
    watched: AtomicBool,
}

impl Searching {
    /// Makes the counts of a pool with so many slots that are free, and `slots` in all.
    pub(crate) fn new(free: usize, slots: usize) -> Self {
        let size = GROUP.max(slots.isqrt());
        Self::with_groups(free, if slots > size { slots.div_ceil(size) } else { 0 }, size)
    }

    fn with_groups(free: usize, groups: usize, group_size: usize) -> Self {
        Searching {
            groups: (0..groups).map(|_| CachePadded::new(AtomicUsize::new(0))).collect(),
            group_size,
            count: CachePadded::new(AtomicUsize::new(0)),
            free: CachePadded::new((AtomicUsize::new(free), AtomicUsize::new(free))),
            timed_searcher: CachePadded::new(AtomicBool::new(false)),
            long_sleepers: AtomicUsize::new(0),
            watched: AtomicBool::new(false),
        }
    }

    /// Whether no worker searches although a slot is free, or would be on request.
    ///
    /// Relaxed, as all loads here: the caller has passed a fence, or its deque was poked by a worker that has.
    pub(crate) fn needs_searcher(&self) -> bool {
        self.no_searcher() && self.free.0.load(Relaxed) > 0
    }

    /// Whether no worker searches.
    pub(crate) fn no_searcher(&self) -> bool {
        self.count.load(Relaxed) == 0
    }

    /// As [`no_searcher`](Self::no_searcher), for a worker: it looks at its own group first, whose count is near. If a worker of the group searches, that
    /// one, or one that is counted when it ends its search, does the final check.
    pub(crate) fn no_searcher_for(&self, worker: usize) -> bool {
        self.group(worker).is_none_or(|group| group.load(Relaxed) == 0) && self.no_searcher()
    }

    /// Returns the number of searching workers. The workers that are being counted meanwhile may be missing: a hint.
    pub(crate) fn count(&self) -> usize {
        if self.groups.is_empty() {
            return self.count.load(Relaxed);
        }
        self.groups.iter().map(|group| group.load(Relaxed)).sum()
    }

    /// Returns the number of free slots.
    pub(crate) fn free(&self) -> usize {
        self.free.0.load(Relaxed) & !ON_REQUEST
    }

    /// Returns the number of slots that no worker holds: those that are free or withheld.
    pub(crate) fn unheld(&self) -> usize {
        self.free.1.load(Relaxed)
    }

    /// Sets the numbers of free and of withheld slots, and whether one of the latter would be free on request. Called with the slot lock held.
    pub(crate) fn set_free(&self, free: usize, withheld: usize, on_request: bool) {
        self.free.1.store(free + withheld, Relaxed);
        self.free.0.store(free | if on_request { ON_REQUEST } else { 0 }, Relaxed);
    }

    /// Whether there is a timed searcher. A hint.
    pub(crate) fn has_timed_searcher(&self) -> bool {
        self.timed_searcher.load(Relaxed)
    }

    /// Whether there is a timed searcher that no other thread is about to wake. If there is one, the caller is to wake it. Until then the flag is
    /// false: other publishers rely on the caller, or lose the time of one sleep.
    pub(crate) fn claim_timed_searcher(&self) -> bool {
        self.has_timed_searcher() && self.timed_searcher.swap(false, Relaxed)
    }

    /// Whether there is a timed searcher, and no other worker searches. A hint.
    pub(crate) fn has_timed_searcher_only(&self) -> bool {
        self.has_timed_searcher() && self.count() == 1
    }

    /// Sets whether there is a timed searcher. Called with the slot lock held.
    pub(crate) fn set_timed_searcher(&self, timed_searcher: bool) {
        self.timed_searcher.store(timed_searcher, Relaxed);
    }

    /// Sets the number of long sleepers. Called with the slot lock held.
    pub(crate) fn set_long_sleepers(&self, long_sleepers: usize) {
        self.long_sleepers.store(long_sleepers, Relaxed);
    }

    /// Counts a worker, by its number, as searching.
    pub(crate) fn begin(&self, worker: usize) {
        if self.group(worker).is_none_or(|group| group.fetch_add(1, AcqRel) == 0) {
            self.count.fetch_add(1, AcqRel);
        }
    }

    /// Counts a worker as searching no more. Returns `true` if it was the last one.
    #[must_use = "the last searching worker does the final check"]
    pub(crate) fn end(&self, worker: usize) -> bool {
        // AcqRel, as in `begin`: the worker that takes the group away sees the addition of the worker that has added it, who has ended its search in this
        // group since (invariant 5). And the last one sees the slots that the others have made free.
        self.group(worker).is_none_or(|group| group.fetch_sub(1, AcqRel) == 1)
            && self.count.fetch_sub(1, AcqRel) == 1
    }

    /// Returns the count of a worker's group, unless there is only one group.
    fn group(&self, worker: usize) -> Option<&AtomicUsize> {
        let groups = self.groups.len();
        (groups > 0).then(|| &*self.groups[worker / self.group_size % groups])
    }

    /// Calls the closures for the wake-ups that are needed after work was published where every worker looks (invariant 1).
    pub(crate) fn notify(
        &self,
        wake_one: impl FnOnce(),
        wake_timed_searcher: impl FnOnce(),
        wake_long_sleepers: impl FnOnce(),
    ) {
        // Dekker: the caller has published the work, and now reads the counts. A worker that ends its search, or is about to sleep
        // long, writes the counts and then looks for work.
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

    /// Whether nothing is queued. Called by a worker that has just counted itself as a long sleeper (invariant 3), and by a watcher that
    /// has just said that it stops (invariant 4).
    pub(crate) fn may_sleep(&self, is_queued: impl FnOnce() -> bool) -> bool {
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

    /// Sets whether a thread watches queued tasks. Called with the slot lock held.
    pub(crate) fn set_watched(&self, watched: bool) {
        self.watched.store(watched, Relaxed);
    }

    /// Looks for work. If there is none, requests a split of every deque, so that later pushes look up, and then looks for work that was
    /// published before (invariant 2). Returns `true` if there is work and a worker must be woken for it.
    pub(crate) fn final_check(&self, request_split: impl FnOnce(), sees_work: impl Fn() -> bool) -> bool {
        // Between the caller's store and the loads here. If one thread ends its search and another one makes a slot free, at least the
        // later of the two sees both stores.
        fence::full();
        if !self.needs_searcher() {
            return false;
        }
        // The fence is there for work that is not seen without it.
        sees_work() || {
            request_split();
            fence::heavy();
            sees_work()
        }
    }
}

#[cfg(all(test, loom))]
mod models;
