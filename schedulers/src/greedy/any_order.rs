//! Searches among items that come in no order.
//!
//! A search for the first hit has to know that no earlier item is a hit. If the order of items means nothing
//! ([`in_order`](crate::Facts::in_order)), the search would wait for earlier items in vain, and for ever
//! if they never come. So the first final output stops all tasks, as in a search for any hit. Of several hits, the
//! nearest one is kept.

use crate::{Ends, Reduction};
use furcate_pool::sync::machine::atomic::{AtomicBool, Ordering::Relaxed};
use std::ops::ControlFlow;

/// A search that is stopped everywhere by any task's final output.
#[derive(Clone)]
pub(super) struct AnyOrder<'s, R> {
    search: R,
    /// Whether any task has found a hit.
    found: &'s AtomicBool,
}

impl<'s, R> AnyOrder<'s, R> {
    pub(super) fn new(search: R, found: &'s AtomicBool) -> Self {
        AnyOrder { search, found }
    }
}

impl<T, R: Reduction<T>> Reduction<T> for AnyOrder<'_, R> {
    type Accumulator = R::Accumulator;
    type Output = R::Output;

    const ENDS: Ends = Ends { search: R::ENDS.search, backward: R::ENDS.backward, ..Ends::ALL };

    fn start(&self) -> R::Accumulator {
        self.search.start()
    }

    fn fold_item(&self, accumulator: R::Accumulator, item: T) -> ControlFlow<R::Accumulator, R::Accumulator> {
        self.search.fold_item(accumulator, item)
    }

    fn fold<I: Iterator<Item = T>>(&self, accumulator: R::Accumulator, items: I) -> R::Accumulator {
        self.search.fold(accumulator, items)
    }

    fn fold_step<I: Iterator<Item = T>>(
        &self,
        accumulator: R::Accumulator,
        items: I,
    ) -> ControlFlow<R::Accumulator, R::Accumulator> {
        self.search.fold_step(accumulator, items)
    }

    fn finish(&self, accumulator: R::Accumulator) -> R::Output {
        let output = self.search.finish(accumulator);
        if self.search.is_final(&output) {
            // Relaxed: the flag only tells other tasks that they may stop. The output is published by the join nodes.
            self.found.store(true, Relaxed);
        }
        output
    }

    fn reduce(&self, left: R::Output, right: R::Output) -> R::Output {
        self.search.reduce(left, right)
    }

    fn divide(self) -> (Self, Self) {
        let (left, right) = self.search.divide();
        (AnyOrder::new(left, self.found), AnyOrder::new(right, self.found))
    }

    fn divide_item(self) -> (Self, Self) {
        let (item, rest) = self.search.divide_item();
        (AnyOrder::new(item, self.found), AnyOrder::new(rest, self.found))
    }

    fn is_final(&self, output: &R::Output) -> bool {
        self.search.is_final(output)
    }

    fn stopped(&self) -> bool {
        self.found.load(Relaxed) || self.search.stopped()
    }
}
