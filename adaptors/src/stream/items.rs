//! The items that a unit of an ordered stream gives.

use std::{option, vec};

/// Items of one unit. Most units have one item.
#[derive(Debug)]
pub(super) enum Items<T> {
    UpToOne(Option<T>),
    Many(Vec<T>),
}

impl<T> Items<T> {
    pub(super) const NONE: Self = Items::UpToOne(None);

    pub(super) fn push(self, item: T) -> Self {
        match self {
            Items::UpToOne(None) => Items::UpToOne(Some(item)),
            Items::UpToOne(Some(first)) => Items::Many(vec![first, item]),
            Items::Many(mut items) => {
                items.push(item);
                Items::Many(items)
            }
        }
    }

    pub(super) fn concat(self, right: Self) -> Self {
        match (self, right) {
            (Items::UpToOne(None), right) => right,
            (left, Items::UpToOne(None)) => left,
            (left, Items::UpToOne(Some(item))) => left.push(item),
            (left, Items::Many(right)) => {
                let mut items: Vec<T> = left.into_iter().collect();
                items.extend(right);
                Items::Many(items)
            }
        }
    }
}

impl<T> IntoIterator for Items<T> {
    type Item = T;
    type IntoIter = std::iter::Chain<option::IntoIter<T>, vec::IntoIter<T>>;

    fn into_iter(self) -> Self::IntoIter {
        let (one, many) = match self {
            Items::UpToOne(one) => (one, Vec::new()),
            Items::Many(many) => (None, many),
        };
        one.into_iter().chain(many)
    }
}
