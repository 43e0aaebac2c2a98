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
    /// Adds one. Relaxed: no other memory depends on a count.
    pub(crate) fn add(&self) {
        self.add_up(1);
    }

    pub(crate) fn add_up(&self, more: u64) {
        self.0.fetch_add(more, Relaxed);
    }

    pub(crate) fn get(&self) -> u64 {
        self.0.load(Relaxed)
    }
}

/// Counts of the actions of threads that are none of the pool's workers.
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
            /// Steals, by the victim's slot.
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
            /// Times from the wake of a task to its run on this worker; measured only if [asked
            /// for](crate::ThreadPoolBuilder::measure_wakes).
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
    /// Right halves of `join`s, and [detached](crate::detach) parts, that this worker has published for thieves.
    forks,
    /// Jobs made by `spawn` and related functions.
    spawns,
    /// Stolen halves and parts that this worker has run.
    migrated,
    /// Jobs that it has taken from the pool's queue of jobs from outside (the *injector*).
    injected,
    /// Jobs run from the main loop, with no other job below: stolen forks, spawned jobs, woken tasks, and jobs from outside.
    jobs,
    /// Times it went to sleep until woken.
    parks,
    /// Times it slept for a fraction of a millisecond between two looks for work.
    naps,
    /// Workers that it has woken because there was work for one more.
    wakeups,
    /// Barriers that interrupted other cores: steals of private jobs, and last looks before sleep.
    barriers,
    /// Times it gave its slot away because it waited for another thread's work.
    handovers,
    /// Times it gave its slot, in the middle of a job, to a thread that had waited too long for a slot or for queued jobs to be run.
    slots_given,
    /// Woken tasks, and jobs from outside, that it has run in a slot given by a worker in the middle of a job.
    turns,
    /// Slots that it has taken over from threads that used no processor time for 20 ms. Such a thread blocks outside the pool, on a
    /// lock or in a system call. After each takeover one more thread than the pool has slots may have run a job: the former holder,
    /// from the end of its block to its next fork, wait, or job end.
    slots_taken_over,
    /// Times it waited, in the middle of a job, for the stolen right half of a `join`. A worker never waits for a stolen
    /// [detached](crate::detach) part.
    waits,
    /// Waits in which it kept its slot though jobs were queued, because the pool had as many threads as it may have: see
    /// [`Saturation`](crate::Saturation).
    saturated,
    /// Times it has polled a future.
    polls,
    /// Futures that were ready at their first poll. They cost no task.
    ready,
    /// Futures that were pending at their first poll. Each became a suspended task.
    suspensions,
    /// Suspended tasks whose continuation it has run.
    resumes,
    /// Resumed tasks that another worker had polled last.
    resumes_elsewhere,
    /// Suspended tasks that it has dropped instead of resuming them. Once a call is over, each suspended task has been resumed or
    /// dropped: in the [total](Stats::total), `suspensions == resumes + cancelled`.
    cancelled,
    /// Tasks suspended because there was no room for their futures among those in flight.
    waits_for_room,
    /// Wakes by this worker that have put a task where workers find it.
    wakes,
    /// Tasks woken while this worker polled them.
    wakes_in_poll,
    /// Wakes, by any thread, of tasks that were awake already. Counted by the worker that has finished the task.
    wakes_coalesced,
    /// Times it has suspended its deque of spawned jobs with a task: see [`Suspension`](crate::Suspension).
    suspended_deques,
    /// Jobs that it has stolen from suspended deques.
    steals_suspended,
    /// Jobs and tasks that it has stolen from resumable deques.
    steals_resumable,
    /// Muggable deques that it has taken over.
    mugs,
}

#[derive(Debug, Default)]
pub(crate) struct Steals {
    pub(crate) tried: Counter,
    pub(crate) won: Counter,
}

impl WorkerStats {
    /// Times that this worker left the order of the sequential program: steals, mugs, and resumed tasks. An upper bound of the
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
    /// The workers: the pool's own threads, then spare ones and threads from outside that took part.
    pub workers: Vec<WorkerStats>,
    /// Counts of threads that are no workers of the pool: woken tasks and workers, suspended and dropped tasks.
    pub outside: WorkerStats,
    /// Deques of spawned jobs.
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
