//! A chain's schedule is one value: stored, given to many chains, and the same as the words of a chain.

use furcate::policy::{Auto, Both, BoundDepth, MinLen};
use furcate::prelude::*;
use furcate::{Adaptive, ByBlocks, Inline, Join, Plan, Schedule, Sequential, ThreadPool, ThreadPoolBuilder};
use std::sync::Arc;

/// Returns the sizes of the tasks under a schedule, on one thread.
fn tasks(schedule: impl Schedule) -> Vec<usize> {
    let plan = schedule.into_plan().on(Inline);
    (0..1000_usize).into_par_iter().fold(|| 0, |count, _| count + 1).with(plan).collect()
}

#[test]
fn each_method_of_a_plan_is_that_of_a_chain() {
    let mut methods = 0;
    macro_rules! check {
        ($($method:ident($($arg:expr),*)),+ $(,)?) => {$(
            let chain = (0..1000_usize).into_par_iter().fold(|| 0, |count, _| count + 1);
            let expected: Vec<_> = chain.size_limit(300).$method($($arg),*).on(Inline).collect();
            assert_eq!(tasks(Plan::new().size_limit(300).$method($($arg),*)), expected, stringify!($method));
            methods += 1;
        )+};
    }
    check!(
        bound_depth(3),
        force_depth(4),
        even_levels(),
        size_limit(100),
        cap(1),
        join_context_policy(3),
        thief_splitting(5),
        with_min_len(300),
        with_max_len(70),
        with_policy(BoundDepth::new(1)),
        with_scheduler(Join),
        sequential(),
        join(),
        depjoin(),
        adaptive(),
        by_blocks([10, 500]),
        by_exponential_blocks(),
        by_uniform_blocks(64),
        on(Inline),
    );
    assert_eq!(methods, 19);
    let steps = |min, max| tasks(Plan::new().adaptive().nano_blocks(min, max));
    assert_eq!(steps(1, 8).iter().sum::<usize>(), 1000);
}

/// The policies of a schedule and of a chain add up, in either order.
#[test]
fn policies_add_up() {
    let plan = Plan::new().bound_depth(3).on(Inline);
    let pieces = || (0..800).wrap_iter();
    assert_eq!(pieces().with(plan).count(), 8);
    assert_eq!(pieces().with_min_len(200).with(plan).count(), 4);
    assert_eq!(pieces().with(plan).with_min_len(200).count(), 4);
    assert_eq!(pieces().with(plan).with(Plan::new().force_depth(4).on(Inline)).count(), 16);
}

/// The scheduler and the executor that were named last hold, and a schedule names both, if only by its defaults.
#[test]
fn the_last_scheduler_and_the_last_executor_hold() {
    let items = || (0..10).into_par_iter();
    let plan = Plan::new().sequential().on(Inline);
    assert_eq!(items().adaptive().with(plan).scheduler(), Sequential);
    assert_eq!(items().with(plan).adaptive().scheduler(), Adaptive::new());
    assert_eq!(items().with(plan).map(|x| x + 1).executor(), Inline);
    let _: Plan<Both<Auto, Auto>> = items().sequential().on(Inline).with(Plan::new()).schedule();
}

struct Service {
    queries: Plan<Both<Auto, BoundDepth>, ByBlocks<Adaptive>, Arc<ThreadPool>>,
}

/// A schedule in a struct is lent to chains of several types. The chains do not borrow it, so they can become futures.
#[test]
fn a_schedule_in_a_struct() {
    let pool = Arc::new(ThreadPoolBuilder::new().num_threads(2).build().unwrap());
    let queries = Plan::new().bound_depth(3).adaptive().by_exponential_blocks().on(&pool);
    let service = Service { queries };
    let sum = (0..100_u64).into_par_iter().with(&service.queries).async_sum::<u64>();
    let words = ["to", "get", "her"];
    let found = words.par_iter().with(&service.queries).find_first(|word| word.starts_with('g'));
    assert_eq!(found, Some(&"get"));
    let index = pool.current_thread_index();
    let on_the_pool = (0..100)
        .into_par_iter()
        .with(&service.queries)
        .all(|_| index.is_none() && furcate::current_num_threads() == 2);
    assert!(on_the_pool);
    drop(service);
    assert_eq!(futures_lite::future::block_on(sum), 4950);
}

/// The numbers of a deck of cards, under a schedule of their own.
struct Deck;

impl ParallelIterator for Deck {
    type Item = u32;
    type Producer<'a> = std::ops::Range<u32>;
    type Schedule = Plan<Both<Auto, MinLen>, Sequential>;

    fn producer(&mut self) -> Self::Producer<'_> {
        0..52
    }
    fn schedule(&self) -> Self::Schedule {
        Plan::new().with_min_len(13).sequential()
    }
}

#[test]
fn a_schedule_goes_from_chain_to_chain() {
    let deck = Deck.map(|card| card % 13).on(Inline);
    let other = (0..1000).wrap_iter().bound_depth(4).with(deck.schedule());
    assert_eq!((other.count(), deck.max()), (1, Some(12)));
    // The first of two combined iterators says how both are run.
    assert_eq!(Deck.chain((0..10).into_par_iter().adaptive()).scheduler(), Sequential);
}
