//! The fold of a source whose steps take items off its front, in place of cutting them off.

use furcate_schedulers::{NextStep, Producer, Steps};
use std::ops::ControlFlow;

/// Folds a part in steps, as [`Producer::partial_fold`] does. `fold_step` folds up to so many items, and takes them off the part.
#[inline]
pub(super) fn fold_in_place<P, B, L>(
    mut part: P,
    init: B,
    steps: &mut L,
    mut fold_step: impl FnMut(&mut P, B, usize, &mut L) -> ControlFlow<B, B>,
) -> ControlFlow<B, B>
where
    P: Producer,
    L: Steps<P>,
{
    let mut folded = init;
    loop {
        match steps.next(part.size()) {
            NextStep::Fold(limit) => {
                folded = match fold_step(&mut part, folded, limit.max(1), steps) {
                    ControlFlow::Continue(folded) => folded,
                    ControlFlow::Break(end) => {
                        // Dropped before the return value is made: a panic in this drop would leak that value.
                        drop(part);
                        return ControlFlow::Break(end);
                    }
                };
            }
            NextStep::Divide => {
                let (left, right) = part.divide();
                part = left;
                steps.take(right);
                continue;
            }
            NextStep::Give => {
                steps.take(part);
                return ControlFlow::Continue(folded);
            }
            NextStep::Stop => {
                drop(part); // as above
                return ControlFlow::Continue(folded);
            }
        }
        if part.size() == 0 {
            match steps.take_back() {
                Some(back) => part = back,
                None => return ControlFlow::Continue(folded),
            }
        }
    }
}
