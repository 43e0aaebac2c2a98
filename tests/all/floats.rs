//! Sums of floats: with a policy that fixes the division tree, the same bits on any number of threads.
//!
//! Floating-point addition is not associative. So a sum depends on the tree by which parts are reduced, and is
//! reproducible exactly if the tree is. The tests compare both: the bits of sums, and the trees themselves. They do so
//! under schedules that are promised to fix the tree (book, chapter *Why*), on several engines, with steals.
#![cfg(not(furcate_rayon))]

use furcate::policy::{AnyPolicy, BoundDepth, EvenLevels, ForceDepth, MaxLen, MinLen, SizeLimit};
use furcate::prelude::*;
use furcate::{Executor, Inline, ThreadPool};
use std::thread;
use testkit::{Random, pools};

const N: usize = 6000;

/// Number of times that each sum is computed on each pool.
const ROUNDS: usize = 2;

/// Floats of both signs and of magnitudes from 1e-8 to 1e8, so that nearly every grouping rounds differently.
fn floats(seed: u64) -> Vec<f64> {
    let mut random = Random(seed);
    let mut float = || {
        let sign = if random.next() % 2 == 0 { 1.0 } else { -1.0 };
        let fraction = 1.0 + (random.next() % 1_000_003) as f64 / 1e6;
        sign * fraction * 10_f64.powi((random.next() % 17) as i32 - 8)
    };
    (0..N).map(|_| float()).collect()
}

/// Lets thieves come: the thread yields its time slice now and then.
fn sometimes_yield(x: f64) -> f64 {
    if x.to_bits() % 64 == 0 {
        thread::yield_now();
    }
    x
}

/// Sums of several chains under one schedule.
trait Sums: Sync {
    fn sums<E: Executor + Copy + Send + Sync>(&self, v: &[f64], w: &[f64], on: E) -> Vec<u64>;
    /// Returns the tree by which the pieces of a range are reduced.
    fn tree<E: Executor + Copy + Send + Sync>(&self, on: E) -> String;
}

/// Schedulers by their names, each under a list of pairs of policies, with a macro that makes a list of sums. Calls `$then` with values that
/// implement [`Sums`].
macro_rules! schedules {
    ($then:ident: $($Name:ident $(.$word:ident($($argument:expr),*))* under $policies:expr, $sums:ident;)+) => {$({
        struct $Name(AnyPolicy, AnyPolicy);
        impl Sums for $Name {
            fn sums<E: Executor + Copy + Send + Sync>(&self, v: &[f64], w: &[f64], on: E) -> Vec<u64> {
                macro_rules! scheduled {
                    ($chain:expr) => {
                        $chain.with_policy(self.0.clone()).with_policy(self.1.clone())$(.$word($($argument),*))*.on(on)
                    };
                }
                $sums!(scheduled, v, w)
            }

            fn tree<E: Executor + Copy + Send + Sync>(&self, on: E) -> String {
                let pieces = (0..N).wrap_iter().with_policy(self.0.clone()).with_policy(self.1.clone());
                let pieces = pieces$(.$word($($argument),*))*.on(on);
                let leaf = |piece: std::ops::Range<usize>| {
                    thread::yield_now();
                    format!("{}", piece.len())
                };
                pieces.map(leaf).reduce_with(|left, right| format!("({left} {right})")).unwrap()
            }
        }
        for (first, second) in $policies {
            let name = format!("{}, {first:?}, {second:?}", stringify!($Name));
            $then(&name, &$Name(first, second));
        }
    })+};
}

/// The bits of the sums of chains that divide in different ways.
macro_rules! some_sums {
    ($scheduled:ident, $v:ident, $w:ident) => {
        [
            $scheduled!($v.par_iter().copied().map(sometimes_yield)).sum(),
            $scheduled!($v.par_iter().chain($w).copied().map(sometimes_yield)).reduce(|| 0.0, |a, b| a + b),
            $scheduled!($v.par_iter().fold(|| 0.0, |sum, x| sum + sometimes_yield(*x))).sum(),
        ]
        .map(|sum: f64| sum.to_bits())
        .to_vec()
    };
}

/// The bits of the sums of chains of all kinds.
macro_rules! all_sums {
    ($scheduled:ident, $v:ident, $w:ident) => {{
        let (v32, w32): (Vec<f32>, Vec<f32>) =
            ($v.iter().map(|&x| x as f32).collect(), $w.iter().map(|&x| x as f32).collect());
        let mut bits: Vec<u64> = [
            $scheduled!($v.par_iter().map(|x| sometimes_yield(*x) * 1.1)).sum(),
            $scheduled!($v.par_iter().copied().filter(|x| sometimes_yield(*x).abs() > 0.01)).sum(),
            $scheduled!($v.par_iter().zip($w).map(|(x, y)| sometimes_yield(*x) * y)).sum(),
            $scheduled!($v.par_iter().copied().map(sometimes_yield)).reduce_with(|a, b| a + b).unwrap(),
            $scheduled!($v.par_iter().map(|x| 1.0 + sometimes_yield(*x) * 1e-9)).product(),
            $scheduled!($v.par_iter().rev().copied().map(sometimes_yield)).sum(),
            $scheduled!($v.par_iter().enumerate().map(|(i, x)| sometimes_yield(*x) / (i + 1) as f64)).sum(),
            $scheduled!(
                $v.par_chunks(7).map(|chunk| chunk.iter().copied().map(sometimes_yield).sum::<f64>())
            )
            .sum(),
            $scheduled!($v.par_iter().flat_map_iter(|x| [sometimes_yield(*x), x / 3.0, -x / 7.0])).sum(),
        ]
        .map(|sum: f64| sum.to_bits())
        .into();
        bits.extend(
            [
                $scheduled!(v32.par_iter().copied()).sum(),
                $scheduled!(v32.par_iter().zip(&w32).map(|(x, y)| x * y)).filter(|x| x.abs() > 0.01).sum(),
            ]
            .map(|sum: f32| u64::from(sum.to_bits())),
        );
        bits.extend(some_sums!($scheduled, $v, $w));
        bits
    }};
}

/// Checks that results are the same on all engines: in the calling thread, and in each pool from outside and from a
/// worker.
fn is_reproducible(name: &str, schedule: &impl Sums) {
    let (v, w) = (floats(1), floats(2));
    let expected = schedule.sums(&v, &w, Inline);
    let tree = schedule.tree(Inline);
    assert_eq!(schedule.sums(&v, &w, furcate::Rayon), expected, "{name}, on rayon's pool");
    assert_eq!(schedule.tree(furcate::Rayon), tree, "{name}, on rayon's pool");
    for pool in pools() {
        let threads = pool.current_num_threads();
        for round in 0..ROUNDS {
            let outside = schedule.sums(&v, &w, pool);
            assert_eq!(outside, expected, "{name}, {threads} threads, round {round}: the bits differ");
            let inside = pool.install(|| schedule.sums(&v, &w, pool));
            assert_eq!(inside, expected, "{name}, {threads} threads, round {round}, from a worker");
            assert_eq!(schedule.tree(pool), tree, "{name}, {threads} threads, round {round}");
        }
    }
}

/// One policy: the default one gives way to all others.
fn alone(policy: impl Into<AnyPolicy>) -> (AnyPolicy, AnyPolicy) {
    (policy.into(), AnyPolicy::default())
}

#[test]
fn float_sums_under_policies_that_fix_the_tree_are_reproducible_on_any_number_of_threads() {
    let depths = || [0, 1, 4, 9].map(|depth| alone(BoundDepth::new(depth)));
    let others = || {
        let bound = |depth| AnyPolicy::from(BoundDepth::new(depth));
        [
            alone(SizeLimit::new(100)),
            (bound(3), ForceDepth::new(5).into()),
            (bound(5), EvenLevels.into()),
            (bound(9), MinLen::new(50).into()),
            (bound(3), MaxLen::new(100).into()),
            (bound(6), SizeLimit::new(200).into()),
        ]
    };
    let shallow = || [alone(BoundDepth::new(3))];
    schedules! { is_reproducible:
        Default under depths().into_iter().chain(others()), all_sums;
        Depjoin.depjoin() under depths().into_iter().chain([alone(SizeLimit::new(100))]), some_sums;
        Blocks.by_blocks([100, 900, 40]) under shallow(), some_sums;
        UniformBlocks.depjoin().by_uniform_blocks(1000) under shallow(), some_sums;
        Sequential.sequential() under shallow(), some_sums;
    }
}

/// Without this difference the test above could not fail.
#[test]
fn the_grouping_makes_a_difference_to_these_floats() {
    let (mut different, v) = (0, floats(1));
    for depth in 0..9 {
        let sum = |depth| v.par_iter().bound_depth(depth).on(Inline).sum::<f64>().to_bits();
        different += usize::from(sum(depth) != sum(depth + 1));
    }
    assert!(different >= 6, "{different} of 9 depths round differently from their neighbors");
}

/// The default makes more parts on more threads, so there is no promise.
#[test]
fn the_default_division_depends_on_the_number_of_threads() {
    let parts = |pool: &ThreadPool| (0..N).wrap_iter().on(pool).count();
    assert_eq!(parts(&pools()[0]), 8);
    assert!(parts(&pools()[3]) > 8);
}

/// Behind many frames, where forks are not made any more, the tree is the same.
#[test]
fn the_tree_is_the_same_on_a_deep_stack() {
    fn below(levels: usize, run: &(dyn Fn() -> String + Sync)) -> String {
        if levels == 0 {
            return run();
        }
        let text = |i: usize| if i == 0 { below(levels - 1, run) } else { String::new() };
        (0..2_usize).into_par_iter().bound_depth(1).map(text).reduce(String::new, |a, b| a + &b)
    }
    let pieces = |_: usize| (0..N).wrap_iter().bound_depth(4).map(|piece| piece.len().to_string());
    let joined = |a: String, b: String| format!("({a} {b})");
    let flat = pieces(0).on(Inline).reduce_with(joined).unwrap();
    for pool in &pools()[1..3] {
        let deep = pool.install(|| below(150, &|| pieces(0).reduce_with(joined).unwrap()));
        assert_eq!(deep, flat);
        let deep = pool.install(|| below(150, &|| pieces(0).depjoin().reduce_with(joined).unwrap()));
        assert_eq!(deep, flat);
    }
}

/// Chains that can be stopped check for a stop between two steps, and the clock decides how long a step is. `sum` adds
/// up the sums of the steps, so there is no promise for it. `reduce` continues with the same accumulator.
#[test]
fn reduce_is_reproducible_in_chains_that_can_be_stopped() {
    let v = floats(3);
    let add = |a: f64, b: f64| a + b;
    let values = || v.par_iter().copied().map(sometimes_yield).bound_depth(5);
    let expected = values().on(Inline).reduce(|| 0.0, add).to_bits();
    let token = furcate::policy::CancelToken::new();
    let later = std::time::Instant::now() + std::time::Duration::from_secs(3600);
    for pool in pools() {
        for _ in 0..10 {
            let stoppable = values().on(pool).stop_on(&token).deadline(later).reduce(|| 0.0, add);
            assert_eq!(stoppable.map(f64::to_bits).ok(), Some(expected));
            let owned = v.clone().into_par_iter().map(sometimes_yield).bound_depth(5);
            let awaited = pool.install(|| furcate::block_on(owned.async_reduce(|| 0.0, add)));
            assert_eq!(awaited.to_bits(), expected);
        }
    }
}
