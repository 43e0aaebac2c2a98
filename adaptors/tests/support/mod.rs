//! Shared parts of the integration tests: pools, schedules, and inputs of interesting lengths.
#![allow(dead_code, unused_macros, unused_imports, reason = "every test crate uses its part")]

pub(crate) mod cuts;
pub(crate) mod drops;
pub(crate) mod states;
pub(crate) mod steps;
pub(crate) mod tracked;

#[cfg(not(furcate_rayon))]
use furcate_pool as engine;
#[cfg(furcate_rayon)]
use rayon_core as engine;
use std::sync::OnceLock;

/// Lengths at which off-by-one errors show (I2).
pub(crate) const LENGTHS: [usize; 12] = [0, 1, 2, 3, 7, 8, 9, 63, 64, 65, 1000, 4097];

/// Pools of 1, 2, 3 and 8 threads, of the default engine.
pub(crate) fn pools() -> &'static [engine::ThreadPool] {
    static POOLS: OnceLock<Vec<engine::ThreadPool>> = OnceLock::new();
    POOLS.get_or_init(|| {
        [1, 2, 3, 8]
            .into_iter()
            .map(|threads| engine::ThreadPoolBuilder::new().num_threads(threads).build().unwrap())
            .collect()
    })
}

/// Runs a check inside every pool, and from outside all of them.
pub(crate) fn on_pools(check: impl Fn() + Sync) {
    check();
    for pool in pools() {
        pool.install(&check);
    }
}

/// Evaluates an expression with the same parallel iterator under many schedules, and compares every result with the
/// expected one: `assert_schedules!(expected, source, |it| it.map(f).collect::<Vec<_>>())`.
macro_rules! assert_schedules {
    ($expected:expr, $source:expr, |$it:ident| $result:expr) => {{
        let expected = &$expected;
        macro_rules! under {
            ($schedule:literal, $chosen:expr) => {{
                let $it = $chosen;
                let result = $result;
                assert_eq!(&result, expected, concat!("under ", $schedule));
            }};
        }
        under!("the default", $source);
        under!("sequential", $source.sequential());
        under!("size_limit(1)", $source.size_limit(1));
        under!("bound_depth(3)", $source.bound_depth(3));
        under!("even_levels, force_depth", $source.even_levels().force_depth(3));
        under!("thief_splitting(4), cap(3)", $source.thief_splitting(4).cap(3));
        under!("depjoin", $source.size_limit(3).depjoin());
        under!("adaptive", $source.adaptive().nano_blocks(1, 2));
        under!("force_depth(2), adaptive", $source.force_depth(2).adaptive());
        under!("adaptive, blocks of 5", $source.adaptive().by_uniform_blocks(5));
        under!("size_limit(9), doubling blocks", $source.size_limit(9).by_exponential_blocks());
        under!("join_context(6), inline", $source.join_context_policy(6).on(furcate::Inline));
    }};
}
pub(crate) use assert_schedules;
