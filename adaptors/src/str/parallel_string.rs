//! Parallel iterators over strings and their parts.

use super::read::{EveryByte, EveryChar, EveryCharIndex, EveryMatch, EveryMatchIndex, EveryUtf16};
use super::split::{AsciiWhitespace, EveryLine, EveryWord, Terminated, Whitespace};
use super::{
    Bytes, CharIndices, Chars, EncodeUtf16, Lines, MatchIndices, Matches, Pattern, Split,
    SplitAsciiWhitespace, SplitInclusive, SplitTerminator, SplitWhitespace,
};
use crate::separated::{Between, Inclusive};

/// Parallel iterators over strings.
///
/// The methods are rayon's, and yield the same items as `str`'s methods of the same names. Strings are cut between
/// characters. If they are split, they are cut at separators, which have to be searched for: the search looks at every
/// character at most once more, in any order.
pub trait ParallelString {
    /// Returns the string, which all other methods use.
    fn as_parallel_string(&self) -> &str;

    /// Yields the characters.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// let loud: String = "añb".par_chars().map(|c| c.to_ascii_uppercase()).collect::<Vec<_>>().iter().collect();
    /// assert_eq!(loud, "AñB");
    /// ```
    fn par_chars(&self) -> Chars<'_> {
        Chars::new(self.as_parallel_string(), EveryChar, ())
    }

    /// Yields the characters, each with the place of its first byte.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// let placed: Vec<_> = "añb".par_char_indices().collect();
    /// assert_eq!(placed, [(0, 'a'), (1, 'ñ'), (3, 'b')]);
    /// ```
    fn par_char_indices(&self) -> CharIndices<'_> {
        CharIndices::new(self.as_parallel_string(), EveryCharIndex, ())
    }

    /// Yields the bytes.
    ///
    /// The bytes of one character are never in different tasks. For an indexed iterator, which may cut anywhere, use
    /// `text.as_bytes().par_iter()`.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// assert_eq!("añ".par_bytes().collect::<Vec<_>>(), [0x61, 0xc3, 0xb1]);
    /// ```
    fn par_bytes(&self) -> Bytes<'_> {
        Bytes::new(self.as_parallel_string(), EveryByte, ())
    }

    /// Yields the string in UTF-16. The two surrogates of one character are never in different tasks.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// assert_eq!("a\u{10FFFF}".par_encode_utf16().collect::<Vec<_>>(), [0x61, 0xdbff, 0xdfff]);
    /// ```
    fn par_encode_utf16(&self) -> EncodeUtf16<'_> {
        EncodeUtf16::new(self.as_parallel_string(), EveryUtf16, ())
    }

    /// Yields the parts between separators, also empty parts.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// assert_eq!("a,b,,c".par_split(',').collect::<Vec<_>>(), ["a", "b", "", "c"]);
    /// assert_eq!("a-b c".par_split(['-', ' ']).collect::<Vec<_>>(), ["a", "b", "c"]);
    /// assert_eq!("".par_split(char::is_numeric).collect::<Vec<_>>(), [""]);
    /// ```
    fn par_split<P: Pattern>(&self, separator: P) -> Split<'_, P> {
        Split::new(self.as_parallel_string(), Between, separator)
    }

    /// Yields the parts that end with a separator, each with its separator. (The last part may end without one.)
    ///
    /// ```
    /// use furcate::prelude::*;
    /// assert_eq!("a,b,,c".par_split_inclusive(',').collect::<Vec<_>>(), ["a,", "b,", ",", "c"]);
    /// ```
    fn par_split_inclusive<P: Pattern>(&self, separator: P) -> SplitInclusive<'_, P> {
        SplitInclusive::new(self.as_parallel_string(), Inclusive, separator)
    }

    /// Yields the parts that terminators end, as [`par_split`](Self::par_split) does, but without the last item if it
    /// is empty.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// assert_eq!("a;b;;".par_split_terminator(';').collect::<Vec<_>>(), ["a", "b", ""]);
    /// ```
    fn par_split_terminator<P: Pattern>(&self, terminator: P) -> SplitTerminator<'_, P> {
        SplitTerminator::new(self.as_parallel_string(), Terminated, terminator)
    }

    /// Yields the lines, without their ends (`\n` or `\r\n`).
    ///
    /// ```
    /// use furcate::prelude::*;
    /// assert_eq!("one\r\n\ntwo\n".par_lines().collect::<Vec<_>>(), ["one", "", "two"]);
    /// ```
    fn par_lines(&self) -> Lines<'_> {
        Lines::new(self.as_parallel_string(), EveryLine, '\n')
    }

    /// Yields the words between white space, as Unicode defines it.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// assert_eq!(" to\u{2003}be  or\n".par_split_whitespace().collect::<Vec<_>>(), ["to", "be", "or"]);
    /// ```
    fn par_split_whitespace(&self) -> SplitWhitespace<'_> {
        SplitWhitespace::new(self.as_parallel_string(), EveryWord, Whitespace)
    }

    /// Yields the words between white space, as ASCII defines it.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// assert_eq!(" to\tbe  or\n".par_split_ascii_whitespace().collect::<Vec<_>>(), ["to", "be", "or"]);
    /// ```
    fn par_split_ascii_whitespace(&self) -> SplitAsciiWhitespace<'_> {
        SplitAsciiWhitespace::new(self.as_parallel_string(), EveryWord, AsciiWhitespace)
    }

    /// Yields the matches of a pattern.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// assert_eq!("1, 2 and 3".par_matches(char::is_numeric).collect::<Vec<_>>(), ["1", "2", "3"]);
    /// ```
    fn par_matches<P: Pattern>(&self, pattern: P) -> Matches<'_, P> {
        Matches::new(self.as_parallel_string(), EveryMatch, pattern)
    }

    /// Yields the matches of a pattern, each with the place of its first byte.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// assert_eq!("1, 2".par_match_indices(char::is_numeric).collect::<Vec<_>>(), [(0, "1"), (3, "2")]);
    /// ```
    fn par_match_indices<P: Pattern>(&self, pattern: P) -> MatchIndices<'_, P> {
        MatchIndices::new(self.as_parallel_string(), EveryMatchIndex, pattern)
    }
}

impl ParallelString for str {
    #[inline]
    fn as_parallel_string(&self) -> &str {
        self
    }
}
