//! Progress of those who wait, when all slots are held by threads that are blocked outside the pool.
//!
//! A job may hold a lock of the program while it waits: in `block_on`, in a chain, in a scope. If every thread that holds a slot
//! blocks on that lock, no slot becomes free before the waiting job goes on. So the waiting job must be able to go on without a
//! slot. It does so after a grace time. This is the one exception to "never more than n threads run jobs at once", and
//! [counted](crate::WorkerStats::overdue).
//!
//! # Invariants
//!
//! 1. *A wait that is over ends.* A worker whose latch is set, and which is given no slot, goes on without one after [`GRACE`].
//! 2. *A wait whose work lies in queues is not starved.* The slots are *stuck* if for [`GRACE`] no holder has changed or made
//!    [progress](Worker::progress), and no worker searches. While they are stuck, a worker that waits for a scope runs jobs of
//!    that scope itself, wherever they lie; and for the others that wait, one more thread runs one queued job.
//! 3. *Futures of `block_on` are polled by the thread that waits*, so by 1 they need no slot.
//! 4. Forks of a worker that waits stay in its deque, see [`shelf`](super::shelf): it takes them back itself.
//! 5. Whoever runs without a slot is seen by no thief: it spawns into the injector, and runs its forks itself. It takes a slot
//!    that is free when it next comes out of a wait, and rests, or asks for one, at the end of its job.
//!
//! So a job that waits in the pool depends on no slot holder, but on those that run a part of what it waits for.

use super::turns::TURN;
use super::{Next, Registry, Rest, State};
use crate::latch::Latch;
use crate::worker::Worker;
use std::time::{Duration, Instant};

/// How long a worker that could go on waits for a slot.
const GRACE: Duration = Duration::from_millis(10);

/// The longest time between two looks of a worker that has waited for long: an eighth of that time.
const LONGEST_LOOK: Duration = Duration::from_millis(250);

/// What a worker that waits has seen of the slots.
#[derive(Debug)]
pub(crate) struct Watch {
    since: Instant,
    /// Since when the wait is over.
    over: Option<Instant>,
    seen: Option<Seen>,
}

impl Watch {
    pub(crate) fn new() -> Self {
        Watch { since: Instant::now(), over: None, seen: None }
    }

    /// How long to sleep before the next look.
    fn nap(&self) -> Duration {
        match self.over {
            Some(over) => GRACE.saturating_sub(over.elapsed()).min(TURN),
            None => (self.since.elapsed() / 8).clamp(GRACE, LONGEST_LOOK),
        }
    }

    /// Are the slots stuck, since the last look at least?
    pub(super) fn sees_stuck(&mut self, worker: &Worker) -> bool {
        if self.seen.as_ref().is_some_and(|seen| seen.at.elapsed() < GRACE) {
            return false;
        }
        let (at, slots, computed) = (Instant::now(), slots(worker), crate::process::time());
        let before = self.seen.take();
        let is_stuck = slots.is_some() && before.as_ref().is_some_and(|before| before.slots == slots);
        let passed = before.as_ref().map_or(Duration::ZERO, |before| at - before.at);
        let busy = before.map_or(Duration::MAX, |before| computed.saturating_sub(before.computed));
        self.seen = Some(Seen { at, slots, computed, is_idle: busy < passed / 4 });
        is_stuck
    }

    /// Has nothing changed since [`sees_stuck`](Self::sees_stuck)?
    pub(crate) fn still_sees_stuck(&self, worker: &Worker) -> bool {
        self.seen.as_ref().is_some_and(|seen| seen.slots.is_some() && seen.slots == slots(worker))
    }

    /// Had the process computed little between its last two looks? Then who holds the slots is blocked, and does not compute.
    fn saw_idle(&self) -> bool {
        self.seen.as_ref().is_some_and(|seen| seen.is_idle)
    }
}

/// What a look has seen.
#[derive(Debug)]
struct Seen {
    at: Instant,
    slots: Option<u64>,
    /// The processor time of the process.
    computed: Duration,
    is_idle: bool,
}

/// A number that changes when a slot changes hands, or a holder but for `by` makes progress. `None` if a slot is free, or
/// somebody searches: then what is queued is going to be run.
fn slots(by: &Worker) -> Option<u64> {
    let registry = by.registry();
    if registry.alert.free() > 0 || !registry.alert.nobody() {
        return None;
    }
    let holders = (0..registry.num_threads()).map(|place| {
        let holder = registry.at(place).filter(|holder| holder.number() != by.number());
        holder.map_or(0, Worker::progress)
    });
    Some(holders.fold(1, |sum: u64, holder| sum.wrapping_mul(31).wrapping_add(holder)))
}

impl Registry {
    /// Sleeps until this worker, which waits for a latch without a slot, is given one, or is to go on without: because the latch is
    /// set, or because the slots are stuck. Returns what it is to look for in the latter case; if it `helps`, for jobs of its scope.
    pub(super) fn sleep_without_place(
        &self,
        worker: &Worker,
        latch: &Latch,
        helps: bool,
        watch: &mut Watch,
    ) -> Next {
        loop {
            let mut rest = self.lock();
            if *rest.state(worker) == State::Active {
                return Next::Usual;
            }
            let goes_on = if latch.is_set() {
                let over = *watch.over.get_or_insert_with(Instant::now);
                if over.elapsed() >= TURN {
                    self.is_overdue(&mut rest, worker.number());
                }
                (over.elapsed() >= GRACE).then_some(Next::Usual)
            } else if watch.since.elapsed() >= GRACE && self.sees_work() && watch.sees_stuck(worker) {
                let mut relieved = || !watch.saw_idle() || self.relieve(&mut rest);
                if helps {
                    Some(Next::OfScope)
                } else if relieved() {
                    None
                } else {
                    Some(Next::Queued)
                }
            } else {
                None
            };
            if let Some(next) = goes_on {
                self.go_without_place(&mut rest, worker);
                if next == Next::Usual {
                    worker.counters.overdue.add();
                }
                return next;
            }
            drop(rest);
            worker.parker.park_timeout(watch.nap());
        }
    }

    /// A worker that slept goes on without a slot.
    fn go_without_place(&self, rest: &mut Rest, worker: &Worker) {
        *rest.state(worker) = State::Active;
        self.forget_claim(rest, worker.number());
        self.unshelve(rest, worker);
    }

    /// The slots were stuck at the last look: if nobody computes, has one more thread run one queued job.
    /// False if there is no such thread.
    pub(crate) fn relieve_if_idle(&self, watch: &Watch) -> bool {
        !watch.saw_idle() || self.relieve(&mut self.lock())
    }

    /// The slots are stuck: has one more thread run one queued job. False if there is no such thread.
    fn relieve(&self, rest: &mut Rest) -> bool {
        if let Some(number) = rest.parked.pop() {
            let worker = self.worker(number).expect("a parked worker is there");
            *rest.state(worker) = State::Active;
            self.alert.begin();
            rest.relief.push(number);
            rest.woken.push(number);
            true
        } else if let Some(worker) = self.start_thread(rest, State::Active) {
            self.alert.begin();
            rest.relief.push(worker.number());
            true
        } else {
            false
        }
    }

    /// Is this worker to run a job without a slot? Then it is alert.
    pub(super) fn is_relief(&self, rest: &mut Rest, worker: &Worker) -> bool {
        let before = rest.relief.len();
        rest.relief.retain(|&number| number != worker.number());
        rest.relief.len() < before
    }

    /// This worker, which was started to run a job without a slot, has got one.
    pub(in crate::registry) fn is_no_relief(&self, worker: &Worker) {
        self.is_relief(&mut self.lock(), worker);
    }

    /// Runs one queued job without a slot. On entry this worker is alert.
    pub(in crate::registry) fn run_as_relief(&self, worker: &Worker) {
        let job = worker.find_as_relief();
        self.cease_to_be_alert(worker);
        if let Some(job) = job {
            worker.counters.overdue.add();
            // SAFETY: just taken from a queue.
            unsafe { worker.execute(job) };
        }
    }

    /// Gives a slot to a worker in the middle of a job, if it has none: one that becomes free within the grace time, else it goes on
    /// without. (It may hold a lock that all holders of slots wait for.)
    pub(crate) fn regain_place(&self, worker: &Worker) {
        if worker.place().is_some() {
            return;
        }
        let mut rest = self.lock();
        if let Some(place) = self.take_free(&mut rest) {
            self.seat(&mut rest, worker, place);
            return;
        }
        *rest.state(worker) = State::Blocked;
        self.claim(&mut rest, worker);
        drop(rest);
        let over = Latch::new();
        over.notify();
        self.sleep_without_place(worker, &over, false, &mut Watch::new());
    }

    /// Takes a slot for a worker in the middle of a job that has none, if one is free.
    pub(crate) fn take_free_place(&self, worker: &Worker) {
        if worker.place().is_none() && self.alert.free() > 0 {
            let mut rest = self.lock();
            if let Some(place) = self.take_free(&mut rest) {
                self.seat(&mut rest, worker, place);
            }
        }
    }
}
