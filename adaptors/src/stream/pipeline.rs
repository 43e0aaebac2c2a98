//! Pipelines: items that come from a stream, go through stages, and arrive in order.
//!
//! Between two stages there is no queue, and no thread belongs to a stage. An item is a task from the moment that it is
//! taken from the stream until the sink has consumed it. While an item waits, for the stream, a future, or its turn at
//! the sink, its task is suspended. So one number, that of the items under way, bounds the memory that queues would
//! otherwise need.
//!
//! # Invariants
//!
//! 1. The task that has the turn at the stream numbers the item that it takes. Each stage makes one item of one, or
//!    drops it. The number of a dropped item continues alone, and takes its turn at the sink.
//! 2. *No deadlock.* The first item under way never waits for others to arrive. An item that was taken from the stream
//!    is under way until it has arrived: it keeps its permit (the scheduler's invariant 5).
//! 3. *One at a time.* The item whose turn it is calls the sink. No item arrives behind one for which the sink fails.

mod closures;

use super::bridge::StreamBridge;
use super::channel::Channel;
use super::in_order::InOrder;
use super::into_stream::{IntoStream, send_all};
use crate::iter::terminals::TryReduce;
use crate::iter::{AsyncTerminal, AsyncTerminals, FromParallelIterator, ParallelIterator};
use furcate_pool::sync::machine::{Mutex, MutexGuard};
use furcate_schedulers::Suspending;
use futures_core::Stream;
use std::collections::LinkedList;
use std::fmt;
use std::future::ready;
use std::mem;
use std::pin::Pin;
use std::sync::{Arc, PoisonError};
use std::task::{Context, Poll};

/// Makes a pipeline: the items of a stream go through stages, in parallel, and arrive in their order.
///
/// At most [`max_in_flight`](Pipeline::max_in_flight) items are under way. Stages are functions, or futures, which hide
/// latency as those of [`io_await`](ParallelIterator::io_await) do. Any worker runs any stage. At the end items are
/// [consumed](Pipeline::for_each) one after the other, or [in parallel](Pipeline::unordered).
///
/// ```
/// use furcate::stream::pipeline;
/// use futures_lite::stream;
///
/// // Read, decompress, parse, write.
/// async fn read(name: &str) -> Vec<u8> {
///     futures_lite::future::yield_now().await;
///     name.as_bytes().to_vec()
/// }
/// let names = ["one", "two", "three"];
/// let mut written = vec![];
/// pipeline(stream::iter(names))
///     .stage_async(read)
///     .stage(|bytes| String::from_utf8(bytes).unwrap())
///     .stage(|text| text.len())
///     .max_in_flight(16)
///     .for_each(|len| written.push(len));
/// assert_eq!(written, [3, 3, 5]);
/// ```
pub fn pipeline<S>(stream: S) -> Pipeline<impl ParallelIterator<Item = Numbered<S::Item>>>
where
    S: Stream<Item: Send> + Send,
{
    let numbered = Numbering { stream: Box::pin(stream), next: 0 };
    Pipeline { items: StreamBridge::new(numbered), max_in_flight: MAX_IN_FLIGHT }
}

/// Default number of items under way.
const MAX_IN_FLIGHT: usize = 64;

/// Items between a stream and their consumer: see [`pipeline`](pipeline()).
///
/// A part of a pipeline can be a function:
///
/// ```
/// use furcate::prelude::*;
/// use furcate::stream::{Numbered, Pipeline, Stream, pipeline};
///
/// fn numbers<S>(lines: S) -> Pipeline<impl ParallelIterator<Item = Numbered<i32>>>
/// where
///     S: Stream<Item = &'static str> + Send,
/// {
///     pipeline(lines).stage(|line| line.trim().parse().unwrap_or(0))
/// }
/// let mut sums = vec![0];
/// numbers(futures_lite::stream::iter([" 1", "2 ", "?", "3"])).for_each(|x| sums.push(sums[sums.len() - 1] + x));
/// assert_eq!(sums, [0, 1, 3, 3, 6]);
/// ```
#[must_use = "pipelines do nothing until a sink is named"]
pub struct Pipeline<I> {
    items: I,
    max_in_flight: usize,
}

impl<I> fmt::Debug for Pipeline<I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pipeline").field("max_in_flight", &self.max_in_flight).finish_non_exhaustive()
    }
}

impl<I> Pipeline<I> {
    /// Limits the number of items under way to `n`: items that are being taken from the stream, are in a stage, or wait
    /// for the sink. The default is 64.
    ///
    /// A slow item holds up the items behind it at the sink, but not in the stages, until there are `n` of them.
    ///
    /// # Panics
    ///
    /// If `n` is 0.
    ///
    /// ```
    /// use furcate::stream::pipeline;
    /// let mut sum = 0;
    /// pipeline(futures_lite::stream::iter(0..10)).max_in_flight(1).for_each(|x| sum += x);
    /// assert_eq!(sum, 45);
    /// ```
    #[doc(alias = "buffered")]
    #[doc(alias = "Semaphore")]
    #[track_caller]
    pub fn max_in_flight(self, n: usize) -> Self {
        assert!(n > 0, "a pipeline with no item in flight would never end: `max_in_flight` needs at least 1");
        Pipeline { max_in_flight: n, ..self }
    }
}

impl<T: Send, I: ParallelIterator<Item = Numbered<T>>> Pipeline<I> {
    /// Adds a stage that computes.
    ///
    /// A stage that may fail returns a `Result`. The stage [`and_then`](Self::and_then) continues with the `Ok` values.
    ///
    /// ```
    /// use furcate::stream::pipeline;
    /// let mut squares = vec![];
    /// pipeline(futures_lite::stream::iter(0..4)).stage(|x| x * x).for_each(|x| squares.push(x));
    /// assert_eq!(squares, [0, 1, 4, 9]);
    /// ```
    pub fn stage<R, F>(self, stage: F) -> Pipeline<impl ParallelIterator<Item = Numbered<R>>>
    where
        F: Fn(T) -> R + Sync + Send,
        R: Send,
    {
        self.filter_map(closures::some(stage))
    }

    /// Adds a stage that keeps the items for which a predicate is true.
    ///
    /// ```
    /// use furcate::stream::pipeline;
    /// let mut even = vec![];
    /// pipeline(futures_lite::stream::iter(0..7)).filter(|x| x % 2 == 0).for_each(|x| even.push(x));
    /// assert_eq!(even, [0, 2, 4, 6]);
    /// ```
    pub fn filter<P>(self, predicate: P) -> Pipeline<impl ParallelIterator<Item = Numbered<T>>>
    where
        P: Fn(&T) -> bool + Sync + Send,
    {
        self.filter_map(closures::if_so(predicate))
    }

    /// Adds a stage that computes, and drops the items for which it returns `None`.
    ///
    /// ```
    /// use furcate::stream::pipeline;
    /// let mut numbers = vec![];
    /// let words = futures_lite::stream::iter(["1", "two", "3"]);
    /// pipeline(words).filter_map(|word| word.parse::<u32>().ok()).for_each(|x| numbers.push(x));
    /// assert_eq!(numbers, [1, 3]);
    /// ```
    pub fn filter_map<R, F>(self, stage: F) -> Pipeline<impl ParallelIterator<Item = Numbered<R>>>
    where
        F: Fn(T) -> Option<R> + Sync + Send,
        R: Send,
    {
        let items = self.items.map(closures::numbered(stage));
        Pipeline { items, max_in_flight: self.max_in_flight }
    }

    /// Adds a stage that awaits a future: for I/O, or anything else.
    ///
    /// ```
    /// use furcate::stream::pipeline;
    /// use std::time::Duration;
    ///
    /// let slow = |x: u64| async move {
    ///     async_io::Timer::after(Duration::from_millis(20 - x)).await;
    ///     x
    /// };
    /// let mut arrived = vec![];
    /// pipeline(futures_lite::stream::iter(0..20)).stage_async(slow).for_each(|x| arrived.push(x));
    /// assert!(arrived.into_iter().eq(0..20));
    /// ```
    #[doc(alias = "then")]
    pub fn stage_async<F, A>(self, stage: F) -> Pipeline<impl ParallelIterator<Item = Numbered<A::Output>>>
    where
        F: Fn(T) -> A + Sync + Send,
        A: IntoFuture<Output: Send, IntoFuture: Send>,
    {
        let items = self.items.map(closures::awaits(stage));
        Pipeline { items: items.io_await(), max_in_flight: self.max_in_flight }
    }

    /// Adds a stage as [`stage_async`](Self::stage_async) does, with at most `n` items in the stage at the same time:
    /// as many as there are connections, say. The other items wait before the stage; their futures are not made yet.
    ///
    /// # Panics
    ///
    /// If `n` is 0.
    ///
    /// ```
    /// use furcate::stream::pipeline;
    /// use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
    ///
    /// let now = AtomicUsize::new(0);
    /// let request = |x: u32| {
    ///     assert!(now.fetch_add(1, Relaxed) < 4);
    ///     let now = &now;
    ///     async move {
    ///         futures_lite::future::yield_now().await;
    ///         now.fetch_sub(1, Relaxed);
    ///         x
    ///     }
    /// };
    /// let mut sum = 0;
    /// pipeline(futures_lite::stream::iter(0..100)).stage_async_at_most(4, request).for_each(|x| sum += x);
    /// assert_eq!(sum, 4950);
    /// ```
    #[doc(alias = "Semaphore")]
    #[track_caller]
    pub fn stage_async_at_most<F, A>(
        self,
        n: usize,
        stage: F,
    ) -> Pipeline<impl ParallelIterator<Item = Numbered<A::Output>>>
    where
        F: Fn(T) -> A + Sync + Send,
        A: IntoFuture<Output: Send, IntoFuture: Send>,
    {
        assert!(
            n > 0,
            "a stage with no item in flight would never end: `stage_async_at_most` needs at least 1"
        );
        let items = self.items.map(closures::awaits_at_most(n, stage));
        Pipeline { items: items.io_await(), max_in_flight: self.max_in_flight }
    }

    /// Runs the pipeline, and calls `sink` with one item after the other, in order.
    ///
    /// # Panics
    ///
    /// If the stream, a stage or the sink panics. Items under way are dropped, and nothing arrives behind a panic of
    /// the sink.
    ///
    /// ```
    /// use furcate::stream::pipeline;
    /// let mut text = String::new();
    /// pipeline(futures_lite::stream::iter('a'..'f')).for_each(|c| text.push(c));
    /// assert_eq!(text, "abcde");
    /// ```
    pub fn for_each(self, sink: impl FnMut(T) + Send) {
        let Ok(()) = self.arrive(closures::never_fails(sink));
    }

    /// Runs the pipeline as [`for_each`](Self::for_each) does, until the sink fails. The first error is returned, and
    /// nothing arrives behind it. Items under way are dropped.
    ///
    /// ```
    /// use furcate::stream::pipeline;
    /// let mut out = [0; 4];
    /// let mut free = &mut out[..];
    /// let written = pipeline(futures_lite::stream::iter(1..=u8::MAX))
    ///     .try_for_each(|byte| std::io::Write::write_all(&mut free, &[byte]));
    /// assert!(written.is_err());
    /// assert_eq!(out, [1, 2, 3, 4]);
    /// ```
    pub fn try_for_each<E: Send>(self, sink: impl FnMut(T) -> Result<(), E> + Send) -> Result<(), E> {
        self.arrive(closures::at_once(sink))
    }

    /// Runs the pipeline as [`try_for_each`](Self::try_for_each) does, with a sink that waits: the sink is called again
    /// when its last future is ready.
    ///
    /// ```
    /// use furcate::stream::pipeline;
    /// use std::sync::Mutex;
    ///
    /// let log = Mutex::new(vec![]);
    /// let write = |x: u32| {
    ///     let log = &log;
    ///     async move {
    ///         futures_lite::future::yield_now().await;
    ///         log.lock().unwrap().push(x);
    ///         Ok::<(), std::io::Error>(())
    ///     }
    /// };
    /// pipeline(futures_lite::stream::iter(0..3)).try_for_each_async(write).unwrap();
    /// assert_eq!(log.into_inner().unwrap(), [0, 1, 2]);
    /// ```
    pub fn try_for_each_async<A, E>(self, sink: impl FnMut(T) -> A + Send) -> Result<(), E>
    where
        A: Future<Output = Result<(), E>> + Send,
        E: Send,
    {
        self.arrive(sink)
    }

    /// Runs the pipeline, and collects the items, in order, into any type that [`ParallelIterator::collect`] can make.
    ///
    /// If the collection is a `Result`, the pipeline ends with the first error in order and returns that error. Items under way are
    /// dropped.
    ///
    /// ```
    /// use furcate::stream::pipeline;
    /// use futures_lite::stream;
    /// let squares: Vec<u32> = pipeline(stream::iter(0..4)).stage(|x| x * x).collect();
    /// assert_eq!(squares, [0, 1, 4, 9]);
    ///
    /// let parsed = pipeline(stream::iter(["1", "2", "x", "4"])).stage(str::parse::<u32>);
    /// assert!(parsed.collect::<Result<Vec<_>, _>>().is_err());
    /// ```
    pub fn collect<C: FromParallelIterator<T>>(self) -> C {
        let mut items = vec![];
        // `Decided` is no failure: the item is in the list.
        let _ = self.try_for_each(|item| push::<C, T>(&mut items, item));
        collected(items)
    }

    /// [`for_each`](Self::for_each), as a future: see [`async_for_each`](AsyncTerminals::async_for_each). Dropping it ends the pipeline.
    ///
    /// ```
    /// use furcate::stream::pipeline;
    /// use futures_lite::{future, stream};
    /// let (sender, receiver) = std::sync::mpsc::channel();
    /// let done = pipeline(stream::iter(0..4)).async_for_each(move |x| sender.send(x).unwrap());
    /// future::block_on(done);
    /// assert!(receiver.iter().eq(0..4));
    /// ```
    pub fn async_for_each(self, sink: impl FnMut(T) + Send + 'static) -> AsyncTerminal<()>
    where
        Self: 'static,
        T: 'static,
    {
        self.arriving(closures::never_fails(sink)).map(|Ok(())| ()).async_for_each(drop)
    }

    /// [`try_for_each`](Self::try_for_each), as a future: see [`async_for_each`](AsyncTerminals::async_for_each). Dropping it ends the
    /// pipeline.
    ///
    /// ```
    /// use furcate::stream::pipeline;
    /// use futures_lite::{future, stream};
    /// let done = pipeline(stream::iter(0..)).async_try_for_each(|x| if x < 4 { Ok(()) } else { Err(x) });
    /// assert_eq!(future::block_on(done), Err(4));
    /// ```
    pub fn async_try_for_each<E>(
        self,
        sink: impl FnMut(T) -> Result<(), E> + Send + 'static,
    ) -> AsyncTerminal<Result<(), E>>
    where
        Self: 'static,
        T: 'static,
        E: Send + 'static,
    {
        self.async_try_for_each_async(closures::at_once(sink))
    }

    /// [`try_for_each_async`](Self::try_for_each_async), as a future: see [`async_for_each`](AsyncTerminals::async_for_each). Dropping it ends
    /// the pipeline.
    ///
    /// The sink's futures cannot borrow from the sink. For a sink that owns a writer, write
    /// [`.into_stream(n)`](Self::into_stream)[`.drain_into(..)`](IntoStream::drain_into).
    ///
    /// ```
    /// use furcate::stream::pipeline;
    /// use futures_lite::{future, stream};
    /// let done = pipeline(stream::iter(0..)).async_try_for_each_async(|x| async move {
    ///     future::yield_now().await;
    ///     if x < 4 { Ok(()) } else { Err(x) }
    /// });
    /// assert_eq!(future::block_on(done), Err(4));
    /// ```
    pub fn async_try_for_each_async<A, E>(
        self,
        sink: impl FnMut(T) -> A + Send + 'static,
    ) -> AsyncTerminal<Result<(), E>>
    where
        Self: 'static,
        T: 'static,
        A: Future<Output = Result<(), E>> + Send + 'static,
        E: Send + 'static,
    {
        self.arriving(sink).async_try_for_each(|done| done)
    }

    /// [`collect`](Self::collect), as a future: see [`async_for_each`](AsyncTerminals::async_for_each). Dropping it ends the pipeline.
    ///
    /// ```
    /// use furcate::stream::pipeline;
    /// use futures_lite::{future, stream};
    /// let squares = pipeline(stream::iter(0..4)).stage(|x| x * x).async_collect::<Vec<u32>>();
    /// assert_eq!(future::block_on(squares), [0, 1, 4, 9]);
    /// ```
    pub fn async_collect<C>(self) -> AsyncTerminal<C>
    where
        Self: 'static,
        T: 'static,
        C: FromParallelIterator<T> + Send + 'static,
    {
        let items = Arc::new(Mutex::new(vec![]));
        let arrived = Arc::clone(&items);
        let arriving = self.arriving(move |item| ready(push::<C, T>(&mut lock(&arrived), item)));
        let terminal = TryReduce::new(|| Some(()), |(), ()| Ok(()));
        AsyncTerminal::new(arriving, terminal, move |_: Option<Result<(), Decided>>| {
            collected(mem::take(&mut *lock(&items)))
        })
    }

    fn arrive<A, E>(self, sink: impl FnMut(T) -> A + Send) -> Result<(), E>
    where
        A: Future<Output = Result<(), E>> + Send,
        E: Send,
    {
        self.arriving(sink).try_for_each(|done| done)
    }

    /// Returns the sink's results as a parallel iterator. The sink is called for one item after the other, in order
    /// (invariant 3).
    fn arriving<A, E>(self, sink: impl FnMut(T) -> A + Send) -> impl ParallelIterator<Item = Result<(), E>>
    where
        A: Future<Output = Result<(), E>> + Send,
        E: Send,
    {
        self.items.map(closures::arrives(sink)).io_await().max_in_flight(self.max_in_flight)
    }

    /// Turns the pipeline into a parallel iterator over the items, in no order, with the same bound on the items in
    /// flight. Any terminal can end it.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// use furcate::stream::pipeline;
    /// let longest = pipeline(futures_lite::stream::iter(["a", "bcd", "ef"])).stage(str::len).unordered().max();
    /// assert_eq!(longest, Some(3));
    /// ```
    pub fn unordered(self) -> impl ParallelIterator<Item = T> {
        let scheduler = Suspending::new().max_in_flight(self.max_in_flight);
        self.items.filter_map(|numbered| numbered.item).with_scheduler(scheduler)
    }

    /// Turns the pipeline into a stream of the items, in order, for a task of any runtime. Up to `capacity` items wait
    /// to be taken, in addition to the items under way. While there is no room, or nothing arrives, the computation
    /// holds no thread. For panics, and for dropping the stream, see [`ParallelIterator::into_stream`].
    ///
    /// # Panics
    ///
    /// If `capacity` is 0.
    ///
    /// ```
    /// use furcate::stream::pipeline;
    /// use futures_lite::{StreamExt, future, stream};
    /// let squares = pipeline(stream::iter(0..100)).stage(|x| x * x).into_stream(8);
    /// let last = future::block_on(squares.last());
    /// assert_eq!(last, Some(99 * 99));
    /// ```
    pub fn into_stream(self, capacity: usize) -> IntoStream<T>
    where
        Self: Send + 'static,
        T: 'static,
    {
        let Pipeline { items, max_in_flight } = self;
        IntoStream::fed_by(&items.executor(), Channel::new(capacity, 1), move |channel| {
            let stop = channel.stop().clone();
            let shared = Arc::new((InOrder::default(), channel));
            let sent = items.map(move |Numbered { number, item }| {
                let shared = Arc::clone(&shared);
                async move {
                    let (order, channel) = &*shared;
                    order.turn(number).await;
                    if let Some(item) = item {
                        channel.send(item).await;
                    }
                    order.advance();
                }
            });
            send_all(sent.io_await().max_in_flight(max_in_flight), stop)
        })
    }
}

/// Pipelines whose items are results: behind a stage that may fail.
///
/// An error passes the later stages unchanged, and arrives at its place in the order. The sink decides how to treat it:
/// [`try_for_each`](Pipeline::try_for_each) with `?`, or [`collect`](Pipeline::collect) into a `Result`, ends with the
/// first error.
impl<T: Send, E: Send, I: ParallelIterator<Item = Numbered<Result<T, E>>>> Pipeline<I> {
    /// Adds a stage that computes, for the items that are `Ok`, and may fail.
    ///
    /// ```
    /// use furcate::stream::pipeline;
    /// use std::num::ParseIntError;
    ///
    /// let sizes = |lines: &'static [&str]| -> Result<Vec<usize>, ParseIntError> {
    ///     let lines = futures_lite::stream::iter(lines.iter().copied());
    ///     pipeline(lines).stage(str::parse::<i32>).and_then(|x| x.to_string().parse()).collect()
    /// };
    /// assert_eq!(sizes(&["1", "2"]), Ok(vec![1, 2]));
    /// assert!(sizes(&["1", "x", "-2"]).is_err());
    /// ```
    pub fn and_then<R, F>(self, stage: F) -> Pipeline<impl ParallelIterator<Item = Numbered<Result<R, E>>>>
    where
        F: Fn(T) -> Result<R, E> + Sync + Send,
        R: Send,
    {
        self.stage(closures::if_ok(stage))
    }

    /// Adds a stage that awaits a future, for the items that are `Ok`, and may fail.
    ///
    /// ```
    /// use furcate::stream::pipeline;
    ///
    /// async fn fetch(page: u32) -> Result<String, String> {
    ///     futures_lite::future::yield_now().await;
    ///     if page < 3 { Ok(page.to_string()) } else { Err(format!("no page {page}")) }
    /// }
    /// let pages = |words: &'static [&str]| -> Result<Vec<String>, String> {
    ///     pipeline(futures_lite::stream::iter(words.iter().copied()))
    ///         .stage(|word| word.parse().map_err(|_| format!("{word} is no number")))
    ///         .and_then_async(fetch)
    ///         .collect()
    /// };
    /// assert_eq!(pages(&["1", "2"]), Ok(vec!["1".to_string(), "2".to_string()]));
    /// assert_eq!(pages(&["1", "5", "x"]), Err("no page 5".to_string()));
    /// ```
    pub fn and_then_async<R, F, A>(
        self,
        stage: F,
    ) -> Pipeline<impl ParallelIterator<Item = Numbered<Result<R, E>>>>
    where
        F: Fn(T) -> A + Sync + Send,
        A: IntoFuture<Output = Result<R, E>, IntoFuture: Send>,
        R: Send,
    {
        self.stage_async(closures::awaits_if_ok(stage))
    }
}

/// Marker: the last item of the list decides the collection, so no more items are needed.
struct Decided;

/// Adds an item to the list. Returns `Err` if the item [decides](FromParallelIterator::is_decided_by) the collection.
fn push<C: FromParallelIterator<T>, T: Send>(items: &mut Vec<T>, item: T) -> Result<(), Decided> {
    let decided = C::is_decided_by(&item);
    items.push(item);
    if decided { Err(Decided) } else { Ok(()) }
}

/// Makes a collection of the items that have arrived.
fn collected<C: FromParallelIterator<T>, T: Send>(items: Vec<T>) -> C {
    C::from_par_lists(if items.is_empty() { LinkedList::new() } else { LinkedList::from([items]) })
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // A sink that has panicked is not called again.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// An item of a [`Pipeline`], with its place in the stream.
///
/// The type is public so that a function can name the pipeline that it returns: see [`Pipeline`].
///
/// ```
/// use furcate::prelude::*;
/// use furcate::stream::{Numbered, Pipeline, pipeline};
///
/// fn write(lines: Pipeline<impl ParallelIterator<Item = Numbered<String>>>, to: &mut Vec<String>) {
///     lines.for_each(|line| to.push(line));
/// }
/// let mut written = vec![];
/// write(pipeline(futures_lite::stream::iter(1..4)).stage(|x| x.to_string()), &mut written);
/// assert_eq!(written, ["1", "2", "3"]);
/// ```
#[derive(Debug)]
pub struct Numbered<T> {
    number: u64,
    /// `None` if a stage has dropped it.
    item: Option<T>,
}

/// Numbers the items of a stream.
struct Numbering<S> {
    stream: Pin<Box<S>>,
    next: u64,
}

impl<S: Stream> Stream for Numbering<S> {
    type Item = Numbered<S::Item>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let polled = self.stream.as_mut().poll_next(context);
        polled.map(|item| {
            let number = self.next;
            self.next += 1;
            Some(Numbered { number, item: Some(item?) })
        })
    }
}
