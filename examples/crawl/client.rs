//! One exchange with the server, in three versions: for threads that block, with async-io, and with tokio. The parser, the
//! steps and the reuse of connections are the same.

use super::http::{Error, Page, Request};
use async_io::Async;
use std::net::{SocketAddr, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// Connections that are kept alive. A new one is opened only if all others are in use.
///
/// So at the end there are as many of them as there were requests at the same time.
pub(crate) struct Connections<C> {
    address: SocketAddr,
    idle: Mutex<Vec<C>>,
    opened: AtomicUsize,
}

impl<C> Connections<C> {
    pub(crate) fn new(address: SocketAddr) -> Self {
        Connections { address, idle: Mutex::new(Vec::new()), opened: AtomicUsize::new(0) }
    }

    /// Takes the connection that was used last.
    fn take(&self) -> Option<C> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop()
    }

    fn give_back(&self, connection: C) {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(connection);
    }

    /// Counts an attempt to open a connection, and returns its result.
    fn open(&self, connected: std::io::Result<C>) -> Result<C, Error> {
        // Relaxed: a count, read when everything has been fetched.
        self.opened.fetch_add(1, Ordering::Relaxed);
        connected.map_err(|error| Error::Unreachable(self.address, error))
    }

    pub(crate) fn opened(&self) -> usize {
        self.opened.load(Ordering::Relaxed)
    }
}

impl Connections<TcpStream> {
    pub(crate) fn fetch(&self, request: &Request) -> Result<Page, Error> {
        use std::io::{Read, Write};
        let mut stream = match self.take() {
            Some(stream) => stream,
            None => self.open(TcpStream::connect(self.address))?,
        };
        stream.write_all(request.text.as_bytes()).map_err(Error::Broken)?;
        let mut response = request.response();
        loop {
            let n = stream.read(response.room()).map_err(Error::Broken)?;
            if response.received(n)? {
                self.give_back(stream);
                return Ok(response.into_page());
            }
        }
    }
}

impl Connections<Async<TcpStream>> {
    pub(crate) async fn fetch(&self, request: &Request) -> Result<Page, Error> {
        use futures_lite::{AsyncReadExt, AsyncWriteExt};
        let mut stream = match self.take() {
            Some(stream) => stream,
            None => self.open(Async::<TcpStream>::connect(self.address).await)?,
        };
        stream.write_all(request.text.as_bytes()).await.map_err(Error::Broken)?;
        let mut response = request.response();
        loop {
            let n = stream.read(response.room()).await.map_err(Error::Broken)?;
            if response.received(n)? {
                self.give_back(stream);
                return Ok(response.into_page());
            }
        }
    }
}

impl Connections<tokio::net::TcpStream> {
    pub(crate) async fn fetch(&self, request: &Request) -> Result<Page, Error> {
        use tokio::io::{AsyncReadExt, AsyncWriteExt};
        let mut stream = match self.take() {
            Some(stream) => stream,
            None => self.open(tokio::net::TcpStream::connect(self.address).await)?,
        };
        stream.write_all(request.text.as_bytes()).await.map_err(Error::Broken)?;
        let mut response = request.response();
        loop {
            let n = stream.read(response.room()).await.map_err(Error::Broken)?;
            if response.received(n)? {
                self.give_back(stream);
                return Ok(response.into_page());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Connections, Error, Request};
    use std::io::{Read, Write};
    use std::net::{SocketAddr, TcpListener};
    use std::thread;

    /// Starts a server that sends the same answer to each of its first connections and closes them.
    fn server(connections: usize, answer: &'static [u8]) -> SocketAddr {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        thread::spawn(move || {
            for stream in listener.incoming().take(connections) {
                let mut stream = stream.unwrap();
                let mut request = [0; 1024];
                assert!(stream.read(&mut request).unwrap() > 0);
                stream.write_all(answer).unwrap();
            }
        });
        address
    }

    /// Fetches a page with each of the three clients.
    fn fetch(address: SocketAddr) -> [Result<Vec<u8>, Error>; 3] {
        let request = Request::whole("/");
        let tokio =
            tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        [
            Connections::<std::net::TcpStream>::new(address).fetch(&request),
            furcate::block_on(Connections::<async_io::Async<_>>::new(address).fetch(&request)),
            tokio.block_on(Connections::<tokio::net::TcpStream>::new(address).fetch(&request)),
        ]
        .map(|page| page.map(|page| page.to_vec()))
    }

    #[test]
    fn pages() {
        for page in fetch(server(3, b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi")) {
            assert_eq!(page.unwrap(), b"hi");
        }
    }

    #[test]
    fn short_answers() {
        for page in fetch(server(3, b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhi")) {
            assert!(matches!(page, Err(Error::Short { expected: Some(43), received: 40 })), "{page:?}");
        }
    }

    #[test]
    fn no_server() {
        // Bound and dropped: no server listens at this port.
        let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        for page in fetch(address) {
            assert!(matches!(page, Err(Error::Unreachable(..))), "{page:?}");
        }
    }
}
