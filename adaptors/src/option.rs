//! Options: no item, or one.

use crate::iter::{IntoParallelIterator, clone_base, indexed_iterator, newtype_iterator};
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

indexed_iterator! {
    impl[T] IntoIter<T> where [T: Send]
    type Item = T;
    type Producer<'a> = AtMostOne<T>;
    fn len(this) { usize::from(this.value.is_some()) }
    fn lend(this) { AtMostOne::new(this.value.take()) }
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
    const FACTS: Facts = Facts::SINGLE;
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
    Iter<'data, T: Sync>(IntoIter<&'data T>), indexed;
    from[] &'data Option<T> => &'data T = |source| source.as_ref().into_par_iter()
}

clone_base!(Iter<'data, T>);

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
    IterMut<'data, T: Send>(IntoIter<&'data mut T>), indexed;
    from[] &'data mut Option<T> => &'data mut T = |source| source.as_mut().into_par_iter()
}
