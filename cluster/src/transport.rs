//! The transport: how messages get from one rank to another.
//!
//! A transport carries bytes, and knows nothing of chains. It never blocks, and no call is made from it into a chain: a rank *polls*.
//!
//! | method | is |
//! |---|---|
//! | [`rank`](Transport::rank), [`size`](Transport::size) | who this is, and how many there are |
//! | [`send`](Transport::send) | hands a message over: a steal request and its reply, an output, a stop, an abort, the end |
//! | [`has_mail`](Transport::has_mail) | a hint, as cheap as a load, whether to poll |
//! | [`poll`](Transport::poll) | takes the next message |
//! | [`flush`](Transport::flush) | whether all messages have left this rank's memory |
//! | [`wait`](Transport::wait) | lets time pass in a rank that has nothing to do |
//! | [`build`](Transport::build) | the number of the executable, which all ranks have to agree about |
//!
//! # Contract
//!
//! 1. *Reliable and in order* between two ranks: messages arrive once each, in the order in which they were sent, or the program ends.
//!    Between three ranks nothing is promised.
//! 2. *Any thread* may call any method. One thread polls at a time. Any number of threads send.
//! 3. *Nothing blocks*: `send`, `poll` and `flush` return at once. A transport whose buffers are full keeps the message itself, and hands it on in
//!    later calls of `poll` and `flush`. So rank 0 leaves a call only when `flush` has said that the result is under way: it may not use the
//!    transport for a long time after that.
//! 4. *One steal request.* A rank has at most one [`Request`](Message::Request) without a reply or a
//!    [withdrawal](Message::Withdrawal), and at most one without a reply to each other rank. So a transport may keep one place for the
//!    request of each rank.
//! 5. *No trust.* A message that cannot be decoded is passed on as [`Malformed`], never guessed at.

#[cfg(feature = "mpi")]
mod bell;
mod message;
#[cfg(feature = "mpi")]
mod messages;
#[cfg(feature = "mpi")]
mod mpi;
#[cfg(any(feature = "mpi", test))]
mod ring;
#[cfg(feature = "mpi")]
mod shared;

pub use message::{Envelope, Malformed, Message};

#[cfg(feature = "mpi")]
pub(crate) use self::{messages::Messages, mpi::Mpi, shared::Shared};

use std::fmt::Debug;
use std::time::Duration;
#[cfg(feature = "mpi")]
use std::time::Instant;

/// Time for which a world that is dropped tries to hand over its last messages, while no other rank takes any.
#[cfg(feature = "mpi")]
const LAST_MESSAGES: Duration = Duration::from_secs(10);

/// Hands over the last messages of a world that is dropped. `waiting` hands on as much as it can, and returns how much is left.
#[cfg(feature = "mpi")]
fn hand_over(mut waiting: impl FnMut() -> usize, pause: Duration) {
    let (mut left, mut since) = (waiting(), Instant::now());
    while left > 0 && since.elapsed() < LAST_MESSAGES {
        std::thread::sleep(pause);
        let still = waiting();
        if still < left {
            since = Instant::now();
        }
        left = still;
    }
}

/// Carries messages between ranks. See the [module](self) for the contract.
pub trait Transport: Send + Sync + Debug {
    /// Returns this process's rank, less than [`size`](Self::size).
    fn rank(&self) -> usize;

    /// Returns the number of ranks.
    fn size(&self) -> usize;

    /// Hands a message over to another rank. Returns the number of bytes.
    fn send(&self, to: usize, envelope: &Envelope) -> usize;

    /// Whether a message may have arrived. Called between two steps of a task, so it should cost no more than a load.
    fn has_mail(&self) -> bool {
        true
    }

    /// Takes the next message, with the rank that sent it.
    fn poll(&self) -> Option<(usize, Result<Envelope, Malformed>)>;

    /// Hands on messages that this rank still keeps in its own memory. Returns whether none is left there.
    fn flush(&self) -> bool {
        true
    }

    /// Lets time pass, at most so much. It may return at once if a message arrives.
    fn wait(&self, at_most: Duration) {
        furcate_pool::sync::machine::thread::sleep(at_most);
    }

    /// Returns the longest time for which a rank that is out of work asks no other rank, after many refusals. At most 1 ms, the default, which is for
    /// ranks that share cores: there a thief that asks takes time from a rank that works. A rank with a core of its own may ask more often.
    fn longest_pause(&self) -> Duration {
        crate::asking::LONGEST_PAUSE
    }

    /// Returns the time after which a rank that is out of work, and hears nothing of work, gives a call up, unless the
    /// [world](crate::World::with_timeout) says otherwise. `None`: it waits.
    ///
    /// The default is `None`. Where the ranks are processes, their launcher ends all of them when one dies, and a time that ends no correct program
    /// is not known here: an item may take a day.
    fn timeout(&self) -> Option<Duration> {
        None
    }

    /// Returns a number of this process's program. Ranks with different numbers refuse each other's calls.
    ///
    /// The default is a hash of the executable, or 0 if the file cannot be read. The file is read when a world of several ranks is made, which takes
    /// some 8 milliseconds for 50 MB. A transport whose ranks cannot differ may return any constant.
    fn build(&self) -> u64 {
        crate::build::of_this_program()
    }
}
