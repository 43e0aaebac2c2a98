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
//!     ├───────── End ────────────►├───────── End ────────────►│     down a binary tree of the ranks
//! ```
//!
//! A long output stays where it was made until it is wanted, and its node may move there: [`held`](crate::held).
//!
//! # Invariants
//!
//! 1. A rank is *working* (it has a share, and its pool runs it) or *idle*. Only an idle rank sends a `Request`, and it sends
//!    no second one before the reply to the first, or before it has withdrawn the first. Only a working rank keeps a thief waiting. A rank
//!    that becomes idle refuses all thieves in its line.
//!
//!    A thief withdraws its request if the victim's workers are all inside long items. The victim takes it out of the line then, and refuses
//!    it. So every request has one reply ([`asking`](crate::asking), invariant 1). A share that comes all the same is kept, and worked
//!    on after the present one.
//! 2. Any thread of a working rank may look at the mail, between two steps, one at a time: `polling`. An idle rank's thread is
//!    the only one in the rank.
//! 3. No lock is held while user code runs (a reduction, an encoding), except `polling`, which is only tried for.
//! 4. *One end.* The call ends for a rank by `End` from rank 0, or by a failure ([`Session`]). After either nothing is sent for this call, except
//!    that a rank sends `End` on to two other ranks at most.
//! 5. *Signs of life.* A rank that hears of no work for the world's timeout gives up. Requests, and refusals of ranks that are out of work,
//!    are no signs of work. A withdrawal makes a working rank show itself, between two steps.
//! 6. *Interruption travels ahead.* A rank that notices a token or a deadline tells all others so. A task that leaves items out for that
//!    reason marks the outputs of its rank. Every rank that gets an output with a mark marks its own. So the result at rank 0 is marked if
//!    any item that belongs to it was left out, and only then: a stop that finds nothing left to be done makes no mark. `End` carries that mark, and it alone decides whether the call was interrupted, on
//!    every rank: a stop that comes later was too late.
//! 7. *Nothing of a failed call is a result.* A failure is noted before it stops the tasks. So a rank whose tasks have left items out because
//!    of it reduces no output, and sends none.

use crate::asking::{Ask, Asking};
use crate::encoding::{decode, encode};
use crate::handshake::Caller;
use crate::held::{Held, Place};
use crate::joins::{Joins, Link};
use crate::segments::Segments;
use crate::session::{Failure, Session, between_steps};
use crate::share::{Look, Lookout};
use crate::stop::Stops;
use crate::transport::Message;
use crate::world::World;
use furcate_pool::sync::clock::Instant;
use furcate_pool::sync::machine::atomic::{
    AtomicBool, AtomicU8, AtomicU64, AtomicUsize, Ordering::Acquire, Ordering::Relaxed, Ordering::Release,
};
use furcate_pool::sync::machine::{Mutex, MutexGuard};
use furcate_pool::trace;
use furcate_schedulers::Reduction;
use furcate_schedulers::policy::Reason;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::any::Any;
use std::collections::VecDeque;
use std::marker::PhantomData;
use std::sync::{PoisonError, TryLockError};
use std::time::Duration;

mod outputs;

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

/// A rank's part in a call.
pub(crate) struct Call<'w, T, R: Reduction<T>> {
    session: Session<'w>,
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
    /// Code of the reason for which a rank has stopped the call, or 0.
    announced: AtomicU8,
    /// Code of the reason for which items were left out, or 0.
    interrupted: AtomicU8,
    /// Number of units of the source, on the first rank of which it is known: this one, or one that has sent an output.
    units: Mutex<Option<(usize, u64)>>,
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
    asking: Asking,
    /// Shares that have arrived.
    shares: VecDeque<Work>,
    joins: Joins<Place<O>>,
    held: Held<O>,
    /// The result, with the code of the reason of an interruption.
    end: Option<(u8, O)>,
}

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
            asking: Asking::new(rank, ranks, number).pausing(world.transport().longest_pause()),
            shares: VecDeque::from([Work { description: None, up: Link::Gap { rank: 0, gap: rank as u64 } }]),
            joins: Joins::new(rank, ranks),
            held: Held::new(),
            end: None,
        };
        Call {
            session: Session::new(world, number, caller),
            reduction,
            search,
            to_root,
            stops,
            bound: AtomicU64::new(u64::MAX),
            has_thief: AtomicBool::new(false),
            largest: AtomicUsize::new(0),
            announced: AtomicU8::new(0),
            interrupted: AtomicU8::new(0),
            units: Mutex::new(None),
            polling: Mutex::new(()),
            desk: Mutex::new(desk),
            items: PhantomData,
        }
    }

    pub(crate) fn world(&self) -> &'w World {
        self.session.world()
    }

    /// Hands over the last messages. Called when the call has ended or failed.
    pub(crate) fn leave(&self) {
        self.session.leave();
    }

    /// Notes the number of units of this rank's source.
    pub(crate) fn has_units(&self, units: usize) {
        self.compare_units(self.world().rank(), units as u64);
    }

    fn units(&self) -> MutexGuard<'_, Option<(usize, u64)>> {
        // Nothing that can panic is done with this lock.
        self.units.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends the call if two ranks have sources of other sizes. (The handshake compares them only if the chain knows them beforehand.)
    fn compare_units(&self, rank: usize, units: u64) {
        let (first, expected) = *self.units().get_or_insert((rank, units));
        if units != expected {
            self.fail(format!(
                "the ranks make different calls: the source of rank {rank} has {units} units, and that of rank {first} has {expected}; every \
                 rank has to have the same source"
            ));
        }
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

    // -------------------------------------------------------------------------------------------- mail

    /// Takes messages, until there are none or it is enough. Returns whether one of them is a sign of work (invariant 5).
    fn poll(&self, is_enough: impl FnMut() -> bool) -> bool {
        self.session.take(is_enough, |from, message| self.handle(from, message))
    }

    fn handle(&self, from: usize, message: Message) {
        match message {
            Message::Hello { .. } | Message::Frame(_) => {}
            Message::Abort(_) => self.stop_after_failure(),
            Message::Request => self.thief_comes(from),
            Message::Withdrawal => {
                let mut desk = self.desk();
                let waiting = desk.thieves.len();
                desk.thieves.retain(|&thief| thief != from);
                self.has_thief.store(!desk.thieves.is_empty(), Relaxed);
                // A thief that has left the line before has its reply, or a task is being divided for it.
                let was_in_line = desk.thieves.len() < waiting;
                drop(desk);
                if was_in_line {
                    self.refuse(from, Duration::ZERO);
                }
            }
            Message::Refusal { rest, .. } => self.desk().asking.refused(from, rest),
            Message::Share { gap, description } => {
                let mut desk = self.desk();
                let counters = self.world().counters();
                if let Some(latency) = desk.asking.got_share(from) {
                    counters.add_latency(latency);
                }
                counters.won.add(1);
                trace::record(trace::Kind::RankSteal, from as u64);
                let up = Link::Gap { rank: from, gap };
                desk.shares.push_back(Work { description: Some(description), up });
            }
            Message::Output { gap, bytes } => self.output_comes(from, gap, &bytes),
            Message::Held { gap, bytes } => self.place_comes(from, gap, &bytes),
            Message::Node(bytes) => self.node_comes(from, &bytes),
            Message::Fetch { id, ticket } => self.fetch_comes(from, id, ticket),
            Message::Fetched { ticket, bytes } => self.fetched_comes(from, ticket, &bytes),
            Message::Stop { bound, reason } => {
                self.announce(reason, bound);
            }
            Message::End(bytes) => match self.decode_end(&bytes) {
                Ok((reason, output)) => {
                    self.bound.store(0, Relaxed);
                    // After a failure the ranks below have an `Abort`, of the rank that has failed.
                    if self.session.ended() {
                        self.session.send_down(Message::End(bytes));
                        self.desk().end = Some((reason, output));
                    }
                }
                Err(error) => self.fail(format!("the result from rank {from} {error}")),
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
            self.refuse(thief, Duration::ZERO);
        }
    }

    fn encode(&self, output: &R::Output) -> postcard::Result<Vec<u8>> {
        // Relaxed: as in `mark`.
        let reason = self.interrupted.load(Relaxed);
        let (_, units) = self.units().unwrap_or_default();
        encode(&(reason, units, output))
    }

    /// Decodes the result. If it is for rank 0 alone, other ranks have that of no items.
    fn decode_end(&self, bytes: &[u8]) -> Result<(u8, R::Output), String> {
        if self.to_root {
            let reason = decode(bytes)?;
            return Ok((reason, self.reduction.finish(self.reduction.start())));
        }
        decode(bytes)
    }

    /// Ends the call, at rank 0. The reason of an interruption is the same on all ranks: later marks do not count.
    fn end(&self, output: R::Output) {
        // Relaxed: as in `mark`.
        let reason = self.interrupted.load(Relaxed);
        let message = if self.world().size() == 1 {
            None
        } else {
            let bytes = if self.to_root { encode(&reason) } else { encode(&(reason, &output)) };
            match bytes {
                Ok(bytes) => Some(Message::End(bytes)),
                Err(error) => return self.fail(format!("the result cannot be encoded: {error}")),
            }
        };
        // A failure that came first stands on all ranks.
        if self.session.ended() {
            message.into_iter().for_each(|message| self.session.send_down(message));
            self.desk().end = Some((reason, output));
        }
    }

    // ---------------------------------------------------------------------------------------- failures

    /// Ends the call on all ranks, with a failure of this one.
    pub(crate) fn fail(&self, reason: String) {
        self.session.fail(reason);
        self.stop_after_failure();
    }

    /// Ends the call on all ranks because this one has panicked.
    pub(crate) fn has_panicked(&self, payload: &(dyn Any + Send)) {
        self.session.has_panicked(payload);
        self.stop_after_failure();
    }

    /// Stops the tasks, after the failure was noted (invariant 7).
    fn stop_after_failure(&self) {
        // Release: pairs with the acquire in `look`. A task that stops has seen the failure, and so has the thread that joins it.
        self.bound.store(0, Release);
    }

    // ----------------------------------------------------------------------------------- interruptions

    /// Stops the call on all ranks if the token or the deadline says so. Returns whether it does.
    fn is_interrupted(&self) -> bool {
        let Some(reason) = self.stops.reason() else { return false };
        if self.announce(code(reason), 0) > 0 {
            self.session.send_to_all(Message::Stop { bound: 0, reason: code(reason) });
        }
        true
    }

    /// Stops the tasks at a position, for this reason. Returns the position of an earlier stop.
    fn announce(&self, reason: u8, bound: u64) -> u64 {
        if reason > 0 {
            // Relaxed: published by `bound`.
            self.announced.store(reason, Relaxed);
        }
        // Release: pairs with the acquire in `look`. A task that leaves items out because of this stop knows its reason, and marks its output.
        self.bound.fetch_min(bound, Release)
    }

    /// Notes that items were left out, if there is a reason.
    fn mark(&self, reason: u8) {
        if reason > 0 {
            // Relaxed: outputs of other ranks carry the mark. Within the rank, the mark comes before the output that it belongs
            // to: the executor brings both to the thread that joins them.
            self.interrupted.store(reason, Relaxed);
        }
    }

    /// Returns the reason of the interruption: the one that `End` carried. Called when the call has ended.
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
        let arrival = desk.joins.join(segments.map(Place::Here), up);
        self.world().counters().outstanding.raise_to(desk.joins.most() as u64);
        drop(desk);
        thieves.into_iter().for_each(|thief| self.refuse(thief, Duration::ZERO));
        self.reduce(arrival);
    }

    /// Waits for a share, or for the end of the call.
    pub(crate) fn next(&self) -> Next<R::Output> {
        let begin = Instant::now();
        let next = self.wait_for_next(begin);
        self.world().counters().idle.add_time(begin.elapsed());
        next
    }

    fn wait_for_next(&self, begin: Instant) -> Next<R::Output> {
        let mut heard = begin;
        loop {
            // Thieves that are refused ask again. If there are many, an idle rank gets requests without end.
            let mut are_many = between_steps();
            let has_work = || {
                let desk = self.desk();
                !desk.shares.is_empty() || desk.end.is_some() || self.session.failure().is_some()
            };
            if self.poll(|| are_many() && has_work()) {
                heard = Instant::now();
            }
            if let Some(failure) = self.session.failure() {
                return Next::Failed(failure);
            }
            let mut desk = self.desk();
            if let Some((reason, output)) = desk.end.take() {
                // Relaxed: this thread alone is left in the call.
                self.interrupted.store(reason, Relaxed);
                return Next::End(output);
            }
            if let Some(work) = desk.shares.pop_front() {
                desk.works = true;
                self.world().counters().shares.add(1);
                return Next::Work(work);
            }
            // Relaxed: a hint.
            let action = desk.asking.next(Instant::now(), self.bound.load(Relaxed) > 0);
            drop(desk);
            self.session.ask(action);
            if self.world().size() > 1 {
                self.is_interrupted();
                if let Ask::Wait(time) = action {
                    self.world().transport().wait(time);
                }
            }
            if self.world().is_over(heard.elapsed()) {
                self.session.timed_out();
                self.stop_after_failure();
            }
        }
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
        if self.world().transport().has_mail() {
            self.look_at_mail();
        }
        // Acquire: pairs with the release in `stop_after_failure`, and with the one in `announce`. A hit is a hint.
        if start >= self.bound.load(Acquire) || (size > 0 && !self.stops.is_empty() && self.is_interrupted())
        {
            if size > 0 {
                // Relaxed: published by `bound`. After a hit alone there is no reason.
                self.mark(self.announced.load(Relaxed));
            }
            return Look::Stop;
        }
        if may_divide && self.has_thief.load(Relaxed) { self.look_for_thief(size) } else { Look::Go }
    }

    fn open_gap(&self) -> u64 {
        self.desk().joins.open()
    }

    fn give(&self, thief: usize, gap: u64, description: Vec<u8>) {
        self.world().counters().given.add(1);
        trace::record(trace::Kind::RankGive, thief as u64);
        self.session.send(thief, Message::Share { gap, description });
    }

    fn refuse(&self, thief: usize, rest: Duration) {
        self.world().counters().refused.add(1);
        let works = self.desk().works;
        self.session.send(thief, Message::Refusal { works, rest });
    }

    fn fail(&self, reason: String) {
        Call::fail(self, reason);
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
            self.session.send_to_all(Message::Stop { bound, reason: 0 });
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
            Ok(_polling) => drop(self.poll(between_steps())),
            Err(TryLockError::Poisoned(polling)) => drop((polling, self.poll(between_steps()))),
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
