//! Numbers of items that each thread has computed.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};

/// All threads' counts, including those of threads that have ended.
static COUNTS: Mutex<Vec<Arc<AtomicU64>>> = Mutex::new(Vec::new());

thread_local! {
    static COUNT: Arc<AtomicU64> = {
        let count = Arc::<AtomicU64>::default();
        COUNTS.lock().unwrap_or_else(PoisonError::into_inner).push(Arc::clone(&count));
        count
    };
}

/// Counts an item that the calling thread computes.
#[inline]
pub(super) fn count() {
    // While a program runs, only this thread writes its count.
    COUNT.with(|count| count.store(count.load(Relaxed) + 1, Relaxed));
}

/// Distribution of a program's items over threads.
#[derive(Clone, Copy, Debug, Default)]
pub struct Spread {
    /// Share of items of the thread that has computed most.
    pub busiest: f64,
    /// Number of threads that have computed any item.
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
