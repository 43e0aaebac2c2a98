//! Places of execution behind `io_await`: all workers share the work after the await (W12), waiting tasks need no stack
//! (W11), and chains with awaits run wherever they are called from (W14).
//!
//! Not on the engine of rayon, which cannot suspend.
#![cfg(not(furcate_rayon))]

use crate::support::{after, assert_settled, pool, pools};
use furcate::prelude::*;
use furcate::{ThreadPool, ThreadPoolBuilder};
use std::future::poll_fn;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::task::{Poll, Waker};
use std::time::{Duration, Instant};
use testkit::spin;

/// W12: one worker is woken for everything, and the others take their share.
#[test]
fn all_workers_share_the_work_behind_an_await() {
    const LEN: usize = 512;
    for threads in [2, 4] {
        // From outside the caller takes part in place of a thread; inside it is one of the threads.
        for inside in [false, true] {
            // Returns the number of leaves of each worker.
            let run = || {
                let pool = pool(threads);
                let leaves: Vec<AtomicUsize> = (0..threads).map(|_| AtomicUsize::new(0)).collect();
                let call = || {
                    let awaited = (0..LEN).into_par_iter().map(|_| after(50)).io_await().on(&pool);
                    awaited.for_each(|()| {
                        spin(Duration::from_millis(1));
                        let index = pool.current_thread_index().expect("a place of the pool's");
                        leaves[index].fetch_add(1, Relaxed);
                    });
                };
                let begun = Instant::now();
                if inside {
                    pool.install(call)
                } else {
                    call()
                }
                let took = begun.elapsed();
                let leaves: Vec<usize> = leaves.into_iter().map(AtomicUsize::into_inner).collect();
                println!(
                    "{threads} threads, {}: {leaves:?} in {took:?}",
                    if inside { "inside" } else { "outside" }
                );
                assert_eq!(leaves.iter().sum::<usize>(), LEN);
                assert_settled(&pool);
                leaves
            };
            let most = if threads == 2 { LEN * 8 / 10 } else { LEN * 6 / 10 };
            // On a busy machine a worker may be without a core for most of a call.
            let are_shared = (0..10).any(|_| run().iter().all(|&n| n <= most));
            assert!(are_shared, "one of {threads} workers ran more than {most} leaves in every try");
        }
    }
}

/// The same if nothing is divided before the await, nor can be.
#[test]
fn all_workers_share_the_work_behind_the_awaits_of_one_task() {
    // Returns the number of leaves of each worker.
    let run = || {
        let pool = pool(2);
        let leaves: [AtomicUsize; 2] = Default::default();
        (0..256).into_par_iter().bound_depth(0).map(|_| after(20)).io_await().on(&pool).for_each(|()| {
            spin(Duration::from_millis(1));
            leaves[pool.current_thread_index().unwrap()].fetch_add(1, Relaxed);
        });
        let leaves = leaves.map(AtomicUsize::into_inner);
        println!("{leaves:?}");
        assert_eq!(leaves.iter().sum::<usize>(), 256);
        leaves
    };
    let are_shared = (0..10).any(|_| run().iter().all(|&n| n <= 205));
    assert!(are_shared, "one of 2 workers ran more than 205 leaves in every try");
}

fn small_stacks(threads: usize) -> ThreadPool {
    ThreadPoolBuilder::new().num_threads(threads).stack_size(256 << 10).build().unwrap()
}

/// W11: a hundred thousand futures wait at once, on threads with small stacks, in trees of all shapes.
#[test]
fn a_hundred_thousand_wait() {
    const LEN: u64 = 100_000;
    for threads in [1, 3] {
        let pool = small_stacks(threads);
        let begun = AtomicUsize::new(0);
        // Whether the gate is open, and the wakers of the futures that wait for it.
        let gate: Mutex<(bool, Vec<Waker>)> = Mutex::default();
        let wait = |x: u64| {
            let (begun, gate) = (&begun, &gate);
            async move {
                begun.fetch_add(1, Relaxed);
                poll_fn(|context| {
                    let (is_open, waiting) = &mut *gate.lock().unwrap();
                    if *is_open {
                        return Poll::Ready(());
                    }
                    waiting.push(context.waker().clone());
                    Poll::Pending
                })
                .await;
                x
            }
        };
        std::thread::scope(|scope| {
            // No future is ready before the gate opens, so all that have begun by then wait at once.
            let opener = scope.spawn(|| {
                let since = Instant::now();
                while begun.load(Relaxed) < LEN as usize && since.elapsed() < Duration::from_secs(50) {
                    std::thread::sleep(Duration::from_millis(1));
                }
                let waiting = {
                    let mut gate = gate.lock().unwrap();
                    gate.0 = true;
                    std::mem::take(&mut gate.1)
                };
                let at_once = begun.load(Relaxed);
                waiting.into_iter().for_each(Waker::wake);
                at_once
            });
            let sum = pool.install(|| (0..LEN).into_par_iter().map(wait).io_await().unbounded().sum::<u64>());
            assert_eq!(sum, LEN * (LEN - 1) / 2);
            assert_eq!(opener.join().unwrap(), LEN as usize);
        });
        assert_settled(&pool);
    }
}

/// Places in the order, one behind the other, and dropped ones, need no stack either.
#[test]
fn long_chains_of_places() {
    const LEN: u64 = 30_000;
    let yields = |x: u64| async move {
        futures_lite::future::yield_now().await;
        x
    };
    for threads in [1, 2] {
        let pool = small_stacks(threads);
        pool.install(|| {
            let it = || (0..LEN).into_par_iter().map(yields).io_await();
            assert_eq!(it().max_in_flight(1).sum::<u64>(), LEN * (LEN - 1) / 2);
            assert_eq!(it().max_in_flight(3).bound_depth(0).count(), 30_000);
            assert!(
                it().max_in_flight(2)
                    .bound_depth(0)
                    .map(|x| if x < 27_000 { Some(1) } else { None })
                    .sum::<Option<u64>>()
                    .is_none()
            );
            let stopped = it()
                .max_in_flight(2)
                .bound_depth(0)
                .try_for_each(|x| if x < 27_000 { Ok(()) } else { Err(x) });
            assert!(stopped.is_err());
            let panicked = std::panic::catch_unwind(|| {
                it().max_in_flight(2).bound_depth(0).for_each(|x| {
                    if x == 27_000 {
                        std::panic::resume_unwind(Box::new(()));
                    }
                });
            });
            assert!(panicked.is_err());
        });
        assert_settled(&pool);
    }
}

/// A small computation that waits.
fn awaited(pool: &ThreadPool) -> u64 {
    (0..20_u64)
        .into_par_iter()
        .map(|x| async move {
            after(x % 3).await;
            x
        })
        .io_await()
        .on(pool)
        .sum()
}

/// W14: from outside, from a worker, from another pool's worker, from a poll of another executor, and from a poll of
/// our own.
#[test]
fn from_everywhere() {
    for one in pools() {
        assert_eq!(awaited(one), 190);
        assert_eq!(one.install(|| awaited(one)), 190);
        for other in pools() {
            assert_eq!(other.install(|| awaited(one)), 190);
        }
        assert_eq!(futures_lite::future::block_on(async { awaited(one) }), 190);
        assert_eq!(async_io::block_on(async { awaited(one) }), 190);
        assert_eq!(furcate::block_on(async { awaited(one) }), 190);
        assert_eq!(one.install(|| furcate::block_on(async { awaited(one) })), 190);
        assert_eq!(std::thread::scope(|scope| scope.spawn(|| awaited(one)).join().unwrap()), 190);
        let (a, b) = one.install(|| furcate::join(|| awaited(one), || awaited(one)));
        assert_eq!((a, b), (190, 190));
    }
}

/// A root in every closure and in every poll of another root, also in those of its futures, on the same pool or
/// another.
#[test]
fn nested() {
    for one in pools() {
        for other in [one, &pools()[0], &pools()[1]] {
            let before = |x: u64| awaited(other) - 190 + x;
            let within = |x: u64| async move {
                after(1).await;
                let sum = awaited(other);
                futures_lite::future::yield_now().await;
                x + awaited(other) - sum
            };
            let chain = (0..12_u64).into_par_iter().map(before).map(within).io_await();
            let sum = chain
                .map(|x| awaited(other) - 190 + x)
                .on(one)
                .reduce_with(|a, b| awaited(other) - 190 + a + b);
            assert_eq!(sum, Some(66));
        }
    }
}

/// A task that is woken while its worker is in a nested call waits for its turn, but not for ever.
#[test]
fn nested_deep() {
    fn deep(pool: &ThreadPool, levels: u64) -> u64 {
        if levels == 0 {
            return 1;
        }
        (0..3_u64)
            .into_par_iter()
            .map(|x| async move {
                after(x).await;
                x
            })
            .io_await()
            .max_in_flight(2)
            .on(pool)
            .map(|_| deep(pool, levels - 1))
            .sum()
    }
    for pool in pools() {
        assert_eq!(deep(pool, 4), 81);
        assert_eq!(pool.install(|| deep(pool, 4)), 81);
    }
}

/// A future that a chain awaits, and that waits for a chain of the global pool.
#[test]
fn locks_are_not_held_around_user_code() {
    let shared = std::sync::Mutex::new(0);
    for pool in pools() {
        (0..200)
            .into_par_iter()
            .map(|x| {
                let shared = &shared;
                async move {
                    *shared.lock().unwrap() += 1;
                    after(x % 2).await;
                    *shared.lock().unwrap() += 1;
                }
            })
            .io_await()
            .max_in_flight(9)
            .on(pool)
            .for_each(|()| *shared.lock().unwrap() += 1);
    }
    assert_eq!(shared.into_inner().unwrap(), 4 * 600);
}
