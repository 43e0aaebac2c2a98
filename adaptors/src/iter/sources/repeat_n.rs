//! `repeat_n`

use crate::iter::indexed_iterator;
use furcate_schedulers::{Divisible, Facts, IndexedProducer, Producer};
use std::iter::FusedIterator;

/// Makes a parallel iterator that repeats an item `n` times.
///
/// The item is cloned `n - 1` times in all, however the work is divided. With `n` = 0 it is dropped.
///
/// ```
/// use furcate::prelude::*;
/// let dashes: Vec<char> = furcate::iter::repeat_n('-', 3).collect();
/// assert_eq!(dashes, ['-', '-', '-']);
/// ```
pub fn repeat_n<T: Clone + Send>(element: T, n: usize) -> RepeatN<T> {
    RepeatN::new(Some(element), n)
}

/// The old name of [`repeat_n`].
///
/// ```
/// use furcate::prelude::*;
/// #[allow(deprecated)]
/// let dashes: String = furcate::iter::repeatn('-', 3).collect();
/// assert_eq!(dashes, "---");
/// ```
#[deprecated(note = "use `repeat_n`")]
pub fn repeatn<T: Clone + Send>(element: T, n: usize) -> RepeatN<T> {
    repeat_n(element, n)
}

/// A parallel iterator that repeats an item a number of times: see [`repeat_n`].
///
/// ```
/// use furcate::prelude::*;
/// let it: furcate::iter::RepeatN<_> = furcate::iter::repeat_n('x', 3);
/// assert_eq!(it.collect::<String>(), "xxx");
/// ```
#[must_use = "iterators do nothing until a terminal drives them"]
#[derive(Clone, Debug)]
pub struct RepeatN<T> {
    copies: Copies<T>,
}

impl<T> RepeatN<T> {
    pub(super) fn new(element: Option<T>, n: usize) -> Self {
        RepeatN { copies: Copies::new(element, n) }
    }
}

indexed_iterator! {
    impl[T] RepeatN<T> where [T: Clone + Send]
    type Item = T;
    type Producer<'a> = Copies<T>;
    fn len(this) { this.copies.count }
    fn lend(this) { std::mem::replace(&mut this.copies, Copies::NONE) }
}

/// A number of copies of an item, as a producer and as a sequential iterator.
///
/// Not std's `RepeatN`, which cannot be cut, nor be empty without an item. Here the last copy is the item itself, and a
/// cut clones it only if both sides get some.
///
/// ```
/// use furcate::prelude::*;
/// let mut it = furcate::iter::repeat_n('x', 3);
/// let copies: furcate::iter::Copies<_> = it.producer();
/// assert_eq!(copies.divide_at(2).0.collect::<String>(), "xx");
/// ```
#[derive(Clone, Debug)]
pub struct Copies<T> {
    /// The item; `Some` exactly if the count is not 0.
    element: Option<T>,
    count: usize,
}

impl<T> Copies<T> {
    pub(super) const NONE: Self = Copies { element: None, count: 0 };

    /// Makes `count` copies, or none if there is no element.
    pub(super) fn new(element: Option<T>, count: usize) -> Self {
        match element {
            Some(element) if count > 0 => Copies { element: Some(element), count },
            _ => Copies::NONE,
        }
    }
}

impl<T: Clone> Divisible for Copies<T> {
    #[inline]
    fn size(&self) -> usize {
        self.count
    }

    #[inline]
    fn divide_at(self, index: usize) -> (Self, Self) {
        if index == 0 {
            (Copies::NONE, self)
        } else if index >= self.count {
            (self, Copies::NONE)
        } else {
            let right = self.count - index;
            (
                Copies { element: self.element.clone(), count: index },
                Copies { element: self.element, count: right },
            )
        }
    }
}

impl<T: Clone> Iterator for Copies<T> {
    type Item = T;

    #[inline]
    fn next(&mut self) -> Option<T> {
        self.count = self.count.saturating_sub(1);
        if self.count == 0 { self.element.take() } else { self.element.clone() }
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.count, Some(self.count))
    }

    #[inline]
    fn nth(&mut self, n: usize) -> Option<T> {
        if n >= self.count {
            *self = Copies::NONE;
            return None;
        }
        self.count -= n;
        self.next()
    }

    #[inline]
    fn fold<B, F: FnMut(B, T) -> B>(self, init: B, mut f: F) -> B {
        let Some(element) = self.element else { return init };
        let folded = (1..self.count).fold(init, |folded, _| f(folded, element.clone()));
        f(folded, element)
    }
}

// All items are equal, so both ends are the same.
impl<T: Clone> DoubleEndedIterator for Copies<T> {
    #[inline]
    fn next_back(&mut self) -> Option<T> {
        self.next()
    }

    #[inline]
    fn nth_back(&mut self, n: usize) -> Option<T> {
        self.nth(n)
    }

    #[inline]
    fn rfold<B, F: FnMut(B, T) -> B>(self, init: B, f: F) -> B {
        self.fold(init, f)
    }
}

impl<T: Clone> ExactSizeIterator for Copies<T> {}
impl<T: Clone> FusedIterator for Copies<T> {}
impl<T: Clone + Send> Producer for Copies<T> {
    const FACTS: Facts = Facts::SINGLE;
}
impl<T: Clone + Send> IndexedProducer for Copies<T> {}
