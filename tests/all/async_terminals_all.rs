//! Every awaited terminal has the same result as the blocking one, also behind `stop_on` and `deadline`. The test
//! `adaptors/tests/all/async_lists.rs` shows that none is missing.
//!
//! Not on the engine of rayon, which cannot suspend.
#![cfg(not(furcate_rayon))]

use crate::support::{Ways, a_minute, assert_settles, pool};
use either::Either;
use furcate::ThreadPool;
use furcate::iter::{AsyncTerminal, Interrupted};
use furcate::policy::{CancelToken, Reason};
use furcate::prelude::*;
use futures_lite::future::{self, block_on};
use std::collections::{BTreeSet, LinkedList};
use std::num::Wrapping;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

const WAYS: [Ways; 3] = [Ways::Ready, Ways::Timers, Ways::Mixed(5)];

/// Numbers in no order, with ties, which have to be awaited.
fn numbers(
    len: u64,
    ways: Ways,
    on: &Arc<ThreadPool>,
) -> impl ParallelIterator<Item = (u64, u64)> + 'static + use<> {
    let items = (0..len).into_par_iter().map(move |x| ways.give(x, (x * 7 % 10, x)));
    items.io_await().on(Arc::clone(on))
}

/// The same numbers, at once.
fn same_numbers(len: u64) -> impl ParallelIterator<Item = (u64, u64)> + 'static {
    (0..len).into_par_iter().map(|x| (x * 7 % 10, x))
}

/// Calls a macro with every pair of terminals that needs no state of its own.
macro_rules! for_all {
    ($check:ident) => {
        $check!(reduce, async_reduce, (|| (0, 0), |a, b| (a.0 + b.0, b.1)));
        $check!(reduce_with, async_reduce_with, (|a, b| (a.0 + b.0, b.1)));
        $check!(count, async_count, ());
        $check!(min, async_min, ());
        $check!(max, async_max, ());
        $check!(min_by, async_min_by, (|a, b| a.0.cmp(&b.0)));
        $check!(max_by, async_max_by, (|a, b| a.0.cmp(&b.0)));
        $check!(min_by_key, async_min_by_key, (|x| x.0));
        $check!(max_by_key, async_max_by_key, (|x| x.0));
        $check!(try_for_each, async_try_for_each, (|x| (x.0 < 100).then_some(())));
        $check!(try_for_each_with, async_try_for_each_with, (100, |n, x| (x.0 < *n).then_some(())));
        $check!(try_for_each_init, async_try_for_each_init, (|| 100, |n, x| (x.0 < *n).then_some(())));
        $check!(any, async_any, (|x| x.1 == 40));
        $check!(all, async_all, (|x| x.1 < 40));
        $check!(find_any, async_find_any, (|x| x.1 == 40));
        $check!(find_first, async_find_first, (|x| x.0 == 8));
        $check!(find_last, async_find_last, (|x| x.0 == 8));
        $check!(find_map_any, async_find_map_any, (|x| (x.1 == 40).then_some(x.0)));
        $check!(find_map_first, async_find_map_first, (|x| (x.0 == 8).then_some(x.1)));
        $check!(find_map_last, async_find_map_last, (|x| (x.0 == 8).then_some(x.1)));
        $check!(collect::<Vec<_>>, async_collect::<Vec<_>>, ());
        $check!(collect::<BTreeSet<_>>, async_collect::<BTreeSet<_>>, ());
        $check!(unzip::<_, _, Vec<_>, BTreeSet<_>>, async_unzip::<_, _, Vec<_>, BTreeSet<_>>, ());
        $check!(partition::<Vec<_>, Vec<_>, _>, async_partition::<Vec<_>, Vec<_>, _>, (|x| x.0 < 5));
        $check!(
            partition_map::<Vec<_>, Vec<_>, _, _, _>,
            async_partition_map::<Vec<_>, Vec<_>, _, _, _>,
            (|x| if x.0 < 5 { Either::Left(x.1) } else { Either::Right(x.0) })
        );
    };
}

#[test]
fn each_returns_the_same_as_the_blocking_terminal() {
    for threads in [1, 2, 3] {
        let pool = Arc::new(pool(threads));
        for ways in WAYS {
            for len in [0, 1, 60] {
                let items = || numbers(len, ways, &pool);
                // The same items, for which the blocking terminals do not wait.
                let ready = || same_numbers(len);
                macro_rules! check {
                    ($blocks:ident$(::<$($T:ty),*>)?, $awaited:ident$(::<$($U:ty),*>)?, ($($arg:expr),*)) => {
                        let expected = ready().$blocks$(::<$($T),*>)?($($arg),*);
                        let given = block_on(items().$awaited$(::<$($U),*>)?($($arg),*));
                        assert_eq!(given, expected, "{} of {len}, {ways:?}", stringify!($awaited));
                    };
                }
                for_all!(check);
                let sum = || items().map(|x| x.1);
                assert_eq!(block_on(sum().async_sum::<u64>()), sum().sum::<u64>());
                let factors = || items().map(|x| Wrapping(2 * x.1 + 1));
                assert_eq!(
                    block_on(factors().async_product::<Wrapping<u64>>()),
                    factors().product::<Wrapping<u64>>()
                );
                let lists = |lists: LinkedList<Vec<_>>| lists.into_iter().flatten().collect::<Vec<_>>();
                assert_eq!(
                    lists(block_on(items().async_collect_vec_list())),
                    lists(ready().collect_vec_list())
                );
                let (some, add) = (|x: (u64, u64)| Some(x.0), |a: u64, b: u64| a.checked_add(b));
                let sum = ready().map(some).try_reduce(|| 0, add);
                assert_eq!(block_on(items().map(some).async_try_reduce(|| 0, add)), sum);
                let sum = ready().map(some).try_reduce_with(add);
                assert_eq!(block_on(items().map(some).async_try_reduce_with(add)), sum);
            }
        }
        assert_settles(&pool);
    }
}

#[test]
fn each_terminal_with_effects_sees_every_item() {
    let pool = Arc::new(pool(2));
    for ways in WAYS {
        let seen = Arc::new(Mutex::new(vec![]));
        let see = |seen: &Arc<Mutex<Vec<u64>>>| {
            let seen = Arc::clone(seen);
            move |x: (u64, u64)| seen.lock().unwrap().push(x.1)
        };
        let items = || numbers(50, ways, &pool);
        let forms: [AsyncTerminal<()>; 3] = [
            items().async_for_each(see(&seen)),
            {
                let see = see(&seen);
                items().async_for_each_with((), move |(), x| see(x))
            },
            {
                let see = see(&seen);
                items().async_for_each_init(|| (), move |(), x| see(x))
            },
        ];
        for form in forms {
            block_on(form);
            let mut seen = std::mem::take(&mut *seen.lock().unwrap());
            seen.sort_unstable();
            assert!(seen.into_iter().eq(0..50));
        }
    }
}

#[test]
fn each_of_an_indexed_iterator_returns_the_same_as_the_blocking_terminal() {
    let pool = Arc::new(pool(2));
    let lists =
        [vec![], vec![1.0], vec![1.0, 2.0, 3.0], vec![1.0, 2.0, 4.0], vec![1.0, f64::NAN], vec![1.0, 2.0]];
    for left in &lists {
        let a = || left.clone().into_par_iter().on(Arc::clone(&pool));
        for right in &lists {
            let b = || right.clone().into_par_iter();
            macro_rules! check {
                ($($blocks:ident $awaited:ident;)+) => {$(
                    assert_eq!(
                        block_on(a().$awaited(b())), a().$blocks(b()),
                        "{} of {left:?}, {right:?}", stringify!($blocks)
                    );
                )+};
            }
            check! {
                partial_cmp async_partial_cmp; eq async_eq; ne async_ne; lt async_lt; le async_le; gt async_gt; ge async_ge;
            }
            let [a, b] = [left, right].map(|list| list.iter().map(|x| *x as u8).collect::<Vec<_>>());
            let cmp = a.clone().into_par_iter().cmp(b.clone());
            assert_eq!(block_on(a.into_par_iter().async_cmp(b)), cmp);
        }
        for wanted in [1.0, 2.0, 9.0] {
            let is = move |x| x == wanted;
            assert_eq!(block_on(a().async_position_first(is)), a().position_first(is));
            assert_eq!(block_on(a().async_position_last(is)), a().position_last(is));
            assert_eq!(block_on(a().async_position_any(is)).is_some(), a().position_any(is).is_some());
        }
    }
}

/// A hit, or a failure, drops the futures that are not needed any more.
#[test]
fn a_decided_result_waits_for_nothing() {
    let begun = Instant::now();
    let pool = Arc::new(pool(2));
    let items = |waits: fn(u64) -> bool| {
        let items = (0..100_u64).into_par_iter().map(move |x| async move {
            if waits(x) {
                a_minute().await;
            }
            x
        });
        items.io_await().on(Arc::clone(&pool))
    };
    let ready = |x: u64| (x == 50).then_some(x);
    assert_eq!(block_on(items(|x| x != 50).async_find_map_any(ready)), Some(50));
    assert_eq!(block_on(items(|x| x > 50).async_find_map_first(ready)), Some(50));
    assert_eq!(block_on(items(|x| x < 50).async_find_map_last(ready)), Some(50));
    assert_eq!(block_on(items(|x| x < 50).async_find_last(|&x| x == 50)), Some(50));
    let failing = || items(|x| x != 50).map(move |x| ready(x).map_or(Ok(x), Err));
    assert_eq!(block_on(failing().async_try_reduce_with(|a, b| Ok(a + b))), Some(Err(50)));
    let fail = |(): &mut (), x: Result<u64, u64>| x.map(drop);
    assert_eq!(block_on(failing().async_try_for_each_with((), fail)), Err(50));
    assert_eq!(block_on(failing().async_try_for_each_init(|| (), fail)), Err(50));
    assert!(begun.elapsed() < Duration::from_secs(30), "{:?}", begun.elapsed());
    assert_settles(&pool);
}

/// Behind `stop_on` a terminal (one of each kind) returns `Ok` of the whole. If it is stopped, it returns a part, and the reason.
#[test]
fn terminals_can_be_interrupted() {
    let pool = Arc::new(pool(2));
    let never = CancelToken::new();
    let far = Instant::now() + Duration::from_secs(3600);
    let past = Instant::now() - Duration::from_millis(1);
    macro_rules! whole {
        ($blocks:ident$(::<$($T:ty),*>)?, $awaited:ident$(::<$($U:ty),*>)?, ($($arg:expr),*)) => {
            let items = |deadline| numbers(60, Ways::Mixed(3), &pool).stop_on(&never).deadline(deadline);
            let expected = Ok(same_numbers(60).$blocks($($arg),*)) as Result<_, Interrupted<_>>;
            assert_eq!(block_on(items(far).$awaited($($arg),*)), expected, "{}", stringify!($awaited));
            let interrupted = block_on(items(past).$awaited($($arg),*)).unwrap_err();
            assert_eq!(interrupted.reason(), Reason::DeadlineExceeded);
        };
    }
    whole!(reduce, async_reduce, (|| (0, 0), |a, b| (a.0 + b.0, b.1)));
    whole!(count, async_count, ());
    whole!(max_by_key, async_max_by_key, (|x| x.0));
    whole!(try_for_each, async_try_for_each, (|x| (x.0 < 100).then_some(())));
    whole!(find_last, async_find_last, (|x| x.0 == 8));
    let items = || numbers(60, Ways::Mixed(3), &pool).stop_on(&never);
    assert_eq!(block_on(items().async_collect::<Vec<_>>()), Ok(same_numbers(60).collect()));
    assert_eq!(block_on(items().async_unzip::<_, _, Vec<_>, Vec<_>>()), Ok(same_numbers(60).unzip()));
    let small = |x: &(u64, u64)| x.0 < 5;
    assert_eq!(
        block_on(items().async_partition::<Vec<_>, Vec<_>, _>(small)),
        Ok(same_numbers(60).partition(small))
    );
}

/// A stop is noticed while all futures are pending, and the partial result is returned.
#[test]
fn a_stop_is_heard_by_each_that_is_awaited() {
    let begun = Instant::now();
    let pool = Arc::new(pool(1));
    let items = || {
        let items = (0..20_u64).into_par_iter().map(|x| async move {
            if x >= 10 {
                a_minute().await;
            }
            x
        });
        items.io_await().on(Arc::clone(&pool))
    };
    let token = CancelToken::new();
    let max = items().stop_on(&token).async_max();
    let both = items().stop_on(&token).async_partition::<Vec<_>, Vec<_>, _>(|x| x % 2 == 0);
    let stops = async {
        crate::support::after(50).await;
        token.cancel();
    };
    let ((max, both), ()) = block_on(future::zip(future::zip(max, both), stops));
    assert_eq!(max.unwrap_err().into_done(), Some(9));
    assert_eq!(both.unwrap_err().into_done(), (vec![0, 2, 4, 6, 8], vec![1, 3, 5, 7, 9]));
    assert!(begun.elapsed() < Duration::from_secs(30), "{:?}", begun.elapsed());
    assert_settles(&pool);
}
