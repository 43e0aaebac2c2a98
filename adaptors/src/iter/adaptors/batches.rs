//! The skeleton of `chunks`, `fold_chunks` and `fold_chunks_with`: every group of items becomes one item.

use super::groups::Groups;
use furcate_schedulers::{Divisible, Facts, IndexedProducer, Producer};

/// An operation that makes one item of a batch of items.
pub trait Gather<T>: Clone + Send {
    /// Item type that comes out.
    type Output;

    /// Whether no closure is called: see [`Facts::free`].
    const FREE: bool;

    /// Makes one item of a batch, which is not empty.
    fn gather(&self, batch: impl Iterator<Item = T>) -> Self::Output;
}

/// Returns the length of a batch.
///
/// # Panics
///
/// If the length is 0.
#[track_caller]
pub(crate) fn batch_len(chunk_size: usize) -> usize {
    assert!(chunk_size != 0, "chunk_size must not be zero");
    chunk_size
}

/// The producer of batches.
#[derive(Debug)]
pub struct Batches<P, G> {
    groups: Groups<P>,
    gather: G,
}

impl<P: Divisible, G> Batches<P, G> {
    #[inline]
    pub(super) fn new(base: P, chunk_size: usize, gather: G) -> Self {
        Batches { groups: Groups::new(base, chunk_size), gather }
    }
}

impl<P: Divisible, G: Clone> Divisible for Batches<P, G> {
    #[inline]
    fn size(&self) -> usize {
        self.groups.size()
    }

    #[inline]
    fn divide_at(self, index: usize) -> (Self, Self) {
        let (left, right) = self.groups.divide_at(index);
        (
            Batches { groups: left, gather: self.gather.clone() },
            Batches { groups: right, gather: self.gather },
        )
    }
}

impl<P: Producer, G: Gather<P::Item>> IntoIterator for Batches<P, G> {
    type Item = G::Output;
    type IntoIter = BatchesIter<P, G>;

    #[inline]
    fn into_iter(self) -> Self::IntoIter {
        let left = self.groups.size();
        BatchesIter { rest: Some(self.groups.base), batch: self.groups.group, left, gather: self.gather }
    }
}

impl<P: Producer, G: Gather<P::Item>> Producer for Batches<P, G> {
    const FACTS: Facts = Facts { free: P::FACTS.free && G::FREE, ..P::FACTS };
}
impl<P: Producer, G: Gather<P::Item>> IndexedProducer for Batches<P, G> {}

/// The sequential iterator over batches. It cuts one batch after the other off its producer, at either end.
#[derive(Debug)]
pub struct BatchesIter<P, G> {
    /// The producer that has not been cut off; `None` after the last batch.
    rest: Option<P>,
    batch: usize,
    /// Number of batches to come. (It is counted, so that a producer that does not shrink cannot keep the loop running
    /// for ever.)
    left: usize,
    gather: G,
}

impl<P: Producer, G: Gather<P::Item>> BatchesIter<P, G> {
    /// Takes one batch away: with a cut, or without if it is the last one.
    #[inline]
    fn cut_off(&mut self, cut: impl FnOnce(P, usize) -> (P, P)) -> Option<G::Output> {
        self.left = self.left.checked_sub(1)?;
        let mut batch = self.rest.take()?;
        if self.left > 0 {
            let (cut_off, rest) = cut(batch, self.left);
            self.rest = Some(rest);
            batch = cut_off;
        }
        Some(self.gather.gather(batch.into_iter()))
    }
}

impl<P: Producer, G: Gather<P::Item>> Iterator for BatchesIter<P, G> {
    type Item = G::Output;

    #[inline]
    fn next(&mut self) -> Option<G::Output> {
        let batch = self.batch;
        self.cut_off(|rest, _| rest.divide_at(batch))
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl<P: Producer, G: Gather<P::Item>> DoubleEndedIterator for BatchesIter<P, G> {
    #[inline]
    fn next_back(&mut self) -> Option<G::Output> {
        let batch = self.batch;
        self.cut_off(|rest, before| {
            // All batches before the last one are full. They have fewer items than there are in all, so the product
            // fits.
            let (rest, last) = rest.divide_at(before * batch);
            (last, rest)
        })
    }
}

impl<P: Producer, G: Gather<P::Item>> ExactSizeIterator for BatchesIter<P, G> {}
