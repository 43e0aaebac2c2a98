//! `repeat`

use super::repeat_n::{Copies, RepeatN};
use crate::iter::{IndexedParallelIterator, IntoParallelIterator, ParallelIterator, Zip, default_schedule};
use either::Either::{self, Left, Right};
use furcate_schedulers::{Divisible, Facts, Producer};

/// Makes a parallel iterator that repeats an item for ever.
///
/// It ends only if a terminal stops early, or if it is cut to length: by [`take`](Repeat::take), [`zip`](Repeat::zip),
/// or from the start, as [`repeat_n`](super::repeat_n()).
///
/// ```
/// use furcate::prelude::*;
/// let pairs: Vec<(char, i32)> = furcate::iter::repeat('x').zip(vec![1, 2]).collect();
/// assert_eq!(pairs, [('x', 1), ('x', 2)]);
/// ```
pub fn repeat<T: Clone + Send>(element: T) -> Repeat<T> {
    Repeat { element: Some(element) }
}

/// A parallel iterator that repeats an item for ever: see [`repeat`].
///
/// ```
/// use furcate::prelude::*;
/// let it: furcate::iter::Repeat<_> = furcate::iter::repeat('x');
/// assert_eq!(it.take(3).collect::<String>(), "xxx");
/// ```
#[must_use = "iterators do nothing until a terminal drives them"]
#[derive(Clone, Debug)]
pub struct Repeat<T> {
    /// The item; `None` once it has been lent.
    element: Option<T>,
}

impl<T: Clone + Send> Repeat<T> {
    /// Keeps the first `n` items.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// assert_eq!(furcate::iter::repeat(2).take(3).sum::<i32>(), 6);
    /// ```
    pub fn take(self, n: usize) -> RepeatN<T> {
        RepeatN::new(self.element, n)
    }

    /// Pairs the repeated item with each item of another iterator.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// let pairs: Vec<_> = furcate::iter::repeat(7).zip(0..2).collect();
    /// assert_eq!(pairs, [(7, 0), (7, 1)]);
    /// ```
    pub fn zip<Z>(self, other: Z) -> Zip<RepeatN<T>, Z::Iter>
    where
        Z: IntoParallelIterator,
        Z::Iter: IndexedParallelIterator,
    {
        let other = other.into_par_iter();
        self.take(other.len()).zip(other)
    }
}

impl<T: Clone + Send> ParallelIterator for Repeat<T> {
    type Item = T;
    type Producer<'a>
        = RepeatProducer<T>
    where
        Self: 'a;

    default_schedule!();

    fn producer(&mut self) -> RepeatProducer<T> {
        RepeatProducer {
            copies: match self.element.take() {
                Some(element) => Left(std::iter::repeat(element)),
                None => Right(Copies::NONE), // lent before
            },
        }
    }
}

/// The producer of [`Repeat`]. The part to the left of a cut is finite, the part to the right is endless.
///
/// So every policy reaches a leaf, and a search that can stop does stop.
///
/// ```
/// use furcate::prelude::*;
/// let mut it = furcate::iter::repeat('x');
/// let endless: furcate::iter::RepeatProducer<_> = it.producer();
/// assert_eq!(endless.divide_at(3).0.into_iter().count(), 3);
/// ```
#[derive(Clone, Debug)]
pub struct RepeatProducer<T> {
    copies: Either<std::iter::Repeat<T>, Copies<T>>,
}

impl<T: Clone> Divisible for RepeatProducer<T> {
    #[inline]
    fn size(&self) -> usize {
        match &self.copies {
            Left(_endless) => usize::MAX,
            Right(copies) => copies.size(),
        }
    }

    fn divide_at(self, index: usize) -> (Self, Self) {
        let (left, right) = match self.copies {
            Left(mut endless) => (Right(Copies::new(endless.next(), index)), Left(endless)),
            Right(copies) => {
                let (left, right) = copies.divide_at(index);
                (Right(left), Right(right))
            }
        };
        (RepeatProducer { copies: left }, RepeatProducer { copies: right })
    }
}

impl<T: Clone> IntoIterator for RepeatProducer<T> {
    type Item = T;
    type IntoIter = Either<std::iter::Repeat<T>, Copies<T>>;

    #[inline]
    fn into_iter(self) -> Self::IntoIter {
        self.copies
    }
}

impl<T: Clone + Send> Producer for RepeatProducer<T> {
    const FACTS: Facts = Facts::SINGLE;
}
