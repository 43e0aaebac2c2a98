//! Strings: their characters, and their parts.

mod parallel_string;
mod pattern;
mod read;
mod split;

pub use parallel_string::ParallelString;
pub use pattern::Pattern;
pub use read::{Bytes, CharIndices, Chars, EncodeUtf16, MatchIndices, Matches};
pub use split::{Lines, Split, SplitAsciiWhitespace, SplitInclusive, SplitTerminator, SplitWhitespace};

pub(crate) use read::{EveryChar, ReadProducer};
