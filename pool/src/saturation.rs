//! A pool that has started as many threads as it may, while threads of it wait.

use std::fmt;

/// Why a thread of a pool waits in its slot, though jobs are queued that another thread could run there: see
/// [`saturation_handler`](crate::ThreadPoolBuilder::saturation_handler).
///
/// Displayed, it says what happened, why, and what to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Saturation {
    /// Number of the pool's slots.
    pub num_threads: usize,
    /// Number of threads that the pool has started to stand in for waiting ones.
    pub blocking_threads: usize,
    /// Whether the system has refused to start another thread. If not, the pool's
    /// [bound](crate::ThreadPoolBuilder::max_blocking_threads) is reached.
    pub refused: bool,
}

impl fmt::Display for Saturation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Saturation { num_threads, blocking_threads, refused } = self;
        write!(
            f,
            "a job waits (in `block_on`, `join` or a scope) and keeps one of the {num_threads} slots of its thread pool, while other \
             jobs are queued: {blocking_threads} threads stand in for jobs that wait already, and "
        )?;
        f.write_str(if *refused {
            "the system refused to start another one. "
        } else {
            "no more are allowed. "
        })?;
        f.write_str(
            "Wait without a thread instead: `io_await` in an iterator, `ScopeHandle::join_async` in place of `join`, `.await` in \
             place of `block_on`; or raise `ThreadPoolBuilder::max_blocking_threads`",
        )
    }
}
