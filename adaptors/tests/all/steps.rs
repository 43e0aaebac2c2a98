//! The steps (Kvik: nano-steps) of the adaptive scheduler stay short in every chain, so that thieves get a part soon.

use furcate::iter::from_producer;
use furcate::prelude::*;
use furcate::{Divisible, Facts, FoldFacts, Inline, NextStep, Producer, StepFold, Steps, Suspendable};
use std::ops::{ControlFlow, Range};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::{Duration, Instant};

/// Least time of a unit of work.
const UNIT: Duration = Duration::from_micros(2);

/// Number of units of a loop that takes 0.4 ms or more, where 0.1 ms is promised.
const FEW: usize = 200;

/// Number of units in a task: an eighth of them is ten times as many as are allowed in one loop.
const UNITS: usize = 80 * FEW;

/// Numbers that take a while, and record how many the scheduler asks for at once.
struct Noted<'a> {
    numbers: Range<usize>,
    longest: &'a AtomicUsize,
}

impl Divisible for Noted<'_> {
    fn size(&self) -> usize {
        self.numbers.size()
    }

    fn divide_at(self, index: usize) -> (Self, Self) {
        let (left, right) = self.numbers.divide_at(index);
        (Noted { numbers: left, longest: self.longest }, Noted { numbers: right, longest: self.longest })
    }
}

impl Iterator for Noted<'_> {
    type Item = usize;

    fn next(&mut self) -> Option<usize> {
        testkit::spin(UNIT);
        self.numbers.next()
    }
}

/// Records the lengths of the steps, and forwards them.
struct NotedSteps<'l, 'a, L> {
    steps: &'l mut L,
    longest: &'a AtomicUsize,
}

impl<'a, L: Steps<Noted<'a>>> Steps<Range<usize>> for NotedSteps<'_, 'a, L> {
    fn next(&mut self, size: usize) -> NextStep {
        let next = self.steps.next(size);
        if let NextStep::Fold(units) = next {
            self.longest.fetch_max(units.min(size), Relaxed);
        }
        next
    }

    fn take(&mut self, right: Range<usize>) {
        self.steps.take(Noted { numbers: right, longest: self.longest });
    }

    fn take_back(&mut self) -> Option<Range<usize>> {
        self.steps.take_back().map(|back| back.numbers)
    }
}

/// A fold in which every item takes a while.
struct Slow<F>(F);

impl<'s, T, B, F: StepFold<'s, T, B>> StepFold<'s, T, B> for Slow<F> {
    type Later = F::Later;
    const FACTS: FoldFacts = F::FACTS;
    fn fold<I: Iterator<Item = T>>(&mut self, folded: B, items: I) -> ControlFlow<B, B> {
        self.0.fold(folded, items.inspect(|_| testkit::spin(UNIT)))
    }
    fn later(&self) -> F::Later {
        self.0.later()
    }
}

impl Producer for Noted<'_> {
    const FACTS: Facts = Facts::ITEMS;

    fn partial_fold<'s, B, F, L>(self, init: B, fold: F, steps: &mut L) -> ControlFlow<B, B>
    where
        Self: 's,
        B: Suspendable<'s>,
        F: StepFold<'s, usize, B>,
        L: Steps<Self>,
    {
        let Noted { numbers, longest } = self;
        numbers.partial_fold(init, Slow(fold), &mut NotedSteps { steps, longest })
    }
}

/// Steps of `work` take 0.1 ms, also in the long run.
#[test]
fn steps_of_work_do_not_grow_with_the_task() {
    let longest = AtomicUsize::new(0);
    let work = (0..UNITS).work(
        |_| (),
        |(), piece, n| {
            let n = n.min(piece.len());
            longest.fetch_max(n, Relaxed);
            for _ in piece.by_ref().take(n) {
                testkit::spin(UNIT);
            }
        },
        |()| (),
    );
    assert_eq!(work.adaptive().on(Inline).count(), 1);
    let longest = longest.into_inner();
    assert!((4..=FEW).contains(&longest), "{longest} units in one step");
}

/// Adaptors and terminals that keep one state, accumulator or run of slots for all the steps of a task.
#[test]
fn loops_do_not_grow_with_the_task() {
    let longest = AtomicUsize::new(0);
    let items = || from_producer(Noted { numbers: 0..UNITS, longest: &longest }).adaptive().on(Inline);
    let check = |what: &str| {
        let longest = longest.swap(0, Relaxed);
        assert!((4..=FEW).contains(&longest), "{what}: {longest} items in one loop");
    };
    items().for_each(|_| ());
    check("for_each");
    assert_eq!(items().fold(|| 0, |sum, x| sum + x).count(), 1);
    check("fold");
    assert_eq!(items().map_init(|| 0, |_, x| x).collect::<Vec<_>>().len(), UNITS);
    check("map_init, collect");
    assert_eq!(items().try_fold(|| 0, |sum, x| Some(sum + x)).count(), 1);
    check("try_fold");
    assert_eq!(items().collect::<std::collections::LinkedList<_>>().len(), UNITS);
    check("collect into a list");
}

/// A task over a `wrap_iter` makes O(log n) pieces: each is at most twice as long as the one before, and at least an
/// eighth of all pieces before it.
#[test]
fn the_number_of_pieces_is_logarithmic() {
    for bits in [3, 6, 10, 20, 40, 60] {
        let pieces: Vec<_> = (0..1_u64 << bits).wrap_iter().adaptive().on(Inline).collect();
        assert_eq!(pieces.last().map(|piece| piece.end), Some(1 << bits));
        let (least, most) = (bits, 32 + 6 * bits); // 6 is more than 1 / log2(9 / 8)
        assert!((least..=most).contains(&pieces.len()), "{} pieces of 2^{bits}", pieces.len());
        for pair in pieces.windows(2) {
            let done = pair[1].start;
            let (before, now) = (pair[0].end - pair[0].start, pair[1].end - pair[1].start);
            assert!(now <= (2 * before).max(done / 8), "{now} after {before}, with {done} done");
            assert!(now >= (done / 8).min((1 << bits) - done), "{now}, with {done} done");
        }
    }
}

/// A task whose part has been stolen continues with the shortest steps, so that the next thief waits no longer than the
/// first.
#[test]
fn after_a_steal_steps_begin_anew() {
    use std::sync::atomic::AtomicBool;

    let (tasks, grown, begun_anew) = (AtomicUsize::new(0), AtomicBool::new(false), AtomicBool::new(false));
    let begun = Instant::now();
    let waits = |until: &dyn Fn() -> bool| !until() && begun.elapsed() < Duration::from_secs(20);
    let work = (0..1_000_000_usize).work(
        |_| tasks.fetch_add(1, Relaxed),
        |&mut task, piece: &mut Range<usize>, n| {
            if task > 0 {
                // A thief: once the steps of the first task are long, it ends and looks for more work.
                while waits(&|| grown.load(Relaxed)) {
                    std::thread::yield_now();
                }
                piece.start = piece.end;
                return;
            }
            grown.fetch_or(n >= 256, Relaxed);
            let stolen_again = tasks.load(Relaxed) > 2;
            begun_anew.fetch_or(stolen_again && n == 1, Relaxed);
            // Nothing is taken off the piece before another part has been stolen.
            let done = if waits(&|| tasks.load(Relaxed) > 2) { 0 } else { n };
            piece.by_ref().take(done).for_each(drop);
        },
        |_| (),
    );
    testkit::pool(2).install(|| work.adaptive().nano_blocks(1, 256).count());
    assert!(grown.into_inner() && tasks.into_inner() > 2, "nobody has stolen anything in time");
    assert!(begun_anew.into_inner(), "no short step after a steal");
}

/// A watched step may leave a rest without units: behind the last line, and within the last character.
#[test]
fn slow_units_of_which_the_last_leaves_an_empty_rest() {
    let pool = furcate_pool::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
    let lines = "a line\n".repeat(30);
    let chars = "e".repeat(30) + "\u{e9}";
    let slow = |_| std::thread::sleep(std::time::Duration::from_micros(200));
    for _ in 0..5 {
        pool.install(|| {
            assert_eq!(lines.par_lines().inspect(|_| slow(())).adaptive().count(), 30);
            assert_eq!(chars.par_chars().inspect(|_| slow(())).adaptive().count(), 31);
        });
    }
}
