//! The world: all ranks of a program, as one of them sees them.

use crate::counters::{Counters, Counts, CountsTable};
use crate::held::INLINE;
use crate::spread::SpreadOver;
use crate::transport::{Envelope, Transport};
use furcate_adaptors::iter::{IntoParallelIterator, ParallelIterator};
use std::collections::VecDeque;
use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// All ranks of a program, as one of them sees them. Made by [`init`], or for tests by [`Threads`](crate::Threads).
///
/// Calls on a world are collective: every rank makes the same ones, in the same order, one after the other.
///
/// ```
/// use furcate::prelude::*;
/// use furcate_cluster::SpreadOver;
///
/// let world = furcate_cluster::init().unwrap();
/// let sum: u64 = (0..1000_u64).into_par_iter().map(|x| x * x).spread(&world).sum();
/// assert_eq!(sum, 332_833_500);
/// ```
#[derive(Debug)]
pub struct World {
    transport: Box<dyn Transport>,
    /// Number of the executable.
    build: u64,
    /// Number of calls begun. Locked during a call.
    calls: Mutex<u64>,
    /// Messages for calls that this rank has not begun.
    early: Mutex<VecDeque<(usize, Envelope)>>,
    timeout: Option<Duration>,
    /// Length of an output up to which it is sent at once.
    inline: u64,
    counters: Counters,
}

impl World {
    /// Makes a world of a transport. The environment variable `FURCATE_CLUSTER_TIMEOUT` gives the [timeout](Self::with_timeout), in
    /// seconds.
    ///
    /// # Panics
    ///
    /// If that variable is no number of seconds. ([`init`] returns an error.)
    #[must_use]
    pub fn new(transport: impl Transport + 'static) -> Self {
        let timeout = timeout_of_environment().unwrap_or_else(|error| panic!("{error}"));
        World {
            timeout: timeout.or(transport.timeout()),
            // Here, because the executable is read, and a call should not take that time.
            build: if transport.size() > 1 { transport.build() } else { 0 },
            transport: Box::new(transport),
            calls: Mutex::new(0),
            early: Mutex::default(),
            inline: INLINE as u64,
            counters: Counters::default(),
        }
    }

    /// Sets the time after which a rank that is out of work gives the call up on all ranks, if it hears of no work from any other rank.
    ///
    /// A rank shows that it works between two items, and when it begins a call. So the time has to be longer than the longest item, the longest
    /// reduction, and the longest time between two calls on one rank. Without a timeout a rank waits. That is the default on MPI, whose launcher
    /// ends the program when a rank dies. For [`Threads`](crate::Threads) it is ten minutes.
    #[must_use]
    pub fn with_timeout(self, timeout: Duration) -> Self {
        World { timeout: Some(timeout), ..self }
    }

    /// Sets the length of an encoded output up to which it is sent at once. For tests.
    #[doc(hidden)]
    #[must_use]
    pub fn with_inline(self, inline: u64) -> Self {
        World { inline, ..self }
    }

    /// Returns this process's rank, from 0.
    #[must_use]
    pub fn rank(&self) -> usize {
        self.transport.rank()
    }

    /// Returns the number of ranks.
    #[must_use]
    pub fn size(&self) -> usize {
        self.transport.size()
    }

    /// Whether this is rank 0, which prints the results of most programs.
    #[must_use]
    pub fn is_root(&self) -> bool {
        self.rank() == 0
    }

    /// Returns the counts of this rank since the world was made.
    #[must_use]
    pub fn counts(&self) -> Counts {
        self.counters.counts()
    }

    /// Returns the counts of all ranks. A collective call.
    pub fn table(&self) -> CountsTable {
        let counts = self.counts().to_list();
        let ranks = (0..self.size()).into_par_iter().map(|_| counts.clone());
        let lists: Vec<Vec<u64>> = ranks.spread(self).collect();
        CountsTable(lists.iter().map(|list| Counts::from_list(list)).collect())
    }

    pub(crate) fn transport(&self) -> &dyn Transport {
        &*self.transport
    }

    /// Returns the number of the executable, which the ranks compare.
    pub(crate) fn build(&self) -> u64 {
        self.build
    }

    pub(crate) fn counters(&self) -> &Counters {
        &self.counters
    }

    pub(crate) fn inline(&self) -> u64 {
        self.inline
    }

    pub(crate) fn timeout(&self) -> Option<Duration> {
        self.timeout
    }

    /// Whether so much time is too long.
    pub(crate) fn is_over(&self, time: Duration) -> bool {
        self.timeout.is_some_and(|timeout| time > timeout)
    }

    /// Begins a call: returns the guard that holds its number.
    ///
    /// # Panics
    ///
    /// If a call is under way on this rank.
    pub(crate) fn begin_call(&self) -> MutexGuard<'_, u64> {
        let mut calls = match self.calls.try_lock() {
            Ok(calls) => calls,
            // A call that has panicked is over.
            Err(std::sync::TryLockError::Poisoned(calls)) => calls.into_inner(),
            Err(std::sync::TryLockError::WouldBlock) => panic!(
                "a `spread` call is under way on this rank: calls on one world are made one after the other, and not inside each other"
            ),
        };
        *calls += 1;
        calls
    }

    /// Keeps a message for a later call.
    pub(crate) fn keep(&self, from: usize, envelope: Envelope) {
        self.early.lock().unwrap_or_else(PoisonError::into_inner).push_back((from, envelope));
    }

    /// Takes the next message that was kept for this call.
    pub(crate) fn kept(&self, call: u64) -> Option<(usize, Envelope)> {
        let mut early = self.early.lock().unwrap_or_else(PoisonError::into_inner);
        let place = early.iter().position(|(_, envelope)| envelope.call <= call)?;
        early.remove(place)
    }
}

/// Returns the timeout that the environment sets.
fn timeout_of_environment() -> Result<Option<Duration>, String> {
    std::env::var("FURCATE_CLUSTER_TIMEOUT").map_or(Ok(None), |text| timeout(&text))
}

fn timeout(text: &str) -> Result<Option<Duration>, String> {
    if text.is_empty() {
        return Ok(None);
    }
    let seconds = text.parse::<f64>().ok().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    let seconds = seconds.ok_or_else(|| {
        format!("FURCATE_CLUSTER_TIMEOUT is `{text}`: it has to be a number of seconds, such as 90 or 0.5, or unset")
    })?;
    Ok(Some(seconds))
}

/// The world could not be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InitError(String);

impl fmt::Display for InitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for InitError {}

/// Variables by which the launchers of MPI programs tell the number of ranks. (`SLURM_NTASKS` is set in a batch script, too, which runs once.)
#[cfg(not(feature = "mpi"))]
const SIZES: [&str; 4] = ["OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_SIZE", "SLURM_STEP_NUM_TASKS"];

/// Makes the world of this process.
///
/// With the feature `mpi`, the ranks are the processes that `mpirun` or `srun` has started. If all of them are on one node, their messages go
/// through memory that they share, otherwise through MPI. `FURCATE_CLUSTER_TRANSPORT` chooses: `shared` or
/// `messages`. The value that rank 0 has counts on all ranks. Without that feature the world has one rank.
///
/// A process makes one world, at its beginning, on its main thread, and drops it there at its end: MPI wants to be ended by the thread that has begun
/// it. A world that is never dropped (in a `static`, by `mem::forget` or `process::exit`) does not end MPI, and the launcher takes that for a
/// failure. The program's own calls of MPI must not be made during a call, or while the world is made or dropped: MPI is initialized for one thread at
/// a time (`MPI_THREAD_SERIALIZED`).
///
/// To drop the world is a collective call. If a panic drops it, the process aborts, and the launcher ends the other ranks: they may be in a call
/// that this one will never make.
///
/// # Errors
///
/// - If the program was started with several ranks, and was built without the feature `mpi`.
/// - If `FURCATE_CLUSTER_TRANSPORT` names another transport (such as `rma`), or `shared` although the ranks are on several nodes.
/// - If `FURCATE_CLUSTER_TIMEOUT` is no number of seconds.
/// - If the MPI library does not allow calls by several threads.
/// - With the feature `mpi`: if there is another world, or MPI has ended, as when an earlier world was dropped.
pub fn init() -> Result<World, InitError> {
    let choice = std::env::var("FURCATE_CLUSTER_TRANSPORT").unwrap_or_default();
    timeout_of_environment().and_then(|_| initialize(chosen(&choice))).map_err(InitError)
}

/// A transport between processes, chosen by the environment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Choice {
    /// Through shared memory if all ranks are on one node, otherwise by messages.
    Automatic,
    Shared,
    Messages,
}

/// Returns the transport of this name.
fn chosen(name: &str) -> Result<Choice, String> {
    match name {
        "" => Ok(Choice::Automatic),
        "shared" => Ok(Choice::Shared),
        "messages" => Ok(Choice::Messages),
        "rma" => Err("FURCATE_CLUSTER_TRANSPORT is `rma`, but one-sided messages of MPI are not offered: with many libraries and networks they \
             make no progress until the target calls MPI; unset it, which chooses shared memory if all ranks are on one node and messages \
             otherwise, or set it to `shared` or `messages`"
            .into()),
        other => Err(format!(
            "FURCATE_CLUSTER_TRANSPORT is `{other}`, which is no transport: unset it, or set it to `shared` or `messages`"
        )),
    }
}

#[cfg(not(feature = "mpi"))]
fn initialize(choice: Result<Choice, String>) -> Result<World, String> {
    choice?;
    let several = SIZES.into_iter().find(|name| {
        std::env::var(name).ok().and_then(|text| text.parse::<usize>().ok()).is_some_and(|size| size > 1)
    });
    if let Some(name) = several {
        return Err(format!(
            "{name} says that this program was started with several ranks, but it was built without MPI, so each process would do \
             all the work: build it with the feature `mpi` of furcate-cluster, start it without a launcher, or try several ranks in one \
             process with `furcate_cluster::Threads`"
        ));
    }
    Ok(crate::transport::Threads::new(1).worlds().remove(0))
}

#[cfg(feature = "mpi")]
fn initialize(choice: Result<Choice, String>) -> Result<World, String> {
    use crate::transport::{Messages, Mpi, Shared};

    let mpi = std::sync::Arc::new(Mpi::init()?);
    // To make a transport is a collective call, so ranks that chose by themselves might wait for each other for ever.
    let choice = match (mpi.of_rank_0(choice.as_ref().map_or(u8::MAX, |choice| *choice as u8)), choice) {
        (code, _) if code == Choice::Automatic as u8 => Choice::Automatic,
        (code, _) if code == Choice::Shared as u8 => Choice::Shared,
        (code, _) if code == Choice::Messages as u8 => Choice::Messages,
        (_, Err(error)) => return Err(error),
        (_, Ok(_)) => {
            return Err(
                "FURCATE_CLUSTER_TRANSPORT on rank 0 is no transport: see the error of that rank".into()
            );
        }
    };
    let shared = |mpi| Shared::new(mpi).map(World::new);
    match choice {
        Choice::Automatic => Ok(shared(&mpi).unwrap_or_else(|| World::new(Messages::new(&mpi)))),
        Choice::Messages => Ok(World::new(Messages::new(&mpi))),
        Choice::Shared => shared(&mpi).ok_or_else(|| {
            "FURCATE_CLUSTER_TRANSPORT is `shared`, but the ranks are on several nodes: unset it, or set it to `messages`".into()
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_are_no_transports_are_errors() {
        for (name, choice) in
            [("", Choice::Automatic), ("shared", Choice::Shared), ("messages", Choice::Messages)]
        {
            assert_eq!(chosen(name), Ok(choice));
        }
        for name in ["rma", "tcp", "Shared"] {
            let error = chosen(name).unwrap_err();
            assert!(
                error.contains(&format!("`{name}`")) && error.contains("`shared` or `messages`"),
                "{error}"
            );
        }
        assert!(chosen("rma").unwrap_err().contains("one-sided"));
    }

    #[test]
    fn timeouts_are_seconds() {
        assert_eq!(timeout(""), Ok(None));
        assert_eq!(timeout("90"), Ok(Some(Duration::from_secs(90))));
        assert_eq!(timeout("0.5"), Ok(Some(Duration::from_millis(500))));
        for wrong in ["10 minutes", "-1", "NaN", "inf"] {
            assert!(timeout(wrong).is_err_and(|error| error.contains(wrong)), "{wrong}");
        }
    }

    /// A transport of processes: a launcher ends them if one dies.
    #[derive(Debug)]
    struct Processes;

    impl Transport for Processes {
        fn rank(&self) -> usize {
            0
        }

        fn size(&self) -> usize {
            2
        }

        fn send(&self, _: usize, _: &Envelope) -> usize {
            0
        }

        fn poll(&self) -> Option<(usize, Result<Envelope, crate::transport::Malformed>)> {
            None
        }
    }

    /// Nothing that is right is ended by a default: an item may take days.
    #[test]
    fn processes_have_no_timeout_unless_it_is_set() {
        assert!(!World::new(Processes).is_over(Duration::from_secs(1 << 40)));
        let world = World::new(Processes).with_timeout(Duration::from_secs(1));
        assert!(world.is_over(Duration::from_secs(2)) && !world.is_over(Duration::from_millis(1)));
        let threads = crate::Threads::new(2).worlds();
        assert!(threads[0].is_over(Duration::from_secs(3600)));
    }
}
