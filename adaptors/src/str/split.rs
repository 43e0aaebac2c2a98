//! Strings split at separators, lines and words.

use super::Pattern;
use crate::separated::{Between, Inclusive, Separator, Splits, Splitting};
use std::ops::Range;

/// Every item was ended by a separator, which is dropped; the last item may end without one.
#[derive(Clone, Copy, Debug)]
pub struct Terminated;

/// Lines, without their ends.
#[derive(Clone, Copy, Debug)]
pub struct EveryLine;

/// Words: the parts between white space.
#[derive(Clone, Copy, Debug)]
pub struct EveryWord;

/// White space, as Unicode defines it.
#[derive(Clone, Copy, Debug)]
pub struct Whitespace;

/// White space, as ASCII defines it.
#[derive(Clone, Copy, Debug)]
pub struct AsciiWhitespace;

/// Declares sets of characters that separate words.
macro_rules! separators {
    ($($Separator:ident = $is_separator:expr;)+) => {$(
        impl Separator<str> for $Separator {
            fn find(&self, text: &str, range: Range<usize>) -> Option<Range<usize>> {
                $is_separator.find(text, range)
            }

            fn rfind(&self, text: &str, range: Range<usize>) -> Option<Range<usize>> {
                $is_separator.rfind(text, range)
            }
        }
    )+};
}

separators! {
    Whitespace = char::is_whitespace;
    AsciiWhitespace = (|c: char| c.is_ascii_whitespace());
}

/// Declares kinds of splitting: whether the separator stays with the part that it ends (even if it is not in the item),
/// and std's iterators.
macro_rules! kinds_of_splitting {
    ($($Kind:ident$(<$P:ident: $Bound:ident>)?, $keeps:literal, $Separator:ty:
        |$text:ident, $separator:ident| $leaf:expr => $Leaf:ty;)+) => {$(
        impl<'ch, $($P: $Bound)?> Splitting<&'ch str, $Separator> for $Kind {
            const KEEPS_SEPARATORS: bool = $keeps;

            type Leaf<'a> = $Leaf where $Separator: 'a;

            #[inline]
            fn leaf<'a>(self, $text: &'ch str, _unsearched: usize, $separator: &'a $Separator) -> Self::Leaf<'a> {
                $leaf
            }
        }
    )+};
}

kinds_of_splitting! {
    Between<P: Pattern>, false, P: |text, separator| separator.split(text) => P::Split<'ch, 'a>;
    Inclusive<P: Pattern>, true, P: |text, separator| separator.split_inclusive(text) => P::SplitInclusive<'ch, 'a>;
    Terminated<P: Pattern>, true, P: |text, separator| separator.split_terminator(text)
        => P::SplitTerminator<'ch, 'a>;
    EveryLine, true, char: |text, _newline| text.lines() => std::str::Lines<'ch>;
    EveryWord, true, Whitespace: |text, _space| Words(text) => Words<'ch>;
    EveryWord, true, AsciiWhitespace: |text, _space| text.split_ascii_whitespace()
        => std::str::SplitAsciiWhitespace<'ch>;
}

/// The words of a text, as `str::split_whitespace` yields them. That does not override `fold`, so what counts words would be two
/// nested loops (1.26 times as long, where the compiler kept the count in memory).
#[derive(Debug)]
pub struct Words<'ch>(&'ch str);

impl<'ch> Iterator for Words<'ch> {
    type Item = &'ch str;

    #[inline]
    fn next(&mut self) -> Option<&'ch str> {
        let text = self.0.trim_start();
        let (word, rest) = text.split_at(text.find(char::is_whitespace).unwrap_or(text.len()));
        self.0 = rest;
        (!word.is_empty()).then_some(word)
    }

    #[inline]
    fn fold<A, F: FnMut(A, &'ch str) -> A>(self, init: A, f: F) -> A {
        self.0.split(char::is_whitespace).filter(|word| !word.is_empty()).fold(init, f)
    }
}

/// A parallel iterator over the parts between separators: see
/// [`ParallelString::par_split`](super::ParallelString::par_split).
///
/// ```
/// use furcate::prelude::*;
/// let it: furcate::str::Split<_> = "a,b,".par_split(',');
/// assert_eq!(it.collect::<Vec<_>>(), ["a", "b", ""]);
/// ```
pub type Split<'ch, P> = Splits<&'ch str, Between, P>;

/// A parallel iterator over parts that end with a separator: see
/// [`ParallelString::par_split_inclusive`](super::ParallelString::par_split_inclusive).
///
/// ```
/// use furcate::prelude::*;
/// let it: furcate::str::SplitInclusive<_> = "a,b".par_split_inclusive(',');
/// assert_eq!(it.collect::<Vec<_>>(), ["a,", "b"]);
/// ```
pub type SplitInclusive<'ch, P> = Splits<&'ch str, Inclusive, P>;

/// A parallel iterator over the parts that terminators end: see
/// [`ParallelString::par_split_terminator`](super::ParallelString::par_split_terminator).
///
/// ```
/// use furcate::prelude::*;
/// let it: furcate::str::SplitTerminator<_> = "a;b;".par_split_terminator(';');
/// assert_eq!(it.collect::<Vec<_>>(), ["a", "b"]);
/// ```
pub type SplitTerminator<'ch, P> = Splits<&'ch str, Terminated, P>;

/// A parallel iterator over lines: see [`ParallelString::par_lines`](super::ParallelString::par_lines).
///
/// ```
/// use furcate::prelude::*;
/// let it: furcate::str::Lines = "one\ntwo\r\n".par_lines();
/// assert_eq!(it.collect::<Vec<_>>(), ["one", "two"]);
/// ```
pub type Lines<'ch> = Splits<&'ch str, EveryLine, char>;

/// A parallel iterator over words: see
/// [`ParallelString::par_split_whitespace`](super::ParallelString::par_split_whitespace).
///
/// ```
/// use furcate::prelude::*;
/// let it: furcate::str::SplitWhitespace = " one  two ".par_split_whitespace();
/// assert_eq!(it.collect::<Vec<_>>(), ["one", "two"]);
/// ```
pub type SplitWhitespace<'ch> = Splits<&'ch str, EveryWord, Whitespace>;

/// A parallel iterator over words between ASCII white space: see
/// [`ParallelString::par_split_ascii_whitespace`](super::ParallelString::par_split_ascii_whitespace).
///
/// ```
/// use furcate::prelude::*;
/// let it: furcate::str::SplitAsciiWhitespace = " one  two ".par_split_ascii_whitespace();
/// assert_eq!(it.collect::<Vec<_>>(), ["one", "two"]);
/// ```
pub type SplitAsciiWhitespace<'ch> = Splits<&'ch str, EveryWord, AsciiWhitespace>;
