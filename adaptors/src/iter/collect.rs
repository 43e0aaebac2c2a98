//! Collecting into vectors: in place where the length is known, else through one vector per leaf.

mod append;
mod in_place;
mod lists;
mod unzip;

use in_place::append_exact;
pub(crate) use lists::{Fillable, Lists, concat};
pub(crate) use unzip::{SortInto, TwoLists, append_unzipped, sort_into_lists, unzip_into_lists};

use super::scoped::in_scopes;
use super::{ParallelIterator, PolicyOf, SchedulerOf};
use append::{append_in_parallel, is_large};
use furcate_pool::trace;
use furcate_schedulers::{Plan, Policy, Schedule, Scheduler};
use std::collections::LinkedList;
use std::panic::Location;

/// Returns the number of items that will come, if it is certain. It is not certain if the policy may stop before all
/// have come.
pub(crate) fn exact_len<I: ParallelIterator>(items: &I) -> Option<usize> {
    if PolicyOf::<I>::STOPS { None } else { items.opt_len() }
}

/// Appends all items, in order; in place, if their number is certain.
#[track_caller]
pub(crate) fn append<I: ParallelIterator>(vec: &mut Vec<I::Item>, items: I) {
    if let Some(len) = exact_len(&items) {
        return append_exact(vec, len, items);
    }
    let _call = trace::chain(Location::caller());
    if I::SCOPED {
        return in_scopes(items, |items| append_driven(vec, items));
    }
    append_driven(vec, items);
}

/// Appends all items, of an unknown number.
fn append_driven<I: ParallelIterator>(vec: &mut Vec<I::Item>, mut items: I) {
    let Plan { policy, scheduler, executor } = items.schedule().into_plan();
    let lists = scheduler.schedule((items.producer(), policy, Lists::new(Vec::is_empty)), &executor);
    if SchedulerOf::<I>::FACTS.spreads && lists.len() > 1 && is_large::<I::Item>(total(&lists)) {
        append_in_parallel(vec, &mut Vec::from_iter(lists), &executor);
    } else {
        append_lists(vec, lists);
    }
}

/// Appends vectors. If there is only one, a vector without a buffer of its own takes over that one's buffer.
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

/// Returns the number of elements.
pub(crate) fn total<T>(lists: &LinkedList<Vec<T>>) -> usize {
    lists.iter().map(Vec::len).sum()
}

/// Collects all items into vectors, in order: into one, if their number is certain, else into one per leaf.
#[track_caller]
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

/// Moves the elements of all vectors into one vector.
pub(crate) fn flatten<T>(lists: LinkedList<Vec<T>>) -> Vec<T> {
    let mut vec = Vec::new();
    append_lists(&mut vec, lists);
    vec
}

#[cfg(test)]
mod tests;
