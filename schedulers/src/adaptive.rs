//! The adaptive scheduler: a task is divided when another worker wants work.
//!
//! A task folds its items in steps. Between two of them the task checks whether another worker wants work. If so,
//! it divides its remaining part, offers the right half to thieves, and goes on with the left half. If a thief steals
//! the offered half, that half becomes a task of its own. If the offer is still there when the left half is done, the
//! task takes it back and goes on as if it had not been divided. So the number of tasks is the number of successful
//! steals, plus one (Kvik, Section 3.6; in Kvik's code thieves spin while they wait for an answer, and every steal is a
//! level of recursion).
//!
//! ```text
//!   fold 1, 2, 4, 8 ... items
//!     └─ demand? ─> divide: go on with the left half, the right one is on offer
//!                     └─ taken?      a node: left this task, right the thief's; another half may be offered
//!                     └─ all done?   take it back, go on
//! ```
//!
//! Some units have to be fetched one after the other, as the items of a sequential iterator. Such a task fetches a few, offers the rest (or a share in it)
//! at once, with or without demand, and folds the few ([`Steps::ahead`]). Otherwise a thief might have to wait for one slow item.
//!
//! A step of units that take [100 ns or longer](SLOW) is *watched*: it ends between two units when there is demand, and after a unit of
//! more than [`LONG`]. Among such *dear* units the next part is on offer before there is demand, since the task may not look for long. Half
//! of the units need not be half of the work: [`Clusters`].
//!
//! # Invariants
//!
//! 1. One part is on offer at a time. It follows the task's own part directly, so after the last item of the own part
//!    comes the first item of the part taken back.
//! 2. *One accumulator per task.* A part that is taken back is folded into the existing accumulator, by the reduction
//!    from before the division. (If the producer does not take the part back, at a stop for instance, the part becomes
//!    a task of its own in the same worker, and the outputs are reduced.)
//! 3. Parts stolen from a task lie from right to left in the order of their steals. So the join nodes form a chain: the
//!    first node stands for the whole branch, each other one is the left side of the one before, and the task's output
//!    is the left side of the last.
//! 4. *Progress.* When a division leaves the task with as much as before, or with nothing, it is not divided again.
//!    (Sizes may be guesses, or more than can be counted. So on the way from the root, the first
//!    [`BLIND_LEVELS`](branch::BLIND_LEVELS) divisions of which both parts hold something are believed to make them
//!    smaller, as in [`branch`].)
//! 5. A division that the policy forbids is not made. A division that must be made is made before the task's first
//!    item, and its parts are tasks from the beginning. All other divisions are made on demand, or among dear units.

use crate::greedy::{self, Done, JoinNode, Leaves, Link, PublishedBranch, Side};
use crate::tree::branch::{self, Branch, Decision, Joint, Marks, Position, is_stopped};
use crate::tree::call::Call;
use crate::tree::frames::ForkFrame;
use crate::tree::pace::{LONG, Pace, SLOW};
use crate::{
    Blocking, Computation, Divisible, FoldFacts, NeverLater, NextStep, Node, Policy, Producer, Reduction,
    Scheduler, SchedulerFacts, StepFold, Steps, StepsFacts, Workload,
};
use furcate_pool::Executor;
use furcate_pool::detach::{Detach, Offers};
use furcate_pool::sync::clock::Instant;
use furcate_pool::trace;
use std::cell::RefCell;
use std::mem;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

/// Divides on demand: one task, and one more for every successful steal.
///
/// A task folds 1, 2, 4 ... items between two looks for thieves; see [`nano_blocks`](Self::nano_blocks). The policy
/// says whether a division is allowed: *may not* (from `size_limit`, `bound_depth`, `cap` and others) holds, and
/// divisions that *must* be made (`force_depth`, `even_levels`) are made beforehand. All other wishes of policies give
/// way to demand.
///
/// The task looks for thieves between two steps: a thief that comes during the first item waits for its end. With only a
/// few items that take milliseconds each, that is late. [`Join`](crate::Join) divides before it begins.
///
/// Steps of items that take 100 ns or longer end between two items when a thief comes. Dear items (100 us and longer) next to each other,
/// among many cheap ones, are shared one by one: such a task keeps a few and gives the rest away, cheap ones and all. A cluster among items
/// of a few nanoseconds is met by one step unprepared, which may fold all of it; [`size_limit(1)`](crate::policy::SizeLimit) under
/// [`Join`](crate::Join) shares that, too. Beside a policy that [says how to divide](Policy::DECIDES), and so beside one that is chosen at
/// run time, a task always gives half of its items away.
///
/// Use this scheduler if the work per item differs, or if the right number of parts is unknown. It also suits parts
/// that cost something to cut (a state per task, a merge, a `fold`). (Kvik, Section 3.6.)
///
/// On engines whose workers cannot say that they want work, a spawned bait job detects idle workers; see
/// `furcate::Rayon`.
///
/// ```
/// use furcate::prelude::*;
/// use furcate::{Adaptive, Inline};
///
/// // Without thieves it is one task.
/// let tasks = (0..1000).into_par_iter().fold(|| 0, |sum, x| sum + x).with_scheduler(Adaptive::new()).on(Inline);
/// assert_eq!(tasks.collect::<Vec<i32>>(), [499_500]);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Adaptive {
    min: usize,
    max: usize,
    /// Whether pieces grow with the work that the task has done. See [`PIECE`].
    grows: bool,
    /// In a part that was stolen from a task within a [cluster](Clusters): the number of dear units that the task had found in a row.
    dear: usize,
}

impl Adaptive {
    /// Makes a scheduler with steps of 1, 2, 4 ... units. They stop growing when one takes some 100
    /// microseconds.
    ///
    /// After a steal they begin with 1 again.
    ///
    /// Every step over a `wrap_iter` makes a piece ([`steps_cut`](crate::Facts::steps_cut)). A piece is at least an eighth of the
    /// units that the task has folded since the last steal. So there are few pieces, and reductions that cost as much
    /// as their inputs (a merge, a union) cost O(n log n) in all. A thief waits for one such piece.
    #[must_use]
    pub const fn new() -> Self {
        Adaptive { min: 1, max: 1 << 16, grows: true, dear: 0 }
    }

    /// Sets steps of `min`, 2 `min`, 4 `min` ... units, up to `max`. (After a step that took longer than some 100
    /// microseconds the steps get shorter, down to `min`. A `min` of 0 counts as 1, and a `max` below `min` as `min`.)
    #[must_use]
    pub const fn nano_blocks(self, min: usize, max: usize) -> Self {
        Adaptive { min, max, grows: false, dear: 0 }
    }
}

impl Default for Adaptive {
    fn default() -> Self {
        Adaptive::new()
    }
}

impl Scheduler for Adaptive {
    const FACTS: SchedulerFacts = SchedulerFacts { on_demand: true, spreads: true, ..SchedulerFacts::FORKS };

    #[inline]
    fn schedule<W: Workload, E: Executor>(&self, work: W, executor: &E) -> W::Output {
        greedy::schedule(work, executor, *self)
    }

    fn spawn<C: Computation, E: Executor + 'static>(&self, computation: C, executor: &E) {
        greedy::spawn(computation, executor, *self);
    }
}

impl Leaves for Adaptive {
    #[inline]
    fn decide<W: Workload>(self, branch: &mut Branch<'_, W>, threads: usize) -> Decision {
        branch.decide_what_must_be(threads)
    }

    fn run<'s, S: Detach<'s>, W: Workload + 's>(self, branch: Branch<'s, W>, scope: &S) -> Done<'s, W> {
        if branch.position.call.has_failed() {
            return Done::Here(branch.fold());
        }
        let Branch { producer, policy, reduction, position } = branch;
        let Position { marks, call, .. } = position;
        scope.offers(|offers| {
            let reduction = RefCell::new(reduction);
            let mut steps = Divisions {
                offers,
                call,
                leaves: self,
                reduction: &reduction,
                policy: Some(policy),
                task: position.node(0, false, scope.num_threads()),
                pace: Pace::new(self.min, self.max),
                watched: None,
                given: (0, 0),
                is_given_open: false,
                is_refused: false,
                clusters: Clusters { dear: self.dear, has_seen_cheap: self.dear > 0 },
                keeps: None,
                folded: 0,
                step: 0,
                expected: usize::MAX,
                may_grow: false,
                divisible: marks.fruitless() == 0,
                believed: branch::BLIND_LEVELS.saturating_sub(marks.depth()),
                whole: None,
                offer: None,
                chain: None,
            };
            let leaf = trace::leaf(producer.size());
            let start = reduction.borrow().start();
            let end = producer.partial_fold(Blocking(start), SharedReductionFold(&reduction), &mut steps);
            let output = reduction.borrow().finish(Blocking::at(end));
            drop(leaf);
            let (last, chain) = steps.end();
            let mut done = Done::Here(output);
            if let Some((part, joint)) = last {
                let rest = match ForkFrame::enter() {
                    Some(_frame) => greedy::run(part.branch, self, scope),
                    // Its task may end early, too, and so on.
                    None => greedy::run_too_deep(part.branch, self, scope),
                };
                done = done.join(rest, joint);
            }
            match chain {
                None => done,
                Some(JoinChain { first: (node, joint), last }) => {
                    done.deliver(Link::JoinNode(last, Side::Left));
                    Done::Away { node, joint }
                }
            }
        })
    }
}

/// Folds the items of a step by the reduction.
struct SharedReductionFold<'t, R>(&'t RefCell<R>);

impl<'s, T, R: Reduction<T>> StepFold<'s, T, Blocking<R::Accumulator>> for SharedReductionFold<'_, R> {
    type Later = NeverLater;
    const FACTS: FoldFacts = FoldFacts::WHOLE;

    #[inline]
    fn fold<I: Iterator<Item = T>>(
        &mut self,
        Blocking(folded): Blocking<R::Accumulator>,
        items: I,
    ) -> ControlFlow<Blocking<R::Accumulator>, Blocking<R::Accumulator>> {
        Blocking::of(self.0.borrow().fold_step(folded, items))
    }

    fn later(&self) -> NeverLater {
        NeverLater::needed()
    }
}

/// A join node, and the reduction of its two sides.
type Meeting<'s, W> = (Arc<JoinNode<'s, W>>, Joint<'s, W>);

/// The join nodes of the parts that were stolen (invariant 3).
struct JoinChain<'s, W: Workload> {
    first: Meeting<'s, W>,
    last: Arc<JoinNode<'s, W>>,
}

/// The steps of a task.
struct Divisions<'t, 's, F, W: Workload> {
    offers: &'t mut F,
    call: &'s Call,
    leaves: Adaptive,
    /// Reduction of the part that the task works on. The fold uses it, too.
    reduction: &'t RefCell<W::Reduction>,
    /// `None` while it is being split.
    policy: Option<W::Policy>,
    /// Facts for the policy; the size is filled in at each question.
    task: Node,
    pace: Pace,
    /// The step that is being watched.
    watched: Option<Watched>,
    /// Number of units of the part that was given away last, and of those folded since.
    given: (usize, usize),
    /// Whether that part was stolen, and is not known to be done.
    is_given_open: bool,
    /// Whether the last demand was not met, because the policy or the size forbids a division. Then it is no reason to end a step.
    is_refused: bool,
    clusters: Clusters,
    /// How many units to keep at the division that is being made.
    keeps: Option<usize>,
    /// Number of units folded since the task began, or since a part of it was stolen.
    folded: usize,
    /// Number of units of the step under way, if it is not watched.
    step: usize,
    /// Size that the last step leaves, if the task does not grow in it. `usize::MAX` before the first step and after a division.
    expected: usize,
    /// Whether the task has grown in a step, as a list of work does. Its size says little about its time.
    may_grow: bool,
    /// Whether the task may still be divided (invariant 4).
    divisible: bool,
    /// How many more divisions are believed to have made the task smaller although its size has not shrunk. Never
    /// grows.
    believed: u32,
    /// Size of the part that has just been divided; set until the next step.
    whole: Option<usize>,
    /// The join node of the part on offer (invariant 1), and the reduction from before the division.
    offer: Option<Meeting<'s, W>>,
    chain: Option<JoinChain<'s, W>>,
}

impl<'s, F, W> Divisions<'_, 's, F, W>
where
    F: Offers<PublishedBranch<'s, W, Adaptive>, JoinNode<'s, W>>,
    W: Workload,
{
    /// Whether the policy allows a division of the remaining `size` units. Takes the permit for the fork.
    fn agrees(&mut self, size: usize) -> bool {
        let task = Node { len: size, divisible: true, ..self.task };
        let policy = self.policy.as_mut().expect("it is split in `take` only");
        !policy.wants_split(&task).forbids() && policy.permit_fork(&task)
    }

    /// Whether the policy allows a part of so few units. (A policy that decides counts on halves: its bounds would be used up.)
    fn may_keep(&mut self, units: usize) -> bool {
        let task = Node { len: units.saturating_mul(2), divisible: true, ..self.task };
        let policy = self.policy.as_mut().expect("it is split in `take` only");
        !W::Policy::DECIDES && !policy.wants_split(&task).forbids()
    }

    /// Learns from the watched step that has just ended.
    fn end_watched(&mut self) {
        let Some(watched) = self.watched.take() else { return };
        if watched.are_cheap {
            self.pace.restart_at(CHEAP_UNITS);
        }
        self.clusters.learn(&watched, self.is_given_done());
    }

    /// Whether the part that was stolen last is done.
    fn is_given_done(&self) -> bool {
        self.chain.as_ref().is_some_and(|chain| chain.last.right_is_done())
    }

    /// Looks whether the part on offer has been stolen, if there is one.
    #[inline]
    fn look_for_thief(&mut self) {
        if self.offer.is_some() && self.offers.is_taken() {
            self.stolen();
        }
    }

    /// Records that the part on offer has been stolen.
    fn stolen(&mut self) {
        let Some((node, joint)) = self.offer.take() else { return };
        (self.is_refused, self.is_given_open) = (false, true);
        // A thief was here, so more may come: the next one should get an answer as quickly as the first.
        self.pace.restart();
        self.folded = 0;
        self.chain = Some(match self.chain.take() {
            None => JoinChain { last: Arc::clone(&node), first: (node, joint) },
            Some(JoinChain { first, last }) => {
                JoinNode::place(&node, joint, Link::JoinNode(last, Side::Left));
                JoinChain { first, last: node }
            }
        });
    }

    /// Ends the task. Returns the part that is still on offer, with the reduction for both; and the chain of nodes.
    #[expect(clippy::type_complexity, reason = "a pair of options")]
    fn end(
        &mut self,
    ) -> (Option<(PublishedBranch<'s, W, Adaptive>, Joint<'s, W>)>, Option<JoinChain<'s, W>>) {
        let last = if self.offer.is_none() {
            None
        } else if let Some(part) = self.offers.take_back() {
            self.offer.take().map(|(_, joint)| (part, joint))
        } else {
            self.stolen();
            None
        };
        (last, self.chain.take())
    }
}

impl<'s, F, W> Steps<W::Producer> for Divisions<'_, 's, F, W>
where
    F: Offers<PublishedBranch<'s, W, Adaptive>, JoinNode<'s, W>>,
    W: Workload,
{
    const FACTS: StepsFacts = StepsFacts { watches: true, ..StepsFacts::DIVIDING };

    fn next(&mut self, size: usize) -> NextStep {
        let step = mem::take(&mut self.step);
        let step = self.watched.as_ref().map_or(step, |watched| watched.units);
        self.folded = self.folded.saturating_add(step);
        self.given.1 = self.given.1.saturating_add(step);
        self.look_for_thief();
        self.end_watched();
        if self.is_given_open && self.is_given_done() {
            self.is_given_open = false;
            if self.leaves.grows && self.given.0 / UNEVEN > self.given.1 {
                self.clusters = Clusters { dear: self.clusters.dear.max(1), has_seen_cheap: true };
            }
        }
        let policy = self.policy.as_ref().expect("it is split in `take` only");
        // Where nothing is left, there is nothing to stop.
        let needless = size > 0 && is_stopped::<W>(policy, &*self.reduction.borrow());
        if needless || self.call.has_failed() {
            return NextStep::Stop;
        }
        if size == 0 {
            self.divisible = false;
        } else if self.whole.take().is_some_and(|whole| size >= whole) {
            self.divisible &= self.believed > 0;
            self.believed = self.believed.saturating_sub(1);
        }
        self.may_grow |= size > self.expected;
        self.expected = usize::MAX;
        let grain = if self.may_grow { 1 } else { 1.max(self.pace.limit() / GRAIN) };
        // Among dear units the next thief may come at any time, and a division costs nothing by comparison.
        // (Not with permits: one that lies on offer is one that another fork lacks.)
        let has_permits = W::Policy::CAPS && policy.caps();
        let are_dear = self.clusters.dear > 0 && self.task.threads > 1 && !has_permits;
        if self.offer.is_none() && (are_dear || self.offers.demand()) {
            if self.divisible && size > grain && self.agrees(size) {
                self.whole = Some(size);
                self.keeps = self.clusters.keeps(size).filter(|&units| self.may_keep(units));
                if self.folded < UNEVEN {
                    // If the part is stolen and done at once, this task wants to know it soon.
                    self.pace.restart();
                }
                return NextStep::Divide;
            }
            self.is_refused = true;
        }
        // A step that is expected to be the last one is not timed. Of a task that grows, none is.
        let mut units = self.pace.next(if self.may_grow { usize::MAX } else { size });
        if W::Producer::FACTS.steps_cut && self.leaves.grows {
            units = units.max(self.folded / PIECE);
        }
        self.step = units;
        self.expected = size.saturating_sub(units);
        NextStep::Fold(units)
    }

    fn keeps(&self) -> Option<usize> {
        self.keeps
    }

    fn watch(&mut self, size: usize) -> Option<usize> {
        let are_slow = self.clusters.dear > 0 || self.pace.are_slow();
        if !are_slow || size == 0 || self.task.threads == 1 || !self.leaves.grows || self.may_grow {
            return None;
        }
        self.pace.restart();
        self.watched = Some(Watched::begin());
        // At least one unit is folded.
        self.expected = size - 1;
        Some(size)
    }

    #[inline]
    fn ends_step(&mut self) -> bool {
        let Some(watched) = &mut self.watched else { return false };
        if watched.ends() {
            return true;
        }
        let (are_slow, has_looked) = (watched.are_slow, watched.units == watched.last_look.0);
        self.look_for_thief();
        // A permit that was refused may be free by the next look at the clock.
        self.is_refused &= !has_looked;
        let has_demand = self.offer.is_none() && self.offers.demand();
        let has_wish = has_demand && self.divisible && are_slow && !self.is_refused;
        let policy = self.policy.as_ref().expect("it is split in `take` only");
        has_wish || self.call.has_failed() || is_stopped::<W>(policy, &*self.reduction.borrow())
    }

    fn ahead(&mut self, size: usize) -> bool {
        self.look_for_thief();
        let wanted = self.divisible && self.offer.is_none() && self.task.threads > 1;
        if !wanted || size <= 1 || self.call.has_failed() || !self.agrees(size) {
            return false;
        }
        self.whole = Some(size);
        true
    }

    fn take(&mut self, right: W::Producer) {
        let policy = self.policy.take().expect("it is split here only");
        let size = right.size();
        let whole = self.whole.unwrap_or(usize::MAX);
        let task = Node { len: whole, divisible: true, ..self.task };
        if size == 0 {
            // Nothing to give away.
            self.divisible = false;
            let mut policy = policy;
            policy.return_permit();
            self.policy = Some(policy);
            return;
        }
        let (left_policy, right_policy) = policy.split(&task);
        self.policy = Some(left_policy);
        let joint: Joint<'_, W> = Joint { reduction: self.reduction.borrow().clone(), call: self.call };
        let (left, right_reduction) = joint.reduction.clone().divide();
        *self.reduction.borrow_mut() = left;
        self.task.depth = self.task.depth.saturating_add(1);
        // As for all parts of a division: another worker took over this task, but nothing has been stolen since the
        // division.
        self.task.migrated = false;
        let fruitless = u8::from(size >= whole && self.believed == 0);
        let position =
            Position { marks: Marks::new(self.task.depth, fruitless), least: whole, call: self.call };
        let branch = Branch { producer: right, policy: right_policy, reduction: right_reduction, position };
        let dear = if self.keeps.take().is_some() { self.clusters.dear } else { 0 };
        let node = self.offers.offer(PublishedBranch { branch, leaves: Adaptive { dear, ..self.leaves } });
        self.offer = Some((node, joint));
        self.given = (size, 0);
        if self.clusters.dear > 0 {
            self.offers.share();
        }
    }

    fn take_back(&mut self) -> Option<W::Producer> {
        self.offer.as_ref()?;
        let Some(part) = self.offers.take_back() else {
            self.stolen();
            return None;
        };
        let (_, joint) = self.offer.take()?;
        *self.reduction.borrow_mut() = joint.reduction;
        self.task.depth = self.task.depth.saturating_sub(1);
        // The task is larger again, and has not grown.
        self.expected = usize::MAX;
        Some(part.branch.producer)
    }
}

/// A step that is watched: it ends between two units when another worker wants work.
struct Watched {
    /// Number of units that have been folded.
    units: usize,
    /// Number of units at the next look at the clock.
    next_look: usize,
    /// The last look: the number of units before it, and the time.
    last_look: (usize, Instant),
    begun: Instant,
    /// Whether the units are [slow](SLOW), as far as is known, so that more of them in a part pay its division.
    are_slow: bool,
    /// Whether the step has ended because its units are not worth watching.
    are_cheap: bool,
}

impl Watched {
    fn begin() -> Self {
        let begun = Instant::now();
        Watched { units: 0, next_look: 1, last_look: (0, begun), begun, are_slow: true, are_cheap: false }
    }

    /// Looks at the clock after 1, 2, 4 ... units, and then after every [`BLOCK`]. Returns whether the units are dear or cheap: both end
    /// the step.
    #[inline]
    fn ends(&mut self) -> bool {
        self.units += 1;
        self.units == self.next_look && self.looks_at_clock()
    }

    #[cold]
    fn looks_at_clock(&mut self) -> bool {
        let now = Instant::now();
        let (took, units) = self.since_last_look(now);
        self.are_slow = took >= SLOW * units;
        self.are_cheap = self.units >= CHEAP_UNITS && !self.are_slow;
        let ends = self.are_cheap || took > LONG * units;
        if !ends {
            self.last_look = (self.units, now);
            self.next_look += self.next_look.min(BLOCK);
        }
        ends
    }

    /// Returns the time since the last look, and the number of units folded in it. (The last unit of a part is not counted: it is all
    /// that there may be.)
    fn since_last_look(&self, now: Instant) -> (Duration, u32) {
        let (before, at) = self.last_look;
        (now.saturating_duration_since(at), (self.units - before).max(1) as u32)
    }
}

/// The clusters that a task has met: units next to each other that are much dearer than the others.
///
/// Half of the units is then not half of the work. A task that finds itself in a cluster is likely to be in the middle of it, as it has
/// met it at some time between its begin and its end. So as many dear units are expected as have been found in a row, and the task keeps
/// half of these, at least one.
struct Clusters {
    /// Number of dear units in a row, so far.
    dear: usize,
    /// Whether other units are known to be much cheaper.
    has_seen_cheap: bool,
}

impl Clusters {
    /// Learns from a watched step that has just ended. `is_given_done` says whether the part that was given away last is done. It was as
    /// large as the rest.
    fn learn(&mut self, watched: &Watched, is_given_done: bool) {
        let (took, units) = watched.since_last_look(Instant::now());
        if took <= LONG * units {
            *self = Clusters { dear: 0, has_seen_cheap: false };
            return;
        }
        self.dear += 1;
        let (before, at) = watched.last_look;
        let earlier = at.saturating_duration_since(watched.begun);
        let is_new =
            took.as_nanos() * before as u128 > DEARER * earlier.as_nanos() * u128::from(units) && before > 0;
        self.has_seen_cheap |= is_new || is_given_done;
    }

    /// How many of so many units a task keeps at a division; `None` for half of them.
    fn keeps(&self, size: usize) -> Option<usize> {
        let keeps = (self.dear / 2).max(1);
        (self.has_seen_cheap && keeps < size / 2).then_some(keeps)
    }
}

/// Units that are so many times dearer than those before them are a cluster.
const DEARER: u128 = 8;

/// If another worker has done a part of so many times as many units as this task has folded meanwhile, this task is in a cluster.
const UNEVEN: usize = 16;

/// Greatest number of units between two looks at the clock in a watched step.
const BLOCK: usize = 64;

/// Number of units after which they may be found to be cheap.
const CHEAP_UNITS: usize = 16;

/// Least share of a piece: the units of a piece are at least the units folded before it, divided by this number. Each
/// piece is reduced with the output of everything that its task has done before. That reduction may take most of the
/// time, so more pieces would cost more. (Only if [steps cut pieces](crate::Facts::steps_cut): a task with one state for
/// all its steps has nothing to reduce between them.)
const PIECE: usize = 8;

/// Remaining units that take less than this part of a long step's time are not divided: stealing them would not
/// pay. (If the task has grown in a step, nothing is known about the time that the units take.)
const GRAIN: usize = 8;

#[cfg(test)]
mod tests;
