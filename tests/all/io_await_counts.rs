//! I4 behind `io_await`: the number of calls and of futures in flight, and the number of items made ahead (W13).
//!
//! Not on the engine of rayon, which cannot suspend.
#![cfg(not(furcate_rayon))]

use crate::support::{Ways, after, assert_settled, pool};
use furcate::prelude::*;
use std::future::{poll_fn, ready};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::task::{Poll, Waker};
use std::time::{Duration, Instant};
use testkit::time::{until, within};

/// The present number of something, and the greatest number so far.
#[derive(Default)]
struct Gauge {
    now: AtomicUsize,
    most: AtomicUsize,
    ever: AtomicUsize,
}

impl Gauge {
    fn enter(&self) -> Inside<'_> {
        self.ever.fetch_add(1, Relaxed);
        self.most.fetch_max(self.now.fetch_add(1, Relaxed) + 1, Relaxed);
        Inside(self)
    }

    fn most(&self) -> usize {
        self.most.load(Relaxed)
    }
}

struct Inside<'a>(&'a Gauge);

impl Drop for Inside<'_> {
    fn drop(&mut self) {
        self.0.now.fetch_sub(1, Relaxed);
    }
}

#[test]
fn ready_futures_cost_no_suspension() {
    for threads in [1, 2, 8] {
        let pool = pool(threads);
        let sum = pool.install(|| {
            (0..1000_u64).into_par_iter().map(ready).io_await().map(ready).io_await().sum::<u64>()
        });
        assert_eq!(sum, 499_500);
        let total = pool.stats().total();
        assert_eq!(
            (total.ready, total.polls, total.suspensions, total.resumes),
            (2000, 2000, 0, 0),
            "{total:?}"
        );
    }
}

#[test]
fn every_pending_future_is_one_suspension() {
    for threads in [1, 2, 8] {
        let pool = pool(threads);
        let yields = |x: u64| async move {
            futures_lite::future::yield_now().await;
            x
        };
        let sum = pool.install(|| (0..1000_u64).into_par_iter().map(yields).io_await().sum::<u64>());
        assert_eq!(sum, 499_500);
        let total = pool.stats().total();
        let counts = (total.ready, total.polls, total.suspensions, total.resumes, total.cancelled);
        assert_eq!(counts, (0, 2000, 1000, 1000, 0), "{total:?}");
    }
}

/// Every closure is called once for every item, and identities at most once for every part, whatever the way of
/// waiting.
#[test]
fn every_closure_once() {
    for ways in [Ways::Ready, Ways::Yields, Ways::Timers, Ways::Threads, Ways::Mixed(7)] {
        for (threads, bound) in [(1, 3), (2, 1), (2, 64), (3, 1000), (8, 20)] {
            let pool = pool(threads);
            let calls: [AtomicUsize; 6] = Default::default();
            let call = |which: usize| _ = calls[which].fetch_add(1, Relaxed);
            let futures = (0..500_u64).into_par_iter().map(|x| {
                call(0);
                async move {
                    ways.wait(x).await;
                    call(1);
                    x
                }
            });
            let second = futures
                .io_await()
                .filter(|x| {
                    call(2);
                    x % 5 > 0
                })
                .map(|x| {
                    call(3);
                    ways.give(x, x)
                });
            let text = second
                .io_await()
                .max_in_flight(bound)
                .on(&pool)
                .map(|x| {
                    call(4);
                    vec![x]
                })
                .reduce_with(|mut a, b| {
                    call(5);
                    a.extend(b);
                    a
                });
            assert_eq!(text, Some((0..500).filter(|x| x % 5 > 0).collect()));
            let calls = calls.map(AtomicUsize::into_inner);
            assert_eq!(calls, [500, 500, 500, 400, 400, 399], "{ways:?} on {threads}");
            assert_settled(&pool);
        }
    }
}

/// Futures in flight are never more than the bound, whatever the way of waiting.
#[test]
fn in_flight_is_bounded() {
    for ways in [Ways::Yields, Ways::Threads, Ways::Mixed(3)] {
        for (threads, bound) in [(1, 1), (1, 5), (2, 1), (3, 2), (3, 7), (8, 3), (8, 40)] {
            let (pool, gauge) = (pool(threads), Gauge::default());
            let begin = |x: u64| {
                let gauge = &gauge;
                async move {
                    let _inside = gauge.enter();
                    ways.wait(x).await;
                    x
                }
            };
            let one = || (0..100_u64).into_par_iter().map(begin).io_await();
            let many =
                || (0..25_u64).into_par_iter().flat_map_iter(|x| 4 * x..4 * x + 4).map(begin).io_await();
            let counts = [
                one().max_in_flight(bound).on(&pool).count(),
                many().max_in_flight(bound).on(&pool).count(),
                many().map(begin).io_await().max_in_flight(bound).on(&pool).count(),
                many().flat_map_iter(|x| [x, x]).map(begin).io_await().max_in_flight(bound).on(&pool).count(),
                one().max_in_flight(bound).by_blocks([3, 90]).on(&pool).count(),
                one().max_in_flight(bound).chain(one()).size_limit(1).on(&pool).count(),
            ];
            assert_eq!(counts, [100, 100, 100, 200, 100, 200]);
            assert!(gauge.most() <= bound, "{} in flight, bound {bound}", gauge.most());
            assert_eq!(gauge.now.load(Relaxed), 0);
            assert_settled(&pool);
        }
    }
}

/// The number of futures in flight reaches its bound.
#[test]
fn the_bound_is_reached() {
    for (threads, bound) in [(1, 10), (2, 10), (3, 64)] {
        let (pool, gauge, turns) = (pool(threads), Gauge::default(), Turns::default());
        let wait = |_: u64| async {
            let _inside = gauge.enter();
            turns.wait().await;
        };
        let items = || (0..5 * bound as u64).into_par_iter();
        let call = || items().map(wait).io_await().max_in_flight(bound).on(&pool).for_each(drop);
        std::thread::scope(|threads| {
            let call = threads.spawn(call);
            // No permit stays unused until a turn ends: an unused one would make a sixth turn.
            assert_eq!(turns.run(bound, 5 * bound, Duration::from_secs(20)), 5);
            call.join().unwrap();
        });
        assert_eq!(gauge.most(), bound);
        let counted = |pool: &furcate::ThreadPool| pool.stats().total().waits_for_room;
        let waits = counted(&pool);
        assert!((1..=5 * bound as u64).contains(&waits), "{waits} waits for room");
        (0..100_u64).into_par_iter().map(|_| after(20)).io_await().unbounded().on(&pool).for_each(drop);
        assert_eq!(counted(&pool), waits, "there was room");
    }
}

/// The first items begin before later ones, though the first one comes late.
#[test]
fn the_first_items_begin_first() {
    const BOUND: usize = 16;
    for threads in [2, 4] {
        let pool = pool(threads);
        let begin_first = || {
            let (begun, is_first) = (AtomicUsize::new(0), AtomicBool::new(true));
            let ends = |x: usize| {
                if x == 0 {
                    // Thieves have time to begin others.
                    std::thread::sleep(Duration::from_millis(1));
                }
                let (begun, is_first) = (&begun, &is_first);
                async move {
                    if begun.fetch_add(1, Relaxed) < BOUND && x >= BOUND {
                        is_first.store(false, Relaxed);
                    }
                    after(1).await;
                }
            };
            let items = (0..64_usize).into_par_iter().map(ends).io_await().max_in_flight(BOUND);
            assert_eq!(items.on(&pool).count(), 64);
            is_first.into_inner()
        };
        // A thread that lacks a core for 10 ms lets the others go first.
        let first = (0..100).filter(|_| begin_first()).count();
        assert!(first > 80, "in {first} of 100 calls");
    }
}

/// No thread waits for ever for a first item that blocks before its first wait: here until a later item has begun.
#[test]
fn later_items_begin_beside_a_first_one_that_blocks() {
    for threads in [2, 4] {
        let call = move || {
            let has_begun = AtomicBool::new(false);
            let ends = |x: usize| {
                if x == 0 {
                    until(|| has_begun.load(Relaxed));
                }
                has_begun.fetch_or(x >= 32, Relaxed);
                async move { x }
            };
            let items = (0..64_usize).into_par_iter().map(ends).io_await().max_in_flight(4);
            assert_eq!(items.on(&pool(threads)).count(), 64);
        };
        within(Duration::from_secs(60), call);
    }
}

/// Work behind the await is not in flight: more items are folded at once than the bound says.
#[test]
fn folding_is_not_in_flight() {
    let most = || {
        let (pool, folding) = (pool(2), Gauge::default());
        (0..20_u64).into_par_iter().map(|_| after(1)).io_await().max_in_flight(1).on(&pool).for_each(|()| {
            let _inside = folding.enter();
            std::thread::sleep(Duration::from_millis(10));
        });
        folding.most()
    };
    // On a busy machine one of the two workers may be without a core for the whole call.
    assert!((0..20).any(|_| most() >= 2), "never two at once");
}

/// Items are not made long before there is room for their futures: at most the bound, and a few for every task that has
/// begun.
#[test]
fn items_are_not_made_far_ahead() {
    for (threads, bound) in [(1, 1), (1, 4), (2, 1), (2, 10), (3, 3), (8, 30)] {
        let (pool, made) = (pool(threads), Gauge::default());
        let sum = (0..400_u64)
            .into_par_iter()
            .map(|x| {
                let made = made.enter();
                async move {
                    let _made = made;
                    after(1 + x % 2).await;
                    x
                }
            })
            .io_await()
            .max_in_flight(bound)
            .on(&pool)
            .sum::<u64>();
        assert_eq!((sum, made.ever.load(Relaxed)), (79_800, 400));
        assert!(made.most() <= bound + 4 * threads, "{} made, bound {bound} on {threads}", made.most());
    }
}

/// Futures that wait for the end of a turn. A turn ends when as many futures wait as may be in flight, or when no more
/// come.
#[derive(Default)]
struct Turns {
    waiting: Mutex<Vec<(Arc<AtomicBool>, Waker)>>,
}

impl Turns {
    /// Returns when the turn ends in which this future was first polled.
    async fn wait(&self) {
        let mut over = None::<Arc<AtomicBool>>;
        poll_fn(|context| match &over {
            Some(over) if over.load(Relaxed) => Poll::Ready(()),
            Some(_) => Poll::Pending,
            None => {
                let over = Arc::clone(over.insert(Arc::default()));
                self.waiting.lock().unwrap().push((over, context.waker().clone()));
                Poll::Pending
            }
        })
        .await;
    }

    /// Ends turns of `most` futures until `futures` have waited. A turn of fewer futures ends when none has come for
    /// `patience`. Returns the number of turns.
    fn run(&self, most: usize, futures: usize, patience: Duration) -> usize {
        let (mut turns, mut ended) = (0, 0);
        while ended < futures {
            let (mut before, mut since) = (0, Instant::now());
            loop {
                let waiting = self.waiting.lock().unwrap().len();
                if waiting != before {
                    (before, since) = (waiting, Instant::now());
                }
                if waiting == most || waiting > 0 && since.elapsed() > patience {
                    break;
                }
                std::thread::sleep(Duration::from_micros(200));
            }
            let over = std::mem::take(&mut *self.waiting.lock().unwrap());
            assert!(over.len() <= most, "{} in flight, bound {most}", over.len());
            ended += over.len();
            turns += 1;
            for (over, waker) in over {
                over.store(true, Relaxed);
                waker.wake();
            }
        }
        turns
    }
}

/// Items with several futures get permits in turns. So the number of futures in flight stays at its bound, to the end:
/// 72 items with 8 futures and 64 permits take 9 turns, or a few more, because the task that begins new items runs
/// beside those that continue with begun ones. If 64 items kept their permits, these would take 8 turns, and the other
/// 8 items 8 more.
#[test]
fn items_with_several_futures_get_permits_in_turns() {
    const BOUND: usize = 64;
    const ITEMS: usize = 72;
    for (workers, shared) in [(1, false), (2, true), (4, false), (4, true)] {
        let (pool, turns, limit) = (pool(workers), Turns::default(), furcate::Limit::new(BOUND));
        let wait = |x: usize| {
            let turns = &turns;
            async move {
                turns.wait().await;
                x
            }
        };
        let call = || {
            let two = (0..ITEMS).into_par_iter().map(wait).io_await();
            let two = if shared { two.limit(&limit) } else { two.max_in_flight(BOUND) };
            let four = two.map(wait).io_await().map(wait).io_await().map(wait).io_await();
            let eight = four.map(wait).io_await().map(wait).io_await().map(wait).io_await();
            eight.map(wait).io_await().on(&pool).sum::<usize>()
        };
        std::thread::scope(|threads| {
            let call = threads.spawn(call);
            let turns = turns.run(BOUND, 8 * ITEMS, Duration::from_millis(500));
            assert!((9..=13).contains(&turns), "{turns} turns on {workers} workers, shared: {shared}");
            assert_eq!(call.join().unwrap(), ITEMS * (ITEMS - 1) / 2);
        });
        assert_settled(&pool);
    }
}

/// Items that have begun and not ended are at most twice as many as may be in flight.
#[test]
fn items_under_way_are_at_most_twice_as_many_as_permits() {
    for (threads, bound) in [(1, 1), (1, 10), (2, 3), (3, 20), (8, 20)] {
        for shared in [false, true] {
            let (pool, items, limit) = (pool(threads), Gauge::default(), furcate::Limit::new(bound));
            let in_flight = Gauge::default();
            let wait = |item| {
                let in_flight = &in_flight;
                async move {
                    let _inside = in_flight.enter();
                    after(1).await;
                    item
                }
            };
            let one = (0..150_u64).into_par_iter().map(|_| wait(items.enter())).io_await();
            let one = if shared { one.limit(&limit) } else { one.max_in_flight(bound) };
            let four = one.map(wait).io_await().map(wait).io_await().map(wait).io_await();
            assert_eq!(four.map(drop).on(&pool).count(), 150);
            assert!(in_flight.most() <= bound, "{} in flight, bound {bound} on {threads}", in_flight.most());
            // Items that are folded are not in flight.
            let most = 2 * bound + threads;
            assert!(items.most() <= most, "{} under way, bound {bound} on {threads}", items.most());
            assert_settled(&pool);
        }
    }
}

/// Complete outputs have been reduced: memory is bounded by the futures in flight, not by the items so far.
#[test]
fn outputs_do_not_pile_up() {
    for ways in [Ways::Yields, Ways::Mixed(5)] {
        for (threads, bound) in [(1, 1), (1, 5), (2, 1), (2, 30), (3, 100)] {
            let (pool, outputs) = (pool(threads), Gauge::default());
            let it = (0..2000_u64).into_par_iter().bound_depth(1).map(|x| ways.give(x, x));
            let all = it.io_await().max_in_flight(bound).on(&pool);
            let count = all.map(|_| (1, outputs.enter())).reduce_with(|a, b| (a.0 + b.0, a.1));
            assert_eq!(count.map(|(count, _)| count), Some(2000));
            // Two tasks' trees, and the siblings of every pending item: 8 levels, and rows of 16.
            let most = (8 + 16) * (2 + bound + threads);
            assert!(outputs.most() <= most, "{} outputs, bound {bound} on {threads}", outputs.most());
        }
    }
}

/// W13: bounded chains in bounded chains end, also with bounds below the number of threads. (`cap` does not compile
/// there.)
#[test]
fn bounded_in_bounded() {
    for threads in [1, 2, 3, 8] {
        for bound in [1, 2, 5] {
            let (pool, outer, inner) = (pool(threads), Gauge::default(), Gauge::default());
            let sum = pool.install(|| {
                let waits = |x: u64| {
                    let inside = &outer;
                    async move {
                        let _inside = inside.enter();
                        after(1).await;
                        x
                    }
                };
                (0..20_u64)
                    .into_par_iter()
                    .map(waits)
                    .io_await()
                    .max_in_flight(bound)
                    .map(|x| {
                        let calls = Gauge::default();
                        let waits = |y: u64| {
                            let (inner, calls) = (&inner, &calls);
                            async move {
                                let (_inner, _call) = (inner.enter(), calls.enter());
                                futures_lite::future::yield_now().await;
                                y
                            }
                        };
                        let n = (0..x).into_par_iter().map(waits).io_await().max_in_flight(bound).count();
                        assert!(calls.most() <= bound);
                        n as u64
                    })
                    .sum::<u64>()
            });
            assert_eq!(sum, 190);
            assert!(outer.most() <= bound && inner.ever.load(Relaxed) == 190);
            assert_settled(&pool);
        }
    }
}
