//! The transport between processes of one node: rings in memory that they share.
//!
//! Each ordered pair of ranks has a ring ([`ring`](super::ring)) in the receiver's part of a window of MPI (`MPI_Win_allocate_shared`), and each rank a
//! *bell*: a word that senders increment after they have written. To look at the bell is one load. MPI is called at the beginning and at the
//! end only: no message needs the library, and none waits for the receiver to call it.
//!
//! ```text
//!   memory of rank r:   bell | ring from rank 0 | ring from rank 1 | ...
//! ```
//!
//! # Invariants
//!
//! 1. *A writer for each ring.* The writing ends of a rank's outgoing rings lie in one mutex each, the reading ends of its incoming rings in one mutex
//!    together. No thread holds two of them.
//! 2. *No mail is missed.* A rank [notes](Seen::note) the bell that it has seen only after it found all rings empty, and it
//!    [looked](Seen::look) at the bell before it looked at the rings. A sender rings after it has written.

use super::bell::{self, Seen};
use super::mpi::{Mpi, Window, Words};
use super::ring::{self, Reader, Writer};
use super::{Envelope, Malformed, Transport, hand_over};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// Number of words in front of the rings: the bell, alone in its cache line.
const BELL: usize = 8;

/// Number of words of data in all rings of a rank together, and the bounds for one ring.
const ALL_DATA: usize = 1 << 20;
const LEAST_DATA: usize = 128;
const MOST_DATA: usize = 1 << 14;

/// Time for which an idle rank spins before it lets other threads run, and after which it sleeps.
const SPINS: Duration = Duration::from_micros(20);
const YIELDS: Duration = Duration::from_micros(500);
/// Length of a sleep.
const SLEEP: Duration = Duration::from_micros(50);

/// A rank's side of the transport.
#[derive(Debug)]
pub(crate) struct Shared {
    rank: usize,
    out: Vec<Mutex<Writer<Words>>>,
    /// The bells of all ranks.
    bells: Vec<Words>,
    inbox: Mutex<Inbox>,
    seen: Seen,
    /// Whether words wait for room in a ring.
    is_behind: AtomicBool,
    _window: Arc<Window>,
    mpi: Arc<Mpi>,
}

#[derive(Debug)]
struct Inbox {
    rings: Vec<Reader<Words>>,
    /// The ring to look at first.
    next: usize,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Shared {
    /// Makes the transport. Returns `None` if not all ranks are on one node. A collective call.
    pub(crate) fn new(mpi: &Arc<Mpi>) -> Option<Self> {
        let (rank, ranks) = (mpi.rank(), mpi.size());
        let data = (ALL_DATA / ranks).clamp(LEAST_DATA, MOST_DATA).next_multiple_of(8);
        let ring = ring::words(data);
        let window = mpi.share_memory(BELL + ranks * ring)?;
        let memory: Vec<Words> = (0..ranks).map(|rank| window.words_of(rank)).collect();
        let place = |from: usize| BELL + from * ring..BELL + (from + 1) * ring;
        Some(Shared {
            rank,
            out: memory.iter().map(|words| Mutex::new(Writer::new(words.part(place(rank))))).collect(),
            bells: memory.iter().map(|words| words.part(0..1)).collect(),
            inbox: Mutex::new(Inbox {
                rings: (0..ranks).map(|from| Reader::new(memory[rank].part(place(from)))).collect(),
                next: 0,
            }),
            seen: Seen::new(),
            is_behind: AtomicBool::new(false),
            _window: window,
            mpi: Arc::clone(mpi),
        })
    }

    /// Returns the number of words that wait for room.
    fn waiting(&self) -> usize {
        self.out.iter().map(|writer| lock(writer).waiting()).sum()
    }
}

impl Transport for Shared {
    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.out.len()
    }

    fn send(&self, to: usize, envelope: &Envelope) -> usize {
        let bytes = envelope.encode();
        let mut writer = lock(&self.out[to]);
        let written = writer.send(&bytes);
        if !writer.is_flushed() {
            // Relaxed: a hint, as in `flush`.
            self.is_behind.store(true, Relaxed);
        }
        drop(writer);
        if written {
            bell::ring(&self.bells[to][0]);
        }
        bytes.len()
    }

    #[inline]
    fn has_mail(&self) -> bool {
        // Relaxed: a hint. `poll` looks again under the lock.
        self.seen.has_rung(&self.bells[self.rank][0]) || self.is_behind.load(Relaxed)
    }

    fn poll(&self) -> Option<(usize, Result<Envelope, Malformed>)> {
        self.flush();
        let mut inbox = lock(&self.inbox);
        let bell = self.seen.look(&self.bells[self.rank][0]); // invariant 2
        let ranks = inbox.rings.len();
        for turn in 0..ranks {
            let from = (inbox.next + turn) % ranks;
            if let Some(bytes) = inbox.rings[from].receive() {
                inbox.next = from + 1;
                return Some((from, Envelope::decode(&bytes)));
            }
        }
        self.seen.note(bell);
        None
    }

    /// Writes words that did not find room before.
    fn flush(&self) -> bool {
        // Relaxed: a hint. The rest lies under the locks.
        if !self.is_behind.swap(false, Relaxed) {
            return true;
        }
        let mut is_flushed = true;
        for (to, writer) in self.out.iter().enumerate() {
            let mut writer = lock(writer);
            let written = writer.flush();
            is_flushed &= writer.is_flushed();
            drop(writer);
            if written {
                bell::ring(&self.bells[to][0]);
            }
        }
        if !is_flushed {
            self.is_behind.store(true, Relaxed);
        }
        is_flushed
    }

    fn wait(&self, at_most: Duration) {
        let begin = Instant::now();
        while !self.has_mail() {
            let waited = begin.elapsed();
            if waited >= at_most {
                return;
            }
            if waited < SPINS {
                std::hint::spin_loop();
            } else if waited < YIELDS {
                thread::yield_now();
            } else {
                thread::sleep(SLEEP.min(at_most - waited));
            }
        }
    }
}

impl Drop for Shared {
    /// Hands over the last messages.
    fn drop(&mut self) {
        self.mpi.abort_if_panicking();
        let flushed = || {
            self.flush();
            self.waiting()
        };
        hand_over(flushed, SLEEP);
    }
}
