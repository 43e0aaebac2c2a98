//! I1: chains of adaptors x random policies x schedulers x pool sizes equal the sequential iterator, in order.
//!
//! Policies and schedulers are chosen at run time, adaptors at compile time: every ordered pair of them. Many more
//! combinations, of erased iterators, are in `tests/combinations`.

#[path = "support/policies.rs"]
mod policies;
#[macro_use]
#[path = "support/pairs.rs"]
mod pairs;

use furcate::prelude::*;
use furcate::{
    Adaptive, ByBlocks, ByTerminal, DepJoin, Doubling, Executor, Join, Reduction, Scheduler, Sequential,
};
use pairs::interleave;
use policies::{AnyPolicy, any_policy};
use proptest::prelude::*;

/// Any scheduler, chosen at run time.
#[derive(Clone, Copy, Debug)]
enum AnyScheduler {
    Join,
    DepJoin,
    Adaptive,
    Sequential,
    ByTerminal,
    Doubling,
    /// Blocks of one size.
    Uniform(usize),
    /// A number of blocks of one unit, and the rest; the blocks are not divided.
    Ones(usize),
}

impl Scheduler for AnyScheduler {
    fn schedule<P, L, R, E>(&self, producer: P, policy: L, reduction: R, executor: &E) -> R::Output
    where
        P: Producer,
        L: Policy,
        R: Reduction<P::Item>,
        E: Executor,
    {
        match *self {
            Self::Join => Join.schedule(producer, policy, reduction, executor),
            Self::DepJoin => DepJoin.schedule(producer, policy, reduction, executor),
            Self::Adaptive => {
                Adaptive::new().nano_blocks(1, 8).schedule(producer, policy, reduction, executor)
            }
            Self::Sequential => Sequential.schedule(producer, policy, reduction, executor),
            Self::ByTerminal => ByTerminal.schedule(producer, policy, reduction, executor),
            Self::Doubling => {
                ByBlocks::new(ByTerminal, Doubling).schedule(producer, policy, reduction, executor)
            }
            Self::Uniform(size) => {
                ByBlocks::new(Join, std::iter::repeat(size)).schedule(producer, policy, reduction, executor)
            }
            Self::Ones(blocks) => ByBlocks::new(Sequential, std::iter::repeat_n(1, blocks))
                .schedule(producer, policy, reduction, executor),
        }
    }
}

/// A schedule, and the place where it runs.
#[derive(Clone, Debug)]
struct Schedule {
    first: AnyPolicy,
    second: AnyPolicy,
    scheduler: AnyScheduler,
    /// Number of threads; 0 means a call from outside every pool.
    threads: usize,
}

fn any_schedule() -> impl Strategy<Value = Schedule> {
    let scheduler = prop_oneof![
        4 => Just(AnyScheduler::Join),
        2 => Just(AnyScheduler::DepJoin),
        2 => Just(AnyScheduler::Adaptive),
        1 => Just(AnyScheduler::Sequential),
        1 => Just(AnyScheduler::ByTerminal),
        1 => Just(AnyScheduler::Doubling),
        1 => (1..50_usize).prop_map(AnyScheduler::Uniform),
        1 => (0..5_usize).prop_map(AnyScheduler::Ones),
    ];
    let threads = prop_oneof![Just(0_usize), Just(1), Just(2), Just(3), Just(8)];
    (any_policy(), any_policy(), scheduler, threads)
        .prop_map(|(first, second, scheduler, threads)| Schedule { first, second, scheduler, threads })
}

fn on_threads<R: Send>(threads: usize, run: impl FnOnce() -> R + Send) -> R {
    #[cfg(not(furcate_rayon))]
    use furcate as engine;
    #[cfg(furcate_rayon)]
    use rayon as engine;
    use std::collections::HashMap;
    use std::sync::{LazyLock, Mutex};
    static POOLS: LazyLock<Mutex<HashMap<usize, &'static engine::ThreadPool>>> =
        LazyLock::new(Mutex::default);
    if threads == 0 {
        return run();
    }
    let pool = *POOLS.lock().unwrap().entry(threads).or_insert_with(|| {
        Box::leak(Box::new(engine::ThreadPoolBuilder::new().num_threads(threads).build().unwrap()))
    });
    pool.install(run)
}

/// Runs a chain with a non-commutative reduction, and collects it in order.
fn drive<I: ParallelIterator<Item = u64> + Clone>(items: I, schedule: &Schedule) -> Vec<u64> {
    let scheduled = |items: I| {
        items
            .with_policy(schedule.first.clone())
            .with_policy(schedule.second.clone())
            .with_scheduler(schedule.scheduler)
    };
    on_threads(schedule.threads, move || {
        let collected: Vec<u64> = scheduled(items.clone()).collect();
        let concatenated =
            scheduled(items.clone()).map(|x| vec![x]).reduce(Vec::new, |mut left, mut right| {
                left.append(&mut right);
                left
            });
        assert_eq!(collected, concatenated, "collect and a non-commutative reduction differ");
        collected
    })
}

/// The chains that a second adaptor follows.
trait Chain: IndexedParallelIterator<Item = u64> + Clone {}

impl<I: IndexedParallelIterator<Item = u64> + Clone> Chain for I {}

pairs! {
    then_flat_map: |it| it.flat_map(|x| 0..x % 4), it.flat_map(|x| 0..x % 4);
}
