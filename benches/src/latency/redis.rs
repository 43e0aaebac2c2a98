//! Requests to a server on loopback that answers at once, as Redis does: a wait of some 20 us each.
//!
//! The server is one thread of this process. Its processor time is subtracted, so that a row tells the clients' alone.

use ::furcate::ThreadPool;
use ::furcate::prelude::*;
use async_io::Async;
use futures_lite::{AsyncReadExt, AsyncWriteExt};
use futures_util::StreamExt;
use futures_util::stream;
use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, mpsc};
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

/// The bytes of a request, and of its answer.
const BYTES: usize = 32;

/// A server, and connections to it.
#[derive(Debug)]
pub struct Redis {
    address: SocketAddr,
    /// The server thread's file with its processor time.
    schedstat: PathBuf,
    connections: Mutex<Vec<Async<TcpStream>>>,
}

/// Costs of a run, for each item.
#[derive(Clone, Copy, Debug)]
pub struct RedisCost {
    /// Wall time.
    pub time: Duration,
    /// The clients' processor time.
    pub cpu: Duration,
}

impl Redis {
    /// Starts a server, and opens this many connections.
    ///
    /// # Panics
    ///
    /// If the system refuses a socket, or has no `/proc`.
    #[must_use]
    pub fn new(connections: usize) -> Arc<Self> {
        let (sender, receiver) = mpsc::channel();
        std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build().unwrap();
            runtime.block_on(async {
                let listener = tokio::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
                let thread = std::fs::read_link("/proc/thread-self").unwrap();
                sender.send((listener.local_addr().unwrap(), thread)).unwrap();
                while let Ok((mut socket, _)) = listener.accept().await {
                    socket.set_nodelay(true).unwrap();
                    tokio::spawn(async move {
                        let mut request = [0; BYTES];
                        while socket.read_exact(&mut request).await.is_ok() {
                            if socket.write_all(&request).await.is_err() {
                                return;
                            }
                        }
                    });
                }
            });
        });
        let (address, thread) = receiver.recv().unwrap();
        let connect = |_| {
            let stream = TcpStream::connect(address).unwrap();
            stream.set_nodelay(true).unwrap();
            Async::new(stream).unwrap()
        };
        Arc::new(Redis {
            address,
            schedstat: PathBuf::from("/proc").join(thread).join("schedstat"),
            connections: Mutex::new((0..connections).map(connect).collect()),
        })
    }

    /// Sends a request on a free connection, and waits for the answer.
    async fn get(&self, key: u64) -> u64 {
        let connection = self.connections.lock().unwrap().pop().expect("no more in flight than connections");
        let mut request = [0; BYTES];
        request[..8].copy_from_slice(&key.to_le_bytes());
        (&connection).write_all(&request).await.unwrap();
        (&connection).read_exact(&mut request).await.unwrap();
        self.connections.lock().unwrap().push(connection);
        u64::from_le_bytes(request[..8].try_into().unwrap())
    }

    /// Returns the processor time of the process without the server's.
    fn clients_time(&self) -> Duration {
        let all = super::cpu_time().expect("the system tells processor time");
        all.saturating_sub(self.server_time())
    }

    fn server_time(&self) -> Duration {
        let text = std::fs::read_to_string(&self.schedstat).unwrap();
        Duration::from_nanos(text.split(' ').next().unwrap().parse().unwrap())
    }

    fn measure(&self, n: u64, run: impl FnOnce() -> u64) -> RedisCost {
        let (cpu, begin) = (self.clients_time(), Instant::now());
        assert_eq!(run(), n * (n - 1) / 2);
        let time = begin.elapsed();
        RedisCost { time: time / n as u32, cpu: self.clients_time().saturating_sub(cpu) / n as u32 }
    }

    /// Runs the requests on one thread, which polls all futures and drives the sockets.
    #[must_use]
    pub fn buffered(&self, n: u64, in_flight: usize) -> RedisCost {
        self.measure(n, || {
            let answers = stream::iter(0..n).map(|key| self.get(key)).buffer_unordered(in_flight);
            async_io::block_on(answers.fold(0, |sum, answer| async move { sum + answer }))
        })
    }

    /// `io_await`.
    #[must_use]
    pub fn io_await(&self, n: u64, in_flight: usize, pool: &ThreadPool) -> RedisCost {
        self.measure(n, || {
            (0..n).into_par_iter().map(|key| self.get(key)).io_await().max_in_flight(in_flight).on(pool).sum()
        })
    }

    /// Runs the requests in a task of tokio for each connection.
    #[must_use]
    pub fn tokio_tasks(&self, n: u64, in_flight: usize, runtime: &tokio::runtime::Runtime) -> RedisCost {
        let connections = runtime.block_on(async {
            let mut connections = Vec::new();
            for _ in 0..in_flight {
                let connection = tokio::net::TcpStream::connect(self.address).await?;
                connection.set_nodelay(true)?;
                connections.push(connection);
            }
            io::Result::Ok(connections)
        });
        let connections = connections.unwrap();
        self.measure(n, || {
            runtime.block_on(async move {
                let mut tasks = tokio::task::JoinSet::new();
                for (i, mut connection) in (0..).zip(connections) {
                    tasks.spawn(async move {
                        let mut sum = 0;
                        for key in (i..n).step_by(in_flight) {
                            let mut request = [0; BYTES];
                            request[..8].copy_from_slice(&key.to_le_bytes());
                            connection.write_all(&request).await.unwrap();
                            connection.read_exact(&mut request).await.unwrap();
                            sum += u64::from_le_bytes(request[..8].try_into().unwrap());
                        }
                        sum
                    });
                }
                let mut sum = 0;
                while let Some(part) = tasks.join_next().await {
                    sum += part.unwrap();
                }
                sum
            })
        })
    }
}
