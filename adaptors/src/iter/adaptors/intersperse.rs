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
        let _checked = self.len();
        IntersperseProducer::whole(self.base.indexed_producer(), self.separator.clone())
    }

    fn len(&self) -> usize {
        let len = self.base.len();
        total_len(len, len.saturating_sub(1))
    }
}

/// The producer of [`Intersperse`]: a part of the base, and of the places of its items and separators, which alternate.
#[derive(Debug)]
pub struct IntersperseProducer<P: IntoIterator> {
    base: P,
    separator: P::Item,
    /// Number of places, up to twice that of items.
    size: u128,
    /// Whether a separator stands at the even places, else at the odd ones.
    leads: bool,
}

impl<P: Producer> IntersperseProducer<P> {
    #[inline]
    fn whole(base: P, separator: P::Item) -> Self {
        let items = base.size() as u128;
        let size = items + items.saturating_sub(1);
        IntersperseProducer { base, separator, size, leads: false }
    }

    /// Returns the number of places at which anything comes: a base that gives nothing any more (behind a blown
    /// `panic_fuse`) has size 0.
    #[inline]
    fn left(&self) -> u128 {
        if self.base.size() > 0 { self.size } else { self.size.min(self.leads.into()) }
    }
}

impl<P> Divisible for IntersperseProducer<P>
where
    P: Producer,
    P::Item: Clone,
{
    #[inline]
    fn size(&self) -> usize {
        usize::try_from(self.left()).unwrap_or(usize::MAX)
    }

    fn divide_at(self, index: usize) -> (Self, Self) {
        let IntersperseProducer { base, separator, size, leads } = self;
        let index = usize::try_from(size).map_or(index, |size| index.min(size));
        let (left, right) = base.divide_at(if leads { index / 2 } else { index.div_ceil(2) });
        let part = |base, separator, size, leads| IntersperseProducer { base, separator, size, leads };
        (
            part(left, separator.clone(), index as u128, leads),
            part(right, separator, size - index as u128, leads == (index % 2 == 0)),
        )
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
        let left = self.left();
        let IntersperseProducer { base, separator, leads, .. } = self;
        IntersperseIter { base: base.into_iter(), separator, left, leads }
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
    separator: I::Item,
    /// Number of items and separators still to come.
    left: u128,
    /// Whether a separator comes next.
    leads: bool,
}

impl<I> Iterator for IntersperseIter<I>
where
    I: Iterator,
    I::Item: Clone,
{
    type Item = I::Item;

    #[inline]
    fn next(&mut self) -> Option<I::Item> {
        self.left = self.left.checked_sub(1)?;
        let is_separator = self.leads;
        self.leads = !is_separator;
        if is_separator { Some(self.separator.clone()) } else { self.base.next() }
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = usize::try_from(self.left).ok();
        (left.unwrap_or(usize::MAX), left)
    }

    fn fold<B, F>(mut self, init: B, mut fold_op: F) -> B
    where
        F: FnMut(B, I::Item) -> B,
    {
        let mut folded = init;
        if self.left > 0 && self.leads {
            self.left -= 1;
            folded = fold_op(folded, self.separator.clone());
        }
        if let Some(item) = self.base.next() {
            folded = fold_op(folded, item);
            folded = self.base.fold(folded, |folded, item| {
                let folded = fold_op(folded, self.separator.clone());
                fold_op(folded, item)
            });
            if self.left % 2 == 0 {
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
        self.left = self.left.checked_sub(1)?;
        if self.leads == (self.left % 2 == 0) { Some(self.separator.clone()) } else { self.base.next_back() }
    }
}

impl<I> ExactSizeIterator for IntersperseIter<I>
where
    I: Iterator,
    I::Item: Clone,
{
}
