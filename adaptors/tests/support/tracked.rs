//! Items that record how often each of them is dropped, and panics that print nothing.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

/// Number of drops of each item.
#[derive(Debug)]
pub(crate) struct Ledger {
    drops: Vec<AtomicUsize>,
}

/// An item that records its drop.
#[derive(Debug)]
pub(crate) struct Tracked {
    pub(crate) id: usize,
    ledger: Arc<Ledger>,
}

impl Ledger {
    pub(crate) fn items(len: usize) -> (Arc<Ledger>, Vec<Tracked>) {
        let ledger = Arc::new(Ledger { drops: (0..len).map(|_| AtomicUsize::new(0)).collect() });
        let items = (0..len).map(|id| Tracked { id, ledger: Arc::clone(&ledger) }).collect();
        (ledger, items)
    }

    pub(crate) fn counts(&self) -> Vec<usize> {
        self.drops.iter().map(|drops| drops.load(SeqCst)).collect()
    }

    #[track_caller]
    pub(crate) fn assert_each_once(&self, about: &str) {
        assert_eq!(self.counts(), vec![1; self.drops.len()], "{about}");
    }
}

impl Tracked {
    /// Number of drops of this item.
    pub(crate) fn drops(&self) -> usize {
        self.ledger.drops[self.id].load(SeqCst)
    }
}

impl Drop for Tracked {
    fn drop(&mut self) {
        self.ledger.drops[self.id].fetch_add(1, SeqCst);
    }
}

impl PartialEq for Tracked {
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id
    }
}
impl Eq for Tracked {}
impl PartialOrd for Tracked {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Tracked {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.id.cmp(&other.id)
    }
}
impl std::hash::Hash for Tracked {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.id.hash(state);
    }
}

/// A panic that prints nothing.
pub(crate) struct Planned;

pub(crate) fn planned_panic() -> ! {
    resume_unwind(Box::new(Planned))
}

/// Runs a closure that may panic as planned. Returns whether it returned.
pub(crate) fn survives(run: impl FnOnce()) -> bool {
    match catch_unwind(AssertUnwindSafe(run)) {
        Ok(()) => true,
        Err(payload) if payload.is::<Planned>() => false,
        Err(payload) => resume_unwind(payload),
    }
}
