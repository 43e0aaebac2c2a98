//! `work`: tasks that are not folds over items.
//!
//! Some algorithms walk the value that they divide in steps, and keep a state from one step to the next: a permutation
//! from which the next one follows, a list of nodes that are still to be visited, the place that a merge has reached.
//! [`WrapIter::work`](super::WrapIter::work) makes tasks of them (Kvik, Section 3.6.1).
//!
//! ```text
//!   task   piece ──────────────────────────────►  of size 0
//!          state()  step(16)  step(32)  ...       done() ──► one item
//!                        │
//!                        └─ between two steps: stop, or divide the rest; the right half is a task of its own
//! ```
//!
//! # Invariants
//!
//! 1. *One state and one item per task.* The state is made of the piece with which the task begins, and is a local
//!    variable of the task. It is never sent to another thread, and need not be `Send`.
//! 2. *A stopped task yields no item*: a task whose piece has not come to its end drops piece and state.
//! 3. *A piece may grow* in a step. Its size is asked for anew before each step, and the task is over when the size is
//!    0.

use super::{ParallelIterator, default_schedule};
use crate::iter::copies::copies;
use furcate_schedulers::{Divisible, Facts, NextStep, Producer, StepFold, Steps, Suspendable};
use std::fmt;
use std::ops::ControlFlow;

/// A parallel iterator over the results of tasks that process their pieces step by step: see
/// [`WrapIter::work`](super::WrapIter::work).
///
/// ```
/// use furcate::prelude::*;
/// let it: furcate::iter::Work<_, _, _, _> = (0..100_u32).work(
///     |_piece| 0,
///     |sum, piece, n| *sum += piece.by_ref().take(n).sum::<u32>(),
///     |sum| sum,
/// );
/// assert_eq!(it.sum::<u32>(), 4950);
/// ```
#[must_use = "iterators do nothing until a terminal drives them"]
#[derive(Clone)]
pub struct Work<D, S, F, E> {
    /// The whole value; `None` once it has been lent.
    #[doc(hidden)]
    pub whole: Option<D>,
    state: S,
    step: F,
    done: E,
}

impl<D, S, F, E> Work<D, S, F, E> {
    pub(super) fn new(whole: D, state: S, step: F, done: E) -> Self {
        Work { whole: Some(whole), state, step, done }
    }
}

impl<D: fmt::Debug, S, F, E> fmt::Debug for Work<D, S, F, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Work").field("whole", &self.whole).finish_non_exhaustive()
    }
}

impl<D, A, T, S, F, E> ParallelIterator for Work<D, S, F, E>
where
    D: Divisible + Send,
    S: Fn(&D) -> A + Sync + Send,
    F: Fn(&mut A, &mut D, usize) + Sync + Send,
    E: Fn(A) -> T + Sync + Send,
    T: Send,
{
    type Item = T;
    type Producer<'a>
        = WorkProducer<'a, D, S, F, E>
    where
        Self: 'a;

    default_schedule!();

    #[inline]
    fn producer(&mut self) -> Self::Producer<'_> {
        WorkProducer {
            piece: self.whole.take(),
            how: How { state: &self.state, step: &self.step, done: &self.done },
        }
    }
}

/// References to the closures in the iterator.
struct How<'a, S, F, E> {
    state: &'a S,
    step: &'a F,
    done: &'a E,
}

copies!(impl[S, F, E] How<'_, S, F, E>);

/// The producer of [`Work`]: a piece, which is one task and yields one item. It is also the leaf, so that no work is
/// done before the item is asked for.
pub struct WorkProducer<'a, D, S, F, E> {
    #[doc(hidden)]
    pub piece: Option<D>,
    how: How<'a, S, F, E>,
}

impl<D: fmt::Debug, S, F, E> fmt::Debug for WorkProducer<'_, D, S, F, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WorkProducer").field("piece", &self.piece).finish_non_exhaustive()
    }
}

impl<D: Divisible, S, F, E> WorkProducer<'_, D, S, F, E> {
    #[inline]
    fn cut(self, cut_piece: impl FnOnce(Option<D>) -> (Option<D>, Option<D>)) -> (Self, Self) {
        let WorkProducer { piece, how } = self;
        let (left, right) = cut_piece(piece);
        (WorkProducer { piece: left, how }, WorkProducer { piece: right, how })
    }
}

impl<D: Divisible, S, F, E> Divisible for WorkProducer<'_, D, S, F, E> {
    #[inline]
    fn size(&self) -> usize {
        self.piece.size()
    }

    #[inline]
    fn should_be_divided(&self) -> bool {
        self.piece.should_be_divided()
    }

    #[inline]
    fn divide(self) -> (Self, Self) {
        self.cut(Option::divide)
    }

    #[inline]
    fn divide_at(self, index: usize) -> (Self, Self) {
        self.cut(|piece| piece.divide_at(index))
    }
}

impl<D, A, T, S, F, E> Iterator for WorkProducer<'_, D, S, F, E>
where
    D: Divisible,
    S: Fn(&D) -> A,
    F: Fn(&mut A, &mut D, usize),
    E: Fn(A) -> T,
{
    type Item = T;

    #[inline]
    fn next(&mut self) -> Option<T> {
        let mut piece = self.piece.take()?;
        let mut state = (self.how.state)(&piece);
        while piece.size() > 0 {
            (self.how.step)(&mut state, &mut piece, usize::MAX);
        }
        Some((self.how.done)(state))
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        let items = usize::from(self.piece.is_some());
        (items, Some(items))
    }
}

impl<D, A, T, S, F, E> Producer for WorkProducer<'_, D, S, F, E>
where
    D: Divisible + Send,
    S: Fn(&D) -> A + Sync,
    F: Fn(&mut A, &mut D, usize) + Sync,
    E: Fn(A) -> T + Sync,
{
    const FACTS: Facts = Facts { pieces: true, single: false, ..Facts::ITEMS };

    fn partial_fold<'s, B, G, L>(self, init: B, mut fold: G, steps: &mut L) -> ControlFlow<B, B>
    where
        Self: 's,
        B: Suspendable<'s>,
        G: StepFold<'s, T, B>,
        L: Steps<Self>,
    {
        let WorkProducer { piece, how } = self;
        let (mut folded, mut next) = (init, piece);
        while let Some(mut piece) = next {
            let mut state = (how.state)(&piece);
            loop {
                let size = piece.size();
                if size == 0 {
                    break;
                }
                match steps.next(size) {
                    NextStep::Fold(limit) => (how.step)(&mut state, &mut piece, limit.max(1)),
                    NextStep::Divide => {
                        let (left, right) = piece.divide();
                        steps.take(WorkProducer { piece: Some(right), how });
                        piece = left;
                    }
                    NextStep::Give => {
                        steps.take(WorkProducer { piece: Some(piece), how });
                        return fold.fold(folded, std::iter::once((how.done)(state)));
                    }
                    NextStep::Stop => return ControlFlow::Continue(folded),
                }
            }
            drop(piece);
            folded = fold.fold(folded, std::iter::once((how.done)(state)))?;
            next = steps.take_back().and_then(|back| back.piece);
        }
        ControlFlow::Continue(folded)
    }
}
