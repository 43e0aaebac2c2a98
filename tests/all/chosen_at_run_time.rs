//! A policy and a scheduler that are chosen at run time behave as the same ones chosen at compile time.

use furcate::policy::{
    AnyPolicy, Both, BoundDepth, Cap, EvenLevels, ForceDepth, JoinContext, MaxLen, MinLen, SizeLimit,
    ThiefSplitting,
};
use furcate::prelude::*;
use furcate::{
    Adaptive, AnyScheduler, ByTerminal, DepJoin, DynSchedule, Executor, Inline, Join, Node, Plan, Schedule,
    Scheduler, Sequential, ThreadPoolBuilder, Verdict,
};
use std::sync::Arc;

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
        assert_eq!(futures_lite::future::block_on(items().async_sum::<u64>()), (0..100_000).sum::<u64>());
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

/// A schedule behind `dyn` divides as the plan that it was made of.
#[test]
fn schedules_behind_dyn_divide_as_their_plans() {
    let pool = Arc::new(ThreadPoolBuilder::new().num_threads(1).build().unwrap());
    fn sizes(schedule: impl Schedule) -> Vec<usize> {
        (0..1000_usize).into_par_iter().fold(|| 0, |count, _| count + 1).with(schedule).collect()
    }
    let mut schedules = 0;
    macro_rules! plans {
        ($($method:ident($($arg:expr),*)),+ $(,)?) => {$(
            let plan = Plan::new().on(&pool).$method($($arg),*);
            let expected = sizes(plan.clone());
            assert_eq!(expected.iter().sum::<usize>(), 1000);
            assert_eq!(sizes(&plan as &dyn DynSchedule), expected, "{plan:?}");
            let boxed: Box<dyn DynSchedule> = Box::new(plan.clone());
            assert_eq!(sizes(&boxed), expected, "{plan:?}");
            assert_eq!(sizes(boxed), expected, "{plan:?}");
            let shared: Arc<dyn DynSchedule> = Arc::new(plan.clone());
            assert_eq!(sizes(&shared), expected, "{plan:?}");
            assert_eq!(sizes(plan.any_plan().any_plan()), expected, "{plan:?}");
            schedules += 1;
        )+};
    }
    plans!(
        bound_depth(3),
        size_limit(100),
        with_min_len(300),
        with_policy(Both::new(BoundDepth::new(3), MinLen::new(300))),
        with_policy(Thirds(100)),
        cap(2),
        depjoin(),
        sequential(),
        adaptive(),
    );
    assert_eq!(schedules, 9);
}

/// A policy of one's own that changes on its way down.
#[derive(Clone, Debug)]
struct Thirds(usize);

impl furcate::Policy for Thirds {
    fn wants_split(&mut self, task: &Node) -> Verdict {
        (task.len > self.0).into()
    }
    fn split(self, _: &Node) -> (Self, Self) {
        (Thirds(self.0 / 3), Thirds(self.0 * 3))
    }
}

#[test]
fn an_executor_chosen_at_run_time() {
    let (small, large) =
        [1, 3].map(|n| Arc::new(ThreadPoolBuilder::new().num_threads(n).build().unwrap())).into();
    for (pool, threads) in [(&small, 1), (&large, 3)] {
        let schedule: Arc<dyn DynSchedule> = Arc::new(Plan::new().adaptive().on(pool));
        let seen = |_| furcate::current_num_threads();
        let items = || (0..100).into_par_iter().map(seen).with(&schedule);
        assert_eq!(items().executor().num_threads(), threads);
        assert_eq!(items().max(), Some(threads));
        assert_eq!(items().min(), Some(threads));
        assert_eq!(items().depjoin().max(), Some(threads));
        // The schedule is read at once, so the future owns its share of it.
        let sum = items().async_sum::<usize>();
        assert_eq!(futures_lite::future::block_on(sum), 100 * threads);
        let ready = |x| async move { seen(x) };
        let awaited = (0..100).into_par_iter().map(ready).with(&schedule).join().io_await();
        assert_eq!(awaited.sum::<usize>(), 100 * threads);
    }
}
