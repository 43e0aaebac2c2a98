//! Collections that keep the order of the items, and the heap that is made of one.

use super::{extend_from_lists, extended, from_par_iter};
use crate::iter::collect::{Lists, total};
use crate::iter::{IntoParallelIterator, ParallelExtend, ParallelIterator};
use std::collections::{BinaryHeap, LinkedList, VecDeque};
use std::rc::Rc;
use std::sync::Arc;

from_par_iter! {
    [T: Send] Box<[T]>: T, |items| Vec::from_par_iter(items).into();
    [T: Send] Rc<[T]>: T, |items| Vec::from_par_iter(items).into();
    [T: Send] Arc<[T]>: T, |items| Vec::from_par_iter(items).into();
    [T: Send] VecDeque<T>: T, |items| Vec::from_par_iter(items).into();
    [T: Ord + Send] BinaryHeap<T>: T, |items| Vec::from_par_iter(items).into();
    [T: Send] LinkedList<T>: T, |items| extended(items);
}

extend_from_lists! {
    [T: Send] VecDeque<T>: T, |deque, lists| deque.reserve(total(lists));
    ['a, T: Copy + Send + Sync + 'a] VecDeque<T>: &'a T, |deque, lists| deque.reserve(total(lists));
    [T: Ord + Send] BinaryHeap<T>: T, |heap, lists| heap.reserve(total(lists));
    ['a, T: Copy + Ord + Send + Sync + 'a] BinaryHeap<T>: &'a T, |heap, lists| heap.reserve(total(lists));
}

/// The tasks' lists are linked: nothing is moved.
impl<T: Send> ParallelExtend<T> for LinkedList<T> {
    fn par_extend<I: IntoParallelIterator<Item = T>>(&mut self, items: I) {
        for mut list in items.into_par_iter().drive(Lists::new(LinkedList::is_empty)) {
            self.append(&mut list);
        }
    }
}

impl<'a, T: Copy + Send + Sync + 'a> ParallelExtend<&'a T> for LinkedList<T> {
    fn par_extend<I: IntoParallelIterator<Item = &'a T>>(&mut self, items: I) {
        self.par_extend(items.into_par_iter().map(|&item| item));
    }
}
