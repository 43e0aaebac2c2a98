//! The adaptor `intersperse`.
//!
//! Whether a separator stands before an item depends on whether any item stands before it. If the cuts of the base are
//! exact ([`ParallelIterator::opt_len`]), every part knows this from its place. Otherwise the answer cannot be known:
//! the part to the left may be a `filter`'s, may be empty in the end, and may still be running on another thread. A
//! part that waited for it could wait for a job below it on its own stack. So the items of such a base are first
//! collected, in parallel, and then have their places too.

use crate::iter::collect::{Lists, flatten};
use crate::iter::either::EitherProducer;
use crate::iter::indexed_iterator::total_len;
use crate::iter::{IndexedParallelIterator, ParallelIterator, inherit_schedule};
use crate::vec::Owned;
use either::Either;
use furcate_schedulers::{Divisible, Facts, IndexedProducer, Plan, Producer, Schedule, Scheduler};
use std::mem::take;

/// Puts a separator between every two items: see [`ParallelIterator::intersperse`].
///
/// ```
/// use furcate::prelude::*;
/// let it: furcate::iter::Intersperse<_> = (1..4).into_par_iter().intersperse(0);
/// assert_eq!(it.collect::<Vec<_>>(), [1, 0, 2, 0, 3]);
/// ```
#[must_use = "iterators do nothing until a terminal drives them"]
#[derive(Clone, Debug)]
pub struct Intersperse<I: ParallelIterator> {
    base: I,
    separator: I::Item,
    /// The items of a base that does not know its length, from when they are lent.
    collected: Vec<I::Item>,
}

impl<I: ParallelIterator> Intersperse<I> {
    pub(crate) fn new(base: I, separator: I::Item) -> Self {
        Intersperse { base, separator, collected: Vec::new() }
    }
}

impl<I: ParallelIterator> ParallelIterator for Intersperse<I>
where
    I::Item: Clone,
{
    type Item = I::Item;
    type Producer<'a>
        = IntersperseProducer<EitherProducer<I::Producer<'a>, Owned<'a, I::Item>>>
    where
        Self: 'a;

    inherit_schedule!(base: I);

    fn producer(&mut self) -> Self::Producer<'_> {
        let base = if self.base.opt_len().is_some() {
            Either::Left(self.base.producer())
        } else {
            let Plan { policy, scheduler, executor } = self.base.schedule().into_plan();
            let lists = Lists::new(Vec::is_empty);
            self.collected = flatten(scheduler.schedule((self.base.producer(), policy, lists), &executor));
            Either::Right(Owned::take(&mut self.collected))
        };
        IntersperseProducer::whole(EitherProducer(base), self.separator.clone())
    }

    fn opt_len(&self) -> Option<usize> {
        let len = self.base.opt_len()?;
        len.checked_add(len.saturating_sub(1))
    }
}

impl<I: IndexedParallelIterator> IndexedParallelIterator for Intersperse<I>
where
    I::Item: Clone,
{
    type IndexedProducer<'a>
        = IntersperseProducer<I::IndexedProducer<'a>>
    where
        Self: 'a;

    fn indexed_producer(&mut self) -> Self::IndexedProducer<'_> {
        let base = self.base.indexed_producer();
        let _checked = total_len(base.size(), base.size().saturating_sub(1));
        IntersperseProducer::whole(base, self.separator.clone())
    }

    fn len(&self) -> usize {
        let len = self.base.len();
        total_len(len, len.saturating_sub(1))
    }
}

/// The producer of [`Intersperse`]: a part of the base, and whether separators stand at its ends.
#[derive(Debug)]
pub struct IntersperseProducer<P: IntoIterator> {
    base: P,
    separator: P::Item,
    /// Whether a separator comes first (it may be the only element).
    leads: bool,
    /// Whether a separator comes last, after an item.
    trails: bool,
}

/// A cut of an [`IntersperseProducer`], as a cut of its base.
struct BaseCut {
    /// Number of items before the cut.
    items: usize,
    /// Whether a separator lies just before the cut.
    separator_before: bool,
    /// Whether a separator lies just behind the cut.
    separator_behind: bool,
}

/// Returns the number of items and separators together.
#[inline]
fn interspersed_len(items: usize, leads: bool, trails: bool) -> usize {
    let between = items.saturating_sub(1);
    items.saturating_add(between).saturating_add(usize::from(leads)).saturating_add(usize::from(trails))
}

impl<P: Producer> IntersperseProducer<P> {
    #[inline]
    fn whole(base: P, separator: P::Item) -> Self {
        IntersperseProducer { base, separator, leads: false, trails: false }
    }

    #[inline]
    fn cut(&self, index: usize) -> BaseCut {
        let size = interspersed_len(self.base.size(), self.leads, self.trails);
        let index = index.min(size);
        // Separators are at the even places if one leads, else at the odd ones.
        let is_separator = |place: usize| (place % 2 == 0) == self.leads;
        BaseCut {
            items: if self.leads { index / 2 } else { index.div_ceil(2) },
            separator_before: index > 0 && is_separator(index - 1),
            separator_behind: index < size && is_separator(index),
        }
    }

    /// Returns the part behind a cut, given this part of the base.
    #[inline]
    fn behind(base: P, separator: P::Item, cut: &BaseCut, trails: bool) -> Self {
        let trails = trails && base.size() > 0;
        IntersperseProducer { base, separator, leads: cut.separator_behind, trails }
    }
}

impl<P> Divisible for IntersperseProducer<P>
where
    P: Producer,
    P::Item: Clone,
{
    #[inline]
    fn size(&self) -> usize {
        interspersed_len(self.base.size(), self.leads, self.trails)
    }

    fn divide_at(self, index: usize) -> (Self, Self) {
        let cut = self.cut(index);
        let (left, right) = self.base.divide_at(cut.items);
        let left = IntersperseProducer {
            base: left,
            separator: self.separator.clone(),
            leads: self.leads && index > 0,
            trails: cut.separator_before && cut.items > 0,
        };
        (left, Self::behind(right, self.separator, &cut, self.trails))
    }
}

impl<P> IntoIterator for IntersperseProducer<P>
where
    P: Producer,
    P::Item: Clone,
{
    type Item = P::Item;
    type IntoIter = IntersperseIter<P::IntoIter>;

    #[inline]
    fn into_iter(self) -> Self::IntoIter {
        let items = self.base.size();
        IntersperseIter {
            base: self.base.into_iter(),
            items,
            separator: self.separator,
            leads: self.leads,
            trails: self.trails,
        }
    }
}

impl<P> Producer for IntersperseProducer<P>
where
    P: Producer,
    P::Item: Clone + Send,
{
    const FACTS: Facts = P::FACTS;
}

impl<P> IndexedProducer for IntersperseProducer<P>
where
    P: IndexedProducer,
    P::Item: Clone + Send,
{
}

/// The sequential iterator over items with separators between them.
#[derive(Debug)]
pub struct IntersperseIter<I: Iterator> {
    base: I,
    /// Number of items still to come.
    items: usize,
    separator: I::Item,
    leads: bool,
    trails: bool,
}

impl<I> Iterator for IntersperseIter<I>
where
    I: Iterator,
    I::Item: Clone,
{
    type Item = I::Item;

    #[inline]
    fn next(&mut self) -> Option<I::Item> {
        if take(&mut self.leads) {
            return Some(self.separator.clone());
        }
        let item = self.base.next()?;
        self.items = self.items.saturating_sub(1);
        self.leads = self.items > 0 || take(&mut self.trails);
        Some(item)
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        let len = interspersed_len(self.items, self.leads, self.trails);
        (len, Some(len))
    }

    fn fold<B, F>(mut self, init: B, mut fold_op: F) -> B
    where
        F: FnMut(B, I::Item) -> B,
    {
        let mut folded = init;
        if self.leads {
            folded = fold_op(folded, self.separator.clone());
        }
        if let Some(item) = self.base.next() {
            folded = fold_op(folded, item);
            folded = self.base.fold(folded, |folded, item| {
                let folded = fold_op(folded, self.separator.clone());
                fold_op(folded, item)
            });
            if self.trails {
                return fold_op(folded, self.separator);
            }
        }
        // Dropped before the result is returned: a panic in this drop would leak the result.
        drop(self.separator);
        folded
    }
}

impl<I> DoubleEndedIterator for IntersperseIter<I>
where
    I: DoubleEndedIterator,
    I::Item: Clone,
{
    #[inline]
    fn next_back(&mut self) -> Option<I::Item> {
        if take(&mut self.trails) {
            return Some(self.separator.clone());
        }
        let Some(item) = self.base.next_back() else {
            return take(&mut self.leads).then(|| self.separator.clone());
        };
        self.items = self.items.saturating_sub(1);
        self.trails = self.items > 0;
        Some(item)
    }
}

impl<I> ExactSizeIterator for IntersperseIter<I>
where
    I: Iterator,
    I::Item: Clone,
{
}
