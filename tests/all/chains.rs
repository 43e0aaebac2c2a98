//! I1: chains of adaptors x random policies x scripts of thieves equal the sequential iterator, in order: every ordered pair of adaptors, as
//! types.
//!
//! Each chain is compiled once: for the adaptive scheduler, which cuts, folds in steps, gives parts away and takes them back, on an engine
//! whose thieves follow a script. The product of all schedulers, policies, engines and longer chains is that of erased iterators
//! (`combinations`).

use furcate::policy::AnyPolicy;
use furcate::prelude::*;
use proptest::prelude::*;
use testkit::policies::any_policy;
use testkit::scripted::Scripted;
use testkit::{interleave, pairs};

/// Policies, and the script of the engine's thieves.
#[derive(Clone, Debug)]
struct Schedule {
    first: AnyPolicy,
    second: AnyPolicy,
    /// Seed of the script.
    script: u64,
}

fn any_schedule() -> impl Strategy<Value = Schedule> {
    (any_policy(), any_policy(), 0..u64::MAX).prop_map(|(first, second, script)| Schedule {
        first,
        second,
        script,
    })
}

/// Collects a chain in order.
fn drive<I: ParallelIterator<Item = u64>>(items: I, schedule: &Schedule) -> Vec<u64> {
    let chain = items.with_policy(schedule.first.clone()).with_policy(schedule.second.clone());
    chain.adaptive().nano_blocks(1, 8).on(Scripted::random(schedule.script)).collect()
}

/// The chains that a second adaptor follows.
trait Chain: IndexedParallelIterator<Item = u64> + Clone + Sync {}

impl<I: IndexedParallelIterator<Item = u64> + Clone + Sync> Chain for I {}

pairs! {
    then_flat_map: |it| it.flat_map(|x| 0..x % 4), it.flat_map(|x| 0..x % 4);
}
