//! Options: no item, or one.

use crate::iter::{
    IndexedParallelIterator, IntoParallelIterator, ParallelIterator, clone_base, default_schedule,
    newtype_iterator, pass_indexed, producer_is_indexed,
};
use furcate_schedulers::{Divisible, Facts, IndexedProducer, Producer};

/// A parallel iterator over the value of an option, if there is one.
///
/// ```
/// use furcate::prelude::*;
/// assert_eq!(Some(3).into_par_iter().map(|x| x + 1).sum::<i32>(), 4);
/// assert_eq!(None::<i32>.into_par_iter().sum::<i32>(), 0);
/// ```
#[must_use = "iterators do nothing until a terminal drives them"]
#[derive(Clone, Debug)]
pub struct IntoIter<T> {
    value: Option<T>,
}

impl<T: Send> IntoParallelIterator for Option<T> {
    type Iter = IntoIter<T>;
    type Item = T;

    fn into_par_iter(self) -> IntoIter<T> {
        IntoIter { value: self }
    }
}

impl<T: Send> ParallelIterator for IntoIter<T> {
    type Item = T;
    type Producer<'a>
        = AtMostOne<T>
    where
        Self: 'a;

    default_schedule!();

    fn producer(&mut self) -> AtMostOne<T> {
        AtMostOne::new(self.value.take())
    }

    fn opt_len(&self) -> Option<usize> {
        Some(self.len())
    }
}

impl<T: Send> IndexedParallelIterator for IntoIter<T> {
    producer_is_indexed!();

    fn len(&self) -> usize {
        usize::from(self.value.is_some())
    }
}

/// The producer of at most one item.
///
/// ```
/// use furcate::prelude::*;
/// let mut it = Some(3).into_par_iter();
/// let producer: furcate::option::AtMostOne<_> = it.producer();
/// assert_eq!(producer.size(), 1);
/// ```
#[derive(Debug)]
pub struct AtMostOne<T> {
    value: Option<T>,
}

impl<T> AtMostOne<T> {
    pub(crate) fn new(value: Option<T>) -> Self {
        AtMostOne { value }
    }
}

impl<T> Divisible for AtMostOne<T> {
    fn size(&self) -> usize {
        usize::from(self.value.is_some())
    }

    fn divide_at(self, index: usize) -> (Self, Self) {
        let none = AtMostOne::new(None);
        if index == 0 { (none, self) } else { (self, none) }
    }
}

impl<T> IntoIterator for AtMostOne<T> {
    type Item = T;
    type IntoIter = std::option::IntoIter<T>;

    fn into_iter(self) -> Self::IntoIter {
        self.value.into_iter()
    }
}

impl<T: Send> Producer for AtMostOne<T> {
    const FACTS: Facts = Facts::ITEMS.single();
}
impl<T: Send> IndexedProducer for AtMostOne<T> {}

newtype_iterator! {
    /// A parallel iterator over the value of an option by shared reference.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// assert_eq!(Some(3).par_iter().sum::<i32>(), 3);
    /// ```
    #[derive(Debug)]
    Iter<'data, T: Sync>(IntoIter<&'data T>)
}

clone_base!(Iter<'data, T>);

impl<'data, T: Sync> IntoParallelIterator for &'data Option<T> {
    type Iter = Iter<'data, T>;
    type Item = &'data T;

    fn into_par_iter(self) -> Self::Iter {
        Iter { base: self.as_ref().into_par_iter() }
    }
}

impl<'data, T: Sync> IndexedParallelIterator for Iter<'data, T> {
    pass_indexed!(base: IntoIter<&'data T>);
}

newtype_iterator! {
    /// A parallel iterator over the value of an option by mutable reference.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// let mut value = Some(3);
    /// value.par_iter_mut().for_each(|x| *x += 1);
    /// assert_eq!(value, Some(4));
    /// ```
    #[derive(Debug)]
    IterMut<'data, T: Send>(IntoIter<&'data mut T>)
}

impl<'data, T: Send> IntoParallelIterator for &'data mut Option<T> {
    type Iter = IterMut<'data, T>;
    type Item = &'data mut T;

    fn into_par_iter(self) -> Self::Iter {
        IterMut { base: self.as_mut().into_par_iter() }
    }
}

impl<'data, T: Send> IndexedParallelIterator for IterMut<'data, T> {
    pass_indexed!(base: IntoIter<&'data mut T>);
}
