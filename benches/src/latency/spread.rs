//! Which threads have computed how many items.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};

/// All threads' counts; threads that are gone stay.
static COUNTS: Mutex<Vec<Arc<AtomicU64>>> = Mutex::new(Vec::new());

thread_local! {
    static COUNT: Arc<AtomicU64> = {
        let count = Arc::<AtomicU64>::default();
        COUNTS.lock().unwrap_or_else(PoisonError::into_inner).push(Arc::clone(&count));
        count
    };
}

/// The calling thread computes an item.
#[inline]
pub(super) fn count() {
    // Only this thread writes while a program runs.
    COUNT.with(|count| count.store(count.load(Relaxed) + 1, Relaxed));
}

/// How a program's items were spread over threads.
#[derive(Clone, Copy, Debug, Default)]
pub struct Spread {
    /// The share of the thread that has computed most.
    pub busiest: f64,
    /// How many threads have computed any.
    pub threads: usize,
}

impl Spread {
    /// Runs a program, and tells how its items were spread.
    pub fn of<R>(program: impl FnOnce() -> R) -> (R, Spread) {
        let counts = || COUNTS.lock().unwrap_or_else(PoisonError::into_inner);
        counts().iter().for_each(|count| count.store(0, Relaxed));
        let result = program();
        let counts: Vec<u64> = counts().iter().map(|count| count.load(Relaxed)).collect();
        let (all, most) = (counts.iter().sum::<u64>(), counts.iter().copied().max().unwrap_or(0));
        let threads = counts.iter().filter(|&&count| count > 0).count();
        (result, Spread { busiest: most as f64 / all.max(1) as f64, threads })
    }
}
