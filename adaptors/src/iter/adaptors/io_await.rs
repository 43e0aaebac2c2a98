//! The adaptor `io_await`, which awaits items that are futures.

use crate::iter::adaptor::divide_by_cut;
use crate::iter::{ExecutorOf, ParallelIterator, PolicyOf, change_schedule};
use furcate_pool::block_on;
use furcate_schedulers::{
    Divisible, Facts, FoldFacts, Limit, Plan, Producer, Scheduler, StepFold, Steps, Suspendable, Suspending,
};
use std::iter;
use std::ops::ControlFlow;

/// A parallel iterator over the outputs of futures: see [`ParallelIterator::io_await`].
///
/// ```
/// use furcate::prelude::*;
/// let it: furcate::iter::IoAwait<_> = (0..3).into_par_iter().map(|x| async move { x * x }).io_await();
/// assert_eq!(it.collect::<Vec<i32>>(), [0, 1, 4]);
/// ```
#[must_use = "iterators do nothing until a terminal drives them"]
#[derive(Clone, Debug)]
pub struct IoAwait<I> {
    #[doc(hidden)]
    pub base: I,
    scheduler: Suspending,
}

impl<I: ParallelIterator> IoAwait<I> {
    #[inline]
    pub(crate) fn new(base: I) -> Self {
        let scheduler = base.scheduler().for_futures();
        IoAwait { base, scheduler }
    }

    /// Changes the base and keeps the settings of the wait.
    pub(super) fn map_base<J>(self, map: impl FnOnce(I) -> J) -> IoAwait<J> {
        IoAwait { base: map(self.base), scheduler: self.scheduler }
    }

    /// Limits the number of the call's futures that are in flight (polled, and not ready) to `n`. The default is
    /// [1024](Suspending::MAX_IN_FLIGHT).
    ///
    /// Items behind those are not even made before there is room. So `n` bounds the memory of a call, and the number of
    /// requests that a server sees at once. With 1, one future follows the other.
    ///
    /// The first `n` items begin first. So an error, or a hit, among them is found early, whichever thread is the fastest. (If one of
    /// them computes for more than 10 ms before its first wait, other threads begin later items meanwhile.)
    ///
    /// If there are several `io_await`s in a chain, the bound named last holds for all their futures together. An `io_await` that names no
    /// bound keeps the one before it.
    ///
    /// In such a chain an item gives its permit back when a future is ready, and waits in line for a permit for its
    /// next future. So the number of futures in flight stays at its bound, to the end. New items begin while at most
    /// `n` items wait in line. So at most `2 * n` items have begun and wait for another future. In a search
    /// (`find_any`, `any`, ...), before a gate (`take_any`, ...), and if items come from a stream, an item instead
    /// keeps its permit to its last future. Then at most `n` items have begun and wait.
    ///
    /// # Panics
    ///
    /// If `n` is 0.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
    ///
    /// let (now, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
    /// let request = |x: u64| {
    ///     let (now, most) = (&now, &most);
    ///     async move {
    ///         most.fetch_max(now.fetch_add(1, Relaxed) + 1, Relaxed);
    ///         futures_lite::future::yield_now().await;
    ///         now.fetch_sub(1, Relaxed);
    ///         x
    ///     }
    /// };
    /// let sum = (0..1000).into_par_iter().map(request).io_await().max_in_flight(8).sum::<u64>();
    /// assert_eq!(sum, 499_500);
    /// assert!(most.into_inner() <= 8);
    /// ```
    #[doc(alias = "buffered")]
    #[doc(alias = "buffer_unordered")]
    #[doc(alias = "for_each_concurrent")]
    #[doc(alias = "Semaphore")]
    #[track_caller]
    pub fn max_in_flight(self, n: usize) -> Self {
        IoAwait { scheduler: self.scheduler.max_in_flight(n), ..self }
    }

    /// Keeps the call's futures under a [limit](Limit) that other calls share: a semaphore, optionally with a rate
    /// limiter. Permits are given in turn to the calls that wait for one.
    ///
    /// The bound of [`max_in_flight`](Self::max_in_flight) holds as well. Later `io_await`s of the chain keep to the limit, too.
    ///
    /// ```
    /// use furcate::Limit;
    /// use furcate::prelude::*;
    ///
    /// let limit = Limit::new(16); // in the server's state, say
    /// let handler = |from: u64| {
    ///     let ready = |x| async move { x };
    ///     (from..from + 100).into_par_iter().map(ready).io_await().limit(&limit).async_sum::<u64>()
    /// };
    /// let both = furcate::join(|| furcate::block_on(handler(0)), || furcate::block_on(handler(100)));
    /// assert_eq!(both, (4950, 14_950));
    /// assert_eq!(limit.in_use(), 0);
    /// ```
    pub fn limit(self, limit: &Limit) -> Self {
        IoAwait { scheduler: self.scheduler.limit(limit), ..self }
    }

    /// Removes the bound: any number of futures may be in flight, as many as memory holds.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// let sum = (0..10).into_par_iter().map(|x| async move { x }).io_await().unbounded().sum::<i32>();
    /// assert_eq!(sum, 45);
    /// ```
    pub fn unbounded(self) -> Self {
        IoAwait { scheduler: self.scheduler.unbounded(), ..self }
    }
}

impl<I> ParallelIterator for IoAwait<I>
where
    I: ParallelIterator<Item: IntoFuture<Output: Send, IntoFuture: Send>>,
{
    type Item = <I::Item as IntoFuture>::Output;
    type Producer<'a>
        = Awaited<I::Producer<'a>>
    where
        Self: 'a;

    change_schedule!(
        base: I,
        |it, base| base.with_scheduler(it.scheduler.clone()) => Plan<PolicyOf<I>, Suspending, ExecutorOf<I>>
    );

    #[inline]
    fn producer(&mut self) -> Self::Producer<'_> {
        Awaited::new(self.base.producer())
    }
}

/// The producer of [`IoAwait`].
#[derive(Debug)]
pub struct Awaited<P> {
    #[doc(hidden)]
    pub base: P,
}

impl<P> Awaited<P> {
    #[inline]
    pub(crate) fn new(base: P) -> Self {
        Awaited { base }
    }

    #[inline]
    fn cut(self, cut_base: impl FnOnce(P) -> (P, P)) -> (Self, Self) {
        let (left, right) = cut_base(self.base);
        (Awaited::new(left), Awaited::new(right))
    }
}

impl<P: Divisible> Divisible for Awaited<P> {
    #[inline]
    fn size(&self) -> usize {
        self.base.size()
    }

    #[inline]
    fn should_be_divided(&self) -> bool {
        self.base.should_be_divided()
    }

    divide_by_cut!(P);
}

impl<P> IntoIterator for Awaited<P>
where
    P: Producer<Item: IntoFuture<Output: Send, IntoFuture: Send>>,
{
    type Item = <P::Item as IntoFuture>::Output;
    type IntoIter = iter::Map<P::IntoIter, fn(P::Item) -> Self::Item>;

    /// Serves callers that can only take item after item: schedulers other than [`Suspending`], and producers that do
    /// not forward [`partial_fold`](Producer::partial_fold). The calling thread waits for each item.
    fn into_iter(self) -> Self::IntoIter {
        self.base.into_iter().map(wait)
    }
}

fn wait<F: IntoFuture<Output: Send, IntoFuture: Send>>(future: F) -> F::Output {
    block_on(future.into_future())
}

impl<P> Producer for Awaited<P>
where
    P: Producer<Item: IntoFuture<Output: Send, IntoFuture: Send>>,
{
    const FACTS: Facts = Facts { single: false, free: false, ..P::FACTS };

    fn partial_fold<'s, B, F, L>(self, init: B, fold: F, steps: &mut L) -> ControlFlow<B, B>
    where
        Self: 's,
        B: Suspendable<'s>,
        F: StepFold<'s, Self::Item, B>,
        L: Steps<Self>,
    {
        self.base.partial_fold(init, AwaitEach(fold), &mut steps.wrapping(Self::new, |back| Some(back.base)))
    }
}

/// Awaits the futures of a step, as the accumulator does it.
#[derive(Clone)]
struct AwaitEach<F>(F);

impl<'s, T, B, F> StepFold<'s, T, B> for AwaitEach<F>
where
    T: IntoFuture<Output: Send + 's, IntoFuture: Send + 's>,
    B: Suspendable<'s>,
    F: StepFold<'s, T::Output, B>,
{
    type Later = AwaitEach<F::Later>;
    const FACTS: FoldFacts = FoldFacts { waits: true, ..F::FACTS };

    #[inline]
    fn fold<I: Iterator<Item = T>>(&mut self, folded: B, futures: I) -> ControlFlow<B, B> {
        folded.wait_for(futures, &mut self.0)
    }

    fn later(&self) -> Self::Later {
        AwaitEach(self.0.later())
    }
}
