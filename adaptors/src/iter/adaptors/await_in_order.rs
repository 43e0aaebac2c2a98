//! `enumerate`, `zip`, `take`, `skip` and `chunks` right behind `io_await`.
//!
//! Futures become ready in any order, but their results come in the order of the futures. So numbers, partners and
//! chunks can be given to the futures before anything waits, while every position is known: these methods change the
//! base of an [`IoAwait`]. They need an indexed base, and stand right behind `io_await` and its settings.

use super::{IoAwait, Skip, Take};
use crate::iter::{IndexedParallelIterator, IntoParallelIterator, ParallelIterator};
use std::pin::Pin;
use std::task::{Context, Poll};

/// The output of an iterator's futures.
type Given<I> = <<I as ParallelIterator>::Item as IntoFuture>::Output;

// Each method has the bound for positions itself. If the bound stood at the `impl`, a chain without positions would not
// have the methods at all, and the compiler would say that it "is not an iterator".
impl<I> IoAwait<I>
where
    I: ParallelIterator<Item: IntoFuture<Output: Send, IntoFuture: Send>>,
{
    /// Numbers the outputs in the order of the futures: see
    /// [`IndexedParallelIterator::enumerate`]. It stands right behind `io_await`, `max_in_flight` or `timeout`.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// let pages = ["a", "b"].into_par_iter().map(|url| async move { url.len() }).io_await().enumerate();
    /// assert_eq!(pages.collect::<Vec<_>>(), [(0, 1), (1, 1)]);
    /// ```
    pub fn enumerate(
        self,
    ) -> IoAwait<impl IndexedParallelIterator<Item: Future<Output = (usize, Given<I>)> + Send>>
    where
        I: IndexedParallelIterator,
    {
        self.map_base(|base| {
            base.enumerate().map(|(number, future)| {
                let future = future.into_future();
                async move { (number, future.await) }
            })
        })
    }

    /// Pairs the outputs with the items of another iterator, up to the end of the shorter one: see
    /// [`IndexedParallelIterator::zip`]. A future without a partner is not begun. It stands right behind `io_await`,
    /// `max_in_flight` or `timeout`.
    ///
    /// The other iterator gives plain items. If its items are futures, too, zip before the wait:
    /// `a.zip(b).map(|(a, b)| async { (a.await, b.await) }).io_await()`.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// let pages = ["a", "b"].into_par_iter().map(|url| async move { url.len() }).io_await().zip([10, 20]);
    /// assert_eq!(pages.collect::<Vec<_>>(), [(1, 10), (1, 20)]);
    /// ```
    pub fn zip<J>(
        self,
        other: J,
    ) -> IoAwait<impl IndexedParallelIterator<Item: Future<Output = (Given<I>, J::Item)> + Send>>
    where
        I: IndexedParallelIterator,
        J: IntoParallelIterator<Iter: IndexedParallelIterator>,
    {
        self.map_base(|base| {
            base.zip(other).map(|(future, item)| {
                let future = future.into_future();
                async move { (future.await, item) }
            })
        })
    }

    /// Keeps the outputs of the first `n` futures: see [`IndexedParallelIterator::take`]. No other future is begun. It
    /// stands right behind `io_await`, `max_in_flight` or `timeout`.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// let squares = (0..9).into_par_iter().map(|x| async move { x * x }).io_await().take(3);
    /// assert_eq!(squares.collect::<Vec<_>>(), [0, 1, 4]);
    /// ```
    pub fn take(self, n: usize) -> IoAwait<Take<I>>
    where
        I: IndexedParallelIterator,
    {
        self.map_base(|base| base.take(n))
    }

    /// Leaves out the outputs of the first `n` futures: see [`IndexedParallelIterator::skip`]. Those futures are not
    /// begun. It stands right behind `io_await`, `max_in_flight` or `timeout`.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// let squares = (0..9).into_par_iter().map(|x| async move { x * x }).io_await().skip(6);
    /// assert_eq!(squares.collect::<Vec<_>>(), [36, 49, 64]);
    /// ```
    pub fn skip(self, n: usize) -> IoAwait<Skip<I>>
    where
        I: IndexedParallelIterator,
    {
        self.map_base(|base| base.skip(n))
    }

    /// Puts the outputs of every `size` neighboring futures into a vector: see [`IndexedParallelIterator::chunks`]. It
    /// stands right behind `io_await`, `max_in_flight` or `timeout`.
    ///
    /// The futures of a chunk wait together, in one task. In this case [`max_in_flight`](Self::max_in_flight) counts
    /// chunks, so up to `n * size` futures are in flight.
    ///
    /// Cost: an allocation per future, and for every wake-up a poll of all futures of the chunk that are not ready.
    ///
    /// # Panics
    ///
    /// If `size` is 0.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// let squares = (0..5).into_par_iter().map(|x| async move { x * x }).io_await().chunks(2);
    /// assert_eq!(squares.collect::<Vec<_>>(), [vec![0, 1], vec![4, 9], vec![16]]);
    /// ```
    #[track_caller]
    pub fn chunks(
        self,
        size: usize,
    ) -> IoAwait<impl IndexedParallelIterator<Item: Future<Output = Vec<Given<I>>> + Send>>
    where
        I: IndexedParallelIterator,
    {
        // Checked here, because a closure would be the caller whose line the panic names.
        super::batches::batch_len(size);
        self.map_base(|base| base.chunks(size).map(Together::new))
    }
}

/// Waits for all futures of a chunk.
struct Together<F: Future> {
    futures: Vec<One<F>>,
}

/// A future of a chunk.
enum One<F: Future> {
    Waits(Pin<Box<F>>),
    Ready(F::Output),
}

// The futures are pinned in their boxes; nothing else is pinned.
impl<F: Future> Unpin for Together<F> {}

impl<F: Future> Together<F> {
    fn new<U: IntoFuture<IntoFuture = F>>(futures: Vec<U>) -> Self {
        let futures = futures.into_iter().map(|future| One::Waits(Box::pin(future.into_future())));
        Together { futures: futures.collect() }
    }
}

impl<F: Future> Future for Together<F> {
    type Output = Vec<F::Output>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Vec<F::Output>> {
        let mut waits = false;
        for one in &mut self.futures {
            if let One::Waits(future) = one {
                match future.as_mut().poll(context) {
                    Poll::Ready(output) => *one = One::Ready(output),
                    Poll::Pending => waits = true,
                }
            }
        }
        if waits {
            return Poll::Pending;
        }
        let ready = |one| match one {
            One::Ready(output) => output,
            One::Waits(_) => unreachable!("all are ready"),
        };
        Poll::Ready(std::mem::take(&mut self.futures).into_iter().map(ready).collect())
    }
}
