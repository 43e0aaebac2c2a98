//! Producers that lie (I3), and panics (P2): in all cases every item is dropped exactly once, and a vector holds either
//! all promised items or its old contents.

mod divisions;

use super::append_exact;
use super::in_place::Target;
use crate::iter::ParallelIterator;
use crate::iter::default_schedule;
use furcate_pool::Executor;
use furcate_schedulers::{
    Blocking, Divisible, Facts, NextStep, Node, Policy, Producer, Reduction, Scheduler, StepFold, Steps,
    Suspendable, Verdict, Workload,
};
use proptest::prelude::*;
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicIsize, Ordering::Relaxed};
use testkit::drops::{DropCounter, Ledger};

/// The faults of a producer.
#[derive(Clone, Copy, Debug, Default)]
struct Lies {
    /// Number of units by which a cut puts more to the left than asked, or fewer if negative.
    cut: i8,
    /// Number of units that a cut loses.
    lose: u8,
    /// Number of items that a leaf yields beyond its size, or too few if negative.
    leaf: i8,
    /// Number by which the size is too large.
    size: u8,
    /// Position of the item that panics.
    panic_at: Option<usize>,
}

/// A producer of the items at a range of positions.
struct Liar<'l> {
    lies: Lies,
    ledger: &'l Ledger,
    from: usize,
    to: usize,
}

impl<'l> Liar<'l> {
    fn new(ledger: &'l Ledger, len: usize, lies: Lies) -> Self {
        Liar { lies, ledger, from: 0, to: len }
    }
}

impl Divisible for Liar<'_> {
    fn size(&self) -> usize {
        let len = self.to.saturating_sub(self.from);
        if len == 0 { 0 } else { len + usize::from(self.lies.size) }
    }

    fn divide_at(self, index: usize) -> (Self, Self) {
        let middle = (self.from + index).min(self.to);
        let cut = middle.saturating_add_signed(isize::from(self.lies.cut)).min(self.to);
        let end = cut.saturating_sub(usize::from(self.lies.lose));
        (Liar { to: end, ..self }, Liar { from: cut, ..self })
    }
}

impl<'l> IntoIterator for Liar<'l> {
    type Item = DropCounter;
    type IntoIter = Box<dyn Iterator<Item = DropCounter> + 'l>;

    fn into_iter(self) -> Self::IntoIter {
        let to = self.to.saturating_add_signed(isize::from(self.lies.leaf));
        Box::new((self.from..to).map(move |place| {
            assert!(self.lies.panic_at != Some(place), "the item at {place}");
            self.ledger.value(0)
        }))
    }
}

impl Producer for Liar<'_> {
    const FACTS: Facts = Facts::ITEMS;
}

/// The iterator of a [`Liar`], which is divided at random.
struct Lying<'l> {
    len: usize,
    lies: Lies,
    ledger: &'l Ledger,
}

impl<'l> ParallelIterator for Lying<'l> {
    type Item = DropCounter;
    type Producer<'a>
        = Liar<'l>
    where
        Self: 'a;

    default_schedule!();

    fn producer(&mut self) -> Liar<'l> {
        Liar::new(self.ledger, self.len, self.lies)
    }
}

/// Divides, or not, by the bits of a number. Every node has another number.
#[derive(Clone)]
struct AtRandom(u64);

impl Policy for AtRandom {
    fn wants_split(&mut self, task: &Node) -> Verdict {
        (task.depth < 8 && self.0.count_ones() > 24).into()
    }

    fn split(self, _: &Node) -> (Self, Self) {
        let next = |n: u64| AtRandom(n.wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(31) ^ n);
        (next(self.0), next(!self.0))
    }
}

/// Runs some steps, gives halves away between them, and runs all parts in the same way, as an adaptive scheduler
/// does. The bits of a number decide all of this.
#[derive(Clone)]
struct InEvery(u64);

impl Scheduler for InEvery {
    fn schedule<W: Workload, E: Executor>(&self, work: W, _: &E) -> W::Output {
        let (producer, _, reduction) = work.parts();
        by_bits(producer, &reduction, self.0)
    }
}

struct ByBits<P> {
    bits: u64,
    given: Vec<P>,
}

impl<P> Steps<P> for ByBits<P> {
    fn next(&mut self, _size: usize) -> NextStep {
        let (limit, divide) = ((self.bits % 16) as usize, self.bits / 16 % 2 == 1);
        self.bits /= 32;
        match self.bits {
            0 => NextStep::Fold(usize::MAX),
            _ if divide => NextStep::Divide,
            _ => NextStep::Fold(limit),
        }
    }

    fn take(&mut self, right: P) {
        self.given.push(right);
    }
}

fn by_bits<P: Producer, R: Reduction<P::Item>>(producer: P, reduction: &R, bits: u64) -> R::Output {
    let mut steps = ByBits { bits, given: Vec::new() };
    let start = Blocking(reduction.start());
    let end = producer.partial_fold(start, |a, item| reduction.fold_item(a, item), &mut steps);
    let mut output = reduction.finish(Blocking::at(end));
    for (i, right) in (1..).zip(steps.given.into_iter().rev()) {
        output = reduction.reduce(output, by_bits(right, reduction, bits.rotate_left(7 * i) >> 32));
    }
    output
}

/// Checks that the target has all items, or has its old contents and a panic was raised.
fn check<T: Target>(
    ledger: &Ledger,
    honest: bool,
    len: usize,
    alive_each: usize,
    target: &mut T,
    lens: impl Fn(&T) -> Vec<usize>,
    items: impl ParallelIterator<Item = T::Item>,
) -> Result<(), TestCaseError> {
    let before = lens(target);
    let outcome = catch_unwind(AssertUnwindSafe(|| append_exact(target, len, items)));
    let grown = if outcome.is_ok() { len } else { 0 };
    prop_assert!(outcome.is_ok() || !honest, "an honest producer was taken for a liar");
    let expected: Vec<usize> = before.iter().map(|before| before + grown).collect();
    prop_assert_eq!(lens(target), expected);
    prop_assert_eq!(ledger.alive(), alive_each * (1 + grown), "nothing leaks, nothing is dropped twice");
    Ok(())
}

fn lies() -> impl Strategy<Value = Lies> {
    let wrong = |range: std::ops::Range<i8>| prop_oneof![3 => Just(0_i8), 1 => range];
    let less = || prop_oneof![3 => Just(0_u8), 1 => 1..3_u8];
    (wrong(-2..3), less(), wrong(-3..4), less(), proptest::option::of(0..70_usize))
        .prop_map(|(cut, lose, leaf, size, panic_at)| Lies { cut, lose, leaf, size, panic_at })
}

proptest! {
    #[test]
    fn one_target(lies in lies(), len in 0..70_usize, promised in 0..75_usize, seed: u64) {
        let ledger = Ledger::default();
        let mut vec = vec![ledger.value(0)];
        let honest = promised == len && matches!(lies, Lies { cut: 0, lose: 0, leaf: 0, size: 0, panic_at: None });
        let items = || Lying { len, lies, ledger: &ledger };
        let lens = |vec: &Vec<DropCounter>| vec![vec.len()];
        check(&ledger, honest, promised, 1, &mut vec, lens, items().with_policy(AtRandom(seed)))?;
        vec.truncate(1);
        check(&ledger, honest, promised, 1, &mut vec, lens, items().with_scheduler(InEvery(seed)))?;
        drop(vec);
        prop_assert_eq!(ledger.alive(), 0);
    }

    #[test]
    fn two_targets(lies in lies(), len in 0..70_usize, seed: u64) {
        let ledger = Ledger::default();
        let (mut left, mut right) = (vec![ledger.value(0)], vec![ledger.value(0)]);
        let honest = matches!(lies, Lies { cut: 0, lose: 0, leaf: 0, size: 0, panic_at: None });
        let items = || Lying { len, lies, ledger: &ledger }.map(|item| (ledger.value(0), item));
        let lens = |both: &(&mut Vec<DropCounter>, &mut Vec<DropCounter>)| vec![both.0.len(), both.1.len()];
        let mut both = (&mut left, &mut right);
        check(&ledger, honest, len, 2, &mut both, lens, items().with_policy(AtRandom(seed)))?;
        both.0.truncate(1);
        both.1.truncate(1);
        check(&ledger, honest, len, 2, &mut both, lens, items().with_scheduler(InEvery(seed)))?;
        drop((left, right));
        prop_assert_eq!(ledger.alive(), 0);
    }
}

/// An element of size zero. `UNITS` counts those that are alive.
struct Unit;

static UNITS: AtomicIsize = AtomicIsize::new(0);

impl Unit {
    fn new() -> Self {
        UNITS.fetch_add(1, Relaxed);
        Unit
    }
}

impl Drop for Unit {
    fn drop(&mut self) {
        assert!(UNITS.fetch_sub(1, Relaxed) > 0, "a unit was dropped twice");
    }
}

/// All elements of size zero are at one place, so only their number shows a gap.
#[test]
fn elements_of_size_zero() {
    let ledger = Ledger::default();
    for (cut, lose, leaf, panic_at) in (-2..3)
        .flat_map(|cut| (0..2).flat_map(move |lose| (-2..3).map(move |leaf| (cut, lose, leaf))))
        .flat_map(|(cut, lose, leaf)| [None, Some(0), Some(3), Some(9)].map(|at| (cut, lose, leaf, at)))
    {
        let lies = Lies { cut, lose, leaf, size: 0, panic_at };
        for bits in [0, 0x0123_4567_89ab_cdef, 0xffff_0f0f_3333_5555] {
            let mut units: Vec<Unit> = vec![Unit::new()];
            let mut pairs: (Vec<Unit>, Vec<DropCounter>) = (vec![], vec![]);
            let items = || Lying { len: 10, lies, ledger: &ledger }.with_scheduler(InEvery(bits));
            let one =
                catch_unwind(AssertUnwindSafe(|| append_exact(&mut units, 10, items().map(|_| Unit::new()))));
            assert_eq!(units.len(), if one.is_ok() { 11 } else { 1 });
            assert_eq!((UNITS.load(Relaxed), ledger.alive()), (units.len() as isize, 0));
            let two = catch_unwind(AssertUnwindSafe(|| {
                let mut both = (&mut pairs.0, &mut pairs.1);
                append_exact(&mut both, 10, items().map(|item| (Unit::new(), item)));
            }));
            assert_eq!((pairs.0.len(), pairs.1.len()), if two.is_ok() { (10, 10) } else { (0, 0) });
            assert_eq!(
                (UNITS.load(Relaxed), ledger.alive()),
                ((units.len() + pairs.0.len()) as isize, pairs.1.len())
            );
            drop((units, pairs));
            assert_eq!((UNITS.load(Relaxed), ledger.alive()), (0, 0));
        }
    }
}

/// A state that an adaptor keeps for a task lives through all steps: collecting does not cut the items up.
#[test]
fn steps_are_the_items_own() {
    struct Own(std::ops::Range<usize>);
    impl Divisible for Own {
        fn size(&self) -> usize {
            self.0.len()
        }
        fn divide_at(self, _: usize) -> (Self, Self) {
            panic!("cut up")
        }
    }
    impl IntoIterator for Own {
        type Item = usize;
        type IntoIter = std::ops::Range<usize>;
        fn into_iter(self) -> Self::IntoIter {
            self.0
        }
    }
    impl Producer for Own {
        const FACTS: Facts = Facts::ITEMS;

        fn partial_fold<'s, B, F, L>(mut self, init: B, mut fold: F, steps: &mut L) -> ControlFlow<B, B>
        where
            Self: 's,
            B: Suspendable<'s>,
            F: StepFold<'s, usize, B>,
            L: Steps<Self>,
        {
            let mut folded = init;
            while let NextStep::Fold(limit) = steps.next(self.size())
                && self.size() > 0
            {
                folded = fold.fold(folded, self.0.by_ref().take(limit))?;
            }
            ControlFlow::Continue(folded)
        }
    }
    struct Iter;
    impl ParallelIterator for Iter {
        type Item = usize;
        type Producer<'a> = Own;
        default_schedule!();
        fn producer(&mut self) -> Own {
            Own(0..100)
        }
    }
    let mut vec = vec![];
    append_exact(&mut vec, 100, Iter.with_scheduler(InEvery(0b00111_01001_00000_00010)));
    assert_eq!(vec, (0..100).collect::<Vec<_>>());
}
