//! P1 to P3: a panic in any call of user code (the n-th, for every n) reaches the caller, leaves the pool usable, drops
//! every item once and gives every token back.

use crate::support::{Collect, Place};
use furcate_schedulers::policy::{Both, Cap, SizeLimit};
use furcate_schedulers::{
    Adaptive, DepJoin, Divisible, Ends, Facts, Join, Node, Policy, Producer, Reduction, Scheduler,
    Sequential, Verdict,
};
use std::fmt::Debug;
use std::ops::{ControlFlow, Range};
use std::panic::{AssertUnwindSafe, catch_unwind, panic_any, resume_unwind};
use std::sync::atomic::{AtomicIsize, AtomicUsize, Ordering};
use testkit::scripted::Scripted;

const ITEMS: usize = 16;

/// Counts the calls of user code and panics in one of them.
#[derive(Debug)]
struct Fuse {
    calls_left: AtomicIsize,
    drops: [AtomicUsize; ITEMS],
}

/// Payload of the fuse's panic. Its drop panics, too.
#[derive(Debug)]
struct Spite {
    call: &'static str,
    spiteful: bool,
}

impl Drop for Spite {
    fn drop(&mut self) {
        assert!(!self.spiteful, "spite");
    }
}

impl Fuse {
    fn new(calls: isize) -> Self {
        Fuse { calls_left: AtomicIsize::new(calls), drops: Default::default() }
    }

    fn burn(&self, call: &'static str) {
        if self.calls_left.fetch_sub(1, Ordering::Relaxed) == 0 {
            panic_any(Spite { call, spiteful: true });
        }
    }

    fn has_burnt(&self) -> bool {
        self.calls_left.load(Ordering::Relaxed) < 0
    }
}

/// An item whose drops are counted.
#[derive(Debug)]
struct Item<'a> {
    index: usize,
    fuse: &'a Fuse,
}

impl Drop for Item<'_> {
    fn drop(&mut self) {
        self.fuse.drops[self.index].fetch_add(1, Ordering::Relaxed);
        if !std::thread::panicking() {
            self.fuse.burn("drop of an item");
        }
    }
}

/// A vector of items.
#[derive(Debug)]
struct Items<'a> {
    items: Vec<Item<'a>>,
    fuse: &'a Fuse,
}

impl<'a> Items<'a> {
    fn new(fuse: &'a Fuse) -> Self {
        Items { items: (0..ITEMS).map(|index| Item { index, fuse }).collect(), fuse }
    }
}

impl Divisible for Items<'_> {
    fn size(&self) -> usize {
        self.fuse.burn("size");
        self.items.len()
    }
    fn should_be_divided(&self) -> bool {
        self.fuse.burn("should_be_divided");
        self.items.len() > 1
    }
    fn divide_at(self, index: usize) -> (Self, Self) {
        self.fuse.burn("divide_at");
        let (left, right) = self.items.divide_at(index);
        self.fuse.burn("the end of divide_at");
        (Items { items: left, fuse: self.fuse }, Items { items: right, fuse: self.fuse })
    }
}

impl<'a> IntoIterator for Items<'a> {
    type Item = Item<'a>;
    type IntoIter = IntoIter<'a>;
    fn into_iter(self) -> IntoIter<'a> {
        self.fuse.burn("into_iter");
        IntoIter { fuse: self.fuse, items: self.items.into_iter() }
    }
}

#[derive(Debug)]
struct IntoIter<'a> {
    items: std::vec::IntoIter<Item<'a>>,
    fuse: &'a Fuse,
}

impl<'a> Iterator for IntoIter<'a> {
    type Item = Item<'a>;
    fn next(&mut self) -> Option<Item<'a>> {
        self.fuse.burn("next");
        self.items.next()
    }
}

impl Producer for Items<'_> {
    const FACTS: Facts = Facts::ITEMS;
}

/// Keeps the items, so that a panic finds them in accumulators and outputs, too.
#[derive(Debug)]
struct Keep<'a, const INTERRUPTIBLE: bool>(&'a Fuse);

impl<const INTERRUPTIBLE: bool> Clone for Keep<'_, INTERRUPTIBLE> {
    fn clone(&self) -> Self {
        self.0.burn("clone of the reduction");
        Keep(self.0)
    }
}

impl<'a, const INTERRUPTIBLE: bool> Reduction<Item<'a>> for Keep<'a, INTERRUPTIBLE> {
    type Accumulator = Vec<Item<'a>>;
    type Output = Vec<Item<'a>>;
    const ENDS: Ends = if INTERRUPTIBLE { Ends::EARLY } else { Ends::NEVER };
    fn start(&self) -> Vec<Item<'a>> {
        self.0.burn("start");
        vec![]
    }
    fn fold_item(
        &self,
        mut kept: Vec<Item<'a>>,
        item: Item<'a>,
    ) -> ControlFlow<Vec<Item<'a>>, Vec<Item<'a>>> {
        self.0.burn("step");
        kept.push(item);
        ControlFlow::Continue(kept)
    }
    fn finish(&self, kept: Vec<Item<'a>>) -> Vec<Item<'a>> {
        self.0.burn("finish");
        kept
    }
    fn reduce(&self, mut left: Vec<Item<'a>>, mut right: Vec<Item<'a>>) -> Vec<Item<'a>> {
        self.0.burn("reduce");
        left.append(&mut right);
        left
    }
    fn stopped(&self) -> bool {
        self.0.burn("stopped");
        false
    }
}

/// Divides to a depth.
#[derive(Debug)]
struct Touchy<'a>(&'a Fuse);

impl Clone for Touchy<'_> {
    fn clone(&self) -> Self {
        self.0.burn("clone of the policy");
        Touchy(self.0)
    }
}

impl Policy for Touchy<'_> {
    fn wants_split(&mut self, task: &Node) -> Verdict {
        self.0.burn("wants_split");
        if task.depth < 3 { Verdict::Must } else { Verdict::MayNot }
    }
    fn permit_fork(&mut self, _: &Node) -> bool {
        self.0.burn("permit_fork");
        true
    }
    fn return_permit(&mut self) {
        self.0.burn("return_permit");
    }
}

type Chain<'a> = Both<Both<Cap, Touchy<'a>>, Cap>;

/// Runs the computation with a panic in the n-th call for every n, until there are no more calls. Returns the names of
/// the calls.
fn every_call<const INTERRUPTIBLE: bool>(place: Place, how: impl Scheduler + Sync) -> Vec<&'static str> {
    every_call_of::<INTERRUPTIBLE, _>(place, |items, chain, keep| place.run(how.clone(), items, chain, keep))
}

/// As [`every_call`], for a computation that `run` runs.
fn every_call_of<const INTERRUPTIBLE: bool, F>(place: impl Debug, run: F) -> Vec<&'static str>
where
    F: for<'a> Fn(Items<'a>, Chain<'a>, Keep<'a, INTERRUPTIBLE>) -> Vec<Item<'a>>,
{
    let mut calls = vec![];
    loop {
        let fuse = Fuse::new(isize::try_from(calls.len()).unwrap());
        let cap = Cap::new(3);
        let result = catch_unwind(AssertUnwindSafe(|| {
            let chain = Both::new(Both::new(cap.clone(), Touchy(&fuse)), cap.clone());
            run(Items::new(&fuse), chain, Keep::<INTERRUPTIBLE>(&fuse)).len()
        }));
        let burnt = fuse.has_burnt();
        let drops = fuse.drops.each_ref().map(|drops| drops.load(Ordering::Relaxed));
        assert_eq!(drops, [1; ITEMS], "call {} on {place:?}: {result:?}", calls.len());
        assert_eq!(cap.available(), 3, "call {} on {place:?}: {result:?}", calls.len());
        if let Some(place) = Place::ALL.get(calls.len() % 8) {
            assert_eq!(place.run(Join, 0..9, Cap::new(2), Collect).len(), 9, "the place is usable");
        }
        match result {
            Ok(kept) => {
                assert!(!burnt, "a panic was swallowed");
                assert_eq!(kept, ITEMS);
                return calls;
            }
            Err(payload) => {
                let mut payload = payload.downcast::<Spite>().expect("our own payload");
                calls.push(payload.call);
                payload.spiteful = false;
            }
        }
    }
}

#[test]
fn a_panic_in_any_call_under_join() {
    for place in Place::ALL {
        let calls = every_call::<false>(place, Join);
        for call in [
            "size",
            "divide_at",
            "next",
            "step",
            "finish",
            "reduce",
            "drop of an item",
            "wants_split",
            "permit_fork",
        ] {
            assert!(calls.contains(&call), "{call} never panicked on {place:?}");
        }
    }
}

#[test]
fn a_panic_in_any_call_of_an_interruptible_reduction() {
    for place in Place::ALL {
        let calls = every_call::<true>(place, Join);
        assert!(calls.contains(&"stopped"), "on {place:?}");
    }
}

#[test]
fn a_panic_in_any_call_under_sequential() {
    let calls = every_call::<false>(Place::Pool(2), Sequential);
    assert!(!calls.contains(&"divide_at") && calls.contains(&"step"));
}

#[test]
fn a_panic_in_any_call_under_depjoin() {
    for place in Place::ALL {
        let calls = every_call::<false>(place, DepJoin);
        assert!(calls.contains(&"reduce") && calls.contains(&"permit_fork"), "on {place:?}");
        every_call::<true>(place, DepJoin);
    }
}

/// A scheduler that looks for demand before and after every item.
const CLOSE: Adaptive = Adaptive::new().nano_blocks(1, 1);

#[test]
fn a_panic_in_any_call_under_adaptive() {
    for place in Place::ALL {
        let calls = every_call::<false>(place, CLOSE);
        assert!(calls.contains(&"divide_at") && calls.contains(&"step"), "on {place:?}");
        every_call::<true>(place, CLOSE);
    }
}

/// For any thefts, and any time at which the thief runs the part.
#[test]
fn a_panic_in_any_call_under_any_theft() {
    let mut thefts = 0;
    for seed in 0..8 {
        let greedy = every_call_of::<false, _>(seed, |items, chain, keep| {
            DepJoin.schedule((items, chain, keep), &Scripted::random(seed))
        });
        assert!(greedy.contains(&"reduce"));
        let adaptive = every_call_of::<true, _>(seed, |items, chain, keep| {
            CLOSE.schedule((items, chain, keep), &Scripted::random(seed))
        });
        assert!(adaptive.contains(&"stopped"));
        // Without the divisions of a policy all thefts are on demand.
        every_call_of::<false, _>(seed, |items, chain, keep| {
            drop(chain);
            CLOSE.schedule((items, Cap::new(3), keep), &Scripted::random(seed))
        });
        let engine = Scripted::random(seed);
        CLOSE.schedule((0..ITEMS, Cap::new(3), Collect), &engine);
        thefts += engine.thefts().offers;
    }
    assert!(thefts > 4, "{thefts}");
}

/// The range of a task's items. Counts reductions of two sides that are not neighbors. Panics at one item.
#[derive(Clone, Debug)]
struct Neighbours<'a> {
    bad: usize,
    strangers: &'a AtomicUsize,
}

impl Reduction<usize> for Neighbours<'_> {
    type Accumulator = Option<Range<usize>>;
    type Output = Option<Range<usize>>;
    fn start(&self) -> Self::Accumulator {
        None
    }
    fn fold_item(
        &self,
        range: Self::Accumulator,
        item: usize,
    ) -> ControlFlow<Self::Accumulator, Self::Accumulator> {
        if item == self.bad {
            resume_unwind(Box::new("planned"));
        }
        ControlFlow::Continue(Some(range.map_or(item, |range| range.start)..item + 1))
    }
    fn finish(&self, range: Self::Accumulator) -> Self::Output {
        range
    }
    fn reduce(&self, left: Self::Output, right: Self::Output) -> Self::Output {
        let both = left.zip(right).filter(|(left, right)| left.end == right.start);
        if both.is_none() {
            self.strangers.fetch_add(1, Ordering::Relaxed);
        }
        both.map(|(left, right)| left.start..right.end)
    }
}

/// If a panic has kept a part from being run, the parts on both sides of it are not passed to `reduce` as neighbors.
#[test]
fn only_neighbours_are_reduced() {
    const LEN: usize = 32;
    fn check(bad: usize, run: impl FnOnce(Neighbours<'_>) -> Option<Range<usize>>) {
        let strangers = AtomicUsize::new(0);
        let outcome = catch_unwind(AssertUnwindSafe(|| run(Neighbours { bad, strangers: &strangers })));
        assert_eq!(outcome.ok(), (bad >= LEN).then_some(Some(0..LEN)));
        assert_eq!(strangers.into_inner(), 0, "{bad}");
    }
    fn check_all<S: Scheduler + Copy + Sync>(how: S) {
        for (round, bad) in (0..=LEN).cycle().take(10 * LEN).enumerate() {
            for place in Place::ALL {
                check(bad, |reduction| place.run(how, 0..LEN, SizeLimit::new(1), reduction));
            }
            let engine = Scripted::random(round as u64);
            check(bad, |reduction| how.schedule((0..LEN, SizeLimit::new(1), reduction), &engine));
        }
    }
    check_all(Join);
    check_all(DepJoin);
    check_all(Adaptive::new().nano_blocks(1, 1));
}
