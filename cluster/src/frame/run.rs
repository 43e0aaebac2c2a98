//! How the frames of a call run: the workers of a rank, and the messages between ranks.
//!
//! ```text
//!   rank 0                                   rank 1
//!     ├─ step: children A, B; then C           ╎ out of work
//!     │      node 1: C waits for A, B          ╎
//!     │◄──────────── Request ──────────────────┤
//!     ├─ step of A  ─── Ready(B, up: node 1) ─►├─ step of B
//!     │      node 1 has A's output             │
//!     │◄──────────── Output(node 1, b) ────────┤
//!     ├─ node 1 is full: C is ready            │
//!     │◄──────────── Request ──────────────────┤   it asks the receiver of its output first
//! ```
//!
//! A taker of a future on another rank sends it `Take`, and gets an `Output`.
//!
//! # Invariants
//!
//! 1. *Workers.* While frames are ready, threads of the rank's pool run them: jobs of a scope, which invite each other while more than one frame is
//!    ready, and end when they find none. So the pool is free for the parallel code inside a step, and threads that wait for such code may
//!    run frames.
//! 2. *Mail* is looked at between two steps, by one worker at a time. While a worker is inside a step, and the pool has another thread, one worker
//!    listens: it looks at the mail and at the deques, runs jobs of the pool, and leaves when no other worker is left. When the scope has
//!    ended, the rank is idle: the caller's thread waits for mail, and asks other ranks for work.
//! 3. *Every thief gets a reply:* the oldest ready frame if more than one is ready, because the worker that looks at the mail needs one itself; or, when the
//!    rank becomes idle, a refusal.
//! 4. *No lock is held while user code runs*, except `polling`, which is only tried for.
//! 5. *One end.* The call ends when the root's output is at rank 0, and all ranks have begun the same call. Frames without a taker are dropped then, or end after their step.

use super::table::{Address, CloneOutput, Place, Ready, Shard, Unknown};
use super::{Frame, FrameContext, Future, Next};
use crate::asking::{Ask, Asking};
use crate::encoding::{decode, encode};
use crate::handshake::Caller;
use crate::session::{Failure, Session, between_steps};
use crate::transport::Message;
use crate::world::World;
use furcate_pool::sync::clock::Instant;
use furcate_pool::sync::machine::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed, Ordering::SeqCst};
use furcate_pool::sync::machine::{Mutex, MutexGuard, thread};
use furcate_pool::{Scope, Yield, current_num_threads, current_thread_index, scope, yield_now};
use serde::{Deserialize, Serialize};
use std::any::Any;
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, Location, catch_unwind, resume_unwind};
use std::sync::{PoisonError, TryLockError};
use std::time::Duration;

/// Runs a frame on all ranks of a world, and returns its output: [`Frames::run`] without options.
///
/// # Panics
///
/// As [`Frames::run`].
#[track_caller]
pub fn run<F: Frame>(world: &World, root: F, data: &F::Data) -> F::Output {
    Frames::new(world).run(root, data)
}

/// A computation of frames, with its options.
#[derive(Clone, Copy, Debug)]
#[must_use = "nothing is done until `run` is called"]
pub struct Frames<'w> {
    world: &'w World,
    rule: Rule,
}

/// Way to steal and to join: whether thieves take continuations or children, and where a frame goes on after a join.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rule {
    Greedy,
    Stalling,
    ChildStealing,
    RunToCompletion,
}

impl Rule {
    /// Whether the last child runs first, and the others are stolen.
    fn steals_children(self) -> bool {
        matches!(self, Rule::ChildStealing | Rule::RunToCompletion)
    }

    /// The calls of ranks with different rules are different calls.
    fn terminal(self) -> &'static str {
        match self {
            Rule::Greedy => "frames",
            Rule::Stalling => "frames with the stalling join",
            Rule::ChildStealing => "frames with child stealing",
            Rule::RunToCompletion => "frames that run to completion",
        }
    }
}

impl<'w> Frames<'w> {
    /// Makes a computation on all ranks of a world.
    pub fn new(world: &'w World) -> Self {
        Frames { world, rule: Rule::Greedy }
    }

    /// Replaces the greedy join by the *stalling* join, for comparisons: a frame that a steal has [blocked](crate::Counts::blocked) goes on, when its
    /// results are all there, only on its rank, and only after nothing else was ready there and a steal has failed. The same holds for a frame that has
    /// waited for futures. A frame that is forked after futures waits for them on the rank that takes it. Runtimes do so whose workers own the tasks
    /// that wait in a join. (The order of Shiina and Taura's runtime: the worker's own tasks, a steal, then one of the tasks that wait.)
    pub fn stalling(self) -> Self {
        Frames { rule: Rule::Stalling, ..self }
    }

    /// *Child stealing*, for comparisons. The last child stands for the rest of the frame that forks it, and goes on first. The other children are
    /// what other ranks steal. The join is the [stalling](Self::stalling) one: a frame that has begun stays on its rank. (The *Full* variant of
    /// Shiina and Taura.)
    pub fn child_stealing(self) -> Self {
        Frames { rule: Rule::ChildStealing, ..self }
    }

    /// Child stealing with tasks that *run to completion*, for comparisons. A frame that waits stays on the stack of its worker, which runs other
    /// frames on top of it. So a frame whose results are all there does not go on before the frames above it are done. (The *RtC* variant of Shiina
    /// and Taura.)
    ///
    /// Only for nested joins, one worker for each rank, and recursions of a small depth. A frame that waits for a future may wait for a frame
    /// below it on the stack, and then the call fails or does not end. A frame that waits for nothing goes on at once. The stack is used up by some
    /// ten thousand frames.
    pub fn run_to_completion(self) -> Self {
        Frames { rule: Rule::RunToCompletion, ..self }
    }

    /// Runs a frame, and returns its output on every rank. A collective call. The root of rank 0 is the one that runs.
    ///
    /// The frames run on the current pool of each rank, or on the global pool.
    ///
    /// # Panics
    ///
    /// On every rank, if
    ///
    /// - a step panics on one of them: the message names the rank;
    /// - the ranks make different calls;
    /// - a frame or an output cannot be encoded;
    /// - a [`Future`] is waited for more often than it was made for;
    /// - a rank that is out of work hears nothing for the world's [timeout](World::with_timeout), as when all frames wait for futures of one
    ///   another;
    /// - a message that has arrived cannot be decoded.
    ///
    /// A rank that has the result returns it, whatever comes later. So if a rank dies, times out or gets a damaged message while the result is
    /// under way, some ranks may return the result, and the others panic.
    #[track_caller]
    pub fn run<F: Frame>(self, root: F, data: &F::Data) -> F::Output {
        let number = self.world.begin_call();
        let caller = Caller::new::<(F, &F::Data), F::Output>(self.rule.terminal(), 0, self.world.build());
        let caller = caller.at(Location::caller(), false);
        let call = FrameCall::new(Session::new(self.world, *number, caller), *number, data, self.rule);
        call.begin(root);
        call.serve();
        let result = call.into_result();
        drop(number);
        match result {
            Ok(output) => output,
            Err(Stop::Failed(failure)) => panic!("the call failed on all ranks: {failure}"),
            Err(Stop::Panicked(payload)) => resume_unwind(payload),
        }
    }
}

/// Reason why a call has no result.
enum Stop {
    Failed(Failure),
    Panicked(Box<dyn Any + Send>),
}

/// Destination of the root's output.
const ROOT: Address = Address { rank: 0, shard: u32::MAX, number: 0, place: Place::Future };

/// The content of a message about frames.
#[derive(Serialize, Deserialize)]
enum Mail<F, O> {
    /// Reply to a request: a frame that can be run.
    Ready(Ready<F, O>),
    /// An output for a frame or a future of the receiver.
    Output { to: Address, output: O },
    /// A taker of a future of the receiver.
    Take { future: Address, taker: Address },
}

type Shards<F, O> = Box<[Mutex<Shard<F, O>>]>;

/// A rank's part in a call.
pub(super) struct FrameCall<'w, F: Frame> {
    session: Session<'w>,
    data: &'w F::Data,
    rule: Rule,
    /// One for each thread of the pool.
    shards: Shards<F, F::Output>,
    /// Number of frames that can be run.
    ready: AtomicUsize,
    /// Number of workers (invariant 1).
    workers: AtomicUsize,
    /// Whether a worker listens (invariant 2).
    listens: AtomicBool,
    polling: Mutex<()>,
    desk: Mutex<Desk>,
    /// Whether a thief waits in the line.
    has_thief: AtomicBool,
    /// Whether nothing is to be begun any more.
    is_over: AtomicBool,
    /// The root's output, and the result of the call.
    root: Mutex<Option<F::Output>>,
    end: Mutex<Option<F::Output>>,
    panic: Mutex<Option<Box<dyn Any + Send>>>,
}

/// State of a rank towards the other ranks.
#[derive(Debug)]
struct Desk {
    /// Whether the rank is out of work (invariant 2).
    is_idle: bool,
    thieves: VecDeque<usize>,
    asking: Asking,
    /// Number of frames that wait, and of those whose results are all there.
    waiting: usize,
    resumable: usize,
}

/// The longest time between two looks of a listener.
const LISTEN: Duration = Duration::from_micros(100);

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Nothing that can panic is done with these locks, except allocations.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn unlocked<T>(mutex: Mutex<T>) -> T {
    mutex.into_inner().unwrap_or_else(PoisonError::into_inner)
}

impl<'w, F: Frame> FrameCall<'w, F> {
    fn new(session: Session<'w>, number: u64, data: &'w F::Data, rule: Rule) -> Self {
        let (rank, ranks) = (session.world().rank(), session.world().size());
        // The maxima of one computation.
        session.world().counters().waiting.reset();
        session.world().counters().resumable.reset();
        FrameCall {
            data,
            rule,
            shards: (0..current_num_threads()).map(|_| Mutex::new(Shard::new(number))).collect(),
            ready: AtomicUsize::new(0),
            workers: AtomicUsize::new(0),
            listens: AtomicBool::new(false),
            polling: Mutex::new(()),
            desk: Mutex::new(Desk {
                is_idle: false,
                thieves: VecDeque::new(),
                asking: Asking::new(rank, ranks, number).pausing(session.world().transport().longest_pause()),
                waiting: 0,
                resumable: 0,
            }),
            has_thief: AtomicBool::new(false),
            is_over: AtomicBool::new(false),
            root: Mutex::new(None),
            end: Mutex::new(None),
            panic: Mutex::new(None),
            session,
        }
    }

    pub(super) fn world(&self) -> &'w World {
        self.session.world()
    }

    pub(super) fn data(&self) -> &'w F::Data {
        self.data
    }

    /// Makes the root ready, on rank 0.
    fn begin(&self, root: F) {
        if self.world().is_root() {
            self.push(0, Ready::new(root, ROOT));
        }
    }

    fn into_result(self) -> Result<F::Output, Stop> {
        self.session.leave();
        // A frame without a taker may have panicked after the end. The other ranks have the result.
        if let Some(output) = unlocked(self.end) {
            return Ok(output);
        }
        Err(match unlocked(self.panic) {
            Some(payload) => Stop::Panicked(payload),
            None => {
                let nothing = || Failure("the call has ended without a result".to_owned());
                Stop::Failed(self.session.failure().unwrap_or_else(nothing))
            }
        })
    }

    // ------------------------------------------------------------------------------------------ workers

    /// Runs frames until the call ends.
    fn serve(&self) {
        // Messages that came before the call are no mail of the transport any more, and their senders may wait for a reply.
        self.guarded(|| self.look_at_mail(0));
        while !self.is_over() {
            // When the scope has ended, no worker is left (invariant 2).
            scope(|scope| {
                if self.enter() {
                    self.run_frames(scope);
                }
            });
            if !self.is_over() {
                self.guarded(|| self.idle(|| false));
            }
        }
    }

    /// Runs something in which user code may panic. A panic ends the call.
    fn guarded(&self, run: impl FnOnce()) {
        if let Err(payload) = catch_unwind(AssertUnwindSafe(run)) {
            self.session.has_panicked(&*payload);
            lock(&self.panic).get_or_insert(payload);
            self.stop();
        }
    }

    /// Counts a worker, unless there is one for each thread of the pool.
    fn enter(&self) -> bool {
        let most = self.shards.len();
        let more = |workers| (workers < most).then_some(workers + 1);
        self.workers.fetch_update(SeqCst, Relaxed, more).is_ok()
    }

    /// A worker: runs frames while there are any, or listens.
    fn run_frames<'s>(&'s self, scope: &Scope<'s>) {
        let worker = current_thread_index().unwrap_or(0) % self.shards.len();
        loop {
            self.guarded(|| {
                self.work(worker, scope);
                self.listen(worker);
            });
            // SeqCst: a worker that makes a frame ready counts it before it looks at the number of workers. So either it sees that this
            // one has left, or this one sees the frame.
            if self.is_over() || self.ready.load(SeqCst) == 0 {
                self.workers.fetch_sub(1, SeqCst);
                if self.is_over() || self.ready.load(SeqCst) == 0 || !self.enter() {
                    return;
                }
            }
        }
    }

    fn work<'s>(&'s self, worker: usize, scope: &Scope<'s>) {
        while !self.is_over() {
            self.look(worker);
            let Some(ready) = self.next_ready(worker) else { return };
            // Relaxed: hints. More frames are ready (invariant 1), or no other worker is there to listen (invariant 2).
            let is_alone = self.workers.load(Relaxed) == 1;
            if (is_alone || self.ready.load(Relaxed) > 0) && self.enter() {
                scope.spawn(|scope| self.run_frames(scope));
            }
            self.step(worker, ready);
        }
    }

    /// Looks at the mail, and at the thieves that wait, between two steps.
    fn look(&self, worker: usize) {
        if self.world().transport().has_mail() {
            self.look_at_mail(worker);
        }
        // Relaxed: a hint. The line is read under its lock.
        if self.has_thief.load(Relaxed) {
            self.serve_thieves();
        }
    }

    /// Waits while other workers are inside steps, unless another worker does (invariant 2).
    fn listen(&self, worker: usize) {
        if self.listens.swap(true, Relaxed) {
            return;
        }
        let transport = self.world().transport();
        // Relaxed: a hint. A listener that leaves too early leaves the rank deaf until the next step ends.
        while !self.is_over() && self.ready.load(Relaxed) == 0 && self.workers.load(Relaxed) > 1 {
            if transport.has_mail() {
                self.look_at_mail(worker);
            }
            // The other worker may be a job that this thread has spawned, and no other one has taken.
            if yield_now() != Some(Yield::Executed) {
                transport.wait(LISTEN);
            }
        }
        self.listens.store(false, Relaxed);
    }

    fn is_over(&self) -> bool {
        // Relaxed: a hint. The result lies under a lock.
        self.is_over.load(Relaxed)
    }

    /// Lets nothing begin any more.
    fn stop(&self) {
        // Relaxed: a hint, as above.
        self.is_over.store(true, Relaxed);
    }

    fn fail(&self, reason: String) {
        self.session.fail(reason);
        self.stop();
    }

    // ------------------------------------------------------------------------------------------- frames

    fn shard(&self, index: usize) -> MutexGuard<'_, Shard<F, F::Output>> {
        lock(&self.shards[index])
    }

    fn counts_ready(&self, number: usize) {
        self.ready.fetch_add(number, SeqCst);
    }

    fn push(&self, worker: usize, ready: Ready<F, F::Output>) {
        self.shard(worker).ready.push_back(ready);
        self.counts_ready(1);
    }

    /// Takes the youngest frame of this worker, or the oldest one of another worker, or one that runs later.
    fn next_ready(&self, worker: usize) -> Option<Ready<F, F::Output>> {
        let workers = self.shards.len();
        let own = self.shard(worker).ready.pop_back();
        let others = || (1..workers).find_map(|i| self.shard((worker + i) % workers).ready.pop_front());
        let later = || (0..workers).find_map(|i| self.shard((worker + i) % workers).later.pop_front());
        let ready = own.or_else(others).or_else(later)?;
        Some(self.taken(ready))
    }

    /// Takes an old frame for another rank, unless this rank needs it (invariant 3).
    fn spare(&self) -> Option<Ready<F, F::Output>> {
        if self.ready.load(Relaxed) < 2 {
            return None;
        }
        let ready = (0..self.shards.len()).find_map(|i| self.shard(i).ready.pop_front())?;
        Some(self.taken(ready))
    }

    /// Counts a frame that is ready no longer.
    fn taken(&self, ready: Ready<F, F::Output>) -> Ready<F, F::Output> {
        self.ready.fetch_sub(1, SeqCst);
        self.goes_on(ready)
    }

    /// Counts how long a frame has waited, if it has.
    fn goes_on(&self, ready: Ready<F, F::Output>) -> Ready<F, F::Output> {
        let counters = self.world().counters();
        if let Some(since) = ready.since {
            lock(&self.desk).resumable -= 1;
            counters.stalled.add_time(since.elapsed());
        }
        if let Some(since) = ready.blocked {
            counters.blocked.add(1);
            counters.blocking.add_time(since.elapsed());
        }
        ready
    }

    fn step(&self, worker: usize, ready: Ready<F, F::Output>) {
        let mut next = Some(ready);
        while let Some(Ready { frame, results, up, futures, .. }) = next.take() {
            if !futures.is_empty() {
                return self.wait(worker, (frame, up), Vec::new(), futures);
            }
            self.world().counters().steps.add(1);
            match frame.step(results, &mut FrameContext { call: self, worker }) {
                Next::Return(output) => self.deliver(worker, up, output),
                Next::Wait { children, futures, then } if self.rule == Rule::RunToCompletion => {
                    if children.is_empty() && futures.is_empty() {
                        self.shard(worker).stack.push((up, Some(Ready::new(then, up))));
                    } else {
                        self.shard(worker).stack.push((up, None));
                        self.wait(worker, (then, up), children, futures);
                    }
                    next = self.run_above(worker, up);
                }
                Next::Wait { children, futures, then } => self.wait(worker, (then, up), children, futures),
            }
        }
    }

    /// Runs other frames on top of one that waits, until it can go on or the call ends.
    fn run_above(&self, worker: usize, up: Address) -> Option<Ready<F, F::Output>> {
        let can_go_on = || {
            let shard = self.shard(worker);
            shard.stack.last().is_some_and(|(frame, ready)| *frame == up && ready.is_some())
        };
        while !self.is_over() && !can_go_on() {
            self.look(worker);
            match self.next_ready(worker) {
                Some(ready) => self.step(worker, ready),
                // The only worker asks other ranks.
                None if self.shards.len() == 1 => self.idle(can_go_on),
                // No job of the pool, which may be another worker that listens on top of this frame.
                None => thread::yield_now(),
            }
        }
        let (_, ready) = self.shard(worker).stack.pop()?;
        ready.filter(|_| !self.is_over()).map(|ready| self.goes_on(ready))
    }

    /// Makes a frame wait for children, which are forked, and for futures.
    fn wait(
        &self,
        worker: usize,
        (frame, up): (F, Address),
        children: Vec<F>,
        futures: Vec<Future<F::Output>>,
    ) {
        let forked = children.len();
        if forked + futures.len() == 0 {
            self.shard(worker).later.push_back(Ready::new(frame, up));
            return self.counts_ready(1);
        }
        let mut desk = lock(&self.desk);
        desk.waiting += 1;
        let counters = self.world().counters();
        counters.waits.add(1);
        counters.waiting.raise_to(desk.waiting as u64);
        drop(desk);
        let mut shard = self.shard(worker);
        let number = shard.wait(frame, up, (forked, futures.len()));
        let place = |index| self.address(worker, number, Place::Result(index as u32));
        let children = children.into_iter().enumerate();
        let children = children.map(|(index, frame)| Ready::new(frame, place(index)));
        // The youngest runs next on this worker: the first child, or the last one if children are stolen.
        if self.rule.steals_children() {
            shard.ready.extend(children);
        } else {
            shard.ready.extend(children.rev());
        }
        drop(shard);
        if forked > 0 {
            self.counts_ready(forked);
        }
        for (index, future) in futures.into_iter().enumerate() {
            self.take(worker, future.address, place(forked + index));
        }
        if forked == 0 {
            self.shard(worker).block(number);
        }
    }

    fn address(&self, worker: usize, number: u64, place: Place) -> Address {
        Address { rank: self.world().rank() as u32, shard: worker as u32, number, place }
    }

    /// Forks a frame that waits for futures, and whose output goes to a future.
    pub(super) fn fork(
        &self,
        worker: usize,
        frame: F,
        futures: Vec<Future<F::Output>>,
        (takers, clone): (usize, Option<CloneOutput<F::Output>>),
    ) -> Address {
        let number = self.shard(worker).future(takers, clone);
        let up = self.address(worker, number, Place::Future);
        if futures.is_empty() || self.rule != Rule::Greedy {
            self.push(worker, Ready { futures, ..Ready::new(frame, up) });
        } else {
            self.wait(worker, (frame, up), Vec::new(), futures);
        }
        up
    }

    /// Returns the shard of an address of this rank.
    fn shard_of(&self, address: Address) -> Result<MutexGuard<'_, Shard<F, F::Output>>, Unknown> {
        self.shards.get(address.shard as usize).map(lock).ok_or(Unknown)
    }

    /// Brings an output to its destination.
    fn deliver(&self, worker: usize, to: Address, output: F::Output) {
        if to.rank as usize != self.world().rank() {
            lock(&self.desk).asking.prefer(to.rank as usize);
            return self.send(to.rank as usize, &Mail::Output { to, output });
        }
        if to == ROOT {
            return self.end(output);
        }
        if self.arrive(worker, to, output).is_err() {
            self.fail(format!("an output came for {to:?}, where no frame waits for it"));
        }
    }

    fn arrive(&self, worker: usize, to: Address, output: F::Output) -> Result<(), Unknown> {
        match to.place {
            Place::Result(_) => {
                let ready = self.shard_of(to)?.take_result(to, output)?;
                ready.into_iter().for_each(|ready| self.resume(worker, to, ready));
            }
            Place::Future => {
                let (takers, clone) = self.shard_of(to)?.copies(to.number)?;
                let mut outputs = Vec::with_capacity(takers);
                for _ in 1..takers {
                    outputs.push(clone.ok_or(Unknown)?(&output));
                }
                if takers > 0 {
                    outputs.push(output);
                }
                let waiting = self.shard_of(to)?.take_outputs(to.number, outputs)?;
                waiting.into_iter().for_each(|(taker, output)| self.deliver(worker, taker, output));
            }
        }
        Ok(())
    }

    /// Makes a frame ready whose results are all there, the last one at the place `to`.
    fn resume(&self, worker: usize, to: Address, ready: Ready<F, F::Output>) {
        let mut desk = lock(&self.desk);
        desk.waiting -= 1;
        desk.resumable += 1;
        self.world().counters().resumable.raise_to(desk.resumable as u64);
        drop(desk);
        // The frame's worker may have it on its stack, and other frames above it.
        if self.rule == Rule::RunToCompletion {
            let mut shard = self.shard(to.shard as usize);
            if let Some((_, place)) = shard.stack.iter_mut().rfind(|(frame, _)| *frame == ready.up) {
                *place = Some(ready);
                return;
            }
        }
        match self.rule {
            Rule::Stalling | Rule::ChildStealing if ready.blocked.is_some() => {
                self.shard(worker).stalled.push_back(ready);
            }
            Rule::RunToCompletion if ready.blocked.is_some() => {
                self.shard(worker).later.push_back(ready);
                self.counts_ready(1);
            }
            _ => self.push(worker, ready),
        }
    }

    /// Lets the oldest frame that stalls go on. Returns whether there is one.
    fn unstall(&self) -> bool {
        let Some(ready) = (0..self.shards.len()).find_map(|i| self.shard(i).stalled.pop_front()) else {
            return false;
        };
        // No other rank can steal it there.
        self.shard(0).later.push_back(ready);
        self.counts_ready(1);
        true
    }

    /// Brings a taker to a future.
    fn take(&self, worker: usize, future: Address, taker: Address) {
        if future.rank as usize != self.world().rank() {
            if future.rank as usize >= self.world().size() {
                return self.fail(format!("{future:?} is on no rank of this world"));
            }
            return self.send(future.rank as usize, &Mail::Take { future, taker });
        }
        let output = self.shard_of(future).and_then(|mut shard| match future.place {
            Place::Future => shard.take_taker(future.number, taker),
            Place::Result(_) => Err(Unknown),
        });
        match output {
            Ok(output) => output.into_iter().for_each(|output| self.deliver(worker, taker, output)),
            Err(Unknown) => self.fail(format!(
                "{future:?} is waited for more often than it was made for, or it is of another call: a future is waited for once, and one of \
                 `fork_for` as often as it says"
            )),
        }
    }

    // -------------------------------------------------------------------------------------------- mail

    fn send(&self, to: usize, mail: &Mail<F, F::Output>) {
        match encode(mail) {
            Ok(bytes) => {
                if let Mail::Ready(_) = mail {
                    let counters = self.world().counters();
                    counters.given.add(1);
                    counters.given_bytes.add(bytes.len() as u64);
                }
                self.session.send(to, Message::Frame(bytes));
            }
            Err(error) => self.fail(format!("a frame or an output cannot be encoded: {error}")),
        }
    }

    #[cold]
    fn look_at_mail(&self, worker: usize) {
        match self.polling.try_lock() {
            Ok(_polling) => drop(self.poll(worker, between_steps())),
            Err(TryLockError::Poisoned(polling)) => drop((polling, self.poll(worker, between_steps()))),
            Err(TryLockError::WouldBlock) => {}
        }
    }

    /// Takes messages, until there are none or it is enough. Returns whether one of them is a sign of work.
    fn poll(&self, worker: usize, is_enough: impl FnMut() -> bool) -> bool {
        self.session.take(is_enough, |from, message| self.handle(worker, from, message))
    }

    fn handle(&self, worker: usize, from: usize, message: Message) {
        match message {
            Message::Abort(_) => self.stop(),
            Message::Request => self.thief_comes(from),
            Message::Withdrawal => {
                let mut desk = lock(&self.desk);
                let line = desk.thieves.len();
                desk.thieves.retain(|&thief| thief != from);
                let waited = desk.thieves.len() < line;
                self.has_thief.store(!desk.thieves.is_empty(), Relaxed);
                drop(desk);
                if waited {
                    self.refuse(from, true);
                }
            }
            Message::Refusal { rest, .. } => lock(&self.desk).asking.refused(from, rest),
            Message::Frame(bytes) => match decode(&bytes) {
                Ok(mail) => self.frame_mail(worker, from, mail),
                Err(error) => self.fail(format!("a frame from rank {from} {error}")),
            },
            Message::End(bytes) => match decode(&bytes) {
                Ok(output) => self.take_end(output, Message::End(bytes)),
                Err(error) => self.fail(format!("the result from rank {from} {error}")),
            },
            Message::Hello { .. } => self.try_to_end(),
            Message::Share { .. }
            | Message::Output { .. }
            | Message::Held { .. }
            | Message::Node(_)
            | Message::Fetch { .. }
            | Message::Fetched { .. }
            | Message::Stop { .. } => {
                self.fail(format!("rank {from} sent a message of a chain to a call of frames"));
            }
        }
    }

    fn frame_mail(&self, worker: usize, from: usize, mail: Mail<F, F::Output>) {
        match mail {
            Mail::Ready(ready) if (ready.up.rank as usize) < self.world().size() => {
                let counters = self.world().counters();
                if let Some(latency) = lock(&self.desk).asking.got_share(from) {
                    counters.add_latency(latency);
                }
                counters.won.add(1);
                counters.shares.add(1);
                self.push(worker, ready);
            }
            Mail::Output { to, output } if to.rank as usize == self.world().rank() => {
                self.deliver(worker, to, output);
            }
            Mail::Take { future, taker }
                if future.rank as usize == self.world().rank()
                    && (taker.rank as usize) < self.world().size() =>
            {
                self.take(worker, future, taker);
            }
            Mail::Ready(Ready { up: to, .. }) | Mail::Output { to, .. } | Mail::Take { future: to, .. } => {
                self.fail(format!("rank {from} sent a message for {to:?} to rank {}", self.world().rank()));
            }
        }
    }

    fn thief_comes(&self, thief: usize) {
        let mut desk = lock(&self.desk);
        if desk.is_idle || self.is_over() {
            drop(desk);
            return self.refuse(thief, false);
        }
        desk.thieves.push_back(thief);
        self.has_thief.store(true, Relaxed);
        drop(desk);
        self.serve_thieves();
    }

    /// Gives old frames to thieves, while there are both.
    fn serve_thieves(&self) {
        loop {
            let Some(thief) = ({
                let mut desk = lock(&self.desk);
                let thief = desk.thieves.pop_front();
                self.has_thief.store(!desk.thieves.is_empty(), Relaxed);
                thief
            }) else {
                return;
            };
            let Some(ready) = self.spare() else {
                let mut desk = lock(&self.desk);
                desk.thieves.push_front(thief);
                self.has_thief.store(true, Relaxed);
                return;
            };
            self.send(thief, &Mail::Ready(ready));
        }
    }

    fn refuse(&self, thief: usize, works: bool) {
        self.world().counters().refused.add(1);
        self.session.send(thief, Message::Refusal { works, rest: Duration::ZERO });
    }

    /// Waits for mail, and asks other ranks for work, until something is ready, a frame on the stack can go on, or the call ends (invariant 2).
    fn idle(&self, can_go_on: impl Fn() -> bool) {
        let begin = Instant::now();
        // The frames that come go to the first shard.
        let worker = 0;
        let mut desk = lock(&self.desk);
        desk.is_idle = true;
        let thieves = std::mem::take(&mut desk.thieves);
        self.has_thief.store(false, Relaxed);
        drop(desk);
        thieves.into_iter().for_each(|thief| self.refuse(thief, false));
        let transport = self.world().transport();
        let mut heard = Instant::now();
        loop {
            // Thieves that are refused ask again. If there are many, an idle rank gets requests without end.
            let has_work = || self.ready.load(SeqCst) > 0 || can_go_on() || self.is_over();
            // A frame that stalls must not wait for the end of the requests, either.
            let has_stalled = || lock(&self.desk).resumable > 0;
            if self.poll(worker, || has_work() || has_stalled()) {
                heard = Instant::now();
            }
            if has_work() {
                break;
            }
            if self.world().size() == 1 {
                if self.unstall() {
                    break;
                }
                return self.fail("all frames wait for futures of one another".to_owned());
            }
            let mut desk = lock(&self.desk);
            let action = desk.asking.next(Instant::now(), true);
            // A frame that stalls goes on when a steal has failed.
            let may_go_on = desk.resumable > 0 && !desk.asking.waits_for_reply();
            drop(desk);
            match action {
                Ask::Withdraw(_) | Ask::Request(_) => self.session.ask(action),
                Ask::Wait(_) if may_go_on && self.unstall() => {}
                // The thread may be one of a pool that has other work.
                Ask::Wait(time) if yield_now() != Some(Yield::Executed) => transport.wait(time),
                Ask::Wait(_) => {}
            }
            if self.world().is_over(heard.elapsed()) {
                self.session.timed_out();
                self.stop();
            }
        }
        lock(&self.desk).is_idle = false;
        self.world().counters().idle.add_time(begin.elapsed());
    }

    // --------------------------------------------------------------------------------------------- end

    /// Takes the root's output, at rank 0.
    fn end(&self, output: F::Output) {
        lock(&self.root).get_or_insert(output);
        self.try_to_end();
    }

    /// Ends the call, if the root's output is there, and all ranks have begun the same call (invariant 5).
    fn try_to_end(&self) {
        if !self.session.all_are_here() {
            return;
        }
        let Some(output) = lock(&self.root).take() else { return };
        match encode(&output) {
            Ok(bytes) => self.take_end(output, Message::End(bytes)),
            // No other rank needs it.
            Err(_) if self.world().size() == 1 => self.take_end(output, Message::End(Vec::new())),
            Err(error) => self.fail(format!("the result cannot be encoded: {error}")),
        }
    }

    /// Takes the result, and sends it down the tree of the ranks. A failure that came first stands on all ranks.
    fn take_end(&self, output: F::Output, message: Message) {
        if self.session.ended() {
            self.session.send_down(message);
            *lock(&self.end) = Some(output);
        }
        self.stop();
    }
}
