//! `Option` and `Result` of a collection: the first failure, in time, ends the whole computation.

use super::from_par_iter;
use crate::iter::copies::copies;
use crate::iter::flag::Flag;
use crate::iter::gate::{Gate, Through};
use crate::iter::stage::adapt_items;
use crate::iter::{FromParallelIterator, ParallelIterator};
use furcate_pool::sync::machine::Mutex;
use std::sync::PoisonError;

from_par_iter! {
    [C: FromParallelIterator<T>, T: Send] Option<C>: Option<T>,
        |items| items.into_par_iter().map(|item| item.ok_or(())).collect::<Result<C, ()>>().ok(),
        |item| item.as_ref().is_none_or(C::is_decided_by);
    [C: FromParallelIterator<T>, T: Send, E: Send] Result<C, E>: Result<T, E>, |items| {
        let failure = Failure { seen: Flag::default(), error: Mutex::new(None) };
        let collection = C::from_par_iter(Successes { base: items.into_par_iter(), failure: &failure });
        match failure.error.into_inner().unwrap_or_else(PoisonError::into_inner) {
            Some(error) => {
                // Dropped before the result is returned: a panic in this drop would leak the result.
                drop(collection);
                Err(error)
            }
            None => Ok(collection),
        }
    }, |item| item.as_ref().map_or(true, C::is_decided_by);
}

/// The first failure, if an item has failed. It lies on the caller's stack; all tasks share it.
struct Failure<E> {
    seen: Flag,
    error: Mutex<Option<E>>,
}

impl<E> Failure<E> {
    /// Keeps the first error. Later errors are dropped, outside the lock.
    #[cold]
    fn record(&self, error: E) {
        self.seen.raise();
        let mut first = self.error.lock().unwrap_or_else(PoisonError::into_inner);
        if first.is_none() {
            *first = Some(error);
        } else {
            drop(first);
        }
    }
}

/// The values of successful items, until an item has failed anywhere.
struct Successes<'r, I, E> {
    base: I,
    failure: &'r Failure<E>,
}

adapt_items! {
    impl['r, I, T, E] Successes<'r, I, E> by Through<FailureGate<'a, E>> = |it| Through(FailureGate(it.failure)) => T, shuts
    where [I: ParallelIterator<Item = Result<T, E>>, T: Send, E: Send]
}

/// Gate that a failure closes.
struct FailureGate<'r, E>(&'r Failure<E>);

copies!(impl[E] FailureGate<'_, E>);

impl<T, E: Send> Gate<Result<T, E>> for FailureGate<'_, E> {
    type Output = T;
    type Guard = ();

    #[inline]
    fn guard(self) {}

    #[inline]
    fn is_closed(self) -> bool {
        self.0.seen.is_raised()
    }

    #[inline]
    fn pass(self, item: Result<T, E>) -> Option<T> {
        item.map_err(|error| self.0.record(error)).ok()
    }
}
