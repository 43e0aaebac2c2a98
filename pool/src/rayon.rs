//! The engine on top of rayon-core.

use crate::{Context, Executor};

/// Runs on rayon-core's pool: the one whose worker the caller is (for instance inside `ThreadPool::install`), else
/// the global one.
///
/// A call from outside that never forks runs in the calling thread; the first fork takes it to the pool.
///
/// ```
/// use furcate::{Executor, Rayon};
/// let (a, b) = Rayon.join_context(|_| 1 + 1, |_| 2 + 2);
/// assert_eq!((a, b), (2, 4));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rayon;

impl Executor for Rayon {
    #[inline]
    fn join_context<A, B, RA, RB>(&self, left: A, right: B) -> (RA, RB)
    where
        A: FnOnce(Context) -> RA + Send,
        B: FnOnce(Context) -> RB + Send,
        RA: Send,
        RB: Send,
    {
        match rayon_core::current_thread_index() {
            Some(forker) => join_on_worker(forker, left, right),
            // A scope's body runs on a worker; then "who forked" means a worker of the pool (invariants 3 and 4).
            None => rayon_core::scope(|_| {
                let forker = rayon_core::current_thread_index().expect("a scope's body runs on a worker");
                join_on_worker(forker, left, right)
            }),
        }
    }

    #[inline]
    fn num_threads(&self) -> usize {
        rayon_core::current_num_threads()
    }

    #[inline]
    fn thread_index(&self) -> Option<usize> {
        rayon_core::current_thread_index()
    }
}

/// Rayon calls a job migrated that its own worker took back from its own deque while waiting for another one; so
/// its word is only the cheap first half of the question.
#[inline]
fn join_on_worker<A, B, RA, RB>(forker: usize, left: A, right: B) -> (RA, RB)
where
    A: FnOnce(Context) -> RA + Send,
    B: FnOnce(Context) -> RB + Send,
    RA: Send,
    RB: Send,
{
    rayon_core::join_context(
        |_| left(Context::new(false)),
        move |context| {
            let migrated = context.migrated() && rayon_core::current_thread_index() != Some(forker);
            right(Context::new(migrated))
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::sync::atomic::{AtomicUsize, Ordering};

    fn pool(threads: usize) -> rayon_core::ThreadPool {
        rayon_core::ThreadPoolBuilder::new().num_threads(threads).build().unwrap()
    }

    /// Forks a tree of the given depth and counts migrated closures, left and right.
    fn migrations(depth: u32, counts: &[AtomicUsize; 2]) {
        if depth > 0 {
            Rayon.join_context(
                |c| {
                    counts[0].fetch_add(usize::from(c.migrated()), Ordering::Relaxed);
                    migrations(depth - 1, counts);
                },
                |c| {
                    counts[1].fetch_add(usize::from(c.migrated()), Ordering::Relaxed);
                    migrations(depth - 1, counts);
                },
            );
        }
    }

    #[test]
    fn one_worker_never_migrates() {
        let counts = [AtomicUsize::new(0), AtomicUsize::new(0)];
        pool(1).install(|| migrations(8, &counts));
        assert_eq!(counts.map(AtomicUsize::into_inner), [0, 0]);
    }

    #[test]
    fn the_left_half_never_migrates() {
        let counts = [AtomicUsize::new(0), AtomicUsize::new(0)];
        pool(3).install(|| (0..50).for_each(|_| migrations(6, &counts)));
        migrations(6, &counts); // from outside
        assert_eq!(counts[0].load(Ordering::Relaxed), 0);
    }

    #[test]
    fn an_idle_worker_takes_the_right_half_and_is_told() {
        pool(2).install(|| {
            let gate = std::sync::Barrier::new(2);
            let (left, right) = Rayon.join_context(
                |c| {
                    gate.wait();
                    c.migrated()
                },
                |c| {
                    gate.wait();
                    c.migrated()
                },
            );
            assert_eq!((left, right), (false, true));
        });
    }

    /// P1 on this engine: both closures end, the left payload wins, the pool stays usable.
    #[test]
    fn panics_reach_the_caller_left_first() {
        for threads in [1, 2] {
            let pool = pool(threads);
            for (left_panics, right_panics) in [(true, false), (false, true), (true, true)] {
                let caught = pool.install(|| {
                    catch_unwind(AssertUnwindSafe(|| {
                        Rayon.join_context(
                            |_| assert!(!left_panics, "left"),
                            |_| assert!(!right_panics, "right"),
                        )
                    }))
                });
                let payload = caught.unwrap_err();
                let message = payload.downcast_ref::<&str>().unwrap();
                assert_eq!(*message, if left_panics { "left" } else { "right" });
                assert_eq!(pool.install(|| Rayon.join_context(|_| 1, |_| 2)), (1, 2));
            }
        }
    }
}
