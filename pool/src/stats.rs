//! Counters of a pool's actions.

mod histogram;

pub use crate::deques::DequeStats;
pub use histogram::WakeToRun;
pub(crate) use histogram::{Moment, WakeTimes};

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// A counter written by one thread and read by any.
#[derive(Debug, Default)]
pub(crate) struct Counter(AtomicU64);

impl Counter {
    /// Adds one, without a read-modify-write, since only the owner writes. Relaxed: no other memory depends on a count.
    #[inline(always)]
    pub(crate) fn add(&self) {
        self.add_up(1);
    }

    /// Adds `more`, as [`add`](Self::add) adds one.
    #[inline(always)]
    pub(crate) fn add_up(&self, more: u64) {
        self.0.store(self.0.load(Relaxed) + more, Relaxed);
    }

    pub(crate) fn get(&self) -> u64 {
        self.0.load(Relaxed)
    }
}

/// A counter written by any thread.
#[derive(Debug, Default)]
pub(crate) struct SharedCounter(AtomicU64);

impl SharedCounter {
    /// Adds one. Relaxed: nothing is inferred from a count.
    pub(crate) fn add(&self) {
        self.add_up(1);
    }

    /// Adds `more`.
    pub(crate) fn add_up(&self, more: u64) {
        self.0.fetch_add(more, Relaxed);
    }

    pub(crate) fn get(&self) -> u64 {
        self.0.load(Relaxed)
    }
}

/// Counters of the actions of threads that are no workers of the pool.
#[derive(Debug, Default)]
pub(crate) struct Outside {
    pub(crate) wakeups: SharedCounter,
    pub(crate) suspensions: SharedCounter,
    pub(crate) cancelled: SharedCounter,
    pub(crate) wakes: SharedCounter,
    pub(crate) wakes_coalesced: SharedCounter,
    pub(crate) waits_for_room: SharedCounter,
}

impl Outside {
    pub(crate) fn read(&self) -> WorkerStats {
        WorkerStats {
            wakeups: self.wakeups.get(),
            suspensions: self.suspensions.get(),
            cancelled: self.cancelled.get(),
            wakes: self.wakes.get(),
            wakes_coalesced: self.wakes_coalesced.get(),
            waits_for_room: self.waits_for_room.get(),
            ..WorkerStats::default()
        }
    }
}

/// Declares the counters of a worker.
macro_rules! counters {
    ($($(#[$about:meta])* $name:ident,)*) => {
        /// A worker's counters.
        #[derive(Debug)]
        pub(crate) struct Counters {
            $(pub(crate) $name: Counter,)*
            /// Steals by the victim's slot.
            pub(crate) steals: Box<[Steals]>,
            pub(crate) wake_to_run: WakeTimes,
        }

        impl Counters {
            pub(crate) fn new(slots: usize) -> Self {
                Counters {
                    $($name: Counter::default(),)*
                    steals: (0..slots).map(|_| Steals::default()).collect(),
                    wake_to_run: WakeTimes::default(),
                }
            }

            pub(crate) fn read(&self) -> WorkerStats {
                let steals = self.steals.iter();
                WorkerStats {
                    $($name: self.$name.get(),)*
                    steals: steals.map(|victim| StealStats { tried: victim.tried.get(), won: victim.won.get() }).collect(),
                    wake_to_run: self.wake_to_run.read(),
                }
            }
        }

        /// Counts of one worker's actions since the pool was made.
        #[derive(Clone, Debug, Default, PartialEq, Eq)]
        #[non_exhaustive]
        pub struct WorkerStats {
            $($(#[$about])* pub $name: u64,)*
            /// Steals of forks and spawned jobs, by the victim's [slot](crate::ThreadPool::current_thread_index).
            pub steals: Vec<StealStats>,
            /// Times from the wake of a task to its run on this worker; measured only if the pool is [built to measure
            /// them](crate::ThreadPoolBuilder::measure_wakes).
            pub wake_to_run: WakeToRun,
        }

        impl WorkerStats {
            /// Adds the counts of another worker.
            fn add(&mut self, other: &WorkerStats) {
                $(self.$name += other.$name;)*
                self.steals.resize(other.steals.len().max(self.steals.len()), StealStats::default());
                for (total, by) in self.steals.iter_mut().zip(&other.steals) {
                    total.tried += by.tried;
                    total.won += by.won;
                }
                self.wake_to_run.add(&other.wake_to_run);
            }
        }
    };
}

counters! {
    /// Right halves of `join`s, and [detached](crate::detach) parts, that this worker has pushed for thieves to steal.
    forks,
    /// Jobs that this worker has spawned, by `spawn` or a similar function.
    spawns,
    /// Stolen halves and parts that this worker has run.
    migrated,
    /// Jobs that this worker has taken from the queue of jobs from outside the pool (the *injector*).
    injected,
    /// Jobs run from the main loop, with no other job below: stolen forks, spawned jobs, woken tasks, and jobs from outside.
    jobs,
    /// Times that this worker has parked: it slept until another thread woke it.
    parks,
    /// Sleeps of a fraction of a millisecond between two looks for work, as the *timed searcher*.
    naps,
    /// Workers that this worker has woken because there was work for one more.
    wakeups,
    /// Barriers that interrupted other cores: steals of private jobs, and final checks before sleep.
    barriers,
    /// Times that this worker released its slot because it waited for another thread's work.
    handovers,
    /// Times that this worker gave its slot, in the middle of a job, to a thread that had waited too long for a slot, or for queued
    /// jobs to run.
    slots_given,
    /// Woken tasks, and jobs from outside, that this worker has run in a slot given by a worker in the middle of a job.
    turns,
    /// Slots that this worker has taken over from threads that used no processor time for 20 ms. Such a thread blocks outside the pool,
    /// on a lock or in a system call. After each takeover, one more thread than the pool has slots may have run a job: the former
    /// holder, from the end of its block to its next fork, wait, or job end.
    slots_taken_over,
    /// Times that this worker waited, in the middle of a job, for the stolen right half of a `join`. A worker never waits for a stolen
    /// [detached](crate::detach) part.
    waits,
    /// Waits in which this worker kept its slot although jobs were queued, because the pool had as many threads as it may have: see
    /// [`Saturation`](crate::Saturation).
    saturated,
    /// Times that this worker has polled a future.
    polls,
    /// Futures that were ready at their first poll. They cost no task.
    ready,
    /// Futures that were pending at their first poll. Each became a suspended task.
    suspensions,
    /// Suspended tasks whose continuation this worker has run.
    resumes,
    /// Resumed tasks that another worker had polled last.
    resumes_elsewhere,
    /// Suspended tasks that this worker has dropped instead of resuming them. Once a call is over, each suspended task has been resumed
    /// or dropped: in the [total](Stats::total), `suspensions == resumes + cancelled`.
    cancelled,
    /// Tasks that were suspended because as many futures were in flight as may be.
    waits_for_room,
    /// Wakes by this worker that have put a task where workers find it.
    wakes,
    /// Tasks woken while this worker polled them.
    wakes_in_poll,
    /// Wakes, by any thread, of tasks that were awake already. Counted by the worker that has finished the task.
    wakes_coalesced,
    /// Times that this worker has suspended its deque of spawned jobs with a task: see [`Suspension`](crate::Suspension).
    suspended_deques,
    /// Jobs that this worker has stolen from suspended deques.
    steals_suspended,
    /// Jobs and tasks that this worker has stolen from resumable deques.
    steals_resumable,
    /// Muggable deques that this worker has taken over.
    mugs,
}

#[derive(Debug, Default)]
pub(crate) struct Steals {
    pub(crate) tried: Counter,
    pub(crate) won: Counter,
}

impl WorkerStats {
    /// Returns how often this worker left the order of the sequential program: steals, mugs, and resumed tasks. An upper bound of the
    /// *deviations* of the theory (Spoonhower, Blelloch, Gibbons and Harper, SPAA 2009), which bound the additional cache misses of a
    /// parallel run.
    #[must_use]
    pub fn deviations(&self) -> u64 {
        let stolen: u64 = self.steals.iter().map(|victim| victim.won).sum();
        stolen + self.steals_suspended + self.steals_resumable + self.mugs + self.resumes
    }
}

/// Counts of one worker's steals from the workers that held one slot.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct StealStats {
    /// Attempts on a deque that was not empty.
    pub tried: u64,
    /// Attempts that got a job.
    pub won: u64,
}

/// Counts of a pool's actions since it was made: a snapshot, taken while the pool goes on.
///
/// ```
/// let pool = furcate::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
/// pool.install(|| furcate::join(|| (), || ()));
/// assert_eq!(pool.stats().total().forks, 1);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stats {
    /// Counts of the workers: the pool's own threads, then spare ones, then external threads that took part.
    pub workers: Vec<WorkerStats>,
    /// Counts of threads that are no workers of the pool: woken tasks and workers, suspended and dropped tasks.
    pub outside: WorkerStats,
    /// Counts of the deques of spawned jobs.
    pub deques: DequeStats,
}

impl Stats {
    /// Returns the sums over all workers and [`outside`](Self::outside).
    #[must_use]
    pub fn total(&self) -> WorkerStats {
        let mut total = self.outside.clone();
        self.workers.iter().for_each(|worker| total.add(worker));
        total
    }
}
