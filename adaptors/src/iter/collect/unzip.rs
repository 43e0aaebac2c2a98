//! Two collections at once, in one pass over the items.

use super::{Lists, append_exact, append_lists, concat, exact_len};
use crate::iter::ParallelIterator;
use crate::iter::terminals::Visit;
use std::collections::LinkedList;

/// Vectors of two kinds of items, each in order.
pub(crate) type TwoLists<A, B> = (LinkedList<Vec<A>>, LinkedList<Vec<B>>);

/// The halves of all pairs: in two vectors and in place, if the iterator knows their number, else in two per leaf.
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
            left.push(a);
            right.push(b);
        }),
    }
}

/// Appends the halves of all pairs to two vectors; in place, if it is certain how many will come.
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
pub(crate) fn sort_into_lists<I, A, B, F>(items: I, sort: F) -> TwoLists<A, B>
where
    I: ParallelIterator,
    A: Send,
    B: Send,
    F: Fn(I::Item, &mut Vec<A>, &mut Vec<B>) + Sync,
{
    let sort = &sort;
    items.drive(Visit {
        start: || (Vec::new(), Vec::new()),
        visit: move |(left, right): &mut (Vec<A>, Vec<B>), item| sort(item, left, right),
        finish: two_lists,
        reduce: |left: TwoLists<A, B>, right: TwoLists<A, B>| {
            (concat(left.0, right.0), concat(left.1, right.1))
        },
    })
}

fn two_lists<A, B>((left, right): (Vec<A>, Vec<B>)) -> TwoLists<A, B> {
    (Lists::new(Vec::is_empty).only(left), Lists::new(Vec::is_empty).only(right))
}
