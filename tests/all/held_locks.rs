//! A job that holds a lock of the program while it waits in the pool continues, even if all other threads of the pool
//! block on that lock.
#![cfg(not(furcate_rayon))]

use crate::support::{LONG, within};
use furcate::prelude::*;
use furcate::{ThreadPool, ThreadPoolBuilder, WaitRule, block_on, join, scope, spawn_future};
use std::cell::Cell;
use std::rc::Rc;
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

const RULES: [WaitRule; 2] = [WaitRule::Descendants, WaitRule::Leapfrog];

async fn timer(milliseconds: u64) -> u64 {
    async_io::Timer::after(Duration::from_millis(milliseconds)).await;
    milliseconds
}

fn pool(threads: usize, rule: WaitRule) -> ThreadPool {
    ThreadPoolBuilder::new().num_threads(threads).wait_rule(rule).build().expect("a pool")
}

/// Every item adds the result of `wait` to a sum, under a lock that it takes before it waits.
fn sum_under_a_lock(pool: &ThreadPool, items: u64, wait: impl Fn() -> u64 + Send + Sync) -> u64 {
    let sum = Mutex::new(0);
    (0..items).into_par_iter().with_max_len(1).on(pool).for_each(|_| {
        let mut sum = sum.lock().unwrap();
        *sum += wait();
    });
    sum.into_inner().unwrap()
}

/// Checks the sum on pools of several sizes and rules, several times.
fn goes_on(items: u64, wait: impl Fn() -> u64 + Send + Sync + Copy + 'static, expected: u64) {
    within(LONG, move || {
        for rule in RULES {
            for threads in [1, 2, 3] {
                for takes_part in [true, false] {
                    let builder = ThreadPoolBuilder::new().num_threads(threads).wait_rule(rule);
                    let pool = builder.caller_takes_part(takes_part).build().expect("a pool");
                    assert_eq!(sum_under_a_lock(&pool, items, wait), items * expected, "{rule:?}, {threads}");
                }
            }
        }
    });
}

#[test]
fn block_on_under_a_held_lock() {
    goes_on(3, || block_on(timer(50)), 50);
}

#[test]
fn block_on_under_a_held_lock_with_many_items() {
    goes_on(12, || block_on(async { timer(3).await + timer(4).await }), 7);
}

#[test]
fn a_chain_that_waits_under_a_held_lock() {
    goes_on(3, || (0..4_u64).into_par_iter().map(|x| timer(10 + x)).io_await().sum(), 46);
}

#[test]
fn a_chain_that_waits_and_computes_under_a_held_lock() {
    let chain = || {
        let pages = (0..20_u64).into_par_iter().map(timer).io_await();
        pages.with_max_len(2).map(|x| (0..1000).into_par_iter().map(|_| x).max().unwrap()).sum()
    };
    goes_on(3, chain, 190);
}

#[test]
fn a_join_with_halves_that_wait_under_a_held_lock() {
    goes_on(
        4,
        || {
            let (a, b) = join(|| block_on(timer(20)), || block_on(timer(1)));
            let (c, d) = join(|| block_on(timer(20)), || 1);
            a + b + c + d
        },
        42,
    );
}

#[test]
fn a_scope_with_jobs_and_futures_under_a_held_lock() {
    goes_on(
        3,
        || {
            let sum = Mutex::new(0);
            let (add, future) = (|more| *sum.lock().unwrap() += more, async { timer(20).await });
            scope(|s| {
                let twenty = s.spawn_future(future);
                s.spawn(|s| {
                    s.spawn(|_| add(1));
                    add(block_on(timer(10)));
                });
                add(block_on(twenty));
            });
            let (a, b) = join(|| 1, || 2);
            sum.into_inner().unwrap() + a + b
        },
        34,
    );
}

#[test]
fn a_spawned_future_waited_for_under_a_held_lock() {
    goes_on(3, || block_on(spawn_future(timer(20))) + block_on(async { spawn_future(timer(5)).await }), 25);
}

#[test]
fn scopes_inside_scopes_under_a_held_lock() {
    let wait = || {
        let sum = Mutex::new(0);
        scope(|s| {
            s.spawn(|_| {
                let inner: u64 =
                    (1..=3_u64).into_par_iter().map(|x| async move { timer(x).await }).io_await().sum();
                *sum.lock().unwrap() += inner;
            });
            s.spawn(|_| *sum.lock().unwrap() += block_on(timer(10)));
        });
        sum.into_inner().unwrap()
    };
    goes_on(3, wait, 16);
}

#[test]
fn a_lock_held_by_a_caller_from_outside_while_its_chain_waits() {
    // The caller releases its slot while its own chain waits. Meanwhile, jobs that block on its lock take all slots.
    within(LONG, || {
        for threads in [1, 2, 3] {
            let pool = pool(threads, WaitRule::Descendants);
            let lock = Arc::new(Mutex::new(0));
            let mut held = lock.lock().unwrap();
            let chain = (0..8_u64).into_par_iter().map(|x| {
                let lock = Arc::clone(&lock);
                if x == 0 {
                    (0..threads).for_each(|_| {
                        let lock = Arc::clone(&lock);
                        pool.spawn(move || *lock.lock().unwrap() += 1);
                    });
                }
                timer(10 + x)
            });
            *held = chain.io_await().on(&pool).sum::<u64>();
            assert_eq!(*held, 108);
            drop(held);
            drop(pool);
            assert_eq!(*lock.lock().unwrap(), 108 + threads as u64);
        }
    });
}

#[test]
fn slots_that_are_taken_over_are_counted_and_few() {
    within(LONG, || {
        let pool = pool(2, WaitRule::Descendants);
        assert_eq!(sum_under_a_lock(&pool, 3, || block_on(timer(30))), 90);
        let taken = pool.stats().total().slots_taken_over;
        assert!((1..=12).contains(&taken), "{taken} slots were taken over");
        // Without a held lock no slot is taken over, except from a worker that is without a core for long.
        let taken = || {
            let pool = self::pool(2, WaitRule::Descendants);
            let items = (0..100).into_par_iter().with_max_len(1).on(&pool);
            assert_eq!(items.map(|_| block_on(timer(5))).sum::<u64>(), 500);
            pool.stats().total().slots_taken_over
        };
        assert!((0..5).any(|_| taken() == 0), "slots were taken over in every try");
    });
}

#[test]
fn block_on_takes_futures_that_stay_in_their_thread() {
    let here = || {
        let count = Rc::new(Cell::new(1));
        let kept = Rc::clone(&count);
        block_on(async move {
            for _ in 0..3 {
                timer(1).await;
                kept.set(kept.get() + 1);
            }
        });
        count.get()
    };
    assert_eq!(here(), 4);
    assert_eq!(pool(1, WaitRule::Descendants).install(here), 4);
}

#[test]
fn a_future_that_asks_for_turns_of_others_gives_them() {
    within(LONG, || {
        for rule in [WaitRule::Descendants, WaitRule::Leapfrog, WaitRule::Any] {
            for threads in [1, 2] {
                let pool = pool(threads, rule);
                pool.install(|| {
                    let (send, receive) = mpsc::channel();
                    furcate::spawn(move || send.send(7).unwrap());
                    let received = block_on(async {
                        loop {
                            if let Ok(received) = receive.try_recv() {
                                return received;
                            }
                            futures_lite::future::yield_now().await;
                        }
                    });
                    assert_eq!(received, 7, "{rule:?}, {threads} threads");
                });
            }
        }
    });
}
