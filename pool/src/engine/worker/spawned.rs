//! A worker's active deque of spawned jobs, and how the worker takes over or steals from other such deques.

use super::{DequeRef, Entry, Header, JobRef, Relation, SpawnDeque, Worker};
use crate::deque::{Deque, Steal};
use crate::engine::queues::deques::{FirstAction, Settle};
use crate::sync::machine::atomic::Ordering::{Acquire, Relaxed, Release};
use crate::trace::{self, Kind};
use std::iter;
use std::ptr::{self, NonNull};

impl Worker {
    /// Returns the jobs of the worker's active deque. To other threads than the worker's, the result may be a former active deque.
    pub(super) fn spawns(&self) -> &Deque<Header> {
        // Acquire pairs with the release in `adopt`: the deque is initialized.
        // SAFETY: from `adopt` or `new`. Deques stay as long as the registry, which owns this worker.
        unsafe { (*self.active.load(Acquire)).jobs() }
    }

    /// Returns the worker's active deque. For its own thread.
    fn active(&self) -> DequeRef {
        // Relaxed: this thread's own store.
        // SAFETY: from `DequeRef::as_ptr`.
        unsafe { DequeRef::from_ptr(self.active.load(Relaxed)) }
    }

    fn of(&self, deque: DequeRef) -> &SpawnDeque {
        // SAFETY: the registry owns this worker.
        unsafe { deque.get() }
    }

    /// Makes a deque, which has become this worker's, its active one.
    fn adopt(&self, deque: DequeRef) {
        // A worker that ends its search may have requested a split of the former active deque only. So this worker looks up at its next
        // push, and passes a full fence before it reads the count of searching workers. Either it sees that the search has ended, or
        // the other worker sees this store.
        self.of(deque).jobs().poke();
        // Release: the deque is initialized. Before it is given back or given away, it changes its owner under its lock.
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
        if look_up && unsafe { spawns.publish(false) } {
            if !self.registry().holds_slot(self) {
                // The slot was taken over just now, so thieves do not look here any more.
                self.drain();
            }
            self.registry().notify(Some(self));
        }
    }

    /// Pops the newest job spawned here.
    pub(super) fn find_spawned(&self) -> Option<JobRef> {
        let spawns = self.spawns();
        // SAFETY: this thread is the owner.
        let job = unsafe { spawns.pop_newest() }?;
        // A worker that does not spawn any more has no push after which it could share jobs on request. Without this call, thieves
        // would steal each of its jobs as a private one, and pass a heavy fence each time.
        // SAFETY: this thread is the owner.
        unsafe { spawns.share_if_requested() };
        Some(JobRef::new(job, self))
    }

    /// Moves the tasks among the jobs spawned here to the stealable sets. The other jobs stay.
    pub(crate) fn give_tasks_away(&self) {
        let spawns = self.spawns();
        if spawns.is_empty() {
            return;
        }
        // SAFETY: this thread is the owner.
        let jobs: Vec<_> = iter::from_fn(|| unsafe { spawns.pop_newest() }).collect();
        for job in jobs.into_iter().rev() {
            let queued = JobRef::new(job, self);
            // SAFETY: this thread is the owner. A spawned job, just taken, is queued once.
            unsafe {
                if queued.is_task() {
                    self.registry().requeue(queued);
                } else if spawns.push(job).1 {
                    spawns.publish(false);
                }
            }
        }
        // SAFETY: this thread is the owner.
        unsafe { spawns.share_all() };
        // A worker that ended its search meanwhile has not seen the jobs.
        self.registry().notify(Some(self));
    }

    /// Runs a job on top of the current frame, which waits for nothing else, if the job is the newest one spawned here and was not
    /// stolen. Does nothing if 16 jobs run in this way already: without that bound, there could be as many frames as there are jobs.
    pub(crate) fn run_if_newest(&self, job: NonNull<Header>) {
        const DEEPEST: u32 = 16;
        // SAFETY: this thread is the owner.
        if self.frame().in_place < DEEPEST && unsafe { self.spawns().pop_newest_if(job) } {
            // SAFETY: just taken from a queue.
            unsafe { self.run(JobRef::new(job, self), Relation::InPlace) };
            // If another worker has waited for the job's end, it may have got this worker's slot.
            self.registry().regain_slot(self);
        }
    }

    /// Suspends the active deque with a task of that scope, which is about to be suspended. The worker goes on with an empty deque.
    /// Returns `None`, and does nothing, if the active deque is empty.
    pub(crate) fn suspend_deque(&self, scope: u64) -> Option<DequeRef> {
        let deque = self.active();
        if self.of(deque).jobs().is_empty() {
            return None;
        }
        // SAFETY: the deque is this thread's until `adopt` below. The task is not suspended yet.
        unsafe { self.of(deque).suspend(scope) };
        self.counters.suspended_deques.add();
        self.registry().stealable.add(Entry::Deque(deque));
        self.adopt(self.registry().deques.take());
        // A worker that ends its search may have looked for jobs between the two lines above.
        self.registry().notify(Some(self));
        Some(deque)
    }

    /// Returns a job of an entry that this worker has taken from a set; `None` if there is none after all. May mug the entry's deque.
    ///
    /// The worker's own deque is empty.
    pub(super) fn take_up(&self, entry: Entry) -> Option<JobRef> {
        let deque = match entry {
            Entry::Task(task) => return Some(task),
            Entry::Deque(deque) => deque,
        };
        match self.of(deque).open() {
            FirstAction::Mugged(task) => {
                self.counters.mugs.add();
                trace::record(Kind::Mug, 0);
                self.mug(deque);
                task.or_else(|| self.find_spawned())
            }
            FirstAction::Steal => self.steal_oldest(deque),
        }
    }

    /// As `take_up`, for a worker whose own deque need not be empty. So it mugs no deque.
    pub(super) fn take_up_beside(&self, entry: Entry) -> Option<JobRef> {
        match entry {
            Entry::Task(task) => Some(task),
            Entry::Deque(deque) => match self.of(deque).open_beside() {
                None => self.steal_oldest(deque),
                task => self.settle(deque, None).or(task),
            },
        }
    }

    /// Takes a whole deque over: it is the worker's active deque from now on.
    fn mug(&self, deque: DequeRef) {
        let before = self.active();
        debug_assert!(self.of(before).jobs().is_empty(), "else it would not look into the sets");
        self.adopt(deque);
        self.registry().deques.retire(before);
        // A worker that ended its search meanwhile has not seen the entry, which this thread had taken from its set.
        self.registry().notify(Some(self));
    }

    /// Steals the oldest job of a suspended deque. If a resumable deque has no other job, takes its task.
    fn steal_oldest(&self, deque: DequeRef) -> Option<JobRef> {
        let stolen = self.of(deque).steal().map(|job| JobRef::new(job, ptr::null()));
        self.settle(deque, stolen)
    }

    /// Puts the entry of a deque back into a set, or frees the deque. Returns the stolen job; if there is none, the deque's task.
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
                // A worker that ended its search meanwhile has not seen the entry, which this thread had taken from its set.
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

    /// Steals a spawned job, a private one at once. Spawned jobs do not stay private for long, because an owner that waits for them
    /// runs them. So the thief needs no patience.
    pub(super) fn steal_spawned(&self, victim: &Worker, slot: usize) -> Option<JobRef> {
        let spawns = victim.spawns();
        let stolen = match spawns.steal(|| true) {
            Steal::Private => spawns.steal_private(|| true, || self.counters.barriers.add()),
            other => other,
        };
        self.stolen(stolen, victim, slot)
    }
}
