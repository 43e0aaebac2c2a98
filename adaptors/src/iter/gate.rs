//! The skeleton of adaptors that let some items pass and drop the others, by a state that all tasks share:
//! `while_some`, `take_any`, `skip_any_while` and so on, and the collecting of `Result`s.
//!
//! Such an adaptor only says which items pass its [`Gate`]. Some gates close. Then the base of the adaptor is not
//! needed any more, wherever in the chain the adaptor stands. An iterator that is chained to it may still be needed. So
//! a closed gate does not end the computation, but ends this producer, in every task:
//!
//! 1. *Before a task:* a part whose gate is closed has size 0, so it is neither divided nor begun.
//! 2. *Within a task:* the gate is checked before every item, so that no item is computed in vain.
//! 3. *Within a task whose items do not reach the gate* (behind a `filter`, say): the gate is checked before each of
//!    the task's steps. The policy [`InSteps`] asks for these.
//! 4. *Futures before the gate* are dropped if nothing else waits: neither behind the gate nor in another side of a
//!    chain.

use crate::iter::stage::{StageFacts, TaskStage};
use furcate_schedulers::{Node, Policy, StepFold, Suspendable, Verdict};
use std::ops::ControlFlow::{self, Break, Continue};

/// The facts of most gates. Items that have passed go first: each may close the gate.
pub(crate) const PASSING: StageFacts = StageFacts { goes_first: true, ..StageFacts::ONE };

/// A gate for items of type `T`. A copy is the same gate.
pub trait Gate<T>: Copy + Send {
    /// Item type after the gate.
    type Output;

    /// Whether every item passes, unless the whole result is lost.
    const EXACT: bool = false;

    /// Facts about the gate as a stage. An item may leave its leaf, to be divided further, if the stage is
    /// [single](StageFacts::single). It may not if the [guard](Self::guard) has to be alive while the item is processed.
    const FACTS: StageFacts = PASSING;

    /// Guard that lives as long as items are being passed on; made by [`guard`](Self::guard).
    type Guard;

    /// Makes a guard. Called where a run of items begins.
    fn guard(self) -> Self::Guard;

    /// Whether the gate is closed: no item will pass any more. A closed gate stays closed.
    fn is_closed(self) -> bool;

    /// Returns the item if the gate lets it through, else drops it. If this item closes the gate, `is_closed` is true on
    /// return.
    fn pass(self, item: T) -> Option<Self::Output>;
}

/// A [`Policy`] whose only demand is that tasks be folded in steps. It is for a producer that may end in them.
#[derive(Clone, Copy, Debug)]
pub struct InSteps;

impl Policy for InSteps {
    const STOPS: bool = true;
    const DECIDES: bool = false;

    #[inline]
    fn wants_split(&mut self, _task: &Node) -> Verdict {
        Verdict::Pass
    }
}

/// The [stage](TaskStage) of an adaptor with a gate.
#[derive(Clone, Copy, Debug)]
pub struct Through<G>(pub(crate) G);

impl<T, G: Gate<T>> TaskStage<T> for Through<G> {
    type Item = G::Output;
    type Leaf<I: Iterator<Item = T>> = Passing<I, G, G::Guard>;
    type State = ();

    const FACTS: StageFacts = G::FACTS;

    #[inline]
    fn leaf<I: Iterator<Item = T>>(self, base: I) -> Self::Leaf<I> {
        Passing::new(base, self.0)
    }

    #[inline]
    fn start(&self) {}

    #[inline]
    fn fold_step<'s, I, B, F>(&self, _: &mut (), folded: B, items: I, fold: &mut F) -> ControlFlow<B, B>
    where
        I: Iterator<Item = T>,
        B: Suspendable<'s>,
        F: StepFold<'s, G::Output, B>,
    {
        let folded = fold.fold(folded, Passing::new(items, self.0))?;
        if F::FACTS.is_whole && !F::FACTS.waits && self.0.is_closed() {
            folded.cancel();
            return Break(folded);
        }
        Continue(folded)
    }

    #[inline]
    fn is_closed(&self) -> bool {
        self.0.is_closed()
    }
}

/// The items of a leaf or of a step that pass.
#[derive(Debug)]
pub struct Passing<I, G, U> {
    base: I,
    gate: G,
    _guard: U,
}

impl<I: Iterator, G: Gate<I::Item>> Passing<I, G, G::Guard> {
    #[inline]
    fn new(base: I, gate: G) -> Self {
        Passing { base, gate, _guard: gate.guard() }
    }
}

/// Folds one item: passes it on, and ends if the gate is closed, so that the next item is not even
/// computed.
#[inline]
fn step<T, B, G: Gate<T>>(
    gate: G,
    mut fold_op: impl FnMut(B, G::Output) -> B,
) -> impl FnMut(B, T) -> ControlFlow<B, B> {
    move |folded, item| {
        let folded = match gate.pass(item) {
            Some(item) => fold_op(folded, item),
            None => folded,
        };
        if gate.is_closed() { Break(folded) } else { Continue(folded) }
    }
}

impl<I: Iterator, G: Gate<I::Item>> Iterator for Passing<I, G, G::Guard> {
    type Item = G::Output;

    #[inline]
    fn next(&mut self) -> Option<G::Output> {
        while !self.gate.is_closed() {
            if let Some(item) = self.gate.pass(self.base.next()?) {
                return Some(item);
            }
        }
        None
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        let (least, most) = self.base.size_hint();
        (if G::EXACT { least } else { 0 }, most)
    }

    #[inline]
    fn fold<B, F: FnMut(B, G::Output) -> B>(mut self, init: B, fold_op: F) -> B {
        let folded = if self.gate.is_closed() {
            init
        } else {
            let (Continue(folded) | Break(folded)) = self.base.try_fold(init, step(self.gate, fold_op));
            folded
        };
        // Dropped before the result is returned: a panic in the drop of an item that is left would leak the result.
        drop(self);
        folded
    }
}

impl<I: DoubleEndedIterator, G: Gate<I::Item>> DoubleEndedIterator for Passing<I, G, G::Guard> {
    #[inline]
    fn next_back(&mut self) -> Option<G::Output> {
        while !self.gate.is_closed() {
            if let Some(item) = self.gate.pass(self.base.next_back()?) {
                return Some(item);
            }
        }
        None
    }

    #[inline]
    fn rfold<B, F: FnMut(B, G::Output) -> B>(mut self, init: B, fold_op: F) -> B {
        let folded = if self.gate.is_closed() {
            init
        } else {
            let (Continue(folded) | Break(folded)) = self.base.try_rfold(init, step(self.gate, fold_op));
            folded
        };
        // Dropped before the result is returned: a panic in the drop of an item that is left would leak the result.
        drop(self);
        folded
    }
}
