//! Reductions that collect items in order: the simplest ones that detect any reordering.

use furcate_schedulers::{Ends, Reduction};
use std::ops::ControlFlow;

macro_rules! collects {
    ($($(#[$doc:meta])+ $Name:ident { $($constant:item)* })+) => {$(
        $(#[$doc])+
        #[derive(Clone, Copy, Debug)]
        pub struct $Name;

        impl<T: Send> Reduction<T> for $Name {
            type Accumulator = Vec<T>;
            type Output = Vec<T>;
            $($constant)*

            fn start(&self) -> Vec<T> {
                vec![]
            }
            fn fold_item(&self, mut items: Vec<T>, item: T) -> ControlFlow<Vec<T>, Vec<T>> {
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
    )+};
}

collects! {
    /// Collects.
    Collect {}
    /// Collects. The reduction could be interrupted, so schedulers fold it in steps.
    CollectInSteps { const ENDS: Ends = Ends::EARLY; }
    /// Collects, in blocks from the back.
    CollectBackward { const ENDS: Ends = Ends { backward: true, ..Ends::NEVER }; }
}

/// Whether these items are some of the whole, in order.
pub fn is_part_of(part: &[u64], whole: &[u64]) -> bool {
    let mut rest = whole.iter();
    part.iter().all(|x| rest.any(|y| x == y))
}
