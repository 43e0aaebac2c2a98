//! The scheduler of `io_await`: a task that waits for I/O leaves its worker.
//!
//! A task polls its futures one after the other, each once, in place. The output of a ready future is folded at once. A
//! pending future becomes a *pending item* (`PendingItem`): a suspended task that holds the future and the rest of the chain
//! for its output, but neither a stack nor a worker. The task goes on with the next item. When the future is ready, any
//! worker takes the pending item, folds it as a small task of its own, and delivers the output to its position.
//!
//! ```text
//!   items      a   b   c   d   e   f   g   h          ready: a b d e h        pending: c f g
//!   segments  [a   b] (c) [d   e] (f) (g) [h]
//!                 |   |     |   |   |   |           segments and pending items are leaves of a balanced
//!   tree          1   2     3   4   5   6           tree of nodes, as stolen forks are (where there are
//!                  \ /       \ /     \ /            many, up to sixteen in one node)
//!                   o---------o       |
//!                        o------------o
//! ```
//!
//! A pending future is the only additional split point: nothing is divided in advance because of waits. The policy says
//! how the work before and around it is divided.
//!
//! # Invariants
//!
//! 1. *Order.* Pending items and segments are reduced in the order of the items, as neighbors, by the nodes of the
//!    [greedy join](crate::greedy).
//! 2. *Every pending item is completed once*: by its continuation, or, if the call is cancelled, by an empty output.
//! 3. *No accumulator waits.* Before a pending item the task's accumulator is finished to an output, which may change
//!    threads.
//! 4. *Bounded depth.* The nodes over n pending items of a task are at most log2 n deep, and outputs go up in a loop.
//!    *Bounded memory*, too: complete outputs are reduced, except the few that share a [wide node](tree::Tree) with an item
//!    that is still pending. So the number of nodes is at most the number of pending items plus a logarithm. A task
//!    that was put aside goes on with the same tree. So does a rest that was suspended with an item, unless the policy divides it.
//! 5. *In flight.* If the number of futures in flight is limited, a future has a permit from its first poll to its end.
//!    A task takes the permits for a step before it makes the items. If it finds none, it puts its remaining units
//!    aside, as a task that waits for a permit. (If a step gives more futures than it has units, each future without a
//!    permit waits for one.) Before an item's next future is made, the item asks for a permit again if other tasks wait
//!    for one: items go on [in turns](semaphore). In a search, before a gate, and if items come from a stream, an item
//!    keeps its permit, and goes before new ones: see [`goes_first`](crate::FoldFacts::goes_first). There new items may
//!    hold their permits for any time, and an item that has begun must not wait for these permits.
//! 6. *Searches that [end early](ends_early).* An item that is found keeps its permit until the hit is known, and no
//!    needless future begins with a permit that was given back after that. So tasks that were put aside and are not
//!    needed are cancelled, and items after the hit do not keep items before it from getting permits.
//! 7. *A stop waits for nothing else.* Every task of a call checks whether it was cancelled: before its future is
//!    polled (the engine checks), and before an item is made or folded. The signal that stops the call sets that flag
//!    itself, see [`alarm`]. A task that leaves an item out tells the [call](Call::leave_out), which tells the policy
//!    at the end.

mod frame;
mod leaf;
mod limit;
mod reserve;
mod room;
mod semaphore;
mod tree;
mod walk;

use crate::greedy::{self, Done, JoinNode, LeafPlan, Leaves, Link, Side, ends_early};
use crate::policy::StopSignals;
use crate::tree::branch::{Branch, Decision, Joint, Position};
use crate::tree::call::Call;
use crate::tree::pace::Pace;
use crate::{
    Computation, Divisible, NextStep, Policy, Producer, Reduction, Scheduler, SchedulerFacts, Steps,
    StepsFacts, Workload,
};
use frame::{Held, TaskFrame, TaskShared};
use furcate_pool::detach::{Detach, Detachable, Resume, Suspend};
use furcate_pool::trace;
use furcate_pool::{Context, Executor};
use leaf::{Fold, Leaf, cancel_if_stopped};
pub use limit::{Limit, LimitPermit};
use reserve::Reserve;
use room::{Acquire, Permit, Room};
use semaphore::{LineKind, Place};
use std::ops::ControlFlow;
use std::rc::Rc;
use std::sync::Arc;
use std::task::Poll;
use tree::Tree;
use walk::Walk;

/// Suspends tasks that wait for futures; see `io_await`.
///
/// The scheduler runs any producer. A producer that waits for nothing runs as under [`DepJoin`](crate::DepJoin).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Suspending {
    max_in_flight: usize,
    limit: Option<Limit>,
    divides: bool,
}

impl Suspending {
    /// Greatest number of futures of a call in flight at once, if the call names no bound: 1024.
    ///
    /// On two threads this bound hides a latency of up to 512 times the work per item, on 16 threads of up to 64 times. A larger bound
    /// takes more memory and descriptors, and begins more futures in vain if the call ends early.
    pub const MAX_IN_FLIGHT: usize = 1024;

    /// Makes a scheduler with [that](Self::MAX_IN_FLIGHT) bound.
    #[must_use]
    pub const fn new() -> Self {
        Suspending { max_in_flight: Self::MAX_IN_FLIGHT, limit: None, divides: true }
    }

    /// Lets at most `n` futures be in flight at any time: polled, and not ready. The first `n` items begin first. (If one of them computes
    /// for more than 10 ms before its first wait, other threads begin later items meanwhile.) At most `2 * n` items have begun and wait for
    /// another future; at most `n` if items [keep their permits](crate::FoldFacts::goes_first).
    ///
    /// # Panics
    ///
    /// If `n` is 0.
    #[must_use]
    #[track_caller]
    pub const fn max_in_flight(mut self, n: usize) -> Self {
        assert!(
            n > 0,
            "with no future in flight nothing would ever be done: `max_in_flight` needs at least 1"
        );
        self.max_in_flight = n;
        self
    }

    /// Puts the futures under a limit that other calls share. It holds besides the call's own
    /// [bound](Self::max_in_flight).
    #[must_use]
    pub fn limit(self, limit: &Limit) -> Self {
        Suspending { limit: Some(limit.clone()), ..self }
    }

    /// Lets any number of futures be in flight.
    #[must_use]
    pub const fn unbounded(mut self) -> Self {
        self.max_in_flight = usize::MAX;
        self
    }

    /// Sets whether the items are divided among tasks, as the policy says. If not, one task begins all futures, one
    /// after the other; the outputs are still folded by a task for each.
    #[must_use]
    pub const fn dividing(mut self, divides: bool) -> Self {
        self.divides = divides;
        self
    }

    /// Returns how many futures may be in flight at any time; `usize::MAX` if any number may.
    #[must_use]
    pub const fn bound(&self) -> usize {
        self.max_in_flight
    }

    fn waits(&self) -> CallWaits {
        CallWaits { room: Room::new(self.max_in_flight, self.limit.as_ref()), divides: self.divides }
    }
}

impl Default for Suspending {
    fn default() -> Self {
        Suspending::new()
    }
}

impl Scheduler for Suspending {
    const FACTS: SchedulerFacts = SchedulerFacts { suspends: true, spreads: true, ..SchedulerFacts::FORKS };

    fn for_futures(&self) -> Suspending {
        self.clone()
    }

    fn schedule<W: Workload, E: Executor>(&self, work: W, executor: &E) -> W::Output {
        const { no_cap::<W::Policy>() };
        greedy::schedule(work, executor, self.waits().leaves())
    }

    fn spawn<C: Computation, E: Executor + 'static>(&self, computation: C, executor: &E) {
        const { no_cap::<C::Policy>() };
        greedy::spawn(computation, executor, self.waits());
    }
}

/// Message for chains whose policy [caps](Policy::CAPS) tasks.
const NO_CAP: &str = "`Suspending` cannot cap tasks: each future that was pending goes on as a task that no fork has made; bound the \
     futures in flight with `max_in_flight(n)` instead, or the items that are computed at once with a pool of n threads";

/// Refuses such chains if the policy's type is known.
const fn no_cap<L: Policy>() {
    assert!(!L::CAPS, "{}", NO_CAP);
}

/// State that all tasks of a call share.
#[derive(Debug)]
struct CallWaits {
    room: Room,
    divides: bool,
}

impl LeafPlan for CallWaits {
    type Leaves<'s> = WaitingLeaves<'s>;

    fn leaves(&self) -> WaitingLeaves<'_> {
        WaitingLeaves {
            room: &self.room,
            divides: self.divides,
            walks: true,
            is_proactive: false,
            place: Place::FIRST,
            depth: 0,
        }
    }
}

/// Runs branches with items that may be pending.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WaitingLeaves<'s> {
    room: &'s Room,
    divides: bool,
    /// Whether a branch of a [windowed](Reduction::WINDOWED) reduction is [walked](walk). False for its units.
    walks: bool,
    /// Whether the rest of a leaf whose item is pending is suspended with the item.
    is_proactive: bool,
    /// The place of the branch, and the number of divisions above it.
    place: Place,
    depth: u8,
}

impl Leaves for WaitingLeaves<'_> {
    /// A branch too deep to be divided is a larger leaf.
    const RUN_TOO_DEEP: bool = true;

    /// Makes the policy's signals stop the call's tasks. Suspended tasks would not notice the signals themselves.
    fn begin<'s, S: Detach<'s>, W: Workload>(self, policy: &W::Policy, call: &'s Call, scope: &S) -> Self {
        // The policy may have been chosen at run time.
        assert!(!policy.caps(), "{NO_CAP}");
        if W::Policy::STOPS && S::Handle::SUSPENDS {
            let mut signals = StopSignals::default();
            policy.watch(&mut signals);
            call.stop_on(signals, scope.handle().stopper());
        }
        WaitingLeaves {
            is_proactive: self.divides && !W::Reduction::WINDOWED && scope.handle().is_proactive(),
            ..self
        }
    }

    fn spawns(self) -> bool {
        self.is_proactive
    }

    fn decide<W: Workload>(self, branch: &mut Branch<'_, W>, threads: usize) -> Decision {
        // A part that finds no permit would only wait for one.
        let is_leaf = !self.divides
            || (W::Reduction::WINDOWED && self.walks)
            || (self.is_proactive && self.room.is_full());
        if is_leaf { Decision::Leaf } else { branch.decide(threads) }
    }

    /// Gives the right part a place behind the left one's. The order does not count if items come in none, among units that a [walk](walk)
    /// begins in order, and if there are permits for all.
    fn divide<W: Workload>(self, size: usize) -> (Self, Self) {
        let room = self.room;
        if const { !W::Producer::FACTS.in_order || W::Reduction::WINDOWED } || !room.keeps_some() {
            return (self, self);
        }
        if self.depth == 0 && size <= room.permits() {
            room.keep_none();
            return (self, self);
        }
        let left = WaitingLeaves { depth: self.depth.saturating_add(1), ..self };
        let right = WaitingLeaves { place: self.place.right(self.depth), ..left };
        room.enter([left.place, right.place]);
        (left, right)
    }

    fn run<'s, S: Detach<'s>, W: Workload + 's>(self, branch: Branch<'s, W>, scope: &S) -> Done<'s, W>
    where
        Self: 's,
    {
        if W::Reduction::WINDOWED && self.walks {
            let (done, link) = away(&branch, Tree::of_leaf(), &branch.reduction);
            Walk::new(branch, self, link).go_on(scope);
            return done;
        }
        match advance(Paused { branch, tree: Tree::of_leaf(), leaves: self }, None, scope) {
            Ok(done) => done,
            Err((paused, wait)) => {
                let (done, link) = away(&paused.branch, Tree::of_leaf(), &paused.branch.reduction);
                wait.put_aside(Aside { paused, link }, scope);
                done
            }
        }
    }

    fn has_ended<'s, S: Detach<'s>>(self, scope: &S) {
        scope.handle().cancel();
    }
}

/// Memory for the future that waits for a permit.
type AcquireSlot<'s, S, W> = <<S as Detach<'s>>::Handle as Suspend<'s, S>>::Slot<Acquire<'s>, Aside<'s, W>>;

/// A leaf that is to be put aside.
struct Paused<'s, W: Workload> {
    branch: Branch<'s, W>,
    /// Pending items since the leaf was put aside first.
    tree: Tree<'s, W>,
    leaves: WaitingLeaves<'s>,
}

/// The event for which a leaf is put aside.
enum Wait<'s, S: Detach<'s>, W: Workload + 's> {
    /// A permit (invariant 5).
    Permit(AcquireSlot<'s, S, W>),
    /// Any worker: the rest is spawned, and suspended with this item.
    Worker(Held<'s, S>),
}

impl<'s, S: Detach<'s>, W: Workload + 's> Wait<'s, S, W> {
    fn put_aside(self, aside: Aside<'s, W>, scope: &S) {
        match self {
            Wait::Permit(mut slot) => scope.handle().suspend(&mut slot, aside),
            Wait::Worker(held) => {
                scope.spawn_part(aside, Arc::default());
                scope.handle().suspend_beside(held);
            }
        }
    }
}

/// Runs a leaf to its end, or until it finds no permit, or its rest is to be suspended with an item. It may already have a permit, and
/// pending items.
#[allow(clippy::type_complexity, reason = "a result of what has a name each")]
fn advance<'s, S: Detach<'s>, W: Workload + 's>(
    Paused { mut branch, mut tree, leaves }: Paused<'s, W>,
    mut permit: Option<Permit<'s>>,
    scope: &S,
) -> Result<Done<'s, W>, (Paused<'s, W>, Wait<'s, S, W>)> {
    let (handle, mut slot) = (scope.handle(), Default::default());
    loop {
        let Branch { producer, policy, reduction, position } = branch;
        let call = position.call;
        let whole = reduction.clone();
        let reserve = Reserve::new(leaves.room, permit, leaves.place);
        let frame = TaskFrame::<S>::new(handle.clone(), reserve, LineKind::New, leaves.is_proactive);
        let leaf = Leaf::<S, W>::new(Some(&frame), reduction, call, tree);
        let stopped = || {
            if W::Policy::STOPS && policy.stopped() {
                handle.cancel();
            }
            cancel_if_stopped::<S, W>(&whole, &handle);
            if W::Reduction::ENDS.interruptible && whole.stopped() {
                return true;
            }
            let is_cancelled = handle.is_cancelled();
            // A search that has ended leaves nothing out.
            if is_cancelled && !ends_early::<W>() {
                call.leave_out();
            }
            is_cancelled || call.has_failed()
        };
        let pace = Pace::new(1, if leaves.is_proactive { 1 } else { LONGEST });
        let mut looks = Looks { stopped, frame: frame.share(), pace, step: 0, rest: None };
        let mark = trace::leaf(producer.size());
        let (ControlFlow::Continue(leaf) | ControlFlow::Break(leaf)) =
            producer.partial_fold(leaf, Fold, &mut looks);
        drop(mark);
        looks.end_step();
        let held = frame.take_held();
        let Some(rest) = looks.rest else {
            leaves.room.leave(leaves.place);
            let done = leaf.end();
            held.into_iter().for_each(|held| handle.suspend_beside(held));
            return Ok(done);
        };
        let reduction;
        (tree, reduction) = leaf.pause();
        let position = Position { marks: position.marks.migrated(false).grown(false), ..position };
        branch = Branch { producer: rest, policy, reduction, position };
        if let Some(held) = held {
            return Err((Paused { branch, tree, leaves }, Wait::Worker(held)));
        }
        match handle.poll_once(&mut slot, leaves.room.acquire(LineKind::New, leaves.place)) {
            // By now there is a permit.
            Poll::Ready(found) => permit = Some(found),
            Poll::Pending => {
                handle.waits_for_room();
                return Err((Paused { branch, tree, leaves }, Wait::Permit(slot)));
            }
        }
    }
}

/// Makes a node for a branch that ends later. The items of `tree`, of which `before` is the reduction, are the left part; the link is for
/// the others.
fn away<'s, W: Workload>(
    branch: &Branch<'s, W>,
    tree: Tree<'s, W>,
    before: &W::Reduction,
) -> (Done<'s, W>, Link<'s, W>) {
    let (node, call) = (Arc::<JoinNode<'s, W>>::default(), branch.position.call);
    tree.end(None, before, call).deliver(Link::JoinNode(Arc::clone(&node), Side::Left));
    let link = Link::JoinNode(Arc::clone(&node), Side::Right);
    (Done::Away { node, joint: Joint { reduction: branch.reduction.clone(), call } }, link)
}

/// A leaf that was put aside.
struct Aside<'s, W: Workload> {
    paused: Paused<'s, W>,
    link: Link<'s, W>,
}

impl<'s, W: Workload + 's> Aside<'s, W> {
    /// Goes on with the leaf. If no permit is brought, the policy may have the rest divided.
    fn go_on<S: Detach<'s>>(self, permit: Option<Permit<'s>>, scope: &S, context: Context) {
        let Aside { mut paused, link } = self;
        let call = paused.branch.position.call;
        call.watch(|| {
            paused.branch = paused.branch.migrated(context.migrated());
            let (leaves, reduction) = (paused.leaves, paused.branch.reduction.clone());
            let outcome = match permit {
                None if paused.is_to_be_divided(scope.num_threads()) => {
                    let Paused { mut branch, tree, .. } = paused;
                    let (before, rest) = reduction.clone().divide_item();
                    let (done, link) = away(&branch, tree, &before);
                    branch.reduction = rest;
                    // Not the whole: the items before it may have permits.
                    let leaves = WaitingLeaves { depth: leaves.depth.max(1), ..leaves };
                    greedy::run(branch, leaves, scope).deliver(link);
                    Ok(done)
                }
                permit => advance(paused, permit, scope),
            };
            match outcome {
                Ok(done) => {
                    if done.deliver(link) && ends_early::<W>() {
                        leaves.has_ended(scope);
                    }
                }
                Err((paused, wait)) => wait.put_aside(Aside { paused, link }, scope),
            }
            cancel_if_stopped::<S, W>(&reduction, &scope.handle());
        });
    }
}

impl<W: Workload> Paused<'_, W> {
    fn is_to_be_divided(&mut self, threads: usize) -> bool {
        let Decision::Divide { fork, .. } = self.leaves.decide(&mut self.branch, threads) else {
            return false;
        };
        if fork {
            // The permit is asked for again when the rest is divided.
            self.branch.policy.return_permit();
        }
        true
    }
}

impl<'s, S: Detach<'s>, W: Workload + 's> Detachable<'s, S> for Aside<'s, W> {
    type Meeting = ();

    fn run(self, scope: &S, _: Arc<()>, context: Context) {
        self.go_on(None, scope, context);
    }
}

impl<'s, S: Detach<'s>, W: Workload + 's> Resume<'s, S, Permit<'s>> for Aside<'s, W> {
    fn resume(self, scope: &S, permit: Permit<'s>, context: Context) {
        self.go_on(Some(permit), scope, context);
    }

    fn cancelled(self, _scope: &S) {
        let Aside { paused: Paused { branch, tree, .. }, link } = self;
        let call = branch.position.call;
        call.leave_out();
        call.watch(|| {
            tree.end(None, &branch.reduction, call).deliver(link);
        });
    }
}

/// Longest step: that many cheap items are polled between two checks.
const LONGEST: usize = 1 << 10;

/// The steps of a task: between them it checks whether it is still needed, and gets the permits for the next step
/// (invariant 5).
struct Looks<'s, S: Detach<'s>, F, P> {
    stopped: F,
    frame: Rc<TaskShared<'s, S>>,
    pace: Pace,
    /// Number of units of the step.
    step: usize,
    /// The remaining units, if there is no permit.
    rest: Option<P>,
}

impl<'s, S: Detach<'s>, F, P> Looks<'s, S, F, P> {
    /// Tells the room how many items have begun.
    fn end_step(&mut self) {
        match std::mem::take(&mut self.step) {
            0 => {}
            units => self.frame.reserve.has_begun(units),
        }
    }
}

impl<'s, S: Detach<'s>, F: Fn() -> bool, P> Steps<P> for Looks<'s, S, F, P> {
    const FACTS: StepsFacts = StepsFacts::LOOKING;

    fn next(&mut self, size: usize) -> NextStep {
        if size > 0 && (self.stopped)() {
            return NextStep::Stop;
        }
        self.end_step();
        if size > 0 && self.frame.has_held() {
            return NextStep::Give;
        }
        self.frame.cooperate();
        let limit = self.pace.next(size);
        match self.frame.reserve.fill(limit.min(size)) {
            0 if size > 0 => NextStep::Give,
            permits => {
                let units = limit.min(permits);
                self.step = units;
                NextStep::Fold(units)
            }
        }
    }

    fn take(&mut self, rest: P) {
        self.rest = Some(rest);
    }
}
