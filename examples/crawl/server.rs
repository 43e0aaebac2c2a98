//! The server: a process of its own, so that its time is not counted as its clients' time.
//!
//! It waits before every answer, as if it were far away (tokio's timers may add a millisecond). All answers are in
//! memory. One thread does everything. The server ends with the process that started it: that process keeps the other
//! end of its standard input.

use super::data::Stored;
use super::http::{Head, parse_range};
use std::fmt::Write as _;
use std::io::{self, Read, Write as _};
use std::net::Ipv4Addr;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};

/// Serves until standard input ends. The port is written to standard output.
pub(crate) fn serve(blocks: usize, delay: Duration) -> io::Result<()> {
    std::thread::spawn(|| {
        // Standard input has ended or is broken, so no client is left.
        let _ = io::stdin().read_to_end(&mut Vec::new());
        std::process::exit(0);
    });
    let content = Arc::new(Content::new(blocks, delay));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let socket = TcpSocket::new_v4()?;
        socket.bind((Ipv4Addr::LOCALHOST, 0).into())?;
        // Clients may come all at the same time. One that finds the queue full tries again a second later.
        let listener = socket.listen(1024)?;
        writeln!(io::stdout(), "{}", listener.local_addr()?.port())?;
        loop {
            let (stream, _) = listener.accept().await?;
            let content = Arc::clone(&content);
            tokio::spawn(async move {
                // A client that leaves, or does not speak HTTP, is no reason to stop.
                let _ = content.converse(stream).await;
            });
        }
    })
}

/// The server's answers.
struct Content {
    delay: Duration,
    file: Vec<u8>,
    /// Beginning and end of every block.
    index: String,
}

impl Content {
    fn new(blocks: usize, delay: Duration) -> Self {
        let stored = Stored::new(blocks);
        let mut index = String::new();
        for range in stored.index {
            writeln!(index, "{} {}", range.start, range.end).expect("strings take everything");
        }
        Content { delay, file: stored.bytes, index }
    }

    /// Answers the requests of a connection, until the client closes it.
    async fn converse(&self, mut stream: TcpStream) -> io::Result<()> {
        stream.set_nodelay(true)?;
        let (mut received, mut answer) = (Vec::new(), Vec::new());
        while stream.read_buf(&mut received).await? > 0 {
            let asked = match Head::parse(&received) {
                Ok(None) => continue,
                Ok(Some(head)) => {
                    answer.clear();
                    self.answer(&head, &mut answer);
                    head.len
                }
                Err(_) => {
                    return stream.write_all(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n").await;
                }
            };
            received.drain(..asked);
            tokio::time::sleep(self.delay).await;
            stream.write_all(&answer).await?;
        }
        Ok(())
    }

    fn answer(&self, request: &Head<'_>, answer: &mut Vec<u8>) {
        let (status, body): (&str, &[u8]) = match (request.first, request.field("Range")) {
            ("GET /index HTTP/1.1", _) => ("200 OK", self.index.as_bytes()),
            ("GET /file HTTP/1.1", None) => ("200 OK", &self.file),
            ("GET /file HTTP/1.1", Some(range)) => {
                match parse_range(range).and_then(|range| self.file.get(range)) {
                    Some(part) => ("206 Partial Content", part),
                    None => ("416 Range Not Satisfiable", b""),
                }
            }
            _ => ("404 Not Found", b""),
        };
        answer.extend_from_slice(b"HTTP/1.1 ");
        answer.extend_from_slice(status.as_bytes());
        if let ("206 Partial Content", Some(range)) = (status, request.field("Range").and_then(parse_range)) {
            let (first, last) = (range.start, range.end - 1);
            let field = format!("\r\nContent-Range: bytes {first}-{last}/{}", self.file.len());
            answer.extend_from_slice(field.as_bytes());
        }
        answer.extend_from_slice(format!("\r\nContent-Length: {}\r\n\r\n", body.len()).as_bytes());
        answer.extend_from_slice(body);
    }
}

#[cfg(test)]
mod tests {
    use super::{Content, Duration, Head};

    #[test]
    fn answers() {
        let content = Content { delay: Duration::ZERO, file: b"0123456789".into(), index: "0 10\n".into() };
        let ask = |request: &str| {
            let (request, mut answer) = (format!("{request}\r\n\r\n"), Vec::new());
            content.answer(&Head::parse(request.as_bytes()).unwrap().unwrap(), &mut answer);
            String::from_utf8(answer).unwrap()
        };
        assert_eq!(ask("GET /index HTTP/1.1"), "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n0 10\n");
        assert!(ask("GET /file HTTP/1.1").ends_with("Content-Length: 10\r\n\r\n0123456789"));
        assert_eq!(
            ask("GET /file HTTP/1.1\r\nrange: bytes=8-9"),
            "HTTP/1.1 206 Partial Content\r\nContent-Range: bytes 8-9/10\r\nContent-Length: 2\r\n\r\n89"
        );
        assert!(ask("GET /file HTTP/1.1\r\nrange: bytes=8-10").starts_with("HTTP/1.1 416 "));
        assert!(ask("GET /else HTTP/1.1").starts_with("HTTP/1.1 404 "));
    }
}
