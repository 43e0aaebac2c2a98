//! Reads that are ready at once: what Cilk-L's figure 4 adds to a plain read, one mechanism after the other.
//!
//! Each leaf opens an eventfd whose counter is its number, and reads it. (In the paper: a timer without a delay.) As there, every
//! worker has an I/O thread of its own. An I/O thread here waits for requests in a channel, the paper's in its set of
//! epoll.

use async_io::Async;
use futures_channel::oneshot;
use rustix::event::{EventfdFlags, epoll, eventfd};
use rustix::fd::OwnedFd;
use rustix::time::Timespec;
use std::mem::MaybeUninit;
use std::sync::mpsc::{Sender, channel};
use std::thread;

type Request = (OwnedFd, oneshot::Sender<u32>);

thread_local! {
    static EPOLL: OwnedFd = epoll::create(epoll::CreateFlags::CLOEXEC).expect("epoll is there");
    /// To the worker's I/O thread, which ends with the worker.
    static IO_THREAD: Sender<Request> = {
        let (sender, requests) = channel::<Request>();
        thread::spawn(move || {
            for (file, result) in requests {
                // The run waits for its result.
                let _ = result.send(read_by_epoll(&file));
            }
        });
        sender
    };
}

/// Opens a file that is ready, and gives `n` when it is read. `n` is not 0.
fn open(n: u32) -> OwnedFd {
    eventfd(n, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK).expect("an eventfd can be made")
}

fn read(file: &OwnedFd) -> u32 {
    let mut count = [0; 8];
    assert_eq!(rustix::io::read(file, &mut count), Ok(8));
    u64::from_ne_bytes(count) as u32
}

fn read_by_epoll(file: &OwnedFd) -> u32 {
    EPOLL.with(|epoll| {
        epoll::add(epoll, file, epoll::EventData::new_u64(0), epoll::EventFlags::IN).expect("it is added");
        let mut events = [MaybeUninit::uninit(); 1];
        let (ready, _) =
            epoll::wait(epoll, &mut events, Some(&Timespec::default())).expect("no signal comes");
        assert_eq!(ready.len(), 1, "the file is ready");
        let n = read(file);
        epoll::delete(epoll, file).expect("it was added");
        n
    })
}

pub(super) fn plainly(n: u32) -> u32 {
    read(&open(n))
}

pub(super) async fn by_future(n: u32) -> u32 {
    plainly(n)
}

pub(super) async fn by_epoll(n: u32) -> u32 {
    read_by_epoll(&open(n))
}

pub(super) async fn by_io_thread(n: u32) -> u32 {
    let (sender, result) = oneshot::channel();
    IO_THREAD.with(|thread| thread.send((open(n), sender))).expect("the I/O thread runs");
    result.await.expect("the I/O thread answers")
}

/// async-io's reactor is an I/O thread with epoll, too: one for the process.
pub(super) async fn by_async_io(n: u32) -> u32 {
    let file = Async::new(open(n)).expect("the reactor takes it");
    file.readable().await.expect("it is ready");
    read(file.get_ref())
}
