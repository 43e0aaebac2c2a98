//! A reduction that can end early is asked between steps. After the end each thread evaluates at most one more
//! loop.

use crate::support::Place;
use furcate_schedulers::policy::{Auto, BoundDepth, SizeLimit};
use furcate_schedulers::{Divisible, Ends, Facts, Join, Policy, Producer, Reduction, Scheduler, Sequential};
use std::ops::{ControlFlow, Range};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// The longest step.
const NANO_LOOP: usize = 1 << 14;

/// Looks for an item. When it is found, all tasks may stop.
#[derive(Debug)]
struct Search {
    item: usize,
    /// Whether the finder's own task breaks off at once, or only as the others do.
    breaks: bool,
    found: AtomicBool,
    before: AtomicUsize,
    after: AtomicUsize,
    late_divisions: AtomicUsize,
}

impl Search {
    fn new(item: usize, breaks: bool) -> Self {
        let (before, after) = (AtomicUsize::new(0), AtomicUsize::new(0));
        Search {
            item,
            breaks,
            found: AtomicBool::new(false),
            before,
            after,
            late_divisions: AtomicUsize::new(0),
        }
    }

    /// (items evaluated before the end, items after it)
    fn counts(&self) -> (usize, usize) {
        (self.before.load(Ordering::SeqCst), self.after.load(Ordering::SeqCst))
    }
}

impl Reduction<usize> for &Search {
    type Accumulator = usize;
    type Output = usize;
    const ENDS: Ends = Ends::EARLY;
    fn start(&self) -> usize {
        0
    }
    fn fold_item(&self, hits: usize, item: usize) -> ControlFlow<usize, usize> {
        let count = if self.found.load(Ordering::SeqCst) { &self.after } else { &self.before };
        count.fetch_add(1, Ordering::SeqCst);
        if item != self.item {
            return ControlFlow::Continue(hits);
        }
        self.found.store(true, Ordering::SeqCst);
        if self.breaks { ControlFlow::Break(hits + 1) } else { ControlFlow::Continue(hits + 1) }
    }
    fn finish(&self, hits: usize) -> usize {
        hits
    }
    fn reduce(&self, left: usize, right: usize) -> usize {
        left + right
    }
    fn stopped(&self) -> bool {
        self.found.load(Ordering::SeqCst)
    }
}

/// A range that counts divisions after the end.
struct Watched<'a>(Range<usize>, &'a Search);

impl Divisible for Watched<'_> {
    fn size(&self) -> usize {
        self.0.len()
    }
    fn divide_at(self, index: usize) -> (Self, Self) {
        let (left, right) = self.0.divide_at(index);
        (Watched(left, self.1), Watched(right, self.1))
    }
    fn divide(self) -> (Self, Self) {
        if self.1.found.load(Ordering::SeqCst) {
            self.1.late_divisions.fetch_add(1, Ordering::SeqCst);
        }
        let half = self.size() / 2;
        self.divide_at(half)
    }
}

impl IntoIterator for Watched<'_> {
    type Item = usize;
    type IntoIter = Range<usize>;
    fn into_iter(self) -> Range<usize> {
        self.0
    }
}

impl Producer for Watched<'_> {
    const FACTS: Facts = Facts::ITEMS;
}

fn search(place: Place, how: impl Scheduler + Sync, when: impl Policy, len: usize, search: &Search) {
    assert_eq!(place.run(how, Watched(0..len, search), when, search), 1);
}

#[test]
fn nothing_is_evaluated_after_a_break() {
    for item in [0, 1, 15, 16, 47, 48, 5000, 99_999] {
        let broken = Search::new(item, true);
        search(Place::Inline, Sequential, Auto::new(), 100_000, &broken);
        assert_eq!(broken.counts(), (item + 1, 0));
        let broken = Search::new(item, true);
        search(Place::Inline, Join, SizeLimit::new(10), 100_000, &broken);
        assert_eq!(broken.counts(), (item + 1, 0));
        assert_eq!(broken.late_divisions.into_inner(), 0);
    }
}

/// NextStep-loops of 1, 2, 4 ... items, or of fewer if they last long, and a look before each.
#[test]
fn a_task_looks_between_nano_loops() {
    for item in [0, 1, 2, 3, 15, 16, 2031, 20_000] {
        let found = Search::new(item, false);
        search(Place::Inline, Sequential, Auto::new(), 1_000_000, &found);
        let (before, after) = found.counts();
        assert_eq!(before, item + 1);
        assert!(after <= NANO_LOOP.min(item + 1), "{after} items after the hit at {item}");
    }
}

#[test]
fn at_most_one_nano_loop_per_thread_after_the_end() {
    const LEN: usize = 1_000_000;
    for threads in [1, 2, 3, 8] {
        for item in [100, LEN / 3] {
            for breaks in [false, true] {
                let found = Search::new(item, breaks);
                search(Place::Pool(threads), Join, BoundDepth::new(5), LEN, &found);
                let (before, after) = found.counts();
                assert!(after <= threads * NANO_LOOP, "{after} items after the end on {threads} threads");
                assert!(before + after <= LEN);
                // A division that was decided on before the end may come just after it, once per thread.
                assert!(found.late_divisions.into_inner() <= threads);
            }
        }
    }
}

/// Without a hit every item is evaluated once, in any number of steps.
#[test]
fn no_hit_evaluates_everything() {
    for place in Place::ALL {
        for len in [0, 1, 15, 16, 17, 48, 49, 2032, 2033, 10_000] {
            let nothing = Search::new(usize::MAX, true);
            let hits = place.run(Join, Watched(0..len, &nothing), Auto::new(), &nothing);
            assert_eq!((hits, nothing.counts()), (0, (len, 0)));
        }
    }
}

/// Items that a size does not count are folded in the end: the last loop takes everything.
#[test]
fn items_beyond_the_size_come_out_in_the_end() {
    struct Late {
        range: Range<usize>,
        held: Option<usize>,
    }
    impl Divisible for Late {
        fn size(&self) -> usize {
            self.range.len()
        }
        fn divide_at(self, index: usize) -> (Self, Self) {
            let (left, right) = self.range.divide_at(index);
            (Late { range: left, held: None }, Late { range: right, held: self.held })
        }
    }
    impl IntoIterator for Late {
        type Item = usize;
        type IntoIter = std::iter::Chain<Range<usize>, std::option::IntoIter<usize>>;
        fn into_iter(self) -> Self::IntoIter {
            self.range.chain(self.held)
        }
    }
    impl Producer for Late {
        const FACTS: Facts = Facts::ITEMS;
    }

    for len in [0, 16, 48, 1000] {
        let nothing = Search::new(usize::MAX, true);
        Place::Inline.run(Join, Late { range: 0..len, held: Some(7) }, BoundDepth::new(2), &nothing);
        assert_eq!(nothing.counts(), (len + 1, 0));
    }
}

/// A size of `usize::MAX` does not shrink for a long time. The task looks for the stop all the same.
#[test]
fn a_search_through_the_endless_can_be_stopped() {
    struct Endless(Range<usize>);
    impl Divisible for Endless {
        fn size(&self) -> usize {
            if self.0.is_empty() { 0 } else { usize::MAX }
        }
        fn divide_at(self, index: usize) -> (Self, Self) {
            let (left, right) = self.0.divide_at(index);
            (Endless(left), Endless(right))
        }
    }
    impl IntoIterator for Endless {
        type Item = usize;
        type IntoIter = Range<usize>;
        fn into_iter(self) -> Range<usize> {
            self.0
        }
    }
    impl Producer for Endless {
        const FACTS: Facts = Facts::ITEMS;
    }

    let found = Search::new(20, false);
    assert_eq!(Place::Inline.run(Sequential, Endless(0..100_000), Auto::new(), &found), 1);
    let (before, after) = found.counts();
    // At most, steps double. So a step is at most one item longer than all steps before it together, wherever slow
    // steps have moved its begin: from 20 to 40.
    assert!(before == 21 && after <= 20, "{after} items after the end");
}
