//! Invariants of [`Join`] that need a look at its internals. The integration tests check its results.

use super::*;
use crate::policy::{Both, Cap, EvenLevels, ForceDepth, SizeLimit, ThiefSplitting};
use crate::samples::Text;
use crate::tree::frames::{ForkFrame, MAX_FRAMES, frames};
use crate::{Divisible, Facts, Node, Policy, Producer, Reduction, Scheduler, Sequential, Verdict};
use furcate_pool::Inline;
use std::ops::{ControlFlow, Range};
use std::panic::{AssertUnwindSafe, catch_unwind};
use testkit::lone::Lone;

/// Measures something at every item, and keeps the maximum.
#[derive(Clone)]
struct Most<F>(F);

impl<F: Fn(usize) -> u32 + Clone + Send> Reduction<usize> for Most<F> {
    type Accumulator = u32;
    type Output = u32;
    fn start(&self) -> u32 {
        0
    }
    fn fold_item(&self, most: u32, item: usize) -> ControlFlow<u32, u32> {
        ControlFlow::Continue(most.max((self.0)(item)))
    }
    fn finish(&self, most: u32) -> u32 {
        most
    }
    fn reduce(&self, left: u32, right: u32) -> u32 {
        left.max(right)
    }
}

/// One element to the left, the other ones to the right.
struct List(Range<usize>);

impl Divisible for List {
    fn size(&self) -> usize {
        self.0.len()
    }
    fn divide_at(self, index: usize) -> (Self, Self) {
        let (left, right) = self.0.divide_at(index);
        (List(left), List(right))
    }
    fn divide(self) -> (Self, Self) {
        self.divide_at(1)
    }
}

impl IntoIterator for List {
    type Item = usize;
    type IntoIter = Range<usize>;
    fn into_iter(self) -> Range<usize> {
        self.0
    }
}

impl Producer for List {
    const FACTS: Facts = Facts::ITEMS;
}

/// Every right part seems to be stolen, by a thief that runs it on top of this stack.
const THIEVISH: Lone = Lone { threads: 1, stolen: true };

const FRAMES: Most<fn(usize) -> u32> = Most(|_| frames());

/// Invariant 2. A waiting worker runs stolen work on its own stack, so a steal frees no frame there.
#[test]
fn frames_are_bounded() {
    for policy in [SizeLimit::new(1), SizeLimit::new(0)] {
        assert_eq!(Join.schedule((List(0..1000), policy, FRAMES), &Inline), MAX_FRAMES);
        assert_eq!(Join.schedule((List(0..1000), policy, FRAMES), &THIEVISH), MAX_FRAMES);
    }
    assert_eq!(Join.schedule((0..1000, SizeLimit::new(1), FRAMES), &Inline), 10);
    assert_eq!(frames(), 0);
}

#[test]
fn divisions_that_are_not_forked_use_frames_too() {
    let forced = Both::new(Cap::new(1), ForceDepth::new(u32::MAX));
    assert_eq!(Join.schedule((List(0..1000), forced, FRAMES), &Inline), MAX_FRAMES);
}

#[test]
fn a_call_within_a_call_counts_on() {
    let inner = |_| Join.schedule((List(0..1000), SizeLimit::new(1), FRAMES), &Inline);
    assert_eq!(Join.schedule((List(0..20), SizeLimit::new(1), Most(inner)), &Inline), MAX_FRAMES);
    let inner = |_| Join.schedule((0..1000, SizeLimit::new(1), FRAMES), &Inline);
    assert_eq!(Join.schedule((0..16, SizeLimit::new(1), Most(inner)), &Inline), 4 + 10);
}

#[test]
fn frames_are_left_by_a_panic() {
    for bad in [0, 3, 500, 999] {
        let look = move |item| {
            assert_ne!(item, bad);
            0
        };
        let run = || Join.schedule((List(0..1000), SizeLimit::new(1), Most(look)), &Inline);
        assert!(catch_unwind(AssertUnwindSafe(run)).is_err());
        assert_eq!(frames(), 0);
    }
}

#[cfg(not(loom))] // models have no pool
#[test]
fn a_thief_begins_with_its_own_frames() {
    use std::sync::Barrier;
    let pool = furcate_pool::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
    // The two halves wait for each other, so one is on the thief's stack, which is empty.
    let gate = Barrier::new(2);
    let meet = |item: usize| {
        gate.wait();
        frames() + 10 * u32::try_from(item).unwrap()
    };
    let look = Most(&meet);
    let most = pool.install(|| Join.schedule((0..2, SizeLimit::new(1), look), &furcate_pool::Pool));
    assert_eq!(most, 10);
}

#[cfg(not(loom))] // models have no pool
#[test]
fn forks_nest_deeper_on_larger_stacks_of_a_pools_threads() {
    let most = |size| {
        let pool = furcate_pool::ThreadPoolBuilder::new().num_threads(1).stack_size(size).build().unwrap();
        pool.install(|| Join.schedule((List(0..100_000), SizeLimit::new(1), FRAMES), &furcate_pool::Pool))
    };
    assert_eq!([512 << 10, 1 << 20, 8 << 20].map(most), [1, 2, 16].map(|times| times * MAX_FRAMES));
}

/// Past the limit of frames the tree is the same, and the reductions are made at the same nodes.
#[test]
fn what_runs_in_turn_is_divided_and_reduced_alike() {
    fn check(policy: impl Policy) {
        let run = |executor: &Inline| Join.schedule((0..30, policy.clone(), Text), executor);
        let expected = run(&Inline);
        let full: Vec<_> = std::iter::from_fn(ForkFrame::enter).collect();
        assert_eq!(run(&Inline), expected);
        drop(full);
    }
    check(SizeLimit::new(4));
    check(Both::new(EvenLevels, SizeLimit::new(4)));
    check(Both::new(ForceDepth::new(3), Cap::new(2)));
}

/// If no fork is made for lack of a frame, the permit to fork is given back, so other tasks can have it.
#[test]
fn what_runs_in_turn_holds_no_permits() {
    let full: Vec<_> = std::iter::from_fn(ForkFrame::enter).collect();
    let cap = Cap::new(4);
    let look = |_| u32::try_from(cap.available()).unwrap();
    let least = Most(|item| 4 - look(item));
    assert_eq!(Join.schedule((0..100, Both::new(SizeLimit::new(1), cap.clone()), least), &Inline), 0);
    drop(full);
}

/// Nor does a fork that is not made because a side is empty hold a permit: the number of live tasks stays the same.
#[test]
fn what_has_an_empty_side_holds_no_permits() {
    #[derive(Clone)]
    struct Always;
    impl Policy for Always {
        fn wants_split(&mut self, _: &Node) -> Verdict {
            Verdict::Must
        }
    }
    let cap = Cap::new(4);
    let taken = Most(|_| 4 - u32::try_from(cap.available()).unwrap());
    assert_eq!(Join.schedule((0..1, Both::new(Always, cap.clone()), taken.clone()), &Inline), 0);
    assert_eq!(Join.schedule((0..2, Both::new(Always, cap.clone()), taken), &Inline), 2);
}

/// A steal counts once: the continuation of a stolen task has not been stolen again.
#[test]
fn thief_splitting_counts_levels_from_the_steal() {
    /// Loses an element per division, and leaves one side empty.
    struct OneSided(Range<usize>);
    impl Divisible for OneSided {
        fn size(&self) -> usize {
            self.0.len()
        }
        fn divide_at(self, index: usize) -> (Self, Self) {
            let (left, right) = self.0.divide_at(index);
            (OneSided(left), OneSided(right))
        }
        fn divide(self) -> (Self, Self) {
            if self.0.len() == 200 {
                return self.divide_at(100);
            }
            (OneSided(self.0.start + 1..self.0.end), OneSided(0..0))
        }
    }
    impl IntoIterator for OneSided {
        type Item = usize;
        type IntoIter = std::iter::Once<usize>;
        fn into_iter(self) -> Self::IntoIter {
            std::iter::once(100 - self.0.len()) // number of divisions so far
        }
    }
    impl Producer for OneSided {
        const FACTS: Facts = Facts::ITEMS;
    }

    #[derive(Clone)]
    struct Concat;
    impl Reduction<usize> for Concat {
        type Accumulator = Vec<usize>;
        type Output = Vec<usize>;
        fn start(&self) -> Vec<usize> {
            vec![]
        }
        fn fold_item(&self, _: Vec<usize>, item: usize) -> ControlFlow<Vec<usize>, Vec<usize>> {
            ControlFlow::Continue(vec![item])
        }
        fn finish(&self, items: Vec<usize>) -> Vec<usize> {
            items
        }
        fn reduce(&self, left: Vec<usize>, right: Vec<usize>) -> Vec<usize> {
            [left, right].concat()
        }
    }
    let divisions =
        |executor: &Lone| Join.schedule((OneSided(0..200), ThiefSplitting::new(5), Concat), executor);
    assert_eq!(divisions(&THIEVISH), [4, 5]); // below the root, below the steal
}

/// The scheduler asks for a permit only when everything else has agreed, and asks for none if nothing is divided.
#[test]
fn permits_are_asked_for_last() {
    #[derive(Clone)]
    struct Refusing;
    impl Policy for Refusing {
        fn wants_split(&mut self, _: &Node) -> Verdict {
            Verdict::MayNot
        }
        fn permit_fork(&mut self, _: &Node) -> bool {
            panic!("asked for a permit that nobody needs")
        }
    }
    assert_eq!(Join.schedule((0..9, Refusing, FRAMES), &Inline), 0);
    assert_eq!(Sequential.schedule((0..9, Refusing, FRAMES), &Inline), 0);
}
