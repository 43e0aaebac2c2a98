//! The adaptor `progress`, which counts the items that are done.

use crate::iter::ParallelIterator;
use crate::iter::adaptor::adaptor;
use crate::iter::copies::copies;
use crate::iter::stage::{PerItem, Stage, StageFacts, adapt_items};
use furcate_pool::sync::clock::Instant;
use furcate_pool::sync::machine::atomic::{AtomicU64, Ordering::Relaxed};
use furcate_pool::sync::machine::thread;
use std::mem;
use std::sync::Arc;

/// Something that is told how many items are done: a progress bar, or a counter.
///
/// Implemented for closures `Fn(u64)`, for `&AtomicU64` and `Arc<AtomicU64>`, and for `indicatif::ProgressBar` and references to one
/// (feature `indicatif`).
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be told how many items are done",
    note = "give a closure `|items: u64| ..`, or an `&AtomicU64`; for a bar of indicatif 0.18, turn furcate's feature `indicatif` on"
)]
pub trait ProgressSink: Sync + Send {
    /// So many more items are done. Called from any thread.
    fn add(&self, items: u64);
}

impl<F: Fn(u64) + Sync + Send> ProgressSink for F {
    fn add(&self, items: u64) {
        self(items);
    }
}

impl ProgressSink for &AtomicU64 {
    fn add(&self, items: u64) {
        // Relaxed: the count publishes no other data.
        self.fetch_add(items, Relaxed);
    }
}

impl ProgressSink for Arc<AtomicU64> {
    fn add(&self, items: u64) {
        (&**self).add(items);
    }
}

#[cfg(feature = "indicatif")]
impl ProgressSink for indicatif::ProgressBar {
    fn add(&self, items: u64) {
        self.inc(items);
    }
}

#[cfg(feature = "indicatif")]
impl ProgressSink for &indicatif::ProgressBar {
    fn add(&self, items: u64) {
        self.inc(items);
    }
}

/// A sink, and the items that it has not been told of.
///
/// All leaves count into one number, and the sink is told when it reaches a *batch*. The batch grows where the sink would be told more than
/// a thousand times per second, and shrinks where it would be told less than fifty times. Relaxed throughout: the numbers
/// publish no other data, and a wrong batch costs time only.
#[derive(Debug)]
pub(crate) struct Meter<S> {
    sink: S,
    /// [`ProgressSink::add`].
    add_to: fn(&S, u64),
    done: AtomicU64,
    batch: AtomicU64,
    begin: Instant,
    /// When the sink was told last, in nanoseconds since `begin`.
    told: AtomicU64,
}

/// The most items of which the sink is told at once.
const LARGEST_BATCH: u64 = 1 << 24;

impl<S: Clone> Clone for Meter<S> {
    fn clone(&self) -> Self {
        Meter::with(self.sink.clone(), self.add_to)
    }
}

impl<S: ProgressSink> Meter<S> {
    pub(crate) fn new(sink: S) -> Self {
        Meter::with(sink, S::add)
    }
}

impl<S> Meter<S> {
    fn with(sink: S, add_to: fn(&S, u64)) -> Self {
        Meter {
            sink,
            add_to,
            done: AtomicU64::new(0),
            batch: AtomicU64::new(1),
            begin: Instant::now(),
            told: AtomicU64::new(0),
        }
    }

    /// Counts one item, and tells the sink.
    pub(crate) fn one(&self) {
        (self.add_to)(&self.sink, 1);
    }

    /// Counts items. Returns the present batch.
    #[inline]
    fn add(&self, items: u64) -> u64 {
        let done = self.done.fetch_add(items, Relaxed) + items;
        let batch = self.batch.load(Relaxed);
        if done < batch { batch } else { self.tell(batch) }
    }

    #[cold]
    fn tell(&self, batch: u64) -> u64 {
        let done = self.done.swap(0, Relaxed);
        if done > 0 {
            (self.add_to)(&self.sink, done);
        }
        let now = u64::try_from(self.begin.elapsed().as_nanos()).unwrap_or(u64::MAX);
        let batch = match now.saturating_sub(self.told.swap(now, Relaxed)) {
            0..1_000_000 => (batch * 2).min(LARGEST_BATCH),
            1_000_000..20_000_000 => batch,
            _ => (batch / 4).max(1),
        };
        self.batch.store(batch, Relaxed);
        batch
    }
}

/// The end of the call.
impl<S> Drop for Meter<S> {
    fn drop(&mut self) {
        let done = *self.done.get_mut();
        if done > 0 {
            (self.add_to)(&self.sink, done);
        }
    }
}

adaptor! {
    /// Counts the items that are done: see [`ParallelIterator::progress`].
    ///
    /// ```
    /// use furcate::prelude::*;
    /// use std::sync::atomic::AtomicU64;
    ///
    /// let done = AtomicU64::new(0);
    /// let it: furcate::iter::Progress<_, &AtomicU64> = (0..3).into_par_iter().progress(&done);
    /// assert_eq!(it.sum::<i32>(), 3);
    /// assert_eq!(done.into_inner(), 3);
    /// ```
    Progress<I, S> { meter: Meter<S> }
}

// There is no `PeekParallelIterator`: a look at an item would count it.
adapt_items! {
    impl[I, S] Progress<I, S> by PerItem<ProgressOp<'a, S>> = |it| PerItem(ProgressOp(&it.meter)) => I::Item, indexed
    where [I: ParallelIterator, S: ProgressSink]
}

#[allow(missing_debug_implementations, reason = "a borrowed sink")]
pub struct ProgressOp<'a, S>(&'a Meter<S>);

copies!(impl[S] ProgressOp<'_, S>);

impl<'a, T, S: ProgressSink> Stage<T> for ProgressOp<'a, S> {
    const FACTS: StageFacts = StageFacts::ONE;
    type Item = T;
    type Iter<I: Iterator<Item = T>> = Counted<'a, I, S>;

    #[inline]
    fn apply<I: Iterator<Item = T>>(self, items: I) -> Self::Iter<I> {
        // The sink is told of a single item at once: of a future that is ready, mostly, and so the numbers in flight are right.
        let is_single = items.size_hint().1 == Some(1);
        let size = if is_single { 0 } else { self.0.batch.load(Relaxed) };
        let batch = Batch { meter: self.0, under_way: false, done: 0, size };
        Counted { items, batch }
    }
}

/// The items of a leaf, counted.
#[allow(missing_debug_implementations, reason = "holds the user's iterator")]
pub struct Counted<'a, I, S> {
    items: I,
    batch: Batch<'a, S>,
}

impl<I: Iterator, S: ProgressSink> Iterator for Counted<'_, I, S> {
    type Item = I::Item;

    #[inline]
    fn next(&mut self) -> Option<I::Item> {
        self.batch.settle();
        let item = self.items.next();
        self.batch.under_way = item.is_some();
        item
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        self.items.size_hint()
    }

    #[inline]
    fn fold<B, F: FnMut(B, I::Item) -> B>(self, init: B, mut f: F) -> B {
        let Counted { items, mut batch } = self;
        batch.settle();
        if items.size_hint().1.is_some_and(|most| most as u64 <= batch.size.saturating_sub(batch.done)) {
            // No look at the batch's size, so that the loop stays as fast as it is.
            return items.fold(init, |folded, item| {
                let folded = f(folded, item);
                batch.done += 1;
                folded
            });
        }
        items.fold(init, |folded, item| {
            let folded = f(folded, item);
            batch.one();
            folded
        })
    }
}

impl<I: DoubleEndedIterator, S: ProgressSink> DoubleEndedIterator for Counted<'_, I, S> {
    #[inline]
    fn next_back(&mut self) -> Option<I::Item> {
        self.batch.settle();
        let item = self.items.next_back();
        self.batch.under_way = item.is_some();
        item
    }
}

impl<I: ExactSizeIterator, S: ProgressSink> ExactSizeIterator for Counted<'_, I, S> {}

/// The items of a leaf that are done, and not counted in the meter.
struct Batch<'a, S> {
    meter: &'a Meter<S>,
    /// Whether an item has come out that is not counted yet: it is done when the next one is asked for, or when the leaf ends.
    under_way: bool,
    done: u64,
    /// The number at which the meter is told; 0 for a single item.
    size: u64,
}

impl<S> Batch<'_, S> {
    /// Counts the item that is under way.
    #[inline]
    fn settle(&mut self) {
        if mem::take(&mut self.under_way) {
            self.one();
        }
    }

    #[inline]
    fn one(&mut self) {
        self.done += 1;
        if self.done >= self.size {
            self.flush();
        }
    }

    fn flush(&mut self) {
        let done = mem::take(&mut self.done);
        if self.size == 0 && done == 1 {
            self.meter.one();
        } else {
            self.size = self.meter.add(done);
        }
    }
}

impl<S> Drop for Batch<'_, S> {
    #[inline]
    fn drop(&mut self) {
        // (An item whose work has panicked is not done.)
        self.done += u64::from(self.under_way && !thread::panicking());
        if self.done > 0 {
            self.flush();
        }
    }
}
