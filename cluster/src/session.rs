//! The common part of all collective calls: their number and caller, their messages, and their end.
//!
//! # Invariants
//!
//! 1. *Nothing of another call.* A message of an earlier call is dropped, one of a later call is kept until then, and one with
//!    another digest is not used. (A thief's request that comes when the victim's call has ended is of an earlier call.)
//! 2. *One end.* A call ends for a rank by [`ended`](Session::ended), or by a failure: its own, which it sends to all others as `Abort`,
//!    or another rank's. Only the first of these counts.

use crate::asking::Ask;
use crate::handshake::Caller;
use crate::transport::{Envelope, Message};
use crate::world::World;
use furcate_pool::sync::clock::Instant;
use furcate_pool::sync::machine::atomic::{AtomicUsize, Ordering::Relaxed};
use furcate_pool::sync::machine::thread;
use furcate_pool::sync::machine::{Mutex, MutexGuard};
use std::any::Any;
use std::fmt;
use std::sync::PoisonError;
use std::time::Duration;

/// Time for which a rank tries to hand over its messages when a call has failed.
const LAST_MESSAGES: Duration = Duration::from_secs(5);

/// Reason why a call failed.
#[derive(Clone, Debug)]
pub(crate) struct Failure(pub(crate) String);

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A rank's part in a collective call.
#[derive(Debug)]
pub(crate) struct Session<'w> {
    world: &'w World,
    number: u64,
    caller: Caller,
    outcome: Mutex<Outcome>,
    /// Number of ranks that have told this one, rank 0, their caller.
    hellos: AtomicUsize,
}

/// How a call has ended on this rank.
#[derive(Debug)]
enum Outcome {
    Open,
    Ended,
    Failed(Failure),
}

/// Returns the bound of [`take`](Session::take) between two steps: 64 messages. A rank that takes more time for each message than thieves take to send
/// the next one would else never come to its next step.
pub(crate) fn between_steps() -> impl FnMut() -> bool {
    let mut messages = 0;
    move || {
        messages += 1;
        messages >= 64
    }
}

impl<'w> Session<'w> {
    /// Begins a call: tells rank 0 the caller.
    pub(crate) fn new(world: &'w World, number: u64, caller: Caller) -> Self {
        let session = Session {
            world,
            number,
            caller,
            outcome: Mutex::new(Outcome::Open),
            hellos: AtomicUsize::new(0),
        };
        world.counters().calls.add(1);
        if world.rank() > 0 {
            let Caller { build, words, .. } = session.caller.clone();
            session.send(0, Message::Hello { build, caller: words });
        }
        session
    }

    pub(crate) fn world(&self) -> &'w World {
        self.world
    }

    pub(crate) fn send(&self, to: usize, message: Message) {
        self.send_to([to], message);
    }

    pub(crate) fn send_to_all(&self, message: Message) {
        self.send_to((0..self.world.size()).filter(|&to| to != self.world.rank()), message);
    }

    /// Sends a message of rank 0 on, down a binary tree of all ranks. So no rank sends it more than twice, and rank 0 does not keep a copy for
    /// each rank.
    pub(crate) fn send_down(&self, message: Message) {
        let rank = self.world.rank();
        self.send_to([2 * rank + 1, 2 * rank + 2].into_iter().filter(|&to| to < self.world.size()), message);
    }

    /// Does what a thief is to do next, except to wait.
    pub(crate) fn ask(&self, action: Ask) {
        match action {
            Ask::Withdraw(victim) => self.send(victim, Message::Withdrawal),
            Ask::Request(victim) => {
                self.world.counters().tried.add(1);
                self.send(victim, Message::Request);
            }
            Ask::Wait(_) => {}
        }
    }

    fn send_to(&self, ranks: impl IntoIterator<Item = usize>, message: Message) {
        let envelope = Envelope { call: self.number, digest: self.caller.digest, message };
        let counters = self.world.counters();
        for to in ranks {
            let bytes = self.world.transport().send(to, &envelope);
            counters.messages.add(1);
            counters.bytes.add(bytes as u64);
        }
    }

    /// Takes the next message of this call (invariant 1). `Abort` says that the call has failed, here or on another rank.
    pub(crate) fn receive(&self) -> Option<(usize, Message)> {
        loop {
            let (from, envelope) = match self.world.kept(self.number) {
                Some((from, envelope)) => (from, Ok(envelope)),
                None => self.world.transport().poll()?,
            };
            let failure = match envelope {
                Err(malformed) => format!("rank {from} sent {malformed}"),
                Ok(Envelope { call, digest, message }) if call > self.number => {
                    self.world.keep(from, Envelope { call, digest, message });
                    continue;
                }
                Ok(Envelope { call, .. }) if call < self.number => continue,
                Ok(Envelope { message: Message::Abort(reason), .. }) => {
                    self.give_up(Failure(reason.clone()));
                    return Some((from, Message::Abort(reason)));
                }
                Ok(Envelope { digest, message, .. }) if digest == self.caller.digest => {
                    if matches!(message, Message::Hello { .. }) {
                        // Relaxed: a count.
                        self.hellos.fetch_add(1, Relaxed);
                    }
                    return Some((from, message));
                }
                Ok(Envelope { message: Message::Hello { build, caller }, .. }) => {
                    self.caller.against(self.world.rank(), (from, build, &caller))
                }
                Ok(_) => {
                    self.world.counters().strange.add(1);
                    continue;
                }
            };
            self.world.counters().strange.add(1);
            self.fail(failure.clone());
            return Some((from, Message::Abort(failure)));
        }
    }

    /// Takes messages, until there are none or it is enough. Returns whether one of them is a sign of work.
    pub(crate) fn take(&self, mut is_enough: impl FnMut() -> bool, handle: impl Fn(usize, Message)) -> bool {
        let mut any = false;
        while let Some((from, message)) = self.receive() {
            any |= message.shows_work();
            handle(from, message);
            if is_enough() {
                break;
            }
        }
        any
    }

    /// Whether all ranks have begun the call, with the same caller. Known at rank 0.
    pub(crate) fn all_are_here(&self) -> bool {
        self.hellos.load(Relaxed) + 1 >= self.world.size()
    }

    fn outcome(&self) -> MutexGuard<'_, Outcome> {
        // Nothing that can panic is done with this lock.
        self.outcome.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends the call on all ranks, with a failure of this one.
    pub(crate) fn fail(&self, reason: String) {
        if self.give_up(Failure(reason.clone())) {
            self.send_to_all(Message::Abort(reason));
        }
    }

    /// Ends the call on this rank. Returns whether it had not ended before (invariant 2).
    fn give_up(&self, failure: Failure) -> bool {
        let mut outcome = self.outcome();
        let is_first = matches!(*outcome, Outcome::Open);
        if is_first {
            *outcome = Outcome::Failed(failure);
        }
        is_first
    }

    /// Notes that the call has ended with a result. Returns whether it had not ended before (invariant 2).
    pub(crate) fn ended(&self) -> bool {
        let mut outcome = self.outcome();
        let is_first = matches!(*outcome, Outcome::Open);
        if is_first {
            *outcome = Outcome::Ended;
        }
        is_first
    }

    /// Hands over the last messages of the call, such as its end. The rank may not use the transport for a long time after the call, so a
    /// message that this rank keeps would arrive late, or never. Messages that arrive meanwhile are taken, so that two ranks that hand over
    /// do not wait for each other.
    ///
    /// Rank 0 waits as long as the others need to take the result: they are in the call until they have it. After a failure a rank that has
    /// left the call takes nothing, and [`LAST_MESSAGES`] is the limit.
    pub(crate) fn leave(&self) {
        let has_failed = self.failure().is_some();
        let begin = Instant::now();
        let is_late =
            || if has_failed { begin.elapsed() > LAST_MESSAGES } else { self.world.is_over(begin.elapsed()) };
        while !self.world.transport().flush() && !is_late() {
            while self.receive().is_some() {}
            thread::yield_now();
        }
    }

    /// Returns the failure of the call, if it has failed.
    pub(crate) fn failure(&self) -> Option<Failure> {
        match &*self.outcome() {
            Outcome::Failed(failure) => Some(failure.clone()),
            Outcome::Open | Outcome::Ended => None,
        }
    }

    /// Ends the call on all ranks because this one has panicked.
    pub(crate) fn has_panicked(&self, payload: &(dyn Any + Send)) {
        let text = payload.downcast_ref::<&str>().copied();
        let text = text.or_else(|| payload.downcast_ref::<String>().map(String::as_str));
        self.fail(format!("rank {} panicked: {}", self.world.rank(), text.unwrap_or("(no message)")));
    }

    /// Ends the call on all ranks because this one has heard of no work for the world's timeout.
    pub(crate) fn timed_out(&self) {
        self.fail(format!(
            "rank {} is out of work, and has heard of no work from any other rank for {:?}, the timeout of its world; if an item or a pause \
             between two calls may take longer, raise it (FURCATE_CLUSTER_TIMEOUT in seconds, or `World::with_timeout`)",
            self.world.rank(),
            self.world.timeout().unwrap_or_default()
        ));
    }
}
