//! Giving other jobs a turn.

use crate::worker::Worker;

/// What came of a [`yield_now`] or [`yield_local`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Yield {
    /// A job was run.
    Executed,
    /// There was none.
    Idle,
}

impl From<bool> for Yield {
    fn from(executed: bool) -> Self {
        if executed { Yield::Executed } else { Yield::Idle }
    }
}

/// Runs one job, whichever there is, on top of the calling one; `None` if the caller is no worker.
///
/// For a job that waits for something by other means than `join` or a scope. Mind that the job run may want what the
/// caller holds.
///
/// ```
/// assert_eq!(furcate::yield_now(), None);
/// let pool = furcate::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
/// assert_eq!(pool.install(|| furcate::yield_now()), Some(furcate::Yield::Idle));
/// ```
pub fn yield_now() -> Option<Yield> {
    Worker::with_current(|worker| worker.map(|worker| worker.yield_once(false).into()))
}

/// Runs one of the jobs that were spawned by this thread and not stolen, on top of the calling one; `None` if the caller
/// is no worker.
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
