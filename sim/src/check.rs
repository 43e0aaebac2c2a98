//! The entries: checks of a program under many schedules, replays of one, and simulations of a machine.

use crate::costs::Machine;
use crate::explored::Explored;
use crate::thread::message;
use crate::timed::Timed;
use crate::world::{self, Counts, Order};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

/// Settings of a check.
#[derive(Clone, Copy, Debug)]
pub struct Check {
    cores: usize,
    max_steps: u64,
    needs_no_time: bool,
}

impl Default for Check {
    fn default() -> Self {
        Check { cores: 3, max_steps: 1_000_000, needs_no_time: false }
    }
}

impl Check {
    /// Makes a check with the defaults.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the number of cores that the program sees; by default 3. The global pool has as many threads.
    ///
    /// # Panics
    ///
    /// If it is 0.
    #[must_use]
    pub fn cores(self, cores: usize) -> Self {
        assert!(cores > 0, "a machine has at least one core");
        Check { cores, ..self }
    }

    /// Sets the number of accesses after which a run counts as one that never ends; by default 1,000,000.
    #[must_use]
    pub fn max_steps(self, max_steps: u64) -> Self {
        Check { max_steps, ..self }
    }

    /// Sets whether a run also fails if all threads wait at some time before its end, and one goes on because its wait has a time. For programs that wait
    /// for no time: there a wake-up was lost, and a periodic look hides the loss. By default not set.
    #[must_use]
    pub fn needs_no_time(self, needs_no_time: bool) -> Self {
        Check { needs_no_time, ..self }
    }

    /// Runs a program once for each seed.
    ///
    /// # Panics
    ///
    /// At the first seed whose run panics, ends in a deadlock, or never ends. The message has the seed.
    pub fn run(self, seeds: impl IntoIterator<Item = u64>, mut program: impl FnMut()) {
        seeds.into_iter().for_each(|seed| self.run_one(seed, false, &mut program));
    }

    /// Runs a program under the schedule of one seed, with these settings, and writes the schedule to standard error: each change of threads,
    /// with the virtual time and the place in the source where the next thread goes on.
    ///
    /// # Panics
    ///
    /// As [`Check::run`].
    pub fn replay(self, seed: u64, mut program: impl FnMut()) {
        self.run_one(seed, true, &mut program);
    }

    fn run_one(self, seed: u64, is_traced: bool, program: &mut impl FnMut()) {
        let Check { cores, max_steps, needs_no_time } = self;
        let order = Order::Explored(Explored::new(seed, cores, max_steps, needs_no_time, is_traced));
        let problem = match catch_unwind(AssertUnwindSafe(|| world::run(order, program))) {
            Ok(Ok(_)) => return,
            Ok(Err(problem)) => problem,
            Err(payload) => format!("the program panicked: {}", message(&*payload)),
        };
        panic!(
            "with seed {seed}: {problem}\nsee its schedule by `furcate_sim::Check::new().cores({cores}).max_steps({max_steps}).needs_no_time({needs_no_time}).replay({seed}, ..)`"
        );
    }
}

/// Runs a program once for each seed, on a virtual machine of three cores; see [`Check`].
///
/// # Panics
///
/// At the first seed whose run panics, ends in a deadlock, or never ends. The message has the seed.
///
/// ```
/// use furcate_sim::atomic::{AtomicU32, Ordering::Relaxed};
/// use furcate_sim::thread;
///
/// // An update that is not atomic is lost in some schedules.
/// let found = std::panic::catch_unwind(|| {
///     furcate_sim::check(0..100, || {
///         let count = AtomicU32::new(0);
///         thread::scope(|threads| {
///             for _ in 0..2 {
///                 let add = || count.store(count.load(Relaxed) + 1, Relaxed);
///                 thread::Builder::new().spawn_scoped(threads, add).unwrap();
///             }
///         });
///         assert_eq!(count.load(Relaxed), 2);
///     });
/// });
/// assert!(found.is_err());
/// ```
pub fn check(seeds: impl IntoIterator<Item = u64>, program: impl FnMut()) {
    Check::new().run(seeds, program);
}

/// Runs a program under the schedule of one seed of [`check`], and writes that schedule; see [`Check::replay`].
///
/// # Panics
///
/// As `check`.
pub fn replay(seed: u64, program: impl FnMut()) {
    Check::new().replay(seed, program);
}

/// The result of a simulated run, with its time and counts.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Simulation<R> {
    /// The program's result.
    pub result: R,
    /// Virtual time from the begin of the program to its end.
    pub time: Duration,
    /// Counts of the run.
    pub counts: Counts,
}

/// Runs a program on a simulated machine. Times are those of the model, and not of a real machine.
///
/// # Panics
///
/// If the program panics, or waits for ever, or if a number of the machine is 0.
pub fn simulate<R: 'static>(machine: Machine, seed: u64, program: impl FnOnce() -> R) -> Simulation<R> {
    let Machine { cores, per_cluster, per_socket, .. } = machine;
    assert!(
        cores > 0 && per_cluster > 0 && per_socket > 0,
        "a machine has at least one core, in each cluster and socket too"
    );
    let order = Order::Timed(Box::new(Timed::new(machine, seed)));
    match world::run(order, program) {
        Ok((result, counts, time)) => Simulation { result, time, counts },
        Err(problem) => panic!("{problem}"),
    }
}
