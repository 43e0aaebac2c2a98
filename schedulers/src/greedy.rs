//! The greedy join: the last finisher reduces (Shiina and Taura, *Distributed Continuation Stealing is More Scalable
//! than You Might Think*, IEEE Cluster 2022). A forerunner is Doug Lea's `CountedCompleter` in Java 8 (2014): a node counts
//! its pending parts, and the thread that brings the last one completes the node and goes on with the node above.
//!
//! A fork whose right part was stolen is a join node on the heap ([`JoinNode`]). A node waits for three things: the output
//! of its left part, the output of its right part, and its link (the position of its own output in the tree). The
//! worker that brings the third thing reduces, and carries the result to the node above, in a loop. No worker waits for
//! another one; only the root's caller waits.
//!
//! Most forks are not stolen, and never become nodes. Their parts run in one frame and are reduced there, by value.
//! Thieves take the oldest fork first. So when a worker finds its right part stolen, the right parts of all forks
//! further up its stack have been stolen, too. The worker's frames then return one after the other. Each leaves its
//! left part's output at its node, and gives the node below its link ([`Done::Away`]). Then the worker is free, and
//! holds no frame. (An engine's thieves may take other forks than the oldest. The result is the same, but right parts
//! that were not stolen are run before the frames return.)
//!
//! ```text
//!         A ── right part stolen                  the worker's frames      nodes
//!        / \                                      A ... B ... C
//!       B   *                                     returns C: Away(c)       c: left output
//!      / \                                        in B:  join by value,    c's link: right of b'
//!     l   C ── right part stolen                         b' with l's output
//!        / \                                      in A:  Away(a)           b''s link: left of a
//!       l   *
//! ```
//!
//! A [search](ends_early) does not wait for outputs that cannot change its result. If the output of the deciding side
//! is [final](Reduction::is_final), it goes up from its node as soon as the node has its link. When a final output
//! reaches the root, waiting items are dropped.
//!
//! The walk down the tree is that of [`Join`](crate::Join), and is not shared with it: here a fork may lose its right part, and a leaf may be
//! suspended. So a walk ends in a [`Done`], where the walk of `Join` ends in an output.
//!
//! # Invariants
//!
//! 1. A node's three things arrive once each. The arrival of the last one takes all three out together, and they are
//!    reduced without a lock.
//! 2. Left outputs are reduced with right ones in order, wherever they come from: the result equals that of
//!    [`Join`](crate::Join).
//! 3. A part that a thief runs gets its link when it begins: the right side of its fork's node. If a part's frames have
//!    returned and only an inner node of it is left, [`Done::deliver`] gives that node its link.
//! 4. *Once only.* A final output leaves its node together with the node's link. So no second output goes up from that
//!    node or reaches the root. The output of the other side is dropped, whether it has arrived or not. Whether an
//!    output is final is asked once, without a lock, by the worker that has taken the output out for this purpose. If
//!    the output is not final, that worker puts it back and checks whether all three things are there now.
//! 5. An early output at the root says nothing about the tasks under way. The engine knows when all parts and all
//!    suspended tasks have ended ([`Executor::detached`]).
//! 6. *Bounded stack.* Forks nest no deeper than those of `Join` do, see [`frames`](crate::tree::frames). Outputs go up in a
//!    loop. After a panic, nodes that are given up hold a chain of links to the nodes above, and the chain is dropped
//!    in a loop.

mod any_order;
mod depjoin;
mod join;
mod node;
mod spawned;
mod wide_node;

pub use depjoin::DepJoin;
pub use join::Join;
pub(crate) use node::JoinNode;
pub(crate) use spawned::{LeafPlan, spawn};
pub(crate) use wide_node::{WIDTH, WideNode};

use any_order::AnyOrder;
use node::Thing;

use crate::tree::branch::{Branch, Decision, Divided, Joint};
use crate::tree::call::{Call, is_from_outside};
use crate::tree::frames::ForkFrame;
use crate::tree::in_turn::run_in_turn;
use crate::{Policy, Producer, Reduction, Workload};
use furcate_pool::detach::{Detach, Detachable, RightPart};
use furcate_pool::sync::machine::atomic::AtomicBool;
use furcate_pool::sync::machine::{Mutex, MutexGuard};
use furcate_pool::{Context, Executor, trace};
use std::sync::{Arc, PoisonError};

/// Says which branches are divided before they begin, and how all others are run.
pub(crate) trait Leaves: Copy + Send + Sync {
    /// Whether a branch that is to be divided is run as a leaf where no more forks may lie on the stack. If not, its
    /// parts are folded in turn.
    const RUN_TOO_DEEP: bool = false;

    /// Whether a call from outside the executor is divided into more parts. (A task that waits for futures goes on as many, so it need not be.)
    const MORE_FROM_OUTSIDE: bool = false;

    /// Decides whether the branch is divided before it begins.
    fn decide<W: Workload>(self, branch: &mut Branch<'_, W>, threads: usize) -> Decision;

    /// Runs a branch that is not divided first.
    fn run<'s, S: Detach<'s>, W: Workload + 's>(self, branch: Branch<'s, W>, scope: &S) -> Done<'s, W>
    where
        Self: 's;

    /// Called when a branch of that size has been divided. Returns the values for its parts.
    #[inline]
    fn divide<W: Workload>(self, size: usize) -> (Self, Self) {
        let _ = size;
        (self, self)
    }

    /// Called at the beginning of a computation. Returns the values for the whole.
    #[inline]
    fn begin<'s, S: Detach<'s>, W: Workload>(self, policy: &W::Policy, call: &'s Call, scope: &S) -> Self {
        let _ = (policy, call, scope);
        self
    }

    /// Whether all parts are spawned as jobs of their own, so that they can be suspended with a task.
    #[inline]
    fn spawns(self) -> bool {
        false
    }

    /// Called when no task under way is needed any more: the output of a computation that [ends early](ends_early) has
    /// reached the root, or the reduction has [stopped all tasks](crate::Ends::stops_all).
    #[inline]
    fn has_ended<'s, S: Detach<'s>>(self, scope: &S) {
        let _ = scope;
    }
}

/// Whether a final output ends the computation before all its tasks are done. True for searches, except searches that
/// stop all tasks by themselves at any hit.
pub(crate) const fn ends_early<W: Workload>() -> bool {
    W::Reduction::ENDS.search && !W::Reduction::ENDS.stops_all
}

/// Runs a whole computation.
pub(crate) fn schedule<W: Workload, E: Executor, F: Leaves>(work: W, executor: &E, leaves: F) -> W::Output {
    let (call, root) = (Call::new(F::MORE_FROM_OUTSIDE && is_from_outside::<W>(executor)), Root::default());
    let (producer, policy, reduction) = work.parts();
    let stop = W::Policy::STOPS.then(|| policy.clone());
    let work = (producer, policy, reduction);
    let output = executor.detached(|scope| start(work, (&call, &root), leaves, scope));
    tell_stop(stop.as_ref(), &call);
    output.unwrap_or_else(|| root.into_output())
}

/// Asks the policy for its stop, if a signal of the policy has cancelled tasks of the call: those tasks did not ask it.
fn tell_stop<L: Policy>(policy: Option<&L>, call: &Call) {
    if let Some(policy) = policy.filter(|_| call.was_stopped()) {
        let _ = policy.stopped();
    }
}

/// Runs a whole computation, except its stolen parts. Returns the output, if it is complete; otherwise the last
/// finisher leaves it at the root.
fn start<'s, S: Detach<'s>, W: Workload + 's, F: Leaves + 's>(
    work: W,
    (call, root): (&'s Call, &'s Root<W::Output>),
    leaves: F,
    scope: &S,
) -> Option<W::Output> {
    // A constant: only one of the two is compiled.
    if const { !W::Producer::FACTS.in_order && ends_early::<W>() } {
        let (producer, policy, reduction) = work.parts();
        let work = (producer, policy, AnyOrder::new(reduction, &root.found));
        start_in_order(work, (call, root), leaves, scope)
    } else {
        start_in_order(work, (call, root), leaves, scope)
    }
}

/// As [`start`], after the reduction has been wrapped if the order of the items means nothing.
fn start_in_order<'s, S: Detach<'s>, W: Workload + 's, F: Leaves + 's>(
    work: W,
    (call, root): (&'s Call, &'s Root<W::Output>),
    leaves: F,
    scope: &S,
) -> Option<W::Output> {
    let branch = Branch::root(work, call);
    let leaves = leaves.begin::<S, W>(&branch.policy, call, scope);
    if leaves.spawns() {
        scope.spawn_part(WholeTask { branch: PublishedBranch { branch, leaves }, root }, Arc::default());
        return None;
    }
    let stops = W::Reduction::ENDS.stops_all.then(|| branch.reduction.clone());
    match run(branch, leaves, scope) {
        Done::Here(output) => Some(output),
        away => {
            away.end_task(Link::Root(root), stops, leaves, scope);
            None
        }
    }
}

/// The destination of the last output.
pub(crate) struct Root<O> {
    output: Mutex<Option<O>>,
    /// Set by the first final output: see [`AnyOrder`].
    found: AtomicBool,
}

impl<O> Default for Root<O> {
    fn default() -> Self {
        Root { output: Mutex::new(None), found: AtomicBool::new(false) }
    }
}

impl<O> Root<O> {
    /// Returns the output at the root. Unless a part has panicked, all parts have run and all outputs have been
    /// delivered.
    fn into_output(self) -> O {
        let output = self.output.into_inner().unwrap_or_else(PoisonError::into_inner);
        output.expect("the last one to finish leaves the output at the root")
    }
}

/// Runs a branch, except its stolen parts.
pub(crate) fn run<'s, S: Detach<'s>, W: Workload + 's, F: Leaves + 's>(
    branch: Branch<'s, W>,
    leaves: F,
    scope: &S,
) -> Done<'s, W> {
    branch.position.call.watch(|| divide_or_run(branch, leaves, scope))
}

fn divide_or_run<'s, S: Detach<'s>, W: Workload + 's, F: Leaves + 's>(
    mut branch: Branch<'s, W>,
    leaves: F,
    scope: &S,
) -> Done<'s, W> {
    loop {
        let (node, fork) = match leaves.decide(&mut branch, scope.num_threads()) {
            Decision::Leaf => return leaves.run(branch, scope),
            Decision::Divide { node, fork } => (node, fork),
        };
        let Some(_frame) = ForkFrame::enter() else {
            return run_too_deep(branch, leaves, scope);
        };
        let (left, right, joint) = match branch.divide(&node) {
            Divided::One(rest) => {
                branch = rest;
                continue;
            }
            Divided::Two(left, right, joint) => (left, right, joint),
        };
        let (of_left, of_right) = leaves.divide::<W>(node.len);
        if !fork {
            let left = run(left, of_left, scope);
            return left.join(run(right, of_right, scope), joint);
        }
        let right = PublishedBranch { branch: right, leaves: of_right };
        if leaves.spawns() {
            let node = Arc::<JoinNode<'s, W>>::default();
            scope.spawn_part(right, Arc::clone(&node));
            run(left, of_left, scope).deliver(Link::JoinNode(Arc::clone(&node), Side::Left));
            return Done::Away { node, joint };
        }
        let (left, right) = scope.fork(|| run(left, of_left, scope), right);
        return match right {
            RightPart::Back(right) => {
                let half = trace::right();
                let right = run(right.branch, right.leaves, scope);
                drop(half);
                left.join(right, joint)
            }
            RightPart::Taken(node) => {
                left.deliver(Link::JoinNode(Arc::clone(&node), Side::Left));
                Done::Away { node, joint }
            }
        };
    }
}

/// Runs a branch that is to be divided, where no more forks may lie on the stack.
#[cold]
pub(crate) fn run_too_deep<'s, S: Detach<'s>, W: Workload + 's, F: Leaves + 's>(
    branch: Branch<'s, W>,
    leaves: F,
    scope: &S,
) -> Done<'s, W> {
    if const { F::RUN_TOO_DEEP } {
        return leaves.run(branch, scope);
    }
    Done::Here(run_in_turn(branch, |branch| leaves.decide(branch, scope.num_threads())))
}

/// A branch that is published for thieves.
pub(crate) struct PublishedBranch<'s, W: Workload, F> {
    pub(crate) branch: Branch<'s, W>,
    pub(crate) leaves: F,
}

impl<'s, W: Workload + 's, F: Leaves + 's> PublishedBranch<'s, W, F> {
    /// Runs the branch as a task of its own.
    fn run_task<S: Detach<'s>>(self, scope: &S, to: Link<'s, W>, context: Context) {
        let call = self.branch.position.call;
        call.watch(|| {
            let branch = self.branch.migrated(context.migrated());
            let stops = W::Reduction::ENDS.stops_all.then(|| branch.reduction.clone());
            let done = run(branch, self.leaves, scope);
            done.end_task(to, stops, self.leaves, scope);
        });
    }
}

impl<'s, S: Detach<'s>, W: Workload + 's, F: Leaves + 's> Detachable<'s, S> for PublishedBranch<'s, W, F> {
    type Meeting = JoinNode<'s, W>;

    fn run(self, scope: &S, node: Arc<Self::Meeting>, context: Context) {
        self.run_task(scope, Link::JoinNode(node, Side::Right), context);
    }
}

/// The whole of a computation, as a task.
struct WholeTask<'s, W: Workload, F> {
    branch: PublishedBranch<'s, W, F>,
    root: &'s Root<W::Output>,
}

impl<'s, S: Detach<'s>, W: Workload + 's, F: Leaves + 's> Detachable<'s, S> for WholeTask<'s, W, F> {
    type Meeting = ();

    fn run(self, scope: &S, _: Arc<()>, context: Context) {
        self.branch.run_task(scope, Link::Root(self.root), context);
    }
}

/// State of a branch when its frame returns.
pub(crate) enum Done<'s, W: Workload> {
    /// The branch is done, with this output.
    Here(W::Output),
    /// The branch's output will be that of a join node, which has not yet got its link.
    Away { node: Arc<JoinNode<'s, W>>, joint: Joint<'s, W> },
    /// The branch's output will be that of a wide node with so many places, which has not yet got its link.
    AwayInWideNode { wide: Arc<WideNode<'s, W>>, places: u8, joint: Joint<'s, W> },
}

impl<'s, W: Workload> Done<'s, W> {
    /// Joins two neighbors: reduces their outputs, or makes a node for them.
    pub(crate) fn join(self, right: Self, joint: Joint<'s, W>) -> Self {
        match (self, right) {
            (Done::Here(left), Done::Here(right)) => Done::Here(joint.reduce(left, right)),
            (left, right) => {
                let node = Arc::<JoinNode<'s, W>>::default();
                left.deliver(Link::JoinNode(Arc::clone(&node), Side::Left));
                right.deliver(Link::JoinNode(Arc::clone(&node), Side::Right));
                Done::Away { node, joint }
            }
        }
    }

    /// Ends a task: [delivers](Self::deliver) the task's output, and tells the leaves if no task is needed any more. `stops` is the
    /// reduction if it may stop all tasks.
    fn end_task<S: Detach<'s>, F: Leaves>(
        self,
        to: Link<'s, W>,
        stops: Option<W::Reduction>,
        leaves: F,
        scope: &S,
    ) {
        let is_whole = self.deliver(to);
        if (ends_early::<W>() && is_whole) || stops.is_some_and(|reduction| reduction.stopped()) {
            leaves.has_ended(scope);
        }
    }

    /// Delivers the output, or gives its node the link. Returns whether an output has reached the root by that.
    pub(crate) fn deliver(self, to: Link<'s, W>) -> bool {
        match self {
            Done::Here(output) => to.deliver(output),
            Done::Away { node, joint } => JoinNode::place(&node, joint, to),
            Done::AwayInWideNode { wide, places, joint } => match wide.place(places, joint, to) {
                Some(full) => {
                    let (output, to) = full.reduce();
                    to.deliver(output)
                }
                None => false,
            },
        }
    }
}

/// The position of an output in the tree: where it goes when it is complete.
pub(crate) enum Link<'s, W: Workload> {
    Root(&'s Root<W::Output>),
    JoinNode(Arc<JoinNode<'s, W>>, Side),
    WideNode(Arc<WideNode<'s, W>>, u8),
    /// A unit of a [windowed](Reduction::WINDOWED) reduction. Boxed, because every waiting item has a link, and few are units.
    Unit(Box<Unit<'s, W>>),
}

/// A unit of a windowed reduction.
pub(crate) struct Unit<'s, W: Workload> {
    pub(crate) reduction: W::Reduction,
    pub(crate) number: u64,
    pub(crate) call: &'s Call,
    /// The link of the whole's output, for the last unit to arrive.
    pub(crate) whole: Arc<Whole<'s, W>>,
}

/// The link of a windowed whole's output. Every unit under way has a reference, and so has the task that begins units.
pub(crate) struct Whole<'s, W: Workload>(Mutex<Link<'s, W>>);

impl<'s, W: Workload> Whole<'s, W> {
    pub(crate) fn new(to: Link<'s, W>) -> Self {
        Whole(Mutex::new(to))
    }

    /// Returns the link if this was the last reference to it.
    fn last(self: Arc<Self>) -> Option<Link<'s, W>> {
        Arc::into_inner(self).map(|whole| whole.0.into_inner().unwrap_or_else(PoisonError::into_inner))
    }

    /// Drops the reference of a unit, or of the task that begins units. For the last reference, returns the output of
    /// the whole (the output of no items) and its link.
    pub(crate) fn leave(self: Arc<Self>, reduction: &W::Reduction) -> Option<(W::Output, Link<'s, W>)> {
        self.last().map(|to| (reduction.finish(reduction.start()), to))
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Side {
    Left,
    Right,
}

impl<'s, W: Workload> Link<'s, W> {
    /// Delivers an output, and carries it up as far as it can be reduced. Returns whether it has reached the root.
    pub(crate) fn deliver(self, output: W::Output) -> bool {
        // A million waiting items have a million links.
        const { assert!(size_of::<Self>() == 2 * size_of::<usize>()) };
        let (mut to, mut output) = (self, output);
        loop {
            let reduced = match to {
                Link::Root(root) => {
                    *lock(&root.output) = Some(output);
                    return true;
                }
                Link::JoinNode(node, side) => node.arrive(match side {
                    Side::Left => Thing::Left(output),
                    Side::Right => Thing::Right(output),
                }),
                Link::WideNode(wide, place) => wide.arrive(place.into(), output).map(wide_node::Full::reduce),
                Link::Unit(unit) => {
                    let Unit { reduction, number, call, whole } = *unit;
                    // Without an output that lacks items, no later unit's items come, and so none comes out of order.
                    if !call.may_lack_items() {
                        reduction.arrive(number, output);
                    }
                    whole.leave(&reduction)
                }
            };
            let Some(above) = reduced else { return false };
            (output, to) = above;
        }
    }

    /// Drops the node of this link, if this was the last reference to it; then the node above, and so on, in a loop.
    fn give_up(self) {
        let mut up = Some(self);
        while let Some(link) = up {
            up = match link {
                Link::Root(_) => None,
                Link::Unit(unit) => unit.whole.last(),
                Link::JoinNode(node, _) => Arc::into_inner(node).and_then(|mut node| node.leave()),
                Link::WideNode(wide, _) => Arc::into_inner(wide).and_then(|mut wide| wide.leave()),
            };
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().expect("nothing that can panic is done with this lock")
}

#[cfg(test)]
mod tests;
