//! `Cap` is exact: the bound on live tasks holds for all computations that share it, and every token comes back.

use crate::support::{Collect, Place, pool};
use furcate_schedulers::policy::{Both, BoundDepth, Cap, ForceDepth, SizeLimit};
use furcate_schedulers::{DefaultExecutor, Join, Policy, Reduction, Scheduler};
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Barrier;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use testkit::{LONG, within};

/// The number of leaves that run at once, and its maximum.
#[derive(Debug, Default)]
struct Live {
    now: AtomicUsize,
    most: AtomicUsize,
}

impl Live {
    fn during<R>(&self, body: impl FnOnce() -> R) -> R {
        let now = self.now.fetch_add(1, Ordering::SeqCst) + 1;
        self.most.fetch_max(now, Ordering::SeqCst);
        let result = body();
        self.now.fetch_sub(1, Ordering::SeqCst);
        result
    }

    fn most(&self) -> usize {
        self.most.load(Ordering::SeqCst)
    }
}

/// Counts items. A leaf takes so long that leaves overlap if they may.
#[derive(Clone, Copy, Debug)]
struct Slow<'a>(&'a Live);

impl Reduction<usize> for Slow<'_> {
    type Accumulator = usize;
    type Output = usize;
    fn start(&self) -> usize {
        0
    }
    fn fold_item(&self, count: usize, _: usize) -> ControlFlow<usize, usize> {
        ControlFlow::Continue(count + 1)
    }
    fn fold<I: Iterator<Item = usize>>(&self, count: usize, items: I) -> usize {
        self.0.during(|| {
            std::thread::sleep(Duration::from_millis(1));
            count + items.count()
        })
    }
    fn finish(&self, count: usize) -> usize {
        count
    }
    fn reduce(&self, left: usize, right: usize) -> usize {
        left + right
    }
}

/// Returns the most of 64 leaves that ran at once on 8 threads.
fn most_live(policy: impl Policy) -> usize {
    let live = Live::default();
    assert_eq!(Place::Pool(8).run(Join, 0..64, policy, Slow(&live)), 64);
    live.most()
}

/// Runs the computation until so many leaves have run at once. Returns the most, which may be more than that.
#[track_caller]
fn reaches(tasks: usize, policy: impl Policy) -> usize {
    let since = Instant::now();
    loop {
        let most = most_live(policy.clone());
        if most >= tasks {
            return most;
        }
        assert!(since.elapsed() < LONG, "never {tasks} leaves at once, but {most}");
    }
}

#[test]
fn never_more_live_tasks_than_the_cap() {
    for tasks in [1, 2, 3, 5] {
        let cap = Cap::new(tasks);
        assert!(most_live(Both::new(BoundDepth::new(6), cap.clone())) <= tasks);
        assert_eq!(cap.available(), tasks);
        assert!(most_live(Both::new(cap.clone(), ForceDepth::new(6))) <= tasks, "forced");
        assert_eq!(cap.available(), tasks);
    }
    // Without a cap more leaves run at once: there are enough threads and leaves.
    reaches(6, BoundDepth::new(6));
    reaches(6, Both::new(BoundDepth::new(6), Cap::new(usize::MAX)));
}

/// A cap allows as many tasks as it can: tokens that come back are used again.
#[test]
fn the_cap_is_reached() {
    for tasks in [2, 4] {
        let chain = Both::new(ForceDepth::new(6), Cap::new(tasks));
        assert_eq!(reaches(tasks, chain), tasks);
    }
}

#[test]
fn the_smaller_of_two_caps_counts() {
    for (first, second) in [(2, 5), (5, 2), (1, 8), (3, 3)] {
        let (first, second) = (Cap::new(first), Cap::new(second));
        let least = first.available().min(second.available());
        let chain = Both::new(Both::new(first.clone(), BoundDepth::new(6)), second.clone());
        let all = (first.available(), second.available());
        assert!(most_live(chain) <= least);
        assert_eq!((first.available(), second.available()), all);
    }
}

/// The same cap twice in a chain takes two tokens for every task, and gives back the first if the second is not
/// available.
#[test]
fn the_same_cap_twice_in_a_chain() {
    for tasks in 1..6 {
        let cap = Cap::new(tasks);
        let chain = Both::new(Both::new(cap.clone(), cap.clone()), ForceDepth::new(6));
        assert!(most_live(chain) <= (tasks / 2).max(1));
        assert_eq!(cap.available(), tasks);
    }
}

/// Two computations that share a cap: together they run no more tasks than it allows, plus a root that has not forked
/// yet and so holds no token.
#[test]
fn concurrent_computations_share_a_cap() {
    let (cap, live) = (Cap::new(3), Live::default());
    let gate = Barrier::new(2);
    std::thread::scope(|threads| {
        for _ in 0..2 {
            threads.spawn(|| {
                gate.wait();
                for _ in 0..5 {
                    let chain = Both::new(cap.clone(), BoundDepth::new(5));
                    assert_eq!(Place::Pool(8).run(Join, 0..64, chain, Slow(&live)), 64);
                }
            });
        }
    });
    assert!(live.most() <= 3 + 1, "{live:?}");
    assert_eq!(cap.available(), 3);
}

/// Runs a computation in every leaf, under the same cap.
#[derive(Clone, Debug)]
struct Nested<'a> {
    cap: Cap,
    live: &'a Live,
}

impl Reduction<usize> for Nested<'_> {
    type Accumulator = usize;
    type Output = usize;
    fn start(&self) -> usize {
        0
    }
    fn fold_item(&self, sum: usize, _: usize) -> ControlFlow<usize, usize> {
        let chain = Both::new(SizeLimit::new(1), self.cap.clone());
        ControlFlow::Continue(sum + Place::Pool(8).run(Join, 0..8, chain, Slow(self.live)))
    }
    fn finish(&self, sum: usize) -> usize {
        sum
    }
    fn reduce(&self, left: usize, right: usize) -> usize {
        left + right
    }
}

#[test]
fn nested_computations_share_a_cap() {
    for tasks in [1, 2, 4] {
        let (cap, live) = (Cap::new(tasks), Live::default());
        let nested = Nested { cap: cap.clone(), live: &live };
        let chain = Both::new(cap.clone(), SizeLimit::new(1));
        assert_eq!(Place::Pool(8).run(Join, 0..8, chain, nested), 64);
        assert!(live.most() <= tasks, "{live:?} under {tasks}");
        assert_eq!(cap.available(), tasks);
    }
}

/// A task gives its token back when its own part is folded, before the parts that it forked are done. While one half
/// sleeps, the other one's token is available to all tasks.
#[test]
fn a_task_that_waits_is_not_live() {
    #[derive(Clone)]
    struct Watch<'a>(&'a Cap, &'a Barrier);
    impl Reduction<usize> for Watch<'_> {
        type Accumulator = usize;
        type Output = usize;
        fn start(&self) -> usize {
            0
        }
        fn fold_item(&self, _: usize, item: usize) -> ControlFlow<usize, usize> {
            self.1.wait(); // both run at once
            if item == 1 {
                while self.0.available() == 0 {
                    std::thread::yield_now();
                }
            }
            ControlFlow::Continue(item)
        }
        fn finish(&self, item: usize) -> usize {
            item
        }
        fn reduce(&self, left: usize, right: usize) -> usize {
            left + right
        }
    }
    within(LONG, || {
        let (cap, gate) = (Cap::new(2), Barrier::new(2));
        let chain = Both::new(SizeLimit::new(1), cap.clone());
        let run = || Join.schedule((0..2, chain, Watch(&cap, &gate)), &DefaultExecutor::default());
        // Both slots are needed, so no other test may use the pool.
        assert_eq!(testkit::pool(2).install(run), 1);
    });
}

#[test]
fn tokens_survive_a_policy_that_panics() {
    #[derive(Clone)]
    struct Touchy;
    impl Policy for Touchy {
        fn wants_split(&mut self, task: &furcate_schedulers::Node) -> furcate_schedulers::Verdict {
            assert!(task.depth < 3, "deep enough");
            true.into()
        }
    }
    for place in Place::ALL {
        let cap = Cap::new(20);
        let chain = Both::new(Both::new(cap.clone(), Touchy), cap.clone());
        let caught = catch_unwind(AssertUnwindSafe(|| place.run(Join, 0..64, chain, Collect)));
        assert_eq!(*caught.unwrap_err().downcast::<&str>().unwrap(), "deep enough");
        assert_eq!(cap.available(), 20, "{place:?}");
    }
    assert_eq!(pool(8).install(|| 1), 1);
}
