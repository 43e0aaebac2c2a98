//! Driving a producer by hand, as schedulers with nano-loops do.

use furcate::{Divisible, Producer, Reduction};
use std::ops::ControlFlow;

/// Folds `limit` units at a time, and at last the leaf; gives the items of each nano-loop.
pub(crate) fn nano_loops<P: Producer>(producer: P, limit: usize) -> Vec<Vec<P::Item>> {
    let (mut items, rest) = nano_loops_until(producer, limit, usize::MAX);
    items.push(rest.into_iter().collect());
    items
}

/// The same, but at most `loops` nano-loops, and with the rest instead of the leaf.
pub(crate) fn nano_loops_until<P: Producer>(
    mut producer: P,
    limit: usize,
    loops: usize,
) -> (Vec<Vec<P::Item>>, P) {
    let mut all = Vec::new();
    while producer.size() > 0 && all.len() < loops {
        let push = |mut items: Vec<P::Item>, item| {
            items.push(item);
            ControlFlow::<(), _>::Continue(items)
        };
        let ControlFlow::Continue((items, rest)) = producer.partial_fold(Vec::new(), push, limit) else {
            unreachable!("nothing breaks")
        };
        all.push(items);
        producer = rest;
        assert!(all.len() < 1_000_000, "nano-loops that get nowhere");
    }
    (all, producer)
}

/// Collects; as it could be interrupted, schedulers fold it in nano-loops.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Interruptible;

impl<T: Send> Reduction<T> for Interruptible {
    type Accumulator = Vec<T>;
    type Output = Vec<T>;

    const INTERRUPTIBLE: bool = true;

    fn start(&self) -> Vec<T> {
        Vec::new()
    }

    fn step(&self, mut items: Vec<T>, item: T) -> ControlFlow<Vec<T>, Vec<T>> {
        items.push(item);
        ControlFlow::Continue(items)
    }

    fn finish(&self, items: Vec<T>) -> Vec<T> {
        items
    }

    fn reduce(&self, mut left: Vec<T>, mut right: Vec<T>) -> Vec<T> {
        left.append(&mut right);
        left
    }
}
