//! One collection per leaf, for iterators that do not know their length.

use crate::iter::copies::copies;
use furcate_schedulers::Reduction;
use std::collections::LinkedList;
use std::iter::once;
use std::ops::ControlFlow;

/// Every task extends a collection (a vector, a string) of its own; those that are not empty are linked in order.
#[derive(Debug)]
pub(crate) struct Lists<C> {
    is_empty: fn(&C) -> bool,
}

impl<C> Lists<C> {
    pub(crate) fn new(is_empty: fn(&C) -> bool) -> Self {
        Lists { is_empty }
    }

    /// Returns a list of one collection, or an empty list if the collection is empty.
    pub(crate) fn only(&self, collection: C) -> LinkedList<C> {
        if (self.is_empty)(&collection) { LinkedList::new() } else { LinkedList::from([collection]) }
    }
}

copies!(impl[C] Lists<C>);

impl<T, C: Default + Extend<T> + Send> Reduction<T> for Lists<C> {
    type Accumulator = C;
    type Output = LinkedList<C>;

    #[inline]
    fn start(&self) -> C {
        C::default()
    }

    #[inline]
    fn fold_item(&self, mut collection: C, item: T) -> ControlFlow<C, C> {
        collection.extend(once(item));
        ControlFlow::Continue(collection)
    }

    #[inline]
    fn fold<I: Iterator<Item = T>>(&self, mut collection: C, items: I) -> C {
        // Not `extend(items)`, which asks for one item after the other: this loop is the items' own.
        items.for_each(|item| collection.extend(once(item)));
        collection
    }

    #[inline]
    fn finish(&self, collection: C) -> LinkedList<C> {
        self.only(collection)
    }

    #[inline]
    fn reduce(&self, left: LinkedList<C>, right: LinkedList<C>) -> LinkedList<C> {
        concat(left, right)
    }
}

/// Concatenates two lists, in constant time.
pub(crate) fn concat<C>(mut left: LinkedList<C>, mut right: LinkedList<C>) -> LinkedList<C> {
    left.append(&mut right);
    left
}
