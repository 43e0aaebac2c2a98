//! I1: chains of adaptors x random policies x schedulers x pool sizes equal the sequential iterator, in order.
//!
//! Policies and schedulers are chosen at run time, adaptors at compile time: every ordered pair of them. Many more
//! combinations, of erased iterators, are in `tests/combinations`.

#[path = "support/policies.rs"]
mod policies;

use furcate::prelude::*;
use furcate::{
    Adaptive, ByBlocks, ByTerminal, DepJoin, Doubling, Executor, Join, Reduction, Scheduler, Sequential,
};
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

/// Declares adaptors in both worlds, from `u64` to `u64`. Those marked `indexed` can be followed by any other.
macro_rules! adaptors {
    (@then { $($second:ident: |$it:ident| $par:expr, $seq:expr;)+ }) => {
        proptest! {
            #![proptest_config(ProptestConfig::with_cases(32))]
            $(
                #[test]
                fn $second(v in proptest::collection::vec(0..100_u64, 0..300), schedule in any_schedule()) {
                    let expected: Vec<u64> = {
                        let $it = seq(&v).into_iter();
                        $seq.collect()
                    };
                    let collected = {
                        let $it = par(&v);
                        drive($par, &schedule)
                    };
                    prop_assert_eq!(&collected, &expected);
                }
            )+
        }
    };
    (indexed { $($indexed:ident: |$i:ident| $i_par:expr, $i_seq:expr;)+ }
     last $last:tt) => {
        $(
            mod $indexed {
                use super::*;

                fn par<'v>(v: &'v [u64]) -> impl IndexedParallelIterator<Item = u64> + Clone + 'v {
                    let $i = v.par_iter().copied();
                    $i_par
                }
                fn seq(v: &[u64]) -> Vec<u64> {
                    let $i = v.iter().copied();
                    $i_seq.collect()
                }

                adaptors!(@then $last);
            }
        )+
    };
}

adaptors! {
    indexed {
        map: |it| it.map(|x| x * 3 + 1), it.map(|x| x * 3 + 1);
        enumerate: |it| it.enumerate().map(|(i, x)| i as u64 * 100 + x), it.enumerate().map(|(i, x)| i as u64 * 100 + x);
        rev: |it| it.rev(), it.rev();
        zip: |it| it.clone().zip(it.skip(1)).map(|(a, b)| a * 100 + b), it.clone().zip(it.skip(1)).map(|(a, b)| a * 100 + b);
        skip_take: |it| it.skip(3).take(100), it.skip(3).take(100);
        step_by: |it| it.step_by(3), it.step_by(3);
        chain: |it| it.clone().chain(it), it.clone().chain(it);
        chunks: |it| it.chunks(7).map(|c| c.into_iter().sum()), it.collect::<Vec<_>>().chunks(7).map(|c| c.iter().sum()).collect::<Vec<_>>().into_iter();
        map_init: |it| it.map_init(|| 1, |one, x| x + *one), it.map(|x| x + 1);
    }
    last {
        then_map: |it| it.map(|x| x ^ 5), it.map(|x| x ^ 5);
        then_filter: |it| it.filter(|x| x % 3 == 0), it.filter(|x| x % 3 == 0);
        then_filter_map: |it| it.filter_map(|x| x.checked_sub(50)), it.filter_map(|x| x.checked_sub(50));
        then_flat_map: |it| it.flat_map(|x| 0..x % 4), it.flat_map(|x| 0..x % 4);
        then_flat_map_iter: |it| it.flat_map_iter(|x| 0..x % 4), it.flat_map(|x| 0..x % 4);
        then_rev: |it| it.rev(), it.rev();
        then_enumerate: |it| it.enumerate().map(|(i, x)| i as u64 + x), it.enumerate().map(|(i, x)| i as u64 + x);
        then_skip: |it| it.skip(5), it.skip(5);
        then_take: |it| it.take(17), it.take(17);
        then_step_by: |it| it.step_by(2), it.step_by(2);
        then_chain: |it| it.clone().chain(it.filter(|x| x % 2 == 0)), it.clone().chain(it.filter(|x| x % 2 == 0));
        then_chunks: |it| it.chunks(4).map(|c| c.iter().fold(0, |a, x| a * 7 + x)), it.collect::<Vec<_>>().chunks(4).map(|c| c.iter().fold(0, |a, x| a * 7 + x));
        then_interleave: |it| it.clone().interleave(it.map(|x| x + 1000)), interleave(it.clone().collect(), it.map(|x| x + 1000).collect()).into_iter();
        then_map_with: |it| it.map_with(7, |seven, x| x * *seven), it.map(|x| x * 7);
    }
}

fn interleave(left: Vec<u64>, right: Vec<u64>) -> Vec<u64> {
    left.into_iter().zip(right).flat_map(|(a, b)| [a, b]).collect()
}
