//! `Either` as a parallel iterator: one of two chains, chosen at run time.

use super::scoped::Scopes;
use super::{IndexedParallelIterator, ParallelIterator, PeekParallelIterator};
use ::either::Either::{self, Left, Right};
use ::either::for_both;
use furcate_schedulers::{
    Divisible, Facts, IndexedProducer, PeekProducer, Producer, StepFold, Steps, Suspendable,
};
use std::ops::ControlFlow;

/// One of two chains: the one that the value holds. Both have the same kind of items and of schedule.
///
/// ```
/// use furcate::prelude::*;
/// use furcate::iter::Either;
///
/// fn numbers(up: bool) -> impl IndexedParallelIterator<Item = u32> {
///     if up { Either::Left((0..3).into_par_iter()) } else { Either::Right((0..3).into_par_iter().rev()) }
/// }
/// assert_eq!(numbers(false).collect::<Vec<_>>(), [2, 1, 0]);
/// ```
impl<A, B> ParallelIterator for Either<A, B>
where
    A: ParallelIterator,
    B: ParallelIterator<Item = A::Item, Schedule = A::Schedule>,
{
    type Item = A::Item;
    type Producer<'a>
        = EitherProducer<A::Producer<'a>, B::Producer<'a>>
    where
        Self: 'a;
    type Schedule = A::Schedule;

    const SCOPED: bool = A::SCOPED || B::SCOPED;

    fn scopes<'scope>(&mut self, scopes: &mut Scopes<'scope>)
    where
        Self: 'scope,
    {
        for_both!(self, base => base.scopes(scopes));
    }

    #[inline]
    fn schedule(&self) -> A::Schedule {
        self.as_ref().either(A::schedule, B::schedule)
    }

    #[inline]
    fn producer(&mut self) -> Self::Producer<'_> {
        EitherProducer(self.as_mut().map_either(|base| base.producer(), |base| base.producer()))
    }

    #[inline]
    fn opt_len(&self) -> Option<usize> {
        self.as_ref().either(A::opt_len, B::opt_len)
    }

    #[inline]
    fn units(&self) -> Option<usize> {
        self.as_ref().either(A::units, B::units)
    }
}

impl<A, B> IndexedParallelIterator for Either<A, B>
where
    A: IndexedParallelIterator,
    B: IndexedParallelIterator<Item = A::Item, Schedule = A::Schedule>,
{
    type IndexedProducer<'a>
        = EitherProducer<A::IndexedProducer<'a>, B::IndexedProducer<'a>>
    where
        Self: 'a;

    #[inline]
    fn indexed_producer(&mut self) -> Self::IndexedProducer<'_> {
        EitherProducer(
            self.as_mut().map_either(|base| base.indexed_producer(), |base| base.indexed_producer()),
        )
    }

    #[inline]
    #[track_caller]
    fn len(&self) -> usize {
        self.as_ref().either(A::len, B::len)
    }
}

impl<A, B> PeekParallelIterator for Either<A, B>
where
    A: PeekParallelIterator,
    B: PeekParallelIterator<Item = A::Item, Schedule = A::Schedule>,
{
    type PeekProducer<'a>
        = EitherProducer<A::PeekProducer<'a>, B::PeekProducer<'a>>
    where
        Self: 'a;

    #[inline]
    fn peek_producer(&mut self) -> Self::PeekProducer<'_> {
        EitherProducer(self.as_mut().map_either(|base| base.peek_producer(), |base| base.peek_producer()))
    }
}

/// The producer of an [`Either`]: a part of the one chain or of the other.
#[derive(Debug)]
pub struct EitherProducer<A, B>(pub(crate) Either<A, B>);

impl<A, B> EitherProducer<A, B> {
    #[inline]
    fn cut(self, cut_left: impl FnOnce(A) -> (A, A), cut_right: impl FnOnce(B) -> (B, B)) -> (Self, Self) {
        let (left, right) = match self.0 {
            Left(a) => {
                let (left, right) = cut_left(a);
                (Left(left), Left(right))
            }
            Right(b) => {
                let (left, right) = cut_right(b);
                (Right(left), Right(right))
            }
        };
        (EitherProducer(left), EitherProducer(right))
    }
}

impl<A: Divisible, B: Divisible> Divisible for EitherProducer<A, B> {
    #[inline]
    fn size(&self) -> usize {
        self.0.as_ref().either(A::size, B::size)
    }

    #[inline]
    fn should_be_divided(&self) -> bool {
        self.0.as_ref().either(A::should_be_divided, B::should_be_divided)
    }

    #[inline]
    fn divide(self) -> (Self, Self) {
        self.cut(A::divide, B::divide)
    }

    #[inline]
    fn divide_at(self, index: usize) -> (Self, Self) {
        self.cut(|a| a.divide_at(index), |b| b.divide_at(index))
    }
}

impl<A: IntoIterator, B: IntoIterator<Item = A::Item>> IntoIterator for EitherProducer<A, B> {
    type Item = A::Item;
    type IntoIter = Either<A::IntoIter, B::IntoIter>;

    #[inline]
    fn into_iter(self) -> Self::IntoIter {
        self.0.map_either(A::into_iter, B::into_iter)
    }
}

impl<A: Producer, B: Producer<Item = A::Item>> Producer for EitherProducer<A, B> {
    const FACTS: Facts = A::FACTS.and(B::FACTS);

    #[inline]
    fn is_single(&self) -> bool {
        self.0.as_ref().either(A::is_single, B::is_single)
    }

    #[inline]
    fn partial_fold<'s, C, F, L>(self, init: C, fold: F, steps: &mut L) -> ControlFlow<C, C>
    where
        Self: 's,
        C: Suspendable<'s>,
        F: StepFold<'s, A::Item, C>,
        L: Steps<Self>,
    {
        match self.0 {
            Left(a) => {
                let wrap = |a| EitherProducer(Left(a));
                a.partial_fold(init, fold, &mut steps.wrapping(wrap, |back| back.0.left()))
            }
            Right(b) => {
                let wrap = |b| EitherProducer(Right(b));
                b.partial_fold(init, fold, &mut steps.wrapping(wrap, |back| back.0.right()))
            }
        }
    }
}

impl<A: IndexedProducer, B: IndexedProducer<Item = A::Item>> IndexedProducer for EitherProducer<A, B> {}

impl<A: PeekProducer, B: PeekProducer<Item = A::Item>> PeekProducer for EitherProducer<A, B> {
    const LOOKS_ARE_ITEMS: bool = A::LOOKS_ARE_ITEMS && B::LOOKS_ARE_ITEMS;

    #[inline]
    fn peek(&self, index: usize) -> A::Item {
        self.0.as_ref().either(|a| a.peek(index), |b| b.peek(index))
    }
}
