//! Checks that every value is dropped exactly once, also if user code panics (P2).

use std::cmp::Ordering;
use std::hash::{Hash, Hasher};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex};

/// Knows how often each of its values was dropped.
#[derive(Clone, Debug, Default)]
pub struct Ledger {
    /// Number of drops of each value, by its id.
    drops: Arc<Mutex<Vec<usize>>>,
}

impl Ledger {
    /// Makes a value that the ledger follows.
    pub fn value(&self, number: usize) -> DropCounter {
        let mut drops = self.drops.lock().unwrap();
        drops.push(0);
        DropCounter { number, id: drops.len() - 1, ledger: self.clone() }
    }

    /// Makes values with the numbers from 0.
    pub fn values(&self, len: usize) -> Vec<DropCounter> {
        (0..len).map(|number| self.value(number)).collect()
    }

    /// Makes a ledger, and values with the numbers from 0.
    pub fn items(len: usize) -> (Ledger, Vec<DropCounter>) {
        let ledger = Ledger::default();
        let items = ledger.values(len);
        (ledger, items)
    }

    /// Number of values that have been made.
    pub fn born(&self) -> usize {
        self.drops.lock().unwrap().len()
    }

    /// Number of values that are alive. No value may have been dropped twice.
    #[track_caller]
    pub fn alive(&self) -> usize {
        let counts = self.counts();
        assert!(counts.iter().all(|&drops| drops < 2), "dropped twice: {counts:?}");
        counts.iter().filter(|&&drops| drops == 0).count()
    }

    /// Number of drops of each value.
    pub fn counts(&self) -> Vec<usize> {
        self.drops.lock().unwrap().clone()
    }

    /// Checks that every value has been dropped once.
    #[track_caller]
    pub fn assert_settled(&self, about: &str) {
        assert_eq!(self.counts(), vec![1; self.born()], "drops of each value {about}");
    }
}

/// A value whose drops are counted; a clone is a value of its own. Values are compared by their numbers.
#[derive(Debug)]
pub struct DropCounter {
    pub number: usize,
    id: usize,
    ledger: Ledger,
}

impl DropCounter {
    /// Number of drops of this value.
    pub fn drops(&self) -> usize {
        self.ledger.drops.lock().unwrap()[self.id]
    }
}

impl Clone for DropCounter {
    fn clone(&self) -> Self {
        self.ledger.value(self.number)
    }
}

impl Drop for DropCounter {
    fn drop(&mut self) {
        self.ledger.drops.lock().unwrap()[self.id] += 1;
    }
}

impl PartialEq for DropCounter {
    fn eq(&self, other: &Self) -> bool {
        self.number == other.number
    }
}
impl Eq for DropCounter {}
impl PartialOrd for DropCounter {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for DropCounter {
    fn cmp(&self, other: &Self) -> Ordering {
        self.number.cmp(&other.number)
    }
}
impl Hash for DropCounter {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.number.hash(state);
    }
}

/// Panics, without a message on the terminal, when it is burnt for the n-th time.
#[derive(Debug)]
pub struct Fuse {
    left: AtomicUsize,
}

/// The payload of a fuse's panic.
struct BurntDown;

impl Fuse {
    pub fn burn(&self) {
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
pub fn assert_dropped_once(len: usize, run: impl Fn(Vec<DropCounter>, &Fuse)) {
    for calls in 0.. {
        let ledger = Ledger::default();
        let fuse = Fuse { left: AtomicUsize::new(calls) };
        let values = ledger.values(len);
        let outcome = catch_unwind(AssertUnwindSafe(|| run(values, &fuse)));
        ledger.assert_settled("");
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
