//! The world: all ranks of a program, as one of them sees them.

use crate::counters::{Counters, Counts};
use crate::held::INLINE;
use crate::transport::{Envelope, Transport};
use furcate_pool::sync::machine::{Mutex, MutexGuard};
use std::collections::VecDeque;
use std::sync::PoisonError;
use std::time::Duration;

/// All ranks of a program, as one of them sees them. Made by [`init`](crate::init), or for tests by [`Threads`](crate::Threads).
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
    /// If that variable is no number of seconds. ([`init`](crate::init) returns an error.)
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
    /// reduction, and the longest time between two calls on one rank. A rank that is out of work asks one random rank after the other. So while
    /// few ranks work, as at the end of a computation, the time has to be long enough for many times as many requests as there are ranks.
    ///
    /// A rank that has got the result returns it, though another rank may give up while the result is on its way there: then some ranks return and
    /// others panic. Without a timeout a rank waits. That is the default on MPI, whose launcher ends the program when a rank dies. For
    /// [`Threads`](crate::Threads) it is ten minutes.
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
pub(crate) fn timeout_of_environment() -> Result<Option<Duration>, String> {
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

#[cfg(test)]
mod tests {
    use super::*;

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
