//! Two collections at once, in one pass over the items.

use super::{Fillable, Lists, append_exact, append_lists, concat, exact_len};
use crate::iter::ParallelIterator;
use furcate_schedulers::Reduction;
use std::collections::LinkedList;
use std::marker::PhantomData;
use std::ops::ControlFlow;

/// Vectors of two kinds of items, each in order.
pub(crate) type TwoLists<A, B> = (LinkedList<Vec<A>>, LinkedList<Vec<B>>);

/// Collects the halves of all pairs: into two vectors and in place, if the iterator knows their number, else into two
/// vectors per leaf.
#[track_caller]
pub(crate) fn unzip_into_lists<I, A, B>(pairs: I) -> TwoLists<A, B>
where
    I: ParallelIterator<Item = (A, B)>,
    A: Send,
    B: Send,
{
    match exact_len(&pairs) {
        Some(len) => {
            let (mut left, mut right) = (Vec::new(), Vec::new());
            append_exact(&mut (&mut left, &mut right), len, pairs);
            two_lists((left, right))
        }
        None => sort_into_lists(pairs, |(a, b), left, right| {
            left.put(a);
            right.put(b);
        }),
    }
}

/// Appends the halves of all pairs to two vectors; in place, if their number is certain.
#[track_caller]
pub(crate) fn append_unzipped<I, A, B>(left: &mut Vec<A>, right: &mut Vec<B>, pairs: I)
where
    I: ParallelIterator<Item = (A, B)>,
    A: Send,
    B: Send,
{
    match exact_len(&pairs) {
        Some(len) => append_exact(&mut (left, right), len, pairs),
        None => {
            let lists = unzip_into_lists(pairs);
            append_lists(left, lists.0);
            append_lists(right, lists.1);
        }
    }
}

/// Sorts all items into two vectors per leaf.
#[track_caller]
pub(crate) fn sort_into_lists<I, A, B, F>(items: I, sort: F) -> TwoLists<A, B>
where
    I: ParallelIterator,
    A: Send,
    B: Send,
    F: Fn(I::Item, &mut Vec<A>, &mut Vec<B>) + Sync,
{
    items.drive(&SortInto::new(sort))
}

/// Sorts the items of a task into two vectors.
pub(crate) struct SortInto<A, B, F> {
    sort: F,
    lists: PhantomData<fn() -> (A, B)>,
}

impl<A, B, F> SortInto<A, B, F> {
    pub(crate) fn new(sort: F) -> Self {
        SortInto { sort, lists: PhantomData }
    }
}

impl<T, A, B, F> Reduction<T> for &SortInto<A, B, F>
where
    A: Send,
    B: Send,
    F: Fn(T, &mut Vec<A>, &mut Vec<B>) + Sync,
{
    type Accumulator = (Vec<A>, Vec<B>);
    type Output = TwoLists<A, B>;

    const GATHERS: bool = true;

    #[inline]
    fn start(&self) -> Self::Accumulator {
        (Vec::new(), Vec::new())
    }

    #[inline]
    fn fold_item(
        &self,
        (mut left, mut right): Self::Accumulator,
        item: T,
    ) -> ControlFlow<Self::Accumulator, Self::Accumulator> {
        (self.sort)(item, &mut left, &mut right);
        ControlFlow::Continue((left, right))
    }

    #[inline]
    fn fold<I: Iterator<Item = T>>(
        &self,
        (mut left, mut right): Self::Accumulator,
        items: I,
    ) -> Self::Accumulator {
        items.for_each(|item| (self.sort)(item, &mut left, &mut right));
        (left, right)
    }

    #[inline]
    fn finish(&self, lists: Self::Accumulator) -> TwoLists<A, B> {
        two_lists(lists)
    }

    #[inline]
    fn reduce(&self, left: TwoLists<A, B>, right: TwoLists<A, B>) -> TwoLists<A, B> {
        (concat(left.0, right.0), concat(left.1, right.1))
    }
}

fn two_lists<A, B>((left, right): (Vec<A>, Vec<B>)) -> TwoLists<A, B> {
    (Lists::new(Vec::is_empty).only(left), Lists::new(Vec::is_empty).only(right))
}
