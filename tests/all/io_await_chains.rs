//! I1 behind `io_await`: chains of adaptors x ways of being ready x policies x bounds x pools equal the sequential iterator
//! that awaits one future after the other, in order.
//!
//! Not on the engine of rayon, which cannot suspend.
#![cfg(not(furcate_rayon))]

use crate::support::{Ways, any_ways, pools};
use furcate::policy::AnyPolicy;
use furcate::prelude::*;
use proptest::prelude::*;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use testkit::collect::is_part_of;
use testkit::policies::any_policy_but_cap;

/// The way in which a chain is run.
#[derive(Clone, Debug)]
pub(crate) struct Run {
    pub(crate) ways: Ways,
    /// Policies before the await, and behind it.
    pub(crate) policies: (AnyPolicy, AnyPolicy),
    /// Bound on futures in flight; 0 is the default, 1000 none.
    in_flight: usize,
    /// Index of a pool; 4: the caller is not one of its threads; 5: from outside, on the global pool.
    place: usize,
}

pub(crate) fn any_run() -> impl Strategy<Value = Run> {
    let in_flight = prop_oneof![Just(0_usize), Just(1), Just(2), Just(7), Just(1000)];
    (any_ways(), (any_policy_but_cap(), any_policy_but_cap()), in_flight, 0..6_usize)
        .prop_map(|(ways, policies, in_flight, place)| Run { ways, policies, in_flight, place })
}

impl Run {
    pub(crate) fn on_pool<R: Send>(&self, run: impl FnOnce() -> R + Send) -> R {
        match self.place {
            place @ 0..4 => pools()[place].install(run),
            _ => run(),
        }
    }

    /// Applies the run's bound, and the policy behind the await.
    pub(crate) fn bound<I>(&self, it: furcate::iter::IoAwait<I>) -> furcate::iter::IoAwait<I>
    where
        I: ParallelIterator<Item: IntoFuture<Output: Send, IntoFuture: Send>>,
    {
        match self.in_flight {
            0 => it,
            1000 => it.unbounded(),
            n => it.max_in_flight(n),
        }
    }
}

/// Declares a test per line: the result of a chain, by a parallel iterator `it` over numbers and by a sequential one,
/// `seq`. `wait` makes a future of an item, `bound` bounds an await.
macro_rules! same {
    ($($name:ident: |$run:ident, $v:ident| $parallel:expr, $sequential:expr;)+) => {$(
        mod $name {
            use super::*;

            proptest! {
                #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]
                #[test]
                fn equals_the_sequential(v in prop::collection::vec(0..100_u64, 0..90), run in any_run()) {
                    let expected = { let $v = &v; let _ = $v; $sequential };
                    let result = run.on_pool(|| { let ($run, $v) = (&run, &v); $parallel });
                    prop_assert_eq!(result, expected);
                }
            }
        }
    )+};
}

/// Makes a string, in which every wrong order shows.
fn text(x: u64) -> String {
    format!("{x},")
}

fn texts(items: impl Iterator<Item = u64>) -> String {
    items.map(text).collect()
}

/// Makes a future for each item, with the policies and the bound of a run: the common part of most chains.
macro_rules! awaited {
    ($run:ident, $it:expr) => {{
        let ways = $run.ways;
        let it = $it.map(move |x: u64| ways.give(x, x));
        $run.bound(it.with_policy($run.policies.0.clone()).io_await()).with_policy($run.policies.1.clone())
    }};
}

/// The numbers of a slice, each behind a future: one type for most chains.
fn numbers<'v>(run: &Run, v: &'v [u64]) -> impl ParallelIterator<Item = u64> + 'v {
    awaited!(run, v.par_iter().copied())
}

// Sources.
same! {
    slices: |run, v| awaited!(run, v.par_iter().copied()).collect::<Vec<_>>(), v.clone();
    vectors: |run, v| awaited!(run, v.clone().into_par_iter()).map(text).collect::<String>(), texts(v.iter().copied());
    ranges: |run, v| awaited!(run, (0..v.len() as u64).into_par_iter()).collect::<Vec<_>>(), (0..v.len() as u64).collect::<Vec<_>>();
    mutable: |run, v| {
        let (mut v, ways) = (v.clone(), run.ways);
        let futures = v.par_iter_mut().map(|x| async move {
            ways.wait(*x).await;
            *x += 1;
            *x
        });
        let given = run.bound(futures.with_policy(run.policies.0.clone()).io_await()).collect::<Vec<_>>();
        (v, given)
    }, (v.iter().map(|x| x + 1).collect::<Vec<_>>(), v.iter().map(|x| x + 1).collect::<Vec<_>>());
    pieces: |run, v| {
        let ways = run.ways;
        let futures = v[..].wrap_iter().map(move |piece| ways.give(piece.len() as u64, piece));
        let pieces = run.bound(futures.with_policy(run.policies.0.clone()).io_await());
        pieces.flat_map_iter(|piece| piece.iter().copied()).collect::<Vec<_>>()
    }, v.clone();
    letters: |run, v| {
        let (text, ways) = (texts(v.iter().copied()), run.ways);
        let futures = text.par_chars().map(move |letter| ways.give(u64::from(letter), letter));
        run.bound(futures.with_policy(run.policies.0.clone()).io_await()).collect::<String>()
    }, texts(v.iter().copied());
}

// Adaptors.
same! {
    mapped_before: |run, v| awaited!(run, v.par_iter().cloned().map(|x| x + 1).filter(|x| x % 3 > 0)).collect::<Vec<_>>(),
        v.iter().map(|x| x + 1).filter(|x| x % 3 > 0).collect::<Vec<_>>();
    many_before: |run, v| awaited!(run, v.par_iter().flat_map_iter(|&x| 0..x % 4)).collect::<Vec<_>>(),
        v.iter().flat_map(|&x| 0..x % 4).collect::<Vec<_>>();
    state_before: |run, v| awaited!(run, v.par_iter().map_init(|| 3, |by, x| x * *by).map_with(1, |by, x| x + *by)).collect::<Vec<_>>(),
        v.iter().map(|x| x * 3 + 1).collect::<Vec<_>>();
    folded_before: |run, v| awaited!(run, v.par_iter().fold(|| 0, |sum, x| sum + x)).sum::<u64>(), v.iter().sum::<u64>();
    chained_before: |run, v| awaited!(run, v.par_iter().copied().chain(5..20)).collect::<Vec<_>>(),
        v.iter().copied().chain(5..20).collect::<Vec<_>>();
    mapped: |run, v| {
        let it = numbers(run, v);
        it.map(|x| x * 2).filter(|x| x % 3 > 0).filter_map(|x| x.checked_sub(4)).inspect(|_| ()).update(|x| *x += 1).collect::<Vec<_>>()
    }, v.iter().map(|x| x * 2).filter(|x| x % 3 > 0).filter_map(|x| x.checked_sub(4)).map(|x| x + 1).collect::<Vec<_>>();
    many: |run, v| numbers(run, v).flat_map_iter(|x| 0..x % 4).collect::<Vec<_>>(),
        v.iter().flat_map(|&x| 0..x % 4).collect::<Vec<_>>();
    borrowed: |run, v| {
        let ways = run.ways;
        run.bound(v.par_iter().map(move |x| ways.give(*x, x)).io_await()).copied().collect::<Vec<_>>()
    }, v.clone();
    cloned: |run, v| {
        let (ways, texts) = (run.ways, v.iter().copied().map(text).collect::<Vec<_>>());
        run.bound(texts.par_iter().map(move |x| ways.give(x.len() as u64, x)).io_await()).cloned().collect::<String>()
    }, texts(v.iter().copied());
    state: |run, v| numbers(run, v).map_init(|| 3, |by, x| x * *by).map_with(1, |by, x| x + *by).collect::<Vec<_>>(),
        v.iter().map(|x| x * 3 + 1).collect::<Vec<_>>();
    folded: |run, v| numbers(run, v).fold(String::new, |s, x| s + &text(x)).reduce(String::new, |a, b| a + &b),
        texts(v.iter().copied());
    fold_with: |run, v| numbers(run, v).fold_with(0, |sum, x| sum + x).sum::<u64>(), v.iter().sum::<u64>();
    chained: |run, v| {
        let ways = run.ways;
        let second = v.par_iter().map(move |&x| ways.give(x + 1, x + 1)).io_await();
        numbers(run, v).chain(second).chain(v.par_iter().copied()).collect::<Vec<_>>()
    }, v.iter().copied().chain(v.iter().map(|x| x + 1)).chain(v.iter().copied()).collect::<Vec<_>>();
    chained_behind: |run, v| {
        let awaited = numbers(run, v);
        v.par_iter().copied().map(std::future::ready).io_await().chain(awaited).map(text).collect::<String>()
    }, texts(v.iter().chain(v).copied());
    twice: |run, v| {
        let ways = run.ways;
        let second = numbers(run, v).map(move |x| ways.give(x / 2, x + 1));
        run.bound(second.io_await()).filter(|x| x % 5 > 0).collect::<Vec<_>>()
    }, v.iter().map(|x| x + 1).filter(|x| x % 5 > 0).collect::<Vec<_>>();
    many_between: |run, v| {
        let ways = run.ways;
        let second = numbers(run, v).flat_map_iter(|x| 0..x % 6).map(move |x| ways.give(x, x));
        run.bound(second.io_await()).map(text).reduce(String::new, |a, b| a + &b)
    }, texts(v.iter().flat_map(|&x| 0..x % 6));
    thrice: |run, v| {
        let ways = run.ways;
        let second = numbers(run, v).map(move |x| ways.give(x / 2, x + 1)).io_await();
        let third = second.filter(|x| x % 7 > 0).fold(Vec::new, |mut v, x| { v.push(x); v }).map(move |x| ways.give(3, x));
        run.bound(third.io_await()).flat_map_iter(|x| x).collect::<Vec<_>>()
    }, v.iter().map(|x| x + 1).filter(|x| x % 7 > 0).collect::<Vec<_>>();
    blocks: |run, v| numbers(run, v).by_blocks([1, 3, 20]).map(text).collect::<String>(), texts(v.iter().copied());
    doubling_blocks: |run, v| numbers(run, v).by_exponential_blocks().find_first(|x| x % 10 == 9),
        v.iter().copied().find(|x| x % 10 == 9);
    one_item_each: |run, v| awaited!(run, v.par_iter().copied().size_limit(1)).collect::<Vec<_>>(), v.clone();
    inline: |run, v| numbers(run, v).on(furcate::Inline).map(text).collect::<String>(), texts(v.iter().copied());
    erased: |run, v| {
        let ways = run.ways;
        let futures = v.par_iter().map(move |&x| -> std::pin::Pin<Box<dyn Future<Output = u64> + Send>> {
            if x % 2 > 0 { Box::pin(ways.give(x, x)) } else { Box::pin(std::future::ready(x)) }
        });
        run.bound(futures.io_await()).collect::<Vec<_>>()
    }, v.clone();
    rayon: |run, v| numbers(run, v).on(furcate::Rayon).map(text).collect::<String>(), texts(v.iter().copied());
}

// Adaptors that let items pass, and terminals. (`async_terminals_all` has every terminal.)
same! {
    take_any: |run, v| {
        let taken = numbers(run, v).take_any(9).collect::<Vec<_>>();
        (taken.len(), is_part_of(&taken, v))
    }, (v.len().min(9), true);
    skip_any: |run, v| numbers(run, v).skip_any(9).count(), v.len().saturating_sub(9);
    take_any_while: |run, v| {
        let taken = numbers(run, v).take_any_while(|x| *x < 95).collect::<Vec<_>>();
        let all = v.iter().all(|x| *x < 95);
        (is_part_of(&taken, v) && taken.iter().all(|x| *x < 95), !all || taken.len() == v.len())
    }, (true, true);
    while_some: |run, v| {
        let taken = numbers(run, v).map(|x| (x < 97).then_some(x)).while_some().collect::<Vec<_>>();
        let all = v.iter().all(|x| *x < 97);
        (is_part_of(&taken, v), !all || taken.len() == v.len())
    }, (true, true);
    for_each: |run, v| {
        let sum = AtomicU64::new(0);
        numbers(run, v).for_each(|x| _ = sum.fetch_add(x, Relaxed));
        sum.into_inner()
    }, v.iter().sum::<u64>();
    results: |run, v| numbers(run, v).map(|x| if x == 55 { Err("55") } else { Ok(x) }).collect::<Result<Vec<_>, _>>(),
        v.iter().map(|&x| if x == 55 { Err("55") } else { Ok(x) }).collect::<Result<Vec<_>, _>>();
    extended: |run, v| {
        let mut to = vec![7];
        to.par_extend(numbers(run, v));
        to
    }, std::iter::once(7).chain(v.iter().copied()).collect::<Vec<_>>();
}
