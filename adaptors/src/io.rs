//! The lines of a reader, in parallel.
//!
//! One worker at a time reads a *block* of bytes that ends at a line break, and the workers look for the lines in their own blocks. So finding lines, checking
//! that they are UTF-8, and copying them is divided, too. The blocks are the items of a [`par_bridge`](crate::iter::ParallelBridge::par_bridge).
//!
//! A block has 64 KiB. It is shorter if the reader gives less at a time than before: then no more has come yet (on a terminal or a socket), and the lines that
//! have come are not held back.

use crate::iter::stage::{Adapted, PerItem, Stage};
use crate::iter::{BridgePart, IterBridge, ParallelBridge, ParallelIterator, inherit_schedule};
use std::fmt;
use std::io::{self, BufRead};
use std::iter::Flatten;
use std::str;

/// Greatest number of bytes in a block, unless a line is longer.
const BLOCK: usize = 64 << 10;

/// A reader that gives fewer bytes than this has no more.
const FEW: usize = 4 << 10;

/// The lines of readers in parallel. Implemented for every [`BufRead`] that is `Send`: files in a `BufReader`, locked standard input, bytes in memory.
///
/// ```
/// use furcate::prelude::*;
/// use std::io::{self, BufRead};
///
/// fn total(reader: impl BufRead + Send) -> io::Result<u64> {
///     let numbers = reader.par_lines().map(|line| line?.trim().parse::<u64>().map_err(io::Error::other));
///     numbers.sum()
/// }
/// assert_eq!(total(&b"1\n20\r\n300"[..]).unwrap(), 321);
/// ```
pub trait ParallelBufRead: BufRead + Send + Sized {
    /// Makes a parallel iterator over the lines, without their ends (`\n` or `\r\n`), as [`BufRead::lines`] does.
    ///
    /// Memory is bounded: a worker has one block of some 64 KiB, or of one line if that is longer. (See [`max_len`](ReadLines::max_len).)
    ///
    /// The order of the lines is kept if [`ordered`](ReadLines::ordered) says so. The schedule is that of
    /// [`par_bridge`](crate::iter::ParallelBridge::par_bridge). A call that ends early has read a few blocks in vain.
    ///
    /// # Errors
    ///
    /// An item is an error if the line is not UTF-8. If the reader fails, its error is the last item, and comes once. An interrupted read is repeated.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// use std::{fs::File, io::BufReader};
    ///
    /// let source = concat!(env!("CARGO_MANIFEST_DIR"), "/src/lib.rs");
    /// let lines = BufReader::new(File::open(source)?).par_lines();
    /// let words: usize = lines.map(|line| line.unwrap().split_whitespace().count()).sum();
    /// assert!(words > 100);
    /// # std::io::Result::Ok(())
    /// ```
    fn par_lines(self) -> ReadLines<Self> {
        let blocks = Blocks { reader: Some(self), begun: Vec::new(), widest: FEW, max_len: usize::MAX };
        ReadLines { base: blocks.par_bridge() }
    }
}

impl<R: BufRead + Send> ParallelBufRead for R {}

/// The lines of a reader: see [`ParallelBufRead::par_lines`].
///
/// ```
/// use furcate::prelude::*;
/// let lines: furcate::io::ReadLines<&[u8]> = b"one\ntwo\n".par_lines();
/// assert_eq!(lines.count(), 2);
/// ```
#[must_use = "iterators do nothing until a terminal drives them"]
pub struct ReadLines<R, const ORDERED: bool = false> {
    base: IterBridge<Blocks<R>, ORDERED>,
}

impl<R> ReadLines<R> {
    /// Keeps the order of the lines: `collect` gives them in order, and `find_first` finds the first hit.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// let lines = b"one\ntwo\nthree".par_lines().ordered();
    /// assert_eq!(lines.map(Result::unwrap).find_first(|line| line.starts_with('t')).as_deref(), Some("two"));
    /// ```
    pub fn ordered(self) -> ReadLines<R, true> {
        ReadLines { base: self.base.ordered().max_chunk(1) }
    }
}

impl<R, const ORDERED: bool> ReadLines<R, ORDERED> {
    /// Gives an error for a line of more than `bytes` bytes. If the line does not end, nothing more is read. Without a limit, a line that never ends
    /// uses up all memory.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// let lines = b"short\nmuch too long".par_lines().max_len(8);
    /// assert!(lines.collect::<std::io::Result<Vec<_>>>().is_err());
    /// ```
    pub fn max_len(mut self, bytes: usize) -> Self {
        if let Some(blocks) = self.base.iter_mut() {
            blocks.max_len = bytes;
        }
        self
    }
}

impl<R, const ORDERED: bool> fmt::Debug for ReadLines<R, ORDERED> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReadLines").finish_non_exhaustive()
    }
}

impl<R: BufRead + Send, const ORDERED: bool> ParallelIterator for ReadLines<R, ORDERED> {
    type Item = io::Result<String>;
    type Producer<'a>
        = Adapted<BridgePart<'a, Blocks<R>, ORDERED>, PerItem<LinesOp>>
    where
        Self: 'a;

    inherit_schedule!(base: IterBridge<Blocks<R>, ORDERED>);

    fn producer(&mut self) -> Self::Producer<'_> {
        Adapted::new(self.base.producer(), PerItem(LinesOp))
    }
}

/// Gives the lines of blocks.
#[derive(Clone, Copy, Debug)]
pub struct LinesOp;

impl Stage<Block> for LinesOp {
    type Item = io::Result<String>;
    type Iter<I: Iterator<Item = Block>> = Flatten<I>;

    fn apply<I: Iterator<Item = Block>>(self, blocks: I) -> Flatten<I> {
        blocks.flatten()
    }
}

/// The blocks of a reader.
#[allow(missing_debug_implementations, reason = "it cannot be named outside this crate")]
pub struct Blocks<R> {
    /// `None` at the reader's end, or behind an error.
    reader: Option<R>,
    /// The line that has begun and not ended.
    begun: Vec<u8>,
    /// The most bytes that the reader has given at once.
    widest: usize,
    max_len: usize,
}

/// Lines that were read, all of them to the end, and the error behind them.
#[allow(missing_debug_implementations, reason = "it cannot be named outside this crate")]
pub struct Block {
    text: Vec<u8>,
    error: Option<io::Error>,
    max_len: usize,
}

impl<R: BufRead> Iterator for Blocks<R> {
    type Item = Block;

    fn next(&mut self) -> Option<Block> {
        let mut reader = self.reader.take()?;
        let mut text = std::mem::take(&mut self.begun);
        // The end of the last complete line.
        let mut complete = 0;
        let error = loop {
            let (read, given) = match reader.fill_buf() {
                Ok([]) => break None,
                Ok(bytes) => {
                    let read = bytes.len().min(BLOCK);
                    text.extend_from_slice(&bytes[..read]);
                    (read, bytes.len())
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => break Some(error),
            };
            reader.consume(read);
            let before = text.len() - read;
            if let Some(end) = text[before..].iter().rposition(|&byte| byte == b'\n') {
                complete = before + end + 1;
            }
            let is_drained = given < self.widest;
            self.widest = self.widest.max(given);
            if complete > 0 && (is_drained || text.len() >= BLOCK) {
                self.begun = text.split_off(complete);
                self.reader = Some(reader);
                return Some(Block { text, error: None, max_len: self.max_len });
            }
            // Room for a line end, which is not counted.
            if text.len() - complete > self.max_len.saturating_add(2) {
                break Some(too_long(self.max_len));
            }
        };
        // The end: a line without a break is a line, unless an error has cut it off.
        if error.is_some() {
            text.truncate(complete);
        }
        let is_over = text.is_empty() && error.is_none();
        (!is_over).then_some(Block { text, error, max_len: self.max_len })
    }
}

fn too_long(max_len: usize) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("a line is longer than {max_len} bytes"))
}

impl IntoIterator for Block {
    type Item = io::Result<String>;
    type IntoIter = BlockLines;

    fn into_iter(self) -> BlockLines {
        let Block { text, error, max_len } = self;
        let text = String::from_utf8(text).map_err(|error| error.into_bytes());
        BlockLines { text, at: 0, error, max_len }
    }
}

/// The lines of a block, and then its error.
#[allow(missing_debug_implementations, reason = "it cannot be named outside this crate")]
pub struct BlockLines {
    /// The text; its bytes if they are not all UTF-8.
    text: Result<String, Vec<u8>>,
    /// Where the next line begins.
    at: usize,
    error: Option<io::Error>,
    max_len: usize,
}

impl BlockLines {
    /// The next line, with its end.
    fn line(&mut self) -> Option<io::Result<&str>> {
        let begin = self.at;
        match &self.text {
            Ok(text) => {
                let rest = &text[begin..];
                let line = &rest[..rest.find('\n').map_or(rest.len(), |end| end + 1)];
                self.at += line.len();
                (!line.is_empty()).then_some(Ok(line))
            }
            Err(bytes) => {
                let rest = &bytes[begin..];
                let line = rest.split_inclusive(|&byte| byte == b'\n').next()?;
                self.at += line.len();
                Some(str::from_utf8(line).map_err(|_| {
                    io::Error::new(io::ErrorKind::InvalidData, "stream did not contain valid UTF-8")
                }))
            }
        }
    }
}

impl Iterator for BlockLines {
    type Item = io::Result<String>;

    fn next(&mut self) -> Option<io::Result<String>> {
        let max_len = self.max_len;
        let line = match self.line() {
            None => return self.error.take().map(Err),
            Some(line) => line.map(|line| match line.strip_suffix('\n') {
                Some(line) => line.strip_suffix('\r').unwrap_or(line),
                None => line,
            }),
        };
        Some(
            line.and_then(
                |line| if line.len() > max_len { Err(too_long(max_len)) } else { Ok(line.to_owned()) },
            ),
        )
    }
}
