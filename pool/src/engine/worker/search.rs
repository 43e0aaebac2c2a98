//! How a worker finds jobs: its own, jobs of random victims, and jobs from outside.

use super::Worker;
use super::{Entry, Header, JobRef, Stealable};
use crate::deque::Steal;
use crate::engine::queues::random::Random;
use crate::engine::registry::Registry;
use crate::engine::settings::{Fairness, has_priorities};
use crate::process::topology::Distance;
use crate::slots::Priority;
use crate::sync::clock::Instant;
use crate::sync::machine::Injector;
use crate::sync::machine::atomic::{AtomicBool, Ordering::Relaxed};
use crate::sync::machine::hint;
use crate::sync::machine::thread;
use crate::sync::ticks::Ticks;
use crate::trace::{self, Kind};
use std::cell::Cell;
use std::iter;
use std::time::Duration;

/// How long a worker searches before it sleeps, at least.
const SEARCH: Duration = Duration::from_micros(50);

/// Microseconds from a try to wake more workers that has found the slot lock taken to the next one.
const AGAIN: u32 = 10;

/// Number of pauses of a short search: some microseconds.
const SHORT: u32 = 8;

/// How long a thief sees private jobs only before it steals one of them: at least so long, and so long for each processor of the pool, because the theft
/// interrupts all of them. Within that time, an owner that forks has shared jobs, which is cheaper for all.
const PATIENCE: Duration = Duration::from_micros(5);
const PATIENCE_PER_PROCESSOR: Duration = Duration::from_nanos(330);

/// One look for victims of so many begins anywhere; the others begin with the slots whose holders share a cache with the thief, and go on with those of
/// its socket. If all began near, thieves would take ever smaller parts of the work in their neighbourhood, and three times as many. On a simulated machine
/// of two sockets and 128 cores, 19 % of the steals of a balanced tree are far without the order. If all looks begin near, 2 % are, at 4 % more time; with
/// one in four elsewhere 6 %, at no more time.
const ANYWHERE: usize = 4;

/// Pauses that grow: they begin with some nanoseconds of spinning, and yield to other threads after 16 rounds.
///
/// While a [caller](Registry::is_awaited) outside the pool waits, all pauses yield: its call may be over, and it may wait for this processor. Linux lets a
/// thread that does not yield run on for a whole slice. (10,000 `install`s of 10 us of work, on two threads and two processors, take 0.85 of rayon's time
/// so, and 1.4 otherwise. If all pauses of all searches yielded, 10,000 short calls with eight threads would take eight times as long.)
pub(super) struct Pauses {
    rounds: u32,
    since: Option<Instant>,
}

impl Pauses {
    pub(super) const fn new() -> Self {
        Pauses { rounds: 0, since: None }
    }

    /// Waits a little. Returns `false` if the pauses took longer than `limit`, from the first one on that yields.
    pub(super) fn pause(&mut self, limit: Duration, registry: &Registry) -> bool {
        self.rounds = self.rounds.saturating_add(1);
        let spins = self.rounds <= 16;
        if spins {
            (0..4 * self.rounds).for_each(|_| hint::spin_loop());
        }
        if spins && !registry.is_awaited() {
            return true;
        }
        let since = *self.since.get_or_insert_with(Instant::now);
        thread::yield_now();
        since.elapsed() < limit
    }
}

/// The facts that a worker keeps from one search to the next; its thread's.
pub(crate) struct SearchState {
    /// Whether the worker has run a task since it last searched.
    pub(crate) ran_task: Cell<bool>,
    searches: Cell<Searches>,
    /// State of the random numbers with which the worker chooses victims.
    random: Random,
    /// Number of [fair](Worker::find_fair) looks; wraps. Every second one begins with woken tasks.
    fair_looks: Cell<u8>,
    /// Kind of job that comes first at the next look [by turns](Worker::find_by_turns).
    first_kind: Cell<u8>,
    /// What the worker has found since it was woken.
    wake_up: Cell<WakeUp>,
    /// Whether the worker was woken [beside others](crate::slots::Locked::wake_more). Set by the thread that wakes it.
    pub(crate) woken_more: AtomicBool,
    /// Whether the worker's next search may steal forks of a [crowded](crate::slots::Slots::is_crowded) pool.
    pub(crate) for_forks: AtomicBool,
}

/// What a worker has found since it was woken: whether it is to wake [more](crate::slots::Locked::wake_more).
#[derive(Clone, Copy, Debug, Default)]
enum WakeUp {
    /// Nothing at once, a job that was not stolen, or a fork that it has shared parts of.
    #[default]
    Over,
    /// Nothing yet. Whether it was woken beside others.
    Searches(bool),
    /// A fork, of which it has shared no part yet. Whether the worker was woken beside others.
    Stole(bool),
    /// As `Stole(true)`, and when it last found the slot lock taken. It tries again after [`AGAIN`].
    Tried(Ticks),
}

impl SearchState {
    /// Makes the state of the `nth` worker.
    pub(super) fn nth(nth: usize) -> Self {
        let (ran_task, searches, fair_looks, first_kind, wake_up) = Default::default();
        let (woken_more, for_forks) = Default::default();
        let random = Random::nth(nth);
        SearchState { ran_task, searches, random, fair_looks, first_kind, wake_up, woken_more, for_forks }
    }
}

/// The success of a worker's last searches, which decides whether the next one is short. If each call begins long after the one before,
/// every search fails, and a long search in vain takes more processor time than a small call. So searches become short after two long
/// ones in vain. They become long again when a long search finds work, and when work comes so soon after a short search that a long one
/// would have found it.
#[derive(Clone, Copy, Debug, Default)]
struct Searches {
    /// Number of searches in vain since a long search was of use, at most [`VAIN`].
    failures: u32,
    /// Time at which the last search ended, if it was in vain.
    gave_up: Option<Instant>,
}

/// Number of searches in vain after which searches are short.
const VAIN: u32 = 2;

impl Searches {
    fn are_short(self) -> bool {
        self.failures == VAIN
    }

    /// The value after a search in vain.
    fn after_failure(self) -> Self {
        Searches { failures: (self.failures + 1).min(VAIN), gave_up: Some(Instant::now()) }
    }

    /// The value after a search that has found work after `pauses` pauses.
    fn after_success(self, pauses: u32) -> Self {
        let was_of_use = match self.gave_up {
            Some(end) => end.elapsed() < SEARCH,
            None => pauses > SHORT,
        };
        Searches { failures: if was_of_use { 0 } else { self.failures }, gave_up: None }
    }
}

/// A thief's patience with owners that do not share.
#[derive(Clone, Copy)]
pub(super) enum Patience {
    /// The thief has not seen an owner with private jobs only.
    Whole,
    /// Time at which the thief first saw an owner with private jobs only.
    Since(Instant),
    /// The thief steals private jobs at once.
    None,
}

impl Patience {
    /// Returns whether the thief's patience is over, and resets it then. Called for an owner that has private jobs only.
    fn is_over(&mut self, limit: Duration) -> bool {
        match *self {
            Patience::Whole => {
                *self = Patience::Since(Instant::now());
                false
            }
            Patience::Since(since) if since.elapsed() < limit => false,
            Patience::Since(_) | Patience::None => {
                *self = Patience::Whole;
                true
            }
        }
    }
}

/// Takes the oldest job of a queue.
pub(super) fn take_oldest(queue: &Injector<JobRef>) -> Option<JobRef> {
    iter::repeat_with(|| queue.steal()).find(|stolen| !stolen.is_retry())?.success()
}

impl Worker {
    /// Searches for a job of any kind. The search is short if long ones were in vain, see [`Searches`]. After a task the worker looks
    /// only once: the next task is woken by I/O, and that wake-up wakes a worker as well. To search for the 20 us between two tasks
    /// would cost more than the tasks do. If the pool is crowded, it looks once, and steals no forks.
    pub(crate) fn search(&self) -> Option<JobRef> {
        let mut pauses = Pauses::new();
        let mut patience = Patience::Whole;
        let once = self.search.ran_task.take();
        // Each worker that gives up takes the slot lock. The more they are, the further apart they give up.
        let limit = SEARCH + self.random_time();
        if matches!(self.search.wake_up.get(), WakeUp::Stole(_) | WakeUp::Tried(_)) {
            self.search.wake_up.set(WakeUp::Over);
        }
        let for_forks = self.search.for_forks.load(Relaxed);
        self.search.for_forks.store(false, Relaxed);
        if !for_forks && self.registry().is_crowded() {
            return self.find_broadcast().or_else(|| self.find_unforked());
        }
        loop {
            // A claimant has a job to run, so this worker releases its slot. Broadcast jobs come first: only this thread may run them,
            // and it would claim the slot again for them.
            if self.registry().is_claimed() {
                return self.find_broadcast();
            }
            if let Some(job) = self.find(&mut patience) {
                self.search.searches.set(self.search.searches.get().after_success(pauses.rounds));
                return Some(job);
            }
            if once {
                return None;
            }
            if pauses.rounds >= SHORT {
                // Work is not plentiful.
                self.search.wake_up.set(WakeUp::Over);
            }
            let is_short = self.search.searches.get().are_short() && pauses.rounds >= SHORT;
            if is_short || !pauses.pause(limit, self.registry()) {
                self.search.searches.set(self.search.searches.get().after_failure());
                return None;
            }
        }
    }

    /// Looks once for a queued or spawned job, unless a claimant waits for this worker's slot.
    fn find_unforked(&self) -> Option<JobRef> {
        if self.registry().is_claimed() {
            return None;
        }
        let steal = |slot| self.steal_spawned(self.victim(slot)?, slot);
        self.find_queued().or_else(|| (0..self.num_threads()).find_map(steal))
    }

    /// Returns a random time: up to a microsecond for each processor of the pool.
    fn random_time(&self) -> Duration {
        Duration::from_micros(self.search.random.below(self.registry().processors()) as u64)
    }

    /// Waits for some microseconds, the longer the more workers there are.
    pub(crate) fn pause_at_random(&self) {
        let time = Duration::from_micros(5) + self.random_time();
        let since = Instant::now();
        while since.elapsed() < time {
            thread::yield_now();
        }
    }

    /// Looks once for a job everywhere: among its own jobs, among the jobs of the other workers (from a random one on), and among the
    /// jobs from outside; then for a background job.
    pub(super) fn find(&self, patience: &mut Patience) -> Option<JobRef> {
        let background = || self.registry().background.take();
        self.find_own()
            .or_else(|| self.find_stolen(patience))
            .or_else(|| self.find_injected())
            .or_else(background)
    }

    /// As `find`, but steals private jobs at once.
    pub(super) fn find_anywhere(&self) -> Option<JobRef> {
        self.find(&mut Patience::None)
    }

    /// Notes that this worker was woken to search.
    pub(crate) fn was_woken(&self) {
        let beside_others = self.search.woken_more.load(Relaxed);
        self.search.woken_more.store(false, Relaxed);
        self.search.wake_up.set(WakeUp::Searches(beside_others));
    }

    /// Notes that this worker's search has ended with a job.
    pub(crate) fn has_found(&self) {
        if !matches!(self.search.wake_up.get(), WakeUp::Stole(_) | WakeUp::Tried(_)) {
            self.search.wake_up.set(WakeUp::Over);
            self.call.joins(None);
        }
    }

    /// Whether this worker, which shares a job now, is to wake more workers: it was woken and has stolen the fork that it runs, and the call
    /// is old.
    pub(crate) fn wakes_more(&self) -> bool {
        let is_old = match self.search.wake_up.get() {
            WakeUp::Stole(beside_others) => beside_others || self.call.is_old(),
            WakeUp::Tried(since) => since.elapsed().exceeds(AGAIN),
            WakeUp::Over | WakeUp::Searches(_) => return false,
        };
        if is_old {
            self.search.wake_up.set(WakeUp::Over);
        } else {
            self.poke();
        }
        is_old
    }

    /// Has this worker wake more workers when it next shares a job.
    pub(crate) fn wakes_more_later(&self) {
        self.search.wake_up.set(WakeUp::Tried(Ticks::now()));
        self.poke();
    }

    /// Finds a broadcast job, an urgent job, the newest job spawned here, or a task of this slot's set. The pool's [`Fairness`] may put
    /// tasks of all sets before the spawned job, or have the kinds take turns.
    pub(crate) fn find_own(&self) -> Option<JobRef> {
        if let Some(job) = self.find_broadcast().or_else(|| self.registry().urgent.take()) {
            return Some(job);
        }
        match self.registry().fairness() {
            Fairness::Balanced if self.registry().has_uniform_victims() => self.find_spawned(),
            Fairness::Balanced => {
                self.find_spawned().or_else(|| self.find_woken(|sets| sets.take(self.slot()?)))
            }
            Fairness::WokenFirst => {
                let woken = || self.find_woken_beside(|sets| sets.take_any(self.slot()?));
                woken().or_else(|| self.find_spawned())
            }
            Fairness::FairQueueing => self.find_by_turns(),
        }
    }

    /// Finds a woken task, a job from outside, or a job spawned here. The three kinds take turns in coming first.
    fn find_by_turns(&self) -> Option<JobRef> {
        const KINDS: u8 = 3;
        let first = self.search.first_kind.get();
        self.search.first_kind.set((first + 1) % KINDS);
        (first..first + KINDS).find_map(|kind| match kind % KINDS {
            0 => self.find_woken_beside(|sets| sets.take_any(0)),
            1 => self.find_injected_job(),
            _ => self.find_spawned(),
        })
    }

    /// Finds a broadcast job, or the newest job spawned here. Looks for no woken tasks.
    pub(super) fn find_local(&self) -> Option<JobRef> {
        self.find_broadcast().or_else(|| self.find_spawned())
    }

    /// Finds a broadcast job for this worker.
    pub(crate) fn find_broadcast(&self) -> Option<JobRef> {
        // Almost always empty; the check saves the fence of an attempt.
        if self.broadcasts.is_empty() {
            return None;
        }
        take_oldest(&self.broadcasts)
    }

    /// Finds a job of a worker on the shelf, or a job from outside.
    pub(crate) fn find_injected(&self) -> Option<JobRef> {
        self.registry().steal_shelved().or_else(|| self.find_injected_job())
    }

    /// Finds an urgent job, a job spawned here, a task of any set, or a job from outside.
    pub(super) fn find_queued(&self) -> Option<JobRef> {
        let slots = self.num_threads();
        let urgent = self.registry().urgent.take();
        urgent
            .or_else(|| self.find_spawned())
            .or_else(|| self.find_woken_beside(|sets| (0..slots).find_map(|slot| sets.take(slot))))
            .or_else(|| self.find_injected_job())
            .or_else(|| self.registry().background.take())
    }

    /// Finds a job in the injector.
    pub(super) fn find_injected_job(&self) -> Option<JobRef> {
        let job = take_oldest(&self.registry().injector)?;
        self.counters.injected.add();
        Some(job)
    }

    /// Finds a job of the kind that the pool's [`Fairness`] puts last, so that this kind gets a turn: a spawned job if woken tasks come
    /// first. If there is none, does the same as [`find_fair`](Self::find_fair).
    pub(crate) fn find_last(&self) -> Option<JobRef> {
        let spawned = match self.registry().fairness() {
            Fairness::WokenFirst => self.find_spawned(),
            Fairness::Balanced | Fairness::FairQueueing => None,
        };
        spawned.or_else(|| self.find_fair())
    }

    /// Finds a job that the worker's own jobs may keep waiting: an urgent one; if there is none, a job from outside, or the oldest task
    /// or deque of any set, which take turns in coming first. A background job is the last; in every eighth look it is the first, and in another one
    /// urgent jobs are the last. The worker may still have jobs of its own.
    pub(crate) fn find_fair(&self) -> Option<JobRef> {
        let looks = self.search.fair_looks.get().wrapping_add(1);
        self.search.fair_looks.set(looks);
        let urgent = || self.registry().urgent.take();
        // So that urgent jobs that come again and again do not keep all others waiting.
        if looks % 8 != 4 {
            if let Some(urgent) = urgent() {
                return Some(urgent);
            }
        }
        let (woken, injected) = (|| self.find_woken_of_any(), || self.find_injected());
        let background = || self.registry().background.take();
        let early = if looks % 8 == 0 { background() } else { None };
        let first = early
            .or_else(|| if looks % 2 == 1 { woken().or_else(injected) } else { injected().or_else(woken) });
        first.or_else(background).or_else(urgent)
    }

    /// As [`find_fair`](Self::find_fair), but finds no job from outside.
    pub(crate) fn find_fair_task(&self) -> Option<JobRef> {
        let registry = self.registry();
        registry
            .urgent
            .tasks
            .take()
            .or_else(|| self.find_woken_of_any())
            .or_else(|| registry.background.tasks.take())
    }

    /// Finds a job in the oldest entry of any set, beginning with a random one. The worker may still have jobs of its own.
    fn find_woken_of_any(&self) -> Option<JobRef> {
        let slots = self.num_threads();
        self.find_woken_beside(|sets| sets.take_any(self.search.random.below(slots)))
    }

    /// Finds a job of another slot. Begins with a random slot; on a machine whose processors do not all share a cache, mostly with one that is near: see
    /// [`ANYWHERE`].
    fn find_stolen(&self, patience: &mut Patience) -> Option<JobRef> {
        let registry = self.registry();
        let here = registry.note_place(self.slot());
        // A single look must not miss a slot whose place changes meanwhile.
        let is_single = matches!(patience, Patience::None);
        let distance = |slot| here.map(|here| registry.distance(here, slot));
        let mut steal = |slot| {
            let job = self.steal_from(slot, patience)?;
            if distance(slot) == Some(Distance::Far) {
                self.counters.far_steals.add();
            }
            Some(job)
        };
        let slots = self.num_threads();
        if has_priorities() && registry.has_ranked_holders() {
            let first = self.search.random.below(slots);
            let of =
                |priority| move |&slot: &usize| self.victim(slot).is_some_and(|it| it.priority() == priority);
            let ranked = |priority| (first..slots).chain(0..first).filter(of(priority));
            if let Some(job) = Priority::ALL.into_iter().rev().flat_map(ranked).find_map(&mut steal) {
                return Some(job);
            }
            // Sets of free slots, and holders that have changed their priority meanwhile.
        }
        let is_uniform = here.is_none() || registry.has_uniform_victims() || is_single;
        if is_uniform || self.search.random.below(ANYWHERE) == 0 {
            let first = self.search.random.below(slots);
            return (first..slots).chain(0..first).find_map(steal);
        }
        Distance::ALL.into_iter().find_map(|wanted| {
            let group = || (0..slots).filter(|&slot| distance(slot) == Some(wanted));
            let first = self.search.random.below(group().count().max(1));
            group().skip(first).chain(group().take(first)).find_map(&mut steal)
        })
    }

    /// Finds a job in the deques of a slot's holder, or in the slot's set.
    fn steal_from(&self, slot: usize, patience: &mut Patience) -> Option<JobRef> {
        let victim = self.victim(slot);
        let mut active = || {
            victim.and_then(|victim| {
                self.steal_forked(victim, slot, patience, || true)
                    .or_else(|| self.steal_spawned(victim, slot))
            })
        };
        let woken = || self.find_woken(|sets| sets.steal(slot, |len| self.search.random.below(len)));
        // ProWS-R (Algorithm 5): the thief chooses uniformly among the victim's active deque and the entries of its stealable set.
        // If its choice has no job, it looks at the other side too, so that no search misses a job.
        let entries = self.registry().stealable.len(slot);
        if entries > 0 && self.search.random.below(entries + 1) > 0 {
            woken().or_else(active)
        } else {
            active().or_else(woken)
        }
    }

    /// Returns the holder of a slot, unless that is this worker.
    pub(super) fn victim(&self, slot: usize) -> Option<&Worker> {
        self.registry().holder(slot).filter(|victim| victim.number() != self.number)
    }

    /// Returns the time for which this thief has [patience](PATIENCE).
    fn patience(&self) -> Duration {
        PATIENCE.max(PATIENCE_PER_PROCESSOR * self.registry().processors() as u32)
    }

    /// Tries to steal a fork of one random worker.
    pub(super) fn steal_at_random(&self, patience: &mut Patience) -> Option<JobRef> {
        let slot = self.search.random.below(self.num_threads());
        self.steal_forked(self.victim(slot)?, slot, patience, || true)
    }

    /// Finds a job in the first entry of the stealable sets that has one.
    pub(super) fn find_woken(&self, entry: impl Fn(&Stealable) -> Option<Entry>) -> Option<JobRef> {
        self.find_entry(entry, |entry| self.take_up(entry))
    }

    /// As `find_woken`, for a worker that may still have jobs of its own, so that these do not keep woken tasks waiting for ever.
    pub(super) fn find_woken_beside(&self, entry: impl Fn(&Stealable) -> Option<Entry>) -> Option<JobRef> {
        self.find_entry(entry, |entry| self.take_up_beside(entry))
    }

    /// Takes entries until one of them has a job. If calls take turns, notes the scope of the job and the time.
    fn find_entry(
        &self,
        take: impl Fn(&Stealable) -> Option<Entry>,
        take_up: impl Fn(Entry) -> Option<JobRef>,
    ) -> Option<JobRef> {
        let by_turns = self.registry().fairness() == Fairness::FairQueueing;
        iter::from_fn(|| take(&self.registry().stealable)).find_map(|entry| {
            let turn = by_turns.then(|| (entry.scope(), Instant::now()));
            let job = take_up(entry)?;
            if by_turns {
                self.turn.taken.set(turn);
            }
            Some(job)
        })
    }

    /// Steals a fork from the victim, if `wanted` returns `true` while the victim has forks.
    pub(super) fn steal_forked(
        &self,
        victim: &Worker,
        slot: usize,
        patience: &mut Patience,
        wanted: impl Fn() -> bool,
    ) -> Option<JobRef> {
        let stolen = match victim.forks.steal(&wanted) {
            Steal::Private if patience.is_over(self.patience()) => {
                victim.forks.steal_private(&wanted, || self.counters.barriers.add())
            }
            other => other,
        };
        self.stolen(stolen, victim, slot)
    }

    /// Counts an attempt to steal, and returns the stolen job, if there is one.
    pub(super) fn stolen(&self, stolen: Steal<Header>, victim: &Worker, slot: usize) -> Option<JobRef> {
        let steals = &self.counters.steals[slot];
        match stolen {
            Steal::Empty => {
                steals.empty.add();
                None
            }
            Steal::Private => {
                steals.requests.add();
                None
            }
            Steal::Lost => {
                steals.lost.add();
                None
            }
            Steal::Job(job) => {
                steals.won.add();
                if let WakeUp::Searches(beside_others) = self.search.wake_up.get() {
                    self.search.wake_up.set(WakeUp::Stole(beside_others));
                    self.call.joins(Some(&victim.call));
                }
                trace::record(Kind::Steal, trace::beside(job.addr().get() as u64, slot));
                Some(JobRef::new(job, victim))
            }
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    fn short() -> Searches {
        Searches::default().after_failure().after_failure()
    }

    #[test]
    fn searches_become_short_after_two_in_vain() {
        assert!(!Searches::default().after_failure().are_short());
        assert!(short().are_short());
    }

    #[test]
    fn work_soon_after_a_short_search_makes_searches_long_again() {
        // A time in the future, because this thread may be interrupted before it looks.
        let soon = Searches { gave_up: Some(Instant::now() + Duration::from_secs(1)), ..short() };
        assert!(!soon.after_success(0).are_short());
    }

    #[test]
    fn work_long_after_a_search_leaves_searches_short() {
        let late = Searches { gave_up: Some(Instant::now() - 2 * SEARCH), ..short() };
        let woken = late.after_success(0);
        assert!(woken.are_short());
        // The worker's next steal succeeds at once, and a short search would do so too.
        assert!(woken.after_success(0).are_short());
        assert!(!woken.after_success(SHORT + 1).are_short());
    }
}
