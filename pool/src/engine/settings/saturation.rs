//! Saturation: a pool's threads wait while jobs are queued that a further thread could run.

use std::fmt;

/// The reason why a thread of a pool waits in its slot although jobs are queued that another thread could run there: see
/// [`saturation_handler`](crate::ThreadPoolBuilder::saturation_handler).
///
/// `Display` prints the event, the cause and the remedies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Saturation {
    /// Number of the pool's slots.
    pub num_threads: usize,
    /// Number of spare threads that the pool has started, to stand in for threads that wait.
    pub blocking_threads: usize,
    /// The reason why no further thread stands in.
    pub cause: SaturationCause,
}

/// The reason why a pool starts no further thread to stand in for one that waits.
///
/// A pool with one of the last two causes reports only that *all* of its threads wait while jobs are queued. One of the threads then
/// runs a queued job on top of the job that waits. If the queued job wants a lock that the waiting job holds, both wait for ever.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SaturationCause {
    /// The pool has started as many threads as it [may](crate::ThreadPoolBuilder::max_blocking_threads).
    BoundReached,
    /// The system has refused to start a thread.
    Refused,
    /// The pool's wait rule is [`WaitRule::Leapfrog`](crate::WaitRule::Leapfrog) or
    /// [`RandomLeapfrog`](crate::WaitRule::RandomLeapfrog).
    Leapfrog,
    /// The pool's threads are started by a [spawn handler](crate::ThreadPoolBuilder::spawn_handler), one for each slot.
    SpawnHandler,
}

impl fmt::Display for Saturation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Saturation { num_threads, blocking_threads, cause } = self;
        write!(
            f,
            "a job waits (in `block_on`, `join` or a scope) and keeps one of the {num_threads} slots of its thread pool, while other \
             jobs are queued: "
        )?;
        match cause {
            SaturationCause::BoundReached | SaturationCause::Refused => {
                write!(f, "{blocking_threads} threads stand in for jobs that wait already, and ")?;
            }
            SaturationCause::Leapfrog | SaturationCause::SpawnHandler => {
                f.write_str("all of the pool's threads wait or are blocked, and ")?;
            }
        }
        f.write_str(match cause {
            SaturationCause::BoundReached => "no more are allowed. ",
            SaturationCause::Refused => "the system refused to start another one. ",
            SaturationCause::Leapfrog => "`WaitRule::Leapfrog` and `RandomLeapfrog` start no others. ",
            SaturationCause::SpawnHandler => "a pool with a spawn handler starts no others. ",
        })?;
        f.write_str(
            "Wait without a thread instead: `io_await` in an iterator, `ScopeHandle::join_async` in place of `join`, `.await` in \
             place of `block_on`; or ",
        )?;
        f.write_str(match cause {
            SaturationCause::BoundReached => "raise `ThreadPoolBuilder::max_blocking_threads`",
            SaturationCause::Refused => "raise the system's limit on threads",
            SaturationCause::Leapfrog => "leave the pool's wait rule at `WaitRule::Descendants`",
            SaturationCause::SpawnHandler => "build the pool without a spawn handler",
        })
    }
}
