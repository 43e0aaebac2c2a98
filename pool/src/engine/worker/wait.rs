//! How a worker waits in the middle of a job: the jobs that it may run meanwhile, and when it gives its slot away.

use super::Worker;
use super::search::{Patience, Pauses};
use super::{JobRef, Stealable};
use crate::engine::queues::ranked::Ranked;
use crate::engine::registry::{FAIR, NextJobs, Waited};
use crate::sync::clock::Instant;
use crate::sync::latch::Latch;
use crate::sync::machine::atomic::Ordering::Relaxed;
use crate::sync::machine::thread;
use crate::trace::{self, Kind};
use std::cell::Cell;
use std::time::Duration;

/// The jobs that a worker may run while it waits for a stolen half of its `join`, or for the end of a scope.
///
/// | rule | jobs that a waiting worker runs | lock held across a join | stack | cores |
/// |---|---|---|---|---|
/// | [`Descendants`](WaitRule::Descendants) | parts of the awaited job; then another thread takes its slot | safe | bounded | busy |
/// | [`Leapfrog`](WaitRule::Leapfrog) | parts of the awaited job | safe | bounded | may idle |
/// | [`RandomLeapfrog`](WaitRule::RandomLeapfrog) | parts of the awaited job; else a fork of one random worker | can deadlock | unbounded | may idle |
/// | [`Any`](WaitRule::Any) | any job | can deadlock | unbounded | busy |
///
/// *Bounded*: by the depth of the computation itself.
///
/// If all of the pool's threads wait and no spare thread can be started, a waiting worker runs any queued job, under every rule: one
/// of the waiting threads may need that job. No spare thread can be started under `Leapfrog` and `RandomLeapfrog`, with a [spawn
/// handler](crate::ThreadPoolBuilder::spawn_handler), and after the system has refused to start one. (If only the pool's
/// [bound](crate::ThreadPoolBuilder::max_blocking_threads) is reached, a thread of its own polls tasks, and after some 0.1 s one more
/// thread is started for other jobs.)
///
/// A thread whose wait is over takes a slot. If none becomes free, it takes over the slot of a thread that has used no
/// processor time for 20 ms: such a thread may wait for a lock that the first thread holds. See
/// [`WorkerStats::slots_taken_over`](crate::WorkerStats::slots_taken_over).
///
/// ```
/// use furcate::{ThreadPoolBuilder, WaitRule};
/// let pool = ThreadPoolBuilder::new().num_threads(2).wait_rule(WaitRule::Any).build().unwrap();
/// assert_eq!(pool.install(|| furcate::join(|| 1, || 2)), (1, 2));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum WaitRule {
    /// Descendants of the awaited job, by leapfrogging (Wagner and Calder 1993): the worker steals back from its thief. A
    /// worker that finds none for some tens of microseconds gives its slot to another thread, a parked or a spare one. When the awaited
    /// job is done, the worker gets a slot again: a free one, or the slot of the thread that has finished the job. So as many threads
    /// run jobs as there is work for, and never more than the pool has slots. (For the exception see
    /// [`WorkerStats::slots_taken_over`](crate::WorkerStats::slots_taken_over).)
    #[default]
    Descendants,
    /// As `Descendants`, without spare threads: if no descendant can be stolen, the worker idles.
    Leapfrog,
    /// As `Leapfrog`, with the *random stealing* of Lace (van Dijk and van de Pol 2014): at each look that finds no
    /// descendant, the worker tries to steal a fork of one random worker, on top of the waiting frame. It takes no spawned job, no
    /// woken task, and no job from outside. The wait may last as long as the stolen fork. If the fork needs a lock that the
    /// waiting frame holds, the wait never ends.
    RandomLeapfrog,
    /// Any job, on top of the waiting frame, as rayon does. The wait may last as long as that job. If the job needs a lock
    /// that the waiting frame holds, the wait never ends.
    Any,
}

/// How long a waiting worker looks for jobs before it blocks: so long, and longer by the second value for each processor of the pool. Each that
/// blocks takes the slot lock, and once more when it goes on.
const LOOK: Duration = Duration::from_micros(30);
const LOOK_PER_PROCESSOR: Duration = Duration::from_nanos(500);

/// How long a waiting worker that keeps its slot sleeps between two looks for jobs (a timed wait).
pub(crate) const SHORT_SLEEP: Duration = Duration::from_micros(200);

/// The longest such sleep, of a *long sleeper*: if every slot holder waits, a worker sleeps for as long as it has found no job.
pub(crate) const LONG_SLEEP: Duration = Duration::from_millis(10);

/// How a worker waits.
#[derive(Clone, Copy)]
pub(crate) struct Wait {
    pub(crate) rule: WaitRule,
    /// Whether the worker waits for other threads, of this pool or of another one, without helping them.
    pub(crate) for_others: bool,
    /// Whether the worker waits for a future.
    pub(crate) future: bool,
    /// Number of the scope whose jobs the worker waits for, if it waits for a scope. It looks for these jobs in every queue and deque.
    pub(crate) scope: Option<u64>,
}

/// What a worker waits for, as other threads see it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Awaited {
    Nothing,
    /// The right half of a join, with the number of its thief, if that was known at the begin of the wait.
    Half(Option<usize>),
    /// The jobs of the scope with that number.
    Scope(u64),
    Future,
    /// Other threads, which it does not help.
    Others,
}

impl Awaited {
    const KINDS: u64 = 8;

    fn of(wait: &Wait, latch: &Latch) -> Self {
        match wait.scope {
            Some(scope) => Awaited::Scope(scope),
            None if wait.future => Awaited::Future,
            None if wait.for_others => Awaited::Others,
            None => Awaited::Half(latch.thief()),
        }
    }

    fn encode(self) -> u64 {
        let (kind, payload) = match self {
            Awaited::Nothing => (0, 0),
            Awaited::Half(None) => (1, 0),
            Awaited::Half(Some(thief)) => (2, thief as u64),
            Awaited::Scope(scope) => (3, scope),
            Awaited::Future => (4, 0),
            Awaited::Others => (5, 0),
        };
        payload.wrapping_mul(Self::KINDS) | kind
    }

    fn decode(word: u64) -> Self {
        let payload = word / Self::KINDS;
        match word % Self::KINDS {
            1 => Awaited::Half(None),
            2 => Awaited::Half(Some(payload as usize)),
            3 => Awaited::Scope(payload),
            4 => Awaited::Future,
            5 => Awaited::Others,
            _ => Awaited::Nothing,
        }
    }
}

impl Worker {
    /// Returns what this worker waits for. A hint, for any thread.
    pub(crate) fn awaited(&self) -> Awaited {
        Awaited::decode(self.awaited.load(Relaxed))
    }

    /// Waits until the latch of a stolen fork is set.
    #[cold]
    pub(super) fn wait_for(&self, latch: &Latch) {
        if !latch.is_set() {
            self.counters.waits.add();
        }
        self.wait(latch, None, |patience| {
            let thief = self.registry().worker(latch.thief()?)?;
            let slot = thief.slot()?;
            // While the latch is not set, jobs in the thief's deque are descendants, see `Worker::forks`. The job that is stolen is the
            // one that was checked, see the deque's invariant 1.
            let job =
                self.steal_forked(thief, slot, patience, || !latch.is_set() && !thief.runs_unrelated())?;
            self.counters.leapfrogs.add();
            Some(job)
        });
    }

    /// Waits until the latch of a stolen fork is set, if the thief has only to move the fork out of this worker's frame.
    #[cold]
    pub(crate) fn wait_until_taken(&self, latch: &Latch) {
        const LOOKS: u32 = 1000;
        for _ in 0..LOOKS {
            if latch.is_set() {
                return;
            }
            crate::sync::machine::hint::spin_loop();
        }
        // The thief does not run at present.
        self.wait(latch, None, |_| None);
    }

    /// Waits until the latch of a scope is set. `scope` is the scope's number.
    #[cold]
    pub(crate) fn wait_for_scope(&self, latch: &Latch, scope: u64) {
        // Number of urgent and of background jobs that a look takes into account.
        const FEW: usize = 64;
        let turn = Cell::new(0_usize);
        self.wait(latch, Some(scope), |patience| {
            turn.set(turn.get().wrapping_add(1));
            // Only this scope's urgent jobs: the others drop values of other callers, and this frame may hold locks that those drops
            // want.
            if let Some(job) = self.registry().urgent.take_of(scope, FEW) {
                return Some(job);
            }
            // Jobs that spawn again and again do not keep woken tasks waiting.
            let fair = turn.get() % FAIR == 0;
            let of_scope = |sets: &Stealable| sets.take_of(self.slot()?, scope);
            let woken = fair.then(|| self.find_woken_beside(of_scope)).flatten();
            let found = woken.or_else(|| self.find_spawned());
            let Some(job) = found.or_else(|| self.find_woken(of_scope)) else {
                return self
                    .steal_part(scope, patience)
                    .or_else(|| self.registry().background.take_of(scope, FEW));
            };
            // SAFETY: just taken.
            if unsafe { job.scope() } == scope {
                return Some(job);
            }
            // The job belongs to an outer scope, or to none, so this frame must not run it.
            self.turn.taken.set(None);
            // SAFETY: just taken; not a fork.
            unsafe { self.registry().requeue(job) };
            self.registry().notify(Some(self));
            None
        });
    }

    /// Steals a detached part of a scope, see [`Scope`](crate::Scope), or a fork that such a part has made.
    fn steal_part(&self, scope: u64, patience: &mut Patience) -> Option<JobRef> {
        (0..self.num_threads()).find_map(|slot| {
            let victim = self.victim(slot)?;
            let wanted = || victim.belongs_to(scope);
            if wanted() { self.steal_forked(victim, slot, patience, wanted) } else { None }
        })
    }

    /// Waits for a latch that other threads set without this worker's help. Meanwhile the worker runs broadcast jobs only, and releases
    /// its slot, because those threads may need it.
    pub(crate) fn wait_for_others(&self, latch: &Latch) {
        self.wait_by(
            Wait { rule: WaitRule::Descendants, for_others: true, future: false, scope: None },
            latch,
            |_| None,
        );
    }

    /// Waits until a waker [signals](Latch::signal) a latch.
    pub(crate) fn wait_for_wake(&self, latch: &Latch) {
        let rule = self.registry().wait_rule();
        self.wait_by(Wait { rule, for_others: false, future: true, scope: None }, latch, |_| None);
    }

    /// Finds a remedy when waiting threads keep all slots. After some 0.1 s, lets one more thread be started. If no thread can be
    /// started, returns a job to run on top of the waiting frame: the wait may depend on that job. (If the job wants a lock that this
    /// thread holds, or a result of a frame below, the job waits for ever.)
    fn find_as_last(&self, wait: Wait, idle: Option<Duration>) -> Option<JobRef> {
        const LAST_RESORT: Duration = Duration::from_millis(100);
        let waited = idle.is_some_and(|idle| idle > LAST_RESORT) && self.registry().sees_work();
        if self.registry().may_start_more() {
            if waited {
                self.registry().allow_one_more(LAST_RESORT);
            }
            return None;
        }
        // A fork may want a lock that a frame below holds. If the slot of a stuck thread was taken over, that thread may wait for just
        // that lock. Its forks would wait for the lock too, as its own job does. The thread runs them itself when it continues.
        let takes_forks = waited && !self.registry().has_former_holder();
        if let Some(scope) = wait.scope {
            let queued = self.find_of_scope(scope).or_else(|| self.find_queued());
            return queued.or_else(|| if takes_forks { self.find_anywhere() } else { None });
        }
        if !wait.future && !self.registry().has_former_holder() {
            return self.find_anywhere();
        }
        // Most likely the future waits for a spawned job. Forks come last: they may want the same locks as this thread's own job.
        self.find_queued().or_else(|| {
            if takes_forks { self.find_anywhere().or_else(|| self.take_own_fork()) } else { None }
        })
    }

    /// Finds a remedy when all other slot holders are stuck or wait, and no thread can take a slot over. If possible, lets one more
    /// thread be started. Otherwise returns a job of the scope that this worker waits for; if there is none, a queued job, for which
    /// the scope may wait.
    fn find_as_unstuck(&self, wait: Wait, idle: Option<Duration>) -> Option<JobRef> {
        if self.registry().may_start_more() {
            return self.find_as_last(wait, idle);
        }
        wait.scope.and_then(|scope| self.find_of_scope(scope)).or_else(|| self.find_queued())
    }

    /// Gives other jobs a turn, if there are any. Called when a future of this thread wants to be polled again at once.
    pub(crate) fn let_others(&self) {
        thread::yield_now();
        let registry = self.registry();
        registry.give_turn(self);
        if self.slot().is_none() || !registry.is_claimed() && !registry.sees_work() {
            return;
        }
        let wait = Wait { rule: registry.wait_rule(), for_others: false, future: true, scope: None };
        if registry.would_give_slot(self, wait) {
            self.counters.handovers.add();
            trace::record(Kind::Handover, 0);
            registry.release_slot(self);
        } else if wait.rule == WaitRule::Any && !self.external || registry.is_alone(self, wait) {
            if let Some(job) = self.find_anywhere().or_else(|| self.take_own_fork()) {
                self.run_unrelated(job);
            }
        }
        registry.regain_slot(self);
    }

    /// Finds a job of a scope that this worker waits for, in every queue and deque. Jobs of other scopes that it finds on the way are
    /// moved to the injector.
    fn find_of_scope(&self, scope: u64) -> Option<JobRef> {
        let registry = self.registry();
        let mut moved = false;
        let mut of_scope = |job: JobRef| {
            // SAFETY: `job` was just taken, and is a spawned job, a task, or a call from outside; no fork.
            if unsafe { job.scope() } == scope {
                return Some(job);
            }
            self.turn.taken.set(None);
            // SAFETY: as above; it is given away.
            unsafe { registry.requeue(job) };
            moved = true;
            None
        };
        let ranked = |queues: &Ranked<Worker>| queues.take_of(scope, usize::MAX);
        let mut found = ranked(&registry.urgent).or_else(|| ranked(&registry.background));
        if found.is_some() {
            return found;
        }
        // Suspended deques first: a task of another scope may have left jobs of this scope in them.
        for _ in 0..1 << 12 {
            let entry = |sets: &Stealable| sets.take_of_or_deque(scope);
            let Some(job) = self.find_woken_beside(entry) else { break };
            found = of_scope(job);
            if found.is_some() {
                break;
            }
        }
        for slot in 0..self.num_threads() {
            let Some(victim) = self.victim(slot) else { continue };
            while found.is_none() {
                let Some(job) = self.steal_spawned(victim, slot) else { break };
                found = of_scope(job);
            }
        }
        for _ in 0..registry.injector.len() {
            if found.is_some() {
                break;
            }
            let Some(job) = self.find_injected_job() else { break };
            found = of_scope(job);
        }
        if moved {
            // Workers that ended their search meanwhile have not seen the jobs that this thread had taken from their queues.
            registry.notify(Some(self));
        }
        found
    }

    fn wait(&self, latch: &Latch, scope: Option<u64>, descendant: impl Fn(&mut Patience) -> Option<JobRef>) {
        self.wait_by(
            Wait { rule: self.registry().wait_rule(), for_others: false, future: false, scope },
            latch,
            descendant,
        );
    }

    /// Waits until a latch is set. Meanwhile runs the jobs that `descendant` returns, and those that `wait` allows.
    fn wait_by(&self, wait: Wait, latch: &Latch, descendant: impl Fn(&mut Patience) -> Option<JobRef>) {
        let mut pauses = Pauses::new();
        let mut patience = Patience::Whole;
        let mut waited = Waited::default();
        let look = LOOK + LOOK_PER_PROCESSOR * self.registry().processors() as u32;
        let awaited_below = self.awaited.load(Relaxed);
        self.awaited.store(Awaited::of(&wait, latch).encode(), Relaxed);
        trace::record(Kind::WaitBegin, 0);
        while !latch.is_set() {
            let blocked_out = self.slot().is_none();
            if !blocked_out {
                self.registry().give_turn(self);
            }
            let job = if blocked_out {
                None
            } else if let Some(job) = self.find_broadcast() {
                self.run_unrelated(job);
                waited.has_run_job();
                continue;
            } else {
                descendant(&mut patience).or_else(|| match wait.rule {
                    WaitRule::Any if !self.external => self.find(&mut patience),
                    WaitRule::RandomLeapfrog if !self.external => self.steal_at_random(&mut patience),
                    _ => None,
                })
            };
            if let Some(job) = job {
                // SAFETY: just taken from a queue.
                unsafe {
                    if wait.scope.is_some() { self.execute_detachable(job) } else { self.execute(job) }
                };
                (pauses, patience) = (Pauses::new(), Patience::Whole);
                waited.has_run_job();
            } else if blocked_out || !pauses.pause(look, self.registry()) {
                let idle_for = waited.idle.map(|since| since.elapsed());
                let job = match self.registry().block(self, latch, wait, &mut waited) {
                    NextJobs::Anything => self.find_as_last(wait, idle_for),
                    NextJobs::Queued => self.find_as_unstuck(wait, idle_for),
                    NextJobs::Usual => None,
                };
                if let Some(job) = job {
                    self.registry().note_job_of_last(self, wait, &mut waited);
                    self.run_unrelated(job);
                    waited.has_run_job();
                } else {
                    waited.idle.get_or_insert_with(Instant::now);
                }
                patience = Patience::Whole;
                // A long sleeper looks only once between two sleeps.
                if idle_for.is_none_or(|time| time < LONG_SLEEP) {
                    pauses = Pauses::new();
                }
            }
        }
        self.registry().regain_slot(self);
        self.awaited.store(awaited_below, Relaxed);
        trace::record(Kind::WaitEnd, 0);
    }
}
