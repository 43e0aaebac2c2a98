//! Chains as parallel iterators of rayon's: [`into_rayon`](super::IndexedParallelIterator::into_rayon) and
//! [`into_rayon_unindexed`](super::ParallelIterator::into_rayon_unindexed).

use super::scoped::in_scopes;
use super::{IndexedParallelIterator, ParallelIterator};
use furcate_schedulers::{Ends, IndexedProducer, Reduction};
use rayon::iter as rayon_iter;
use rayon_iter::plumbing::{self, Folder, Reducer};
use std::marker::PhantomData;
use std::ops::ControlFlow;

/// A chain as an indexed parallel iterator of rayon's: see [`IndexedParallelIterator::into_rayon`].
///
/// ```
/// use furcate::prelude::*;
/// let it: furcate::iter::IntoRayon<_> = (0..10).into_par_iter().map(|x| x * x).into_rayon();
/// assert_eq!(rayon::iter::IndexedParallelIterator::len(&it), 10);
/// ```
#[must_use = "iterators do nothing until a terminal drives them"]
#[derive(Clone, Debug)]
pub struct IntoRayon<I> {
    chain: I,
}

/// A chain as a parallel iterator of rayon's: see [`ParallelIterator::into_rayon_unindexed`].
///
/// ```
/// use furcate::prelude::*;
/// let it: furcate::iter::IntoRayonUnindexed<_> = (0..10).into_par_iter().filter(|x| x % 3 == 0).into_rayon_unindexed();
/// assert_eq!(rayon::iter::ParallelIterator::count(it), 4);
/// ```
#[must_use = "iterators do nothing until a terminal drives them"]
#[derive(Clone, Debug)]
pub struct IntoRayonUnindexed<I> {
    chain: I,
}

impl<I> IntoRayon<I> {
    pub(crate) fn new(chain: I) -> Self {
        IntoRayon { chain }
    }
}

impl<I> IntoRayonUnindexed<I> {
    pub(crate) fn new(chain: I) -> Self {
        IntoRayonUnindexed { chain }
    }
}

impl<I: IndexedParallelIterator> rayon_iter::ParallelIterator for IntoRayon<I> {
    type Item = I::Item;

    fn drive_unindexed<C: plumbing::UnindexedConsumer<I::Item>>(self, consumer: C) -> C::Result {
        plumbing::bridge(self, consumer)
    }

    fn opt_len(&self) -> Option<usize> {
        Some(self.chain.len())
    }
}

impl<I: IndexedParallelIterator> rayon_iter::IndexedParallelIterator for IntoRayon<I> {
    fn drive<C: plumbing::Consumer<I::Item>>(self, consumer: C) -> C::Result {
        plumbing::bridge(self, consumer)
    }

    fn len(&self) -> usize {
        self.chain.len()
    }

    fn with_producer<C: plumbing::ProducerCallback<I::Item>>(self, callback: C) -> C::Output {
        let mut chain = self.chain;
        if I::SCOPED {
            return in_scopes(chain, |mut chain| callback.callback(Lent(chain.indexed_producer())));
        }
        callback.callback(Lent(chain.indexed_producer()))
    }
}

/// A chain's producer, for rayon to cut.
struct Lent<P>(P);

impl<P: IndexedProducer> plumbing::Producer for Lent<P> {
    type Item = P::Item;
    type IntoIter = P::IntoIter;

    fn into_iter(self) -> P::IntoIter {
        self.0.into_iter()
    }

    fn split_at(self, index: usize) -> (Self, Self) {
        let (left, right) = self.0.divide_at(index);
        (Lent(left), Lent(right))
    }
}

impl<I: ParallelIterator> rayon_iter::ParallelIterator for IntoRayonUnindexed<I> {
    type Item = I::Item;

    fn drive_unindexed<C: plumbing::UnindexedConsumer<I::Item>>(self, consumer: C) -> C::Result {
        self.chain.drive(Feed { consumer, items: PhantomData })
    }
}

/// Folds and reduces as a consumer of rayon's says.
///
/// A consumer cannot be asked for a folder and keep its place, so a task splits one off for its items.
struct Feed<C, T> {
    consumer: C,
    items: PhantomData<fn(T)>,
}

/// The copy stands to the left of the original, as in [`Reduction::divide`].
impl<C: plumbing::UnindexedConsumer<T>, T> Clone for Feed<C, T> {
    fn clone(&self) -> Self {
        Feed { consumer: self.consumer.split_off_left(), items: PhantomData }
    }
}

impl<T, C: plumbing::UnindexedConsumer<T>> Reduction<T> for Feed<C, T> {
    type Accumulator = C::Folder;
    type Output = C::Result;

    /// rayon's folders look themselves whether they are full.
    const ENDS: Ends = Ends { in_steps: false, ..Ends::EARLY };

    fn start(&self) -> C::Folder {
        self.consumer.split_off_left().into_folder()
    }

    fn fold_item(&self, folder: C::Folder, item: T) -> ControlFlow<C::Folder, C::Folder> {
        let folder = folder.consume(item);
        if folder.full() { ControlFlow::Break(folder) } else { ControlFlow::Continue(folder) }
    }

    fn fold<I: Iterator<Item = T>>(&self, folder: C::Folder, items: I) -> C::Folder {
        if folder.full() { folder } else { folder.consume_iter(items) }
    }

    fn finish(&self, folder: C::Folder) -> C::Result {
        folder.complete()
    }

    fn reduce(&self, left: C::Result, right: C::Result) -> C::Result {
        self.consumer.to_reducer().reduce(left, right)
    }

    fn stopped(&self) -> bool {
        self.consumer.full()
    }
}
