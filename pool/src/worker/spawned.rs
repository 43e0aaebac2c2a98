//! A worker's active deque of spawned jobs, and how it takes others.

use super::Worker;
use crate::deque::{Deque, Steal};
use crate::deques::{DequeRef, Open, Settle, SpawnDeque};
use crate::job::{Header, JobRef};
use crate::stealable::Entry;
use std::ptr::{self, NonNull};
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

impl Worker {
    /// The jobs of its active deque. For its own thread; to others it may be whose it was.
    pub(super) fn spawns(&self) -> &Deque<Header> {
        // Acquire pairs with the release in `adopt`: the deque is there.
        // SAFETY: from `adopt`, or `new`; deques stay as long as the registry, which owns this worker.
        unsafe { (*self.active.load(Acquire)).jobs() }
    }

    fn active(&self) -> DequeRef {
        // Relaxed: this thread's own store.
        // SAFETY: from `DequeRef::as_ptr`.
        unsafe { DequeRef::from_ptr(self.active.load(Relaxed)) }
    }

    fn of(&self, deque: DequeRef) -> &SpawnDeque {
        // SAFETY: the registry owns this worker.
        unsafe { deque.get() }
    }

    /// The deque, which has become this worker's, is its active one.
    fn adopt(&self, deque: DequeRef) {
        // Nobody has asked this one: who goes to sleep may have asked the one before. So it looks up at its next push, and
        // passes a full fence before it looks who is alert: either it sees the sleeper, or that sees this store.
        self.of(deque).jobs().poke();
        // Release: the deque is there. Before it is given back, or away, it changes hands under its lock.
        self.active.store(deque.as_ptr(), Release);
    }

    /// Queues a spawned job.
    ///
    /// # Safety
    ///
    /// The caller gives the job away; it begins with a `SpawnHeader`. This thread is the worker.
    pub(crate) unsafe fn spawn(&self, job: NonNull<Header>) {
        self.counters.spawns.add();
        let spawns = self.spawns();
        // SAFETY: this thread is the owner.
        let (_, look_up) = unsafe { spawns.push(job) };
        // SAFETY: this thread is the owner.
        if look_up && unsafe { spawns.publish(|| false) } {
            if !self.registry().holds_slot(self) {
                // The slot was taken over just now: thieves do not look here any more.
                self.drain();
            }
            self.registry().notify(Some(self));
        }
    }

    /// The newest job spawned here.
    pub(super) fn find_spawned(&self) -> Option<JobRef> {
        let spawns = self.spawns();
        // SAFETY: this thread is the owner.
        let job = unsafe { spawns.pop_newest() }?;
        // A worker that has stopped spawning has no push after which it answers thieves. Without this, they would reach for each of
        // its jobs, and pass a heavy fence each time.
        // SAFETY: this thread is the owner.
        unsafe { spawns.share_if_requested() };
        Some(JobRef::new(job, self))
    }

    /// Runs a job on top of the current frame, which waits for nothing else, if it was spawned here last and nobody has taken
    /// it up. (If frames lie upon frames already, it does not: they may be as many as there are jobs.)
    pub(crate) fn run_if_newest(&self, job: NonNull<Header>) {
        const DEEPEST: u32 = 16;
        let depth = self.in_place.get();
        // SAFETY: this thread is the owner.
        if depth < DEEPEST && unsafe { self.spawns().pop_newest_if(job) } {
            self.in_place.set(depth + 1);
            // SAFETY: just taken from a queue.
            unsafe { self.execute(JobRef::new(job, self)) };
            self.in_place.set(depth);
            // If a worker waited for the job's end, it may have got this one's slot.
            self.registry().regain_slot(self);
        }
    }

    /// Suspends its deque with a task of that scope, which is about to wait; goes on with an empty one. None if there is nothing
    /// in it.
    pub(crate) fn suspend_deque(&self, scope: u64) -> Option<DequeRef> {
        let deque = self.active();
        if self.of(deque).jobs().is_empty() {
            return None;
        }
        // SAFETY: this thread's, until `adopt` below; the task is not suspended yet.
        unsafe { self.of(deque).suspend(scope) };
        self.counters.suspended_deques.add();
        self.registry().stealable.add(Entry::Deque(deque));
        self.adopt(self.registry().deques.take());
        // Who goes to sleep may have looked for jobs between the two.
        self.registry().notify(Some(self));
        Some(deque)
    }

    /// What there is to run of an entry that this worker has taken from a set. None if there is nothing after all.
    ///
    /// The worker's own deque is empty.
    pub(super) fn take_up(&self, entry: Entry) -> Option<JobRef> {
        let deque = match entry {
            Entry::Task(task) => return Some(task),
            Entry::Deque(deque) => deque,
        };
        match self.of(deque).open() {
            Open::Mugged(task) => {
                self.counters.mugs.add();
                self.mug(deque);
                task.or_else(|| self.find_spawned())
            }
            Open::Steal => self.steal_oldest(deque),
        }
    }

    /// As `take_up`, of a worker whose own deque need not be empty: so it mugs nothing.
    pub(super) fn take_up_beside(&self, entry: Entry) -> Option<JobRef> {
        match entry {
            Entry::Task(task) => Some(task),
            Entry::Deque(deque) => match self.of(deque).open_beside() {
                None => self.steal_oldest(deque),
                task => self.settle(deque, None).or(task),
            },
        }
    }

    /// The whole deque is this worker's from now on.
    fn mug(&self, deque: DequeRef) {
        let before = self.active();
        debug_assert!(self.of(before).jobs().is_empty(), "else it would not look into the sets");
        self.adopt(deque);
        self.registry().deques.retire(before);
        // While its entry was in this thread's hand, those who go to sleep did not see it.
        self.registry().notify(Some(self));
    }

    /// Takes the oldest job of a deque that waits, or the task of one that was woken, if it has nothing else.
    fn steal_oldest(&self, deque: DequeRef) -> Option<JobRef> {
        let stolen = self.of(deque).steal().map(|job| JobRef::new(job, ptr::null()));
        self.settle(deque, stolen)
    }

    /// Puts the entry of a deque back, or frees that. Returns what was stolen, else the last thing that was in it.
    fn settle(&self, deque: DequeRef, stolen: Option<JobRef>) -> Option<JobRef> {
        let (settle, resumable) = self.of(deque).settle(stolen.is_some());
        if resumable {
            self.counters.steals_resumable.add();
        } else if stolen.is_some() {
            self.counters.steals_suspended.add();
        }
        match settle {
            Settle::List => {
                self.registry().stealable.add(Entry::Deque(deque));
                // While it was in this thread's hand, those who go to sleep did not see it.
                self.registry().notify(Some(self));
                stolen
            }
            Settle::Forget => stolen,
            Settle::Free(task) => {
                self.registry().deques.free(deque);
                stolen.or(task)
            }
        }
    }

    /// Steals a spawned job. Spawned ones are not hidden for long, since their owner waits for them, if it does, by
    /// running them; so one that must be reached for is reached for at once.
    pub(super) fn steal_spawned(&self, victim: &Worker, slot: usize) -> Option<JobRef> {
        let spawns = victim.spawns();
        let stolen = match spawns.steal(|| true) {
            Steal::Private => spawns.steal_private(|| true, || self.counters.barriers.add()),
            other => other,
        };
        self.stolen(stolen, victim, slot)
    }
}
