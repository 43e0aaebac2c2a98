//! Collecting into vectors: in place where the length is known, else through one vector per leaf.

mod in_place;
mod lists;

pub(crate) use in_place::append_exact;
pub(crate) use lists::Lists;

use super::ParallelIterator;

/// Appends all items, in order; in place, if the iterator knows their number.
pub(crate) fn append<I: ParallelIterator>(vec: &mut Vec<I::Item>, items: I) {
    match items.opt_len() {
        Some(len) => append_exact(vec, len, items),
        None => {
            let lists = items.drive(Lists);
            vec.reserve(lists.iter().map(Vec::len).sum());
            for mut list in lists {
                vec.append(&mut list);
            }
        }
    }
}

#[cfg(test)]
mod tests;
