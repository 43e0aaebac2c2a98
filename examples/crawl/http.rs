//! The part of HTTP/1.1 that server and clients need, without any input or output: heads, requests, and responses that
//! arrive piece by piece. So there is one parser for all clients, whatever their way of reading.

use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::ops::{Deref, Range};

/// The longest head that is accepted.
const LONGEST_HEAD: usize = 8 << 10;

/// Errors of a client.
#[derive(Debug)]
pub(crate) enum Error {
    /// There is no connection to the server.
    Unreachable(SocketAddr, io::Error),
    /// The connection broke.
    Broken(io::Error),
    /// The server hung up in the middle of a response.
    Short { received: usize, expected: Option<usize> },
    /// The server refused a request.
    Refused { status: String, expected: u16 },
    /// The answer is not HTTP.
    Malformed(&'static str),
    /// The fetched data make no sense.
    Damaged(String),
    /// The server process failed.
    Server(String),
    /// Something else that is needed failed.
    Setup(String),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Unreachable(address, error) => {
                write!(f, "the server at {address} cannot be reached: {error}")
            }
            Error::Broken(error) => write!(f, "the connection to the server broke: {error}"),
            Error::Short { received, expected: Some(expected) } => {
                write!(f, "the server hung up after {received} bytes of a response of {expected}")
            }
            Error::Short { received, expected: None } => {
                write!(f, "the server hung up after {received} bytes of a response's head")
            }
            Error::Refused { status, expected } => {
                write!(f, "the server answered `{status}`, where {expected} was expected")
            }
            Error::Malformed(what) => write!(f, "the server's answer is not understood: {what}"),
            Error::Damaged(what) => write!(f, "what the server sent is damaged: {what}"),
            Error::Server(what) => write!(f, "the server process {what}"),
            Error::Setup(what) => f.write_str(what),
        }
    }
}

impl std::error::Error for Error {}

/// The head of a request or response.
pub(crate) struct Head<'a> {
    /// The request line, or the status line.
    pub(crate) first: &'a str,
    fields: &'a str,
    /// Number of bytes, including the empty line behind the head.
    pub(crate) len: usize,
}

impl<'a> Head<'a> {
    /// Parses the head at the beginning of the bytes, if all of it is there.
    pub(crate) fn parse(bytes: &'a [u8]) -> Result<Option<Self>, Error> {
        let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") else {
            if bytes.len() > LONGEST_HEAD {
                return Err(Error::Malformed("its head is too long"));
            }
            return Ok(None);
        };
        let text = std::str::from_utf8(&bytes[..end]).map_err(|_| Error::Malformed("its head is no text"))?;
        let (first, fields) = text.split_once("\r\n").unwrap_or((text, ""));
        Ok(Some(Head { first, fields, len: end + 4 }))
    }

    /// Returns the value of a field.
    pub(crate) fn field(&self, name: &str) -> Option<&'a str> {
        let mut fields = self.fields.split("\r\n").filter_map(|field| field.split_once(':'));
        fields.find(|(found, _)| found.eq_ignore_ascii_case(name)).map(|(_, value)| value.trim())
    }
}

/// Parses a range: `bytes=0-99` are the first hundred bytes.
pub(crate) fn parse_range(field: &str) -> Option<Range<usize>> {
    let (first, last) = field.strip_prefix("bytes=")?.split_once('-')?;
    let (first, last): (usize, usize) = (first.parse().ok()?, last.parse().ok()?);
    (first <= last).then_some(first..last.checked_add(1)?)
}

/// A GET request.
pub(crate) struct Request {
    pub(crate) text: String,
    /// Length that is asked for, if it is a part.
    part: Option<usize>,
}

impl Request {
    pub(crate) fn whole(path: &str) -> Self {
        Request { text: format!("GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n"), part: None }
    }

    /// Makes a request for a range that is not empty.
    pub(crate) fn part(path: &str, range: &Range<usize>) -> Self {
        let Range { start, end } = range;
        let last = end - 1;
        let text = format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nRange: bytes={start}-{last}\r\n\r\n");
        Request { text, part: Some(range.len()) }
    }

    /// Returns the response to this request, of which nothing has arrived yet.
    pub(crate) fn response(&self) -> Response {
        Response { bytes: vec![0; 1024], filled: 0, body: None, part: self.part }
    }
}

/// A response that is being received.
pub(crate) struct Response {
    bytes: Vec<u8>,
    filled: usize,
    /// Place of the body, once the head is there.
    body: Option<Range<usize>>,
    part: Option<usize>,
}

impl Response {
    /// Returns the place for the next bytes.
    pub(crate) fn room(&mut self) -> &mut [u8] {
        if self.filled == self.bytes.len() {
            self.bytes.resize(2 * self.filled, 0); // only while the head is not complete
        }
        &mut self.bytes[self.filled..]
    }

    /// Notes that `n` bytes have arrived. Returns whether the response is complete.
    pub(crate) fn received(&mut self, n: usize) -> Result<bool, Error> {
        self.filled += n;
        if self.body.is_none()
            && let Some(head) = Head::parse(&self.bytes[..self.filled])?
        {
            let body = head.len..head.len + self.body_len(&head)?;
            if self.filled > body.end {
                return Err(Error::Malformed("there is something behind it"));
            }
            self.bytes.resize(body.end, 0);
            self.body = Some(body);
        }
        let expected = self.body.as_ref().map(|body| body.end);
        if n == 0 && expected != Some(self.filled) {
            return Err(Error::Short { received: self.filled, expected });
        }
        Ok(expected == Some(self.filled))
    }

    fn body_len(&self, head: &Head<'_>) -> Result<usize, Error> {
        let expected = if self.part.is_some() { 206 } else { 200 };
        let status = head.first.strip_prefix("HTTP/1.1 ").ok_or(Error::Malformed("it is not HTTP/1.1"))?;
        if !status.starts_with(&expected.to_string()) {
            return Err(Error::Refused { status: status.to_string(), expected });
        }
        let len = head.field("Content-Length").and_then(|len| len.parse().ok());
        let len = len.ok_or(Error::Malformed("it does not say how long it is"))?;
        if self.part.is_some_and(|part| part != len) {
            return Err(Error::Malformed("it is another part than was asked for"));
        }
        Ok(len)
    }

    /// Returns the server's page.
    ///
    /// # Panics
    ///
    /// If the response is not complete.
    pub(crate) fn into_page(self) -> Page {
        Page { body: self.body.expect("a response is there before its body is taken"), bytes: self.bytes }
    }
}

/// The body of a response.
pub(crate) struct Page {
    bytes: Vec<u8>,
    body: Range<usize>,
}

impl Deref for Page {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.bytes[self.body.clone()]
    }
}

#[cfg(test)]
mod tests {
    use super::{Error, Head, Page, Request, parse_range};

    /// Receives an answer in pieces of `n` bytes, until the server closes the connection.
    fn receive(request: &Request, answer: &[u8], n: usize) -> Result<Page, Error> {
        let mut response = request.response();
        let mut answer = answer.iter();
        loop {
            let mut received = 0;
            for (place, &byte) in response.room().iter_mut().zip(answer.by_ref().take(n)) {
                *place = byte;
                received += 1;
            }
            if response.received(received)? {
                return Ok(response.into_page());
            }
        }
    }

    #[test]
    fn answers_in_pieces() {
        let answer = b"HTTP/1.1 206 Partial Content\r\ncontent-length: 5\r\n\r\nhello";
        for n in 1..=answer.len() {
            let page = receive(&Request::part("/", &(10..15)), answer, n).unwrap();
            assert_eq!(&*page, b"hello");
        }
        let nothing = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
        assert!(receive(&Request::whole("/"), nothing, 7).unwrap().is_empty());
        let long = format!("HTTP/1.1 200 OK\r\nX: {}\r\nContent-Length: 2\r\n\r\nhi", "x".repeat(5000));
        assert_eq!(&*receive(&Request::whole("/"), long.as_bytes(), 999).unwrap(), b"hi");
    }

    #[test]
    fn bad_answers() {
        let error = |answer: &str| {
            receive(&Request::part("/", &(0..5)), answer.as_bytes(), 1000)
                .err()
                .expect("an error")
                .to_string()
        };
        let good = "HTTP/1.1 206 OK\r\nContent-Length: 5\r\n\r\n";
        assert!(error(&format!("{good}hell")).contains("after 42 bytes of a response of 43"));
        assert!(error(&format!("{good}hello, world")).contains("behind it"));
        assert!(error(&good[..20]).contains("after 20 bytes of a response's head"));
        assert!(error("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello").contains("`200 OK`, where 206"));
        assert!(error("HTTP/1.1 503 Busy\r\n\r\n").contains("`503 Busy`"));
        assert!(error("HTTP/1.1 206 OK\r\nContent-Length: 4\r\n\r\nhell").contains("another part"));
        assert!(error("HTTP/1.1 206 OK\r\n\r\nhello").contains("how long"));
        assert!(error("220 smtp.example.org\r\n\r\n").contains("not HTTP/1.1"));
        assert!(error(&"x".repeat(100_000)).contains("too long"));
    }

    #[test]
    fn heads_and_ranges() {
        let request = Request::part("/file", &(3..9));
        let head = Head::parse(request.text.as_bytes()).unwrap().unwrap();
        assert_eq!((head.first, head.len), ("GET /file HTTP/1.1", request.text.len()));
        assert_eq!(head.field("range").and_then(parse_range), Some(3..9));
        assert!(head.field("Content-Length").is_none());
        for bad in ["", "bytes=", "bytes=3", "bytes=5-4", "lines=1-2", "bytes=0-18446744073709551615"] {
            assert!(parse_range(bad).is_none(), "{bad}");
        }
    }
}
