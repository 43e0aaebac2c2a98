//! Ranks that are threads of one process.
//!
//! Each rank has a pool of its own. Messages go through a mailbox for each rank, and are encoded as between processes. So tests on this
//! transport run everything but the network.
//!
//! # Invariants
//!
//! 1. `Mailbox::waiting` is the length of the queue. It changes under the queue's lock, and is read without the lock as a hint.
//! 2. A rank that waits for mail holds the lock from its look at the queue to its wait, and notes there that it sleeps. A sender reads that note
//!    under the lock. So no notification is lost, and none is made for a rank that does not sleep.

use crate::held::INLINE;
use crate::transport::{Envelope, Malformed, Transport};
use crate::world::World;
use furcate_pool::ThreadPoolBuilder;
use std::collections::VecDeque;
use std::fmt;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// Runs a program on several ranks, which are threads of this process: for tests, and to try a program without MPI.
///
/// ```
/// use furcate::prelude::*;
/// use furcate_cluster::{SpreadOver, Threads};
///
/// let sums = Threads::new(3).run(|world| (0..1000_u64).into_par_iter().map(|x| x * 2).spread(world).sum::<u64>());
/// assert_eq!(sums, [999_000; 3]);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Threads {
    ranks: usize,
    workers: usize,
    timeout: Option<Duration>,
    inline: u64,
}

impl Threads {
    /// So many ranks, with one worker each.
    ///
    /// # Panics
    ///
    /// If there are no ranks.
    #[must_use]
    pub fn new(ranks: usize) -> Self {
        assert!(ranks > 0, "a world needs a rank");
        Threads { ranks, workers: 1, timeout: None, inline: INLINE as u64 }
    }

    /// Sets the number of workers in each rank's pool. 0 stands for the number of processors.
    #[must_use]
    pub fn workers(self, workers: usize) -> Self {
        Threads { workers, ..self }
    }

    /// Sets the time after which a rank that hears nothing gives the call up: ten minutes by default. See [`World::with_timeout`].
    #[must_use]
    pub fn timeout(self, timeout: Duration) -> Self {
        Threads { timeout: Some(timeout), ..self }
    }

    /// Sets the length of an encoded output up to which it is sent at once. For tests.
    #[doc(hidden)]
    #[must_use]
    pub fn inline(self, inline: u64) -> Self {
        Threads { inline, ..self }
    }

    /// Makes the worlds of all ranks.
    #[must_use]
    pub fn worlds(self) -> Vec<World> {
        let mail: Arc<[Mailbox]> = (0..self.ranks).map(|_| Mailbox::default()).collect();
        let world = |rank| {
            let world = World::new(InProcess { rank, mail: Arc::clone(&mail) }).with_inline(self.inline);
            match self.timeout {
                Some(timeout) => world.with_timeout(timeout),
                None => world,
            }
        };
        (0..self.ranks).map(world).collect()
    }

    /// Runs the program on all ranks. Returns the results in the order of the ranks.
    ///
    /// # Panics
    ///
    /// If a rank panics. Of several panics the one of the lowest rank goes on.
    pub fn run<T: Send>(self, program: impl Fn(&World) -> T + Sync) -> Vec<T> {
        let results = self.try_run(program).into_iter();
        results.map(|result| result.unwrap_or_else(|payload| resume_unwind(payload))).collect()
    }

    /// Runs the program on all ranks. Returns the result of each, or its panic.
    ///
    /// # Panics
    ///
    /// If a pool cannot be built.
    pub fn try_run<T: Send>(self, program: impl Fn(&World) -> T + Sync) -> Vec<thread::Result<T>> {
        let worlds = self.worlds();
        thread::scope(|scope| {
            let program = &program;
            let rank = |world: World| {
                scope.spawn(move || {
                    let pool = ThreadPoolBuilder::new().num_threads(self.workers).build();
                    pool.expect("a rank needs its threads").install(|| program(&world))
                })
            };
            let ranks: Vec<_> = worlds.into_iter().map(rank).collect();
            ranks.into_iter().map(thread::ScopedJoinHandle::join).collect()
        })
    }
}

/// The messages that a rank has not taken yet, and whether it sleeps until there is one.
#[derive(Default)]
struct Queue {
    messages: VecDeque<(usize, Vec<u8>)>,
    sleeps: bool,
}

#[derive(Default)]
struct Mailbox {
    queue: Mutex<Queue>,
    waiting: AtomicUsize,
    arrival: Condvar,
}

impl Mailbox {
    fn lock(&self) -> MutexGuard<'_, Queue> {
        // Nothing that can panic is done with this lock, except an allocation.
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The time after which a rank gives up, unless it is set otherwise. No launcher ends these ranks.
const TIMEOUT: Duration = Duration::from_secs(600);

/// Time for which a rank spins before it lets other threads run, and after which it sleeps. A reply takes less than the first, a wake-up as long as
/// the second.
const SPINS: Duration = Duration::from_micros(20);
const YIELDS: Duration = Duration::from_micros(100);

/// A rank's side of the transport.
struct InProcess {
    rank: usize,
    mail: Arc<[Mailbox]>,
}

impl fmt::Debug for InProcess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("InProcess").field("rank", &self.rank).finish_non_exhaustive()
    }
}

impl Transport for InProcess {
    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.mail.len()
    }

    fn send(&self, to: usize, envelope: &Envelope) -> usize {
        let bytes = envelope.encode();
        let len = bytes.len();
        let mailbox = &self.mail[to];
        let mut queue = mailbox.lock();
        queue.messages.push_back((self.rank, bytes));
        // Relaxed: a hint (invariant 1). The message itself is handed over by the lock.
        mailbox.waiting.store(queue.messages.len(), Relaxed);
        let sleeps = queue.sleeps;
        drop(queue);
        if sleeps {
            mailbox.arrival.notify_one();
        }
        len
    }

    #[inline]
    fn has_mail(&self) -> bool {
        // Relaxed: a hint (invariant 1). A look that comes too early is repeated after the next step.
        self.mail[self.rank].waiting.load(Relaxed) > 0
    }

    /// All ranks run the program of this process.
    fn build(&self) -> u64 {
        1
    }

    fn poll(&self) -> Option<(usize, Result<Envelope, Malformed>)> {
        let mailbox = &self.mail[self.rank];
        let mut queue = mailbox.lock();
        let next = queue.messages.pop_front();
        // Relaxed: as in `send`.
        mailbox.waiting.store(queue.messages.len(), Relaxed);
        drop(queue);
        next.map(|(from, bytes)| (from, Envelope::decode(&bytes)))
    }

    fn timeout(&self) -> Option<Duration> {
        Some(TIMEOUT)
    }

    fn wait(&self, at_most: Duration) {
        let mailbox = &self.mail[self.rank];
        let begin = Instant::now();
        loop {
            if self.has_mail() {
                return;
            }
            let waited = begin.elapsed();
            if waited >= at_most {
                return;
            }
            if waited < SPINS {
                std::hint::spin_loop();
            } else if waited < YIELDS {
                thread::yield_now();
            } else {
                break;
            }
        }
        let mut queue = mailbox.lock();
        if queue.messages.is_empty() {
            // Invariant 2. A wait that ends too early does no harm.
            queue.sleeps = true;
            let waited = mailbox.arrival.wait_timeout(queue, at_most.saturating_sub(begin.elapsed()));
            waited.unwrap_or_else(PoisonError::into_inner).0.sleeps = false;
        }
    }
}
