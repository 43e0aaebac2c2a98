//! I1 for the `async_*` terminals: chains of adaptors x ways of being ready x policies x bounds x pools x places of
//! polling have the same results as the sequential iterator, and as the blocking terminals.
//!
//! Not on the engine of rayon, which cannot suspend.
#![cfg(not(furcate_rayon))]

use crate::support::{Ways, any_ways, pool};
use furcate::ThreadPool;
use furcate::iter::AsyncTerminal;
use furcate::policy::AnyPolicy;
use furcate::prelude::*;
use futures_lite::future;
use proptest::prelude::*;
use std::sync::{Arc, OnceLock};
use testkit::policies::any_policy_but_cap;

/// The way in which a chain is run.
#[derive(Clone, Debug)]
struct Run {
    ways: Ways,
    policy: AnyPolicy,
    /// Bound on futures in flight; 0 is the default.
    in_flight: usize,
    /// Index of the pool.
    on: usize,
    /// The polling thread. 0: a thread outside the pool; 1: a task of the pool; 2: one of the pool's threads, which
    /// blocks; 3: a task of another pool.
    polled: usize,
}

fn any_run() -> impl Strategy<Value = Run> {
    let in_flight = prop_oneof![Just(0_usize), Just(1), Just(2), Just(7)];
    (any_ways(), any_policy_but_cap(), in_flight, 0..3_usize, 0..4_usize)
        .prop_map(|(ways, policy, in_flight, on, polled)| Run { ways, policy, in_flight, on, polled })
}

fn pools() -> &'static [Arc<ThreadPool>; 3] {
    static POOLS: OnceLock<[Arc<ThreadPool>; 3]> = OnceLock::new();
    POOLS.get_or_init(|| [1, 2, 4].map(|threads| Arc::new(pool(threads))))
}

impl Run {
    fn pool(&self) -> Arc<ThreadPool> {
        Arc::clone(&pools()[self.on])
    }

    /// Awaits a terminal, in the place of this run.
    fn result<T: Send + 'static>(&self, terminal: AsyncTerminal<T>) -> T {
        let pool = self.pool();
        match self.polled {
            0 => future::block_on(terminal),
            1 => future::block_on(pool.spawn_future(terminal)),
            2 => pool.install(|| furcate::block_on(terminal)),
            _ => future::block_on(pools()[(self.on + 1) % 3].spawn_future(terminal)),
        }
    }
}

/// Declares a test per line: the items of a chain by a parallel iterator, and by a sequential one.
macro_rules! same {
    ($($name:ident: |$run:ident, $v:ident| $parallel:expr, $sequential:expr;)+) => {$(
        mod $name {
            use super::*;

            fn chain($run: &Run, $v: &[u64]) -> impl ParallelIterator<Item = u64> + 'static + use<> {
                let $v = $v.to_vec();
                $parallel.with_policy($run.policy.clone()).on($run.pool())
            }

            proptest! {
                #![proptest_config(ProptestConfig { cases: 12, failure_persistence: None, ..ProptestConfig::default() })]
                #[test]
                fn equals_the_sequential(v in prop::collection::vec(0..100_u64, 0..60), run in any_run()) {
                    let expected: Vec<u64> = { let $v = v.clone(); $sequential.collect() };
                    let items = || chain(&run, &v);
                    prop_assert_eq!(&run.result(items().async_collect::<Vec<_>>()), &expected);
                    let is_hit = |x: &u64| x % 7 == 3;
                    prop_assert_eq!(run.result(items().async_find_first(is_hit)), expected.iter().copied().find(is_hit));
                }
            }
        }
    )+};
}

/// Makes a future for each item, and bounds them.
macro_rules! awaited {
    ($run:ident, $it:expr) => {{
        let ways = $run.ways;
        let it = $it.map(move |x: u64| ways.give(x, x)).io_await();
        match $run.in_flight {
            0 => it,
            n => it.max_in_flight(n),
        }
    }};
}

// Chains that wait.
same! {
    vectors: |run, v| awaited!(run, v.into_par_iter()), v.into_iter();
    ranges: |run, v| awaited!(run, (0..v.len() as u64).into_par_iter()), 0..v.len() as u64;
    adapted_before: |run, v| awaited!(run, v.into_par_iter().filter(|x| x % 3 > 0).map(|x| x + 1)),
        v.into_iter().filter(|x| x % 3 > 0).map(|x| x + 1);
    many_before: |run, v| awaited!(run, v.into_par_iter().flat_map_iter(|x| 0..x % 4)),
        v.into_iter().flat_map(|x| 0..x % 4);
    state_before: |run, v| awaited!(run, v.into_par_iter().map_init(|| 3, |by, x| x * *by)), v.into_iter().map(|x| x * 3);
    adapted: |run, v| awaited!(run, v.into_par_iter()).map(|x| x * x).filter(|x| x % 3 > 0),
        v.into_iter().map(|x| x * x).filter(|x| x % 3 > 0);
    many: |run, v| awaited!(run, v.into_par_iter()).flat_map_iter(|x| x..x + x % 3),
        v.into_iter().flat_map(|x| x..x + x % 3);
    twice: |run, v| {
        let first = awaited!(run, v.into_par_iter()).map(|x| x + 1);
        awaited!(run, first).filter_map(|x| (x % 2 == 0).then_some(x / 2))
    }, v.into_iter().map(|x| x + 1).filter(|x| x % 2 == 0).map(|x| x / 2);
    two_sides: |run, v| {
        let other = awaited!(run, v.clone().into_par_iter());
        awaited!(run, v.into_par_iter()).chain(other)
    }, v.clone().into_iter().chain(v);
    in_blocks: |run, v| awaited!(run, v.into_par_iter()).by_blocks([3, 5, 20]), v.into_iter();
}

// Chains that do not wait.
same! {
    plain: |run, v| { let _ = run; v.into_par_iter().map(|x| x + 1) }, v.into_iter().map(|x| x + 1);
    joined: |run, v| { let _ = run; v.into_par_iter().rev().join() }, v.into_iter().rev();
    joined_by_the_last: |run, v| { let _ = run; v.into_par_iter().enumerate().map(|(i, x)| x + i as u64).depjoin() },
        v.into_iter().enumerate().map(|(i, x)| x + i as u64);
    on_demand: |run, v| { let _ = run; v.into_par_iter().filter(|x| x % 2 == 0).adaptive() },
        v.into_iter().filter(|x| x % 2 == 0);
    alone: |run, v| { let _ = run; v.into_par_iter().sequential() }, v.into_iter();
    blocks: |run, v| { let _ = run; v.into_par_iter().adaptive().by_blocks([1, 2, 30]) }, v.into_iter();
    scanned: |run, v| { let _ = run; v.into_par_iter().inclusive_scan(|a, b| a + b) },
        v.into_iter().scan(0, |sum, x| { *sum += x; Some(*sum) });
}
