//! The adaptor `positions`.

use super::Enumerate;
use crate::iter::stage::{Adapted, PerItem, Stage, StageFacts, borrowed_op};
use crate::iter::{IndexedParallelIterator, ParallelIterator, debug_base, inherit_schedule};

/// The positions of the items for which a predicate is true: see [`IndexedParallelIterator::positions`].
///
/// ```
/// use furcate::prelude::*;
/// let it: furcate::iter::Positions<_, _> = [3, 8, 5, 6].par_iter().positions(|x| x % 2 == 0);
/// assert_eq!(it.collect::<Vec<_>>(), [1, 3]);
/// ```
#[must_use = "iterators do nothing until a terminal drives them"]
#[derive(Clone)]
pub struct Positions<I, P> {
    base: Enumerate<I>,
    predicate: P,
}

impl<I, P> Positions<I, P> {
    pub(crate) fn new(base: I, predicate: P) -> Self {
        Positions { base: Enumerate::new(base), predicate }
    }
}

debug_base!(Positions<I, P>);

impl<I, P> ParallelIterator for Positions<I, P>
where
    I: IndexedParallelIterator,
    P: Fn(I::Item) -> bool + Sync + Send,
{
    type Item = usize;
    type Producer<'a>
        = Adapted<<Enumerate<I> as ParallelIterator>::Producer<'a>, PerItem<PositionsOp<'a, P>>>
    where
        Self: 'a;

    inherit_schedule!(base: Enumerate<I>);

    #[inline]
    fn producer(&mut self) -> Self::Producer<'_> {
        Adapted::new(self.base.producer(), PerItem(PositionsOp(&self.predicate)))
    }
}

borrowed_op!(PositionsOp);

impl<'a, T, P> Stage<(usize, T)> for PositionsOp<'a, P>
where
    P: Fn(T) -> bool + Sync,
{
    const FACTS: StageFacts = StageFacts::ONE;
    type Item = usize;
    type Iter<I: Iterator<Item = (usize, T)>> = PositionsIter<'a, I, P>;

    #[inline]
    fn apply<I: Iterator<Item = (usize, T)>>(self, items: I) -> Self::Iter<I> {
        PositionsIter { base: items, predicate: self.0 }
    }
}

/// The sequential iterator over the positions of such items.
#[allow(missing_debug_implementations, reason = "a borrowed closure")]
pub struct PositionsIter<'a, I, P> {
    base: I,
    predicate: &'a P,
}

impl<T, I, P> Iterator for PositionsIter<'_, I, P>
where
    I: Iterator<Item = (usize, T)>,
    P: Fn(T) -> bool,
{
    type Item = usize;

    #[inline]
    fn next(&mut self) -> Option<usize> {
        let predicate = self.predicate;
        self.base.find_map(|(place, item)| predicate(item).then_some(place))
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        (0, self.base.size_hint().1)
    }

    #[inline]
    fn fold<B, G>(self, init: B, mut fold_op: G) -> B
    where
        G: FnMut(B, usize) -> B,
    {
        let predicate = self.predicate;
        self.base
            .fold(init, |folded, (place, item)| if predicate(item) { fold_op(folded, place) } else { folded })
    }
}
