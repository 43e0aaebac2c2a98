//! A bell: a word in shared memory, by which senders tell a receiver that there is mail.
//!
//! The receiver would have to look at a ring for each sender. Instead senders increment one word after they have written, and the receiver compares
//! the word with the value that it has seen.
//!
//! # Invariant
//!
//! *No mail is missed.* The receiver [looks](Seen::look) at the bell, then at all rings, and only if all are empty it [notes](Seen::note) the value
//! of that look. A look that sees a bell also sees the words that were written before that bell. So mail that was not found has rung, or will ring,
//! a bell that is not noted.

use furcate_pool::sync::atomic::{AtomicU64, Ordering::Acquire, Ordering::Relaxed, Ordering::Release};

/// Rings. Called after the mail was written.
pub(super) fn ring(bell: &AtomicU64) {
    // Release: pairs with the acquire in `look`. The words that were written are seen with the bell.
    bell.fetch_add(1, Release);
}

/// Value of the bell when all rings were empty.
#[derive(Debug)]
pub(super) struct Seen(AtomicU64);

impl Seen {
    pub(super) fn new() -> Self {
        Seen(AtomicU64::new(0))
    }

    /// Whether the bell has rung since the last note.
    #[inline]
    pub(super) fn has_rung(&self, bell: &AtomicU64) -> bool {
        // Relaxed: hints. A bell that is seen late is seen at the next call.
        bell.load(Relaxed) != self.0.load(Relaxed)
    }

    /// Looks at the bell. One thread at a time does this.
    pub(super) fn look(&self, bell: &AtomicU64) -> u64 {
        // Acquire: pairs with the release in `ring`.
        bell.load(Acquire)
    }

    /// Notes the value of the last look, because all rings were empty after it.
    pub(super) fn note(&self, bell: u64) {
        // Relaxed: written by the thread that looks, and read as a hint.
        self.0.store(bell, Relaxed);
    }
}

#[cfg(all(test, loom))]
mod models;
