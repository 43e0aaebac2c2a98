//! `par_bridge`: the items of any sequential iterator, in parallel.
//!
//! # Protocol
//!
//! Parts of the call share the iterator. A part *asks*: it takes the iterator's lock, takes an item, gives the lock back, and folds the item. One that
//! finds the lock taken for [`PATIENCE`] ends, so that its worker can do something else. The holder of the lock goes on, and offers a part to thieves
//! before it folds an item.
//!
//! ```text
//!   worker 1    ask a   offer a part   fold a        ask c   fold c      ask d  ...
//!   worker 2            └─ stolen: ask b   offer a part   fold b             ask e  ...
//! ```
//!
//! Where items are not [dear](DEAR), to pass the lock would cost more than to fold them. So one part asks: it keeps the lock for up to [`RUN`] items, folds
//! each before it asks for the next one, and offers nothing. A part that has found cheap items, and then finds the lock taken, ends at once.
//!
//! *In order* ([`ordered`](IterBridge::ordered)) one part asks. It takes a *chunk* of items. Then it offers the *rest* to thieves: the right to ask. It folds the
//! chunk, and takes the rest back if no thief has come. So the parts lie in the order of the items, and no worker waits for the iterator.
//!
//! ```text
//!   worker 1    fetch a a a a   offer the rest   fold a a a a          take the rest back, if it is still there
//!   worker 2                    └─ stolen: fetch b b b b   offer the rest   fold b b b b
//!   worker 1                                               └─ stolen: fetch c c c c  ...
//! ```
//!
//! # Invariants
//!
//! 1. *One asks at a time*, and the iterator is never asked again after its end, after a panic, or when the call has ended early.
//! 2. *Every item once.* A fetched item is in one part.
//! 3. *None waits for the next one.* A worker that asks holds no item that is not folded yet, so an iterator may wait until earlier items have been
//!    worked on. (The list of work of a search is such an iterator.) Two exceptions are the user's choice: in order, and under policies that cut
//!    blocks.
//! 4. *Short waits* for the iterator. A part ends early only if another one has the lock, and that one asks again, unless its own fold ends it (a `try_fold`
//!    that has failed). So all items come.
//! 5. *Short chunks*, in order. A chunk has at most [`LONGEST`] items. It grows while chunks are folded in less than [`FOLD`], and it ends when fetching it
//!    has taken [`FETCH`]. It has one item until [`QUICK`] items in a row have come at once, and again after one that has not: the items of
//!    a chunk wait for the last one.

use super::in_place::fold_in_place;
use crate::iter::{ParallelIterator, default_schedule};
use furcate_pool::sync::clock::Instant;
use furcate_pool::sync::machine::atomic::AtomicUsize;
use furcate_pool::sync::machine::atomic::Ordering::Relaxed;
use furcate_pool::sync::machine::{Mutex, MutexGuard, hint};
use furcate_schedulers::{Divisible, Facts, Producer, StepFold, Steps, Suspendable};
use std::iter::{Chain, from_fn, once};
use std::ops::ControlFlow;
use std::sync::{PoisonError, TryLockError};
use std::time::Duration;
use std::{fmt, vec};

/// Time for which a part waits for the iterator, if items are dear.
const PATIENCE: Duration = Duration::from_micros(20);

/// Mean time of items from which on they are dear: to pass the iterator pays.
const DEAR: Duration = Duration::from_nanos(150);

/// Most cheap items that are folded before another part may ask.
const RUN: usize = 256;

/// Number of items after which the mean forgets half of them. It is large, so that a few very dear items among many cheap ones count.
const REMEMBERED: u32 = 1 << 16;

/// The first items are timed, so many of them, and then one of so many.
const TIMED: u32 = 16;

/// Greatest number of items in a chunk.
const LONGEST: usize = 4096;

/// Time in which a chunk should be folded.
const FOLD: Duration = Duration::from_micros(50);

/// Time after which no more items are fetched for a chunk, or folded in a run.
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
    /// One worker at a time asks the iterator for an item, while the others work on theirs. A worker that has nothing to do asks, too; if another one keeps
    /// the iterator busy, it goes elsewhere. So the iterator may block, and may use the pool itself. (It blocks the one thread that asks it. For a
    /// source that waits, see `par_bridge_async`.)
    ///
    /// No worker asks while it holds an item that it has not worked on. So the iterator may wait until the items that it has given are done, as a list of work
    /// does that grows meanwhile. Where items take less than some 0.15 us on average, one worker takes up to 256 of them, one after the other, before another one
    /// may ask: where one item of that run is exceptionally long, the others do without the iterator meanwhile.
    ///
    /// A call that ends early drops the iterator. With `(&mut iter).par_bridge()` it goes on behind the items that were worked on.
    ///
    /// The order of the items is kept if [`ordered`](IterBridge::ordered) says so. Otherwise `find_first` and its kin may return any hit.
    ///
    /// A [`Range`](std::ops::Range), a slice or a collection has a parallel iterator of its own (`into_par_iter`), which is faster: its parts need
    /// not be fetched.
    ///
    /// # Schedule
    ///
    /// The default scheduler is [`Adaptive`](furcate_schedulers::Adaptive), and policies say how far the work may be divided: under `bound_depth(d)`, say, a worker is joined by
    /// others `d` times at most. Schedulers that divide before they begin (`join()`, `depjoin()`) take single items off, and run the rest as one task. With
    /// `by_blocks` the items of a block are taken before the first of them is worked on.
    ///
    /// # Cost
    ///
    /// An item costs some 50 ns, and one that takes less than 0.15 us some nanoseconds. So items of 0.1 to 0.2 us gain nothing from a second thread, and may take longer than in
    /// a loop. The call keeps some 200 bytes, and the part's output, for each time that a worker has joined it,
    /// until it ends: seldom if all are busy, and for each item at most if the iterator takes longer than 20 us.
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
        IterBridge { source: Source::new(Some(self)), longest: LONGEST }
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
    source: Source<I>,
    /// Greatest length of a chunk.
    longest: usize,
}

/// The iterator, shared by all parts.
#[derive(Debug)]
struct Source<I> {
    /// Poisoned by a panic while the iterator is asked, or while cheap items are folded.
    state: Mutex<State<I>>,
    /// Length of the next chunk. A part that has folded a chunk sets it, whoever asks then. (Relaxed: a number, and nothing depends on it.)
    length: AtomicUsize,
}

/// The iterator, and the mean time in which its items are folded.
#[derive(Debug)]
struct State<I> {
    /// `None` after the iterator's end.
    iter: Option<I>,
    /// Set while the iterator is asked, and after a panic of it. (A lock that was taken while a panic unwinds is not poisoned by a further one.)
    is_asked: bool,
    /// Time that some items took, and their number.
    mean: (Duration, u32),
}

impl<I> Source<I> {
    fn new(iter: Option<I>) -> Self {
        Source {
            state: Mutex::new(State { iter, is_asked: false, mean: (Duration::ZERO, 0) }),
            length: AtomicUsize::new(1),
        }
    }

    /// The iterator, for the time of the guard. `None` if it has ended or panicked, or if others keep it busy for so long.
    fn turn(&self, patience: Duration) -> Option<MutexGuard<'_, State<I>>> {
        let mut since = None;
        loop {
            match self.state.try_lock() {
                Ok(turn) => return (turn.iter.is_some() && !turn.is_asked).then_some(turn),
                Err(TryLockError::Poisoned(_)) => return None,
                Err(TryLockError::WouldBlock) => {}
            }
            if patience.is_zero() || since.get_or_insert_with(Instant::now).elapsed() > patience {
                return None;
            }
            hint::spin_loop();
        }
    }
}

impl<I: Iterator> State<I> {
    /// Asks for an item, and drops an iterator that has ended.
    fn ask(&mut self) -> Option<I::Item> {
        let iter = self.iter.as_mut()?;
        self.is_asked = true;
        let item = iter.next();
        self.is_asked = false;
        if item.is_none() {
            self.iter = None;
        }
        item
    }

    /// Whether items are dear, or not known.
    fn is_dear(&self) -> bool {
        let (time, items) = self.mean;
        time >= DEAR * items
    }

    /// Notes the time in which so many items were folded, at most [`RUN`].
    fn note(&mut self, time: Duration, items: usize) {
        self.mean = (self.mean.0 + time, self.mean.1 + items as u32);
        if self.mean.1 > REMEMBERED {
            self.mean = (self.mean.0 / 2, self.mean.1 / 2);
        }
    }
}

impl<I: Clone, const ORDERED: bool> Clone for IterBridge<I, ORDERED> {
    fn clone(&self) -> Self {
        let iter = self.source.state.lock().unwrap_or_else(PoisonError::into_inner).iter.clone();
        IterBridge { source: Source::new(iter), longest: self.longest }
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
        IterBridge { source: self.source, longest: self.longest }
    }
}

impl<I> IterBridge<I, true> {
    /// Sets the greatest number of items that are fetched before the first of them is worked on: at least 1, and 4096 by default.
    ///
    /// Chunks have one item where items come slowly or take long, and more where they come at once and are cheap. Name 1 if the iterator waits until
    /// earlier items have been worked on: with longer chunks it might wait for ever.
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
    /// let server = std::thread::spawn(move || {
    ///     let questions = questions.into_iter().par_bridge().ordered().max_chunk(1);
    ///     questions.map(|n| { answer.send(n * n).unwrap(); n }).collect::<Vec<_>>()
    /// });
    /// for n in 0..100 {
    ///     ask.send(n).unwrap();
    ///     assert_eq!(answers.recv(), Ok(n * n)); // the next question waits for it
    /// }
    /// drop(ask);
    /// assert_eq!(server.join().unwrap(), (0..100).collect::<Vec<_>>());
    /// ```
    pub fn max_chunk(self, n: usize) -> Self {
        assert!(n > 0, "a chunk has at least one item: `max_chunk(1)`");
        IterBridge { longest: n.min(LONGEST), ..self }
    }
}

impl<I, const ORDERED: bool> IterBridge<I, ORDERED> {
    /// The iterator, unless it has ended.
    pub(crate) fn iter_mut(&mut self) -> Option<&mut I> {
        self.source.state.get_mut().ok()?.iter.as_mut()
    }
}

impl<I: fmt::Debug, const ORDERED: bool> fmt::Debug for IterBridge<I, ORDERED> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("IterBridge").field("source", &self.source).finish()
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
        *self.source.length.get_mut() = 1;
        let (source, longest) = (&self.source, self.longest);
        let (chunk, uncounted) = (Vec::new().into_iter(), UNCOUNTED);
        BridgePart {
            chunk,
            source,
            asks: true,
            uncounted,
            are_cheap: false,
            timed: None,
            longest,
            quick: 0,
            fetched: None,
        }
    }
}

/// The producer of [`IterBridge`]: items that were fetched, and, behind them, those that it asks for.
pub struct BridgePart<'a, I: Iterator, const ORDERED: bool> {
    chunk: vec::IntoIter<I::Item>,
    source: &'a Source<I>,
    /// Whether this part asks. In order, one part does.
    asks: bool,
    /// More than the iterator can have, less the items that were fetched, and less one for each division. (The iterator's own `size_hint` may be wrong.)
    uncounted: usize,
    /// Whether this part has found items that are not dear, so that it is not to be divided.
    are_cheap: bool,
    /// Time of an item that was folded, to be noted when the iterator is asked again.
    timed: Option<Duration>,
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

impl<'a, I: Iterator, const ORDERED: bool> BridgePart<'a, I, ORDERED> {
    /// A part with these items only.
    fn with(&self, chunk: Vec<I::Item>) -> Self {
        let chunk = chunk.into_iter();
        BridgePart { chunk, asks: false, uncounted: 0, timed: None, quick: 0, fetched: None, ..*self }
    }

    /// A part that asks. In order, this one does not ask any more.
    fn asking(&mut self) -> Self {
        self.uncounted = self.uncounted.saturating_sub(1);
        let asking = BridgePart {
            asks: self.asks,
            uncounted: self.uncounted,
            quick: self.quick,
            ..self.with(Vec::new())
        };
        self.asks &= !ORDERED;
        asking
    }

    /// Asks for an item and folds it, or does so with several cheap items, up to `limit`: each is folded before the next one is asked for.
    fn fold_asked<'s, B, F, L>(
        &mut self,
        folded: B,
        fold: &mut F,
        limit: usize,
        steps: &mut L,
    ) -> ControlFlow<B, B>
    where
        Self: Producer<Item = I::Item>,
        F: StepFold<'s, I::Item, B>,
        L: Steps<Self>,
    {
        let patience = if self.are_cheap { Duration::ZERO } else { PATIENCE };
        let Some(mut turn) = self.source.turn(patience) else {
            self.asks = false;
            return ControlFlow::Continue(folded);
        };
        if let Some(time) = self.timed.take() {
            turn.note(time, 1);
        }
        self.are_cheap = !turn.is_dear();
        if self.are_cheap {
            let (most, begun, mut asked) = (limit.min(RUN), Instant::now(), 0_usize);
            let items = from_fn(|| {
                let is_over = asked == most || (asked.is_power_of_two() && begun.elapsed() > FETCH);
                let item = if is_over { None } else { turn.ask() };
                asked += usize::from(item.is_some());
                item
            });
            let folded = fold.fold(folded, items);
            turn.note(begun.elapsed(), asked);
            self.uncounted = self.uncounted.saturating_sub(asked);
            return folded;
        }
        let Some(item) = turn.ask() else { return ControlFlow::Continue(folded) };
        let is_timed = turn.mean.1 < TIMED || self.uncounted % TIMED as usize == 0;
        drop(turn);
        if steps.ahead(self.size()) {
            steps.take(self.asking());
        }
        let begun = is_timed.then(Instant::now);
        let folded = fold.fold(folded, once(item));
        self.timed = begun.map(|begun| begun.elapsed());
        self.uncounted = self.uncounted.saturating_sub(1);
        folded
    }

    /// Fetches a chunk.
    fn fetch(&mut self) {
        let begun = Instant::now();
        let are_quick = self.quick >= QUICK;
        let length = if are_quick { self.source.length.load(Relaxed).min(self.longest) } else { 1 };
        self.fetch_up_to(length, begun + FETCH);
        let (now, items) = (Instant::now(), self.chunk.len());
        let at_once = AT_ONCE.0 + AT_ONCE.1.saturating_mul(u32::try_from(items).unwrap_or(u32::MAX));
        if now - begun < at_once {
            self.quick = self.quick.saturating_add(items);
        } else {
            self.quick = 0;
            self.source.length.store(1, Relaxed);
        }
        self.fetched = are_quick.then_some((now, items));
    }

    /// Fetches items behind those that are there, in all up to `length`, or to the end, or until the time has passed.
    fn fetch_up_to(&mut self, length: usize, until: impl Into<Option<Instant>>) {
        if !self.asks {
            return;
        }
        let Some(mut turn) = self.source.turn(PATIENCE) else {
            self.asks = false;
            return;
        };
        let (until, before) = (until.into(), self.chunk.len());
        let mut items: Vec<I::Item> = std::mem::take(&mut self.chunk).collect();
        items.reserve(length.min(LONGEST).saturating_sub(before));
        while items.len() < length {
            let Some(item) = turn.ask() else {
                self.asks = false;
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
    }

    /// Adapts the length of chunks to the time in which this one was folded.
    fn has_folded(&mut self) {
        let Some((fetched, length)) = self.fetched.take() else { return };
        let time = fetched.elapsed().max(Duration::from_nanos(1));
        let items = FOLD.as_nanos().saturating_mul(length as u128) / time.as_nanos();
        let items = usize::try_from(items).unwrap_or(usize::MAX).min(length.saturating_mul(2));
        self.source.length.store(items.clamp(1, self.longest), Relaxed);
    }
}

impl<I: Iterator, const ORDERED: bool> Divisible for BridgePart<'_, I, ORDERED> {
    fn size(&self) -> usize {
        let rest = match self.asks {
            true if self.are_cheap => 1,
            true => self.uncounted.max(1),
            false => 0,
        };
        self.chunk.len().saturating_add(rest)
    }

    fn should_be_divided(&self) -> bool {
        self.chunk.len() > 1 || self.asks
    }

    /// A chunk to the left, of one item unless the order is kept, and to the right the rest.
    fn divide(mut self) -> (Self, Self) {
        match self.chunk.len() {
            0 if ORDERED => self.fetch(),
            0 => self.fetch_up_to(1, None),
            _ => {}
        }
        if self.asks {
            let right = self.asking();
            self.asks = false;
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
        if self.asks && index > self.uncounted / 4 {
            // A guess, as that of the first side of a chain: no number of items to fetch.
            return self.divide();
        }
        if self.chunk.len() < index {
            self.fetch_up_to(index, None);
        }
        self.fetched = None;
        let left = self.chunk.by_ref().take(index).collect();
        (self.with(left), self)
    }
}

/// The items of a leaf that asks.
#[derive(Debug)]
pub struct Asked<'a, I>(Option<&'a Source<I>>);

impl<I: Iterator> Iterator for Asked<'_, I> {
    type Item = I::Item;

    fn next(&mut self) -> Option<I::Item> {
        let item = self.0?.turn(PATIENCE).and_then(|mut turn| turn.ask());
        if item.is_none() {
            self.0 = None;
        }
        item
    }
}

impl<'a, I: Iterator, const ORDERED: bool> IntoIterator for BridgePart<'a, I, ORDERED> {
    type Item = I::Item;
    type IntoIter = Chain<vec::IntoIter<I::Item>, Asked<'a, I>>;

    fn into_iter(self) -> Self::IntoIter {
        self.chunk.chain(Asked(self.asks.then_some(self.source)))
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
            if part.chunk.len() == 0 && part.asks {
                if !ORDERED {
                    return part.fold_asked(folded, &mut fold, limit, steps);
                }
                part.fetch();
            }
            if ORDERED && part.asks && part.chunk.len() > 0 && steps.ahead(part.size()) {
                steps.take(part.asking());
            }
            let folded = fold.fold(folded, part.chunk.by_ref().take(limit))?;
            if part.chunk.len() == 0 {
                part.has_folded();
            }
            ControlFlow::Continue(folded)
        })
    }
}
