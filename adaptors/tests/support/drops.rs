//! Checks that every value is dropped exactly once, also if user code panics (P2).

use std::collections::HashSet;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex};

/// Knows the values that are alive, and the faults of those that are not.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ledger {
    entries: Arc<Mutex<Entries>>,
}

#[derive(Debug, Default)]
struct Entries {
    born: usize,
    alive: HashSet<usize>,
    dropped_twice: usize,
}

impl Ledger {
    /// A value that the ledger follows.
    pub(crate) fn value(&self, number: usize) -> DropCounter {
        let mut entries = self.entries.lock().unwrap();
        let id = entries.born;
        entries.born += 1;
        entries.alive.insert(id);
        DropCounter { number, id, ledger: self.clone() }
    }

    /// Values with the numbers from 0.
    pub(crate) fn values(&self, len: usize) -> Vec<DropCounter> {
        (0..len).map(|number| self.value(number)).collect()
    }

    /// Number of values that have been made.
    pub(crate) fn born(&self) -> usize {
        self.entries.lock().unwrap().born
    }

    /// Number of values that are alive.
    pub(crate) fn alive(&self) -> usize {
        self.entries.lock().unwrap().alive.len()
    }

    /// Checks that every value has been dropped once.
    pub(crate) fn assert_settled(&self) {
        let entries = self.entries.lock().unwrap();
        assert_eq!((entries.alive.len(), entries.dropped_twice), (0, 0), "(leaked, dropped twice)");
    }
}

/// A value whose drops are counted; a clone is a value of its own.
#[derive(Debug)]
pub(crate) struct DropCounter {
    pub(crate) number: usize,
    id: usize,
    ledger: Ledger,
}

impl Clone for DropCounter {
    fn clone(&self) -> Self {
        self.ledger.value(self.number)
    }
}

impl Drop for DropCounter {
    fn drop(&mut self) {
        let mut entries = self.ledger.entries.lock().unwrap();
        if !entries.alive.remove(&self.id) {
            entries.dropped_twice += 1;
        }
    }
}

/// Panics, without a message on the terminal, when it is burnt for the n-th time.
#[derive(Debug)]
pub(crate) struct Fuse {
    left: AtomicUsize,
}

/// The payload of a fuse's panic.
struct BurntDown;

impl Fuse {
    pub(crate) fn burn(&self) {
        if self.left.fetch_sub(1, Relaxed) == 0 {
            resume_unwind(Box::new(BurntDown));
        }
    }
}

/// Runs a computation over `len` values again and again, with a fuse that is longer by one each time, until the fuse
/// does not burn down. So the n-th call panics, for every n. After each run everything must be dropped exactly once.
///
/// # Panics
///
/// If a single value is leaked or dropped twice, or if the fuse is never burnt.
pub(crate) fn assert_dropped_once(len: usize, run: impl Fn(Vec<DropCounter>, &Fuse)) {
    for calls in 0.. {
        let ledger = Ledger::default();
        let fuse = Fuse { left: AtomicUsize::new(calls) };
        let values = ledger.values(len);
        let outcome = catch_unwind(AssertUnwindSafe(|| run(values, &fuse)));
        ledger.assert_settled();
        match outcome {
            Ok(()) => {
                assert!(calls > 0, "nothing burns the fuse");
                return;
            }
            Err(payload) if payload.is::<BurntDown>() => {}
            Err(payload) => resume_unwind(payload),
        }
    }
}
