//! The contract of producers, checked cut by cut and without a scheduler.

use super::steps::run_script;
use furcate::{Ends, IndexedProducer, NextStep, Producer, Reduction};
use std::fmt::Debug;
use std::ops::ControlFlow;

/// Checks every way to cut the producer of a parallel iterator against the expected items: `assert_cuts!(expected,
/// source)`. The source is evaluated anew for every way.
macro_rules! assert_cuts {
    ($expected:expr, $source:expr) => {{
        use $crate::support::cuts;
        let expected = &$expected[..];
        let size = furcate::Divisible::size(&$source.producer());
        cuts::to_the_bottom($source.producer(), expected);
        for index in 0..=size.saturating_add(2) {
            cuts::at($source.producer(), index, expected);
            cuts::in_steps($source.producer(), index.max(1), expected);
            cuts::given_away($source.producer(), index, expected);
        }
        let mut lent = $source;
        cuts::whole(lent.producer(), expected);
        cuts::lent_again(lent.producer(), expected);
    }};
}
pub(crate) use assert_cuts;

pub(crate) fn whole<P: Producer<Item: PartialEq + Debug>>(producer: P, expected: &[P::Item]) {
    let size = producer.size();
    let items: Vec<_> = producer.into_iter().collect();
    assert_eq!(items, expected);
    assert!(size > 0 || items.is_empty(), "of size 0, but with {items:?}");
}

pub(crate) fn at<P: Producer<Item: PartialEq + Debug>>(producer: P, index: usize, expected: &[P::Item]) {
    let size = producer.size();
    let (left, right) = producer.divide_at(index);
    if 0 < index && index < size {
        assert!(left.size() > 0, "nothing to the left of {index}");
    }
    assert_eq!(left.size() == 0, index == 0 || size == 0, "to the left of {index} of {size}");
    assert!(index < size || right.size() == 0, "something to the right of {index}, the end");
    let mut items: Vec<_> = left.into_iter().collect();
    items.extend(right);
    assert_eq!(items, expected, "cut at {index}");
}

/// Divides until the parts report that they cannot be divided; then once more, which must not lose any item.
pub(crate) fn to_the_bottom<P: Producer<Item: PartialEq + Debug>>(producer: P, expected: &[P::Item]) {
    let mut divisions = 4 * producer.size() + 4;
    let (mut parts, mut items) = (vec![producer], Vec::new());
    while let Some(part) = parts.pop() {
        let divisible = part.should_be_divided();
        let (left, right) = part.divide();
        if divisible {
            divisions = divisions.checked_sub(1).expect("divisions end");
            parts.extend([right, left]);
        } else {
            assert!(left.size() == 0 || right.size() == 0, "what cannot be divided was divided");
            items.extend(left.into_iter().chain(right));
        }
    }
    assert_eq!(items, expected, "divided to the bottom");
}

pub(crate) fn in_steps<P: Producer<Item: PartialEq + Debug>>(
    producer: P,
    limit: usize,
    expected: &[P::Item],
) {
    let (items, outcome) = run_script(producer, std::iter::repeat(NextStep::Fold(limit)));
    assert!(outcome.sizes.is_sorted_by(|a, b| a > b), "no progress with steps of {limit}");
    assert_eq!(items.into_iter().flatten().collect::<Vec<_>>(), expected, "by steps of {limit}");
}

/// Gives halves away before, between and after steps, and treats these halves in the same way.
pub(crate) fn given_away<P: Producer<Item: PartialEq + Debug>>(
    producer: P,
    limit: usize,
    expected: &[P::Item],
) {
    let script =
        [NextStep::Divide, NextStep::Fold(limit), NextStep::Divide, NextStep::Divide, NextStep::Fold(1)];
    // A part that never gets smaller would be given away for ever. So such a script is only for producers that can be
    // divided.
    let producer = match producer.should_be_divided() {
        true => all_by_script_bounded(producer, &script, 2 * expected.len() + 8),
        false => producer.into_iter().collect(),
    };
    assert_eq!(producer, expected, "given away around steps of {limit}");
}

fn all_by_script_bounded<P: Producer>(producer: P, script: &[NextStep], parts: usize) -> Vec<P::Item> {
    if parts == 0 || !producer.should_be_divided() {
        return producer.into_iter().collect();
    }
    let (items, outcome) = run_script(producer, script.iter().copied());
    let mut all: Vec<_> = items.into_iter().flatten().collect();
    for right in outcome.given.into_iter().rev() {
        all.extend(all_by_script_bounded(right, script, parts / 2));
    }
    all
}

/// Walks a leaf from both ends, with skips, and compares it with std's iterator over the same items.
pub(crate) fn walks_as_std<P: IndexedProducer<Item: PartialEq + Debug>>(
    leaf: P,
    mut std: impl DoubleEndedIterator<Item = P::Item> + Clone,
    steps: &[(bool, usize)],
) {
    let mut leaf = leaf.into_iter();
    for &(front, skip) in steps {
        assert_eq!(leaf.len(), std.clone().count());
        assert_eq!(leaf.size_hint(), (leaf.len(), Some(leaf.len())));
        match (front, skip) {
            (true, 0) => assert_eq!(leaf.next(), std.next()),
            (false, 0) => assert_eq!(leaf.next_back(), std.next_back()),
            (true, _) => assert_eq!(leaf.nth(skip), std.nth(skip)),
            (false, _) => assert_eq!(leaf.nth_back(skip), std.nth_back(skip)),
        }
    }
    let rest: Vec<_> = std.collect();
    assert_eq!(
        leaf.rfold(Vec::new(), |mut all, item| {
            all.insert(0, item);
            all
        }),
        rest
    );
}

/// A producer that was lent and dropped is lent again with the same items, or with none.
pub(crate) fn lent_again<P: Producer<Item: PartialEq + Debug>>(producer: P, expected: &[P::Item]) {
    let items: Vec<_> = producer.into_iter().collect();
    assert!(items.is_empty() || items == expected, "lent again: {items:?}");
}

/// Counts items, and checks between steps for a stop (which never comes).
#[derive(Clone)]
pub(crate) struct CountInNanoLoops;

impl<T> Reduction<T> for CountInNanoLoops {
    type Accumulator = usize;
    type Output = usize;
    const ENDS: Ends = Ends::EARLY;

    fn start(&self) -> usize {
        0
    }
    fn fold_item(&self, count: usize, _item: T) -> ControlFlow<usize, usize> {
        ControlFlow::Continue(count + 1)
    }
    fn finish(&self, count: usize) -> usize {
        count
    }
    fn reduce(&self, left: usize, right: usize) -> usize {
        left + right
    }
}
