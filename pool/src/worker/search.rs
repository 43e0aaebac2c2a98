//! How a worker finds jobs: its own, jobs of randomly chosen victims, and jobs from outside.

use super::Worker;
use crate::deque::Steal;
use crate::fairness::Fairness;
use crate::job::{Header, JobRef};
use crate::stealable::{Entry, Stealable};
use std::hint;
use std::iter;
use std::thread;
use std::time::{Duration, Instant};

/// How long an idle worker looks for work before it naps.
const SEARCH: Duration = Duration::from_micros(50);

/// Number of pauses of a short search: some microseconds.
const SHORT: u32 = 8;

/// How long a thief sees nothing but private jobs before it reaches for them: time enough for an owner that forks to
/// share them, at no cost to anybody.
const PATIENCE: Duration = Duration::from_micros(5);

/// Pauses that grow: from nothing to some hundred nanoseconds, then to other threads' turns.
pub(super) struct Pauses {
    rounds: u32,
    since: Option<Instant>,
}

impl Pauses {
    pub(super) const fn new() -> Self {
        Pauses { rounds: 0, since: None }
    }

    /// Waits a little. False when it has been doing so for longer than `limit`.
    pub(super) fn pause(&mut self, limit: Duration) -> bool {
        self.rounds = self.rounds.saturating_add(1);
        if self.rounds <= 16 {
            (0..4 * self.rounds).for_each(|_| hint::spin_loop());
            return true;
        }
        let since = *self.since.get_or_insert_with(Instant::now);
        thread::yield_now();
        since.elapsed() < limit
    }
}

/// Whether a worker's searches are short. If each call begins long after the one before, every search fails, and a long search in vain
/// takes more processor time than a small call. So searches become short after two long ones in vain. They become long again when a
/// long search finds work, and when work comes so soon after a short one that a long one would have found it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Vigor {
    /// Number of searches in vain since a long one was of use, at most [`TIRED`].
    failures: u32,
    /// The end of the last search, if that was in vain.
    gave_up: Option<Instant>,
}

/// Number of searches in vain after which searches are short.
const TIRED: u32 = 2;

impl Vigor {
    fn is_tired(self) -> bool {
        self.failures == TIRED
    }

    fn after_failure(self) -> Self {
        Vigor { failures: (self.failures + 1).min(TIRED), gave_up: Some(Instant::now()) }
    }

    /// A search has found work after so many pauses.
    fn after_success(self, pauses: u32) -> Self {
        let was_of_use = match self.gave_up {
            Some(end) => end.elapsed() < SEARCH,
            None => pauses > SHORT,
        };
        Vigor { failures: if was_of_use { 0 } else { self.failures }, gave_up: None }
    }
}

/// A thief's patience with owners that do not share.
#[derive(Clone, Copy)]
pub(super) enum Patience {
    /// No owner has worn it yet.
    Whole,
    /// Time at which the thief first saw an owner with private jobs only.
    Since(Instant),
    None,
}

impl Patience {
    /// Called for an owner that has private jobs only. Returns whether the patience is over; if so it is whole again.
    fn is_over(&mut self) -> bool {
        match *self {
            Patience::Whole => {
                *self = Patience::Since(Instant::now());
                false
            }
            Patience::Since(since) if since.elapsed() < PATIENCE => false,
            Patience::Since(_) | Patience::None => {
                *self = Patience::Whole;
                true
            }
        }
    }
}

impl Worker {
    /// Looks for any job, for a while: for a short while if long searches were in vain, see [`Vigor`]. After a task it looks once: the next task is woken by I/O, and that wake-up wakes a worker
    /// as well. To search for the 20 us between two tasks would cost more than the tasks do.
    pub(crate) fn search(&self) -> Option<JobRef> {
        let mut pauses = Pauses::new();
        let mut patience = Patience::Whole;
        let once = self.ran_task.take();
        loop {
            // A claimant has a job to run, so this worker gives its slot up. Broadcast jobs come first: only this thread may run them,
            // and it would claim the slot again for them.
            if self.registry().is_claimed() {
                return self.find_broadcast();
            }
            if let Some(job) = self.find(&mut patience) {
                self.vigor.set(self.vigor.get().after_success(pauses.rounds));
                return Some(job);
            }
            if once {
                return None;
            }
            let is_short = self.vigor.get().is_tired() && pauses.rounds >= SHORT;
            if is_short || !pauses.pause(SEARCH) {
                self.vigor.set(self.vigor.get().after_failure());
                return None;
            }
        }
    }

    /// Looks once everywhere: its own jobs, the other workers' (from a random one on), those from outside.
    pub(super) fn find(&self, patience: &mut Patience) -> Option<JobRef> {
        self.find_own().or_else(|| self.find_stolen(patience)).or_else(|| self.find_injected())
    }

    /// As `find`, reaching for private jobs too.
    pub(super) fn find_anywhere(&self) -> Option<JobRef> {
        self.find(&mut Patience::None)
    }

    /// An urgent job, a broadcast job, the newest job spawned here, or a task of this slot's set; or a task of any set before the
    /// spawned job, if the pool is built so.
    pub(crate) fn find_own(&self) -> Option<JobRef> {
        if let Some(urgent) = self.registry().urgent.take() {
            return Some(urgent);
        }
        match self.registry().fairness() {
            Fairness::Balanced => {
                self.find_local().or_else(|| self.find_woken(|sets| sets.take(self.place()?)))
            }
            Fairness::WokenFirst => {
                let woken = || self.find_woken_beside(|sets| sets.take_any(self.place()?));
                self.find_broadcast().or_else(woken).or_else(|| self.find_spawned())
            }
            Fairness::FairQueueing => self.find_broadcast().or_else(|| self.find_by_turns()),
        }
    }

    /// A woken task, a job from outside, or a job spawned here: each of them is the first to be looked for in its turn.
    fn find_by_turns(&self) -> Option<JobRef> {
        const KINDS: u8 = 3;
        let first = self.kind.get();
        self.kind.set((first + 1) % KINDS);
        (first..first + KINDS).find_map(|kind| match kind % KINDS {
            0 => self.find_woken_beside(|sets| sets.take_any(0)),
            1 => self.find_injected_job(),
            _ => self.find_spawned(),
        })
    }

    /// A broadcast job, or the newest job spawned here: nothing that others have woken.
    pub(super) fn find_local(&self) -> Option<JobRef> {
        self.find_broadcast().or_else(|| self.find_spawned())
    }

    pub(crate) fn find_broadcast(&self) -> Option<JobRef> {
        // Almost always; it saves the fence of an attempt.
        if self.broadcasts.is_empty() {
            return None;
        }
        loop {
            match self.broadcasts.steal() {
                crossbeam_deque::Steal::Success(job) => return Some(job),
                crossbeam_deque::Steal::Empty => return None,
                crossbeam_deque::Steal::Retry => {}
            }
        }
    }

    /// A fork of a worker that sleeps without a slot, or a job from outside.
    pub(crate) fn find_injected(&self) -> Option<JobRef> {
        self.registry().steal_shelved().or_else(|| self.find_injected_job())
    }

    /// An urgent job, a job that was spawned here, a task of any set, or a job from outside.
    pub(super) fn find_queued(&self) -> Option<JobRef> {
        let places = self.num_threads();
        let urgent = self.registry().urgent.take();
        urgent
            .or_else(|| self.find_spawned())
            .or_else(|| self.find_woken_beside(|sets| (0..places).find_map(|place| sets.take(place))))
            .or_else(|| self.find_injected_job())
    }

    pub(super) fn find_injected_job(&self) -> Option<JobRef> {
        loop {
            match self.registry().injector.steal() {
                crossbeam_deque::Steal::Success(job) => {
                    self.counters.injected.add();
                    return Some(job);
                }
                crossbeam_deque::Steal::Empty => return None,
                crossbeam_deque::Steal::Retry => {}
            }
        }
    }

    /// A job of the kind that the pool's [`Fairness`] puts last, so that it gets a turn: a spawned job if woken tasks come first. If
    /// there is none, as [`find_fair`](Self::find_fair).
    pub(crate) fn find_last(&self) -> Option<JobRef> {
        let spawned = match self.registry().fairness() {
            Fairness::WokenFirst => self.find_spawned(),
            Fairness::Balanced | Fairness::FairQueueing => None,
        };
        spawned.or_else(|| self.find_fair())
    }

    /// A job that the worker's own jobs may keep waiting: an urgent one, else by turns one from outside, or the oldest task or deque
    /// of any set. The worker may still have jobs of its own.
    pub(crate) fn find_fair(&self) -> Option<JobRef> {
        if let Some(urgent) = self.registry().urgent.take() {
            return Some(urgent);
        }
        let places = self.num_threads() as u64;
        let woken = || self.find_woken_beside(|sets| sets.take_any((self.random() % places) as usize));
        let woken_first = !self.woken_first.get();
        self.woken_first.set(woken_first);
        if woken_first {
            woken().or_else(|| self.find_injected())
        } else {
            self.find_injected().or_else(woken)
        }
    }

    fn find_stolen(&self, patience: &mut Patience) -> Option<JobRef> {
        let places = self.num_threads();
        let first = (self.random() % places as u64) as usize;
        (first..places).chain(0..first).find_map(|place| {
            let victim = self.registry().at(place).filter(|victim| victim.number() != self.number);
            let mut active = || {
                victim.and_then(|victim| {
                    self.steal_forked(victim, place, patience, || true)
                        .or_else(|| self.steal_spawned(victim, place))
                })
            };
            let woken = || self.find_woken(|sets| sets.steal(place, || self.random()));
            // ProWS-R: the thief chooses uniformly among the victim's active deque and the entries of its stealable set. If the chosen
            // one has no job, it looks at the other, so that no search misses a job.
            let entries = self.registry().stealable.len(place) as u64;
            if entries > 0 && !self.random().is_multiple_of(entries + 1) {
                woken().or_else(active)
            } else {
                active().or_else(woken)
            }
        })
    }

    /// A job of the first entry of a stealable set that has one.
    pub(super) fn find_woken(&self, entry: impl Fn(&Stealable) -> Option<Entry>) -> Option<JobRef> {
        self.find_entry(entry, |entry| self.take_up(entry))
    }

    /// As `find_woken`, for a worker that may still have jobs of its own. Its own jobs then do not keep woken tasks waiting for ever.
    pub(super) fn find_woken_beside(&self, entry: impl Fn(&Stealable) -> Option<Entry>) -> Option<JobRef> {
        self.find_entry(entry, |entry| self.take_up_beside(entry))
    }

    /// Takes entries until one of them has a job. Where calls take turns, notes whose turn it is, and since when.
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
                self.turn.set(turn);
            }
            Some(job)
        })
    }

    /// Steals a forked job, if `wanted` returns `true` for the victim's jobs.
    pub(super) fn steal_forked(
        &self,
        victim: &Worker,
        place: usize,
        patience: &mut Patience,
        wanted: impl Fn() -> bool,
    ) -> Option<JobRef> {
        let stolen = match victim.forks.steal(&wanted) {
            Steal::Private if patience.is_over() => {
                victim.forks.reach(&wanted, || self.counters.barriers.add())
            }
            Steal::Private => return None,
            other => other,
        };
        self.stolen(stolen, victim, place)
    }

    /// Counts an attempt to steal, and returns the job if it has won one.
    pub(super) fn stolen(&self, stolen: Steal<Header>, victim: &Worker, place: usize) -> Option<JobRef> {
        let steals = &self.counters.steals[place];
        match stolen {
            Steal::Empty => None,
            Steal::Private | Steal::Lost => {
                steals.tried.add();
                None
            }
            Steal::Job(job) => {
                steals.tried.add();
                steals.won.add();
                Some(JobRef::new(job, victim))
            }
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    fn tired() -> Vigor {
        Vigor::default().after_failure().after_failure()
    }

    #[test]
    fn searches_become_short_after_two_in_vain() {
        assert!(!Vigor::default().after_failure().is_tired());
        assert!(tired().is_tired());
    }

    #[test]
    fn work_soon_after_a_short_search_makes_searches_long_again() {
        // In the future: this thread may be interrupted before it looks.
        let soon = Vigor { gave_up: Some(Instant::now() + Duration::from_secs(1)), ..tired() };
        assert!(!soon.after_success(0).is_tired());
    }

    #[test]
    fn work_long_after_a_search_leaves_searches_short() {
        let late = Vigor { gave_up: Some(Instant::now() - 2 * SEARCH), ..tired() };
        let woken = late.after_success(0);
        assert!(woken.is_tired());
        // The worker's next steal succeeds at once, and a short search would do so too.
        assert!(woken.after_success(0).is_tired());
        assert!(!woken.after_success(SHORT + 1).is_tired());
    }
}
