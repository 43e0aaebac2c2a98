//! Fork and join: results, panics, and the threads on which the halves run.

use crate::support::*;
use furcate_pool::{Executor, Pool, Worker, join, join_context, join_with};
use std::panic::panic_any;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

/// Where the two halves of a join run.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Place {
    /// On a pool of one thread: no other thread can steal.
    Inline,
    /// The left half waits until the right one has begun, so that it must be stolen.
    Stolen,
    /// On an external thread that takes part in the global pool.
    Outside,
    /// On a pool, called by a worker of another one, stolen there.
    OtherPool,
}

const PLACES: [Place; 4] = [Place::Inline, Place::Stolen, Place::Outside, Place::OtherPool];

fn run(place: Place, body: impl FnOnce() + Send) {
    match place {
        Place::Inline => pool(1).install(body),
        Place::Stolen => pool(2).install(body),
        Place::Outside => body(),
        Place::OtherPool => pool(1).install(|| pool(2).install(body)),
    }
}

/// Joins whose halves may panic with their names, inside `depth` other joins. The right half of the leftmost one is
/// `stolen`. Counts the halves that have ended.
fn halves(stolen: bool, depth: u32, panics: (bool, bool), ended: &AtomicUsize) {
    if depth > 0 {
        join(|| halves(stolen, depth - 1, panics, ended), || halves(false, depth - 1, panics, ended));
        return;
    }
    let begun = Flag::default();
    join(
        || {
            let _count = OnDrop(|| add(ended));
            if stolen {
                begun.wait();
            }
            if panics.0 {
                panic_any("on purpose: a");
            }
        },
        || {
            let _count = OnDrop(|| add(ended));
            begun.set();
            if panics.1 {
                panic_any("on purpose: b");
            }
        },
    );
}

struct OnDrop<F: Fn()>(F);

impl<F: Fn()> Drop for OnDrop<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}

#[test]
fn both_halves_end_and_the_left_ones_payload_wins() {
    // P1.
    within(LONG, || {
        for place in PLACES {
            for depth in 0..3 {
                for panics in [(false, false), (true, false), (false, true), (true, true)] {
                    let ended = AtomicUsize::new(0);
                    let expected = match panics {
                        (false, false) => None,
                        (true, _) => Some("on purpose: a"),
                        (false, true) => Some("on purpose: b"),
                    };
                    let stolen = matches!(place, Place::Stolen | Place::OtherPool);
                    run(place, || {
                        if let Some(expected) = expected {
                            let payload = payload(|| halves(stolen, depth, panics, &ended));
                            assert_eq!(message(payload), expected, "{place:?} {depth} {panics:?}");
                        } else {
                            halves(stolen, depth, panics, &ended);
                        }
                        assert_eq!(ended.load(SeqCst), 2 << depth, "{place:?} {depth} {panics:?}");
                        // The same worker, and the whole pool, still work.
                        assert_eq!(fib(12), 144);
                    });
                    assert_eq!(fib(12), 144);
                }
            }
        }
    });
}

#[test]
fn panics_cross_installs() {
    // P1: the panic of a job of a pool reaches the call from outside, and the pool goes on.
    within(LONG, || {
        let (a, b) = (pool(1), pool(2));
        for _ in 0..20 {
            let payload =
                payload(|| a.install(|| b.install(|| join(|| (), || panic_any("on purpose: deep")))).0);
            assert_eq!(message(payload), "on purpose: deep");
        }
        assert_eq!(a.install(|| b.install(|| fib(10))), 55);
    });
}

/// A payload whose drop panics.
struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        panic_any("on purpose: dropped");
    }
}

#[test]
fn payloads_whose_drops_panic_are_borne() {
    // P3: the right half's payload is dropped, and panics, on the way out with the left one's.
    within(LONG, || {
        for place in PLACES {
            let stolen = matches!(place, Place::Stolen | Place::OtherPool);
            run(place, || {
                let begun = Flag::default();
                let payload = payload(|| {
                    join(
                        || {
                            if stolen {
                                begun.wait();
                            }
                            panic_any("on purpose: a")
                        },
                        || {
                            begun.set();
                            panic_any(Bomb)
                        },
                    )
                    .0
                });
                assert_eq!(message(payload), "on purpose: a", "{place:?}");
            });
        }
    });
}

#[test]
fn results_whose_drops_panic_are_borne() {
    // P3: the right half's result is dropped, and panics, on the way out with the left one's payload.
    within(LONG, || {
        for place in PLACES {
            run(place, || {
                let payload = payload(|| join(|| panic_any("on purpose: a"), || Bomb).0);
                assert_eq!(message(payload), "on purpose: a", "{place:?}");
            });
        }
    });
}

#[test]
fn migrated_is_true_exactly_for_the_stolen() {
    within(LONG, || {
        let pool = pool(3);
        let (stolen, kept) = (AtomicUsize::new(0), AtomicUsize::new(0));
        pool.install(|| {
            for force in (0..200).map(|round| round % 2 == 0) {
                let begun = Flag::default();
                let here = std::thread::current().id();
                join_context(
                    |context| {
                        assert!(!context.migrated() && std::thread::current().id() == here);
                        if force {
                            begun.wait();
                        }
                    },
                    |context| {
                        begun.set();
                        assert_eq!(context.migrated(), std::thread::current().id() != here);
                        if context.migrated() { &stolen } else { &kept }.fetch_add(1, SeqCst);
                    },
                );
            }
        });
        assert!(stolen.load(SeqCst) >= 100);
        let migrated = pool.stats().total().migrated;
        assert!(migrated as usize >= stolen.load(SeqCst), "{migrated} migrations counted");
    });
}

#[test]
fn a_spilled_half_that_comes_back_has_not_migrated() {
    // The left half calls another pool, so the right one goes through the injector.
    within(LONG, || {
        let (a, b) = (pool(1), pool(1));
        for _ in 0..50 {
            a.install(|| {
                let here = std::thread::current().id();
                join_context(
                    |_| b.install(|| std::thread::sleep(std::time::Duration::from_micros(200))),
                    |context| assert_eq!(context.migrated(), std::thread::current().id() != here),
                );
            });
        }
    });
}

fn fib_with(worker: &Worker, n: u32) -> u64 {
    if n < 2 {
        return u64::from(n);
    }
    let (a, b) = worker.join(|worker| fib_with(worker, n - 1), |worker| fib_with(worker, n - 2));
    a + b
}

fn fib_on<E: Executor>(on: &E, n: u32) -> u64 {
    if n < 2 {
        return u64::from(n);
    }
    let (a, b) = on.join_context(|_| fib_on(on, n - 1), |_| fib_on(on, n - 2));
    a + b
}

#[test]
fn handles_and_executors_count_alike() {
    within(LONG, || {
        for threads in [1, 2, 3, 8] {
            let pool = &pool(threads);
            assert_eq!(pool.install(|| fib(18)), 2584);
            assert_eq!(
                pool.join_with(|worker| fib_with(worker, 17), |worker| fib_with(worker, 16)),
                (1597, 987)
            );
            assert_eq!(fib_on(&pool, 18), 2584);
            assert_eq!(pool.install(|| fib_on(&pool, 18)), 2584);
            assert_eq!(pool.install(|| fib_on(&Pool, 18)), 2584);
            assert_eq!((&pool).num_threads(), threads);
            assert_eq!(pool.current_thread_index(), None);
            assert!(pool.install(|| pool.current_thread_index()).unwrap() < threads);
        }
        assert_eq!(fib_on(&Pool, 18), 2584);
        let (a, b) = join_with(|worker| fib_with(worker, 17), |worker| fib_with(worker, 16));
        assert_eq!(a + b, 2584);
    });
}

#[test]
fn joins_borrow_from_their_callers() {
    fn double(numbers: &mut [u64]) {
        if numbers.len() < 10 {
            return numbers.iter_mut().for_each(|n| *n *= 2);
        }
        let (left, right) = numbers.split_at_mut(numbers.len() / 2);
        join(|| double(left), || double(right));
    }
    within(LONG, || {
        for threads in [1, 2, 8] {
            let mut numbers: Vec<u64> = (0..20_000).collect();
            pool(threads).install(|| double(&mut numbers));
            assert!(numbers.iter().zip(0..).all(|(&n, i)| n == 2 * i));
        }
    });
}

#[test]
fn forks_nest_deeply() {
    // More open forks than a new deque has room for: it grows while thieves look.
    fn left(n: u32, count: &AtomicUsize) {
        if n > 0 {
            join(|| left(n - 1, count), || add(count));
        }
    }
    within(LONG, || {
        for threads in [1, 2, 8] {
            let pool = furcate_pool::ThreadPoolBuilder::new()
                .num_threads(threads)
                .stack_size(64 << 20)
                .build()
                .expect("a pool");
            let count = AtomicUsize::new(0);
            pool.install(|| left(10_000, &count));
            assert_eq!(count.into_inner(), 10_000);
        }
    });
}

/// The counters of the split deque: a thief that finds private jobs only requests a split, the owner moves the split up, and down again when it
/// takes shared jobs back; a worker that waits for a half steals from its thief.
#[test]
fn the_split_and_the_leapfrogs_are_counted() {
    fn tree(depth: u32) {
        if depth == 0 {
            let begin = std::time::Instant::now();
            while begin.elapsed() < std::time::Duration::from_micros(2) {}
            return;
        }
        join(|| tree(depth - 1), || tree(depth - 1));
    }
    within(LONG, || {
        let pool = pool(2);
        loop {
            // The right half is longer, so that the left one's thread waits for it.
            pool.install(|| join(|| tree(4), || tree(9)));
            let total = pool.stats().total();
            let sum =
                |count: fn(&furcate_pool::StealStats) -> u64| total.steals.iter().map(count).sum::<u64>();
            assert_eq!(sum(|steals| steals.tried), sum(|steals| steals.won) + sum(|steals| steals.lost));
            let counts = [
                total.splits_grown,
                total.splits_shrunk,
                total.leapfrogs,
                sum(|steals| steals.won),
                sum(|steals| steals.requests),
                sum(|steals| steals.empty),
            ];
            if counts.iter().all(|count| *count > 0) {
                assert!(total.leapfrogs <= sum(|steals| steals.won));
                break;
            }
        }
    });
}
