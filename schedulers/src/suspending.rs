//! The scheduler behind `io_await`: what waits for I/O leaves its worker.
//!
//! A task polls its futures one after the other, each once, where it is. What a ready one gives is folded on. A pending one
//! becomes a *hole*: a suspended task, of the future and of all that is to be done with what it gives, which holds neither
//! stack nor worker; and the task goes on with the next item. Whoever takes up a hole when its future is ready folds the
//! item, as a small task of its own, and brings the output to its place.
//!
//! ```text
//!   items      a   b   c   d   e   f   g   h          ready: a b d e h        pending: c f g
//!   segments  [a   b] (c) [d   e] (f) (g) [h]
//!                  \  /        \  /   /    |          what was folded before a hole is reduced with the hole's
//!   tree            1            2   3     4          output by whoever fills that; holes are leaves of a
//!                    \          /   /     /           balanced tree of nodes, as stolen forks are (where
//!                     o--------o   /     /             there are many, up to eight in one node)
//!                       \         o-----o
//! ```
//!
//! `Pending` is the only split point there is for the sake of waiting: nothing is divided in advance. How the work before
//! and around it is divided, the policy says.
//!
//! # Invariants
//!
//! 1. *Order.* Holes and segments are reduced in the order of the items, as neighbours, by the nodes of the
//!    [greedy join](crate::greedy).
//! 2. *Every hole is filled once*: by its continuation, or, if the call is cancelled, by an empty output.
//! 3. *No accumulator waits.* Before a hole the task's accumulator is finished to an output, which may change threads.
//! 4. *Bounded depth.* The nodes over n holes of a task are at most log2 n deep, and outputs climb in a loop.
//!    *Bounded memory*, too: what is complete is reduced, but for the few that share a [row](tree::Tree) with one that is not;
//!    so nodes are no more than what is waited for and a logarithm; and a task that was put aside goes on with the same tree.
//! 5. *In flight.* Between its first poll and its end a future has a permit, where the number of those is limited. A task has
//!    permits for a nano-loop before it makes the items; if it finds none it puts what it has left aside, as a task that
//!    waits for one. (Where a loop gives more futures than it has units, those that find no permit wait for one each.) An
//!    item with another future to come keeps its permit meanwhile.
//! 6. *Searches that [end early](ends_early).* An item that is found has its permit until that is known, and no future that
//!    is not needed begins with a permit that was given back after that: so what is put aside and not needed is told, and
//!    what comes before the hit is not kept out by what lies behind it.

mod frame;
mod in_flight;
mod leaf;
mod tree;

use crate::branch::{Branch, Decision, Joint};
use crate::greedy::{self, Done, Leaves, Link, Node, Plan, Root, Side, ends_early};
use crate::pace::Pace;
use crate::policy::{StopSignals, Stopped};
use crate::{Computation, Nano, NanoLoops, Policy, Producer, Reduction, Scheduler};
use frame::{Frame, Shared};
use furcate_pool::detach::{Detach, Resume, Suspend};
use furcate_pool::{Context, Executor};
use in_flight::{Acquire, InFlight, Kind, Permit};
use leaf::{Fold, Leaf, cancel_if_stopped};
use std::ops::ControlFlow;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{self, Poll};
use tree::Tree;

/// Tasks that wait for futures are suspended; see `io_await`.
///
/// It runs any producer: one that waits for nothing as [`DepJoin`](crate::DepJoin) does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Suspending {
    max_in_flight: usize,
    divides: bool,
}

impl Suspending {
    /// So many futures may be waited for at once, if nothing else is said: enough to hide any latency, and an end to what
    /// memory they take.
    pub const MAX_IN_FLIGHT: usize = 1 << 16;

    /// With [that](Self::MAX_IN_FLIGHT) bound.
    #[must_use]
    pub const fn new() -> Self {
        Suspending { max_in_flight: Self::MAX_IN_FLIGHT, divides: true }
    }

    /// At most `n` futures are in flight at any time: polled, and not ready.
    ///
    /// # Panics
    ///
    /// If `n` is 0.
    #[must_use]
    pub const fn max_in_flight(self, n: usize) -> Self {
        assert!(
            n > 0,
            "with no future in flight nothing would ever be done: `max_in_flight` needs at least 1"
        );
        Suspending { max_in_flight: n, ..self }
    }

    /// Any number of futures may be in flight.
    #[must_use]
    pub const fn unbounded(self) -> Self {
        Suspending { max_in_flight: usize::MAX, ..self }
    }

    /// Whether the items are divided among tasks, as the policy says. If not, one task begins all futures, one after the
    /// other; what is done with what they give is a task for each all the same.
    #[must_use]
    pub const fn dividing(self, divides: bool) -> Self {
        Suspending { divides, ..self }
    }

    fn waits(&self) -> Waits {
        Waits { in_flight: InFlight::new(self.max_in_flight), divides: self.divides }
    }
}

impl Default for Suspending {
    fn default() -> Self {
        Suspending::new()
    }
}

impl Scheduler for Suspending {
    const SUSPENDS: bool = true;

    fn in_flight(&self) -> Option<usize> {
        Some(self.max_in_flight)
    }

    fn divides(&self) -> bool {
        self.divides
    }

    fn schedule<P, L, R, E>(&self, producer: P, policy: L, reduction: R, executor: &E) -> R::Output
    where
        P: Producer,
        L: Policy,
        R: Reduction<P::Item>,
        E: Executor,
    {
        greedy::schedule(producer, policy, reduction, executor, self.waits().leaves())
    }

    fn spawn<C: Computation, E: Executor + 'static>(&self, computation: C, executor: &E) {
        greedy::spawn(computation, executor, self.waits());
    }
}

/// What all tasks of a call share.
#[derive(Debug)]
struct Waits {
    in_flight: InFlight,
    divides: bool,
}

impl Plan for Waits {
    type Leaves<'s> = Holes<'s>;

    fn leaves(&self) -> Holes<'_> {
        Holes { in_flight: &self.in_flight, divides: self.divides }
    }
}

/// How a branch is run whose items may have to be waited for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Holes<'s> {
    in_flight: &'s InFlight,
    divides: bool,
}

impl Leaves for Holes<'_> {
    /// What stops the policy is watched by a task of its own: while all others wait, nobody else would hear it.
    fn begin<'s, S, L, O>(self, policy: &L, root: &'s Root<O>, scope: &S)
    where
        S: Detach<'s>,
        L: Policy + 's,
        O: Send,
    {
        if L::STOPS && S::Handle::SUSPENDS {
            let mut signals = StopSignals::default();
            policy.watch(&mut signals);
            let watch = Watch { stopped: signals.wait(), root };
            let then = || OnStop { policy: policy.clone() };
            let handle = scope.handle();
            if let Some(stopped) = handle.poll(&mut Default::default(), watch, then) {
                then().resume(scope, stopped, Context::new(false));
            }
        }
    }

    fn decide<P, L, R>(self, branch: &mut Branch<'_, P, L, R>, threads: usize) -> Decision
    where
        P: Producer,
        L: Policy,
        R: Reduction<P::Item>,
    {
        if self.divides { branch.decide(threads, false) } else { Decision::Leaf }
    }

    fn run<'s, S, P, L, R>(self, branch: Branch<'s, P, L, R>, scope: &S) -> Done<'s, R::Output, R>
    where
        S: Detach<'s>,
        P: Producer + 's,
        L: Policy + 's,
        R: Reduction<P::Item, Output: 's> + 's,
        Self: 's,
    {
        run(branch, self, scope)
    }

    fn has_delivered<'s, S: Detach<'s>, T, R: Reduction<T>>(self, reduction: &R, scope: &S) {
        cancel_if_stopped::<S, T, R>(reduction, &scope.handle());
    }

    fn has_ended<'s, S: Detach<'s>>(self, scope: &S) {
        scope.handle().cancel();
    }

    /// As it is: a leaf like any other, but for its size.
    fn run_too_deep<'s, S, P, L, R>(self, branch: Branch<'s, P, L, R>, scope: &S) -> Done<'s, R::Output, R>
    where
        S: Detach<'s>,
        P: Producer + 's,
        L: Policy + 's,
        R: Reduction<P::Item, Output: 's> + 's,
        Self: 's,
    {
        run(branch, self, scope)
    }
}

/// Waits until the policy is about to stop (true), or all is done.
struct Watch<'s, O> {
    stopped: Stopped,
    root: &'s Root<O>,
}

impl<O> Future for Watch<'_, O> {
    type Output = bool;

    fn poll(mut self: Pin<&mut Self>, context: &mut task::Context<'_>) -> Poll<bool> {
        if self.root.poll_end(context.waker()) {
            return Poll::Ready(false);
        }
        Pin::new(&mut self.stopped).poll(context).map(|()| true)
    }
}

/// Drops all that waits, if the policy has stopped. (It is told that something was left out, though all may have come to
/// its end in this moment.)
struct OnStop<L> {
    policy: L,
}

impl<'s, S: Detach<'s>, L: Policy + 's> Resume<'s, S, bool> for OnStop<L> {
    fn resume(self, scope: &S, stopped: bool, _: Context) {
        if stopped && self.policy.stopped() {
            scope.handle().cancel();
        }
    }

    fn cancelled(self, _: &S) {}
}

/// Runs a leaf.
fn run<'s, S, P, L, R>(branch: Branch<'s, P, L, R>, holes: Holes<'s>, scope: &S) -> Done<'s, R::Output, R>
where
    S: Detach<'s>,
    P: Producer + 's,
    L: Policy + 's,
    R: Reduction<P::Item, Output: 's> + 's,
{
    let call = branch.call;
    match advance(branch, Tree::of_leaf::<P::Item>(), None, holes, scope) {
        Ok(done) => done,
        Err(Paused { mut branch, tree, mut slot }) => {
            let joint = Joint { reduction: branch.reduction.clone(), call };
            let (left, right) = branch.reduction.divide();
            branch.reduction = right;
            let node = Arc::<Node<'s, R::Output, R>>::default();
            tree.end::<P::Item>(None, &left, call).deliver(Link::Node(Arc::clone(&node), Side::Left));
            let link = Link::Node(Arc::clone(&node), Side::Right);
            scope
                .handle()
                .suspend(&mut slot, Aside { branch, tree: Tree::of_leaf::<P::Item>(), holes, link });
            Done::Away { node, joint }
        }
    }
}

/// What waits for a permit.
type AcquireSlot<'s, S, P, L, R, O> =
    <<S as Detach<'s>>::Handle as Suspend<'s, S>>::Slot<Acquire<'s>, Aside<'s, P, L, R, O>>;

/// A leaf that is to be put aside, until there is a permit (invariant 5).
struct Paused<'s, P, L, R, O, W> {
    branch: Branch<'s, P, L, R>,
    tree: Tree<'s, O, R>,
    slot: W,
}

/// Runs a leaf to its end, or until it finds no permit. It may have one, and holes.
#[allow(clippy::type_complexity, reason = "a result of what has a name each")]
fn advance<'s, S, P, L, R>(
    mut branch: Branch<'s, P, L, R>,
    mut tree: Tree<'s, R::Output, R>,
    mut permit: Option<Permit<'s>>,
    holes: Holes<'s>,
    scope: &S,
) -> Result<Done<'s, R::Output, R>, Paused<'s, P, L, R, R::Output, AcquireSlot<'s, S, P, L, R, R::Output>>>
where
    S: Detach<'s>,
    P: Producer + 's,
    L: Policy + 's,
    R: Reduction<P::Item, Output: 's> + 's,
{
    let (handle, mut slot) = (scope.handle(), Default::default());
    loop {
        let Branch { producer, policy, reduction, depth, least, fruitless, call, .. } = branch;
        let whole = reduction.clone();
        let frame = Frame::<S>::new(handle.clone(), holes.in_flight, permit, Kind::New);
        let leaf = Leaf::<S, R, P::Item>::new(&frame, reduction, call, tree);
        let stopped = || {
            if L::STOPS && policy.stopped() {
                handle.cancel();
            }
            cancel_if_stopped::<S, P::Item, R>(&whole, &handle);
            call.has_failed() || handle.is_cancelled() || (R::INTERRUPTIBLE && whole.stopped())
        };
        let mut looks = Looks { stopped, frame: frame.share(), pace: Pace::new(1, LONGEST), rest: None };
        let (ControlFlow::Continue(leaf) | ControlFlow::Break(leaf)) =
            producer.suspending_fold(leaf, Fold, &mut looks);
        let Some(rest) = looks.rest else {
            return Ok(leaf.end());
        };
        let reduction;
        (tree, reduction) = leaf.pause();
        branch = Branch { producer: rest, policy, reduction, depth, migrated: false, least, fruitless, call };
        match handle.poll_once(&mut slot, holes.in_flight.acquire(Kind::New)) {
            // There is one after all.
            Poll::Ready(found) => permit = Some(found),
            Poll::Pending => {
                handle.waits_for_room();
                return Err(Paused { branch, tree, slot });
            }
        }
    }
}

/// A leaf that waits for a permit.
struct Aside<'s, P, L, R, O> {
    branch: Branch<'s, P, L, R>,
    /// Since it was put aside first.
    tree: Tree<'s, O, R>,
    holes: Holes<'s>,
    link: Link<'s, O, R>,
}

impl<'s, S, P, L, R> Resume<'s, S, Permit<'s>> for Aside<'s, P, L, R, R::Output>
where
    S: Detach<'s>,
    P: Producer + 's,
    L: Policy + 's,
    R: Reduction<P::Item, Output: 's> + 's,
{
    fn resume(self, scope: &S, permit: Permit<'s>, context: Context) {
        let Aside { branch, tree, holes, link } = self;
        let call = branch.call;
        call.watch(|| {
            let reduction = branch.reduction.clone();
            match advance(branch.migrated(context.migrated()), tree, Some(permit), holes, scope) {
                Ok(done) => {
                    if done.deliver(link) && ends_early::<P::Item, R>() {
                        holes.has_ended(scope);
                    }
                }
                Err(Paused { branch, tree, mut slot }) => {
                    scope.handle().suspend(&mut slot, Aside { branch, tree, holes, link });
                }
            }
            holes.has_delivered::<S, P::Item, R>(&reduction, scope);
        });
    }

    fn cancelled(self, _scope: &S) {
        let Aside { branch, tree, link, .. } = self;
        let call = branch.call;
        call.watch(|| {
            tree.end::<P::Item>(None, &branch.reduction, call).deliver(link);
        });
    }
}

/// Where items are cheap, so many of them are polled between two looks.
const LONGEST: usize = 1 << 10;

/// Between its nano-loops a task looks whether it is still needed, and gets the permits for the next one (invariant 5).
struct Looks<'s, S: Detach<'s>, F, P> {
    stopped: F,
    frame: Rc<Shared<'s, S>>,
    pace: Pace,
    /// What is left when there is none.
    rest: Option<P>,
}

impl<'s, S: Detach<'s>, F: Fn() -> bool, P> NanoLoops<P> for Looks<'s, S, F, P> {
    const DIVIDES: bool = false;

    fn next(&mut self, size: usize) -> Nano {
        if size > 0 && (self.stopped)() {
            return Nano::Stop;
        }
        let limit = self.pace.next(size);
        match self.frame.reserve.fill(limit.min(size)) {
            0 if size > 0 => Nano::Give,
            permits => Nano::Fold(limit.min(permits)),
        }
    }

    fn take(&mut self, rest: P) {
        self.rest = Some(rest);
    }
}
