//! The results of `io_await` equal the results of a loop that awaits one future after the other.
//!
//! Not on the engine of rayon, which cannot suspend.
#![cfg(not(furcate_rayon))]

use crate::support::{after, pool};
use furcate::policy::CancelToken;
use furcate::prelude::*;
use futures_lite::future::{self, yield_now};
use std::collections::HashSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};

#[test]
fn ready_at_once() {
    for n in [0, 1, 2, 100] {
        let sum: u64 = (0..n).into_par_iter().map(|x| async move { x }).io_await().sum();
        assert_eq!(sum, (0..n).sum::<u64>());
    }
}

#[test]
fn pending_in_order() {
    for threads in [1, 2, 3, 8] {
        let pool = pool(threads);
        for n in [0_u64, 1, 2, 3, 7, 100, 1000] {
            let squares: Vec<u64> = (0..n)
                .into_par_iter()
                .map(|x| async move {
                    if x % 3 > 0 {
                        after(x % 7).await;
                    }
                    x * x
                })
                .io_await()
                .on(&pool)
                .collect();
            assert_eq!(squares, (0..n).map(|x| x * x).collect::<Vec<_>>());
        }
        let total = pool.stats().total();
        assert_eq!(total.suspensions, total.resumes + total.cancelled);
        assert!(total.suspensions > 500, "{total:?}");
    }
}

#[test]
fn latency_is_hidden() {
    let begun = Instant::now();
    let sum: u64 = (0..2000_u64)
        .into_par_iter()
        .map(|x| async move {
            after(100).await;
            x
        })
        .io_await()
        .on(&pool(2))
        .sum();
    assert_eq!(sum, 1_999_000);
    // One after the other they would take 200 s.
    assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
}

#[test]
fn chained_awaits_and_borrows() {
    let data: Vec<String> = (0..200).map(|i| i.to_string()).collect();
    let lengths: Vec<usize> = data
        .par_iter()
        .map(|s| async move {
            after(1).await;
            s.as_str()
        })
        .io_await()
        .filter(|s| s.len() > 1)
        .map(|s| async move {
            future::yield_now().await;
            s.len()
        })
        .io_await()
        .flat_map_iter(|n| [n, n])
        .collect();
    let expected: Vec<usize> = data.iter().filter(|s| s.len() > 1).flat_map(|s| [s.len(), s.len()]).collect();
    assert_eq!(lengths, expected);
}

#[test]
fn in_flight_is_bounded() {
    for bound in [1, 2, 5, 64] {
        let (now, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let pool = pool(3);
        let sum = (0..300_u64)
            .into_par_iter()
            .flat_map_iter(|x| [2 * x, 2 * x + 1])
            .map(|x| {
                let (now, most) = (&now, &most);
                async move {
                    most.fetch_max(now.fetch_add(1, Relaxed) + 1, Relaxed);
                    if x % 5 > 0 {
                        future::yield_now().await;
                    }
                    now.fetch_sub(1, Relaxed);
                    x
                }
            })
            .io_await()
            .max_in_flight(bound)
            .on(&pool)
            .sum::<u64>();
        assert_eq!(sum, (0..600).sum::<u64>());
        assert!(most.into_inner() <= bound);
    }
}

#[test]
fn find_any_drops_what_waits() {
    let begun = Instant::now();
    let found = (0..1000_u64)
        .into_par_iter()
        .map(|x| async move {
            after(if x == 500 { 20 } else { 60_000 }).await;
            x
        })
        .io_await()
        .find_any(|&x| x == 500);
    assert_eq!(found, Some(500));
    assert!(begun.elapsed() < Duration::from_secs(20));
}

#[test]
fn a_panic_drops_what_waits() {
    let begun = Instant::now();
    let caught = std::panic::catch_unwind(|| {
        (0..1000_u64)
            .into_par_iter()
            .map(|x| async move {
                after(if x == 500 { 20 } else { 60_000 }).await;
                assert!(x != 500, "the one");
                x
            })
            .io_await()
            .sum::<u64>()
    });
    assert!(caught.is_err());
    assert!(begun.elapsed() < Duration::from_secs(20));
}

/// Stops are noticed while everything waits.
#[test]
fn stops_end_the_waiting() {
    use furcate::policy::{CancelToken, Reason};
    let waits = |short: u64| {
        (0..100_u64).into_par_iter().map(move |x| async move {
            after(if x < short { 1 } else { 60_000 }).await;
            x
        })
    };
    let begun = Instant::now();
    for round in 0..10 {
        let token = CancelToken::new();
        let seen = AtomicUsize::new(0);
        let interrupted = waits(10)
            .io_await()
            .inspect(|_| {
                if seen.fetch_add(1, Relaxed) == 9 {
                    token.cancel();
                }
            })
            .stop_on(&token)
            .sum::<u64>()
            .unwrap_err();
        assert_eq!((interrupted.reason(), *interrupted.done()), (Reason::Cancelled, 45), "round {round}");
        let interrupted = waits(10)
            .io_await()
            .deadline(Instant::now() + Duration::from_millis(30))
            .sum::<u64>()
            .unwrap_err();
        // On a busy machine the time may be over before all short waits have ended.
        assert_eq!(interrupted.reason(), Reason::DeadlineExceeded, "round {round}");
        assert!(*interrupted.done() <= 45, "round {round}");
        let later = Instant::now() + Duration::from_secs(600);
        assert!(waits(100).io_await().stop_on(&token).count().is_err());
        assert_eq!(waits(100).io_await().stop_on(&CancelToken::new()).deadline(later).count(), Ok(100));
    }
    assert!(begun.elapsed() < Duration::from_secs(50), "{:?}", begun.elapsed());
}

#[test]
fn timeouts_know_their_positions() {
    // The second of each four is late.
    let wait = |i: u64| async move {
        async_io::Timer::after(Duration::from_millis(if i % 4 == 1 { 60_000 } else { 1 })).await;
        i
    };
    let requests = || (0..8_u64).into_par_iter().map(wait).io_await().timeout(Duration::from_millis(50));
    let in_time = |(number, result): (usize, Result<u64, _>)| result.ok().map(|i| (number, i));
    let expected: Vec<_> = (0..8).filter(|i| i % 4 != 1).map(|i| (i as usize, i)).collect();
    assert_eq!(requests().enumerate().filter_map(in_time).collect::<Vec<_>>(), expected);
    assert_eq!(requests().map(|it| it).enumerate().filter_map(in_time).collect::<Vec<_>>(), expected);
    let names: Vec<String> = (0..8).map(|i| i.to_string()).collect();
    let late = requests().zip(&names).filter(|(result, _)| result.is_err()).map(|(_, name)| name.clone());
    assert_eq!(late.collect::<Vec<_>>(), ["1", "5"]);
    assert_eq!(requests().take(3).map(|result| result.is_ok()).collect::<Vec<_>>(), [true, false, true]);
    let token = CancelToken::new();
    let stoppable = (0..8_u64).into_par_iter().map(wait).stop_on(&token).io_await();
    assert_eq!(stoppable.timeout(Duration::from_millis(50)).filter(Result::is_ok).count(), Ok(6));
}

#[test]
fn timeouts_drop_what_is_late() {
    let begun = Instant::now();
    let items: Vec<_> = (0..60_u64)
        .into_par_iter()
        .map(|x| async move {
            match x % 3 {
                0 => {}
                1 => after(1).await,
                _ => after(60_000).await,
            }
            x
        })
        .io_await()
        .timeout(Duration::from_secs(3))
        .max_in_flight(40)
        .on(&pool(2))
        .collect();
    for (x, item) in (0..).zip(items) {
        if x % 3 < 2 {
            assert_eq!(item, Ok(x));
        } else {
            assert_eq!(item.unwrap_err().to_string(), "the time was over before the future was ready");
        }
    }
    assert!(begun.elapsed() < Duration::from_secs(30));
}

/// Behind `sequential` one task polls all futures for the first time, in their order. They wait at the same time, and
/// any worker folds their outputs.
#[test]
fn sequential_before_it_divides_nothing() {
    for threads in [1, 2, 4] {
        let (pool, order, threads_seen) = (pool(threads), Mutex::new(Vec::new()), Mutex::new(HashSet::new()));
        let begin = |x: u64| {
            let (order, threads_seen) = (&order, &threads_seen);
            async move {
                order.lock().unwrap().push(x);
                threads_seen.lock().unwrap().insert(thread::current().id());
                yield_now().await;
                x
            }
        };
        let items = (0..300_u64).into_par_iter().map(begin).size_limit(1);
        let numbers: Vec<_> = items.sequential().io_await().on(&pool).collect();
        assert!(numbers.into_iter().eq(0..300));
        let order = std::mem::take(&mut *order.lock().unwrap());
        assert!(order.into_iter().eq(0..300), "begun in order");
        assert_eq!(threads_seen.lock().unwrap().len(), 1);
        // The same holds for the second `io_await` of a chain.
        let twice = (0..300_u64).into_par_iter().map(begin).sequential().io_await().map(begin).io_await();
        assert_eq!(twice.on(&pool).count(), 300);
    }
}
