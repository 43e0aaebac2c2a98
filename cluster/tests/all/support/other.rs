//! A world of two ranks, of which the test plays one: it reads and writes the messages.

use furcate_cluster::transport::{Envelope, Malformed, Message};
use furcate_cluster::{Transport, World};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

/// Rank 0, played by the test. It is also the transport of rank 1.
#[derive(Clone, Debug, Default)]
pub(crate) struct Other {
    sent: Arc<Mutex<VecDeque<Envelope>>>,
    mail: Arc<Mutex<VecDeque<Envelope>>>,
    hello: Arc<Mutex<Option<Envelope>>>,
}

impl Transport for Other {
    fn rank(&self) -> usize {
        1
    }

    fn size(&self) -> usize {
        2
    }

    fn send(&self, to: usize, envelope: &Envelope) -> usize {
        assert_eq!(to, 0);
        if matches!(envelope.message, Message::Hello { .. }) {
            *self.hello.lock().unwrap() = Some(envelope.clone());
        }
        self.sent.lock().unwrap().push_back(envelope.clone());
        0
    }

    fn poll(&self) -> Option<(usize, Result<Envelope, Malformed>)> {
        Some((0, Ok(self.mail.lock().unwrap().pop_front()?)))
    }

    fn wait(&self, _: Duration) {
        thread::yield_now();
    }
}

impl Other {
    /// Sends a message to the rank, in the present call.
    pub(crate) fn tell(&self, message: Message) {
        let hello = self.hello.lock().unwrap().clone().expect("the call has begun");
        self.mail.lock().unwrap().push_back(Envelope { message, ..hello });
    }

    /// Returns the next message of the rank that is asked for. An idle rank sends other ones all the time.
    pub(crate) fn sees(&self, is_it: fn(&Message) -> bool) -> Message {
        let begin = Instant::now();
        while begin.elapsed() < Duration::from_secs(10) {
            match self.sent.lock().unwrap().pop_front().map(|envelope| envelope.message) {
                Some(message) if is_it(&message) => return message,
                Some(_) => {}
                None => thread::yield_now(),
            }
        }
        panic!("the message does not come");
    }

    /// Runs a program on rank 1, with one worker.
    pub(crate) fn run<T: Send + 'static>(
        &self,
        program: impl FnOnce(World) -> T + Send + 'static,
    ) -> thread::JoinHandle<T> {
        let world = World::new(self.clone());
        let pool = furcate::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
        thread::spawn(move || pool.install(|| program(world)))
    }
}
