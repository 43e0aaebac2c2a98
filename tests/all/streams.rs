//! Streams as parallel iterators: the stream's items come out, no item is taken before a task continues with it,
//! and nothing is left when one side goes away.
//!
//! Not on the engine of rayon, which cannot suspend.
#![cfg(not(furcate_rayon))]

use crate::support::streams::{ALL_WAYS, Counted, assert_three_at_once, census, numbers, pools, sorted};
use crate::support::{LONG, Ways, a_minute, after, assert_settled, pool, within};
use furcate::prelude::*;
use furcate::stream::Stream;
use furcate::{Limit, ThreadPool};
use futures_lite::{StreamExt, future, stream};
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

#[test]
fn a_bridge_gives_every_item_once() {
    for pool in pools() {
        for ways in ALL_WAYS {
            for n in [0, 1, 2, 100] {
                let items: Vec<u64> = numbers(n, ways).par_bridge_async().map(|x| 2 * x).on(&pool).collect();
                assert_eq!(sorted(items), (0..n).map(|x| 2 * x).collect::<Vec<_>>(), "{n} {ways:?}");
            }
        }
        assert_settled(&pool);
    }
}

/// Several threads run the items of a stream that is always ready.
#[test]
fn a_ready_stream_runs_in_parallel() {
    assert_three_at_once(|pool, busy| {
        numbers(200, Ways::Ready).par_bridge_async().on(pool).for_each(|_| busy.sleep(2));
    });
}

/// Several threads run the items of a stream that yields them one by one.
#[test]
fn a_slow_stream_runs_in_parallel() {
    assert_three_at_once(|pool, busy| {
        numbers(60, Ways::Timers).par_bridge_async().on(pool).for_each(|_| busy.sleep(10));
    });
}

/// Engines that cannot suspend block their threads.
#[test]
fn bridges_on_other_engines() {
    for ways in ALL_WAYS {
        let items: Vec<u64> = numbers(100, ways).par_bridge_async().on(furcate::Inline).collect();
        assert!(items.into_iter().eq(0..100), "one thread keeps the order");
        assert_eq!(numbers(100, ways).par_bridge_async().on(furcate::Rayon).sum::<u64>(), 4950);
    }
}

/// No item is taken before a task continues with it.
#[test]
fn a_bridge_takes_what_it_runs() {
    for bound in [1, 2, 7] {
        let (pool, census) = (pool(2), census());
        let items = numbers(300, Ways::Ready).map(|x| census.make(x)).par_bridge_async();
        let slow = |item: Counted| async move {
            after(1).await;
            item.value
        };
        let sum: u64 = items.map(slow).io_await().max_in_flight(bound).on(&pool).sum();
        assert_eq!(sum, 44_850);
        assert!(census.most.load(Relaxed) <= bound, "{} > {bound}", census.most.load(Relaxed));
    }
}

/// The named bound also holds for an await behind it that has no bound of its own.
#[test]
fn a_bound_is_passed_on() {
    let (pool, census) = (pool(2), census());
    let items = numbers(100, Ways::Ready).map(|x| census.make(x)).par_bridge_async().max_in_flight(3);
    let sum: u64 = items
        .map(|item| async move {
            after(1).await;
            item
        })
        .io_await()
        .map(|item| async move {
            after(1).await;
            item.value
        })
        .io_await()
        .on(&pool)
        .sum();
    assert_eq!(sum, 4950);
    // Two more items may be being folded, and are not in flight any more.
    assert!(census.most.load(Relaxed) <= 3 + 2, "{}", census.most.load(Relaxed));
}

/// Folded items are reduced on the way, and do not wait for the end.
#[test]
fn a_long_stream_keeps_little() {
    for bound in [1, 4, 64] {
        let (pool, census) = (pool(2), census());
        let first = |left: Counted, _: Counted| left;
        let items = numbers(20_000, Ways::Yields).par_bridge_async().max_in_flight(bound);
        items.map(|x| census.make(x)).on(&pool).reduce(|| census.make(0), first);
        let range = (0..20_000).into_par_iter().map(|x| Ways::Yields.give(x, x));
        range
            .io_await()
            .max_in_flight(bound)
            .map(|x| census.make(x))
            .on(&pool)
            .reduce(|| census.make(0), first);
        let most = census.most.load(Relaxed);
        // A logarithm for every task of the division, of 20,000.
        assert!(most < 500 + 10 * bound, "{most} with {bound} in flight");
    }
}

#[test]
fn endless_streams_end_with_the_search() {
    for pool in pools() {
        for ways in ALL_WAYS {
            let found = numbers(u64::MAX, ways).par_bridge_async().on(&pool).find_any(|&x| x % 50 == 49);
            assert_eq!(found.map(|x| x % 50), Some(49));
            let taken = numbers(u64::MAX, ways).par_bridge_async().take_any(30).on(&pool).count();
            assert_eq!(taken, 30, "{ways:?}");
        }
        assert_settled(&pool);
    }
}

/// The search ends even if no more items come.
#[test]
fn a_stream_that_hangs_does_not_hold_a_search() {
    let begun = Instant::now();
    let hangs = || {
        numbers(20, Ways::Yields).chain(stream::once_future(async {
            a_minute().await;
            99
        }))
    };
    assert_eq!(hangs().par_bridge_async().find_any(|&x| x == 15), Some(15));
    // The items have no order, so any hit is the first one. On several threads, a task that hangs may lie before many
    // others.
    for pool in pools() {
        for _ in 0..20 {
            let found = hangs().par_bridge_async().on(&pool).find_first(|&x| x == 15);
            assert_eq!(found, Some(15));
            let twice = hangs().par_bridge_async().map(|x| async move { x }).io_await().on(&pool);
            assert!(twice.filter(|x| x % 2 > 0).find_first(|&x| x > 15).is_some());
            let found =
                hangs().par_bridge_async().max_in_flight(1).on(&pool).find_map_first(|x| x.checked_sub(19));
            assert_eq!(found, Some(0));
            let last = hangs().par_bridge_async().on(&pool).find_last(|&x| x >= 15);
            assert!(last.is_some_and(|x| (15..20).contains(&x)));
        }
        let found = hangs().par_bridge_async().async_find_first(|&x| x == 15);
        assert_eq!(futures_lite::future::block_on(found), Some(15));
        assert_settled(&pool);
    }
    assert_eq!(hangs().par_bridge_async().take_any(20).count(), 20);
    let token = furcate::policy::CancelToken::new();
    let stopped = hangs()
        .par_bridge_async()
        .inspect(|&x| {
            if x == 19 {
                token.cancel()
            }
        })
        .stop_on(&token)
        .count();
    assert!(stopped.is_err());
    assert!(begun.elapsed() < Duration::from_secs(20));
}

#[test]
fn bridges_inside_workers_and_other_runtimes() {
    let expected = 499_500;
    let sum = || numbers(1000, Ways::Yields).par_bridge_async().sum::<u64>();
    let pool = pool(2);
    assert_eq!(pool.install(sum), expected);
    assert_eq!(pool.install(|| furcate::join(sum, sum)), (expected, expected));
    assert_eq!(future::block_on(async { sum() }), expected);
}

#[test]
fn a_panic_ends_a_bridge() {
    let begun = Instant::now();
    for threads in [1, 2, 3] {
        let (pool, census) = (pool(threads), census());
        for (in_stream, in_map, in_future) in
            [(true, false, false), (false, true, false), (false, false, true)]
        {
            let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                let items = numbers(u64::MAX, Ways::Mixed(3)).map(|x| {
                    assert!(!(in_stream && x == 60), "the stream");
                    census.make(x)
                });
                let checked = |item: Counted| {
                    assert!(!(in_map && item.value == 60), "the map");
                    async move {
                        if item.value % 4 == 1 {
                            a_minute().await;
                        }
                        assert!(!(in_future && item.value == 60), "the future");
                        item.value
                    }
                };
                items.par_bridge_async().map(checked).io_await().on(&pool).sum::<u64>()
            }));
            let message = result.unwrap_err();
            let expected = if in_stream {
                "the stream"
            } else if in_map {
                "the map"
            } else {
                "the future"
            };
            assert_eq!(*message.downcast::<&str>().unwrap(), expected);
            assert_eq!(census.alive.load(Relaxed), 0);
        }
        assert_settled(&pool);
    }
    assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
}

/// A stream that counts its polls after its end.
struct Strict(u32, bool);

impl Stream for Strict {
    type Item = u32;

    fn poll_next(mut self: Pin<&mut Self>, _: &mut std::task::Context<'_>) -> std::task::Poll<Option<u32>> {
        assert!(!self.1, "polled after its end");
        self.1 = self.0 == 0;
        self.0 = self.0.saturating_sub(1);
        std::task::Poll::Ready((!self.1).then_some(1))
    }
}

#[test]
fn a_stream_is_not_polled_after_its_end() {
    for pool in pools() {
        assert_eq!(Strict(500, false).par_bridge_async().on(&pool).sum::<u32>(), 500);
    }
}

/// The next item comes only when the last one has ended. So an item must not wait for a permit that a task holds while
/// it waits for the stream.
#[test]
fn an_item_goes_on_while_the_stream_waits_for_it() {
    fn run(pool: &ThreadPool, bound: usize, limit: &Limit, ways: Ways) {
        let ended = AtomicU64::new(0);
        let items = stream::unfold(0, |x| {
            let ended = &ended;
            async move {
                while ended.load(Relaxed) < x {
                    after(1).await;
                }
                (x < 10).then_some((x, x + 1))
            }
        });
        let wait = |x: u64| ways.give(x + 1, x);
        let two = Box::pin(items).par_bridge_async().map(wait).io_await().map(wait).io_await();
        let three = two.map(wait).io_await().max_in_flight(bound).limit(limit).on(pool);
        assert_eq!(three.map(|_| ended.fetch_add(1, Relaxed)).count(), 10);
        assert_settled(pool);
        assert_eq!((limit.in_use(), limit.waiting()), (0, 0));
    }
    within(LONG, || {
        for pool in pools() {
            for ways in [Ways::Ready, Ways::Yields, Ways::Timers] {
                for bound in [1, 3] {
                    run(&pool, bound, &Limit::new(100), ways);
                    for permits in [1, 2] {
                        run(&pool, bound, &Limit::new(permits), ways);
                        run(&pool, bound, &Limit::new(permits).per_second(2000), ways);
                    }
                }
            }
        }
    });
}
