//! The engine `Rayon` of furcate: chains on rayon-core's pool.
//!
//! Most users want the facade crate, `furcate`, with the feature `rayon`.
//!
//! A program that [patches rayon-core][patch] with furcate's has one pool. This engine then runs on that pool, too,
//! through rayon-core's API.
//!
//! [patch]: https://github.com/furcate-rs/furcate/blob/main/book/src/patch.md
//!
//! # Unsafe code
//!
//! One cast in [`Parts`], between types of the same layout.
#![deny(unsafe_code)]

mod detached;

pub use detached::Parts;

use furcate_pool::detach::{Unattended, run_blocking};
use furcate_pool::quiet_drop::drop_quietly;
use furcate_pool::{Context, Executor};
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

/// Runs on rayon-core's pool: the pool of the calling worker (for instance inside `ThreadPool::install`), else the
/// global one.
///
/// A call from outside moves to one of the pool's threads.
///
/// ```
/// use furcate::{Executor, Rayon};
/// let (a, b) = Rayon.join_context(|_| 1 + 1, |_| 2 + 2);
/// assert_eq!((a, b), (2, 4));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rayon;

impl Executor for Rayon {
    type Scope<'scope> = Parts<'scope>;

    fn detached<'scope, B, R>(&self, body: B) -> R
    where
        B: FnOnce(&Self::Scope<'scope>) -> R + Send,
        R: Send,
    {
        detached::root(body)
    }

    #[inline]
    fn enter<F, R>(&self, f: F) -> R
    where
        F: FnOnce() -> R + Send,
        R: Send,
    {
        if self.is_entered() { f() } else { rayon_core::scope(|_| f()) }
    }

    #[inline]
    fn is_entered(&self) -> bool {
        rayon_core::current_thread_index().is_some()
    }

    /// Blocks one of rayon's threads until the computation has ended.
    fn spawn_detached<C: Unattended<Self>>(&self, computation: C) {
        rayon_core::spawn(|| {
            // The computation's end has panicked. The panic is dropped: without a panic handler rayon would abort the process, and rayon
            // does not say whether it has one.
            if let Err(payload) = catch_unwind(AssertUnwindSafe(|| run_blocking(&Rayon, computation))) {
                drop_quietly(payload);
            }
        });
    }

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
            // A scope's body runs on a worker, so the forking thread is a worker of the pool (invariants 3 and 4).
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
}

/// Rayon also calls a job migrated if its own worker took it back from its own deque while waiting for another one. So
/// rayon's answer is only the cheap first half of the check.
///
/// Panics are caught on this side of rayon, which would drop the right half's payload while it unwinds with the left
/// half's: if that drop panicked too, the process would be aborted.
#[inline]
fn join_on_worker<A, B, RA, RB>(forker: usize, left: A, right: B) -> (RA, RB)
where
    A: FnOnce(Context) -> RA + Send,
    B: FnOnce(Context) -> RB + Send,
    RA: Send,
    RB: Send,
{
    let results = rayon_core::join_context(
        // Unwind-safe: a panic is resumed as soon as both halves have ended, so no code uses the state that it has left
        // broken.
        |_| catch_unwind(AssertUnwindSafe(|| left(Context::new(false)))),
        move |context| {
            let migrated = context.migrated() && rayon_core::current_thread_index() != Some(forker);
            catch_unwind(AssertUnwindSafe(|| right(Context::new(migrated))))
        },
    );
    match results {
        (Ok(left), Ok(right)) => (left, right),
        (Err(payload), other) => resume_after(payload, other),
        (other, Err(payload)) => resume_after(payload, other),
    }
}

/// Resumes a panic, once the other half's result is dropped. If that drop panics too, the first panic counts (invariant
/// 2).
#[cold]
fn resume_after(payload: Box<dyn Any + Send>, other: impl Send) -> ! {
    if let Err(second) = catch_unwind(AssertUnwindSafe(|| drop(other))) {
        // The drop of the second payload may panic as well, and that panic could be reported to no caller.
        std::mem::forget(second);
    }
    resume_unwind(payload)
}

#[cfg(test)]
mod tests {
    use super::*;
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

    /// P3: a payload whose drop panics.
    struct Loud;

    impl Drop for Loud {
        fn drop(&mut self) {
            panic!("dropped");
        }
    }

    #[test]
    fn a_payload_whose_drop_panics_gives_way_to_the_left_one() {
        for threads in [1, 2] {
            let pool = pool(threads);
            let payload = pool.install(|| {
                catch_unwind(AssertUnwindSafe(|| {
                    Rayon.join_context(|_| panic!("left"), |_| std::panic::panic_any(Loud))
                }))
                .map(|((), ())| ())
                .unwrap_err()
            });
            assert_eq!(*payload.downcast_ref::<&str>().unwrap(), "left");
            assert_eq!(pool.install(|| Rayon.join_context(|_| 1, |_| 2)), (1, 2));
        }
    }
}
