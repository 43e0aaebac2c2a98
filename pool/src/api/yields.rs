//! Giving other jobs a turn.

use crate::engine::worker::Worker;

/// Outcome of a [`yield_now`] or [`yield_local`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Yield {
    /// A job was run.
    Executed,
    /// There was no job to run.
    Idle,
}

impl From<bool> for Yield {
    fn from(executed: bool) -> Self {
        if executed { Yield::Executed } else { Yield::Idle }
    }
}

/// Runs one job of any kind on top of the calling one. Returns `None` if the caller is no worker.
///
/// For a job that waits for something by other means than `join` or a scope. The other job must not wait for a lock that the caller
/// holds: it would wait for ever.
///
/// ```
/// assert_eq!(furcate::yield_now(), None);
/// let pool = furcate::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
/// assert_eq!(pool.install(|| furcate::yield_now()), Some(furcate::Yield::Idle));
/// ```
pub fn yield_now() -> Option<Yield> {
    Worker::with_current(|worker| worker.map(|worker| worker.yield_once(false).into()))
}

/// Runs a job that this thread has spawned and that was not stolen, on top of the calling job. Returns `None` if the caller is no
/// worker.
///
/// ```
/// let pool = furcate::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
/// pool.install(|| {
///     furcate::spawn(|| ());
///     assert_eq!(furcate::yield_local(), Some(furcate::Yield::Executed));
///     assert_eq!(furcate::yield_local(), Some(furcate::Yield::Idle));
/// });
/// ```
pub fn yield_local() -> Option<Yield> {
    Worker::with_current(|worker| worker.map(|worker| worker.yield_once(true).into()))
}
