//! `par_bridge`: the items of any sequential iterator, in parallel.
//!
//! # Protocol
//!
//! A part of the call is a *chunk* of items that were fetched, and the *rest*: the iterator itself. One part has the iterator; no
//! other one waits for it.
//!
//! ```text
//!   worker 1    fetch a a a a   offer the rest   fold a a a a          take the rest back, if it is still there
//!   worker 2                    └─ stolen: fetch b b b b   offer the rest   fold b b b b
//!   worker 1                                               └─ stolen: fetch c c c c  ...
//! ```
//!
//! The worker that has the iterator fetches a chunk. Then it offers the rest to thieves, and folds the chunk. A thief fetches the next chunk. If no
//! thief came, the worker takes the rest back. So the parts lie in the order of the items, and nobody holds a lock or waits for another worker
//! while the iterator is asked for an item. Whatever the iterator does there (wait for a socket, run a chain on the same pool), it stands in nobody's way.
//!
//! # Invariants
//!
//! 1. *One asks.* The iterator has one owner, and it is never asked again after its end, after a panic, or when the call has ended early.
//! 2. *Every item once.* A fetched item is in one chunk, and a chunk is cut like a vector.
//! 3. *Short chunks.* A chunk has at most [`LONGEST`] items. It grows while chunks are folded in less than [`FOLD`], and it ends when fetching it
//!    has taken [`FETCH`]. So items that take long come one at a time.
//! 4. *Held back seldom.* The items of a chunk wait for the last one, and an iterator may make them wait for long. So a chunk has one
//!    item until [`QUICK`] items in a row have come at once, and again after one that has not.

use super::in_place::fold_in_place;
use crate::iter::{ParallelIterator, default_schedule};
use furcate_pool::sync::clock::Instant;
use furcate_pool::sync::machine::atomic::AtomicUsize;
use furcate_pool::sync::machine::atomic::Ordering::Relaxed;
use furcate_schedulers::{Divisible, Facts, Producer, StepFold, Steps, Suspendable};
use std::iter::Flatten;
use std::ops::ControlFlow;
use std::time::Duration;
use std::{fmt, option, vec};

/// Greatest number of items in a chunk.
const LONGEST: usize = 4096;

/// Time in which a chunk should be folded.
const FOLD: Duration = Duration::from_micros(50);

/// Time after which no more items are fetched for a chunk.
const FETCH: Duration = Duration::from_micros(50);

/// Number of items in a row that come at once before a chunk may have more than one.
const QUICK: usize = 16;

/// Greatest time in which a chunk has come at once: so much, and so much for each item.
const AT_ONCE: (Duration, Duration) = (Duration::from_micros(10), Duration::from_micros(1));

/// Most items that are fetched between two looks at the clock.
const UNTIMED: usize = 16;

/// Size of an iterator that has not been asked yet. It can be counted down, and leaves room for sums.
const UNCOUNTED: usize = usize::MAX / 2;

/// Sequential iterators as parallel ones. Implemented for every iterator that is `Send` and has `Send` items.
///
/// ```
/// use furcate::prelude::*;
/// let (sender, receiver) = std::sync::mpsc::channel();
/// std::thread::spawn(move || (0..100).try_for_each(|i| sender.send(i)));
/// assert_eq!(receiver.into_iter().par_bridge().map(|i| i * i).sum::<i32>(), 328_350);
/// ```
pub trait ParallelBridge: Sized {
    /// Makes a parallel iterator over the items of a sequential one.
    ///
    /// One worker at a time asks the iterator for items, a chunk of them, while the others work on the chunks before. No worker waits for its turn: a
    /// worker that has nothing to do takes the iterator over. So the iterator may block, and may use the pool itself. (What it
    /// blocks is the one thread that asks it. For a source that waits, see `par_bridge_async`.)
    ///
    /// Chunks have one item where items come slowly or take long, and up to 4096 where they come at once and are cheap: see [`max_chunk`](IterBridge::max_chunk). A call that ends early drops the iterator. Up to a chunk for
    /// each thread has then been fetched and is dropped unseen; with `(&mut iter).par_bridge()`, too.
    ///
    /// The order of the items is kept if [`ordered`](IterBridge::ordered) says so. Otherwise `find_first` and its kin may return any hit.
    ///
    /// A [`Range`](std::ops::Range), a slice or a collection has a parallel iterator of its own (`into_par_iter`), which is faster: its parts need
    /// not be fetched.
    ///
    /// # Schedule
    ///
    /// The default scheduler is [`Adaptive`](furcate_schedulers::Adaptive), and policies say how far the work may be divided: under `bound_depth(d)`, say, the iterator is taken over `d` times
    /// at most. Schedulers that divide before they begin (`join()`, `depjoin()`) take a few chunks off, and run what is left as one task.
    ///
    /// # Cost
    ///
    /// A chunk costs about a fork and an allocation. The call keeps some 200 bytes, and the part's output, for each time that the iterator was taken over, until
    /// it ends: at most some thousand times a second.
    ///
    /// # Panics
    ///
    /// If the iterator panics, the terminal panics, and the iterator is not asked again.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// let words = "the quick brown fox".split(' ');
    /// assert_eq!(words.par_bridge().map(str::len).max(), Some(5));
    /// ```
    fn par_bridge(self) -> IterBridge<Self>
    where
        Self: Iterator<Item: Send> + Send,
    {
        IterBridge { iter: Some(self), length: AtomicUsize::new(1), longest: LONGEST }
    }
}

impl<I: Iterator<Item: Send> + Send> ParallelBridge for I {}

/// The items of a sequential iterator, in parallel: see [`ParallelBridge::par_bridge`].
///
/// ```
/// use furcate::prelude::*;
/// let it: furcate::iter::IterBridge<_> = "a b c".split(' ').par_bridge();
/// assert_eq!(it.count(), 3);
/// ```
#[must_use = "iterators do nothing until a terminal drives them"]
pub struct IterBridge<I, const ORDERED: bool = false> {
    /// `None` once the iterator has been lent.
    iter: Option<I>,
    /// Length of the next chunk.
    length: AtomicUsize,
    /// Greatest length of a chunk.
    longest: usize,
}

impl<I: Clone, const ORDERED: bool> Clone for IterBridge<I, ORDERED> {
    fn clone(&self) -> Self {
        IterBridge { iter: self.iter.clone(), length: AtomicUsize::new(1), longest: self.longest }
    }
}

impl<I> IterBridge<I> {
    /// Keeps the order of the items: `collect` gives them in order, and `find_first` finds the first hit.
    ///
    /// The order costs nothing but the chance to end a search at any hit.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// let odd = (0..1000).filter(|i| i % 2 == 1);
    /// assert_eq!(odd.par_bridge().ordered().map(|i| i * i).find_first(|i| *i > 1000), Some(33 * 33));
    /// ```
    pub fn ordered(self) -> IterBridge<I, true> {
        IterBridge { iter: self.iter, length: self.length, longest: self.longest }
    }
}

impl<I, const ORDERED: bool> IterBridge<I, ORDERED> {
    /// Sets the greatest number of items that are fetched before the first of them is worked on: at least 1, and 4096 by default.
    ///
    /// Name 1 if the iterator waits until earlier items have been worked on, as the receiver of a channel does whose sender waits for answers. With longer
    /// chunks both might wait for ever. (Until 16 items in a row have come at once, a chunk has one item anyway.)
    ///
    /// # Panics
    ///
    /// If `n` is 0.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// use std::sync::mpsc::channel;
    ///
    /// let (ask, questions) = channel::<u64>();
    /// let (answer, answers) = channel();
    /// let server = std::thread::spawn(move || questions.into_iter().par_bridge().max_chunk(1).for_each(|n| answer.send(n * n).unwrap()));
    /// for n in 0..100 {
    ///     ask.send(n).unwrap();
    ///     assert_eq!(answers.recv(), Ok(n * n)); // the next question waits for it
    /// }
    /// drop(ask);
    /// server.join().unwrap();
    /// ```
    pub fn max_chunk(self, n: usize) -> Self {
        assert!(n > 0, "a chunk has at least one item: `max_chunk(1)`");
        IterBridge { longest: n.min(LONGEST), ..self }
    }

    /// The iterator, unless it has been lent.
    pub(crate) fn iter_mut(&mut self) -> Option<&mut I> {
        self.iter.as_mut()
    }
}

impl<I: fmt::Debug, const ORDERED: bool> fmt::Debug for IterBridge<I, ORDERED> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("IterBridge").field("iter", &self.iter).finish()
    }
}

impl<I: Iterator<Item: Send> + Send, const ORDERED: bool> ParallelIterator for IterBridge<I, ORDERED> {
    type Item = I::Item;
    type Producer<'a>
        = BridgePart<'a, I, ORDERED>
    where
        Self: 'a;

    default_schedule!();

    fn producer(&mut self) -> BridgePart<'_, I, ORDERED> {
        let rest = self.iter.take();
        *self.length.get_mut() = 1;
        let (length, longest) = (&self.length, self.longest);
        let (chunk, uncounted) = (Vec::new().into_iter(), UNCOUNTED);
        BridgePart { chunk, rest, uncounted, quick: 0, length, longest, fetched: None }
    }
}

/// The producer of [`IterBridge`]: items that were fetched, and the iterator behind them, in one of the parts.
pub struct BridgePart<'a, I: Iterator, const ORDERED: bool> {
    chunk: vec::IntoIter<I::Item>,
    rest: Option<I>,
    /// More than the rest can have, less the items that were fetched. (The iterator's own `size_hint` may be wrong.)
    uncounted: usize,
    /// Length of the next chunk. A part that has folded a chunk sets it, whoever has the iterator then. (Relaxed: a number, and nothing depends on it.)
    length: &'a AtomicUsize,
    /// Greatest length of a chunk.
    longest: usize,
    /// Number of items that have come at once, one after the other.
    quick: usize,
    /// The time at which the chunk was fetched, with its length.
    fetched: Option<(Instant, usize)>,
}

impl<I: Iterator, const ORDERED: bool> fmt::Debug for BridgePart<'_, I, ORDERED> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BridgePart").field("fetched", &self.chunk.len()).finish_non_exhaustive()
    }
}

impl<I: Iterator, const ORDERED: bool> BridgePart<'_, I, ORDERED> {
    /// A part with these items only.
    fn with(&self, chunk: Vec<I::Item>) -> Self {
        let BridgePart { length, longest, .. } = *self;
        BridgePart {
            chunk: chunk.into_iter(),
            rest: None,
            uncounted: 0,
            quick: 0,
            length,
            longest,
            fetched: None,
        }
    }

    /// Fetches a chunk.
    fn fetch(&mut self) {
        let begun = Instant::now();
        let are_quick = self.quick >= QUICK;
        let length = if are_quick { self.length.load(Relaxed).min(self.longest) } else { 1 };
        self.fetch_up_to(length, begun + FETCH);
        let (now, items) = (Instant::now(), self.chunk.len());
        let at_once = AT_ONCE.0 + AT_ONCE.1.saturating_mul(u32::try_from(items).unwrap_or(u32::MAX));
        if now - begun < at_once {
            self.quick = self.quick.saturating_add(items);
        } else {
            self.quick = 0;
            self.length.store(1, Relaxed);
        }
        self.fetched = are_quick.then_some((now, items));
    }

    /// Fetches items behind those that are there, in all up to `length`, or to the end, or until the time has passed.
    fn fetch_up_to(&mut self, length: usize, until: impl Into<Option<Instant>>) {
        // The iterator is held here: if it panics, it is dropped and not asked again.
        let Some(mut rest) = self.rest.take() else { return };
        let (until, before) = (until.into(), self.chunk.len());
        let mut items: Vec<I::Item> = std::mem::take(&mut self.chunk).collect();
        items.reserve(length.min(LONGEST).saturating_sub(before));
        let mut ended = false;
        while items.len() < length {
            let Some(item) = rest.next() else {
                ended = true;
                break;
            };
            items.push(item);
            let fetched = items.len().saturating_sub(before);
            let look = fetched.is_power_of_two() || fetched % UNTIMED == 0;
            if items.len() < length && look && until.is_some_and(|until| Instant::now() > until) {
                break;
            }
        }
        self.uncounted = self.uncounted.saturating_sub(items.len().saturating_sub(before));
        self.chunk = items.into_iter();
        if !ended {
            self.rest = Some(rest);
        }
    }

    /// Adapts the length of chunks to the time in which this one was folded.
    fn has_folded(&mut self) {
        let Some((fetched, length)) = self.fetched.take() else { return };
        let time = fetched.elapsed().max(Duration::from_nanos(1));
        let items = FOLD.as_nanos().saturating_mul(length as u128) / time.as_nanos();
        let items = usize::try_from(items).unwrap_or(usize::MAX).min(length.saturating_mul(2));
        self.length.store(items.clamp(1, self.longest), Relaxed);
    }

    /// Gives the iterator away.
    fn cut_rest(&mut self) -> Self {
        let uncounted = std::mem::take(&mut self.uncounted);
        BridgePart { rest: self.rest.take(), uncounted, quick: self.quick, ..self.with(Vec::new()) }
    }
}

impl<I: Iterator, const ORDERED: bool> Divisible for BridgePart<'_, I, ORDERED> {
    fn size(&self) -> usize {
        let rest = if self.rest.is_some() { self.uncounted.max(1) } else { 0 };
        self.chunk.len().saturating_add(rest)
    }

    fn should_be_divided(&self) -> bool {
        self.chunk.len() > 1 || self.rest.is_some()
    }

    /// The chunk to the left, and the iterator to the right.
    fn divide(mut self) -> (Self, Self) {
        if self.chunk.len() == 0 {
            self.fetch();
        }
        if self.rest.is_some() {
            let right = self.cut_rest();
            return (self, right);
        }
        let half = self.chunk.len() / 2;
        self.divide_at(half)
    }

    /// Fetches `index` items, if there are as many.
    fn divide_at(mut self, index: usize) -> (Self, Self) {
        if index >= self.size() {
            let right = self.with(Vec::new());
            return (self, right);
        }
        if self.chunk.len() < index {
            self.fetch_up_to(index, None);
        }
        self.fetched = None;
        let left = self.chunk.by_ref().take(index).collect();
        (self.with(left), self)
    }
}

impl<I: Iterator, const ORDERED: bool> IntoIterator for BridgePart<'_, I, ORDERED> {
    type Item = I::Item;
    type IntoIter = std::iter::Chain<vec::IntoIter<I::Item>, Flatten<option::IntoIter<I>>>;

    fn into_iter(self) -> Self::IntoIter {
        self.chunk.chain(self.rest.into_iter().flatten())
    }
}

impl<I: Iterator<Item: Send> + Send, const ORDERED: bool> Producer for BridgePart<'_, I, ORDERED> {
    const FACTS: Facts = Facts { in_order: ORDERED, fetched: true, ..Facts::ITEMS };

    fn partial_fold<'s, B, F, L>(self, init: B, mut fold: F, steps: &mut L) -> ControlFlow<B, B>
    where
        Self: 's,
        B: Suspendable<'s>,
        F: StepFold<'s, I::Item, B>,
        L: Steps<Self>,
    {
        fold_in_place(self, init, steps, |part, folded, limit, steps| {
            if part.chunk.len() == 0 && part.rest.is_some() {
                part.fetch();
            }
            if part.rest.is_some() && part.chunk.len() > 0 && steps.ahead(part.size()) {
                steps.take(part.cut_rest());
            }
            let folded = fold.fold(folded, part.chunk.by_ref().take(limit))?;
            if part.chunk.len() == 0 {
                part.has_folded();
            }
            ControlFlow::Continue(folded)
        })
    }
}
