//! `Option` and `Result` of a collection: the first failure, in time, ends the whole computation.

use super::from_par_iter;
use crate::iter::{FromParallelIterator, ParallelIterator, inherit_schedule};
use either::Either;
use furcate_schedulers::{Divisible, NanoFold, NanoLoops, Producer};
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

from_par_iter! {
    [C: FromParallelIterator<T>, T: Send] Option<C>: Option<T>,
        |items| items.into_par_iter().map(|item| item.ok_or(())).collect::<Result<C, ()>>().ok();
    [C: FromParallelIterator<T>, T: Send, E: Send] Result<C, E>: Result<T, E>, |items| {
        let failure = Failure { seen: AtomicBool::new(false), error: Mutex::new(None) };
        let collection = C::from_par_iter(UntilFailure { base: items.into_par_iter(), failure: &failure });
        match failure.error.into_inner().unwrap_or_else(PoisonError::into_inner) {
            Some(error) => Err(error),
            None => Ok(collection),
        }
    };
}

/// Has an item failed, and with what? It lies on the caller's stack; all tasks share it.
struct Failure<E> {
    seen: AtomicBool,
    error: Mutex<Option<E>>,
}

impl<E> Failure<E> {
    #[inline]
    fn seen(&self) -> bool {
        // Relaxed: it only says "you may stop". The error is read when all tasks have ended, and through the mutex.
        self.seen.load(Ordering::Relaxed)
    }

    /// Keeps the first error; those that come later are dropped, outside the lock.
    #[cold]
    fn record(&self, error: E) {
        self.seen.store(true, Ordering::Relaxed); // as in `seen`
        let mut first = self.error.lock().unwrap_or_else(PoisonError::into_inner);
        if first.is_none() {
            *first = Some(error);
        } else {
            drop(first);
        }
    }
}

/// What succeeds, until something has failed anywhere: as a parallel iterator and as its producer.
struct UntilFailure<'r, I, E> {
    base: I,
    failure: &'r Failure<E>,
}

impl<I, T, E> ParallelIterator for UntilFailure<'_, I, E>
where
    I: ParallelIterator<Item = Result<T, E>>,
    T: Send,
    E: Send,
{
    type Item = T;
    type Producer<'a>
        = UntilFailure<'a, I::Producer<'a>, E>
    where
        Self: 'a;

    inherit_schedule!(base: I);

    fn producer(&mut self) -> Self::Producer<'_> {
        UntilFailure { base: self.base.producer(), failure: self.failure }
    }
}

/// As a producer: after a failure there is nothing left.
impl<P: Divisible, E> Divisible for UntilFailure<'_, P, E> {
    #[inline]
    fn size(&self) -> usize {
        if self.failure.seen() { 0 } else { self.base.size() }
    }

    #[inline]
    fn should_be_divided(&self) -> bool {
        !self.failure.seen() && self.base.should_be_divided()
    }

    #[inline]
    fn divide(self) -> (Self, Self) {
        let (left, right) = self.base.divide();
        (UntilFailure { base: left, ..self }, UntilFailure { base: right, ..self })
    }

    #[inline]
    fn divide_at(self, index: usize) -> (Self, Self) {
        let (left, right) = self.base.divide_at(index);
        (UntilFailure { base: left, ..self }, UntilFailure { base: right, ..self })
    }
}

impl<'r, P, T, E> IntoIterator for UntilFailure<'r, P, E>
where
    P: IntoIterator<Item = Result<T, E>>,
{
    type Item = T;
    type IntoIter = Successes<'r, P::IntoIter, E>;

    #[inline]
    fn into_iter(self) -> Self::IntoIter {
        Successes { base: self.base.into_iter(), failure: self.failure }
    }
}

impl<P, T, E> Producer for UntilFailure<'_, P, E>
where
    P: Producer<Item = Result<T, E>>,
    E: Send,
{
    const PIECES: bool = P::PIECES;

    fn partial_fold<B, C, F, L>(self, init: B, fold: F, loops: &mut L) -> ControlFlow<C, B>
    where
        F: NanoFold<T, B, C>,
        L: NanoLoops<Self>,
    {
        let UntilFailure { base, failure } = self;
        if failure.seen() {
            return ControlFlow::Continue(init);
        }
        let mut loops = loops.wrapping(|base| UntilFailure { base, failure }, |back| Some(back.base));
        match base.partial_fold(init, FoldSuccesses { fold, failure }, &mut loops) {
            ControlFlow::Break(Either::Left(broken)) => ControlFlow::Break(broken),
            ControlFlow::Break(Either::Right(folded)) | ControlFlow::Continue(folded) => {
                ControlFlow::Continue(folded)
            }
        }
    }
}

/// Folds the successes of a nano-loop. What it breaks with is the caller's, or what has been folded before a failure.
struct FoldSuccesses<'r, F, E> {
    fold: F,
    failure: &'r Failure<E>,
}

impl<T, E, B, C, F: NanoFold<T, B, C>> NanoFold<Result<T, E>, B, Either<C, B>> for FoldSuccesses<'_, F, E> {
    #[inline]
    fn fold<I: Iterator<Item = Result<T, E>>>(
        &mut self,
        folded: B,
        items: I,
    ) -> ControlFlow<Either<C, B>, B> {
        let successes = Successes { base: items, failure: self.failure };
        match self.fold.fold(folded, successes) {
            ControlFlow::Continue(folded) if self.failure.seen() => ControlFlow::Break(Either::Right(folded)),
            step => step.map_break(Either::Left),
        }
    }
}

/// The successes of a leaf, until something has failed anywhere.
struct Successes<'r, I, E> {
    base: I,
    failure: &'r Failure<E>,
}

impl<I, T, E> Iterator for Successes<'_, I, E>
where
    I: Iterator<Item = Result<T, E>>,
{
    type Item = T;

    #[inline]
    fn next(&mut self) -> Option<T> {
        if self.failure.seen() {
            return None;
        }
        self.base.next()?.map_err(|error| self.failure.record(error)).ok()
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        (0, self.base.size_hint().1)
    }

    #[inline]
    fn fold<B, F>(mut self, init: B, mut fold_op: F) -> B
    where
        F: FnMut(B, T) -> B,
    {
        let Successes { base, failure } = &mut self;
        if failure.seen() {
            return init;
        }
        // Looks after each item, so that the next one is not even computed.
        let end = base.try_fold(init, |folded, item| match item {
            Ok(item) => {
                let folded = fold_op(folded, item);
                if failure.seen() { ControlFlow::Break(folded) } else { ControlFlow::Continue(folded) }
            }
            Err(error) => {
                failure.record(error);
                ControlFlow::Break(folded)
            }
        });
        let (ControlFlow::Continue(folded) | ControlFlow::Break(folded)) = end;
        folded
    }
}
