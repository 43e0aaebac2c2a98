//! Early ends: futures that are not needed any more are dropped at once, even if they would wait for a minute.
//!
//! Not on the engine of rayon, which cannot suspend.
#![cfg(not(furcate_rayon))]

use crate::io_await_proactive::pools as proactive_pools;
use crate::support::{a_minute, after, assert_settled, pool};
use furcate::policy::CancelToken;
use furcate::prelude::*;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::{Duration, Instant};

/// Counts the values that are alive.
struct Alive<'a>(&'a AtomicUsize);

impl<'a> Alive<'a> {
    fn new(alive: &'a AtomicUsize) -> Self {
        alive.fetch_add(1, Relaxed);
        Alive(alive)
    }
}

impl Drop for Alive<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Relaxed);
    }
}

const LEN: u64 = 300;
/// The item that comes after a little while; all others would take a minute.
const COMES: u64 = 170;

/// Runs a computation on every pool, inside and outside; checks its result, that it ends promptly, and that then all
/// futures are gone. Once with room for all items, and some times with room for a few, of which the item is one.
macro_rules! ends {
    ($($name:ident: |$it:ident| $result:expr, $expected:expr;)+) => {$(
        #[test]
        fn $name() {
            ends!(1 times, for 170 of 1024: |$it| $result, $expected);
            ends!(5 times, for 3 of 16: |$it| $result, $expected);
        }
    )+};
    ($times:literal times, for $comes:literal of $bound:literal: |$it:ident| $result:expr, $expected:expr) => {{
        // The item of this run.
        #[allow(dead_code, reason = "not in every computation")]
        const COMES: u64 = $comes;
        for threads in [1, 2, 3] {
            for inside in [false, true] {
                let pool = pool(threads);
                for _ in 0..$times {
                    let (alive, begun) = (AtomicUsize::new(0), Instant::now());
                    let run = || {
                        let $it = (0..LEN).into_par_iter().map(|x| {
                            let alive = Alive::new(&alive);
                            async move {
                                let _alive = alive;
                                if x == $comes { after(5).await } else { a_minute().await }
                                x
                            }
                        }).io_await().max_in_flight($bound).on(&pool);
                        $result
                    };
                    assert_eq!(if inside { pool.install(run) } else { run() }, $expected);
                    assert_eq!(alive.load(Relaxed), 0);
                    assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
                    assert_settled(&pool);
                }
            }
        }
    }};
}

ends! {
    find_any: |it| it.find_any(|x| *x == COMES), Some(COMES);
    find_map_any: |it| it.find_map_any(|x| (x == COMES).then_some(x + 1)), Some(COMES + 1);
    any: |it| it.any(|x| x == COMES), true;
    all: |it| it.all(|x| x != COMES), false;
    mapped_any: |it| it.map(|x| x * 2).any(|x| x == 2 * COMES), true;
    try_for_each: |it| it.try_for_each(Err), Err::<(), _>(COMES);
    try_reduce: |it| it.map(Err).try_reduce(|| 0, |a, b| Ok(a + b)), Err::<u64, _>(COMES);
    try_reduce_of_more: |it| it.map(|x| Some(x).filter(|x| *x != COMES)).try_reduce_with(|a, b| Some(a + b)), Some(None);
    take_any: |it| it.take_any(1).collect::<Vec<_>>(), [COMES];
    take_any_while: |it| it.take_any_while(|_| false).count(), 0;
    while_some: |it| it.map(|x| (x != COMES).then_some(x)).while_some().count(), 0;
    while_some_mapped: |it| it.map(|x| (x != COMES).then_some(x)).while_some().map(|x| x + 1).filter(|x| x % 2 > 0).sum::<u64>(), 0;
    results: |it| it.map(Err::<u64, _>).collect::<Result<Vec<_>, _>>(), Err(COMES);
    sum_of_results: |it| it.map(Err::<u64, _>).sum::<Result<u64, _>>(), Err(COMES);
    sum_of_options: |it| it.map(|x| (x != COMES).then_some(x)).sum::<Option<u64>>(), None;
    product_of_results: |it| it.map(Err::<u64, _>).product::<Result<u64, _>>(), Err(COMES);
    options: |it| it.map(|x| (x != COMES).then_some(x)).collect::<Option<Vec<_>>>(), None;
    behind_a_second_await: |it| it.map(|x| async move { x + 1 }).io_await().find_any(|_| true), Some(COMES + 1);
    in_flight: |it| it.bound_depth(0).map(|x| async move { x + 1 }).io_await().max_in_flight(200).find_any(|_| true), Some(COMES + 1);
    in_flight_behind_a_gate: |it| it.bound_depth(0).map(|x| async move { x + 1 }).io_await().max_in_flight(200).take_any(1).collect::<Vec<_>>(), [COMES + 1];
    in_flight_before_a_gate_is_mapped: |it| it.bound_depth(0).map(|x| async move { x + 1 }).io_await().max_in_flight(200).take_any(1).map(|x| x + 1).sum::<u64>(), COMES + 2;
    in_blocks: |it| it.by_blocks([10_000]).find_any(|_| true), Some(COMES);
}

/// There is room for the items behind the others.
#[test]
fn behind_a_chain() {
    ends!(1 times, for 170 of 1024: |it| it.chain(0..3_u64).any(|x| x == 2), true);
}

/// The same as a future.
#[test]
fn async_sum_of_results() {
    let begun = Instant::now();
    let waits = |x: u64| async move {
        if x == COMES {
            after(5).await
        } else {
            a_minute().await
        }
        Err::<u64, _>(x)
    };
    let sum = (0..LEN).into_par_iter().map(waits).io_await().async_sum::<Result<u64, _>>();
    assert_eq!(futures_lite::future::block_on(sum), Err(COMES));
    assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
}

/// A failure that is found only in a reduction of two outputs (of neighbors, in a single task) ends the pending
/// futures, too.
#[test]
fn a_reduction_that_fails() {
    for pool in [1, 2, 3].map(pool).into_iter().chain(proactive_pools()) {
        let begun = Instant::now();
        let sum = (0..100_u64)
            .into_par_iter()
            .bound_depth(0)
            .map(|x| async move {
                if x == 40 || x == 41 {
                    after(x - 36).await
                } else {
                    a_minute().await
                }
                x
            })
            .io_await()
            .on(&pool)
            .map(Some)
            .try_reduce_with(|_, _| None);
        assert_eq!(sum, Some(None));
        assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
        assert_settled(&pool);
    }
}

/// A gate ends the futures before it, but none behind it or beside it.
#[test]
fn needed_futures_are_not_dropped() {
    for threads in [1, 2, 3] {
        let pool = pool(threads);
        let awaited = || {
            (0..200_u64)
                .into_par_iter()
                .map(|x| async move {
                    after(x % 5).await;
                    x
                })
                .io_await()
        };
        // The items that were let pass are awaited again.
        let taken = awaited()
            .take_any(5)
            .map(|x| async move {
                after(20).await;
                x
            })
            .io_await()
            .on(&pool)
            .count();
        assert_eq!(taken, 5);
        let late = || {
            (0..50_u64)
                .into_par_iter()
                .map(|x| async move {
                    after(20).await;
                    x
                })
                .io_await()
        };
        let chained = awaited().take_any(5).chain(late()).on(&pool).count();
        assert_eq!(chained, 55);
        let chained = late().chain(awaited().take_any(5)).on(&pool).count();
        assert_eq!(chained, 55);
        let chained = late().chain(awaited().take_any(5)).take_any(53).on(&pool).count();
        assert_eq!(chained, 53);
        let folded = awaited().take_any(5).fold(|| 0, |n, _| n + 1).on(&pool).sum::<u64>();
        assert_eq!(folded, 5);
        assert_settled(&pool);
    }
}

/// A task that waits for room checks for a stop before it continues, and pending futures of other tasks are dropped.
#[test]
fn a_token_and_a_deadline() {
    for threads in [1, 2] {
        let (pool, token, begun) = (pool(threads), CancelToken::new(), Instant::now());
        let waits = || {
            let few =
                |x: u64| async move { if x.is_multiple_of(4) { after(1).await } else { a_minute().await } };
            (0..1_000_000).into_par_iter().map(few).io_await().max_in_flight(100_000).on(&pool)
        };
        let stopped = waits().inspect(|()| token.cancel()).stop_on(&token).count();
        assert!(stopped.unwrap_err().into_done() < 1_000_000);
        let stopped = waits().deadline(Instant::now() + Duration::from_millis(5)).count();
        assert!(stopped.unwrap_err().into_done() < 1_000_000);
        assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
        assert_settled(&pool);
    }
}
