//! A minimal HTTP client: one request after the other on a connection.

use crate::app::{Error, Work};
use std::net::SocketAddr;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;

/// A connection that stays open.
pub(crate) struct Client(BufReader<TcpStream>);

impl Client {
    pub(crate) async fn connect(server: SocketAddr) -> Result<Self, Error> {
        let stream = TcpStream::connect(server).await?;
        stream.set_nodelay(true)?;
        Ok(Client(BufReader::new(stream)))
    }

    /// Sends a request and does not wait for the answer.
    pub(crate) async fn send(&mut self, path: &str) -> Result<(), Error> {
        let request = format!("GET {path} HTTP/1.1\r\nhost: loopback\r\n\r\n");
        Ok(self.0.write_all(request.as_bytes()).await?)
    }

    /// Sends a request and checks the answer.
    pub(crate) async fn get(&mut self, path: &str, work: Work) -> Result<(), Error> {
        self.send(path).await?;
        let body = self.receive().await?;
        let expected = work.answer().to_string();
        if body != expected.as_bytes() {
            let body = String::from_utf8_lossy(&body);
            return Err(format!("the answer to {path} is {body:?} instead of {expected:?}").into());
        }
        Ok(())
    }

    async fn receive(&mut self) -> Result<Vec<u8>, Error> {
        let (mut status, mut line, mut length) = (String::new(), String::new(), 0);
        self.0.read_line(&mut status).await?;
        if !status.starts_with("HTTP/1.1 200 ") {
            return Err(format!("the server answers with {:?}", status.trim_end()).into());
        }
        while line != "\r\n" {
            line.clear();
            if self.0.read_line(&mut line).await? == 0 {
                return Err("the server has closed the connection within an answer".into());
            }
            if let Some((name, value)) = line.split_once(':')
                && name.eq_ignore_ascii_case("content-length")
            {
                length = value.trim().parse()?;
            }
        }
        let mut body = vec![0; length];
        self.0.read_exact(&mut body).await?;
        Ok(body)
    }
}
