//! I1 on many ranks: chains of adaptors x random policies x numbers of ranks and workers equal the sequential iterator, in order.
//!
//! The facade's `tests/all/chains.rs` has every pair of adaptors, these among them.

use furcate::policy::AnyPolicy;
use furcate::prelude::*;
use furcate_cluster::{ByPosition, Portable, SpreadOver, Threads};
use proptest::prelude::*;
use testkit::policies::any_policy;
use testkit::{interleave, pairs};

/// Policies, and the ranks that run a chain.
#[derive(Clone, Debug)]
struct Schedule {
    first: AnyPolicy,
    second: AnyPolicy,
    ranks: usize,
    workers: usize,
}

fn any_schedule() -> impl Strategy<Value = Schedule> {
    let ranks = prop_oneof![1 => Just(1_usize), 3 => Just(2), 2 => Just(3), 1 => Just(5)];
    (any_policy(), any_policy(), ranks, 1..3_usize).prop_map(|(first, second, ranks, workers)| Schedule {
        first,
        second,
        ranks,
        workers,
    })
}

/// Runs a chain on all ranks, with a non-commutative reduction, and collects it in order.
fn drive<I>(items: I, schedule: &Schedule) -> Vec<u64>
where
    I: ParallelIterator<Item = u64> + Portable<Form = ByPosition> + Clone + Sync,
{
    let results = Threads::new(schedule.ranks).workers(schedule.workers).run(|world| {
        let chain = items.clone().with_policy(schedule.first.clone()).with_policy(schedule.second.clone());
        // In order, and not commutative.
        chain.map(|x| vec![x]).spread(world).reduce(Vec::new, |mut left, mut right| {
            left.append(&mut right);
            left
        })
    });
    assert!(results.iter().all(|result| *result == results[0]), "ranks differ");
    results.into_iter().next().expect("there is a rank")
}

/// The chains that a second adaptor follows.
trait Chain: IndexedParallelIterator<Item = u64> + Portable<Form = ByPosition> + Clone + Sync {}

impl<I: IndexedParallelIterator<Item = u64> + Portable<Form = ByPosition> + Clone + Sync> Chain for I {}

// A rank sees a chain as sizes, cuts and positions: one adaptor of each kind is enough behind another one.
pairs! { only
    then_filter: |it| it.filter(|x| x % 3 == 0), it.filter(|x| x % 3 == 0);
    then_flat_map_iter: |it| it.flat_map_iter(|x| 0..x % 4), it.flat_map(|x| 0..x % 4);
    then_rev: |it| it.rev(), it.rev();
    then_chunks: |it| it.chunks(4).map(|c| c.iter().fold(0, |a, x| a * 7 + x)), it.collect::<Vec<_>>().chunks(4).map(|c| c.iter().fold(0, |a, x| a * 7 + x)).collect::<Vec<_>>().into_iter();
    then_interleave: |it| it.clone().interleave(it.map(|x| x + 1000)), interleave(it.clone().collect(), it.map(|x| x + 1000).collect()).into_iter();
}
