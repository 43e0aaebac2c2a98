//! The monitor's states: which thread looks at the queues, and what happens to slot holders that do not go on.
//!
//! [`registry/monitor.rs`](crate::engine::registry) makes the looks, and this module has the states that the slot lock protects. "Slot"
//! says who holds the slot in that state.
//!
//! | subject | state | becomes | when | by |
//! |---|---|---|---|---|
//! | watch | none | *watcher* or *watchdog* | every slot is held, no worker searches, and a job is queued | `Registry::watch` |
//! | | watchdog | watcher | a queue is overdue, and a thread is there or can be started | [`begin_watch`](Locked::begin_watch) |
//! | | watcher | watcher *on turn* | it is overdue, and gets a slot | `begin_turn` |
//! | | on turn | searching, or watcher, or parked | a millisecond has passed, or no job is queued | [`end_turn`](Locked::end_turn) |
//! | | watcher, watchdog | none | ten looks have found no job, or a slot is free | [`watch_is_over`](Locked::watch_is_over) |
//! | queue | served | *neglected* | no worker has taken a job from it since the last look | `Registry::look` |
//! | | any | *overdue* | one of its jobs outranks the work of a slot holder | `Registry::look` |
//! | | neglected | *overdue* | at four looks in a row (more if overdue threads have given their slots), and no worker has come back to its main loop | `Registry::look` |
//! | thread | claims a slot, or watches | overdue: in the line | it has waited for a millisecond, or outranks the work of a slot holder; a queue is overdue | [`ask_for_slot`](Locked::ask_for_slot) |
//! | | overdue | not overdue | it gets a slot; its queue is served | [`is_not_overdue`](Locked::is_not_overdue) |
//! | holder | holds its slot | *stuck* | invariant 2 | [`find_stuck`](Locked::find_stuck) |
//! | | stuck | *former holder*: its slot is taken over | a thread needs the slot | [`take_slot_over`](Locked::take_slot_over) |
//! | | holds its slot | *deaf* | invariant 3 | [`lend`](Locked::lend) |
//! | | deaf | lender | the watcher is overdue, and woken tasks are queued | [`lend`](Locked::lend) |
//! | | lender | holds its slot | the borrower's turn ends | [`return_slot`](Locked::return_slot) |
//! | | former holder, lender | has a slot, or claims one | it comes to a cooperative point, or its job ends | [`forget_lost`](Locked::forget_lost) |
//!
//! # Invariants
//!
//! 1. A worker in the line of overdue threads claims a slot, or is the watcher. It leaves the line in the critical section that gives it
//!    a slot. The first in the line is awake, or is woken when it becomes the first: it alone asks for a slot again and again.
//! 2. *A holder is stuck* if its thread has used no processor time for [`STUCK`], and sleeps in the system at two looks in a row
//!    after that. The system says whether a thread sleeps. A thread that only lacks a core does not sleep, and is not stuck. Time
//!    before the worker got its slot does not count. Holders that spin, or that sleep and check something again and again, use
//!    processor time and are never stuck: they look like a job that sleeps and computes by turns.
//! 3. *A holder is deaf* if its thread has used processor time for [`DEAF`] since the first look after the watcher became overdue, and has
//!    come to no cooperative point: there it would have given its slot. It is in the middle of a long leaf. The pool has at most one
//!    loan at a time. A holder of more priority than the queued job lends nothing, and of several deaf holders, the one of the least priority lends.

use super::{FreeSlot, Locked, Occupant, Priority, Slots, WorkerState};
use crate::sync::atomic::Ordering::Relaxed;
use crate::sync::clock::Instant;
use crate::sync::fence;
use std::collections::VecDeque;
use std::time::Duration;

/// How long a slot holder uses no processor time before another thread takes its slot over.
///
/// The time is longer than short locks, reads of files and pauses of some milliseconds take. So the number of threads that run jobs is
/// exact if jobs sleep only for moments. It is shorter than a wait that a user notices. A thread that only lacks a core does not count
/// as stuck, because the system says that it is ready to run.
pub(crate) const STUCK: Duration = Duration::from_millis(20);

/// The same for systems that do not report the processor time of threads. There wall time alone counts.
const STUCK_WITHOUT_CLOCK: Duration = Duration::from_millis(250);

/// Processor time that a holder uses, after the watcher has asked for a slot, before it counts as deaf.
const DEAF: Duration = Duration::from_millis(4);

/// The shortest time between two looks at the slot holders.
const LOOK: Duration = Duration::from_millis(2);

/// The monitor's state. The slot lock protects it.
#[derive(Debug, Default)]
pub(crate) struct Monitor {
    /// Whether the watchdog looks at this pool.
    pub(crate) has_watchdog: bool,
    /// The queues at the last look.
    pub(crate) seen: Seen,
    /// Number of the worker whose state is [`Watching`](WorkerState::Watching).
    pub(super) watcher: Option<usize>,
    /// Numbers of former watchers, from the moment at which they get a slot to run queued jobs until they have run them. If the slot is
    /// lent, with the lender's number.
    on_turn: Vec<(usize, Option<usize>)>,
    /// The overdue threads: claimants, and the watcher if a queue is overdue, by rank. Of one rank, those that have given their slots come after the others.
    /// Of two of a kind, the older one comes first.
    line: VecDeque<Overdue>,
    /// The slot holders at the last look, by slot.
    holders: Vec<Holder>,
    /// The time of that look.
    looked: Option<Instant>,
    /// The highest priority of the queued jobs for which the watcher asks for a slot.
    pub(crate) wanted_for: Priority,
}

/// A thread in the line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Overdue {
    /// Number of the worker.
    pub(crate) number: usize,
    /// Whether it has given its slot in the middle of its job.
    pub(crate) has_given: bool,
    /// Its rank, by which it stands in the line.
    pub(crate) rank: Priority,
    /// The priority of what it wants to do. Slot holders of less are [outranked](Slots::outranks).
    pub(crate) priority: Priority,
}

/// The queues at a look.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    /// State of the sets of woken tasks, written by [`Stealable::is_neglected`](crate::engine::queues::stealable::Stealable::is_neglected).
    pub(crate) sets: Vec<Option<usize>>,
    /// Number of jobs that workers had taken from the injector; `None` if the injector was empty.
    pub(crate) injected: Option<u64>,
    /// Number of jobs that workers had begun in their main loops.
    pub(crate) jobs: u64,
    /// Time of the look.
    pub(crate) at: Option<Instant>,
    /// Number of looks in a row at which a queue had been neglected, and no main loop had begun a job since the look before.
    pub(crate) busy: usize,
    /// Number of looks in a row at which no job was queued.
    pub(crate) quiet: u32,
    /// Number of background jobs that workers had taken, and the time since which it is the same and some are queued.
    pub(crate) background: Option<(usize, Instant)>,
    /// Result of the look.
    pub(crate) outcome: Look,
    /// Whether the queues are overdue only because a queued job outranks the work of a slot holder: others keep their slots.
    pub(crate) is_urge: bool,
}

/// The outcome of a look at the queues. Each state is worse than the one before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Look {
    /// No job has been queued for some looks: nothing has to be watched.
    Quiet,
    /// Every queue is empty, or a worker has taken one of its jobs.
    #[default]
    Served,
    /// A queue is neglected: workers look into it between two jobs of their own.
    Neglected,
    /// A queue is overdue: a busy worker gives it a slot.
    Overdue,
}

/// A slot holder at the last look.
#[derive(Debug)]
struct Holder {
    /// Number of the worker.
    number: usize,
    /// Processor time that its thread had used.
    used: Option<Duration>,
    /// Time since which the thread has used no processor time.
    quiet_since: Instant,
    /// Number of looks in a row at which the thread had been quiet for [`STUCK`], and slept.
    asleep: u32,
    /// Processor time that its thread had used at the first look after the watcher became overdue (invariant 3).
    asked: Option<Duration>,
}

impl<W: Occupant> Slots<W> {
    /// Whether a slot could be taken over for a job: no slot is free, and no worker searches.
    pub(crate) fn are_all_held(&self) -> bool {
        self.searching.free() == 0 && self.searching.no_searcher()
    }

    /// Whether a thread without a slot is overdue. A hint.
    pub(crate) fn is_slot_wanted(&self) -> bool {
        // Relaxed: threads that want a slot poke the slot holders again and again.
        self.wanted.load(Relaxed) > 0
    }

    /// Whether an overdue thread is of more than that priority. A hint.
    pub(crate) fn outranks(&self, priority: Priority) -> bool {
        self.wanted.load(Relaxed) > priority as u8 + 1
    }

    /// Whether a slot holder does work of less than that priority. A hint.
    pub(crate) fn is_below(&self, priority: Priority) -> bool {
        self.slot_holders().any(|holder| holder.priority() < priority)
    }

    /// Whether a queue is neglected. If so, workers take a job from a queue between two jobs of their own. A hint.
    pub(crate) fn is_queue_neglected(&self) -> bool {
        self.neglected.load(Relaxed)
    }

    /// Sets whether a queue is neglected. Called with the slot lock held.
    pub(crate) fn set_neglected(&self, neglected: bool) {
        self.neglected.store(neglected, Relaxed);
    }
}

impl<'a, W: Occupant> Locked<'a, W> {
    /// Whether that is the number of the watcher.
    pub(crate) fn is_watcher(&self, number: usize) -> bool {
        self.monitor.watcher == Some(number)
    }

    /// Whether there is a worker that watches the queues.
    pub(crate) fn has_watcher(&self) -> bool {
        self.monitor.watcher.is_some()
    }

    /// Wakes the watcher for a look; if there is none, the timed searcher, which sees that no slot is free, and becomes the watcher.
    pub(crate) fn hurry(&mut self) {
        if let Some(number) = self.monitor.watcher.or(self.timed_searcher) {
            self.wake(self.slots.known(number));
        }
    }

    /// Makes a worker, which is parked or has ended its turn, the watcher, and wakes it.
    pub(crate) fn begin_watch(&mut self, worker: &W) {
        self.unlist_parked(worker);
        self.slots.searching.set_watched(true);
        self.set_state(worker, WorkerState::Watching);
        self.monitor.watcher = Some(worker.number());
        worker.set_watches();
        self.wake(worker);
    }

    /// Notes that no thread watches any more.
    pub(crate) fn watch_is_over(&mut self) {
        if let Some(number) = self.monitor.watcher.take() {
            self.is_not_overdue(number);
        }
        self.slots.set_neglected(false);
        self.slots.searching.set_watched(false);
    }

    /// Puts the watcher on turn, in a slot that it is about to get, and that `lender` lends it, if it is lent.
    fn begin_turn(&mut self, watcher: &W, lender: Option<&W>) {
        self.watch_is_over();
        self.monitor.on_turn.push((watcher.number(), lender.map(W::number)));
        self.set_state(watcher, WorkerState::Blocked);
    }

    /// If a former watcher has got a slot to run queued jobs, and has not ended its turn, returns whether the slot is lent.
    pub(crate) fn turn_of(&self, worker: &W) -> Option<bool> {
        let turn = self.monitor.on_turn.iter().find(|(number, _)| *number == worker.number());
        turn.map(|(_, lender)| lender.is_some())
    }

    /// Ends a former watcher's turn, in which it has run queued jobs. If no other thread needs the slot more (`is_claimed`), the worker searches in it. If
    /// the worker has lost its slot and has a broadcast job, it searches in a free slot, or claims one. Returns whether it searches.
    /// Otherwise the worker watches again, or is parked if another worker watches.
    #[must_use]
    pub(crate) fn end_turn(&mut self, worker: &W, has_broadcast: bool, is_claimed: bool) -> bool {
        self.return_slot(worker);
        self.monitor.on_turn.retain(|&(number, _)| number != worker.number());
        let mut searches = self.slots.holds_slot(worker) && !is_claimed;
        if !searches {
            self.release(worker);
            // A worker that has lost its slot may find a free one. No worker claims a slot while one is free. Otherwise: the claim that
            // `call` has made for the broadcast job ended with the turn.
            searches = has_broadcast && self.occupy_or_claim(worker);
        }
        if searches {
            self.slots.searching.begin(worker.number());
        } else if self.has_watcher() || self.terminating {
            self.park(worker);
        } else {
            self.begin_watch(worker);
        }
        searches
    }

    /// Makes a thread without a slot overdue, and pokes the slot holders. If the thread is the first in the line, it takes over the slot
    /// of a stuck holder. Returns whether it has done so. The first in the line asks again each millisecond or so.
    ///
    /// `has_given` says whether the thread has given its slot in the middle of its job.
    #[must_use]
    pub(crate) fn ask_for_slot(&mut self, worker: &W, has_given: bool) -> bool {
        let (number, rank) = (worker.number(), worker.rank());
        let watches = self.is_watcher(number);
        let priority = if watches { self.monitor.wanted_for } else { worker.priority() };
        // Once more, if these have changed.
        let is_same =
            |other: &Overdue| (other.number, other.rank, other.priority) == (number, rank, priority);
        if !self.monitor.line.iter().any(is_same) {
            let line = &mut self.monitor.line;
            line.retain(|other| other.number != number);
            let place = line.partition_point(|other| (other.rank, !other.has_given) >= (rank, !has_given));
            line.insert(place, Overdue { number, has_given, rank, priority });
            if watches {
                self.monitor.holders.iter_mut().for_each(|holder| holder.asked = None);
            }
        }
        // Relaxed: the holders look up at their next push or step, and see this store. On a machine where the store takes longer to
        // arrive, they see it when they are poked again.
        self.publish_wanted();
        self.slots.slot_holders().for_each(W::poke);
        let stuck = self.find_stuck().filter(|_| self.is_first_overdue(worker));
        let Some((slot, next)) = stuck.and_then(|slot| Some((slot, self.next_overdue()?))) else {
            return false;
        };
        self.take_slot_over(next, slot);
        true
    }

    /// Marks a thread as not overdue.
    pub(crate) fn is_not_overdue(&mut self, number: usize) {
        if !self.monitor.line.is_empty() {
            let first = self.first_overdue().copied();
            self.monitor.line.retain(|other| other.number != number);
            // Invariant 1.
            if let Some(next) = self.first_overdue().filter(|next| Some(**next) != first) {
                self.wake(self.slots.known(next.number));
            }
            self.publish_wanted();
        }
    }

    /// Publishes the highest priority in the line.
    fn publish_wanted(&self) {
        // Relaxed: a hint.
        let most = self.monitor.line.iter().map(|other| other.priority as u8 + 1).max();
        self.slots.wanted.store(most.unwrap_or(0), Relaxed);
    }

    /// Returns how many overdue threads there are for each slot that have given theirs.
    pub(crate) fn given_per_slot(&self) -> usize {
        self.monitor.line.iter().filter(|other| other.has_given).count() / self.slots.len()
    }

    /// Returns the first thread in the line.
    pub(crate) fn first_overdue(&self) -> Option<&Overdue> {
        self.monitor.line.front()
    }

    /// Whether a worker is the first in the line.
    pub(crate) fn is_first_overdue(&self, worker: &W) -> bool {
        self.first_overdue().is_some_and(|first| first.number == worker.number())
    }

    /// Whether a thread is in the line.
    fn is_overdue(&self, number: usize) -> bool {
        self.monitor.line.iter().any(|other| other.number == number)
    }

    /// Returns the first thread in the line, to be given a slot. If that is the watcher, it is on turn from now on, and does not search.
    #[must_use]
    pub(super) fn next_overdue(&mut self) -> Option<&'a W> {
        let worker = self.slots.known(self.first_overdue()?.number);
        if self.state(worker) == WorkerState::Watching {
            self.begin_turn(worker, None);
        }
        Some(worker)
    }

    /// Lends the watcher the slot of a deaf holder (invariant 3), for a turn. Returns whether it has done so.
    #[must_use]
    pub(crate) fn lend(&mut self, watcher: &W) -> bool {
        let has_loan = self.monitor.on_turn.iter().any(|(_, lender)| lender.is_some());
        // Claimants that have waited for longer may be before it in the line. They get no loans, and do not stand in its way.
        if has_loan || !self.is_overdue(watcher.number()) {
            return false;
        }
        let is_deaf = |holder: &&W| {
            let asked = self.seen(holder).and_then(|seen| seen.asked);
            let used = asked.and_then(|then| holder.used_time()?.checked_sub(then));
            self.state(holder) == WorkerState::Active && used.is_some_and(|used| used >= DEAF)
        };
        // A holder that only keeps its slot from this watcher looks deaf, too. It is of as much priority.
        let (most, is_urge) = (self.monitor.wanted_for, self.monitor.seen.is_urge);
        let may_lend = |holder: &&W| holder.priority() < most || !is_urge && holder.priority() == most;
        let lenders = self.slots.slot_holders().filter(may_lend).filter(is_deaf);
        let Some(lender) = lenders.min_by_key(|holder| holder.priority()) else { return false };
        let Some(slot) = lender.slot() else { return false };
        self.begin_turn(watcher, Some(lender));
        self.replace_holder(watcher, slot);
        true
    }

    /// Gives a slot back that was lent to the worker, if the lender runs on without one. Called at the end of the turn, and if the worker
    /// gives the slot away before that.
    pub(crate) fn return_slot(&mut self, worker: &W) {
        let turn = self.monitor.on_turn.iter_mut().find(|(number, _)| *number == worker.number());
        let Some(lender) = turn.and_then(|(_, lender)| lender.take()) else { return };
        let lender = self.slots.known(lender);
        let runs_on = self.state(lender) == WorkerState::Active && lender.slot() == worker.slot();
        if runs_on && self.slots.holds_slot(worker) {
            self.withdraw(worker).into_iter().for_each(|slot| self.occupy(lender, slot));
        }
    }

    /// Gives the slot of a stuck holder to another worker.
    pub(crate) fn take_slot_over(&mut self, worker: &W, slot: usize) {
        worker.note_take_over();
        self.replace_holder(worker, slot);
    }

    /// Gives a slot to another worker, while its holder runs or blocks.
    fn replace_holder(&mut self, worker: &W, slot: usize) {
        let before = self.slots.holder(slot);
        if let Some(holder) = before {
            self.shelve(holder);
        }
        self.occupy(worker, FreeSlot(slot));
        if let Some(holder) = before {
            // The holder's next push is a cooperative point. A push that does not see the poke is seen here: the heavy fence orders
            // each of the holder's pushes before this look, or behind the poke.
            holder.poke();
            fence::heavy();
            self.shelve(holder);
        }
    }

    /// Notes how much processor time the slot holders have used, unless the last look was less than [`LOOK`] ago.
    fn look_at_holders(&mut self) {
        let now = Instant::now();
        if self.monitor.looked.is_some_and(|looked| now - looked < LOOK) {
            return;
        }
        self.monitor.looked = Some(now);
        let holders = self.slots.slot_holders().map(|holder| {
            let (number, used, before) = (holder.number(), holder.used_time(), self.seen(holder));
            let asked = before.and_then(|before| before.asked).or(used);
            let before = before.filter(|before| before.used == used);
            let quiet_since = before.map_or(now, |before| before.quiet_since);
            let quiet = now - quiet_since;
            let bound = if used.is_some() { STUCK } else { STUCK_WITHOUT_CLOCK };
            let sleeps = || holder.sleeps().unwrap_or(quiet >= STUCK_WITHOUT_CLOCK);
            let asleep =
                if quiet >= bound && sleeps() { before.map_or(0, |before| before.asleep) + 1 } else { 0 };
            Holder { number, used, quiet_since, asleep, asked }
        });
        self.monitor.holders = holders.collect();
    }

    /// Returns what the last look has seen of a slot holder; `None` if it has got its slot since.
    fn seen(&self, holder: &W) -> Option<&Holder> {
        self.monitor.holders.iter().find(|seen| seen.number == holder.number())
    }

    /// Forgets a worker's former looks when the worker gets a slot: time without a slot does not count.
    pub(super) fn forget_holder(&mut self, number: usize) {
        self.monitor.holders.retain(|holder| holder.number != number);
    }

    /// Whether a slot holder was stuck at the last look (invariant 2).
    fn is_stuck(&self, holder: &W) -> bool {
        // Two looks: a thread that has just been woken, by the pool or by the release of a lock, gets time to begin.
        self.state(holder) == WorkerState::Active && self.seen(holder).is_some_and(|seen| seen.asleep >= 2)
    }

    /// Looks at the slot holders. Returns the slot of a stuck one.
    pub(crate) fn find_stuck(&mut self) -> Option<usize> {
        self.look_at_holders();
        (0..self.slots.len())
            .find(|&slot| self.slots.holder(slot).is_some_and(|holder| self.is_stuck(holder)))
    }

    /// Looks at the slot holders. Returns whether each of them waits or is stuck.
    pub(crate) fn all_holders_wait_or_are_stuck(&mut self) -> bool {
        self.look_at_holders();
        let mut holders = self.slots.slot_holders();
        holders.all(|holder| self.state(holder) == WorkerState::Waiting || self.is_stuck(holder))
    }

    /// Makes a worker the watcher, on turn.
    #[cfg(test)]
    pub(crate) fn begin_on_turn(&mut self, worker: &W) {
        self.set_state(worker, WorkerState::Watching);
        self.monitor.watcher = Some(worker.number());
        self.monitor.on_turn.push((worker.number(), None));
    }

    /// Makes a parked worker the watcher, and gives it a free slot for a turn, before it is awake.
    #[cfg(test)]
    pub(crate) fn watch_on_turn(&mut self, worker: &W) {
        self.begin_watch(worker);
        self.begin_turn(worker, None);
        assert!(self.occupy_free(worker));
    }
}
