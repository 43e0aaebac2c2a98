//! A counter that costs a load and a store. (Models have it too, as part of the deque, but do not look at it.)

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// A counter that any thread reads. Either one thread writes it, or all that write it use [`add_shared`](Self::add_shared).
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

    /// Adds `more` to a counter that several threads write. Relaxed: as [`add`](Self::add).
    pub(crate) fn add_shared(&self, more: u64) {
        self.0.fetch_add(more, Relaxed);
    }

    pub(crate) fn get(&self) -> u64 {
        self.0.load(Relaxed)
    }
}
