//! Reads and writes as futures, by io_uring: an I/O thread hands requests to the kernel and completes their futures.
//!
//! ```text
//! worker: read_at, write_at --- channel, doorbell ---> I/O thread --- ring ---> kernel
//! worker: the future is polled again <------- wake --- I/O thread <-- ring --- kernel
//! ```
//!
//! One thread hands in all requests. When a thread ends, the kernel cancels its requests, and threads of a pool may end.
//! The thread waits for the kernel alone: the doorbell, too, is a request, a poll of a socket to which `read_at` and
//! `write_at` write.
//!
//! 1. While the kernel has a request, the request is a leaked box that owns its file and its bytes. So a future that is
//!    dropped, or a panic, frees neither.
//! 2. The request's address is its user data. Each request has one completion, which takes the box back.

use io_uring::{IoUring, opcode, squeue::Entry, types::Fd};
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::net::UnixStream;
use std::pin::Pin;
use std::process::abort;
use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Waker};
use std::thread::{self, JoinHandle};

/// Number of requests that the kernel has at once. Further ones wait in the channel.
const ROOM: usize = 255;

/// User data of the doorbell's poll. No box has this address.
const DOORBELL: u64 = 0;

/// `POLLIN` of the C library.
const READABLE: u32 = 1;

/// A ring with its I/O thread. Dropping it waits for the requests that have begun.
pub(crate) struct Ring {
    requests: Option<Sender<Box<Request>>>,
    doorbell: UnixStream,
    thread: Option<JoinHandle<()>>,
}

impl Ring {
    /// Returns an error if the kernel has no io_uring, forbids it to this process, or cannot read and write by it.
    pub(crate) fn new() -> io::Result<Self> {
        let ring = IoUring::new(ROOM as u32 + 1)?;
        let mut probe = io_uring::Probe::new();
        ring.submitter().register_probe(&mut probe)?;
        if ![opcode::Read::CODE, opcode::Write::CODE].into_iter().all(|code| probe.is_supported(code)) {
            return Err(io::Error::new(
                io::ErrorKind::Unsupported,
                "it cannot read and write: that came with Linux 5.6",
            ));
        }
        let (doorbell, bell) = UnixStream::pair()?;
        doorbell.set_nonblocking(true)?;
        bell.set_nonblocking(true)?;
        let (requests, received) = channel();
        let thread =
            thread::Builder::new().name("io_uring".into()).spawn(move || serve(ring, bell, &received))?;
        Ok(Ring { requests: Some(requests), doorbell, thread: Some(thread) })
    }

    /// Begins to read up to `len` bytes. The future's output is shorter at the file's end.
    pub(crate) fn read_at(&self, file: &Arc<File>, at: u64, len: usize) -> Operation {
        self.begin(file, at, vec![0; len], false)
    }

    /// Begins to write. The future's output is `bytes`.
    pub(crate) fn write_at(&self, file: &Arc<File>, at: u64, bytes: Vec<u8>) -> Operation {
        self.begin(file, at, bytes, true)
    }

    fn begin(&self, file: &Arc<File>, at: u64, bytes: Vec<u8>, writes: bool) -> Operation {
        let outcome = Arc::new(Mutex::new(Outcome::Pending(None)));
        let request =
            Box::new(Request { file: Arc::clone(file), at, bytes, writes, outcome: Arc::clone(&outcome) });
        let sent = self.requests.as_ref().map(|requests| requests.send(request));
        assert!(matches!(sent, Some(Ok(()))), "the I/O thread is there as long as the ring");
        // A full doorbell has been rung already.
        let _ = (&self.doorbell).write(&[0]);
        Operation(outcome)
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        drop(self.requests.take());
        let _ = (&self.doorbell).write(&[0]);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

struct Request {
    file: Arc<File>,
    at: u64,
    bytes: Vec<u8>,
    writes: bool,
    outcome: Arc<Mutex<Outcome>>,
}

enum Outcome {
    Pending(Option<Waker>),
    Done(io::Result<Vec<u8>>),
}

impl Request {
    fn entry(&mut self) -> Entry {
        let (fd, len) = (Fd(self.file.as_raw_fd()), self.bytes.len() as u32);
        if self.writes {
            opcode::Write::new(fd, self.bytes.as_ptr(), len).offset(self.at).build()
        } else {
            opcode::Read::new(fd, self.bytes.as_mut_ptr(), len).offset(self.at).build()
        }
    }

    /// Completes the future. `result` is the number of bytes, or the negative error.
    fn complete(self, result: i32) {
        let Request { mut bytes, writes, outcome, .. } = self;
        let done = match usize::try_from(result) {
            Err(_) => Err(io::Error::from_raw_os_error(-result)),
            Ok(n) if writes && n < bytes.len() => Err(io::ErrorKind::WriteZero.into()),
            Ok(n) => {
                bytes.truncate(n);
                Ok(bytes)
            }
        };
        let before = std::mem::replace(
            &mut *outcome.lock().unwrap_or_else(PoisonError::into_inner),
            Outcome::Done(done),
        );
        if let Outcome::Pending(Some(waker)) = before {
            waker.wake();
        }
    }
}

/// A read or a write that has begun: the paper's `io_future`. Dropping it does not stop the kernel.
#[must_use = "the outcome comes by `await`"]
pub(crate) struct Operation(Arc<Mutex<Outcome>>);

impl Future for Operation {
    type Output = io::Result<Vec<u8>>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let mut outcome = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Outcome::Pending(Some(context.waker().clone()));
        match std::mem::replace(&mut *outcome, now) {
            Outcome::Pending(_) => Poll::Pending,
            Outcome::Done(done) => Poll::Ready(done),
        }
    }
}

/// The I/O thread. Returns when the `Ring` is dropped and all requests are complete.
fn serve(mut ring: IoUring, mut bell: UnixStream, requests: &Receiver<Box<Request>>) {
    let (mut in_kernel, mut listens, mut closes) = (0, false, false);
    while !closes || in_kernel > 0 {
        if !listens {
            let poll = opcode::PollAdd::new(Fd(bell.as_raw_fd()), READABLE).build().user_data(DOORBELL);
            // SAFETY: a poll has no bytes, and its socket is open.
            unsafe { ring.submission().push(&poll) }
                .expect("the queue has room for all requests and the poll");
            listens = true;
        }
        if let Err(error) = ring.submit_and_wait(1) {
            // Interrupted, or short of memory for the moment.
            if ![io::ErrorKind::Interrupted, io::ErrorKind::WouldBlock, io::ErrorKind::ResourceBusy]
                .contains(&error.kind())
            {
                eprintln!("io_uring: {error}");
                abort();
            }
        }
        for completion in ring.completion() {
            if completion.user_data() == DOORBELL {
                listens = false;
                // Before the channel is looked at: a request that comes later rings again.
                while matches!(bell.read(&mut [0; 256]), Ok(1..)) {}
            } else {
                in_kernel -= 1;
                // SAFETY: (2) this is the address of a leaked box, and its only completion.
                let request = unsafe { Box::from_raw(completion.user_data() as *mut Request) };
                request.complete(completion.result());
            }
        }
        while in_kernel < ROOM {
            match requests.try_recv() {
                Ok(request) => {
                    let request = Box::leak(request);
                    let entry = request.entry();
                    let entry = entry.user_data(&raw mut *request as u64);
                    // SAFETY: (1) the file and the bytes live until the completion, and only the kernel uses the bytes until then.
                    unsafe { ring.submission().push(&entry) }.expect("the queue has room for all requests");
                    in_kernel += 1;
                }
                Err(TryRecvError::Empty) => break,
                Err(TryRecvError::Disconnected) => {
                    closes = true;
                    break;
                }
            }
        }
    }
}
