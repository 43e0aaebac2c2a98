//! Sources that are not streams by themselves: anything that is polled for its next item, and the lines of a reader.

use futures_core::Stream;
use futures_io::AsyncRead;
use std::fmt;
use std::io;
use std::mem;
use std::pin::Pin;
use std::str;
use std::task::{Context, Poll, ready};

/// Makes a stream of a function, which returns `Ready(Some(item))` for the next item, and `Ready(None)` at the end.
///
/// Use `from_poll` for a receiver with a poll function that is no [`Stream`]: tokio's receivers, for example. No crate of wrappers
/// is needed.
///
/// ```
/// use furcate::prelude::*;
/// use furcate::stream::from_poll;
///
/// let (sender, mut receiver) = tokio::sync::mpsc::channel::<u64>(8);
/// std::thread::spawn(move || (0..100).for_each(|x| sender.blocking_send(x).unwrap()));
/// let jobs = from_poll(move |context| receiver.poll_recv(context));
/// assert_eq!(jobs.par_bridge_async().map(|x| x * x).sum::<u64>(), 328_350);
/// ```
///
/// # Panics
///
/// When the stream is polled, if the function panics.
pub fn from_poll<T, F>(poll: F) -> FromPoll<F>
where
    F: FnMut(&mut Context<'_>) -> Poll<Option<T>>,
{
    FromPoll { poll }
}

/// The stream of a function: see [`from_poll`].
///
/// ```
/// use furcate::stream::{FromPoll, from_poll};
/// use futures_lite::{StreamExt, future};
/// use std::task::Poll;
/// let mut numbers = 0..3;
/// let stream: FromPoll<_> = from_poll(move |_| Poll::Ready(numbers.next()));
/// assert_eq!(future::block_on(stream.collect::<Vec<_>>()), [0, 1, 2]);
/// ```
#[must_use = "streams do nothing unless they are polled"]
pub struct FromPoll<F> {
    poll: F,
}

// The function is not pinned.
impl<F> Unpin for FromPoll<F> {}

impl<F> fmt::Debug for FromPoll<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FromPoll").finish_non_exhaustive()
    }
}

impl<T, F: FnMut(&mut Context<'_>) -> Poll<Option<T>>> Stream for FromPoll<F> {
    type Item = T;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<T>> {
        (self.poll)(context)
    }
}

/// Returns a stream of the lines of a reader, without their ends (`\n` or `\r\n`), like [`std::io::BufRead::lines`]. The reader
/// implements `AsyncRead` of the futures crates: sockets of async-io and async-net, files of async-fs. For tokio's readers see
#[cfg_attr(feature = "tokio", doc = "[`tokio_lines`].")]
#[cfg_attr(not(feature = "tokio"), doc = "`tokio_lines` (feature `tokio`).")]
///
/// The reader is read in pieces of 8 KiB, and needs no buffer of its own. It is boxed.
///
/// ```
/// use furcate::prelude::*;
/// use furcate::stream::{lines, pipeline};
/// use std::io;
///
/// fn sum(text: &[u8]) -> io::Result<u32> {
///     let numbers = pipeline(lines(text)).and_then(|line| line.parse::<u32>().map_err(io::Error::other));
///     Ok(numbers.collect::<io::Result<Vec<_>>>()?.iter().sum())
/// }
/// assert_eq!(sum(b"1\n20\r\n300").unwrap(), 321);
/// assert!(sum(b"1\nx\n").is_err());
/// ```
///
/// # Errors
///
/// An item is an error if the reader fails, if a line is not UTF-8, or is [too long](Lines::max_len). The stream ends behind it.
pub fn lines<R: AsyncRead>(reader: R) -> Lines<R> {
    Lines::new(reader, AsyncRead::poll_read)
}

/// Returns a stream of the lines of a tokio reader: see [`lines`]. Its socket's runtime must be entered where the stream is polled: in a pool that is built
/// with [`ThreadPoolBuilder::tokio`](furcate_pool::ThreadPoolBuilder::tokio).
///
/// ```
/// use furcate::prelude::*;
/// use furcate::stream::tokio_lines;
/// let lines = tokio_lines(&b"a line\nand another one\n"[..]);
/// let longest = lines.par_bridge_async().map(|line| line.unwrap().len()).max();
/// assert_eq!(longest, Some(15));
/// ```
///
/// # Errors
///
/// As [`lines`].
#[cfg(feature = "tokio")]
pub fn tokio_lines<R: tokio::io::AsyncRead>(reader: R) -> Lines<R> {
    Lines::new(reader, |reader, context, into| {
        let mut into = tokio::io::ReadBuf::new(into);
        ready!(reader.poll_read(context, &mut into))?;
        Poll::Ready(Ok(into.filled().len()))
    })
}

/// The lines of a reader: see [`lines`].
///
/// ```
/// use furcate::stream::{Lines, lines};
/// use futures_lite::{StreamExt, future};
/// let mut stream: Lines<&[u8]> = lines(b"one\ntwo");
/// assert_eq!(future::block_on(stream.next()).unwrap().unwrap(), "one");
/// ```
#[must_use = "streams do nothing unless they are polled"]
pub struct Lines<R> {
    /// The reader; `None` at its end, or behind an error.
    reader: Option<Pin<Box<R>>>,
    read: Read<R>,
    /// Bytes that were read. Those before `begin` have been returned.
    bytes: Vec<u8>,
    begin: usize,
    /// Index up to which no line ends behind `begin`.
    searched: usize,
    max_len: usize,
}

/// Reads some bytes.
type Read<R> = fn(Pin<&mut R>, &mut Context<'_>, &mut [u8]) -> Poll<io::Result<usize>>;

/// Number of bytes that are read at once.
const PIECE: usize = 8 << 10;

impl<R> Lines<R> {
    fn new(reader: R, read: Read<R>) -> Self {
        Lines {
            reader: Some(Box::pin(reader)),
            read,
            bytes: Vec::new(),
            begin: 0,
            searched: 0,
            max_len: usize::MAX,
        }
    }

    /// Returns an error for a line of more than `bytes` bytes. Without a limit, a peer that never ends a line uses up
    /// all memory.
    ///
    /// ```
    /// use furcate::stream::lines;
    /// use futures_lite::{StreamExt, future};
    /// let mut stream = lines(&b"short\nmuch too long"[..]).max_len(8);
    /// assert_eq!(future::block_on(stream.next()).unwrap().unwrap(), "short");
    /// assert!(future::block_on(stream.next()).unwrap().is_err());
    /// assert!(future::block_on(stream.next()).is_none());
    /// ```
    pub fn max_len(self, bytes: usize) -> Self {
        Lines { max_len: bytes, ..self }
    }

    /// Returns the next line that was read completely.
    fn line(&mut self) -> Option<io::Result<String>> {
        let end = self.bytes[self.searched..].iter().position(|&byte| byte == b'\n');
        let Some(end) = end.map(|end| self.searched + end) else {
            self.searched = self.bytes.len();
            return None;
        };
        let line = &self.bytes[self.begin..end];
        let line = self.text(line.strip_suffix(b"\r").unwrap_or(line));
        self.begin = end + 1;
        self.searched = self.begin;
        Some(line)
    }

    fn text(&self, line: &[u8]) -> io::Result<String> {
        if line.len() > self.max_len {
            return Err(self.too_long());
        }
        let line = str::from_utf8(line).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))?;
        Ok(line.to_owned())
    }

    fn too_long(&self) -> io::Error {
        let message = format!("a line is longer than {} bytes", self.max_len);
        io::Error::new(io::ErrorKind::InvalidData, message)
    }

    /// Reads the next piece. Returns `false` at the end.
    fn poll_piece(&mut self, context: &mut Context<'_>) -> Poll<io::Result<bool>> {
        let Some(reader) = &mut self.reader else { return Poll::Ready(Ok(false)) };
        self.bytes.drain(..mem::take(&mut self.begin));
        let kept = self.bytes.len();
        self.searched = kept;
        self.bytes.resize(kept + PIECE, 0);
        let read = (self.read)(reader.as_mut(), context, &mut self.bytes[kept..]);
        let read_bytes = if let Poll::Ready(Ok(read)) = read { read } else { 0 };
        self.bytes.truncate(kept + read_bytes);
        match ready!(read) {
            // The read is repeated.
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Poll::Ready(Ok(true)),
            read => Poll::Ready(read.map(|read| read > 0)),
        }
    }
}

impl<R> fmt::Debug for Lines<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lines").field("max_len", &self.max_len).finish_non_exhaustive()
    }
}

impl<R> Stream for Lines<R> {
    type Item = io::Result<String>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let lines = &mut *self;
        let item = loop {
            if let Some(line) = lines.line() {
                break Some(line);
            }
            // Room for a `\r` that is not counted.
            if lines.bytes.len() - lines.begin > lines.max_len.saturating_add(1) {
                break Some(Err(lines.too_long()));
            }
            match ready!(lines.poll_piece(context)) {
                Ok(true) => {}
                Err(error) => break Some(Err(error)),
                Ok(false) => {
                    lines.reader = None;
                    let last = mem::take(&mut lines.bytes);
                    let begin = mem::take(&mut lines.begin);
                    lines.searched = 0;
                    break (begin < last.len()).then(|| lines.text(&last[begin..]));
                }
            }
        };
        if let Some(Err(_)) = &item {
            lines.reader = None;
            lines.bytes = Vec::new();
            (lines.begin, lines.searched) = (0, 0);
        }
        Poll::Ready(item)
    }
}

#[cfg(test)]
mod tests;
