//! Adaptive tasks under every script of demand and theft: their number, their order, and their ends.

use super::*;
use crate::policy::{Both, BoundDepth, Cap, EvenLevels, ForceDepth, SizeLimit, ThiefSplitting};
use crate::samples::{Count, Counted};
use crate::tree::branch::BLIND_LEVELS;
use crate::tree::frames::frames;
use crate::{DepJoin, Divisible, Ends, Facts};
use furcate_pool::Inline;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::thread;
use testkit::scripted::Scripted;

/// A scheduler that looks for demand before and after every item.
const CLOSE: Adaptive = Adaptive::new().nano_blocks(1, 1);

/// Lists the items of every task, and counts the tasks.
#[derive(Clone)]
struct Lists<'c>(&'c AtomicUsize);

impl Reduction<usize> for Lists<'_> {
    type Accumulator = Vec<usize>;
    type Output = Vec<Vec<usize>>;
    fn start(&self) -> Vec<usize> {
        self.0.fetch_add(1, Relaxed);
        vec![]
    }
    fn fold_item(&self, mut list: Vec<usize>, item: usize) -> ControlFlow<Vec<usize>, Vec<usize>> {
        list.push(item);
        ControlFlow::Continue(list)
    }
    fn finish(&self, list: Vec<usize>) -> Self::Output {
        vec![list]
    }
    fn reduce(&self, left: Self::Output, right: Self::Output) -> Self::Output {
        [left, right].concat()
    }
}

/// The result of a run: the tasks' items, and the number of divisions.
struct Run {
    tasks: Vec<Vec<usize>>,
    divisions: usize,
}

fn run(how: impl Scheduler, len: usize, policy: impl Policy, engine: &impl Executor) -> Run {
    let (divisions, starts) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let tasks = how.schedule((Counted(0..len, &divisions), policy, Lists(&starts)), engine);
    assert_eq!(tasks.concat(), (0..len).collect::<Vec<_>>(), "in order");
    assert_eq!(tasks.len(), starts.into_inner(), "one accumulator per task, and none besides");
    Run { tasks, divisions: divisions.into_inner() }
}

/// A policy that allows every division.
fn free() -> impl Policy {
    BoundDepth::new(u32::MAX)
}

#[test]
fn without_thieves_it_is_one_task() {
    for how in [Adaptive::new(), CLOSE, Adaptive::new().nano_blocks(7, 3)] {
        for len in [0, 1, 2, 3, 1000] {
            let run = run(how, len, free(), &Inline);
            assert_eq!((run.tasks.len(), run.divisions), (1, 0));
        }
    }
}

/// I4: one task, and one for each theft.
#[test]
fn as_many_tasks_as_thefts_and_one() {
    let divided = AtomicUsize::new(0);
    for len in [1, 2, 3, 5, 6] {
        let scripts = Scripted::every(13, |engine| {
            let run = run(CLOSE, len, free(), engine);
            let thefts = engine.thefts();
            assert_eq!(thefts.forks, 0);
            assert_eq!(run.tasks.len(), thefts.offers + 1, "{engine:?}");
            assert_eq!(run.divisions, thefts.offers + thefts.back, "{engine:?}");
            assert!(run.tasks.iter().all(|items| !items.is_empty()), "nobody is given nothing");
            divided.fetch_max(run.tasks.len(), Relaxed);
        });
        println!("{len} items: {scripts} scripts");
        assert!(scripts > 300 || len < 5, "{scripts}");
    }
    assert!(divided.into_inner() >= 4);
    for seed in 0..500 {
        let engine = Scripted::random(seed);
        let run = run(CLOSE, 100, free(), &engine);
        assert_eq!(run.tasks.len(), engine.thefts().offers + 1, "{seed}");
    }
}

#[test]
fn demand_without_theft_costs_divisions_but_no_tasks() {
    let engine = Scripted::undecided();
    let run = run(CLOSE, 1000, free(), &engine);
    assert_eq!(run.tasks.len(), 1);
    assert!(run.divisions > 5 && run.divisions == engine.thefts().back, "{}", run.divisions);
}

#[test]
fn what_may_not_be_divided_is_not() {
    for seed in 0..50 {
        for policy in [SizeLimit::new(100), SizeLimit::new(200)] {
            let run = run(CLOSE, 100, policy, &Scripted::random(seed));
            assert_eq!((run.tasks.len(), run.divisions), (1, 0));
        }
        let shallow = run(CLOSE, 100, BoundDepth::new(2), &Scripted::random(seed));
        assert!(shallow.tasks.len() <= 4, "{:?}", shallow.tasks);
        let small = run(CLOSE, 100, SizeLimit::new(30), &Scripted::random(seed));
        // A division cuts more than the limit, so its halves are larger than half the limit.
        assert!(small.tasks[1..].iter().all(|items| items.len() > 7), "{:?}", small.tasks);
    }
}

/// A stolen task has migrated until its first division. After that its remaining part has not migrated.
#[test]
fn a_theft_counts_for_one_division() {
    // Every task gives one part away, so they halve: a part for each level of a binary tree's edge, not for its nodes.
    let tasks = run(CLOSE, 1 << 10, ThiefSplitting::new(1), &Scripted::greedy()).tasks;
    assert!((6..=11).contains(&tasks.len()), "{}", tasks.len());
    let tasks = run(CLOSE, 1 << 10, free(), &Scripted::greedy()).tasks;
    assert!(tasks.len() > 100, "{}", tasks.len());
}

#[test]
fn what_must_be_divided_is_beforehand() {
    for seed in 0..100 {
        let engine = Scripted::random(seed);
        let run = run(CLOSE, 64, ForceDepth::new(2), &engine);
        assert!(run.tasks.len() >= 4);
        assert_eq!(run.tasks.len(), 4 + engine.thefts().offers, "{seed}");
        for start in [0, 16, 32, 48] {
            assert!(run.tasks.iter().any(|items| items[0] == start), "{:?}", run.tasks);
        }
    }
    // A policy that says *must* and *may not*: *must* wins.
    let both = || Both::new(ForceDepth::new(3), SizeLimit::new(usize::MAX));
    assert_eq!(run(CLOSE, 64, both(), &Scripted::random(1)).tasks, run(DepJoin, 64, both(), &Inline).tasks);
    // A policy that always says *must*, even if nothing is left to cut.
    for seed in 0..50 {
        run(CLOSE, 50, EvenLevels, &Scripted::random(seed));
    }
}

/// With no frames left, divisions that must be made are made, and all others are still left to demand.
#[test]
fn past_the_last_frame_only_what_must_be_is_divided() {
    let policy = || Both::new(ForceDepth::new(2), SizeLimit::new(1));
    let full: Vec<_> = std::iter::from_fn(ForkFrame::enter).collect();
    assert_eq!(run(CLOSE, 64, policy(), &Inline).tasks.len(), 4);
    drop(full);
    assert_eq!(run(CLOSE, 64, policy(), &Inline).tasks.len(), 4);
}

#[test]
fn every_token_comes_back_under_every_theft() {
    for tokens in [1, 2, 3] {
        let scripts = Scripted::every(12, |engine| {
            let cap = Cap::new(tokens);
            let run = run(CLOSE, 6, cap.clone(), engine);
            assert_eq!(cap.available(), tokens, "{engine:?}");
            assert!(tokens > 1 || (run.tasks.len(), run.divisions) == (1, 0));
        });
        assert!(scripts > 100 || tokens == 1, "{scripts}");
        for seed in 0..200 {
            let cap = Cap::new(tokens);
            run(CLOSE, 60, Both::new(ForceDepth::new(2), cap.clone()), &Scripted::random(seed));
            assert_eq!(cap.available(), tokens, "{seed}");
        }
    }
}

/// One element to the left, the other ones to the right; or the other way round.
#[derive(Clone)]
struct Lopsided {
    range: Range<usize>,
    list: bool,
}

impl Divisible for Lopsided {
    fn size(&self) -> usize {
        self.range.len()
    }
    fn divide_at(self, index: usize) -> (Self, Self) {
        let (left, right) = self.range.divide_at(index);
        let part = |range| Lopsided { range, list: self.list };
        (part(left), part(right))
    }
    fn divide(self) -> (Self, Self) {
        let index = if self.list { 1 } else { self.range.len().saturating_sub(1) };
        self.divide_at(index)
    }
}

impl IntoIterator for Lopsided {
    type Item = usize;
    type IntoIter = Range<usize>;
    fn into_iter(self) -> Range<usize> {
        self.range
    }
}

impl Producer for Lopsided {
    const FACTS: Facts = Facts::ITEMS;
}

/// As [`Count`], but every task ends after its first item.
#[derive(Clone)]
struct Firsts;

impl Reduction<usize> for Firsts {
    type Accumulator = usize;
    type Output = usize;
    const ENDS: Ends = Ends::EARLY;
    fn start(&self) -> usize {
        0
    }
    fn fold_item(&self, _: usize, _: usize) -> ControlFlow<usize, usize> {
        ControlFlow::Break(1)
    }
    fn finish(&self, count: usize) -> usize {
        count
    }
    fn reduce(&self, left: usize, right: usize) -> usize {
        left + right
    }
}

fn on_a_small_stack(run: impl FnOnce() + Send) {
    thread::scope(|threads| {
        let thread = thread::Builder::new().stack_size(512 << 10);
        thread.spawn_scoped(threads, run).unwrap().join().unwrap();
    });
}

/// I7: a long chain of nodes is built up, and reduced or given up, in a loop.
#[test]
fn a_task_that_is_stolen_from_a_hundred_thousand_times() {
    const LEN: usize = 100_000;
    on_a_small_stack(|| {
        for list in [false, true] {
            let whole = Lopsided { range: 0..LEN, list };
            let engine = Scripted::greedy();
            assert_eq!(CLOSE.schedule((whole.clone(), free(), Count { bad: None }), &engine), LEN);
            assert!(engine.thefts().offers >= LEN / 2, "{:?}", engine.thefts());
            for bad in [0, LEN / 2, LEN - 1] {
                let run =
                    || CLOSE.schedule((whole.clone(), free(), Count { bad: Some(bad) }), &Scripted::greedy());
                let payload = catch_unwind(AssertUnwindSafe(run)).expect_err("a panic");
                assert_eq!(*payload.downcast::<&str>().expect("ours"), "planned");
                assert_eq!(frames(), 0);
            }
        }
    });
}

/// I7: the part on offer of a task that ends early is a task of its own, which may end early, too.
#[test]
fn tasks_that_end_early_one_after_the_other() {
    const LEN: usize = 100_000;
    on_a_small_stack(|| {
        let tasks =
            CLOSE.schedule((Lopsided { range: 0..LEN, list: true }, free(), Firsts), &Scripted::undecided());
        assert!(tasks > 10, "{tasks}");
        assert_eq!(frames(), 0);
        for seed in 0..5 {
            let whole = Lopsided { range: 0..LEN, list: true };
            assert!(CLOSE.schedule((whole, free(), Firsts), &Scripted::random(seed)) > 0);
        }
    });
}

/// I7: divisions with an empty side.
#[test]
fn a_side_that_is_empty_is_not_given_away() {
    /// All elements on one side, except one that is lost.
    struct OneSided {
        range: Range<usize>,
        left: bool,
    }
    impl Divisible for OneSided {
        fn size(&self) -> usize {
            self.range.len()
        }
        fn divide_at(self, index: usize) -> (Self, Self) {
            let (left, right) = self.range.divide_at(index);
            (OneSided { range: left, left: self.left }, OneSided { range: right, left: self.left })
        }
        fn divide(self) -> (Self, Self) {
            let OneSided { range, left } = self;
            let (rest, none) = (range.start + 1..range.end, 0..0);
            let (first, second) = if left { (rest, none) } else { (none, rest) };
            (OneSided { range: first, left }, OneSided { range: second, left })
        }
    }
    impl IntoIterator for OneSided {
        type Item = usize;
        type IntoIter = Range<usize>;
        fn into_iter(self) -> Range<usize> {
            self.range
        }
    }
    impl Producer for OneSided {
        const FACTS: Facts = Facts::ITEMS;
    }

    const LEN: usize = 1_000_000;
    on_a_small_stack(|| {
        for left in [true, false] {
            let whole = || OneSided { range: 0..LEN, left };
            for engine in [Scripted::undecided(), Scripted::greedy(), Scripted::random(1)] {
                let how = Adaptive::new();
                let counted = how.schedule((whole(), free(), Count { bad: None }), &engine);
                assert!(counted <= LEN, "{counted}");
                assert!(engine.thefts().offers <= usize::from(!left) * LEN, "{:?}", engine.thefts());
            }
            // A million divisions that must be made.
            let must = ForceDepth::new(u32::MAX);
            assert_eq!(CLOSE.schedule((whole(), must, Count { bad: None }), &Scripted::random(2)), 1);
        }
    });
}

/// An endless size, or one that does not fit, stays the same when it is divided.
#[test]
fn what_is_larger_than_can_be_said_is_divided_too() {
    /// Any number of units.
    struct Endless;
    impl Divisible for Endless {
        fn size(&self) -> usize {
            usize::MAX
        }
        fn divide_at(self, _: usize) -> (Self, Self) {
            (Endless, Endless)
        }
    }
    impl IntoIterator for Endless {
        type Item = usize;
        type IntoIter = std::iter::RepeatN<usize>;
        fn into_iter(self) -> Self::IntoIter {
            std::iter::repeat_n(7, 10)
        }
    }
    impl Producer for Endless {
        const FACTS: Facts = Facts::ITEMS;
    }
    let engine = Scripted::greedy();
    let tasks = CLOSE.schedule((Endless, free(), Firsts), &engine);
    assert!((8..=2 << BLIND_LEVELS).contains(&engine.thefts().offers), "{:?}", engine.thefts());
    assert_eq!(tasks, engine.thefts().offers + 1);
    let engine = Scripted::greedy();
    assert_eq!(CLOSE.schedule((0..usize::MAX, BoundDepth::new(3), Firsts), &engine), 8);
}

/// Sizes that do not get smaller, under any thefts.
#[test]
fn divisions_that_lead_nowhere_end() {
    struct Same(u32);
    impl Divisible for Same {
        fn size(&self) -> usize {
            100
        }
        fn divide_at(self, _: usize) -> (Self, Self) {
            (Same(self.0 + 1), Same(self.0 + 1))
        }
    }
    impl IntoIterator for Same {
        type Item = usize;
        type IntoIter = std::iter::Once<usize>;
        fn into_iter(self) -> Self::IntoIter {
            std::iter::once(self.0 as usize)
        }
    }
    impl Producer for Same {
        const FACTS: Facts = Facts::ITEMS;
    }
    for engine in [Scripted::greedy(), Scripted::undecided(), Scripted::random(4)] {
        let counted = CLOSE.schedule((Same(0), free(), Count { bad: None }), &engine);
        assert!((1..100_000).contains(&counted), "{counted}");
    }
}

#[test]
fn a_panic_under_every_theft() {
    let scripts = Scripted::every(11, |engine| {
        for bad in [0, 2, 4] {
            let cap = Cap::new(3);
            let starts = AtomicUsize::new(0);
            let source = Counted(0..5, &starts);
            let run = || CLOSE.schedule((source, cap.clone(), Count { bad: Some(bad) }), engine);
            let payload = catch_unwind(AssertUnwindSafe(run)).expect_err("a panic");
            assert_eq!(*payload.downcast::<&str>().expect("ours"), "planned");
            assert_eq!((cap.available(), frames()), (3, 0));
        }
    });
    assert!(scripts > 100, "{scripts}");
}

/// A reduction that takes longer than a step should: pieces do not get shorter because of it.
#[test]
fn pieces_grow_with_what_is_done() {
    struct Pieces(Range<usize>);
    impl Divisible for Pieces {
        fn size(&self) -> usize {
            self.0.len()
        }
        fn divide_at(self, index: usize) -> (Self, Self) {
            let (left, right) = self.0.divide_at(index);
            (Pieces(left), Pieces(right))
        }
    }
    impl IntoIterator for Pieces {
        type Item = usize;
        type IntoIter = std::iter::Once<usize>;
        fn into_iter(self) -> Self::IntoIter {
            std::iter::once(self.0.len())
        }
    }
    impl Producer for Pieces {
        const FACTS: Facts = Facts { pieces: true, steps_cut: true, ..Facts::ITEMS };
    }
    #[derive(Clone)]
    struct Slow;
    impl Reduction<usize> for Slow {
        type Accumulator = Vec<usize>;
        type Output = Vec<usize>;
        fn start(&self) -> Vec<usize> {
            vec![]
        }
        fn fold_item(&self, mut pieces: Vec<usize>, len: usize) -> ControlFlow<Vec<usize>, Vec<usize>> {
            thread::sleep(std::time::Duration::from_micros(200));
            pieces.push(len);
            ControlFlow::Continue(pieces)
        }
        fn finish(&self, pieces: Vec<usize>) -> Vec<usize> {
            pieces
        }
        fn reduce(&self, left: Vec<usize>, right: Vec<usize>) -> Vec<usize> {
            [left, right].concat()
        }
    }
    let pieces = Adaptive::new().schedule((Pieces(0..100_000), free(), Slow), &Inline);
    assert_eq!(pieces.iter().sum::<usize>(), 100_000);
    assert!((20..120).contains(&pieces.len()), "{}", pieces.len());
    // A scheduler whose lengths were set keeps to them.
    let pieces = CLOSE.schedule((Pieces(0..100), free(), Slow), &Inline);
    assert_eq!(pieces.len(), 100);
}

/// A task whose size says little, as that of a list of work: its steps are as short as any others.
#[test]
fn a_task_that_grows_is_timed() {
    /// So many units, of which four are in the list at any time, and the longest step.
    struct List<'l>(usize, &'l AtomicUsize);
    impl Divisible for List<'_> {
        fn size(&self) -> usize {
            self.0.min(4)
        }
        fn divide_at(self, index: usize) -> (Self, Self) {
            let left = index.min(self.0);
            (List(left, self.1), List(self.0 - left, self.1))
        }
    }
    impl IntoIterator for List<'_> {
        type Item = usize;
        type IntoIter = std::iter::Once<usize>;
        fn into_iter(self) -> Self::IntoIter {
            std::iter::once(self.0)
        }
    }
    impl Producer for List<'_> {
        const FACTS: Facts = Facts { pieces: true, single: false, ..Facts::ITEMS };

        fn partial_fold<'s, B, F, L>(mut self, init: B, mut fold: F, steps: &mut L) -> ControlFlow<B, B>
        where
            Self: 's,
            B: crate::Suspendable<'s>,
            F: StepFold<'s, usize, B>,
            L: Steps<Self>,
        {
            let all = self.0;
            while self.0 > 0 {
                let NextStep::Fold(limit) = steps.next(self.size()) else { panic!("no thieves, no stop") };
                let units = limit.min(self.0);
                self.1.fetch_max(units, Relaxed);
                let begin = std::time::Instant::now();
                while begin.elapsed() < std::time::Duration::from_micros(1) * units as u32 {}
                self.0 -= units;
            }
            fold.fold(init, std::iter::once(all))
        }
    }
    let longest = AtomicUsize::new(0);
    let starts = AtomicUsize::new(0);
    let lists = Adaptive::new().schedule((List(200_000, &longest), free(), Lists(&starts)), &Inline);
    assert_eq!(lists, [[200_000]]);
    let longest = longest.into_inner();
    assert!(longest <= 5000, "a step takes {longest} us");
}
