//! `from_producer`

use crate::iter::{
    IndexedParallelIterator, ParallelIterator, PeekParallelIterator, default_schedule, indexed_is_peek,
    producer_is_indexed,
};
use furcate_schedulers::{Divisible, IndexedProducer, PeekProducer, Producer};

/// A parallel iterator over the items of a producer of your own: see [`from_producer`].
#[must_use = "iterators do nothing until a terminal drives them"]
#[derive(Clone, Debug)]
pub struct FromProducer<P> {
    /// The producer; `None` once it has been lent.
    producer: Option<P>,
}

/// Makes a parallel iterator of a [`Producer`]: any type that can be cut in two and iterated over.
///
/// ```
/// use furcate::prelude::*;
/// use furcate::iter::from_producer;
///
/// // A range is a producer; so is every type of yours that implements the trait.
/// assert_eq!(from_producer(0..10).map(|x| x * x).sum::<i32>(), 285);
///
/// // An indexed producer makes an indexed iterator: `enumerate`, `zip`, `rev` ...
/// assert_eq!(from_producer(0..10).rev().enumerate().map(|(i, x)| i + x).max(), Some(9));
/// ```
#[inline]
pub fn from_producer<P: Producer<Item: Send>>(producer: P) -> FromProducer<P> {
    FromProducer { producer: Some(producer) }
}

impl<P: Producer<Item: Send>> ParallelIterator for FromProducer<P> {
    type Item = P::Item;
    type Producer<'a>
        = P
    where
        Self: 'a;

    default_schedule!();

    /// # Panics
    ///
    /// If the producer has been lent before.
    #[inline]
    fn producer(&mut self) -> P {
        self.producer.take().expect("the producer has been lent before")
    }
}

impl<P: IndexedProducer<Item: Send>> IndexedParallelIterator for FromProducer<P> {
    producer_is_indexed!();

    #[inline]
    fn len(&self) -> usize {
        self.producer.size()
    }
}

impl<P: PeekProducer<Item: Send>> PeekParallelIterator for FromProducer<P> {
    indexed_is_peek!();
}
