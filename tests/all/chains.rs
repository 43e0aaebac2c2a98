//! I1: chains of adaptors x random policies x pool sizes equal the sequential iterator, in order: every ordered pair of adaptors, as types.
//!
//! Each chain is compiled for the default schedule, on a pool, and for the adaptive one, on an engine whose thieves follow a script. The
//! product of all schedulers, policies, engines and longer chains is that of erased iterators (`combinations`).

use furcate::policy::AnyPolicy;
use furcate::prelude::*;
use proptest::prelude::*;
use testkit::policies::any_policy;
use testkit::scripted::Scripted;
use testkit::{interleave, pairs, shared_pool};

/// Policies, and the place where a chain runs.
#[derive(Clone, Debug)]
struct Schedule {
    first: AnyPolicy,
    second: AnyPolicy,
    /// Number of threads; 0 means a call from outside every pool.
    threads: usize,
    /// Seed of the thieves' script.
    script: u64,
}

fn any_schedule() -> impl Strategy<Value = Schedule> {
    let threads = prop_oneof![Just(0_usize), Just(1), Just(2), Just(3), Just(8)];
    (any_policy(), any_policy(), threads, 0..u64::MAX).prop_map(|(first, second, threads, script)| Schedule {
        first,
        second,
        threads,
        script,
    })
}

/// Collects a chain in order, and reduces it by an operation that is not commutative.
fn drive<I: ParallelIterator<Item = u64> + Clone + Sync>(items: I, schedule: &Schedule) -> Vec<u64> {
    let chain = items.with_policy(schedule.first.clone()).with_policy(schedule.second.clone());
    let collect = || chain.clone().collect::<Vec<u64>>();
    let collected = match schedule.threads {
        0 => collect(),
        threads => shared_pool(threads).install(collect),
    };
    let scripted = chain.clone().adaptive().nano_blocks(1, 8).on(Scripted::random(schedule.script));
    let concatenated = scripted.map(|x| vec![x]).reduce(Vec::new, |mut left, mut right| {
        left.append(&mut right);
        left
    });
    assert_eq!(collected, concatenated, "collect and a non-commutative reduction differ");
    collected
}

/// The chains that a second adaptor follows.
trait Chain: IndexedParallelIterator<Item = u64> + Clone + Sync {}

impl<I: IndexedParallelIterator<Item = u64> + Clone + Sync> Chain for I {}

pairs! {
    then_flat_map: |it| it.flat_map(|x| 0..x % 4), it.flat_map(|x| 0..x % 4);
}
