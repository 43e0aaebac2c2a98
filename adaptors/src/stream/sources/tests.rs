use super::*;
use futures_lite::future::{block_on, yield_now};
use futures_lite::{StreamExt, pin};
use std::io::{BufRead, ErrorKind};

/// Yields its bytes in pieces of some size, each after a poll that is pending. Then it fails, if `failure` is set.
struct Pieces {
    bytes: Vec<u8>,
    piece: usize,
    pending: bool,
    failure: Option<ErrorKind>,
}

impl AsyncRead for Pieces {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        into: &mut [u8],
    ) -> Poll<io::Result<usize>> {
        self.pending = !self.pending;
        if self.pending {
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        if self.bytes.is_empty() {
            return Poll::Ready(self.failure.take().map_or(Ok(0), |failure| Err(failure.into())));
        }
        let read = self.piece.min(into.len()).min(self.bytes.len());
        into[..read].copy_from_slice(&self.bytes[..read]);
        self.bytes.drain(..read);
        Poll::Ready(Ok(read))
    }
}

fn pieces(text: &[u8], piece: usize, failure: Option<ErrorKind>) -> Pieces {
    Pieces { bytes: text.to_vec(), piece, pending: false, failure }
}

/// The lines are the same as std's, whatever the pieces.
#[test]
fn the_lines_are_those_of_the_standard_library() {
    let long = format!("{}\n{}", "a".repeat(3 * PIECE), "b".repeat(PIECE));
    let texts =
        ["", "\n", "\n\n", "a", "a\n", "a\r\nb", "\r\n\r", "a\rb\n", "äöü\nß", "one\n\ntwo\r\n", &long];
    for text in texts {
        let expected: Vec<String> = text.as_bytes().lines().map(Result::unwrap).collect();
        for piece in [1, 2, 3, PIECE, usize::MAX] {
            let stream = lines(pieces(text.as_bytes(), piece, None));
            let given = block_on(stream.try_collect::<String, io::Error, Vec<_>>()).unwrap();
            assert_eq!(given, expected, "{:?} by {piece}", &text[..text.len().min(20)]);
        }
    }
}

#[test]
fn the_stream_ends_behind_an_error() {
    let cases: [(&[u8], Option<ErrorKind>, usize, ErrorKind); 4] = [
        (b"one\ntwo", Some(ErrorKind::ConnectionReset), 100, ErrorKind::ConnectionReset),
        (b"one\n\xff\nthree\n", None, 100, ErrorKind::InvalidData),
        (b"one\nthree\nfour\n", None, 4, ErrorKind::InvalidData),
        (b"one\nendless", None, 4, ErrorKind::InvalidData),
    ];
    for (text, failure, max_len, expected) in cases {
        for piece in [1, 3, 100] {
            let stream = lines(pieces(text, piece, failure)).max_len(max_len);
            pin!(stream);
            assert_eq!(block_on(stream.next()).unwrap().unwrap(), "one");
            assert_eq!(block_on(stream.next()).unwrap().unwrap_err().kind(), expected);
            assert!(block_on(stream.next()).is_none() && block_on(stream.next()).is_none());
        }
    }
}

/// An interrupted read is repeated. The longest allowed line is returned, whatever ends it.
#[test]
fn what_is_no_error() {
    let stream = lines(pieces(b"1234\r\n123\n1234", 5, Some(ErrorKind::Interrupted))).max_len(4);
    let given = block_on(stream.try_collect::<String, io::Error, Vec<_>>()).unwrap();
    assert_eq!(given, ["1234", "123", "1234"]);
}

#[test]
fn a_function_is_a_stream() {
    let mut future = Box::pin(yield_now());
    let mut left = 3;
    let stream = from_poll(move |context| {
        ready!(future.as_mut().poll(context));
        future.set(yield_now());
        left -= 1;
        Poll::Ready((left >= 0).then_some(left))
    });
    assert_eq!(block_on(stream.collect::<Vec<_>>()), [2, 1, 0]);
}
