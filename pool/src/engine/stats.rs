//! Counters of a pool's actions.

mod histogram;

pub use crate::engine::queues::deques::DequeStats;
pub(crate) use crate::sync::counter::Counter;
pub use histogram::WakeToRun;
pub(crate) use histogram::{Moment, WakeTimes};

use std::fmt;

/// Declares the counters of a worker.
macro_rules! counters {
    ($($(#[$about:meta])* $name:ident,)*) => {
        /// The counters of a worker; or, with additions by any thread ([`Counter::add_shared`]), those of all threads that are no workers of
        /// the pool.
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
                    steals: steals.map(Steals::read).collect(),
                    wake_to_run: self.wake_to_run.read(),
                    ..WorkerStats::default()
                }
            }
        }

        /// Counts of one worker's actions since the pool was made.
        #[derive(Clone, Debug, Default, PartialEq, Eq)]
        #[non_exhaustive]
        pub struct WorkerStats {
            $($(#[$about])* pub $name: u64,)*
            /// Times that this worker has shared forks: it has moved the split of its deque up, mostly because a thief had requested that.
            pub splits_grown: u64,
            /// Times that this worker has taken back forks that it had shared: it has moved the split down.
            pub splits_shrunk: u64,
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
                self.splits_grown += other.splits_grown;
                self.splits_shrunk += other.splits_shrunk;
                self.steals.resize(other.steals.len().max(self.steals.len()), StealStats::default());
                for (total, by) in self.steals.iter_mut().zip(&other.steals) {
                    total.add(by);
                }
                self.wake_to_run.add(&other.wake_to_run);
            }

            /// Returns all counts with their names, in the order of the fields.
            fn named(&self) -> Vec<(&'static str, u64)> {
                let mut named = vec![$((stringify!($name), self.$name),)*];
                named.extend([("splits_grown", self.splits_grown), ("splits_shrunk", self.splits_shrunk)]);
                let mut steals = StealStats::default();
                self.steals.iter().for_each(|by| steals.add(by));
                named.extend(steals.named());
                named
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
    /// Jobs that this worker has stolen from the thief of a half, while it waited for that half (*leapfrogging*).
    leapfrogs,
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
    /// Jobs and tasks that this worker, while it had none, has taken from workers that ran on another socket.
    far_steals,
}

#[derive(Debug, Default)]
pub(crate) struct Steals {
    pub(crate) empty: Counter,
    pub(crate) requests: Counter,
    pub(crate) lost: Counter,
    pub(crate) won: Counter,
}

impl Steals {
    fn read(&self) -> StealStats {
        let (lost, won) = (self.lost.get(), self.won.get());
        StealStats { empty: self.empty.get(), requests: self.requests.get(), tried: lost + won, lost, won }
    }
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
    /// Looks at a deque that was empty.
    pub empty: u64,
    /// Looks that found private jobs only: the thief has requested a split.
    pub requests: u64,
    /// Attempts to take a job: `lost + won`.
    pub tried: u64,
    /// Attempts in which another thief, or the owner, was faster.
    pub lost: u64,
    /// Attempts that got a job.
    pub won: u64,
}

impl StealStats {
    fn add(&mut self, other: &StealStats) {
        self.empty += other.empty;
        self.tried += other.tried;
        self.requests += other.requests;
        self.lost += other.lost;
        self.won += other.won;
    }

    fn named(&self) -> [(&'static str, u64); 5] {
        [
            ("steals_empty", self.empty),
            ("steals_requests", self.requests),
            ("steals_tried", self.tried),
            ("steals_lost", self.lost),
            ("steals_won", self.won),
        ]
    }
}

/// Counts of a pool's actions since it was made: a snapshot, taken while the pool goes on.
///
/// ```
/// let pool = furcate::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
/// pool.install(|| furcate::join(|| (), || ()));
/// assert_eq!(pool.stats().total().forks, 1);
/// println!("{}", pool.stats());
/// ```
///
/// `Display` prints a table: a line for each count that is not zero, with the total and each worker's part.
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

impl fmt::Display for Stats {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let columns: Vec<_> = self.workers.iter().chain([&self.outside]).map(WorkerStats::named).collect();
        write!(f, "{:<20} {:>12}", "count", "total")?;
        (0..self.workers.len()).try_for_each(|worker| write!(f, " {:>12}", format!("worker {worker}")))?;
        writeln!(f, " {:>12}", "outside")?;
        for (line, (name, total)) in self.total().named().into_iter().enumerate() {
            if total > 0 {
                write!(f, "{name:<20} {total:>12}")?;
                columns.iter().try_for_each(|column| write!(f, " {:>12}", column[line].1))?;
                writeln!(f)?;
            }
        }
        let DequeStats { made, peak, .. } = self.deques;
        writeln!(
            f,
            "deques of spawned jobs: {} in use, {made} made, at most {peak} at once",
            self.deques.live()
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_has_each_count_once() {
        let all = |number| WorkerStats {
            forks: number,
            splits_grown: number,
            steals: vec![StealStats { won: number, ..StealStats::default() }; 2],
            ..WorkerStats::default()
        };
        let stats = Stats { workers: vec![all(1), all(2)], outside: all(40), ..Stats::default() };
        let table = stats.to_string();
        let cells: Vec<Vec<_>> = table.lines().map(|line| line.split_whitespace().collect()).collect();
        assert_eq!(cells[1], ["forks", "43", "1", "2", "40"]);
        assert_eq!(cells[2], ["splits_grown", "43", "1", "2", "40"]);
        assert_eq!(cells[3], ["steals_won", "86", "2", "4", "80"]);
        assert_eq!(cells.len(), 5, "{table}");
    }

    /// Whatever field is added to `WorkerStats` is in the table.
    #[test]
    fn no_field_is_left_out() {
        let fields = format!("{:#?}", WorkerStats::default());
        let fields = fields.lines().filter(|line| line.starts_with("    ") && !line.starts_with("     "));
        let fields = fields.filter_map(|line| line.trim().split_once(": ")).map(|(name, _)| name);
        let table: Vec<_> = WorkerStats::default().named().into_iter().map(|(name, _)| name).collect();
        let mut seen = 0;
        for field in fields.filter(|field| !["steals", "wake_to_run"].contains(field)) {
            assert!(table.contains(&field), "{field}");
            seen += 1;
        }
        assert_eq!(seen + 5, table.len());
    }
}
