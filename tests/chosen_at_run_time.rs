//! A policy and a scheduler that are chosen at run time behave as the same ones chosen at compile time.

use furcate::policy::{
    AnyPolicy, BoundDepth, Cap, EvenLevels, ForceDepth, JoinContext, MaxLen, MinLen, SizeLimit,
    ThiefSplitting,
};
use furcate::prelude::*;
use furcate::{Adaptive, AnyScheduler, ByTerminal, DepJoin, Inline, Join, Scheduler, Sequential};

/// Returns the sizes of the tasks.
fn tasks(policy: impl furcate::Policy, scheduler: impl Scheduler) -> Vec<usize> {
    let items = (0..1000_usize).into_par_iter().fold(|| 0, |count, _| count + 1);
    items.with_policy(policy).with_scheduler(scheduler).on(Inline).collect()
}

#[test]
fn the_tasks_are_those_of_the_same_schedule_chosen_at_compile_time() {
    let mut schedules = 0;
    macro_rules! check {
        ($($policy:expr),+ $(,)?) => {$(
            check!(@schedulers $policy; Join, DepJoin, Sequential, ByTerminal, Adaptive::new().nano_blocks(1, 8));
        )+};
        (@schedulers $policy:expr; $($scheduler:expr),+) => {$(
            let expected = tasks($policy, $scheduler);
            assert_eq!(expected.iter().sum::<usize>(), 1000);
            assert_eq!(
                tasks(AnyPolicy::from($policy), AnyScheduler::from($scheduler)),
                expected,
                "{:?}, {:?}", $policy, $scheduler
            );
            schedules += 1;
        )+};
    }
    check!(
        BoundDepth::new(3),
        SizeLimit::new(100),
        ForceDepth::new(2),
        EvenLevels,
        JoinContext::new(3),
        ThiefSplitting::new(2),
        MinLen::new(300),
        MaxLen::new(70),
        Cap::new(2),
    );
    assert_eq!(schedules, 45);
    assert_eq!(
        tasks(AnyPolicy::default(), AnyScheduler::default()),
        tasks(BoundDepth::new(0), Join),
        "one thread"
    );
}

/// A schedule is chosen in the way in which a program reads it from its command line.
#[test]
fn one_chain_for_all_of_them() {
    let sums = ["join", "depjoin", "adaptive", "sequential", "by blocks"].map(|name| {
        let scheduler = match name {
            "join" => AnyScheduler::Join,
            "depjoin" => AnyScheduler::DepJoin,
            "adaptive" => Adaptive::new().into(),
            "sequential" => AnyScheduler::Sequential,
            _ => AnyScheduler::default(),
        };
        let blocks = if name == "by blocks" { vec![10, 100] } else { vec![] };
        let policy = if name == "join" { AnyPolicy::from(SizeLimit::new(64)) } else { AnyPolicy::default() };
        let chain = (0..1000_u64).into_par_iter().map(|x| x + 1);
        chain.with_policy(policy).with_scheduler(scheduler).by_blocks(blocks).sum::<u64>()
    });
    assert_eq!(sums, [500_500; 5]);
}

/// Searches end early, and computations as futures need no thread: the choice is passed on.
#[test]
fn searches_and_futures() {
    for scheduler in
        [AnyScheduler::ByTerminal, AnyScheduler::DepJoin, AnyScheduler::Adaptive(Adaptive::new())]
    {
        let items = || (0..100_000).into_par_iter().with_scheduler(scheduler);
        assert_eq!(items().find_first(|x| x % 777 == 776), Some(776));
        assert_eq!(futures_lite::future::block_on(items().async_sum::<u64>()), (0..100_000).sum());
    }
}

/// The type does not say that the policy caps, so the compiler cannot refuse it.
#[cfg(not(furcate_rayon))]
#[test]
fn a_cap_chosen_at_run_time_is_refused_beside_io_await() {
    let count = |policy: AnyPolicy| {
        let futures = (0..9).into_par_iter().with_policy(policy).map(|x| async move { x });
        std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| futures.io_await().count()))
    };
    assert_eq!(count(SizeLimit::new(2).into()).unwrap(), 9);
    let message = *count(Cap::new(2).into()).unwrap_err().downcast::<String>().unwrap();
    assert!(message.contains("max_in_flight"), "{message}");
}
