//! One vector per leaf, for iterators that do not know their length.

use furcate_schedulers::Reduction;
use std::collections::LinkedList;
use std::ops::ControlFlow;

/// Every task pushes into a vector of its own; the vectors are linked in order.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lists;

impl<T: Send> Reduction<T> for Lists {
    type Accumulator = Vec<T>;
    type Output = LinkedList<Vec<T>>;

    #[inline]
    fn start(&self) -> Vec<T> {
        Vec::new()
    }

    #[inline]
    fn step(&self, mut list: Vec<T>, item: T) -> ControlFlow<Vec<T>, Vec<T>> {
        list.push(item);
        ControlFlow::Continue(list)
    }

    #[inline]
    fn fold<I: Iterator<Item = T>>(&self, mut list: Vec<T>, items: I) -> Vec<T> {
        list.extend(items);
        list
    }

    #[inline]
    fn finish(&self, list: Vec<T>) -> LinkedList<Vec<T>> {
        if list.is_empty() { LinkedList::new() } else { LinkedList::from([list]) }
    }

    #[inline]
    fn reduce(&self, mut left: LinkedList<Vec<T>>, mut right: LinkedList<Vec<T>>) -> LinkedList<Vec<T>> {
        left.append(&mut right);
        left
    }
}
