//! A rank's part in a collective call.
//!
//! # Protocol
//!
//! ```text
//!   rank 0                      rank 1                      rank 2
//!     │◄──────── Hello ───────────┤◄─┐                        │     every rank begins with its share of the source
//!     ├─ share 0                  ├─ share 1                  ├─ share 2
//!     │                           │                           ╎ out of work
//!     │                           │◄──────── Request ─────────┤
//!     │                           ├─ divides; gap 5 ─ Share ─►│
//!     │                           │                           ├─ share 2'
//!     │                           ╎ done: a join node, with gap 5
//!     │                           │◄──────── Output 5 ────────┤
//!     │                           ├─ the last finisher reduces
//!     │◄──────── Output 1 ────────┤
//!     ├─ the last output of the first node: the result
//!     ├───────── End ────────────►├───────── (End) ──────────►│
//! ```
//!
//! # Invariants
//!
//! 1. A rank is *working* (it has a share, and its pool runs it) or *idle*. Only an idle rank sends a `Request`, and it sends
//!    no second one before the reply to the first, or before it has withdrawn the first. Only a working rank keeps a thief waiting. A rank
//!    that becomes idle refuses all thieves in its line.
//!
//!    A thief withdraws its request if the victim's workers are all inside long items. A share that comes all the same is kept,
//!    and worked on after the present one.
//! 2. Any thread of a working rank may look at the mail, between two steps, one at a time: `polling`. An idle rank's thread is
//!    the only one in the rank.
//! 3. No lock is held while user code runs (a reduction, an encoding), except `polling`, which is only tried for.
//! 4. *Nothing of another call.* A message of an earlier call is dropped, one of a later call is kept until then, and one with
//!    another digest is not used. (A thief's request that comes when the victim's call has ended is of an earlier call.)
//! 5. *One end.* The call ends for a rank by `End` from rank 0, or by a failure: its own, which it sends to all others as `Abort`, or
//!    another rank's. After either nothing is sent for this call.
//! 6. *Signs of life.* A rank that hears of no work for the world's timeout gives up. Requests, and refusals of ranks that are out of work,
//!    are no signs of work. A working rank replies to a withdrawal for that reason, between two steps.
//! 7. *Interruption travels ahead.* A rank that leaves items out because of a token or a deadline tells all others so, and
//!    marks every output that it sends. Every rank that gets a mark marks its own outputs. So the result at rank 0 is marked if
//!    any item that belongs to it was left out.

use crate::handshake::Caller;
use crate::joins::{Arrival, Joins, Link};
use crate::segments::Segments;
use crate::share::{Look, Lookout};
use crate::stop::Stops;
use crate::transport::{Envelope, Message};
use crate::world::World;
use furcate_schedulers::Reduction;
use furcate_schedulers::policy::Reason;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::any::Any;
use std::collections::VecDeque;
use std::fmt;
use std::marker::PhantomData;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::{Duration, Instant};

/// How a terminal may end before its last item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Search {
    /// Every item is folded.
    No,
    /// Any hit ends it.
    Any,
    /// A hit ends everything behind it.
    First,
}

/// A share that has not begun.
#[derive(Debug)]
pub(crate) struct Work {
    /// The description; `None` for the first share.
    pub(crate) description: Option<Vec<u8>>,
    pub(crate) up: Link,
}

/// The next action of an idle rank.
#[derive(Debug)]
pub(crate) enum Next<O> {
    Work(Work),
    End(O),
    Failed(Failure),
}

/// Reason why a call failed.
#[derive(Clone, Debug)]
pub(crate) struct Failure(pub(crate) String);

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A rank's part in a call.
pub(crate) struct Call<'w, T, R: Reduction<T>> {
    world: &'w World,
    number: u64,
    caller: Caller,
    reduction: R,
    search: Search,
    /// Whether rank 0 alone gets the result.
    to_root: bool,
    stops: &'w Stops,
    /// Position from which on nothing is needed. 0 stops everything.
    bound: AtomicU64,
    /// Whether a thief waits in the line.
    has_thief: AtomicBool,
    /// The greatest size of a task that was seen since a thief came.
    largest: AtomicUsize,
    /// Code of the reason of an interruption, or 0.
    interrupted: AtomicU8,
    polling: Mutex<()>,
    desk: Mutex<Desk<R::Output>>,
    items: PhantomData<fn(T)>,
}

/// State of a rank in a call, which its threads share under a lock.
#[derive(Debug)]
struct Desk<O> {
    /// Whether the rank has a share (invariant 1).
    works: bool,
    thieves: VecDeque<usize>,
    /// The victim of the request without a reply, and the time of the request.
    request: Option<(usize, Instant)>,
    /// Shares that have arrived.
    shares: VecDeque<Work>,
    /// Time for which a thief waits for a reply.
    patience: Duration,
    joins: Joins<O>,
    end: Option<O>,
    failure: Option<Failure>,
    /// State of the generator of random victims.
    random: u64,
    /// Time before which no request is sent, and the pause after the next refusal.
    retry: Instant,
    pause: Duration,
}

/// The first and the longest pause after a refusal.
const FIRST_PAUSE: Duration = Duration::from_micros(5);
const LONGEST_PAUSE: Duration = Duration::from_millis(1);

/// The first and the longest time for which a thief waits for a reply.
const FIRST_PATIENCE: Duration = Duration::from_millis(1);
const LONGEST_PATIENCE: Duration = Duration::from_millis(10);

/// The longest time that an idle rank waits between two looks.
const LOOK: Duration = Duration::from_millis(1);

impl<'w, T, R> Call<'w, T, R>
where
    R: Reduction<T> + Sync,
    R::Output: Serialize + DeserializeOwned,
{
    pub(crate) fn new(
        (world, number): (&'w World, u64),
        caller: Caller,
        reduction: R,
        (search, to_root): (Search, bool),
        stops: &'w Stops,
    ) -> Self {
        let (rank, ranks) = (world.rank(), world.size());
        let desk = Desk {
            works: false,
            thieves: VecDeque::new(),
            request: None,
            shares: VecDeque::from([Work { description: None, up: Link::Gap { rank: 0, gap: rank as u64 } }]),
            patience: FIRST_PATIENCE,
            joins: Joins::new(rank, ranks),
            end: None,
            failure: None,
            random: scrambled(rank as u64, number),
            retry: Instant::now(),
            pause: FIRST_PAUSE,
        };
        let call = Call {
            world,
            number,
            caller,
            reduction,
            search,
            to_root,
            stops,
            bound: AtomicU64::new(u64::MAX),
            has_thief: AtomicBool::new(false),
            largest: AtomicUsize::new(0),
            interrupted: AtomicU8::new(0),
            polling: Mutex::new(()),
            desk: Mutex::new(desk),
            items: PhantomData,
        };
        world.counters().calls.add(1);
        if rank > 0 {
            call.send(0, Message::Hello { build: call.caller.build, caller: call.caller.words.clone() });
        }
        call
    }

    pub(crate) fn world(&self) -> &'w World {
        self.world
    }

    /// Returns the reduction, and its output for no items.
    pub(crate) fn reduction(&self) -> &R {
        &self.reduction
    }

    pub(crate) fn nothing(&self) -> Segments<R::Output> {
        Segments::whole(self.reduction.finish(self.reduction.start()))
    }

    fn desk(&self) -> MutexGuard<'_, Desk<R::Output>> {
        // Nothing that can panic is done with this lock, except allocations and drops of outputs.
        self.desk.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn send(&self, to: usize, message: Message) {
        let envelope = Envelope { call: self.number, digest: self.caller.digest, message };
        let bytes = self.world.transport().send(to, &envelope);
        let counters = self.world.counters();
        counters.messages.add(1);
        counters.bytes.add(bytes as u64);
    }

    fn send_to_all(&self, message: &Message) {
        let (rank, ranks) = (self.world.rank(), self.world.size());
        (0..ranks).filter(|&to| to != rank).for_each(|to| self.send(to, message.clone()));
    }

    // -------------------------------------------------------------------------------------------- mail

    /// Takes all messages. Returns whether one of them is a sign of work (invariant 6).
    fn poll(&self) -> bool {
        let mut any = false;
        loop {
            let next = match self.world.kept(self.number) {
                Some((from, envelope)) => Some((from, Ok(envelope))),
                None => self.world.transport().poll(),
            };
            let Some((from, envelope)) = next else { return any };
            match envelope {
                Ok(envelope) => {
                    any |= !matches!(
                        envelope.message,
                        Message::Request | Message::Withdrawal | Message::Refusal { works: false }
                    );
                    self.handle(from, envelope);
                }
                Err(malformed) => {
                    self.world.counters().strange.add(1);
                    self.fail(format!("rank {from} sent {malformed}"));
                }
            }
        }
    }

    fn handle(&self, from: usize, envelope: Envelope) {
        let Envelope { call, digest, message } = envelope;
        if call > self.number {
            self.world.keep(from, Envelope { call, digest, message });
            return;
        }
        if call < self.number {
            return; // invariant 4
        }
        if let Message::Abort(reason) = message {
            self.give_up(Failure(reason));
            return;
        }
        if digest != self.caller.digest {
            self.world.counters().strange.add(1);
            if let Message::Hello { build, caller } = message {
                self.fail(self.caller.against(self.world.rank(), (from, build, &caller)));
            }
            return;
        }
        match message {
            Message::Hello { .. } | Message::Abort(_) => {}
            Message::Request => self.thief_comes(from),
            Message::Withdrawal => {
                let mut desk = self.desk();
                desk.thieves.retain(|&thief| thief != from);
                self.has_thief.store(!desk.thieves.is_empty(), Relaxed);
                if desk.works {
                    drop(desk);
                    self.send(from, Message::Refusal { works: true });
                }
            }
            Message::Refusal { .. } => {
                let mut desk = self.desk();
                if desk.request.is_some_and(|(victim, _)| victim == from) {
                    desk.request = None;
                    desk.retry = Instant::now() + desk.pause;
                    desk.pause = (desk.pause * 2).min(LONGEST_PAUSE);
                }
            }
            Message::Share { gap, description } => {
                let mut desk = self.desk();
                if let Some((_, since)) = desk.request.take_if(|(victim, _)| *victim == from) {
                    self.world.counters().add_latency(since.elapsed());
                }
                self.world.counters().won.add(1);
                (desk.pause, desk.patience) = (FIRST_PAUSE, FIRST_PATIENCE);
                let up = Link::Gap { rank: from, gap };
                desk.shares.push_back(Work { description: Some(description), up });
            }
            Message::Output { gap, bytes } => self.output_comes(from, gap, &bytes),
            Message::Stop { bound, reason } => {
                self.mark(reason);
                // Relaxed: a hint. Items that are folded in vain do no harm.
                self.bound.fetch_min(bound, Relaxed);
            }
            Message::End(bytes) => match self.decode_end(&bytes) {
                Ok((reason, output)) => {
                    self.mark(reason);
                    self.bound.store(0, Relaxed);
                    self.desk().end = Some(output);
                }
                Err(error) => self.fail(format!("the result from rank {from} cannot be decoded: {error}")),
            },
        }
    }

    fn thief_comes(&self, thief: usize) {
        let mut desk = self.desk();
        if desk.works && self.bound.load(Relaxed) > 0 {
            desk.thieves.push_back(thief);
            // Relaxed, here and below: a hint. The line is read under the lock.
            self.has_thief.store(true, Relaxed);
        } else {
            drop(desk);
            self.refuse(thief);
        }
    }

    fn output_comes(&self, from: usize, gap: u64, bytes: &[u8]) {
        match postcard::from_bytes::<(u8, R::Output)>(bytes) {
            Ok((reason, output)) => {
                self.mark(reason);
                let arrival = self.desk().joins.arrive(gap, output);
                if arrival.is_refused() {
                    self.fail(format!(
                        "rank {from} sent an output for gap {gap}, which this rank does not have"
                    ));
                } else {
                    self.reduce(arrival);
                }
            }
            Err(error) => self.fail(format!("an output from rank {from} cannot be decoded: {error}")),
        }
    }

    /// Reduces the outputs of a node, and carries the result up as far as it is the last one to arrive.
    fn reduce(&self, arrival: Arrival<R::Output>) {
        let mut arrival = arrival;
        while let Arrival::Full(outputs, up) = arrival {
            self.world.counters().reduced.add(outputs.len() as u64 - 1);
            let output = outputs.into_iter().reduce(|left, right| self.reduction.reduce(left, right));
            let output = output.expect("a node has outputs");
            arrival = match up {
                Link::Top => return self.end(output),
                Link::Gap { rank, gap } if rank == self.world.rank() => {
                    let arrival = self.desk().joins.arrive(gap, output);
                    assert!(!arrival.is_refused(), "a rank's own gap is open until its output arrives");
                    arrival
                }
                Link::Gap { rank, gap } => {
                    match self.encode(&output) {
                        Ok(bytes) => self.send(rank, Message::Output { gap, bytes }),
                        Err(error) => self.fail(format!("an output cannot be encoded: {error}")),
                    }
                    return;
                }
            };
        }
    }

    fn encode(&self, output: &R::Output) -> postcard::Result<Vec<u8>> {
        postcard::to_allocvec(&(self.interrupted.load(Relaxed), output))
    }

    /// Decodes the result. If it is for rank 0 alone, other ranks have that of no items.
    fn decode_end(&self, bytes: &[u8]) -> postcard::Result<(u8, R::Output)> {
        if self.to_root {
            let reason = postcard::from_bytes(bytes)?;
            return Ok((reason, self.reduction.finish(self.reduction.start())));
        }
        postcard::from_bytes(bytes)
    }

    /// Ends the call, at rank 0.
    fn end(&self, output: R::Output) {
        if self.world.size() > 1 {
            let reason = self.interrupted.load(Relaxed);
            let bytes = if self.to_root { postcard::to_allocvec(&reason) } else { self.encode(&output) };
            match bytes {
                Ok(bytes) => self.send_to_all(&Message::End(bytes)),
                Err(error) => return self.fail(format!("the result cannot be encoded: {error}")),
            }
        }
        self.desk().end = Some(output);
    }

    // ---------------------------------------------------------------------------------------- failures

    /// Ends the call on all ranks, with a failure of this one.
    pub(crate) fn fail(&self, reason: String) {
        if self.give_up(Failure(reason.clone())) {
            self.send_to_all(&Message::Abort(reason));
        }
    }

    /// Ends the call on this rank. Returns whether it had not failed before.
    fn give_up(&self, failure: Failure) -> bool {
        self.bound.store(0, Relaxed);
        let mut desk = self.desk();
        let is_first = desk.failure.is_none() && desk.end.is_none();
        desk.failure.get_or_insert(failure);
        is_first
    }

    /// Ends the call on all ranks because this one has panicked.
    pub(crate) fn has_panicked(&self, payload: &(dyn Any + Send)) {
        let text = payload.downcast_ref::<&str>().copied();
        let text = text.or_else(|| payload.downcast_ref::<String>().map(String::as_str));
        self.fail(format!("rank {} panicked: {}", self.world.rank(), text.unwrap_or("(no message)")));
    }

    // ----------------------------------------------------------------------------------- interruptions

    /// Stops the call on all ranks if the token or the deadline says so. Returns whether it does.
    fn is_interrupted(&self) -> bool {
        let Some(reason) = self.stops.reason() else { return false };
        self.mark(code(reason));
        // Relaxed: as for any stop.
        if self.bound.fetch_min(0, Relaxed) > 0 {
            self.send_to_all(&Message::Stop { bound: 0, reason: code(reason) });
        }
        true
    }

    fn mark(&self, reason: u8) {
        if reason > 0 {
            // Relaxed: outputs of other ranks carry the mark. Within the rank, the mark comes before the output that it belongs
            // to: the executor brings both to the thread that joins them.
            self.interrupted.store(reason, Relaxed);
        }
    }

    /// Returns the reason of the interruption. Called when the call has ended.
    pub(crate) fn reason(&self) -> Option<Reason> {
        match self.interrupted.load(Relaxed) {
            0 => None,
            1 => Some(Reason::Cancelled),
            _ => Some(Reason::DeadlineExceeded),
        }
    }

    // ------------------------------------------------------------------------------------------ shares

    /// Takes the output of this rank's share. The rank is idle from here on.
    pub(crate) fn finish(&self, segments: Segments<R::Output>, up: Link) {
        let mut desk = self.desk();
        desk.works = false;
        let thieves = std::mem::take(&mut desk.thieves);
        self.has_thief.store(false, Relaxed);
        let arrival = desk.joins.join(segments, up);
        self.world.counters().outstanding.raise_to(desk.joins.most() as u64);
        drop(desk);
        thieves.into_iter().for_each(|thief| self.refuse(thief));
        self.reduce(arrival);
    }

    /// Waits for a share, or for the end of the call.
    pub(crate) fn next(&self) -> Next<R::Output> {
        let begin = Instant::now();
        let next = self.wait_for_next(begin);
        self.world.counters().idle.add(u64::try_from(begin.elapsed().as_nanos()).unwrap_or(u64::MAX));
        next
    }

    fn wait_for_next(&self, begin: Instant) -> Next<R::Output> {
        let mut heard = begin;
        loop {
            if self.poll() {
                heard = Instant::now();
            }
            let mut desk = self.desk();
            if let Some(failure) = desk.failure.clone() {
                return Next::Failed(failure);
            }
            if let Some(output) = desk.end.take() {
                return Next::End(output);
            }
            if let Some(work) = desk.shares.pop_front() {
                desk.works = true;
                self.world.counters().shares.add(1);
                return Next::Work(work);
            }
            let now = Instant::now();
            let may_ask = desk.request.is_none() && self.world.size() > 1 && self.bound.load(Relaxed) > 0;
            let mut wait = LOOK;
            let mut victim = None;
            let withdrawn = desk.withdraw(now);
            if may_ask && now >= desk.retry {
                let chosen = desk.victim(self.world.rank(), self.world.size());
                desk.request = Some((chosen, now));
                victim = Some(chosen);
            } else if may_ask {
                wait = wait.min(desk.retry - now);
            }
            drop(desk);
            if let Some(victim) = withdrawn {
                self.send(victim, Message::Withdrawal);
                continue;
            }
            if let Some(victim) = victim {
                self.world.counters().tried.add(1);
                self.send(victim, Message::Request);
            }
            if self.world.size() > 1 {
                self.is_interrupted();
                self.world.transport().wait(wait);
            }
            if heard.elapsed() > self.world.timeout() {
                self.fail(format!(
                    "rank {} is out of work, and has heard nothing from any other rank for {:?} (FURCATE_CLUSTER_TIMEOUT)",
                    self.world.rank(),
                    self.world.timeout()
                ));
            }
        }
    }
}

impl<O> Desk<O> {
    /// Withdraws the request if it has waited for too long. Returns the victim.
    fn withdraw(&mut self, now: Instant) -> Option<usize> {
        let patience = self.patience;
        let (victim, _) =
            self.request.take_if(|(_, since)| now.saturating_duration_since(*since) > patience)?;
        self.patience = (patience * 2).min(LONGEST_PATIENCE);
        Some(victim)
    }

    /// Returns a random rank other than this one, by Marsaglia's xorshift.
    fn victim(&mut self, rank: usize, ranks: usize) -> usize {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        let other = (self.random >> 16) as usize % (ranks - 1);
        if other < rank { other } else { other + 1 }
    }
}

/// Returns a random number other than 0, the seed of a rank in a call (the last step of splitmix64).
fn scrambled(rank: u64, call: u64) -> u64 {
    let x = call.wrapping_mul(0x9E37_79B9_7F4A_7C15).wrapping_add(rank << 32 | rank);
    let x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    (x ^ (x >> 31)) | 1
}

impl<O> Arrival<O> {
    fn is_refused(&self) -> bool {
        matches!(self, Arrival::Refused)
    }
}

/// Returns the code of a reason in messages.
fn code(reason: Reason) -> u8 {
    match reason {
        Reason::Cancelled => 1,
        _ => 2,
    }
}

impl<T, R> Lookout for Call<'_, T, R>
where
    R: Reduction<T> + Sync,
    R::Output: Serialize + DeserializeOwned,
{
    #[inline]
    fn look(&self, size: usize, start: u64, may_divide: bool) -> Look {
        if self.world.transport().has_mail() {
            self.look_at_mail();
        }
        // Relaxed: hints, all of them.
        if start >= self.bound.load(Relaxed) || (size > 0 && !self.stops.is_empty() && self.is_interrupted())
        {
            return Look::Stop;
        }
        if may_divide && self.has_thief.load(Relaxed) { self.look_for_thief(size) } else { Look::Go }
    }

    fn open_gap(&self) -> u64 {
        self.desk().joins.open()
    }

    fn give(&self, thief: usize, gap: u64, description: Vec<u8>) {
        self.world.counters().given.add(1);
        self.send(thief, Message::Share { gap, description });
    }

    fn refuse(&self, thief: usize) {
        self.world.counters().refused.add(1);
        let works = self.desk().works;
        self.send(thief, Message::Refusal { works });
    }

    fn found(&self, end: u64) {
        let bound = match self.search {
            Search::No => return,
            Search::Any => 0,
            // Without positions nothing is known to lie behind the hit.
            Search::First if end == 0 => return,
            Search::First => end,
        };
        if self.bound.fetch_min(bound, Relaxed) > bound {
            self.send_to_all(&Message::Stop { bound, reason: 0 });
        }
    }
}

impl<T, R> Call<'_, T, R>
where
    R: Reduction<T> + Sync,
    R::Output: Serialize + DeserializeOwned,
{
    #[cold]
    fn look_at_mail(&self) {
        match self.polling.try_lock() {
            Ok(_polling) => drop(self.poll()),
            Err(TryLockError::Poisoned(polling)) => drop((polling, self.poll())),
            Err(TryLockError::WouldBlock) => {}
        }
    }

    /// Takes a thief from the line, if the task is one of the largest.
    #[cold]
    fn look_for_thief(&self, size: usize) -> Look {
        // Relaxed: a guess. It halves with each task that is too small, so the thief is not forgotten.
        let largest = self.largest.load(Relaxed).max(size);
        if size < largest / 2 {
            self.largest.store(largest / 2, Relaxed);
            return Look::Go;
        }
        self.largest.store(0, Relaxed);
        let mut desk = self.desk();
        let thief = desk.thieves.pop_front();
        self.has_thief.store(!desk.thieves.is_empty(), Relaxed);
        thief.map_or(Look::Go, Look::Divide)
    }
}
