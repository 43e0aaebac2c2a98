//! A share: the part of a chain that a rank works on, as its own scheduler sees it.
//!
//! [`Share`] is a producer around the chain's producer. The rank's scheduler divides it between the rank's workers, as it divides any
//! other producer. Between two steps of each task the share looks around ([`Lookout::look`]):
//!
//! ```text
//!   scheduler ── Steps ──► Share ── Steps ──► the chain's producer
//!                            │
//!                            ├─ another rank is out of work?  Divide; the right half goes to it, and a gap stays behind
//!                            │    └─ too little is left?      refuse, with the time that it will take
//!                            ├─ nothing here is needed?       Stop
//!                            └─ else                          as the scheduler says
//! ```
//!
//! # Invariants
//!
//! 1. *Order.* A part given away to another rank lies to the right of everything that its task still has. So the gaps of a task
//!    follow the task's last item, the latest gap first. If the task is divided for a worker of this rank, the gaps go with the
//!    right half: [`Share::gaps`]. If the right half is empty, they stay with the left one, since schedulers drop a part of size 0.
//! 2. *A task does not go on behind a gap.* If a task has given a part to another rank, it takes nothing back from its scheduler. The
//!    scheduler then runs that part as a task of its own. So a task with one state or one item (of a `fold`) holds neighbors only.
//! 3. *Positions.* `end` is the position behind the last unit of a share. A division leaves a right half with the same end. So the
//!    position of a part follows from its end and its size, also after some of its units were folded. In the form
//!    [`ByValue`](furcate_adaptors::iter::ByValue) there are no positions: a share begins at 0 and has the end 0.
//! 4. *Progress.* A task folds one step before it gives a part to another rank. So a share that is given from rank to rank gets
//!    smaller.
//! 5. *Prompt.* The scheduler's steps are folded in shorter ones of some microsecond, with a look between two of them. The scheduler is
//!    asked again when the units of its own step are folded. (Where a step makes a piece, its steps are kept.)
//! 6. *Every thief gets a reply.* A thief that has been taken from the line gets a share, or a refusal: if the half is empty, or if the task
//!    will end so soon that a steal does not pay ([`WORTH`]). Without positions, and where futures are waited for, the size of a task
//!    says nothing about its time, and any task is divided.

use crate::segments::Mixed;
use furcate_pool::sync::clock::Instant;
use furcate_schedulers::{Divisible, Facts, FoldFacts, NextStep, Producer, StepFold, Steps, Suspendable};
use std::cell::RefCell;
use std::fmt;
use std::ops::ControlFlow;
use std::time::Duration;
use std::vec;

/// The rank's view of the other ranks, for its tasks.
pub(crate) trait Lookout: Sync {
    /// Called between two steps of a task that has `size` units left, the first of which is at `start`.
    fn look(&self, size: usize, start: u64, may_divide: bool) -> Look;

    /// Opens a gap, for a part that is given away.
    fn open_gap(&self) -> u64;

    /// Gives a part to a thief.
    fn give(&self, thief: usize, gap: u64, description: Vec<u8>);

    /// Tells a thief that there is nothing for it. `rest` is the time in which the task will end, or zero if that is unknown.
    fn refuse(&self, thief: usize, rest: Duration);

    /// Ends the call on all ranks, because a part is lost.
    fn fail(&self, reason: String);

    /// Called when a reduction has ended its task. `end` is the position behind the last step.
    fn found(&self, end: u64);
}

/// The result of a look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Look {
    /// Go on.
    Go,
    /// Nothing that is left is needed.
    Stop,
    /// The task is to be divided for this rank.
    Divide(usize),
}

/// Describes a part that is given away, by the position behind its end. `None`: there is nothing to describe. An error says why the part
/// cannot be encoded; the part is lost then.
pub(crate) type Describe<'h, P> = dyn Fn(P, u64) -> Result<Option<Vec<u8>>, String> + Sync + 'h;

/// Values that all parts of a share have in common.
pub(crate) struct Site<'h, P, C> {
    pub(crate) lookout: &'h C,
    pub(crate) describe: &'h Describe<'h, P>,
    /// Whether there are positions (invariant 3).
    pub(crate) has_positions: bool,
    /// Whether the time of a task follows from its size and its past (invariant 6).
    pub(crate) is_timed: bool,
}

/// A part of a chain that a rank works on.
pub(crate) struct Share<'h, P, C> {
    base: P,
    /// Invariant 3.
    end: u64,
    /// Gaps that follow the last unit, the last one first (invariant 1).
    gaps: Vec<u64>,
    site: &'h Site<'h, P, C>,
}

impl<P: fmt::Debug, C> fmt::Debug for Share<'_, P, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Share").field("base", &self.base).field("end", &self.end).finish_non_exhaustive()
    }
}

impl<'h, P: Divisible, C> Share<'h, P, C> {
    pub(crate) fn new(base: P, end: u64, site: &'h Site<'h, P, C>) -> Self {
        Share { base, end, gaps: Vec::new(), site }
    }

    fn cut(self, cut_base: impl FnOnce(P) -> (P, P)) -> (Self, Self) {
        let Share { base, end, gaps, site } = self;
        let (left, right) = cut_base(base);
        let middle = before(end, &right, site.has_positions);
        let (gaps, gaps_right) = if right.size() == 0 { (gaps, Vec::new()) } else { (Vec::new(), gaps) }; // invariant 1
        (Share { base: left, end: middle, gaps, site }, Share { base: right, end, gaps: gaps_right, site })
    }
}

/// Returns the position of a part's first unit (invariant 3).
fn before<P: Divisible>(end: u64, part: &P, has_positions: bool) -> u64 {
    if has_positions { end.saturating_sub(part.size() as u64) } else { 0 }
}

impl<P: Divisible, C> Divisible for Share<'_, P, C> {
    #[inline]
    fn size(&self) -> usize {
        self.base.size()
    }

    #[inline]
    fn should_be_divided(&self) -> bool {
        self.base.should_be_divided()
    }

    #[inline]
    fn divide(self) -> (Self, Self) {
        self.cut(P::divide)
    }

    #[inline]
    fn divide_at(self, index: usize) -> (Self, Self) {
        self.cut(|base| base.divide_at(index))
    }
}

impl<P: IntoIterator, C> IntoIterator for Share<'_, P, C> {
    type Item = Mixed<P::Item>;
    type IntoIter = ShareLeaf<P::IntoIter>;

    fn into_iter(self) -> Self::IntoIter {
        ShareLeaf { items: self.base.into_iter(), gaps: self.gaps.into_iter() }
    }
}

/// The items of a share, and the gaps behind them.
#[derive(Debug)]
pub(crate) struct ShareLeaf<I> {
    items: I,
    gaps: vec::IntoIter<u64>,
}

impl<I: Iterator> Iterator for ShareLeaf<I> {
    type Item = Mixed<I::Item>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        match self.items.next() {
            Some(item) => Some(Mixed::Item(item)),
            None => self.gaps.next_back().map(Mixed::Gap),
        }
    }
}

/// State of a task, shared by its steps and its fold.
struct TaskState {
    end: u64,
    /// As [`Share::gaps`].
    gaps: Vec<u64>,
    /// Position behind the step that is being folded.
    step_end: u64,
    /// Number of steps begun (invariant 4).
    steps: u32,
    /// Size at which a division gave nothing.
    fruitless: Option<usize>,
    /// Thief for which the task is being divided.
    thief: Option<usize>,
    /// Units of the scheduler's step that are left (invariant 5).
    granted: usize,
    grain: Grain,
}

impl<P: Producer, C: Lookout> Producer for Share<'_, P, C> {
    const FACTS: Facts = Facts { single: false, ..P::FACTS };

    fn partial_fold<'s, B, F, L>(self, init: B, mut fold: F, steps: &mut L) -> ControlFlow<B, B>
    where
        Self: 's,
        B: Suspendable<'s>,
        F: StepFold<'s, Self::Item, B>,
        L: Steps<Self>,
    {
        let Share { base, end, gaps, site } = self;
        let state = RefCell::new(TaskState {
            end,
            gaps,
            step_end: end,
            steps: 0,
            fruitless: None,
            thief: None,
            granted: 0,
            grain: Grain::new(),
        });
        let mut lookout = ShareSteps { steps, site, state: &state };
        let end = base.partial_fold(init, FoldShare { fold: &mut fold, site, state: &state }, &mut lookout);
        drop(lookout);
        let gaps = state.into_inner().gaps;
        if gaps.is_empty() {
            return end;
        }
        let gaps = gaps.into_iter().rev().map(Mixed::Gap);
        match end {
            ControlFlow::Continue(folded) => fold.fold(folded, gaps),
            ControlFlow::Break(folded) => {
                let (ControlFlow::Continue(folded) | ControlFlow::Break(folded)) = fold.fold(folded, gaps);
                ControlFlow::Break(folded)
            }
        }
    }
}

/// The length of steps between two looks (invariant 5): as many units as were folded in [`LOOK`] before.
struct Grain {
    limit: usize,
    /// Number of units since the clock was read.
    done: usize,
    since: Instant,
    /// Time at which the task began.
    begin: Instant,
}

/// Time between two looks, while all units cost about the same. A thief waits for half of it. Seven of eight looks do not
/// read the clock.
const LOOK: Duration = Duration::from_micros(1);

/// Number of looks between two looks at the clock.
const LOOKS: usize = 8;

/// A task that will end in less than this time is not divided for another rank. The time is some 25 times the latency of a steal within a machine.
/// A steal costs three messages, a join node, and the time in which the thief's caches fill.
const WORTH: Duration = Duration::from_micros(50);

/// Time for which a task runs before the time of its rest is estimated. A thief that comes earlier is refused, and comes again: the first units of a
/// task take longer than the others, as they fill the caches.
const TRIAL: Duration = Duration::from_micros(5);

impl Grain {
    fn new() -> Self {
        let now = Instant::now();
        Grain { limit: 1, done: 0, since: now, begin: now }
    }

    /// Returns the number of units of the next step, at most `granted`.
    #[inline]
    fn next(&mut self, granted: usize) -> usize {
        if self.done >= self.limit * LOOKS {
            self.measure(Instant::now());
        }
        let units = self.limit.min(granted);
        self.done += units;
        units
    }

    /// Sets the length of steps by the units that were folded since the last measurement.
    fn measure(&mut self, now: Instant) {
        let took = now.saturating_duration_since(self.since).as_nanos().max(1);
        let units = (LOOK.as_nanos() * self.done as u128 / took).max(1);
        self.limit = usize::try_from(units).unwrap_or(usize::MAX).min(self.limit * 4).min(LONGEST);
        (self.done, self.since) = (0, now);
    }

    /// Returns the time that so many units will take, if they take as long as the last ones. During the [`TRIAL`] it returns that. Called between two
    /// steps.
    fn time_of(&self, units: usize, now: Instant) -> Duration {
        if now.saturating_duration_since(self.begin) < TRIAL {
            return TRIAL;
        }
        let (took, done) = match self.done {
            // Measured just now.
            0 => (LOOK.as_nanos(), self.limit),
            done => (now.saturating_duration_since(self.since).as_nanos(), done),
        };
        let time = took.saturating_mul(units as u128) / done as u128;
        Duration::from_nanos(u64::try_from(time).unwrap_or(u64::MAX))
    }
}

/// Greatest number of units between two looks.
const LONGEST: usize = 1 << 20;

/// The steps of a task, as the chain's producer sees them.
struct ShareSteps<'t, 'h, P, C: Lookout, L> {
    steps: &'t mut L,
    site: &'h Site<'h, P, C>,
    state: &'t RefCell<TaskState>,
}

impl<'h, P, C, L> Steps<P> for ShareSteps<'_, 'h, P, C, L>
where
    P: Producer,
    C: Lookout,
    L: Steps<Share<'h, P, C>>,
{
    #[inline]
    fn next(&mut self, size: usize) -> NextStep {
        let mut state = self.state.borrow_mut();
        let start = if self.site.has_positions { state.end.saturating_sub(size as u64) } else { 0 };
        let may_divide = size > 1 && state.steps > 0 && state.fruitless != Some(size);
        match self.site.lookout.look(size, start, may_divide) {
            Look::Go => {}
            Look::Stop if size == 0 => {}
            Look::Stop => return NextStep::Stop,
            Look::Divide(thief) => {
                let rest = if self.site.is_timed {
                    state.grain.time_of(size, Instant::now())
                } else {
                    Duration::MAX
                };
                if rest >= WORTH {
                    state.thief = Some(thief);
                    state.fruitless = Some(size);
                    return NextStep::Divide;
                }
                self.site.lookout.refuse(thief, rest);
            }
        }
        if state.granted == 0 {
            match self.steps.next(size) {
                NextStep::Fold(units) => state.granted = units.max(1),
                next => return next,
            }
        }
        let granted = state.granted;
        let units = if P::FACTS.steps_cut { granted } else { state.grain.next(granted) };
        state.granted -= units;
        state.steps = state.steps.saturating_add(1);
        state.step_end = start.saturating_add(units.min(size.max(1)) as u64).min(state.end);
        NextStep::Fold(units)
    }

    fn take(&mut self, right: P) {
        let mut state = self.state.borrow_mut();
        state.granted = 0;
        let (end, site) = (state.end, self.site);
        let middle = before(end, &right, site.has_positions);
        let Some(thief) = state.thief.take() else {
            state.end = middle;
            let gaps = if right.size() == 0 { Vec::new() } else { std::mem::take(&mut state.gaps) }; // invariant 1
            drop(state);
            self.steps.take(Share { base: right, end, gaps, site });
            return;
        };
        drop(state);
        let description = if right.size() > 0 { (site.describe)(right, end) } else { Ok(None) };
        let description = description.unwrap_or_else(|reason| {
            site.lookout.fail(reason);
            None
        });
        let Some(description) = description else {
            site.lookout.refuse(thief, Duration::ZERO);
            return;
        };
        let gap = site.lookout.open_gap();
        site.lookout.give(thief, gap, description);
        let mut state = self.state.borrow_mut();
        state.end = middle;
        state.gaps.push(gap);
        state.fruitless = None;
    }

    fn take_back(&mut self) -> Option<P> {
        if !self.state.borrow().gaps.is_empty() {
            return None; // invariant 2
        }
        let Share { base, end, gaps, .. } = self.steps.take_back()?;
        let mut state = self.state.borrow_mut();
        (state.end, state.gaps, state.granted) = (end, gaps, 0);
        Some(base)
    }
}

impl<P, C: Lookout, L> Drop for ShareSteps<'_, '_, P, C, L> {
    fn drop(&mut self) {
        // A producer that was asked to divide, and has not given a part, or has panicked (invariant 5).
        let thief = self.state.try_borrow_mut().ok().and_then(|mut state| state.thief.take());
        if let Some(thief) = thief {
            self.site.lookout.refuse(thief, Duration::ZERO);
        }
    }
}

/// Folds the items of a task.
struct FoldShare<'t, 'h, F, P, C> {
    fold: &'t mut F,
    site: &'h Site<'h, P, C>,
    state: &'t RefCell<TaskState>,
}

impl<'s, T, B, F, P, C> StepFold<'s, T, B> for FoldShare<'_, '_, F, P, C>
where
    B: Suspendable<'s>,
    F: StepFold<'s, Mixed<T>, B>,
    C: Lookout,
{
    type Later = FoldLater<F::Later>;
    const FACTS: FoldFacts = F::FACTS;

    #[inline]
    fn fold<I: Iterator<Item = T>>(&mut self, folded: B, items: I) -> ControlFlow<B, B> {
        let end = self.fold.fold(folded, items.map(Mixed::Item));
        if end.is_break() {
            self.site.lookout.found(self.state.borrow().step_end);
        }
        end
    }

    fn later(&self) -> Self::Later {
        FoldLater(self.fold.later())
    }
}

/// Folds an item that arrives later.
#[derive(Clone)]
struct FoldLater<F>(F);

impl<'s, T, B, F> StepFold<'s, T, B> for FoldLater<F>
where
    B: Suspendable<'s>,
    F: StepFold<'s, Mixed<T>, B, Later = F> + Clone + Send + 's,
{
    type Later = Self;
    const FACTS: FoldFacts = F::FACTS;

    fn fold<I: Iterator<Item = T>>(&mut self, folded: B, items: I) -> ControlFlow<B, B> {
        self.0.fold(folded, items.map(Mixed::Item))
    }

    fn later(&self) -> Self {
        self.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rest_takes_as_long_as_the_last_units() {
        let mut grain = Grain::new();
        assert_eq!(grain.next(100), 1);
        let begin = grain.begin;
        assert_eq!(grain.time_of(1000, begin + TRIAL / 2), TRIAL, "nothing is known");
        assert_eq!(grain.time_of(1000, begin + TRIAL * 2), TRIAL * 2000);
        (grain.limit, grain.done) = (1, LOOKS);
        grain.measure(begin + LOOK * LOOKS as u32 / 2);
        assert_eq!(grain.limit, 2, "as many units as one look takes");
        assert_eq!(grain.time_of(10, begin + TRIAL), LOOK * 5);
        assert_eq!((grain.next(1), grain.done), (1, 1), "the step is shorter than it might be");
        // One long unit among cheap ones: it is noticed at the next look.
        let since = grain.since;
        assert_eq!(grain.time_of(10, since + WORTH), WORTH * 10);
    }
}
