//! The transport between nodes: messages of MPI, which the receiver polls for.
//!
//! It works on every MPI and every network. A message longer than [`LONGEST`] is sent in pieces; MPI keeps the order of the messages between two ranks.
//!
//! To look for a message takes MPI up to a microsecond. So [`has_mail`](Transport::has_mail) says yes only when some time has passed since the last look.

use super::mpi::{LONGEST, Mpi};
use super::{Envelope, Malformed, Transport, hand_over};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// Time between two looks of a rank that works, in nanoseconds.
const BETWEEN_LOOKS: u64 = 10_000;

/// Time after the last message for which an idle rank looks without a pause, and the length of a pause.
const SPINS: Duration = Duration::from_micros(100);
const PAUSE: Duration = Duration::from_micros(50);

/// A rank's side of the transport.
#[derive(Debug)]
pub(crate) struct Messages {
    mpi: Arc<Mpi>,
    begin: Instant,
    /// Time of the last look, in nanoseconds since `begin`.
    looked: AtomicU64,
    /// Time of the last message sent or received.
    active: AtomicU64,
    /// For each rank the pieces of a message that goes on.
    pieces: Mutex<Vec<Vec<u8>>>,
    /// Locked from a message's first piece to its last, so that pieces of two messages are not mixed.
    sends: Mutex<()>,
}

impl Messages {
    pub(crate) fn new(mpi: &Arc<Mpi>) -> Self {
        Messages {
            mpi: Arc::clone(mpi),
            begin: Instant::now(),
            looked: AtomicU64::new(0),
            active: AtomicU64::new(0),
            pieces: Mutex::new(vec![Vec::new(); mpi.size()]),
            sends: Mutex::new(()),
        }
    }

    fn now(&self) -> u64 {
        u64::try_from(self.begin.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }
}

impl Transport for Messages {
    fn rank(&self) -> usize {
        self.mpi.rank()
    }

    fn size(&self) -> usize {
        self.mpi.size()
    }

    fn send(&self, to: usize, envelope: &Envelope) -> usize {
        let bytes = envelope.encode();
        let len = bytes.len();
        // Relaxed: as in `has_mail`.
        self.active.store(self.now(), Relaxed);
        let _sends = self.sends.lock().unwrap_or_else(PoisonError::into_inner);
        if len <= LONGEST {
            self.mpi.send(to, bytes.into_boxed_slice(), false);
        } else {
            let mut pieces = bytes.chunks(LONGEST).peekable();
            while let Some(piece) = pieces.next() {
                self.mpi.send(to, piece.into(), pieces.peek().is_some());
            }
        }
        len
    }

    #[inline]
    fn has_mail(&self) -> bool {
        // Relaxed: a clock that may be late.
        self.now() >= self.looked.load(Relaxed).saturating_add(BETWEEN_LOOKS)
    }

    fn poll(&self) -> Option<(usize, Result<Envelope, Malformed>)> {
        let mut pieces = self.pieces.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            let Some((from, bytes, more)) = self.mpi.receive() else {
                // Relaxed: as in `has_mail`.
                self.looked.store(self.now(), Relaxed);
                return None;
            };
            self.active.store(self.now(), Relaxed);
            let pieces = &mut pieces[from];
            if more {
                pieces.extend_from_slice(&bytes);
            } else if pieces.is_empty() {
                return Some((from, Envelope::decode(&bytes)));
            } else {
                pieces.extend_from_slice(&bytes);
                return Some((from, Envelope::decode(&std::mem::take(pieces))));
            }
        }
    }

    fn flush(&self) -> bool {
        self.mpi.complete_sends() == 0
    }

    /// A rank that has heard of nothing for a while pauses. The caller polls after each pause.
    fn wait(&self, at_most: Duration) {
        // Relaxed: as in `has_mail`.
        if self.now().saturating_sub(self.active.load(Relaxed)) > SPINS.as_nanos() as u64 {
            thread::sleep(PAUSE.min(at_most));
        } else {
            thread::yield_now();
        }
    }
}

impl Drop for Messages {
    /// Hands over the last messages. MPI has copied most of them already.
    fn drop(&mut self) {
        self.mpi.abort_if_panicking();
        hand_over(|| self.mpi.complete_sends(), PAUSE);
    }
}
