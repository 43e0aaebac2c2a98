//! Parallel iterators of rayon's as sources: [`from_rayon`] and [`from_rayon_unindexed`].
//!
//! # How the items are lent
//!
//! An indexed iterator of rayon's passes a producer to a callback, and the producer's type is known in the callback only. So a
//! terminal runs in the callback (see [`scoped`](super::scoped)). It divides a [`LentProducer`]: rayon's producer behind a `dyn`. The cost is
//!
//! - one allocation for each cut;
//! - for a leaf that is folded at one go: one virtual call for a batch of items, which are moved to a buffer of 4 KB and folded there;
//! - for a leaf that may end before its last item: one virtual call for each item.
//!
//! # Invariants
//!
//! 1. A [`LentProducer`] made in a callback refers to data of that callback's caller, under a lifetime that says nothing (`'static`). It is
//!    put into the source's slot, and leaves the slot by [`FromRayon::producer`] only, with the lifetime of a borrow of the source.
//! 2. The borrow of the source ends before the callback returns, because the source lies in a chain that is dropped in the callback (invariant 1 of
//!    [`scoped`](super::scoped)), and because nobody outside this crate can have a source whose scope is entered (invariant 2 there).
//! 3. The slot is emptied before the callback returns, also if the call panics.
#![allow(unsafe_code)]

use super::either::EitherProducer;
use super::scoped::Scopes;
use super::{IndexedParallelIterator, ParallelIterator, default_schedule, producer_is_indexed};
use crate::vec::Owned;
use either::Either;
use furcate_pool::sync::machine::Mutex;
use furcate_schedulers::{Divisible, Facts, IndexedProducer, Producer};
use rayon::iter as rayon_iter;
use rayon_iter::plumbing;
use std::fmt;
use std::sync::{Arc, PoisonError};

/// Makes a chain of an indexed parallel iterator of rayon's, or of a crate that implements rayon's traits.
///
/// No item is copied: the iterator lends a producer, and the chain's schedule says how that producer is cut, and where the parts run.
/// So policies, schedulers, stops and `io_await` apply to data that only know rayon. The closures that are chained before
/// `from_rayon` run where the items do, on the threads of the chain's executor.
///
/// A part is never cut below the length that rayon's `with_min_len` has asked for. A `with_max_len` is to be named behind `from_rayon`.
///
/// The chain is a source like any other, except where no terminal runs it to its end: in `blocks_iter`, in a stream, in a terminal that is awaited
/// (`async_..`), inside a `flat_map`, and under an adaptor of your own. There rayon collects the items into a vector first, on its own pool.
///
/// # Cost
///
/// A cut allocates. A leaf that is folded at one go takes its items in batches, at a cost of about 0.1 ns for an item. A leaf that may end early (a search, or
/// a chain that can be stopped) takes one item after the other, at about 1 ns each. Prefer a source of furcate's where there is one.
///
/// # Panics
///
/// The chain's terminals panic with whatever rayon's iterator or its closures panic with.
///
/// ```
/// use furcate::prelude::*;
///
/// /// A module, or a crate, that knows rayon only.
/// mod elsewhere {
///     use rayon::prelude::*;
///     pub fn squares() -> impl IndexedParallelIterator<Item = u32> {
///         (0..1000_u32).into_par_iter().map(|x| x * x)
///     }
/// }
/// let sum: u32 = furcate::from_rayon(elsewhere::squares()).filter(|x| x % 2 == 0).size_limit(100).adaptive().sum();
/// assert_eq!(sum, 166_167_000);
/// ```
pub fn from_rayon<I>(items: I) -> FromRayon<I::Iter>
where
    I: rayon_iter::IntoParallelIterator<Iter: rayon_iter::IndexedParallelIterator>,
{
    let items = items.into_par_iter();
    let len = rayon_iter::IndexedParallelIterator::len(&items);
    FromRayon { items: Some(items), len, slot: Arc::default(), copied: Vec::new() }
}

/// Makes a chain of any parallel iterator of rayon's, also of one that does not know its length.
///
/// An iterator that does not know its length cannot be cut from outside: rayon divides it and runs the parts. So the items are collected into a vector first, in order, by rayon
/// and on rayon's pool, when a terminal asks for them. The chain then owns the vector. If the iterator is indexed,
/// [`from_rayon`] needs no copy.
///
/// ```
/// use furcate::prelude::*;
///
/// mod elsewhere {
///     use rayon::prelude::*;
///     pub fn odd() -> impl ParallelIterator<Item = i32> {
///         (0..1000).into_par_iter().filter(|x| x % 2 == 1)
///     }
/// }
/// assert_eq!(furcate::from_rayon_unindexed(elsewhere::odd()).with_max_len(10).sum::<i32>(), 250_000);
/// ```
pub fn from_rayon_unindexed<I>(items: I) -> FromRayonUnindexed<I::Iter>
where
    I: rayon_iter::IntoParallelIterator,
{
    FromRayonUnindexed { items: Some(items.into_par_iter()), collected: Vec::new() }
}

/// A chain over an indexed parallel iterator of rayon's: see [`from_rayon`].
///
/// ```
/// let it: furcate::iter::FromRayon<_> = furcate::from_rayon(0..10);
/// assert_eq!(furcate::prelude::IndexedParallelIterator::len(&it), 10);
/// ```
#[must_use = "iterators do nothing until a terminal drives them"]
pub struct FromRayon<I: rayon_iter::ParallelIterator> {
    /// `None` once the items have been lent.
    items: Option<I>,
    len: usize,
    slot: Arc<Slot<I::Item>>,
    /// The items of a chain that is lent outside its scope.
    copied: Vec<I::Item>,
}

impl<I: rayon_iter::ParallelIterator + fmt::Debug> fmt::Debug for FromRayon<I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FromRayon").field("items", &self.items).finish_non_exhaustive()
    }
}

/// A copy has the items, and no scope.
impl<I: rayon_iter::ParallelIterator + Clone> Clone for FromRayon<I> {
    fn clone(&self) -> Self {
        FromRayon { items: self.items.clone(), len: self.len, slot: Arc::default(), copied: Vec::new() }
    }
}

impl<I: rayon_iter::IndexedParallelIterator> ParallelIterator for FromRayon<I> {
    type Item = I::Item;
    type Producer<'a>
        = EitherProducer<LentProducer<'a, I::Item>, Owned<'a, I::Item>>
    where
        Self: 'a;

    default_schedule!();

    const SCOPED: bool = true;

    fn scopes<'scope>(&mut self, scopes: &mut Scopes<'scope>)
    where
        Self: 'scope,
    {
        if let Some(items) = self.items.take() {
            let slot = Arc::clone(&self.slot);
            scopes.add(move |call| {
                let len = rayon_iter::IndexedParallelIterator::len(&items);
                items.with_producer(Callback { slot: &slot, len, call });
            });
        }
    }

    fn producer(&mut self) -> Self::Producer<'_> {
        if let Some(producer) = self.slot.take() {
            return EitherProducer(Either::Left(producer)); // with the lifetime of the borrow (invariants 1 and 2)
        }
        if let Some(items) = self.items.take() {
            rayon_iter::IndexedParallelIterator::collect_into_vec(items, &mut self.copied);
        }
        EitherProducer(Either::Right(Owned::take(&mut self.copied)))
    }

    fn opt_len(&self) -> Option<usize> {
        Some(self.len)
    }
}

impl<I: rayon_iter::IndexedParallelIterator> IndexedParallelIterator for FromRayon<I> {
    producer_is_indexed!();

    fn len(&self) -> usize {
        self.len
    }
}

/// A chain over any parallel iterator of rayon's: see [`from_rayon_unindexed`].
///
/// ```
/// use furcate::prelude::*;
/// let it: furcate::iter::FromRayonUnindexed<_> = furcate::from_rayon_unindexed(0..10);
/// assert_eq!(it.count(), 10);
/// ```
#[must_use = "iterators do nothing until a terminal drives them"]
#[derive(Clone)]
pub struct FromRayonUnindexed<I: rayon_iter::ParallelIterator> {
    /// `None` once the items have been collected.
    items: Option<I>,
    collected: Vec<I::Item>,
}

impl<I: rayon_iter::ParallelIterator + fmt::Debug> fmt::Debug for FromRayonUnindexed<I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FromRayonUnindexed").field("items", &self.items).finish_non_exhaustive()
    }
}

impl<I: rayon_iter::ParallelIterator> ParallelIterator for FromRayonUnindexed<I> {
    type Item = I::Item;
    type Producer<'a>
        = Owned<'a, I::Item>
    where
        Self: 'a;

    default_schedule!();

    fn producer(&mut self) -> Owned<'_, I::Item> {
        if let Some(items) = self.items.take() {
            self.collected = rayon_iter::ParallelIterator::collect(items);
        }
        Owned::take(&mut self.collected)
    }
}

/// The place where a source's producer lies from the callback on until it is lent (invariant 1).
struct Slot<T>(Mutex<Option<LentProducer<'static, T>>>);

impl<T> Default for Slot<T> {
    fn default() -> Self {
        Slot(Mutex::new(None))
    }
}

impl<T> Slot<T> {
    fn replace(&self, producer: Option<LentProducer<'static, T>>) -> Option<LentProducer<'static, T>> {
        // Nothing panics under this lock.
        let mut slot = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::replace(&mut *slot, producer)
    }

    fn take(&self) -> Option<LentProducer<'static, T>> {
        self.replace(None)
    }
}

/// The call that runs in rayon's callback: the scope of a source.
struct Callback<'c, T> {
    slot: &'c Slot<T>,
    len: usize,
    call: &'c mut dyn FnMut(),
}

impl<T: Send> plumbing::ProducerCallback<T> for Callback<'_, T> {
    type Output = ();

    fn callback<P: plumbing::Producer<Item = T>>(self, producer: P) {
        /// Empties the slot (invariant 3).
        struct Empties<'c, T>(&'c Slot<T>);
        impl<T> Drop for Empties<'_, T> {
            fn drop(&mut self) {
                drop(self.0.take());
            }
        }
        let (len, min_len) = (self.len, producer.min_len());
        let producer = LentProducer { rest: Box::new(Rest { producer: Some(producer) }), len, min_len };
        // SAFETY: only the lifetime of the data to which the producer refers is changed. The producer leaves the slot with the lifetime of a borrow that
        // ends before this function returns (invariants 1 and 2), or is dropped below (invariant 3).
        let producer =
            unsafe { std::mem::transmute::<LentProducer<'_, T>, LentProducer<'static, T>>(producer) };
        let _empties = Empties(self.slot);
        self.slot.replace(Some(producer));
        (self.call)();
    }
}

/// A producer of rayon's, whatever its type, and its length.
pub struct LentProducer<'a, T> {
    rest: Box<dyn Divide<T> + 'a>,
    len: usize,
    min_len: usize,
}

/// The methods that a [`LentProducer`] calls without knowing the producer's type.
trait Divide<T>: Send {
    /// Cuts behind `index` items. Keeps the left part, and returns the right one.
    fn cut_off<'r>(&mut self, index: usize) -> Box<dyn Divide<T> + 'r>
    where
        Self: 'r;

    fn walk<'r>(self: Box<Self>) -> Box<dyn Walk<Item = T> + 'r>
    where
        Self: 'r;
}

/// A leaf.
trait Walk: DoubleEndedIterator {
    /// Appends up to `room` items. Appends none if none is left.
    fn fill(&mut self, batch: &mut Vec<Self::Item>, room: usize);
}

struct Rest<P> {
    /// `None` only while it is cut, and after a cut that has panicked.
    producer: Option<P>,
}

impl<T, P: plumbing::Producer<Item = T>> Divide<T> for Rest<P> {
    fn cut_off<'r>(&mut self, index: usize) -> Box<dyn Divide<T> + 'r>
    where
        Self: 'r,
    {
        let whole = self.producer.take().expect("a cut that has panicked is not cut again");
        let (left, right) = whole.split_at(index);
        self.producer = Some(left);
        Box::new(Rest { producer: Some(right) })
    }

    fn walk<'r>(self: Box<Self>) -> Box<dyn Walk<Item = T> + 'r>
    where
        Self: 'r,
    {
        Box::new(self.producer.expect("a cut that has panicked is not walked").into_iter())
    }
}

impl<I: DoubleEndedIterator> Walk for I {
    fn fill(&mut self, batch: &mut Vec<I::Item>, room: usize) {
        batch.extend(self.take(room));
    }
}

impl<T> fmt::Debug for LentProducer<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LentProducer").field("len", &self.len).finish_non_exhaustive()
    }
}

impl<'a, T: 'a> Divisible for LentProducer<'a, T> {
    fn size(&self) -> usize {
        self.len
    }

    fn should_be_divided(&self) -> bool {
        self.len > 1 && self.len / 2 >= self.min_len
    }

    fn divide_at(self, index: usize) -> (Self, Self) {
        let LentProducer { mut rest, len, min_len } = self;
        let index = index.min(len);
        let right = rest.cut_off(index);
        (LentProducer { rest, len: index, min_len }, LentProducer { rest: right, len: len - index, min_len })
    }
}

impl<'a, T: 'a> IntoIterator for LentProducer<'a, T> {
    type Item = T;
    type IntoIter = LentItems<'a, T>;

    fn into_iter(self) -> LentItems<'a, T> {
        LentItems { items: self.rest.walk(), len: self.len }
    }
}

impl<'a, T: Send + 'a> Producer for LentProducer<'a, T> {
    // Rayon's iterator may hold closures.
    const FACTS: Facts = Facts { free: false, ..Facts::SINGLE };
}

impl<'a, T: Send + 'a> IndexedProducer for LentProducer<'a, T> {}

/// The sequential iterator over a leaf of rayon's.
pub struct LentItems<'a, T> {
    items: Box<dyn Walk<Item = T> + 'a>,
    len: usize,
}

impl<T> fmt::Debug for LentItems<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LentItems").field("len", &self.len).finish_non_exhaustive()
    }
}

impl<T> Iterator for LentItems<'_, T> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        let item = self.items.next()?;
        self.len = self.len.saturating_sub(1);
        Some(item)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.len, Some(self.len))
    }

    /// All items are folded, so they may be taken in batches.
    fn fold<B, F: FnMut(B, T) -> B>(mut self, init: B, mut fold_op: F) -> B {
        /// Bytes of a batch: few enough for a processor's first cache.
        const BYTES: usize = 4096;
        let room = (BYTES / size_of::<T>().max(1)).clamp(1, 1024).min(self.len.max(1));
        let mut batch = Vec::with_capacity(room);
        let mut folded = init;
        loop {
            // The star calls the leaf's `fill`. The box is an iterator, too, and its `fill` would make a virtual call for each item.
            (*self.items).fill(&mut batch, room);
            if batch.is_empty() {
                return folded;
            }
            folded = batch.drain(..).fold(folded, &mut fold_op);
        }
    }
}

impl<T> DoubleEndedIterator for LentItems<'_, T> {
    fn next_back(&mut self) -> Option<T> {
        let item = self.items.next_back()?;
        self.len = self.len.saturating_sub(1);
        Some(item)
    }
}

impl<T> ExactSizeIterator for LentItems<'_, T> {}
