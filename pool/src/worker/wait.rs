//! What a worker does while what it needs is elsewhere.

use super::Worker;
use super::search::{Patience, Pauses};
use crate::job::JobRef;
use crate::latch::Latch;
use crate::registry::FAIR;
use crate::stealable::Stealable;
use std::cell::Cell;
use std::time::{Duration, Instant};

/// What a worker may run while it waits for a half of a `join` that was stolen from it, or for the end of a scope.
///
/// | rule | a waiting worker runs | lock held across a join | stack | cores |
/// |---|---|---|---|---|
/// | [`Descendants`](WaitRule::Descendants) | what it waits for; then another thread takes its place | safe | bounded | busy |
/// | [`Leapfrog`](WaitRule::Leapfrog) | what it waits for | safe | bounded | may idle |
/// | [`Any`](WaitRule::Any) | anything | can deadlock | unbounded | busy |
///
/// *Bounded*: by the depth of the computation itself.
///
/// Where nobody else can run anything, because all of the pool's threads wait and there are no spare ones, a waiting worker
/// runs whatever there is, under every rule: one of them may need it. (Where the system once refuses to start a spare
/// thread, the pool starts no more of them.)
///
/// ```
/// use furcate::{ThreadPoolBuilder, WaitRule};
/// let pool = ThreadPoolBuilder::new().num_threads(2).wait_rule(WaitRule::Any).build().unwrap();
/// assert_eq!(pool.install(|| furcate::join(|| 1, || 2)), (1, 2));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum WaitRule {
    /// Descendants of what it waits for, by leapfrogging (Wagner and Calder 1993): it steals back from its thief. A
    /// worker that finds none for some tens of microseconds hands its place to a spare thread, and takes one when
    /// what it waits for is done, from the thread that has done it if no other is free. So never more than the
    /// pool's number of threads run jobs, and as many do as there is work for.
    #[default]
    Descendants,
    /// As `Descendants`, without spare threads: where no descendant can be stolen, the worker idles.
    Leapfrog,
    /// Any job, on top of the waiting frame, as rayon does. The wait may last as long as that job; if it needs a lock
    /// that the waiting frame holds, for ever.
    Any,
}

/// How long a waiting worker looks for jobs before it blocks.
const LOOK: Duration = Duration::from_micros(30);

/// How long a worker that may run anything, or cannot give its place away, sleeps between looks.
pub(crate) const NAP: Duration = Duration::from_micros(200);

/// The longest such sleep, of one that has found nothing for as long and has nobody to help.
pub(crate) const DOZE: Duration = Duration::from_millis(10);

/// How a worker waits.
#[derive(Clone, Copy)]
pub(crate) struct Wait {
    pub(crate) rule: WaitRule,
    /// For what other threads do, of this pool or another one.
    pub(crate) abroad: bool,
    /// For the jobs of a scope, which it finds wherever they are.
    scope: bool,
}

impl Worker {
    /// Returns when the latch of a forked job that was stolen is set.
    #[cold]
    pub(super) fn wait_for(&self, latch: &Latch) {
        if !latch.is_set() {
            self.counters.waits.add();
        }
        self.wait(latch, false, |patience| {
            let thief = self.registry().worker(latch.thief()?)?;
            let place = thief.place()?;
            // What is in the thief's deque while the latch is not set is a descendant, see `Worker::forks`; and it is
            // still the same job when it is stolen, see the deque's invariant 1.
            self.steal_forked(thief, place, patience, || !latch.is_set() && !thief.is_aside())
        });
    }

    /// Returns when the latch of a fork is set whose taker has only to move it out of this worker's frame.
    #[cold]
    pub(crate) fn wait_until_taken(&self, latch: &Latch) {
        const LOOKS: u32 = 1000;
        for _ in 0..LOOKS {
            if latch.is_set() {
                return;
            }
            std::hint::spin_loop();
        }
        // The taker does not run; or the fork lies where any worker finds it, and nobody has.
        self.wait(latch, false, |_| None);
    }

    /// Returns when the latch of a scope is set. `scope` is its number.
    #[cold]
    pub(crate) fn wait_for_scope(&self, latch: &Latch, scope: u64) {
        let turn = Cell::new(0_usize);
        self.wait(latch, true, |patience| {
            turn.set(turn.get().wrapping_add(1));
            // Jobs that spawn again and again do not keep those waiting that were woken.
            let fair = turn.get().is_multiple_of(FAIR);
            let of_scope = |sets: &Stealable| sets.take_of(self.place()?, scope);
            let woken = fair.then(|| self.find_woken_beside(of_scope)).flatten();
            let found = woken.or_else(|| self.find_spawned());
            let Some(job) = found.or_else(|| self.find_woken(of_scope)) else {
                return self.steal_part(scope, patience);
            };
            // SAFETY: just taken.
            if unsafe { job.scope() } == scope {
                return Some(job);
            }
            // Of an outer scope, or of none: not for this frame to run.
            self.registry().injector.push(job);
            self.registry().announce(Some(self));
            None
        });
    }

    /// Steals a detached part of a scope, see [`Scope`](crate::Scope), or a fork made by one.
    fn steal_part(&self, scope: u64, patience: &mut Patience) -> Option<JobRef> {
        (0..self.num_threads()).find_map(|place| {
            let victim = self.registry().at(place).filter(|victim| victim.number() != self.number())?;
            let wanted = || victim.is_root(scope);
            if wanted() { self.steal_forked(victim, place, patience, wanted) } else { None }
        })
    }

    /// Returns when the latch of something is set that other threads do in any case; runs only broadcast jobs, and
    /// gives its place away, for those threads may need it.
    pub(crate) fn wait_for_others(&self, latch: &Latch) {
        self.wait_by(Wait { rule: WaitRule::Descendants, abroad: true, scope: false }, latch, |_| None);
    }

    fn wait(&self, latch: &Latch, scope: bool, descendant: impl Fn(&mut Patience) -> Option<JobRef>) {
        self.wait_by(Wait { rule: self.registry().wait_rule(), abroad: false, scope }, latch, descendant);
    }

    fn wait_by(&self, wait: Wait, latch: &Latch, descendant: impl Fn(&mut Patience) -> Option<JobRef>) {
        let mut pauses = Pauses::new();
        let mut patience = Patience::Whole;
        // Since when it has found nothing.
        let mut idle = None::<Instant>;
        while !latch.is_set() {
            let blocked_out = self.place().is_none();
            if !blocked_out {
                self.registry().give_turn(self);
            }
            let job = if blocked_out {
                None
            } else if let Some(job) = self.find_broadcast() {
                self.run_aside(job);
                idle = None;
                continue;
            } else {
                descendant(&mut patience).or_else(|| {
                    if wait.rule == WaitRule::Any && !self.guest { self.find(&mut patience) } else { None }
                })
            };
            if let Some(job) = job {
                // SAFETY: just taken from a queue.
                unsafe { if wait.scope { self.execute_detachable(job) } else { self.execute(job) } };
                (pauses, patience, idle) = (Pauses::new(), Patience::Whole, None);
            } else if blocked_out || !pauses.pause(LOOK) {
                let idle_for = idle.map(|since| since.elapsed());
                let alone = self.registry().block(self, latch, wait, idle_for);
                if alone && let Some(job) = self.find_anywhere() {
                    self.run_aside(job);
                    idle = None;
                } else {
                    idle.get_or_insert_with(Instant::now);
                }
                patience = Patience::Whole;
                // One that dozes looks but once in between.
                if idle_for.is_none_or(|time| time < DOZE) {
                    pauses = Pauses::new();
                }
            }
        }
        if self.place().is_none() {
            self.registry().take_place(self);
        }
    }
}
