//! Properties that programs rely on: the halves' order, results and panics, on every engine.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use super::*;

/// A test of one engine.
struct With<F>(F);

impl<F: Check> Visit for With<F> {
    fn visit<E: Engine>(&mut self) {
        for threads in 1..=2 {
            self.0.check(&E::new(threads), threads);
        }
    }
}

trait Check {
    fn check<E: Engine>(&self, engine: &E, threads: usize);
}

struct LeftFirst;

impl Check for LeftFirst {
    fn check<E: Engine>(&self, engine: &E, threads: usize) {
        let clock = AtomicUsize::new(0);
        let half = || (thread::current().id(), clock.fetch_add(1, Ordering::SeqCst));
        let (forking, (left, right)) =
            engine.run(|fork| (thread::current().id(), fork.join(|_| half(), |_| half())));
        assert_eq!(left.0, forking, "{}: where the left half runs", E::NAME);
        if threads == 1 {
            assert_eq!((left.1, right.1), (0, 1), "{}: when the halves run", E::NAME);
        }
    }
}

/// The left half runs on the worker that forks, and first if there is no other.
#[test]
fn left_first() {
    each(&mut With(LeftFirst));
}

/// Deep nesting on either side.
struct Combs;

impl Check for Combs {
    fn check<E: Engine>(&self, engine: &E, _threads: usize) {
        fn left<F: Fork>(fork: &F, n: u64) -> u64 {
            if n == 0 {
                return 0;
            }
            let (a, b) = fork.join(|fork| left(fork, n - 1), |_| n);
            a + b
        }
        fn right<F: Fork>(fork: &F, n: u64) -> u64 {
            if n == 0 {
                return 0;
            }
            let (a, b) = fork.join(|_| n, |fork| right(fork, n - 1));
            a + b
        }
        for _ in 0..20 {
            assert_eq!(engine.run(|fork| left(fork, 500)), 500 * 501 / 2, "{}", E::NAME);
            assert_eq!(engine.run(|fork| right(fork, 500)), 500 * 501 / 2, "{}", E::NAME);
        }
    }
}

#[test]
fn combs() {
    each(&mut With(Combs));
}

/// A tree of forks in which the leaf with the number `bad` panics.
fn explode<F: Fork>(fork: &F, depth: u32, leaf: u32, bad: u32) -> u32 {
    if depth == 0 {
        assert!(leaf != bad, "leaf {bad}");
        return 1;
    }
    let (a, b) = fork.join(
        |fork| explode(fork, depth - 1, leaf * 2, bad),
        |fork| explode(fork, depth - 1, leaf * 2 + 1, bad),
    );
    a + b
}

/// Our own pool passes on a panic of any half, and still works afterwards.
#[test]
fn chase_lev_panics() {
    for threads in 1..=3 {
        let engine = ChaseLev::new(threads);
        for bad in 0..64 {
            let panic = catch_unwind(AssertUnwindSafe(|| engine.run(|fork| explode(fork, 6, 0, bad))));
            let message = panic.expect_err("a leaf panics");
            assert_eq!(message.downcast_ref::<String>(), Some(&format!("leaf {bad}")));
        }
        assert_eq!(engine.run(|fork| explode(fork, 6, 0, 64)), 64);
    }
}

/// Both halves panic: the left one's panic is handed on, once the right half has ended.
#[test]
fn chase_lev_left_panic_wins() {
    let engine = ChaseLev::new(2);
    for _ in 0..100 {
        let started = AtomicUsize::new(0);
        let ended = AtomicUsize::new(0);
        let panic = catch_unwind(AssertUnwindSafe(|| {
            engine.run(|fork| {
                fork.join(
                    |_| panic!("left"),
                    |_| {
                        started.fetch_add(1, Ordering::SeqCst);
                        thread::yield_now();
                        ended.fetch_add(1, Ordering::SeqCst);
                        panic!("right")
                    },
                )
            })
        }));
        assert_eq!(panic.expect_err("both panic").downcast_ref::<&str>(), Some(&"left"));
        assert_eq!(started.into_inner(), ended.into_inner());
    }
}

/// Values owned by the halves are dropped once, whether the halves run or not.
#[test]
fn chase_lev_destructors() {
    let owned = Arc::new(());
    let engine = ChaseLev::new(2);
    for _ in 0..1_000 {
        let (left, right) = (owned.clone(), owned.clone());
        let run = || engine.run(|fork| fork.join(|_| panic!("{left:?}"), move |_| right));
        catch_unwind(AssertUnwindSafe(run)).expect_err("the left half panics");
        let (left, right) = (owned.clone(), owned.clone());
        drop(engine.run(|fork| fork.join(move |_| left, move |_| right)));
    }
    assert_eq!(Arc::strong_count(&owned), 1);
}

/// Panics of either half leave a guarded deque as it was: the next forks get their own closures.
#[test]
fn forms_of_the_split_deque_keep_each_closure_apart() {
    fn engine<F: Form>() {
        let engine = Split::<F>::new(1);
        for _ in 0..3 {
            let sum = engine.run(|fork| {
                fork.join(|fork| fork.join(|_| 1_u64, |_| [10_u64; 9].iter().sum::<u64>()), |_| 100).0
            });
            assert_eq!(sum, (1, 90));
            if F::GUARDED {
                let dropped = Arc::new(());
                for side in 0..2 {
                    let halves = || {
                        engine.run(|fork| {
                            let kept = dropped.clone();
                            fork.join(
                                |_| assert!(side != 0, "left"),
                                move |_| assert!(Arc::strong_count(&kept) == 2 && side != 1),
                            )
                        })
                    };
                    assert!(catch_unwind(AssertUnwindSafe(halves)).is_err());
                    assert_eq!(Arc::strong_count(&dropped), 1, "the right closure was dropped");
                }
            }
        }
        let large = [7_u64; 20];
        assert_eq!(engine.run(|fork| fork.join(|_| 1, move |_| large.iter().sum::<u64>())), (1, 140));
    }
    engine::<Unsafe>();
    engine::<Guarded>();
    engine::<Boxed>();
}
