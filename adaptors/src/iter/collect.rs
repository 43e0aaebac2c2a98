//! Collecting into vectors: in place where the length is known, else through one vector per leaf.

mod in_place;
mod lists;
mod unzip;

use in_place::append_exact;
pub(crate) use lists::{Lists, concat};
pub(crate) use unzip::{SortInto, TwoLists, append_unzipped, sort_into_lists, unzip_into_lists};

use super::ParallelIterator;
use furcate_schedulers::Policy;
use std::collections::LinkedList;

/// How many items will come, if that is certain: it is not, if the policy may stop before all have come.
pub(crate) fn exact_len<I: ParallelIterator>(items: &I) -> Option<usize> {
    if I::Policy::STOPS { None } else { items.opt_len() }
}

/// Appends all items, in order; in place, if it is certain how many will come.
pub(crate) fn append<I: ParallelIterator>(vec: &mut Vec<I::Item>, items: I) {
    match exact_len(&items) {
        Some(len) => append_exact(vec, len, items),
        None => append_lists(vec, items.drive(Lists::new(Vec::is_empty))),
    }
}

/// Appends vectors. A vector without a buffer of its own takes the only one's over.
pub(crate) fn append_lists<T>(vec: &mut Vec<T>, mut lists: LinkedList<Vec<T>>) {
    if vec.capacity() == 0 && lists.len() == 1 {
        *vec = lists.pop_front().unwrap_or_default();
        return;
    }
    vec.reserve(total(&lists));
    for mut list in lists {
        vec.append(&mut list);
    }
}

/// How many elements there are.
pub(crate) fn total<T>(lists: &LinkedList<Vec<T>>) -> usize {
    lists.iter().map(Vec::len).sum()
}

/// All items in vectors, in order: in one, if it is certain how many will come, else in one per leaf.
pub(crate) fn into_lists<I: ParallelIterator>(items: I) -> LinkedList<Vec<I::Item>> {
    let lists = Lists::new(Vec::is_empty);
    match exact_len(&items) {
        Some(len) => {
            let mut vec = Vec::new();
            append_exact(&mut vec, len, items);
            lists.only(vec)
        }
        None => items.drive(lists),
    }
}

/// Vectors as one.
pub(crate) fn flatten<T>(lists: LinkedList<Vec<T>>) -> Vec<T> {
    let mut vec = Vec::new();
    append_lists(&mut vec, lists);
    vec
}

#[cfg(test)]
mod tests;
