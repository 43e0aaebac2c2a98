//! Outputs with gaps.
//!
//! A rank that gives a part of its share away goes on with the items to the left of that part and to the right of it. So the output
//! of a share is a list of *segments*, with a *gap* between two of them for each part that was given away:
//!
//! ```text
//!   share    [ items ............ | given away | items ..... | given away | items ]
//!   output       segment             gap 7         segment       gap 5      segment
//! ```
//!
//! The rank's own scheduler knows nothing of it. The gap is an item between the items, and [`Gapped`] is a reduction that ends a segment
//! there. So every scheduler keeps the order, for reductions that are not commutative too.

use furcate_schedulers::{Ends, Reduction};
use std::ops::ControlFlow::{self, Break, Continue};

/// An item of a share, or the place of a part that was given away.
#[derive(Debug)]
pub(crate) enum Mixed<T> {
    Item(T),
    Gap(u64),
}

/// The output of a share, or of a task of it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Segments<O> {
    /// Every segment but the last, with the gap behind it.
    pub(crate) before: Vec<(O, u64)>,
    pub(crate) last: O,
}

impl<O> Segments<O> {
    /// An output without gaps.
    pub(crate) fn whole(output: O) -> Self {
        Segments { before: Vec::new(), last: output }
    }

    /// Changes each segment.
    pub(crate) fn map<T>(self, map: impl Fn(O) -> T) -> Segments<T> {
        let before = self.before.into_iter().map(|(output, gap)| (map(output), gap)).collect();
        Segments { before, last: map(self.last) }
    }
}

/// A reduction of items and gaps, made of a reduction of the items.
#[derive(Clone, Debug)]
pub(crate) struct Gapped<R>(pub(crate) R);

/// The accumulator of a task: its segment, and the segments before it.
pub(crate) struct Open<A, O> {
    before: Vec<(O, u64)>,
    segment: A,
}

impl<R> Gapped<R> {
    /// Ends a segment.
    fn end<T>(&self, open: Open<R::Accumulator, R::Output>, gap: u64) -> Open<R::Accumulator, R::Output>
    where
        R: Reduction<T>,
    {
        let Open { mut before, segment } = open;
        before.push((self.0.finish(segment), gap));
        Open { before, segment: self.0.start() }
    }
}

impl<T, R: Reduction<T>> Reduction<Mixed<T>> for Gapped<R> {
    type Accumulator = Open<R::Accumulator, R::Output>;
    type Output = Segments<R::Output>;

    const ENDS: Ends =
        Ends { interruptible: R::ENDS.interruptible, in_steps: R::ENDS.in_steps, ..Ends::NEVER };

    #[inline]
    fn start(&self) -> Self::Accumulator {
        Open { before: Vec::new(), segment: self.0.start() }
    }

    fn fold_item(
        &self,
        open: Self::Accumulator,
        item: Mixed<T>,
    ) -> ControlFlow<Self::Accumulator, Self::Accumulator> {
        self.fold_step(open, std::iter::once(item))
    }

    #[inline]
    fn fold<I: Iterator<Item = Mixed<T>>>(&self, open: Self::Accumulator, items: I) -> Self::Accumulator {
        let (Continue(open) | Break(open)) = self.fold_step(open, items);
        open
    }

    #[inline]
    fn fold_step<I: Iterator<Item = Mixed<T>>>(
        &self,
        mut open: Self::Accumulator,
        mut items: I,
    ) -> ControlFlow<Self::Accumulator, Self::Accumulator> {
        loop {
            let mut gap = None;
            let Open { before, segment } = open;
            match self.0.fold_step(segment, UntilGap { items: &mut items, gap: &mut gap }) {
                Break(segment) => return Break(Open { before, segment }),
                Continue(segment) => open = Open { before, segment },
            }
            match gap {
                Some(gap) => open = self.end(open, gap),
                None => return Continue(open),
            }
        }
    }

    #[inline]
    fn finish(&self, open: Self::Accumulator) -> Segments<R::Output> {
        Segments { before: open.before, last: self.0.finish(open.segment) }
    }

    #[inline]
    fn reduce(&self, left: Segments<R::Output>, right: Segments<R::Output>) -> Segments<R::Output> {
        let Segments { mut before, last } = left;
        let mut after = right.before.into_iter();
        // The last segment of the left side and the first one of the right side are neighbors.
        let Some((first, gap)) = after.next() else {
            return Segments { before, last: self.0.reduce(last, right.last) };
        };
        before.push((self.0.reduce(last, first), gap));
        before.extend(after);
        Segments { before, last: right.last }
    }

    #[inline]
    fn stopped(&self) -> bool {
        self.0.stopped()
    }
}

/// The items up to the next gap. Where no gap can come, the compiler sees that, and leaves the sequential loop.
struct UntilGap<'t, I> {
    items: &'t mut I,
    gap: &'t mut Option<u64>,
}

impl<T, I: Iterator<Item = Mixed<T>>> Iterator for UntilGap<'_, I> {
    type Item = T;

    #[inline]
    fn next(&mut self) -> Option<T> {
        if self.gap.is_some() {
            return None;
        }
        match self.items.next()? {
            Mixed::Item(item) => Some(item),
            Mixed::Gap(gap) => {
                *self.gap = Some(gap);
                None
            }
        }
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        (0, self.items.size_hint().1)
    }

    #[inline]
    fn fold<B, F: FnMut(B, T) -> B>(self, init: B, mut fold_op: F) -> B {
        let UntilGap { items, gap } = self;
        if gap.is_some() {
            return init;
        }
        let (Continue(folded) | Break(folded)) = items.try_fold(init, |folded, item| match item {
            Mixed::Item(item) => Continue(fold_op(folded, item)),
            Mixed::Gap(number) => {
                *gap = Some(number);
                Break(folded)
            }
        });
        folded
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reductions::Gather;
    use Mixed::{Gap, Item};

    fn of(items: Vec<Mixed<u32>>) -> Segments<Vec<u32>> {
        let reduction = Gapped(Gather);
        let open = reduction.fold(reduction.start(), items.into_iter());
        reduction.finish(open)
    }

    #[test]
    fn gaps_end_segments() {
        assert_eq!(of(vec![]), Segments::whole(vec![]));
        assert_eq!(of(vec![Item(1), Item(2)]), Segments::whole(vec![1, 2]));
        let output = of(vec![Item(1), Gap(5), Gap(7), Item(2), Item(3), Gap(6)]);
        assert_eq!(
            output,
            Segments { before: vec![(vec![1], 5), (vec![], 7), (vec![2, 3], 6)], last: vec![] }
        );
    }

    #[test]
    fn neighbors_are_joined_where_the_parts_meet() {
        let (left, right) = (of(vec![Item(1), Gap(1), Item(2)]), of(vec![Item(3), Gap(2), Item(4)]));
        let both = Segments { before: vec![(vec![1], 1), (vec![2, 3], 2)], last: vec![4] };
        assert_eq!(Gapped(Gather).reduce(left, right), both);
        let (left, right) = (of(vec![Item(1), Gap(1), Item(2)]), of(vec![Item(3)]));
        assert_eq!(Gapped(Gather).reduce(left, right), of(vec![Item(1), Gap(1), Item(2), Item(3)]));
    }
}
