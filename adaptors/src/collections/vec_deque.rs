//! Double-ended queues.

use crate::iter::{IntoParallelIterator, ParallelDrainRange, indexed_iterator, newtype_iterator};
use crate::vec::indices;
use crate::{slice, vec};
use furcate_schedulers::{Divisible, Facts, IndexedProducer, Producer};
use std::collections::VecDeque;
use std::marker::PhantomData;
use std::ops::{Range, RangeBounds};

newtype_iterator! {
    /// A parallel iterator over a queue's items by value. It uses the queue's vector. If the items do not lie in order
    /// there, they are moved within it first.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// let queue = std::collections::VecDeque::from([1, 2, 3]);
    /// let it: furcate::collections::vec_deque::IntoIter<_> = queue.into_par_iter();
    /// assert_eq!(it.sum::<i32>(), 6);
    /// ```
    #[derive(Clone, Debug)]
    IntoIter<T: Send>(vec::IntoIter<T>), indexed;
    from[] VecDeque<T> => T = |source| Vec::from(source).into_par_iter()
}

/// A parallel iterator over a queue's items by shared reference.
///
/// ```
/// use furcate::prelude::*;
/// let queue = std::collections::VecDeque::from([1, 2, 3]);
/// assert_eq!(queue.par_iter().sum::<i32>(), 6);
/// ```
#[must_use = "iterators do nothing until a terminal drives them"]
#[derive(Debug)]
pub struct Iter<'data, T> {
    queue: &'data VecDeque<T>,
}

impl<T> Clone for Iter<'_, T> {
    fn clone(&self) -> Self {
        Iter { queue: self.queue }
    }
}

impl<'data, T: Sync> IntoParallelIterator for &'data VecDeque<T> {
    type Iter = Iter<'data, T>;
    type Item = &'data T;

    #[inline]
    fn into_par_iter(self) -> Self::Iter {
        Iter { queue: self }
    }
}

indexed_iterator! {
    impl['data, T] Iter<'data, T> where [T: Sync]
    type Item = &'data T;
    type Producer<'a> = VecDequePart<'data, T>;
    fn len(this) { this.queue.len() }
    fn lend(this) { VecDequePart { queue: this.queue, range: 0..this.queue.len() } }
}

/// The producer of [`Iter`]: a range of a queue's positions. Its leaf is std's iterator over them.
///
/// ```
/// use furcate::prelude::*;
/// let queue = std::collections::VecDeque::from([1, 2, 3]);
/// let mut it = queue.par_iter();
/// let part: furcate::collections::vec_deque::VecDequePart<_> = it.producer();
/// assert!(part.divide_at(1).1.into_iter().eq(&[2, 3]));
/// ```
#[derive(Debug)]
pub struct VecDequePart<'data, T> {
    queue: &'data VecDeque<T>,
    range: Range<usize>,
}

impl<T> Divisible for VecDequePart<'_, T> {
    #[inline]
    fn size(&self) -> usize {
        self.range.len()
    }

    #[inline]
    fn divide_at(self, index: usize) -> (Self, Self) {
        let (left, right) = self.range.divide_at(index);
        (VecDequePart { queue: self.queue, range: left }, VecDequePart { queue: self.queue, range: right })
    }
}

impl<'data, T> IntoIterator for VecDequePart<'data, T> {
    type Item = &'data T;
    type IntoIter = std::collections::vec_deque::Iter<'data, T>;

    #[inline]
    fn into_iter(self) -> Self::IntoIter {
        self.queue.range(self.range)
    }
}

impl<T: Sync> Producer for VecDequePart<'_, T> {
    const FACTS: Facts = Facts::SINGLE;
}
impl<T: Sync> IndexedProducer for VecDequePart<'_, T> {}

newtype_iterator! {
    /// A parallel iterator over a queue's items by mutable reference. It uses the queue's slice.
    ///
    /// If the queue does not lie in one piece, it is made contiguous first ([`VecDeque::make_contiguous`]), which
    /// allocates nothing.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// let mut queue = std::collections::VecDeque::from([2, 3]);
    /// queue.push_front(1);
    /// queue.par_iter_mut().for_each(|x| *x *= 2);
    /// assert_eq!(queue, [2, 4, 6]);
    /// ```
    #[derive(Debug)]
    IterMut<'data, T: Send>(slice::IterMut<'data, T>), indexed;
    from[] &'data mut VecDeque<T> => &'data mut T = |source| source.make_contiguous().into_par_iter()
}

newtype_iterator! {
    /// A draining parallel iterator: see [`ParallelDrainRange`]. The items are moved to a vector first.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// let mut queue = std::collections::VecDeque::from([1, 2, 3]);
    /// let it: furcate::collections::vec_deque::Drain<_> = queue.par_drain(..2);
    /// assert_eq!(it.sum::<i32>(), 3);
    /// assert_eq!(queue, [3]);
    /// ```
    #[derive(Debug)]
    Drain<'data, T: Send>(vec::IntoIter<T>, &'data mut VecDeque<T>), indexed
}

impl<'data, T: Send> ParallelDrainRange<usize> for &'data mut VecDeque<T> {
    type Iter = Drain<'data, T>;
    type Item = T;

    #[track_caller]
    fn par_drain<R: RangeBounds<usize>>(self, range: R) -> Drain<'data, T> {
        let range = indices(range, self.len());
        Drain { base: Vec::from_iter(self.drain(range)).into_par_iter(), borrowed: PhantomData }
    }
}
