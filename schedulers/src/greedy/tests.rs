//! The greedy join under every theft: the order of reduction, the frames, and what a panic leaves behind.

use crate::policy::{Both, Cap, ForceDepth, SizeLimit};
use crate::samples::{Count, Text};
use crate::tree::frames::{MAX_FRAMES, frames};
use crate::{DepJoin, Divisible, Ends, Facts, Join, Policy, Producer, Reduction, Scheduler};
use furcate_pool::Inline;
use std::ops::{ControlFlow, Range};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread;
use testkit::scripted::Scripted;

/// Under every theft and in every order, the tree of reductions is that of a join.
#[test]
fn reductions_are_those_of_a_join() {
    fn check<P: Producer<Item = usize>>(scripts: usize, make: impl Fn() -> P, policy: impl Policy) {
        let expected = Join.schedule((make(), policy.clone(), Text), &Inline);
        let ran = Scripted::every(16, |engine| {
            let got = DepJoin.schedule((make(), policy.clone(), Text), engine);
            assert_eq!(got, expected, "{engine:?}");
            assert_eq!(frames(), 0);
        });
        println!("{ran} scripts");
        assert!(ran >= scripts, "{ran}");
        for seed in 0..300 {
            let got = DepJoin.schedule((make(), policy.clone(), Text), &Scripted::random(seed));
            assert_eq!(got, expected, "{seed}");
        }
    }
    check(1, || 0..1, SizeLimit::new(1));
    check(3, || 0..2, SizeLimit::new(1));
    check(100, || 0..4, SizeLimit::new(1));
    check(1000, || 0..6, SizeLimit::new(1));
    check(400, || List(0..5), SizeLimit::new(1));
    check(400, || Stack(0..5), SizeLimit::new(1));
    // Divisions without a fork, with nodes below them.
    check(50, || 0..8, Both::new(ForceDepth::new(3), Cap::new(2)));
}

/// Finds the first of some items, or the last one. Its outputs are counted.
#[derive(Clone)]
struct Outermost<'a, const BACK: bool>(&'a [usize], &'a Arc<()>);

impl<const BACK: bool> Reduction<usize> for Outermost<'_, BACK> {
    type Accumulator = Option<(usize, Arc<()>)>;
    type Output = Self::Accumulator;

    const ENDS: Ends = Ends { search: true, backward: BACK, ..Ends::NEVER };

    fn start(&self) -> Self::Output {
        None
    }
    fn fold_item(&self, hit: Self::Output, item: usize) -> ControlFlow<Self::Output, Self::Output> {
        let found = self.0.contains(&item).then(|| (item, Arc::clone(self.1)));
        ControlFlow::Continue(if BACK { found.or(hit) } else { hit.or(found) })
    }
    fn finish(&self, hit: Self::Output) -> Self::Output {
        hit
    }
    fn reduce(&self, left: Self::Output, right: Self::Output) -> Self::Output {
        if BACK { right.or(left) } else { left.or(right) }
    }
    fn is_final(&self, hit: &Self::Output) -> bool {
        hit.is_some()
    }
}

/// A final output that goes up early is the result. All outputs before and after it are dropped.
#[test]
fn searches_under_every_theft() {
    for hits in [&[][..], &[0], &[5], &[2, 3], &[1, 4], &[0, 1, 2, 3, 4, 5]] {
        let alive = Arc::new(());
        let ran = Scripted::every(14, |engine| {
            let policy = SizeLimit::new(1);
            let first = DepJoin.schedule((0..6, policy, Outermost::<false>(hits, &alive)), engine);
            assert_eq!(first.map(|hit| hit.0), hits.first().copied(), "{engine:?}");
            let last = DepJoin.schedule((List(0..6), policy, Outermost::<true>(hits, &alive)), engine);
            assert_eq!(last.map(|hit| hit.0), hits.last().copied(), "{engine:?}");
            assert_eq!(Arc::strong_count(&alive), 1);
        });
        assert!(ran > 100, "{ran}");
    }
}

/// One element to the left, the other ones to the right.
struct List(Range<usize>);

/// One element to the right, the other ones to the left.
struct Stack(Range<usize>);

/// All elements to one side, except one that is lost: to the left, or, if their number is odd, to the right.
struct OneSided(Range<usize>);

macro_rules! divided {
    ($Name:ident, |$range:ident| $divide:expr) => {
        impl Divisible for $Name {
            fn size(&self) -> usize {
                self.0.len()
            }
            fn divide_at(self, index: usize) -> (Self, Self) {
                let (left, right) = self.0.divide_at(index);
                ($Name(left), $Name(right))
            }
            fn divide(self) -> (Self, Self) {
                let $range = self.0;
                let (left, right): (Range<usize>, Range<usize>) = $divide;
                ($Name(left), $Name(right))
            }
        }
        impl IntoIterator for $Name {
            type Item = usize;
            type IntoIter = Range<usize>;
            fn into_iter(self) -> Range<usize> {
                self.0
            }
        }
        impl Producer for $Name {
            const FACTS: Facts = Facts::ITEMS;
        }
    };
}
divided!(List, |range| range.divide_at(1));
divided!(Stack, |range| {
    let last = range.len() - 1;
    range.divide_at(last)
});
divided!(OneSided, |range| {
    let rest = range.start + 1..range.end;
    if rest.len() % 2 == 0 { (rest, 0..0) } else { (0..0, rest) }
});

const ALL: Count = Count { bad: None };

fn on_a_small_stack(run: impl FnOnce() + Send) {
    thread::scope(|threads| {
        let thread = thread::Builder::new().stack_size(512 << 10);
        thread.spawn_scoped(threads, run).unwrap().join().unwrap();
    });
}

/// I7: lopsided divisions.
#[test]
fn lopsided_divisions_use_no_stack() {
    on_a_small_stack(|| {
        for engine in [Scripted::undecided(), Scripted::random(1), Scripted::random(2)] {
            assert_eq!(DepJoin.schedule((List(0..10_000), SizeLimit::new(1), ALL), &engine), 10_000);
            assert_eq!(DepJoin.schedule((Stack(0..10_000), SizeLimit::new(1), ALL), &engine), 10_000);
            let left = DepJoin.schedule((OneSided(0..1_000_000), SizeLimit::new(10), ALL), &engine);
            assert_eq!(left, 10);
        }
    });
}

#[test]
fn frames_are_bounded() {
    /// The most frames seen.
    #[derive(Clone)]
    struct Most;
    impl Reduction<usize> for Most {
        type Accumulator = u32;
        type Output = u32;
        fn start(&self) -> u32 {
            0
        }
        fn fold_item(&self, most: u32, _: usize) -> ControlFlow<u32, u32> {
            ControlFlow::Continue(most.max(frames()))
        }
        fn finish(&self, most: u32) -> u32 {
            most
        }
        fn reduce(&self, left: u32, right: u32) -> u32 {
            left.max(right)
        }
    }
    for engine in [Scripted::undecided(), Scripted::random(3)] {
        assert_eq!(DepJoin.schedule((List(0..1000), SizeLimit::new(1), Most), &engine), MAX_FRAMES);
        assert_eq!(frames(), 0);
    }
}

/// After a panic, parts that no worker runs any more and nodes that are never filled are dropped without a leak.
#[test]
fn a_panic_under_every_theft() {
    let scripts = Scripted::every(12, |engine| {
        let cap = Cap::new(3);
        for bad in [0, 3, 5] {
            let policy = Both::new(SizeLimit::new(1), cap.clone());
            let run = || DepJoin.schedule((0..6, policy, Count { bad: Some(bad) }), engine);
            let payload = catch_unwind(AssertUnwindSafe(run)).expect_err("a panic");
            assert_eq!(*payload.downcast::<&str>().expect("ours"), "planned");
            assert_eq!((cap.available(), frames()), (3, 0));
        }
    });
    assert!(scripts > 100, "{scripts}");
}

#[test]
fn every_token_comes_back_under_every_theft() {
    let scripts = Scripted::every(14, |engine| {
        for tokens in 1..4 {
            let cap = Cap::new(tokens);
            let policy = Both::new(SizeLimit::new(1), cap.clone());
            assert_eq!(DepJoin.schedule((0..6, policy, ALL), engine), 6);
            assert_eq!(cap.available(), tokens);
        }
    });
    assert!(scripts > 100, "{scripts}");
}
