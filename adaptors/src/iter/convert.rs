//! Conversions into parallel iterators, and out of them.

use super::ParallelIterator;
use super::collect::flatten;
use std::collections::LinkedList;
use std::ops::RangeBounds;

/// A type that becomes a parallel iterator, by value.
///
/// ```
/// use furcate::prelude::*;
/// assert_eq!((0..10).into_par_iter().sum::<i32>(), 45);
/// assert_eq!(vec![1, 2, 3].into_par_iter().sum::<i32>(), 6);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a parallel iterator and cannot become one",
    note = "for the pieces of something divisible, call `wrap_iter()`"
)]
pub trait IntoParallelIterator {
    /// The parallel iterator.
    type Iter: ParallelIterator<Item = Self::Item>;
    /// Item type.
    type Item: Send;

    /// Makes a parallel iterator of this value.
    fn into_par_iter(self) -> Self::Iter;
}

impl<I: ParallelIterator> IntoParallelIterator for I {
    type Iter = I;
    type Item = I::Item;

    #[inline]
    fn into_par_iter(self) -> I {
        self
    }
}

/// A type that can be iterated by shared reference: every type whose `&` is [`IntoParallelIterator`].
///
/// ```
/// use furcate::prelude::*;
/// assert_eq!([1, 2, 3].par_iter().map(|x| x * x).sum::<i32>(), 14);
/// ```
pub trait IntoParallelRefIterator<'data> {
    /// The parallel iterator.
    type Iter: ParallelIterator<Item = Self::Item>;
    /// Item type, typically `&'data T`.
    type Item: Send + 'data;

    /// Iterates by shared reference.
    fn par_iter(&'data self) -> Self::Iter;
}

impl<'data, I: ?Sized + 'data> IntoParallelRefIterator<'data> for I
where
    &'data I: IntoParallelIterator,
{
    type Iter = <&'data I as IntoParallelIterator>::Iter;
    type Item = <&'data I as IntoParallelIterator>::Item;

    #[inline]
    fn par_iter(&'data self) -> Self::Iter {
        self.into_par_iter()
    }
}

/// A type that can be iterated by mutable reference: every type whose `&mut` is [`IntoParallelIterator`].
///
/// ```
/// use furcate::prelude::*;
/// let mut v = [1, 2, 3];
/// v.par_iter_mut().for_each(|x| *x += 1);
/// assert_eq!(v, [2, 3, 4]);
/// ```
pub trait IntoParallelRefMutIterator<'data> {
    /// The parallel iterator.
    type Iter: ParallelIterator<Item = Self::Item>;
    /// Item type, typically `&'data mut T`.
    type Item: Send + 'data;

    /// Iterates by mutable reference.
    fn par_iter_mut(&'data mut self) -> Self::Iter;
}

impl<'data, I: ?Sized + 'data> IntoParallelRefMutIterator<'data> for I
where
    &'data mut I: IntoParallelIterator,
{
    type Iter = <&'data mut I as IntoParallelIterator>::Iter;
    type Item = <&'data mut I as IntoParallelIterator>::Item;

    #[inline]
    fn par_iter_mut(&'data mut self) -> Self::Iter {
        self.into_par_iter()
    }
}

/// A type that [`collect`](ParallelIterator::collect) can make.
///
/// ```
/// use furcate::prelude::*;
/// let squares: Vec<u32> = (0..4_u32).into_par_iter().map(|x| x * x).collect();
/// assert_eq!(squares, [0, 1, 4, 9]);
/// ```
#[diagnostic::on_unimplemented(
    message = "a `{Self}` cannot be collected from a parallel iterator over `{T}`",
    note = "collect into a `Vec` first, or implement `FromParallelIterator` for it",
    note = "are the items futures? Wait for them first: `.io_await().collect()`"
)]
pub trait FromParallelIterator<T: Send> {
    /// Makes a collection of the items.
    #[track_caller]
    fn from_par_iter<I: IntoParallelIterator<Item = T>>(items: I) -> Self;

    /// Makes a collection of the elements of several vectors, in order. This is the last step of collecting into a pair
    /// of collections.
    ///
    /// By default the vectors are joined, and the result is iterated over. Override this method for a collection that
    /// can take over the vectors as they are.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// use std::collections::LinkedList;
    /// let v = Vec::from_par_lists(LinkedList::from([vec![1, 2], vec![3]]));
    /// assert_eq!(v, [1, 2, 3]);
    /// ```
    #[track_caller]
    #[inline]
    fn from_par_lists(lists: LinkedList<Vec<T>>) -> Self
    where
        Self: Sized,
    {
        Self::from_par_iter(flatten(lists))
    }

    /// Whether an item alone decides the collection, whatever the other items are. In that case
    /// [`async_collect`](super::AsyncTerminals::async_collect) does not wait for other items. By default no item decides.
    /// For a `Result` of a collection, an error does.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// assert!(<Option<Vec<u8>>>::is_decided_by(&None) && !<Option<Vec<u8>>>::is_decided_by(&Some(1)));
    /// ```
    #[inline]
    fn is_decided_by(item: &T) -> bool {
        let _ = item;
        false
    }
}

/// A type that can be extended with the items of a parallel iterator.
///
/// ```
/// use furcate::prelude::*;
/// let mut v = vec![0];
/// v.par_extend(1..4);
/// assert_eq!(v, [0, 1, 2, 3]);
/// ```
pub trait ParallelExtend<T: Send> {
    /// Adds all items, in order where the collection has one.
    #[track_caller]
    fn par_extend<I: IntoParallelIterator<Item = T>>(&mut self, items: I);

    /// Adds the elements of several vectors, in order. This is the last step of terminals that fill two collections in
    /// one pass ([`unzip`](ParallelIterator::unzip), [`partition`](ParallelIterator::partition)).
    ///
    /// By default the vectors are joined, and the result is iterated over. Override this method for a collection that
    /// can take over the vectors as they are.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// use std::collections::LinkedList;
    /// let mut v = vec![0];
    /// v.par_extend_lists(LinkedList::from([vec![1, 2], vec![3]]));
    /// assert_eq!(v, [0, 1, 2, 3]);
    /// ```
    #[track_caller]
    #[inline]
    fn par_extend_lists(&mut self, lists: LinkedList<Vec<T>>) {
        self.par_extend(flatten(lists));
    }
}

/// A collection that can be emptied, and keeps its memory.
///
/// This trait is for collections without positions. The others have [`ParallelDrainRange`].
///
/// ```
/// use furcate::prelude::*;
/// use std::collections::HashSet;
/// let mut set = HashSet::from([1, 2, 3]);
/// assert_eq!(set.par_drain().sum::<i32>(), 6);
/// assert!(set.is_empty() && set.capacity() >= 3);
/// ```
pub trait ParallelDrainFull {
    /// The draining iterator.
    type Iter: ParallelIterator<Item = Self::Item>;
    /// Item type.
    type Item: Send;

    /// Iterates over everything by value and leaves the collection empty, also if the iterator is dropped undriven.
    ///
    /// If the iterator is forgotten instead, the items that were not iterated over leak.
    fn par_drain(self) -> Self::Iter;
}

/// A collection from which a range can be taken out.
///
/// ```
/// use furcate::prelude::*;
/// let mut v = vec![0, 1, 2, 3, 4];
/// assert_eq!(v.par_drain(1..3).sum::<i32>(), 3);
/// assert_eq!(v, [0, 3, 4]);
/// ```
pub trait ParallelDrainRange<Idx = usize> {
    /// The draining iterator.
    type Iter: ParallelIterator<Item = Self::Item>;
    /// Item type.
    type Item: Send;

    /// Iterates over a range by value and takes it out, also if the iterator is dropped undriven.
    ///
    /// # Panics
    ///
    /// If the range lies outside the collection.
    fn par_drain<R: RangeBounds<Idx>>(self, range: R) -> Self::Iter;
}
