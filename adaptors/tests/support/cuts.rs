//! The contract of producers, checked cut by cut and without a scheduler.

use furcate::{Producer, Reduction};
use std::fmt::Debug;
use std::ops::ControlFlow;

/// Checks every way to cut what a parallel iterator lends against the items that are expected:
/// `assert_cuts!(expected, source)`. The source is evaluated anew for every way.
macro_rules! assert_cuts {
    ($expected:expr, $source:expr) => {{
        use $crate::support::cuts;
        let expected = &$expected[..];
        let size = furcate::Divisible::size(&$source.producer());
        cuts::to_the_bottom($source.producer(), expected);
        for index in 0..=size.saturating_add(2) {
            cuts::at($source.producer(), index, expected);
            cuts::nano_loops($source.producer(), index.max(1), expected);
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

/// Divides until the parts say that they cannot be divided; then once more, which must not lose anything.
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

pub(crate) fn nano_loops<P: Producer<Item: PartialEq + Debug>>(
    mut producer: P,
    limit: usize,
    expected: &[P::Item],
) {
    let mut items = Vec::new();
    while producer.size() > 0 {
        let size = producer.size();
        let step = |mut items: Vec<_>, item| {
            items.push(item);
            ControlFlow::<(), _>::Continue(items)
        };
        let ControlFlow::Continue((folded, rest)) = producer.partial_fold(items, step, limit) else {
            unreachable!("nothing breaks")
        };
        (items, producer) = (folded, rest);
        assert!(producer.size() < size, "no progress with nano-loops of {limit}");
    }
    items.extend(producer);
    assert_eq!(items, expected, "by nano-loops of {limit}");
}

/// What was lent and dropped is lent again as it was, or not at all.
pub(crate) fn lent_again<P: Producer<Item: PartialEq + Debug>>(producer: P, expected: &[P::Item]) {
    let items: Vec<_> = producer.into_iter().collect();
    assert!(items.is_empty() || items == expected, "lent again: {items:?}");
}

/// Counts items, and looks between nano-loops whether it is to stop (it is not).
#[derive(Clone)]
pub(crate) struct CountInNanoLoops;

impl<T> Reduction<T> for CountInNanoLoops {
    type Accumulator = usize;
    type Output = usize;
    const INTERRUPTIBLE: bool = true;

    fn start(&self) -> usize {
        0
    }
    fn step(&self, count: usize, _item: T) -> ControlFlow<usize, usize> {
        ControlFlow::Continue(count + 1)
    }
    fn finish(&self, count: usize) -> usize {
        count
    }
    fn reduce(&self, left: usize, right: usize) -> usize {
        left + right
    }
}
