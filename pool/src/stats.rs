//! Counters: what a pool has done.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// A counter written by one thread and read by any.
#[derive(Debug, Default)]
pub(crate) struct Counter(AtomicU64);

impl Counter {
    /// Adds one, without a read-modify-write: only the owner writes. Relaxed: nothing is inferred from a count.
    #[inline(always)]
    pub(crate) fn add(&self) {
        self.0.store(self.0.load(Relaxed) + 1, Relaxed);
    }

    pub(crate) fn get(&self) -> u64 {
        self.0.load(Relaxed)
    }
}

/// A counter written by any thread.
#[derive(Debug, Default)]
pub(crate) struct SharedCounter(AtomicU64);

impl SharedCounter {
    /// Relaxed: nothing is inferred from a count.
    pub(crate) fn add(&self) {
        self.0.fetch_add(1, Relaxed);
    }

    pub(crate) fn get(&self) -> u64 {
        self.0.load(Relaxed)
    }
}

/// What threads have done to a pool that are none of its workers.
#[derive(Debug, Default)]
pub(crate) struct Outside {
    pub(crate) wakeups: SharedCounter,
    pub(crate) suspensions: SharedCounter,
    pub(crate) cancelled: SharedCounter,
}

/// A worker's counters.
#[derive(Debug)]
pub(crate) struct Counters {
    pub(crate) forks: Counter,
    pub(crate) spawns: Counter,
    pub(crate) migrated: Counter,
    pub(crate) injected: Counter,
    pub(crate) parks: Counter,
    pub(crate) naps: Counter,
    pub(crate) wakeups: Counter,
    pub(crate) barriers: Counter,
    pub(crate) handovers: Counter,
    pub(crate) waits: Counter,
    pub(crate) polls: Counter,
    pub(crate) ready: Counter,
    pub(crate) suspensions: Counter,
    pub(crate) resumes: Counter,
    pub(crate) cancelled: Counter,
    /// By the victim's place.
    pub(crate) steals: Box<[Steals]>,
}

#[derive(Debug, Default)]
pub(crate) struct Steals {
    pub(crate) tried: Counter,
    pub(crate) won: Counter,
}

impl Counters {
    pub(crate) fn new(places: usize) -> Self {
        Counters {
            forks: Counter::default(),
            spawns: Counter::default(),
            migrated: Counter::default(),
            injected: Counter::default(),
            parks: Counter::default(),
            naps: Counter::default(),
            wakeups: Counter::default(),
            barriers: Counter::default(),
            handovers: Counter::default(),
            waits: Counter::default(),
            polls: Counter::default(),
            ready: Counter::default(),
            suspensions: Counter::default(),
            resumes: Counter::default(),
            cancelled: Counter::default(),
            steals: (0..places).map(|_| Steals::default()).collect(),
        }
    }

    pub(crate) fn read(&self) -> WorkerStats {
        WorkerStats {
            forks: self.forks.get(),
            spawns: self.spawns.get(),
            migrated: self.migrated.get(),
            injected: self.injected.get(),
            parks: self.parks.get(),
            naps: self.naps.get(),
            wakeups: self.wakeups.get(),
            barriers: self.barriers.get(),
            handovers: self.handovers.get(),
            waits: self.waits.get(),
            polls: self.polls.get(),
            ready: self.ready.get(),
            suspensions: self.suspensions.get(),
            resumes: self.resumes.get(),
            cancelled: self.cancelled.get(),
            steals: self
                .steals
                .iter()
                .map(|victim| StealStats { tried: victim.tried.get(), won: victim.won.get() })
                .collect(),
        }
    }
}

/// What one worker has done since the pool was made.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct WorkerStats {
    /// Right halves made stealable by `join`, and [detached](crate::detach) parts laid ready.
    pub forks: u64,
    /// Jobs made by `spawn` and its kin.
    pub spawns: u64,
    /// Such halves and parts run that were stolen.
    pub migrated: u64,
    /// Jobs from outside run.
    pub injected: u64,
    /// Times it went to sleep until woken.
    pub parks: u64,
    /// Times it slept for a while while on the look-out for work.
    pub naps: u64,
    /// Workers it has woken because there was work for one more.
    pub wakeups: u64,
    /// Barriers that interrupted other cores: steals of private jobs, and last looks before sleep.
    pub barriers: u64,
    /// Times it gave its place away because what it waited for was elsewhere.
    pub handovers: u64,
    /// Times it had a `join` open whose right half was stolen and not done: it waited there, in the middle of a job. A
    /// [detached](crate::detach) part that was stolen is not waited for.
    pub waits: u64,
    /// Times it has polled a future.
    pub polls: u64,
    /// Futures that were ready when they were polled first, in place: they cost no task.
    pub ready: u64,
    /// Futures that were pending then: so many tasks it has suspended.
    pub suspensions: u64,
    /// Suspended tasks whose continuation it has run.
    pub resumes: u64,
    /// Suspended tasks that it has dropped instead. Once a call is over, all that were suspended have been resumed or
    /// dropped: in the [total](Stats::total), `suspensions == resumes + cancelled`.
    pub cancelled: u64,
    /// Steals, by the victim's [place](crate::ThreadPool::current_thread_index).
    pub steals: Vec<StealStats>,
}

/// What one worker has stolen from the workers of one place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct StealStats {
    /// Attempts on a deque that was not empty.
    pub tried: u64,
    /// Attempts that got a job.
    pub won: u64,
}

/// What a pool has done since it was made: a snapshot, taken while the pool goes on.
///
/// ```
/// let pool = furcate::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
/// pool.install(|| furcate::join(|| (), || ()));
/// assert_eq!(pool.stats().total().forks, 1);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stats {
    /// The workers: the pool's own threads, then spare ones and threads from outside that took part.
    pub workers: Vec<WorkerStats>,
    /// Workers woken by threads that are none.
    pub wakeups_from_outside: u64,
    /// Tasks suspended by such threads.
    pub suspensions_from_outside: u64,
    /// Suspended tasks dropped by such threads.
    pub cancelled_from_outside: u64,
}

impl Stats {
    /// The sums over all workers, with what was done from outside.
    #[must_use]
    pub fn total(&self) -> WorkerStats {
        let mut total = WorkerStats {
            wakeups: self.wakeups_from_outside,
            suspensions: self.suspensions_from_outside,
            cancelled: self.cancelled_from_outside,
            ..WorkerStats::default()
        };
        for worker in &self.workers {
            total.forks += worker.forks;
            total.spawns += worker.spawns;
            total.migrated += worker.migrated;
            total.injected += worker.injected;
            total.parks += worker.parks;
            total.naps += worker.naps;
            total.wakeups += worker.wakeups;
            total.barriers += worker.barriers;
            total.handovers += worker.handovers;
            total.waits += worker.waits;
            total.polls += worker.polls;
            total.ready += worker.ready;
            total.suspensions += worker.suspensions;
            total.resumes += worker.resumes;
            total.cancelled += worker.cancelled;
            total.steals.resize(worker.steals.len().max(total.steals.len()), StealStats::default());
            for (total, by) in total.steals.iter_mut().zip(&worker.steals) {
                total.tried += by.tried;
                total.won += by.won;
            }
        }
        total
    }
}
