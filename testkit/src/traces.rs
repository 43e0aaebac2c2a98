//! Recordings of traces. Only one can be under way in a process, so they take turns.

use furcate_pool::trace::{self, Settings, Trace};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Waits until no other recording is under way, and lets none begin.
pub fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Records `f` with every fork.
pub fn traced<R>(f: impl FnOnce() -> R) -> (R, Trace) {
    traced_by(Settings::new(), f)
}

/// As [`traced`], with more settings.
pub fn traced_by<R>(settings: Settings, f: impl FnOnce() -> R) -> (R, Trace) {
    let _alone = alone();
    settings.every_fork(true).start().expect("no other recording");
    let result = f();
    (result, trace::stop().expect("a recording"))
}
