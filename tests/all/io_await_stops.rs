//! I1 with a stop: behind `io_await` a terminal gives `Ok` only if all items were processed, wherever a token is cancelled or a deadline
//! passes; and a partial result is one of some items. Random stops x terminals x ways of being ready x policies x bounds x pools.
//!
//! Other tests compare whole results, without a stop. Or they stop a call, and count the items that begin too late. Neither sees that an item
//! is missing from a result that is `Ok`.
//!
//! Not on the engine of rayon, which cannot suspend.
#![cfg(not(furcate_rayon))]

use crate::combinations::terminals::rare;
use crate::io_await_chains::{Run, any_run};
use furcate::iter::{Interrupted, Interruptible};
use furcate::policy::{Both, CancelToken, Deadline, StopOn};
use furcate::prelude::*;
use futures_lite::future::block_on;
use proptest::prelude::*;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};
use testkit::collect::is_part_of;

/// The place of a stop.
#[derive(Clone, Copy, Debug)]
enum At {
    /// The n-th item is made, its future is polled, or its output is folded.
    Made(u64),
    Polled(u64),
    Folded(u64),
    /// So many microseconds have passed.
    Time(u64),
}

fn any_place() -> impl Strategy<Value = At> {
    let n = || prop_oneof![0..90_u64, 0..3_u64];
    prop_oneof![
        n().prop_map(At::Made),
        n().prop_map(At::Polled),
        n().prop_map(At::Folded),
        (0..3000_u64).prop_map(At::Time),
    ]
}

/// A token, and the calls of each kind that are still to come before it is cancelled.
struct Stop {
    token: CancelToken,
    calls: [AtomicU64; 3],
}

impl Stop {
    fn call(&self, kind: usize) {
        if self.calls[kind].fetch_sub(1, Relaxed) == 0 {
            self.token.cancel();
        }
    }
}

/// Numbers, each behind a future, and a stop at that place.
fn stopped(
    run: &Run,
    v: &[u64],
    at: At,
) -> Interruptible<impl ParallelIterator<Item = u64> + use<>, Both<StopOn, Deadline>> {
    let never = u64::MAX / 2;
    let (calls, deadline) = match at {
        At::Made(n) => ([n, never, never], None),
        At::Polled(n) => ([never, n, never], None),
        At::Folded(n) => ([never, never, n], None),
        At::Time(micros) => ([never; 3], Some(Duration::from_micros(micros))),
    };
    let stop = Arc::new(Stop { token: CancelToken::new(), calls: calls.map(AtomicU64::new) });
    let (made, folded, token, ways) = (Arc::clone(&stop), Arc::clone(&stop), stop.token.clone(), run.ways);
    let items = v.to_vec().into_par_iter().map(move |x| {
        made.call(0);
        let polled = Arc::clone(&made);
        async move {
            polled.call(1);
            ways.give(x, x).await
        }
    });
    let items = run.bound(items.with_policy(run.policies.0.clone()).io_await());
    let items = items.with_policy(run.policies.1.clone()).inspect(move |_| folded.call(2));
    items.stop_on(&token).deadline(Instant::now() + deadline.unwrap_or(Duration::from_secs(3600)))
}

/// Whether a complete result is the expected one.
fn ok_is<T: PartialEq>(result: Result<T, Interrupted<T>>, expected: T) -> bool {
    result.is_err() || result == Ok(expected)
}

/// The result, and whether it is complete.
fn done<T>(result: Result<T, Interrupted<T>>) -> (T, bool) {
    match result {
        Ok(all) => (all, true),
        Err(interrupted) => (interrupted.into_done(), false),
    }
}

fn rare_fails(x: u64) -> Result<u64, u64> {
    if rare(&x) { Err(x) } else { Ok(x) }
}

/// Declares a test per line: what holds of a call with a stop, over the items `v`.
macro_rules! with_a_stop {
    ($($name:ident: |$items:ident, $v:ident| $holds:expr;)+) => {$(
        mod $name {
            use super::*;

            proptest! {
                #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]
                #[test]
                fn ok_means_all(v in prop::collection::vec(0..100_u64, 0..90), run in any_run(), at in any_place()) {
                    let holds = run.on_pool(|| { let ($items, $v) = (stopped(&run, &v, at), &v); $holds });
                    prop_assert!(holds);
                }
            }
        }
    )+};
}

with_a_stop! {
    collect: |items, v| {
        let (some, complete) = done(items.collect::<Vec<_>>());
        if complete { some == *v } else { is_part_of(&some, v) }
    };
    count: |items, v| {
        let (n, complete) = done(items.count());
        if complete { n == v.len() } else { n <= v.len() }
    };
    for_each: |items, v| {
        let n = AtomicU64::new(0);
        let complete = items.for_each(|_| _ = n.fetch_add(1, Relaxed)).is_ok();
        !complete || n.into_inner() == v.len() as u64
    };
    sum: |items, v| ok_is(items.sum::<u64>(), v.iter().sum());
    max: |items, v| ok_is(items.max(), v.iter().copied().max());
    reduce: |items, v| {
        let concat = |mut a: Vec<u64>, mut b| {
            a.append(&mut b);
            a
        };
        ok_is(items.run(|items| items.map(|x| vec![x]).reduce(Vec::new, concat)), v.clone())
    };
    text: |items, v| {
        let text = |x: u64| format!("{x},");
        ok_is(items.run(|items| items.map(text).collect::<String>()), v.iter().copied().map(text).collect())
    };
    many: |items, v| {
        let many = items.run(|items| items.flat_map_iter(|x| 0..x % 4).collect::<Vec<_>>());
        ok_is(many, v.iter().flat_map(|x| 0..x % 4).collect())
    };
    fold: |items, v| {
        let sums = items.run(|items| items.fold(|| 0, |sum, x| sum + x).sum::<u64>());
        ok_is(sums, v.iter().sum())
    };
    partition: |items, v| {
        ok_is(items.partition::<Vec<_>, Vec<_>, _>(|x| x % 3 == 0), v.iter().partition(|x| *x % 3 == 0))
    };
    any: |items, v| ok_is(items.any(|x| rare(&x)), v.iter().any(rare));
    all: |items, v| ok_is(items.all(|x| !rare(&x)), !v.iter().any(rare));
    find_any: |items, v| match done(items.find_any(rare)) {
        (Some(hit), _) => rare(&hit) && v.contains(&hit),
        (None, complete) => !complete || !v.iter().any(rare),
    };
    find_first: |items, v| ok_is(items.find_first(rare), v.iter().copied().find(rare));
    find_last: |items, v| ok_is(items.find_last(rare), v.iter().copied().rfind(rare));
    try_for_each: |items, v| match done(items.try_for_each(|x| rare_fails(x).map(drop))) {
        (Err(hit), _) => rare(&hit) && v.contains(&hit),
        (Ok(()), complete) => !complete || !v.iter().any(rare),
    };
    try_reduce: |items, v| match done(items.run(|it| it.map(rare_fails).try_reduce(|| 0, |a, b| Ok(a + b)))) {
        (Err(hit), _) => rare(&hit) && v.contains(&hit),
        (Ok(sum), complete) => !complete || !v.iter().any(rare) && sum == v.iter().sum::<u64>(),
    };
    collect_results: |items, v| match done(items.run(|it| it.map(rare_fails).collect::<Result<Vec<_>, _>>())) {
        (Err(hit), _) => rare(&hit) && v.contains(&hit),
        (Ok(some), complete) => if complete { some == *v } else { is_part_of(&some, v) },
    };
    sum_of_results: |items, v| match done(items.run(|it| it.map(rare_fails).sum::<Result<u64, _>>())) {
        (Err(hit), _) => rare(&hit) && v.contains(&hit),
        (Ok(sum), complete) => !complete || !v.iter().any(rare) && sum == v.iter().sum::<u64>(),
    };
    while_some: |items, v| {
        let some = items.run(|it| it.map(|x| (!rare(&x)).then_some(x)).while_some().collect::<Vec<_>>());
        let (some, complete) = done(some);
        if complete && !v.iter().any(rare) { some == *v } else { is_part_of(&some, v) }
    };
    take_any: |items, v| ok_is(items.run(|items| items.take_any(5).count()), v.len().min(5));
    // The call runs on the global pool.
    awaited: |items, v| {
        let (some, complete) = done(block_on(items.async_collect::<Vec<_>>()));
        if complete { some == *v } else { is_part_of(&some, v) }
    };
}
