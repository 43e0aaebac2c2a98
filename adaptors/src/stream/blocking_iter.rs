//! A stream of a parallel iterator as a sequential iterator, for a caller that may block.

use super::IntoStream;
use furcate_pool::block_on;
use futures_core::Stream;
use std::future::poll_fn;
use std::iter::FusedIterator;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

/// A sequential iterator over the items of a parallel one: see
/// [`ParallelIterator::into_iter_ordered`](crate::iter::ParallelIterator::into_iter_ordered) and
/// [`into_iter_unordered`](crate::iter::ParallelIterator::into_iter_unordered).
///
/// After its end, or a panic, the iterator gives `None` for ever. Dropping it cancels the computation, as dropping an
/// [`IntoStream`] does.
///
/// ```
/// use furcate::prelude::*;
/// use furcate::stream::BlockingIter;
/// let mut squares: BlockingIter<u64> = (0..u64::MAX).into_par_iter().map(|x| x * x).into_iter_ordered(64);
/// assert_eq!(squares.nth(100), Some(10_000));
/// drop(squares); // ends the computation
/// ```
#[must_use = "dropped, it cancels the computation"]
#[derive(Debug)]
pub struct BlockingIter<T>(pub(crate) IntoStream<T>);

impl<T> Iterator for BlockingIter<T> {
    type Item = T;

    /// Returns the next item, and blocks the caller until there is one, as [`furcate::block_on`](block_on) does.
    fn next(&mut self) -> Option<T> {
        let mut poll = |context: &mut Context<'_>| Pin::new(&mut self.0).poll_next(context);
        // An item that is there costs no waker.
        if let Poll::Ready(item) = poll(&mut Context::from_waker(Waker::noop())) {
            return item;
        }
        block_on(poll_fn(poll))
    }
}

impl<T> FusedIterator for BlockingIter<T> {}
