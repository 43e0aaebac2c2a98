//! What lies between separators: the skeleton of everything that splits strings and slices at places that have to be
//! searched for.
//!
//! A [`Splits`] says what is split (`V`: a string or a slice), at which separators (`F`, a [`Separator`]), and what
//! becomes of the parts (`K`, a [`Splitting`]: which of std's iterators a leaf is). The search for a place to cut, and
//! the memory of where it need not search again, are here, once.
//!
//! # Invariants
//!
//! 1. *Cuts are invisible.* A part is cut only at a separator. Where the items keep their separators (or need them to
//!    be told apart), the separator stays at the end of the left part: std's iterator over the left part, then over
//!    the right part, gives what it gives over the whole. Where separators are dropped, so is the one that is cut at.
//! 2. *Sizes add up.* Where separators are dropped, every part is an item's worth at least, also an empty one: it
//!    counts the separator that is missing at its end, so that its size is its length and one more, and the parts'
//!    sizes add up to the whole's.
//! 3. *Nothing is searched twice.* Whatever a search has passed by lies behind `unsearched` of the part that it is in,
//!    and no further search goes there. So all searches of a computation look at every element once at most, whatever
//!    the shape of the division tree and however short the nano-loops; the leaves look at every element once more.
//! 4. *Progress.* A part in which no separator is left to be found says that it cannot be divided; a nano-loop that
//!    finds none takes the whole part.

use crate::iter::{ParallelIterator, default_schedule};
use furcate_schedulers::{Divisible, Producer};
use std::fmt;
use std::mem::replace;
use std::ops::{Deref, Range};

/// What separates the items in a string or a slice `S`.
pub trait Separator<S: ?Sized>: Sync + Send {
    /// The first separator that lies in a range: where it starts and ends.
    ///
    /// An end of the range that lies inside a character stands for that character's end, here and in
    /// [`rfind`](Self::rfind).
    fn find(&self, data: &S, range: Range<usize>) -> Option<Range<usize>>;

    /// The last separator that lies in a range.
    fn rfind(&self, data: &S, range: Range<usize>) -> Option<Range<usize>>;
}

/// What a leaf makes of its part.
pub trait Splitting<V, F>: Copy + Send {
    /// Does a separator belong to the part that it ends? If not, it is dropped (invariant 1).
    const KEEPS_SEPARATORS: bool;

    /// std's iterator.
    type Leaf<'a>: Iterator<Item = V>
    where
        F: 'a;

    /// std's iterator over a part.
    fn leaf<'a>(self, data: V, separator: &'a F) -> Self::Leaf<'a>;
}

/// The items are between the separators, which are dropped.
#[derive(Clone, Copy, Debug)]
pub struct Between;

/// Every item ends with its separator.
#[derive(Clone, Copy, Debug)]
pub struct Inclusive;

/// A parallel iterator over what lies between separators.
///
/// This is the type behind `Split`, `SplitInclusive`, `Lines`, `ChunkBy` and their like: see [`crate::slice`] and
/// [`crate::str`].
#[must_use = "iterators do nothing until a terminal drives them"]
#[derive(Clone)]
pub struct Splits<V, K, F> {
    /// `None` once it has been lent.
    data: Option<V>,
    kind: K,
    separator: F,
}

impl<V, K, F> Splits<V, K, F> {
    #[inline]
    pub(crate) fn new(data: V, kind: K, separator: F) -> Self {
        Splits { data: Some(data), kind, separator }
    }
}

impl<V: fmt::Debug, K: fmt::Debug, F> fmt::Debug for Splits<V, K, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Splits").field("data", &self.data).field("kind", &self.kind).finish_non_exhaustive()
    }
}

impl<V, K, F> ParallelIterator for Splits<V, K, F>
where
    V: Divisible + Deref + Default + Send,
    K: Splitting<V, F>,
    F: Separator<V::Target>,
{
    type Item = V;
    type Producer<'a>
        = SplitsProducer<'a, V, K, F>
    where
        Self: 'a;

    default_schedule!();

    #[inline]
    fn producer(&mut self) -> Self::Producer<'_> {
        let data = self.data.take();
        let unsearched = data.as_ref().map_or(0, V::size);
        SplitsProducer { data, unsearched, kind: self.kind, separator: &self.separator }
    }
}

/// The producer of [`Splits`]: a part.
#[derive(Debug)]
pub struct SplitsProducer<'a, V, K, F> {
    /// `None` if there is nothing left, not even an empty item.
    data: Option<V>,
    /// At a separator that starts here or further on, this part need not be cut (invariant 3).
    unsearched: usize,
    kind: K,
    separator: &'a F,
}

impl<V, K, F> SplitsProducer<'_, V, K, F>
where
    V: Divisible + Deref,
    K: Splitting<V, F>,
    F: Separator<V::Target>,
{
    fn part(&self, data: Option<V>, unsearched: usize) -> Self {
        SplitsProducer { data, unsearched, kind: self.kind, separator: self.separator }
    }

    /// The part, and nothing.
    fn undivided(self) -> (Self, Self) {
        let nothing = self.part(None, 0);
        (self, nothing)
    }

    /// Would there be something on both sides?
    fn parts(&self, separator: &Range<usize>) -> bool {
        !K::KEEPS_SEPARATORS || self.data.as_ref().is_some_and(|data| separator.end < data.size())
    }

    /// Cuts at the first separator from `start` on. Whether there is one or not, nobody looks from there on again.
    fn cut_forward(mut self, start: usize) -> Result<(Self, Self), Self> {
        let start = start.min(self.unsearched);
        let end = replace(&mut self.unsearched, start);
        let separator = match self.data.as_deref() {
            Some(data) if start < end => self.separator.find(data, start..end),
            _ => None,
        };
        match separator {
            Some(separator) if self.parts(&separator) => Ok(self.cut(separator, end)),
            _ => Err(self),
        }
    }

    /// Cuts at the last separator that nobody has looked for yet. What is behind it has been looked through.
    fn cut_backward(mut self) -> Result<(Self, Self), Self> {
        // Twice at most: only the separator at the very end does not part anything.
        while let (Some(data), 1..) = (self.data.as_deref(), self.unsearched) {
            let separator = self.separator.rfind(data, 0..self.unsearched);
            self.unsearched = separator.as_ref().map_or(0, |separator| separator.start);
            match separator {
                Some(separator) if self.parts(&separator) => return Ok(self.cut(separator, 0)),
                _ => {}
            }
        }
        Err(self)
    }

    /// Cuts at a separator; to the right of it, nobody has looked yet up to `end`.
    fn cut(mut self, separator: Range<usize>, end: usize) -> (Self, Self) {
        let kept = if K::KEEPS_SEPARATORS { separator.end } else { separator.start };
        let (left, right) = match self.data.take() {
            Some(data) => {
                let (left, rest) = data.divide_at(kept);
                let (_dropped, right) = rest.divide_at(separator.end - kept);
                (Some(left), Some(right))
            }
            None => (None, None),
        };
        (self.part(left, self.unsearched), self.part(right, end.saturating_sub(separator.end)))
    }
}

/// Cut at separators. The size is the length; where separators are dropped, one more (invariant 2).
impl<V, K, F> Divisible for SplitsProducer<'_, V, K, F>
where
    V: Divisible + Deref,
    K: Splitting<V, F>,
    F: Separator<V::Target>,
{
    #[inline]
    fn size(&self) -> usize {
        let missing_separator = usize::from(!K::KEEPS_SEPARATORS);
        self.data.as_ref().map_or(0, |data| data.size().saturating_add(missing_separator))
    }

    #[inline]
    fn should_be_divided(&self) -> bool {
        self.unsearched > 0 && self.size() > 1
    }

    /// At the first separator behind the middle; without one, at the last before it.
    fn divide(self) -> (Self, Self) {
        let middle = self.data.as_ref().map_or(0, V::size) / 2;
        self.cut_forward(middle).or_else(Self::cut_backward).unwrap_or_else(Self::undivided)
    }

    /// At the first separator that leaves `index` units to the left; without one, everything goes there.
    fn divide_at(self, index: usize) -> (Self, Self) {
        if index == 0 {
            return (self.part(None, 0), self);
        }
        if index >= self.size() {
            return self.undivided();
        }
        self.cut_forward(index - 1).unwrap_or_else(Self::undivided)
    }
}

impl<'a, V, K, F> IntoIterator for SplitsProducer<'a, V, K, F>
where
    V: Default,
    K: Splitting<V, F>,
{
    type Item = V;
    type IntoIter = K::Leaf<'a>;

    #[inline]
    fn into_iter(self) -> K::Leaf<'a> {
        match self.data {
            Some(data) => self.kind.leaf(data, self.separator),
            None => {
                // Nothing at all, as std's type: past the one item that emptiness may have.
                let mut leaf = self.kind.leaf(V::default(), self.separator);
                leaf.next();
                leaf
            }
        }
    }
}

// A nano-loop cuts off its items: a search for its end, then std's iterator (invariants 3 and 4).
impl<V, K, F> Producer for SplitsProducer<'_, V, K, F>
where
    V: Divisible + Deref + Default + Send,
    K: Splitting<V, F>,
    F: Separator<V::Target>,
{
}
