//! NextStep-steps: the default `partial_fold`, with limits, divisions and ends at every position, and with producers that
//! lie.

use furcate_schedulers::{Blocking, Divisible, Facts, NextStep, Producer, Steps};
use std::collections::VecDeque;
use std::ops::ControlFlow::{self, Break, Continue};
use std::rc::Rc;
use std::sync::Arc;

/// NextStep-steps by a script, followed by `last` for ever.
struct Script<P> {
    steps: VecDeque<NextStep>,
    last: NextStep,
    /// Remaining size at each question.
    sizes: Vec<usize>,
    /// Parts that were given away, from right to left.
    given: Vec<P>,
}

impl<P> Script<P> {
    fn new(steps: impl IntoIterator<Item = NextStep>, last: NextStep) -> Self {
        Script { steps: steps.into_iter().collect(), last, sizes: vec![], given: vec![] }
    }
}

impl<P> Steps<P> for Script<P> {
    fn next(&mut self, size: usize) -> NextStep {
        self.sizes.push(size);
        assert!(self.sizes.len() < 10_000, "the steps do not end");
        self.steps.pop_front().unwrap_or(self.last)
    }

    fn take(&mut self, right: P) {
        self.given.push(right);
    }
}

fn push<T>(mut items: Vec<T>, item: T) -> ControlFlow<Vec<T>, Vec<T>> {
    items.push(item);
    assert!(items.len() < 10_000, "the steps do not end");
    Continue(items)
}

/// Returns the items of the task alone.
fn fold<P: Producer>(producer: P, script: &mut Script<P>) -> Vec<P::Item> {
    let end = producer.partial_fold(Blocking(vec![]), push, script);
    let Continue(Blocking(items)) = end else { panic!("nothing breaks") };
    items
}

/// Returns the task's items, then the items of the parts that it gave away.
fn fold_all<P: Producer>(producer: P, script: &mut Script<P>) -> Vec<P::Item> {
    let mut items = fold(producer, script);
    items.extend(script.given.drain(..).rev().flatten());
    items
}

#[test]
fn loops_of_one_size() {
    for len in 0..20_usize {
        for limit in (0..len + 2).chain([usize::MAX - 1, usize::MAX]) {
            let mut script = Script::new([], NextStep::Fold(limit));
            assert_eq!(fold(0..len, &mut script), (0..len).collect::<Vec<_>>());
            let sizes: Vec<usize> = (1..=len).rev().step_by(limit.max(1)).collect();
            assert_eq!(script.sizes, if len > 0 { sizes } else { vec![0] }, "{len} by {limit}");
        }
    }
}

/// A loop folds exactly the units that it was told to, before the next question.
#[test]
fn a_loop_folds_as_many_as_it_was_told() {
    struct Counts<'a>(&'a std::cell::Cell<usize>, Vec<usize>);
    impl<P> Steps<P> for Counts<'_> {
        fn next(&mut self, _: usize) -> NextStep {
            self.1.push(self.0.get());
            NextStep::Fold(self.1.len())
        }
        fn take(&mut self, _: P) {}
    }
    let folded = std::cell::Cell::new(0);
    let mut counts = Counts(&folded, vec![]);
    let count = |(), _| {
        folded.set(folded.get() + 1);
        Continue(())
    };
    assert_eq!((0..20).partial_fold(Blocking(()), count, &mut counts), Continue(Blocking(())));
    assert_eq!((folded.get(), counts.1), (20, vec![0, 1, 3, 6, 10, 15]));
}

/// Divisions before, between and after steps, and several in a row: the right half is given away, and the left one goes
/// on.
#[test]
fn divisions_everywhere() {
    for len in 0..12_usize {
        for before in 0..=len + 1 {
            for divisions in 0..6 {
                for between in 0..4 {
                    let mut steps = vec![NextStep::Fold(before); usize::from(before > 0)];
                    for _ in 0..divisions {
                        steps.push(NextStep::Divide);
                        steps.extend(vec![NextStep::Fold(between); usize::from(between > 0)]);
                    }
                    let mut script = Script::new(steps.clone(), NextStep::Fold(1));
                    let items = fold_all(0..len, &mut script);
                    assert_eq!(items, (0..len).collect::<Vec<_>>(), "{steps:?}");
                }
            }
        }
    }
    let mut script = Script::new(
        [NextStep::Fold(2), NextStep::Divide, NextStep::Divide, NextStep::Fold(1)],
        NextStep::Stop,
    );
    assert_eq!(fold(0..12_u8, &mut script), [0, 1, 2]);
    assert_eq!((script.given, script.sizes), (vec![7..12, 4..7], vec![12, 10, 5, 2, 1]));
}

/// The cut is made by the producer's own `divide`, and not at half its size.
#[test]
fn a_division_is_the_producers_own() {
    let mut script = Script::new([NextStep::Divide], NextStep::Fold(1));
    let uneven = Odd { items: (0..9).collect(), size: |len| len };
    assert_eq!(fold(uneven, &mut script), [0]);
    assert_eq!(script.given[0].items.len(), 8);
}

/// Makes items that count how many of them are alive; each must be dropped once.
fn counted(len: usize) -> (Rc<()>, Arc<()>, Vec<Arc<()>>) {
    let alive = Arc::new(());
    let items = vec![alive.clone(); len];
    (Rc::new(()), alive, items)
}

/// An accumulator need not be `Send`. Remaining units are dropped at the end, and given parts live on.
#[test]
fn an_end_drops_the_rest() {
    for at in 0..=10 {
        for divide in [false, true] {
            let (token, alive, items) = counted(10);
            let steps = [NextStep::Fold(at), NextStep::Divide].into_iter().take(1 + usize::from(divide));
            let mut script = Script::new(steps.filter(|step| *step != NextStep::Fold(0)), NextStep::Stop);
            let keep = |mut kept: (Rc<()>, Vec<_>), item| {
                kept.1.push(item);
                Continue(kept)
            };
            let end = Owning(items).partial_fold(Blocking((token.clone(), vec![])), keep, &mut script);
            let Continue(Blocking((_token, kept))) = end else { panic!("nothing breaks") };
            let given: usize = script.given.iter().map(|part| part.0.len()).sum();
            let half = if divide && at < 10 { (10 - at).div_ceil(2) } else { 0 };
            assert_eq!((kept.len(), given), (at, half));
            assert_eq!(Arc::strong_count(&alive), 1 + at + given, "the rest is dropped");
            drop((kept, script));
            assert_eq!(Arc::strong_count(&alive), 1);
        }
    }
}

#[test]
fn a_break_drops_the_rest() {
    for at in 0..10 {
        for limit in [1, 3, 100] {
            let (_, alive, items) = counted(10);
            let mut script = Script::new([], NextStep::Fold(limit));
            let until = |(seen, _), item| {
                if seen == at { Break((seen, Some(item))) } else { Continue((seen + 1, None)) }
            };
            let end = Owning(items).partial_fold(Blocking((0, None)), until, &mut script);
            assert_eq!(Arc::strong_count(&alive), 2, "what it broke with");
            assert!(matches!(end, Break(Blocking((seen, Some(_)))) if seen == at));
            assert_eq!(script.sizes.len(), at / limit + 1, "not asked again");
        }
    }
}

#[test]
fn a_panic_drops_the_rest() {
    for at in 0..10 {
        let (_, alive, items) = counted(10);
        let steps = [NextStep::Fold(2), NextStep::Divide, NextStep::Fold(1)];
        let caught = std::panic::catch_unwind(|| {
            let mut script = Script::new(steps, NextStep::Fold(2));
            let until = |seen, _| if seen == at { std::panic::resume_unwind(Box::new(())) } else { seen + 1 };
            Owning(items).partial_fold(Blocking(0), |seen, item| Continue(until(seen, item)), &mut script)
        });
        assert_eq!(caught.is_err(), at < 6, "the task keeps 2 + 4 items");
        drop(caught);
        assert_eq!(Arc::strong_count(&alive), 1);
    }
}

struct Owning(Vec<Arc<()>>);

impl Divisible for Owning {
    fn size(&self) -> usize {
        self.0.len()
    }
    fn divide_at(mut self, index: usize) -> (Self, Self) {
        let right = self.0.split_off(index.min(self.0.len()));
        (self, Owning(right))
    }
}

impl IntoIterator for Owning {
    type Item = Arc<()>;
    type IntoIter = std::vec::IntoIter<Arc<()>>;
    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl Producer for Owning {
    const FACTS: Facts = Facts::ITEMS;
}

/// A producer that divides after the first item, and lies about its size.
struct Odd {
    items: Vec<usize>,
    size: fn(usize) -> usize,
}

impl Divisible for Odd {
    fn size(&self) -> usize {
        (self.size)(self.items.len())
    }
    fn divide_at(mut self, index: usize) -> (Self, Self) {
        let right = self.items.split_off(index.min(self.items.len()));
        let size = self.size;
        (self, Odd { items: right, size })
    }
    fn divide(self) -> (Self, Self) {
        self.divide_at(1)
    }
}

impl IntoIterator for Odd {
    type Item = usize;
    type IntoIter = std::vec::IntoIter<usize>;
    fn into_iter(self) -> Self::IntoIter {
        self.items.into_iter()
    }
}

impl Producer for Odd {
    const FACTS: Facts = Facts::ITEMS;
}

/// A producer that lies about its size gives all its items once, and the steps end.
#[test]
fn wrong_sizes_lose_nothing() {
    let sizes: [fn(usize) -> usize; 8] = [
        |_| 0,
        |_| 10,
        |_| usize::MAX - 1,
        |_| usize::MAX,
        |len| len + 7,
        |len| len / 2,
        |len| 100 - len,
        |len| if len % 2 == 0 { usize::MAX } else { len },
    ];
    for (lie, size) in sizes.into_iter().enumerate() {
        for limit in [0, 1, 3, 10, 11, 1000, usize::MAX] {
            for divisions in 0..4 {
                let steps = (0..divisions).flat_map(|_| [NextStep::Divide, NextStep::Fold(limit)]);
                let mut script = Script::new(steps, NextStep::Fold(limit));
                let items = fold_all(Odd { items: (0..20).collect(), size }, &mut script);
                assert_eq!(items, (0..20).collect::<Vec<_>>(), "lie {lie}, {limit}, {divisions} divisions");
                assert!(script.sizes.len() <= 20 + 2 * divisions + 2);
            }
        }
    }
}

/// Cuts that put nothing to the left make no progress, at any reported size: the remaining units are folded in one
/// loop.
#[test]
fn cuts_that_get_nowhere() {
    struct Stuck(usize);
    impl Divisible for Stuck {
        fn size(&self) -> usize {
            self.0
        }
        fn divide_at(self, _: usize) -> (Self, Self) {
            (Stuck(0), self)
        }
    }
    impl IntoIterator for Stuck {
        type Item = usize;
        type IntoIter = std::ops::Range<usize>;
        fn into_iter(self) -> Self::IntoIter {
            0..self.0.min(9)
        }
    }
    impl Producer for Stuck {
        const FACTS: Facts = Facts::ITEMS;
    }

    for size in [9, 10, usize::MAX - 1, usize::MAX] {
        let mut script = Script::new([], NextStep::Fold(1));
        assert_eq!(fold(Stuck(size), &mut script), (0..9).collect::<Vec<_>>());
        assert_eq!(script.sizes, [size]);
    }
}

/// A producer of size `usize::MAX` asks before every loop, too. Otherwise a search could not be ended.
#[test]
fn the_endless_can_be_stopped() {
    let mut script = Script::new([NextStep::Fold(2), NextStep::Fold(3), NextStep::Fold(1)], NextStep::Stop);
    assert_eq!(fold(0..u128::MAX, &mut script), (0..6).collect::<Vec<_>>());
    assert_eq!(script.sizes, [usize::MAX; 4]);

    let mut script = Script::new([NextStep::Fold(2), NextStep::Divide, NextStep::Fold(3)], NextStep::Stop);
    assert_eq!(fold(0..u128::MAX, &mut script), (0..5).collect::<Vec<_>>());
    assert_eq!(script.given.pop(), Some(u128::MAX / 2 + 1..u128::MAX));
}

/// The steps as the base of a wrapping producer sees them: parts that it gives away are wrapped first.
#[test]
fn wrapping() {
    let mut script = Script::new(
        [NextStep::Fold(1), NextStep::Divide, NextStep::Divide, NextStep::Fold(9)],
        NextStep::Stop,
    );
    let mut wraps = 0;
    let wrap = |right: std::ops::Range<i32>| {
        wraps += 1;
        (wraps, right)
    };
    let mut wrapping = script.wrapping(wrap, |(_, back)| Some(back));
    assert_eq!(Steps::next(&mut wrapping, 9), NextStep::Fold(1));
    wrapping.take(5..9);
    wrapping.take(3..5);
    assert_eq!(Steps::<std::ops::Range<i32>>::next(&mut wrapping, 2), NextStep::Divide);
    assert_eq!((script.given, script.sizes), (vec![(1, 5..9), (2, 3..5)], vec![9, 2]));
}
