//! Producers that lie (I3), and panics (P2): whatever they do, every item is dropped exactly once, and a vector holds
//! either all that was promised or what it held before.

use super::append_exact;
use super::in_place::Target;
use crate::iter::ParallelIterator;
use crate::iter::default_schedule;
use furcate_pool::Executor;
use furcate_schedulers::{Divisible, Nano, NanoLoops, Policy, Producer, Reduction, Scheduler, Task, Verdict};
use proptest::prelude::*;
use std::collections::HashMap;
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicIsize, Ordering::Relaxed};

/// Who is alive: an item is entered when it is made and taken out when it is dropped.
#[derive(Default)]
struct Ledger {
    balance: Mutex<HashMap<usize, i32>>,
    made: Mutex<usize>,
}

impl Ledger {
    fn make(&self) -> Counted<'_> {
        let mut made = self.made.lock().unwrap();
        *made += 1;
        *self.balance.lock().unwrap().entry(*made).or_default() += 1;
        Counted { ledger: self, id: *made }
    }

    /// How many items are alive. Each was dropped at most once.
    fn alive(&self) -> usize {
        let balance = self.balance.lock().unwrap();
        assert!(balance.values().all(|&count| count == 0 || count == 1), "an item was dropped twice");
        balance.values().filter(|&&count| count == 1).count()
    }
}

struct Counted<'l> {
    ledger: &'l Ledger,
    id: usize,
}

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        *self.ledger.balance.lock().unwrap().entry(self.id).or_default() -= 1;
    }
}

/// What a producer does wrong.
#[derive(Clone, Copy, Debug, Default)]
struct Lies {
    /// Its cuts put so many units more to the left than they were asked to, or less.
    cut: i8,
    /// Its cuts lose so many units.
    lose: u8,
    /// A leaf gives so many items more than its size, or less.
    leaf: i8,
    /// Its size is so much too large.
    size: u8,
    /// The item at this place panics.
    panic_at: Option<usize>,
}

/// A producer of the items at some places.
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
    type Item = Counted<'l>;
    type IntoIter = Box<dyn Iterator<Item = Counted<'l>> + 'l>;

    fn into_iter(self) -> Self::IntoIter {
        let to = self.to.saturating_add_signed(isize::from(self.lies.leaf));
        Box::new((self.from..to).map(move |place| {
            assert!(self.lies.panic_at != Some(place), "the item at {place}");
            self.ledger.make()
        }))
    }
}

impl Producer for Liar<'_> {}

/// The iterator of a liar, which is divided at random.
struct Lying<'l> {
    len: usize,
    lies: Lies,
    ledger: &'l Ledger,
}

impl<'l> ParallelIterator for Lying<'l> {
    type Item = Counted<'l>;
    type Producer<'a>
        = Liar<'l>
    where
        Self: 'a;

    default_schedule!();

    fn producer(&mut self) -> Liar<'l> {
        Liar::new(self.ledger, self.len, self.lies)
    }
}

/// Divides, or not, as the bits of a number say: another one for every node.
#[derive(Clone)]
struct AtRandom(u64);

impl Policy for AtRandom {
    fn wants_split(&mut self, task: &Task) -> Verdict {
        (task.depth < 8 && self.0.count_ones() > 24).into()
    }

    fn split(self, _: &Task) -> (Self, Self) {
        let next = |n: u64| AtRandom(n.wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(31) ^ n);
        (next(self.0), next(!self.0))
    }
}

/// Goes through some nano-loops, gives halves away between them, and goes on with all parts in the same way, as an
/// adaptive scheduler does; all by the bits of a number.
#[derive(Clone)]
struct InNanoLoops(u64);

impl Scheduler for InNanoLoops {
    fn schedule<P, L, R, E>(&self, producer: P, _: L, reduction: R, _: &E) -> R::Output
    where
        P: Producer,
        L: Policy,
        R: Reduction<P::Item>,
        E: Executor,
    {
        by_bits(producer, &reduction, self.0)
    }
}

struct ByBits<P> {
    bits: u64,
    given: Vec<P>,
}

impl<P> NanoLoops<P> for ByBits<P> {
    fn next(&mut self, _size: usize) -> Nano {
        let (limit, divide) = ((self.bits % 16) as usize, self.bits / 16 % 2 == 1);
        self.bits /= 32;
        match self.bits {
            0 => Nano::Fold(usize::MAX),
            _ if divide => Nano::Divide,
            _ => Nano::Fold(limit),
        }
    }

    fn take(&mut self, right: P) {
        self.given.push(right);
    }
}

fn by_bits<P: Producer, R: Reduction<P::Item>>(producer: P, reduction: &R, bits: u64) -> R::Output {
    let mut loops = ByBits { bits, given: Vec::new() };
    let end = producer.partial_fold(reduction.start(), |a, item| reduction.step(a, item), &mut loops);
    let (ControlFlow::Continue(accumulator) | ControlFlow::Break(accumulator)) = end;
    let mut output = reduction.finish(accumulator);
    for (i, right) in (1..).zip(loops.given.into_iter().rev()) {
        output = reduction.reduce(output, by_bits(right, reduction, bits.rotate_left(7 * i) >> 32));
    }
    output
}

/// Whatever the producer does, the target has all items, or those it had and a panic was raised.
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
        let mut vec = vec![ledger.make()];
        let honest = promised == len && matches!(lies, Lies { cut: 0, lose: 0, leaf: 0, size: 0, panic_at: None });
        let items = || Lying { len, lies, ledger: &ledger };
        let lens = |vec: &Vec<Counted>| vec![vec.len()];
        check(&ledger, honest, promised, 1, &mut vec, lens, items().with_policy(AtRandom(seed)))?;
        vec.truncate(1);
        check(&ledger, honest, promised, 1, &mut vec, lens, items().with_scheduler(InNanoLoops(seed)))?;
        drop(vec);
        prop_assert_eq!(ledger.alive(), 0);
    }

    #[test]
    fn two_targets(lies in lies(), len in 0..70_usize, seed: u64) {
        let ledger = Ledger::default();
        let (mut left, mut right) = (vec![ledger.make()], vec![ledger.make()]);
        let honest = matches!(lies, Lies { cut: 0, lose: 0, leaf: 0, size: 0, panic_at: None });
        let items = || Lying { len, lies, ledger: &ledger }.map(|item| (ledger.make(), item));
        let lens = |both: &(&mut Vec<Counted>, &mut Vec<Counted>)| vec![both.0.len(), both.1.len()];
        let mut both = (&mut left, &mut right);
        check(&ledger, honest, len, 2, &mut both, lens, items().with_policy(AtRandom(seed)))?;
        both.0.truncate(1);
        both.1.truncate(1);
        check(&ledger, honest, len, 2, &mut both, lens, items().with_scheduler(InNanoLoops(seed)))?;
        drop((left, right));
        prop_assert_eq!(ledger.alive(), 0);
    }
}

/// An element of size zero, and how many of them are alive.
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

/// All of the few elements of size zero are at one place, so gaps show by their number only.
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
            let mut pairs: (Vec<Unit>, Vec<Counted>) = (vec![], vec![]);
            let items = || Lying { len: 10, lies, ledger: &ledger }.with_scheduler(InNanoLoops(bits));
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

/// What an adaptor keeps for a task lives on through the nano-loops: collecting does not cut the items up.
#[test]
fn nano_loops_are_the_items_own() {
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
        fn partial_fold<B, C, F, L>(mut self, init: B, mut fold_op: F, loops: &mut L) -> ControlFlow<C, B>
        where
            F: FnMut(B, usize) -> ControlFlow<C, B>,
            L: NanoLoops<Self>,
        {
            let mut folded = init;
            while let Nano::Fold(limit) = loops.next(self.size())
                && self.size() > 0
            {
                folded = self.0.by_ref().take(limit).try_fold(folded, &mut fold_op)?;
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
    append_exact(&mut vec, 100, Iter.with_scheduler(InNanoLoops(0b00111_01001_00000_00010)));
    assert_eq!(vec, (0..100).collect::<Vec<_>>());
}

/// Goes by a script; what is given away is run at once, while the task still waits, or after it.
#[derive(Clone)]
struct ByScript {
    steps: Vec<Nano>,
    at_once: bool,
}

impl Scheduler for ByScript {
    fn schedule<P, L, R, E>(&self, producer: P, _: L, reduction: R, _: &E) -> R::Output
    where
        P: Producer,
        L: Policy,
        R: Reduction<P::Item>,
        E: Executor,
    {
        by_script(producer, &reduction, &self.steps, self.at_once)
    }
}

struct Steps<'s, P, R: Reduction<P::Item>>
where
    P: IntoIterator,
{
    steps: std::slice::Iter<'s, Nano>,
    reduction: &'s R,
    at_once: bool,
    given: Vec<P>,
    /// From right to left.
    outputs: Vec<R::Output>,
}

impl<P: Producer, R: Reduction<P::Item>> NanoLoops<P> for Steps<'_, P, R> {
    fn next(&mut self, _size: usize) -> Nano {
        self.steps.next().copied().unwrap_or(Nano::Fold(2))
    }

    fn take(&mut self, right: P) {
        if self.at_once {
            // One more division inside.
            let steps = [Nano::Fold(1), Nano::Divide, Nano::Fold(1)];
            self.outputs.push(by_script(right, self.reduction, &steps, false));
        } else {
            self.given.push(right);
        }
    }
}

fn by_script<P, R>(producer: P, reduction: &R, steps: &[Nano], at_once: bool) -> R::Output
where
    P: Producer,
    R: Reduction<P::Item>,
{
    let (given, outputs) = (Vec::new(), Vec::new());
    let mut loops = Steps { steps: steps.iter(), reduction, at_once, given, outputs };
    let end = producer.partial_fold(reduction.start(), |a, item| reduction.step(a, item), &mut loops);
    let (ControlFlow::Continue(accumulator) | ControlFlow::Break(accumulator)) = end;
    let given = loops.given.into_iter().map(|right| by_script(right, reduction, &[], false));
    let outputs: Vec<R::Output> = loops.outputs.into_iter().chain(given).collect();
    outputs.into_iter().rev().fold(reduction.finish(accumulator), |left, right| reduction.reduce(left, right))
}

/// What goes wrong one at a time, and in pairs that make up for each other.
fn all_lies(len: usize) -> Vec<Lies> {
    let mut all = vec![Lies::default()];
    all.extend((-2..3).flat_map(|cut| (-3..4).map(move |leaf| Lies { cut, leaf, ..Lies::default() })));
    all.extend((1..3).flat_map(|lose| (-2..3).map(move |leaf| Lies { lose, leaf, ..Lies::default() })));
    all.extend((1..3).flat_map(|size| (-1..2).map(move |cut| Lies { size, cut, ..Lies::default() })));
    all.extend((0..len).map(|at| Lies { panic_at: Some(at), ..Lies::default() }));
    all.extend((0..len).map(|at| Lies { panic_at: Some(at), cut: 1, leaf: -1, ..Lies::default() }));
    all
}

/// A division after every number of items, another one after every further number, with honest producers and all liars.
#[test]
fn divided_at_every_place() {
    const LEN: usize = 7;
    for lies in all_lies(LEN) {
        let honest = matches!(lies, Lies { cut: 0, lose: 0, leaf: 0, size: 0, panic_at: None });
        for (first, second, at_once) in (0..=LEN)
            .flat_map(|first| (0..=LEN - first).map(move |second| (first, second)))
            .flat_map(|(first, second)| [(first, second, false), (first, second, true)])
        {
            let loops = |limit| (limit > 0).then_some(Nano::Fold(limit));
            let steps: Vec<Nano> = loops(first)
                .into_iter()
                .chain([Nano::Divide])
                .chain(loops(second))
                .chain([Nano::Divide])
                .collect();
            let ledger = Ledger::default();
            let scheduler = ByScript { steps, at_once };
            let items = || Lying { len: LEN, lies, ledger: &ledger }.with_scheduler(scheduler.clone());

            let mut vec = vec![ledger.make()];
            let lens = |vec: &Vec<Counted>| vec![vec.len()];
            check(&ledger, honest, LEN, 1, &mut vec, lens, items()).unwrap();
            // An honest one has put every item into its place.
            assert!(!honest || vec.len() == 1 + LEN);
            drop(vec);

            let (mut left, mut right) = (vec![ledger.make()], vec![ledger.make()]);
            let mut both = (&mut left, &mut right);
            let lens = |both: &(&mut Vec<Counted>, &mut Vec<Counted>)| vec![both.0.len(), both.1.len()];
            let pairs = items().map(|item| (ledger.make(), item));
            check(&ledger, honest, LEN, 2, &mut both, lens, pairs).unwrap();
            drop((left, right));
            assert_eq!(ledger.alive(), 0);
        }
    }
}

/// The items are where they belong, wherever the task is divided.
#[test]
fn divided_at_every_place_in_order() {
    for len in 0..12_usize {
        for (first, second, at_once) in (0..=len)
            .flat_map(|first| (0..=len - first).map(move |second| (first, second)))
            .flat_map(|(first, second)| [(first, second, false), (first, second, true)])
        {
            let steps = [Nano::Fold(first), Nano::Divide, Nano::Fold(second), Nano::Divide, Nano::Divide];
            let steps = steps.into_iter().filter(|step| *step != Nano::Fold(0)).collect();
            let mut vec = vec![100];
            let items = crate::iter::IntoParallelIterator::into_par_iter(0..len);
            append_exact(&mut vec, len, items.with_scheduler(ByScript { steps, at_once }));
            assert!(
                vec.into_iter().eq([100].into_iter().chain(0..len)),
                "{len}: {first}, {second}, {at_once}"
            );
        }
    }
}

/// A right half takes as much room as it has items, also where that is not half of what is left: of a chain, the second
/// side.
#[test]
fn divided_unevenly() {
    for (len, seam, done, at_once) in (0..14_usize)
        .flat_map(|len| (0..=len).flat_map(move |seam| (1..4).map(move |done| (len, seam, done))))
        .flat_map(|(len, seam, done)| [(len, seam, done, false), (len, seam, done, true)])
    {
        let range = crate::iter::IntoParallelIterator::into_par_iter;
        let steps = vec![Nano::Fold(done), Nano::Divide, Nano::Fold(1), Nano::Divide];
        let chain = range(0..seam).chain(seam..len).with_scheduler(ByScript { steps, at_once });
        let mut vec = vec![];
        append_exact(&mut vec, len, chain);
        assert!(vec.into_iter().eq(0..len), "{seam} of {len}, after {done}, {at_once}");
    }
}

/// A task that is stopped leaves a gap: a panic, and nothing is kept or leaked. (Unless nothing was left.)
#[test]
fn stopped_at_every_place() {
    const LEN: usize = 6;
    for (done, divide, at_once) in
        (0..=LEN + 1).flat_map(|done| [(done, false, false), (done, true, false), (done, true, true)])
    {
        let fold = (done > 0).then_some(Nano::Fold(done));
        let steps = fold.into_iter().chain(divide.then_some(Nano::Divide)).chain([Nano::Stop]).collect();
        let ledger = Ledger::default();
        let items = Lying { len: LEN, lies: Lies::default(), ledger: &ledger };
        let mut vec = vec![ledger.make()];
        let items = items.with_scheduler(ByScript { steps, at_once });
        let end = catch_unwind(AssertUnwindSafe(|| append_exact(&mut vec, LEN, items)));
        // With one item left, a division gives it away: the task has nothing more to do.
        let complete = done >= LEN || (divide && done + 1 == LEN);
        assert_eq!((end.is_ok(), vec.len()), (complete, if complete { 1 + LEN } else { 1 }), "{done}");
        assert_eq!(ledger.alive(), vec.len());
        drop(vec);
        assert_eq!(ledger.alive(), 0);
    }
}

/// A producer whose own nano-loops do as they like: they give parts away unasked, twice, or larger than what is left;
/// they go on with items that they gave away, and leave some out.
#[test]
fn rogues() {
    #[derive(Clone, Copy, Debug)]
    enum Step {
        Fold,
        Give(usize, usize),
        Ask,
        Skip,
    }
    struct Rogue<'l> {
        items: Liar<'l>,
        steps: &'l [Step],
    }
    impl Divisible for Rogue<'_> {
        fn size(&self) -> usize {
            self.items.size()
        }
        fn divide_at(self, index: usize) -> (Self, Self) {
            let (left, right) = self.items.divide_at(index);
            (Rogue { items: left, steps: self.steps }, Rogue { items: right, steps: &[] })
        }
    }
    impl<'l> IntoIterator for Rogue<'l> {
        type Item = Counted<'l>;
        type IntoIter = <Liar<'l> as IntoIterator>::IntoIter;
        fn into_iter(self) -> Self::IntoIter {
            self.items.into_iter()
        }
    }
    impl<'l> Producer for Rogue<'l> {
        fn partial_fold<B, C, F, L>(self, init: B, mut fold_op: F, loops: &mut L) -> ControlFlow<C, B>
        where
            F: FnMut(B, Counted<'l>) -> ControlFlow<C, B>,
            L: NanoLoops<Self>,
        {
            let ledger = self.items.ledger;
            let mut folded = init;
            for step in self.steps {
                match *step {
                    Step::Fold => folded = fold_op(folded, ledger.make())?,
                    Step::Give(from, to) => {
                        let items = Liar { from, to, ..self.items };
                        loops.take(Rogue { items, steps: &[] });
                    }
                    Step::Ask => drop(loops.next(self.size())),
                    Step::Skip => return ControlFlow::Continue(folded),
                }
            }
            self.items.into_iter().try_fold(folded, fold_op)
        }
    }
    struct Rogues<'l> {
        ledger: &'l Ledger,
        steps: &'l [Step],
    }
    impl<'l> ParallelIterator for Rogues<'l> {
        type Item = Counted<'l>;
        type Producer<'a>
            = Rogue<'l>
        where
            Self: 'a;
        default_schedule!();
        fn producer(&mut self) -> Rogue<'l> {
            Rogue { items: Liar::new(self.ledger, 4, Lies::default()), steps: self.steps }
        }
    }

    let choices = [Step::Fold, Step::Give(2, 4), Step::Give(0, 9), Step::Give(0, 0), Step::Ask, Step::Skip];
    let mut outcomes = [0, 0];
    for script in 0..choices.len().pow(4) {
        let steps: Vec<Step> =
            (0..4).map(|i| choices[script / choices.len().pow(i) % choices.len()]).collect();
        for at_once in [false, true] {
            let ledger = Ledger::default();
            let items = Rogues { ledger: &ledger, steps: &steps };
            let mut vec = vec![ledger.make()];
            let items = items.with_scheduler(ByScript { steps: vec![], at_once });
            let end = catch_unwind(AssertUnwindSafe(|| append_exact(&mut vec, 4, items)));
            outcomes[usize::from(end.is_ok())] += 1;
            assert_eq!((vec.len(), ledger.alive()), (if end.is_ok() { (5, 5) } else { (1, 1) }), "{steps:?}");
            drop(vec);
            assert_eq!(ledger.alive(), 0, "{steps:?}");
        }
    }
    assert!(outcomes[0] > 100 && outcomes[1] > 100, "{outcomes:?} fail and succeed");
}
