//! Patterns that are searched for in a string.

use crate::separated::Separator;
use furcate_schedulers::Divisible;
use std::ops::Range;
use std::str::{MatchIndices, Matches, Split, SplitInclusive, SplitTerminator};

/// A pattern at which strings are split, or for which they are searched: a character (`char`), any of several
/// characters (`&[char]`, `[char; N]`, `&[char; N]`), or a predicate (`Fn(char) -> bool`).
///
/// As in rayon, strings are not patterns. Sealed: the methods return std's iterators, whose own `Pattern` trait is not
/// stable.
///
/// ```
/// use furcate::prelude::*;
/// fn parts<P: furcate::str::Pattern>(text: &str, separator: P) -> usize {
///     text.par_split(separator).count()
/// }
/// assert_eq!(parts("a,b;c", ','), 2);
/// assert_eq!(parts("a,b;c", [',', ';']), 3);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a pattern for a parallel search",
    note = "patterns are `char`, `&[char]`, `[char; N]`, `&[char; N]` and `Fn(char) -> bool + Sync + Send`"
)]
pub trait Pattern: sealed::PatternLeaves {}

mod sealed {
    /// std's iterators for a pattern.
    pub trait PatternLeaves: Sized + Sync + Send {
        type Split<'t, 'p>: Iterator<Item = &'t str>
        where
            Self: 'p;
        type SplitInclusive<'t, 'p>: Iterator<Item = &'t str>
        where
            Self: 'p;
        type SplitTerminator<'t, 'p>: Iterator<Item = &'t str>
        where
            Self: 'p;
        type Matches<'t, 'p>: Iterator<Item = &'t str>
        where
            Self: 'p;
        type MatchIndices<'t, 'p>: DoubleEndedIterator<Item = (usize, &'t str)>
        where
            Self: 'p;

        fn split<'t>(&self, text: &'t str) -> Self::Split<'t, '_>;
        fn split_inclusive<'t>(&self, text: &'t str) -> Self::SplitInclusive<'t, '_>;
        fn split_terminator<'t>(&self, text: &'t str) -> Self::SplitTerminator<'t, '_>;
        fn matches<'t>(&self, text: &'t str) -> Self::Matches<'t, '_>;
        fn match_indices<'t>(&self, text: &'t str) -> Self::MatchIndices<'t, '_>;
    }
}

/// Declares patterns, and the form in which std takes each: `|pattern| std's pattern: its type`.
macro_rules! patterns {
    ($([$($generics:tt)*] $Pattern:ty, |$pattern:ident| $std:expr => $Std:ty;)+) => {$(
        impl<$($generics)*> Pattern for $Pattern {}

        impl<$($generics)*> sealed::PatternLeaves for $Pattern {
            patterns!(@leaf Split, split, |$pattern| $std => $Std);
            patterns!(@leaf SplitInclusive, split_inclusive, |$pattern| $std => $Std);
            patterns!(@leaf SplitTerminator, split_terminator, |$pattern| $std => $Std);
            patterns!(@leaf Matches, matches, |$pattern| $std => $Std);
            patterns!(@leaf MatchIndices, match_indices, |$pattern| $std => $Std);
        }
    )+};
    (@leaf $Leaf:ident, $leaf:ident, |$pattern:ident| $std:expr => $Std:ty) => {
        type $Leaf<'t, 'p> = $Leaf<'t, $Std> where Self: 'p;

        #[inline]
        fn $leaf<'t>(&self, text: &'t str) -> Self::$Leaf<'t, '_> {
            let $pattern = self;
            text.$leaf($std)
        }
    };
}

patterns! {
    [] char, |pattern| *pattern => char;
    ['c] &'c [char], |pattern| *pattern => &'c [char];
    [const N: usize] [char; N], |pattern| *pattern => [char; N];
    ['c, const N: usize] &'c [char; N], |pattern| *pattern => &'c [char; N];
    [F: Fn(char) -> bool + Sync + Send] F, |pattern| pattern => &'p F;
}

/// Returns the first character boundary at or after an index.
fn boundary(text: &str, index: usize) -> usize {
    text.divide_at(index).0.len()
}

/// Returns the matches in a part of a text, with their places in the text.
fn matches_in<P: Pattern>(
    pattern: &P,
    text: &str,
    range: Range<usize>,
) -> impl DoubleEndedIterator<Item = Range<usize>> {
    let (start, end) = (boundary(text, range.start), boundary(text, range.end));
    let matches = pattern.match_indices(&text[start..end]);
    matches.map(move |(at, found)| start + at..start + at + found.len())
}

impl<P: Pattern> Separator<str> for P {
    fn find(&self, text: &str, range: Range<usize>) -> Option<Range<usize>> {
        matches_in(self, text, range).next()
    }

    fn rfind(&self, text: &str, range: Range<usize>) -> Option<Range<usize>> {
        matches_in(self, text, range).next_back()
    }
}
