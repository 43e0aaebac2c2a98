//! Strings read character by character: the skeleton of all iterators that can be cut between any two characters.

use super::Pattern;
use crate::iter::{ParallelIterator, default_schedule};
use furcate_schedulers::{Divisible, Facts, Producer};
use std::fmt;

/// A way to read a text.
pub trait Reading<'ch, P>: Copy + Send {
    /// Item type.
    type Item: Send;

    /// std's iterator for a leaf.
    type Leaf<'a>: Iterator<Item = Self::Item>
    where
        P: 'a;

    /// Makes std's iterator over a part that starts `offset` bytes into the text.
    fn leaf<'a>(self, part: &'ch str, offset: usize, pattern: &'a P) -> Self::Leaf<'a>;
}

/// A parallel iterator that reads a string character by character.
///
/// It is the type behind `Chars`, `Bytes`, `Matches` and similar iterators: see [`crate::str`].
#[must_use = "iterators do nothing until a terminal drives them"]
#[derive(Clone)]
pub struct Read<'ch, K, P = ()> {
    text: &'ch str,
    kind: K,
    pattern: P,
}

impl<'ch, K, P> Read<'ch, K, P> {
    #[inline]
    pub(crate) fn new(text: &'ch str, kind: K, pattern: P) -> Self {
        Read { text, kind, pattern }
    }
}

impl<K: fmt::Debug, P> fmt::Debug for Read<'_, K, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Read").field("text", &self.text).field("kind", &self.kind).finish_non_exhaustive()
    }
}

impl<'ch, K, P> ParallelIterator for Read<'ch, K, P>
where
    K: Reading<'ch, P>,
    P: Sync + Send,
{
    type Item = K::Item;
    type Producer<'a>
        = ReadProducer<'ch, 'a, K, P>
    where
        Self: 'a;

    default_schedule!();

    #[inline]
    fn units(&self) -> Option<usize> {
        Some(self.text.len())
    }

    #[inline]
    fn producer(&mut self) -> Self::Producer<'_> {
        ReadProducer::new(self.text, self.kind, &self.pattern)
    }
}

/// The producer of [`Read`]: a part of the text, and the place of its first byte.
#[derive(Debug)]
pub struct ReadProducer<'ch, 'a, K, P> {
    part: &'ch str,
    offset: usize,
    kind: K,
    pattern: &'a P,
}

impl<'ch, 'a, K: Copy, P> ReadProducer<'ch, 'a, K, P> {
    #[inline]
    pub(crate) fn new(text: &'ch str, kind: K, pattern: &'a P) -> Self {
        ReadProducer { part: text, offset: 0, kind, pattern }
    }

    fn parts(self, (left, right): (&'ch str, &'ch str)) -> (Self, Self) {
        let middle = self.offset + left.len();
        (ReadProducer { part: left, ..self }, ReadProducer { part: right, offset: middle, ..self })
    }
}

/// Cuts between characters, as strings are cut. The size is in bytes.
impl<K: Copy, P> Divisible for ReadProducer<'_, '_, K, P> {
    #[inline]
    fn size(&self) -> usize {
        self.part.size()
    }

    #[inline]
    fn should_be_divided(&self) -> bool {
        self.part.should_be_divided()
    }

    #[inline]
    fn divide(self) -> (Self, Self) {
        let parts = self.part.divide();
        self.parts(parts)
    }

    #[inline]
    fn divide_at(self, index: usize) -> (Self, Self) {
        let parts = self.part.divide_at(index);
        self.parts(parts)
    }
}

impl<'ch, 'a, K: Reading<'ch, P>, P> IntoIterator for ReadProducer<'ch, 'a, K, P> {
    type Item = K::Item;
    type IntoIter = K::Leaf<'a>;

    #[inline]
    fn into_iter(self) -> K::Leaf<'a> {
        self.kind.leaf(self.part, self.offset, self.pattern)
    }
}

impl<'ch, K: Reading<'ch, P>, P: Sync> Producer for ReadProducer<'ch, '_, K, P> {
    const FACTS: Facts = Facts::ITEMS;
}

/// Items with their places in the text, whereas std counts from the part's start.
#[derive(Clone, Debug)]
pub struct Placed<I> {
    items: I,
    offset: usize,
}

impl<T, I: Iterator<Item = (usize, T)>> Iterator for Placed<I> {
    type Item = (usize, T);

    #[inline]
    fn next(&mut self) -> Option<(usize, T)> {
        self.items.next().map(|(place, item)| (self.offset + place, item))
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        self.items.size_hint()
    }

    #[inline]
    fn fold<B, F>(self, init: B, mut fold_op: F) -> B
    where
        F: FnMut(B, (usize, T)) -> B,
    {
        let offset = self.offset;
        self.items.fold(init, |folded, (place, item)| fold_op(folded, (offset + place, item)))
    }

    #[inline]
    fn count(self) -> usize {
        self.items.count()
    }
}

/// Declares kinds of reading: the item type, and std's iterator.
macro_rules! kinds_of_reading {
    ($($(#[$doc:meta])* $Kind:ident$(($P:ident: $Bound:ident))?, $Pattern:ty, $Item:ty:
        |$part:ident, $offset:ident, $pattern:ident| $leaf:expr => $Leaf:ty;)+) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug)]
        pub struct $Kind;

        impl<'ch, $($P: $Bound)?> Reading<'ch, $Pattern> for $Kind {
            type Item = $Item;
            type Leaf<'a> = $Leaf where $Pattern: 'a;

            #[inline]
            fn leaf<'a>(self, $part: &'ch str, $offset: usize, $pattern: &'a $Pattern) -> Self::Leaf<'a> {
                $leaf
            }
        }
    )+};
}

kinds_of_reading! {
    /// Characters.
    EveryChar, (), char: |part, _offset, _no| part.chars() => std::str::Chars<'ch>;
    /// Characters and their places.
    EveryCharIndex, (), (usize, char): |part, offset, _no| Placed { items: part.char_indices(), offset }
        => Placed<std::str::CharIndices<'ch>>;
    /// Bytes.
    EveryByte, (), u8: |part, _offset, _no| part.bytes() => std::str::Bytes<'ch>;
    /// Units of UTF-16.
    EveryUtf16, (), u16: |part, _offset, _no| part.encode_utf16() => std::str::EncodeUtf16<'ch>;
    /// Matches of a pattern.
    EveryMatch(P: Pattern), P, &'ch str: |part, _offset, pattern| pattern.matches(part) => P::Matches<'ch, 'a>;
    /// Matches of a pattern and their places.
    EveryMatchIndex(P: Pattern), P, (usize, &'ch str): |part, offset, pattern|
        Placed { items: pattern.match_indices(part), offset } => Placed<P::MatchIndices<'ch, 'a>>;
}

/// A parallel iterator over characters: see [`ParallelString::par_chars`](super::ParallelString::par_chars).
///
/// ```
/// use furcate::prelude::*;
/// let it: furcate::str::Chars = "añb".par_chars();
/// assert_eq!(it.collect::<Vec<_>>(), ['a', 'ñ', 'b']);
/// ```
pub type Chars<'ch> = Read<'ch, EveryChar>;

/// A parallel iterator over characters and their places: see
/// [`ParallelString::par_char_indices`](super::ParallelString::par_char_indices).
///
/// ```
/// use furcate::prelude::*;
/// let it: furcate::str::CharIndices = "añb".par_char_indices();
/// assert_eq!(it.collect::<Vec<_>>(), [(0, 'a'), (1, 'ñ'), (3, 'b')]);
/// ```
pub type CharIndices<'ch> = Read<'ch, EveryCharIndex>;

/// A parallel iterator over bytes: see [`ParallelString::par_bytes`](super::ParallelString::par_bytes).
///
/// ```
/// use furcate::prelude::*;
/// let it: furcate::str::Bytes = "abc".par_bytes();
/// assert_eq!(it.collect::<Vec<_>>(), b"abc");
/// ```
pub type Bytes<'ch> = Read<'ch, EveryByte>;

/// A parallel iterator over units of UTF-16: see
/// [`ParallelString::par_encode_utf16`](super::ParallelString::par_encode_utf16).
///
/// ```
/// use furcate::prelude::*;
/// let it: furcate::str::EncodeUtf16 = "añb".par_encode_utf16();
/// assert_eq!(it.count(), 3);
/// ```
pub type EncodeUtf16<'ch> = Read<'ch, EveryUtf16>;

/// A parallel iterator over matches: see [`ParallelString::par_matches`](super::ParallelString::par_matches).
///
/// ```
/// use furcate::prelude::*;
/// let it: furcate::str::Matches<_> = "a1b22".par_matches(char::is_numeric);
/// assert_eq!(it.collect::<Vec<_>>(), ["1", "2", "2"]);
/// ```
pub type Matches<'ch, P> = Read<'ch, EveryMatch, P>;

/// A parallel iterator over matches and their places: see
/// [`ParallelString::par_match_indices`](super::ParallelString::par_match_indices).
///
/// ```
/// use furcate::prelude::*;
/// let it: furcate::str::MatchIndices<_> = "a1b22".par_match_indices(char::is_numeric);
/// assert_eq!(it.collect::<Vec<_>>(), [(1, "1"), (3, "2"), (4, "2")]);
/// ```
pub type MatchIndices<'ch, P> = Read<'ch, EveryMatchIndex, P>;
