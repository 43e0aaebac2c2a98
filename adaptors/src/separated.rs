//! Parts between separators: the skeleton of everything that splits strings and slices at places that have to be
//! searched for.
//!
//! A [`Splits`] has three parameters: the string or slice to split (`V`), the separators (`F`, a [`Separator`]), and
//! the treatment of the parts (`K`, a [`Splitting`], which names the iterator of a leaf: std's, or one that yields the same). This module has, once,
//! the search for a place to cut, and the memory of the places that need not be searched again.
//!
//! # Invariants
//!
//! 1. *Cuts are invisible.* A part is cut only at a separator. If the items keep their separators (or need them to be
//!    told apart), the separator stays at the end of the left part. Then std's iterator over the left part, followed by
//!    std's iterator over the right part, yields the same items as over the whole. If separators are dropped, the
//!    separator at the cut is dropped, too.
//! 2. *Sizes add up.* If separators are dropped, every part is worth at least one item, also an empty part. The part
//!    counts the separator that is missing at its end, so that its size is its length plus one, and the parts' sizes
//!    add up to the whole's.
//! 3. *Nothing is searched twice.* The places that a search has passed lie behind `unsearched` of their part, and no
//!    further search goes there. So all searches of a computation look at every element at most once, whatever the
//!    shape of the division tree and however short the steps. The leaves of a string look at every character once more. A leaf of a slice
//!    looks only at the elements that no search has passed, because the user's predicate may be costly: behind its last separator
//!    among these is one item.
//! 4. *Progress.* If a part has no separator that could still be found, it reports that it cannot be divided. A
//!    step that finds none takes the whole part.

use crate::iter::{ParallelIterator, default_schedule};
use furcate_schedulers::{Divisible, Facts, Producer};
use std::fmt;
use std::mem::replace;
use std::ops::{Deref, Range};

/// A separator of the items in a string or a slice `S`.
pub trait Separator<S: ?Sized>: Sync + Send {
    /// Returns the start and the end of the first separator in a range.
    ///
    /// An end of the range that lies inside a character stands for that character's end, here and in
    /// [`rfind`](Self::rfind).
    fn find(&self, data: &S, range: Range<usize>) -> Option<Range<usize>>;

    /// Returns the start and the end of the last separator in a range.
    fn rfind(&self, data: &S, range: Range<usize>) -> Option<Range<usize>>;
}

/// The way in which a leaf splits its part.
pub trait Splitting<V, F>: Copy + Send {
    /// Whether a separator belongs to the part that it ends. If not, it is dropped (invariant 1).
    const KEEPS_SEPARATORS: bool;

    /// std's iterator for a leaf.
    type Leaf<'a>: Iterator<Item = V>
    where
        F: 'a;

    /// Makes std's iterator over a part. From `unsearched` on, a separator can be only at the very end (invariant 3).
    fn leaf<'a>(self, data: V, unsearched: usize, separator: &'a F) -> Self::Leaf<'a>;
}

/// Items lie between the separators, which are dropped.
#[derive(Clone, Copy, Debug)]
pub struct Between;

/// Every item ends with its separator.
#[derive(Clone, Copy, Debug)]
pub struct Inclusive;

/// A parallel iterator over the parts between separators.
///
/// It is the type behind `Split`, `SplitInclusive`, `Lines`, `ChunkBy` and similar iterators: see [`crate::slice`] and
/// [`crate::str`].
#[must_use = "iterators do nothing until a terminal drives them"]
#[derive(Clone)]
pub struct Splits<V, K, F> {
    /// The data; `None` once it has been lent.
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
    /// The data of the part; `None` if nothing is left, not even an empty item.
    data: Option<V>,
    /// This part need not be cut at a separator that starts here or further on (invariant 3).
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

    /// Returns the part, and an empty part.
    fn undivided(self) -> (Self, Self) {
        let nothing = self.part(None, 0);
        (self, nothing)
    }

    /// Whether a cut at a separator leaves something on both sides.
    fn parts(&self, separator: &Range<usize>) -> bool {
        !K::KEEPS_SEPARATORS || self.data.as_ref().is_some_and(|data| separator.end < data.size())
    }

    /// Cuts at the first separator from `start` on. The places from `start` to the separator, or to the end if there is
    /// none, are not searched again.
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

    /// Cuts at the last separator that has not been searched for. The places behind it have been searched.
    fn cut_backward(mut self) -> Result<(Self, Self), Self> {
        // Two iterations at most: only the separator at the very end does not part anything.
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

    /// Cuts at a separator. To the right of it, the places up to `end` have not been searched yet.
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

/// Cuts at separators. The size is the length, plus one if separators are dropped (invariant 2).
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

    /// Cuts at the first separator behind the middle; without one, at the last separator before it.
    fn divide(self) -> (Self, Self) {
        let middle = self.data.as_ref().map_or(0, V::size) / 2;
        self.cut_forward(middle).or_else(Self::cut_backward).unwrap_or_else(Self::undivided)
    }

    /// Cuts at the first separator that leaves `index` units to the left. Without one, everything goes to the left.
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
            Some(data) => self.kind.leaf(data, self.unsearched, self.separator),
            None => {
                // An empty iterator of std's type: between separators, an empty value has one item, which is skipped. (A second call of
                // `next`, in the other kinds, would keep the compiler from inlining it into the leaf's loop.)
                let mut leaf = self.kind.leaf(V::default(), 0, self.separator);
                if !K::KEEPS_SEPARATORS {
                    leaf.next();
                }
                leaf
            }
        }
    }
}

// A step cuts off its items: a search for its end, then std's iterator (invariants 3 and 4).
impl<V, K, F> Producer for SplitsProducer<'_, V, K, F>
where
    V: Divisible + Deref + Default + Send,
    K: Splitting<V, F>,
    F: Separator<V::Target>,
{
    const FACTS: Facts = Facts::ITEMS;
}
