//! Chains on a pool that is built to be proactive: terminals, bounds, stops, panics and streams give what the sequential program gives,
//! though the rest of a leaf is suspended with each of its pending items.
//!
//! Not on the engine of rayon, which cannot suspend.
#![cfg(not(furcate_rayon))]

use crate::support::streams::{census, numbers};
use crate::support::{Ways, a_minute, after, assert_settled, assert_settles};
use furcate::policy::CancelToken;
use furcate::prelude::*;
use furcate::{Suspension, ThreadPool, ThreadPoolBuilder};
use futures_lite::future::yield_now;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::time::{Duration, Instant};
use testkit::drops::Ledger;
use testkit::panics::{planned_panic, quiet_panics};

const N: u64 = 90;
const WAYS: [Ways; 4] = [Ways::Yields, Ways::Timers, Ways::Threads, Ways::Mixed(7)];

fn pool_of(suspension: Suspension, threads: usize) -> ThreadPool {
    ThreadPoolBuilder::new().num_threads(threads).suspension(suspension).build().unwrap()
}

/// Pools of 1, 2 and 4 threads, and one whose thieves choose among all slots.
pub(crate) fn pools() -> impl Iterator<Item = ThreadPool> {
    let builder = ThreadPoolBuilder::new().num_threads(2).suspension(Suspension::Proactive);
    let uniform = builder.uniform_victims(true).build().unwrap();
    [1, 2, 4].into_iter().map(|threads| pool_of(Suspension::Proactive, threads)).chain([uniform])
}

/// Calls `check` with each pool, way to be ready, bound, and length of leaves. Each pool must have suspended deques.
fn in_all_ways(check: impl Fn(&ThreadPool, Ways, usize, usize)) {
    for pool in pools() {
        for way in WAYS {
            for (bound, leaf) in [(1, 7), (3, 7), (3, 1000), (1000, 7), (1000, 1000)] {
                check(&pool, way, bound, leaf);
            }
        }
        assert_settled(&pool);
        let stats = pool.stats();
        assert!(stats.total().suspended_deques > 0, "{:?}", stats.total());
        assert_eq!(stats.deques.live(), stats.workers.len() as u64, "deques are given back");
    }
}

/// The terminals under test: each with the chain of `0..N`, and with the sequential iterator.
macro_rules! terminals {
    ($($name:ident: |$it:ident| $terminal:expr, $expected:expr;)*) => {$(
        #[test]
        fn $name() {
            in_all_ways(|pool, way, bound, leaf| {
                let $it = (0..N)
                    .into_par_iter()
                    .size_limit(leaf)
                    .map(move |x| way.give(x, x))
                    .io_await()
                    .max_in_flight(bound)
                    .on(pool);
                assert_eq!($terminal, $expected, "{way:?}, {bound} in flight, leaves of {leaf}");
            });
        }
    )*};
}

fn concat(mut left: Vec<u64>, mut right: Vec<u64>) -> Vec<u64> {
    left.append(&mut right);
    left
}

terminals! {
    sum: |it| it.sum::<u64>(), N * (N - 1) / 2;
    collect: |it| it.collect::<Vec<_>>(), (0..N).collect::<Vec<_>>();
    collect_some: |it| it.filter(|x| x % 3 == 1).collect::<Vec<_>>(), (0..N).filter(|x| x % 3 == 1).collect::<Vec<_>>();
    collect_more: |it| it.flat_map_iter(|x| 0..x % 4).collect::<Vec<_>>(), (0..N).flat_map(|x| 0..x % 4).collect::<Vec<_>>();
    reduce_in_order: |it| it.map(|x| vec![x]).reduce(Vec::new, concat), (0..N).collect::<Vec<_>>();
    unzip: |it| it.map(|x| (x, x + 1)).unzip::<_, _, Vec<_>, Vec<_>>(), ((0..N).collect(), (1..=N).collect());
    find_first: |it| it.find_first(|x| x % 40 == 39), Some(39);
    find_last: |it| it.find_last(|x| x % 40 == 39), Some(79);
    find_any: |it| it.find_any(|x| x % 40 == 39).map(|x| x % 40), Some(39);
    find_none: |it| it.find_first(|x| *x > N), None;
    any: |it| it.any(|x| x == N - 1), true;
    all: |it| it.all(|x| x < N - 1), false;
    max: |it| it.max(), Some(N - 1);
    try_collect: |it| it.map(|x| if x == 50 { Err(x) } else { Ok(x) }).collect::<Result<Vec<_>, _>>(), Err::<Vec<u64>, _>(50);
    try_for_each: |it| it.try_for_each(|x| if x == 50 { Err(x) } else { Ok(()) }), Err(50);
    waits_twice: |it| it.map(|x| async move { yield_now().await; after(x % 2).await; x + 1 }).io_await().collect::<Vec<_>>(), (1..=N).collect::<Vec<_>>();
    finds_after_two_waits: |it| it.map(|x| async move { yield_now().await; x }).io_await().find_first(|x| x % 40 == 39), Some(39);
}

/// Behind a hit no more items begin than may be in flight, also far into a leaf whose first item still waits.
///
/// (If each rest of a leaf took half of the leaf's numbers, there would be none left after 64 pending items, and the search would go on.)
#[test]
fn a_hit_far_into_a_leaf_stops_the_rest() {
    const HIT: usize = 200;
    for threads in [1, 2] {
        let pool = pool_of(Suspension::Proactive, threads);
        let (begun, hit) = (AtomicUsize::new(0), AtomicBool::new(false));
        let found = (0..2000)
            .into_par_iter()
            .size_limit(10_000)
            .map(|x| {
                begun.fetch_add(1, SeqCst);
                let hit = &hit;
                async move {
                    yield_now().await;
                    if x == 0 {
                        while !hit.load(SeqCst) {
                            after(1).await;
                        }
                        after(200).await;
                    }
                    x
                }
            })
            .io_await()
            .max_in_flight(8)
            .on(&pool)
            .find_first(|&x| {
                hit.fetch_or(x == HIT, SeqCst);
                x >= HIT
            });
        assert_eq!(found, Some(HIT));
        let begun = begun.into_inner();
        assert!(begun <= HIT + 16, "{begun} items began, on {threads} threads");
        assert_settled(&pool);
    }
}

/// No more futures than the bound are in flight, and with one at a time they begin in order.
#[test]
fn bounds_hold() {
    for (pool, bound) in [1, 2, 5].into_iter().flat_map(|bound| pools().map(move |pool| (pool, bound))) {
        let (now, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let order = std::sync::Mutex::new(Vec::new());
        let count = (0..200_usize)
            .into_par_iter()
            .map(|x| {
                let (now, most, order) = (&now, &most, &order);
                async move {
                    order.lock().unwrap().push(x);
                    most.fetch_max(now.fetch_add(1, SeqCst) + 1, SeqCst);
                    Ways::Mixed(3).wait(x as u64).await;
                    now.fetch_sub(1, SeqCst);
                }
            })
            .io_await()
            .max_in_flight(bound)
            .on(&pool)
            .count();
        assert_eq!(count, 200);
        assert!(most.load(SeqCst) <= bound, "{most:?} in flight, {bound} allowed");
        if bound == 1 && pool.current_num_threads() == 1 {
            assert!(order.into_inner().unwrap().is_sorted());
        }
        assert_settled(&pool);
    }
}

/// A token, cancelled at any item, and a deadline end the call while its futures wait. A result that is `Ok` is whole.
#[test]
fn stops_end_calls_whose_rests_are_suspended() {
    for pool in pools() {
        for (at, leaf) in [0, 1, 5, 40, 89, 1000].into_iter().flat_map(|at| [7, 1000].map(|leaf| (at, leaf)))
        {
            let (token, begun) = (CancelToken::new(), AtomicUsize::new(0));
            let since = Instant::now();
            let chain = (0..N)
                .into_par_iter()
                .size_limit(leaf)
                .map(|x| {
                    let (token, begun) = (&token, &begun);
                    async move {
                        let waits = begun.fetch_add(1, SeqCst) % 3 == 1 && at < N;
                        yield_now().await;
                        if x == at {
                            token.cancel();
                        }
                        if waits {
                            a_minute().await;
                        }
                        x
                    }
                })
                .io_await();
            let deadline = Instant::now() + Duration::from_secs(20);
            let sum = chain.on(&pool).stop_on(&token).deadline(deadline).sum::<u64>();
            assert_eq!(sum.ok(), (at == 1000).then_some(N * (N - 1) / 2), "stopped at {at}");
            assert!(since.elapsed() < Duration::from_secs(15), "stopped at {at}");
            assert_settles(&pool);

            let deadline = Instant::now() + Duration::from_millis(3);
            let waits = (0..N).into_par_iter().size_limit(leaf).map(|_| a_minute()).io_await();
            assert!(waits.on(&pool).deadline(deadline).sum::<Unit>().is_err());
            assert_settles(&pool);
        }
        let stats = pool.stats();
        assert_eq!(stats.deques.live(), stats.workers.len() as u64, "deques are given back");
    }
}

/// A sum of nothings.
struct Unit;

impl std::iter::Sum<()> for Unit {
    fn sum<I: Iterator<Item = ()>>(items: I) -> Unit {
        items.for_each(drop);
        Unit
    }
}

impl std::iter::Sum for Unit {
    fn sum<I: Iterator<Item = Unit>>(items: I) -> Unit {
        items.for_each(drop);
        Unit
    }
}

/// The place in which the item of some number panics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Panics {
    Item,
    FirstPoll,
    LaterPoll,
    Fold,
    Reduce,
}

/// Every item is dropped once, before the call unwinds, while other items wait for a minute. The pool works on.
#[test]
fn panics_unwind_the_call_and_lose_nothing() {
    quiet_panics();
    for pool in pools() {
        for place in [Panics::Item, Panics::FirstPoll, Panics::LaterPoll, Panics::Fold, Panics::Reduce] {
            for (at, leaf) in [0, 1, 30, 89].into_iter().flat_map(|at| [7, 1000].map(|leaf| (at, leaf))) {
                let (ledger, items) = Ledger::items(N as usize);
                let panics = |x: usize, here: Panics| {
                    if x == at && place == here {
                        planned_panic();
                    }
                };
                let outcome = catch_unwind(AssertUnwindSafe(|| {
                    items
                        .into_par_iter()
                        .enumerate()
                        .size_limit(leaf)
                        .map(|(x, item)| {
                            panics(x, Panics::Item);
                            async move {
                                panics(x, Panics::FirstPoll);
                                yield_now().await;
                                panics(x, Panics::LaterPoll);
                                if x % 4 == 3 && x != at && place != Panics::Reduce {
                                    a_minute().await;
                                }
                                (x, x, item)
                            }
                        })
                        .io_await()
                        .map(|(from, to, item)| {
                            panics(from, Panics::Fold);
                            (from, to, vec![item])
                        })
                        .on(&pool)
                        .reduce_with(|(from, middle, mut left), (next, to, mut right)| {
                            assert_eq!(middle + 1, next);
                            if (from..=to).contains(&at) {
                                panics(at, Panics::Reduce);
                            }
                            left.append(&mut right);
                            (from, to, left)
                        })
                        .map(drop)
                }));
                assert!(outcome.is_err(), "{place:?} at {at}");
                ledger.assert_settled(&format!("{place:?} at {at}, leaves of {leaf}"));
                assert_settles(&pool);
                assert_eq!(pool.install(|| (0..100).into_par_iter().sum::<u64>()), 4950);
            }
        }
        let stats = pool.stats();
        assert_eq!(stats.deques.live(), stats.workers.len() as u64, "deques are given back");
    }
}

#[test]
fn streams_give_all_items() {
    for pool in pools() {
        for (way, bound) in WAYS.into_iter().flat_map(|way| [1, 4, 1000].map(|bound| (way, bound))) {
            let waits = || {
                let there = numbers(N, way).par_bridge_async().map(move |x| way.give(x + 1, x));
                there.io_await().max_in_flight(bound).map(|x| async move { way.give(x, x).await }).io_await()
            };
            assert_eq!(waits().on(&pool).sum::<u64>(), N * (N - 1) / 2, "{way:?}");
            let mut all = waits().on(&pool).collect::<Vec<_>>();
            all.sort_unstable();
            assert!(all.into_iter().eq(0..N), "{way:?}");
            assert_eq!(waits().on(&pool).find_any(|x| *x == 70), Some(70), "{way:?}");
        }
        assert_settles(&pool);
    }
}

/// The theory: steals and mugs are in O(P lg P + k) for k suspensions, with the span of a leaf as a constant. And waits take no threads.
#[test]
fn steals_and_mugs_are_bounded_by_suspensions() {
    for (suspension, threads) in [Suspension::Parsimonious, Suspension::Proactive]
        .into_iter()
        .flat_map(|it| [1, 2, 4].map(|p| (it, p)))
    {
        let mut no_thread_added = false;
        for items in [64, 512, 4096, 512] {
            let pool = pool_of(suspension, threads);
            let waits = (0..items).into_par_iter().size_limit(16).map(|x| async move {
                after(20 + x % 7).await;
                x
            });
            assert_eq!(waits.io_await().unbounded().on(&pool).sum::<u64>(), items * (items - 1) / 2);
            let (stats, p) = (pool.stats(), threads as u64);
            let total = stats.total();
            assert!(total.suspensions >= items / 2, "they wait: {total:?}");
            let moved = total.deviations() - total.resumes;
            let allowed = 3 * (p * u64::from(p.ilog2()) + total.suspensions) + 8;
            println!(
                "{suspension:?}, {threads} threads, {items} items: {moved} steals and mugs, {allowed} allowed, {} workers",
                stats.workers.len()
            );
            assert!(moved <= allowed, "{moved} steals and mugs, {allowed} allowed: {total:?}");
            if suspension == Suspension::Proactive {
                assert!(total.suspended_deques > 0, "{total:?}");
            }
            // The calling thread is one of them. On a busy machine one more thread may serve a queue that is overdue.
            no_thread_added |= stats.workers.len() <= threads + 1;
        }
        assert!(no_thread_added, "{suspension:?}, {threads} threads");
    }
}

/// Outputs are reduced as they come, so a computation of many items takes memory for those that are in flight, whether it is one leaf or divided: a rest is not
/// divided while there is no permit for its parts.
#[test]
fn outputs_are_reduced_as_they_come() {
    for pool in pools() {
        for limit in [1, usize::MAX] {
            let census = census();
            let waits = (0..3000_u64).into_par_iter().size_limit(limit).map(|x| async move {
                yield_now().await;
                x
            });
            let counted = waits.io_await().max_in_flight(8).on(&pool).map(|x| census.make(x));
            let sum = counted.reduce_with(|mut a, b| {
                a.value += b.value;
                a
            });
            assert_eq!(sum.unwrap().value, 3000 * 2999 / 2);
            let most = census.most.load(SeqCst);
            assert!(most < 600, "{most} outputs at once");
        }
    }
}
