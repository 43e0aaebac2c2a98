//! The greedy join: whoever finishes last reduces.
//!
//! A fork whose right part was stolen is a [`Node`] on the heap. It waits for three things: the left part's output, the
//! right part's, and its own place in the tree. Whoever brings the third reduces, and goes on to the node above with the
//! result, in a loop. Nobody waits for anybody, but for the root.
//!
//! Most forks are not stolen; they never become nodes. Their parts run in one frame and are reduced there, by value. And
//! thieves take the oldest fork first: so when a worker finds its right part stolen, those of all forks further up its
//! stack are too. Its frames return one after the other, each leaves its left part's output at its node and tells the
//! node below where it belongs ([`Done::Away`]); then the worker is free, and holds no frame. (If an engine's thieves take
//! other forks than the oldest this still holds, but for the frames: the right parts that came back are run first.)
//!
//! ```text
//!         A ── right part stolen                  the worker's frames      nodes
//!        / \                                      A ... B ... C
//!       B   *                                     returns C: Away(c)       c: left output
//!      / \                                        in B:  join by value,    c's place: right of b'
//!     l   C ── right part stolen                         b' with l's output
//!        / \                                      in A:  Away(a)           b''s place: left of a
//!       l   *
//! ```
//!
//! A [search](ends_early) does not wait for what cannot change its result: if the output of the side that decides is
//! [final](Reduction::is_final), it goes up from its node as soon as that has its place. When it comes to the root, what still
//! waits is dropped.
//!
//! # Invariants
//!
//! 1. A node's three things arrive once each. They are taken out together, by the one who brought the last, and are
//!    reduced without a lock.
//! 2. Left outputs are reduced with right ones in order, wherever they come from: the result is that of
//!    [`Join`](crate::Join).
//! 3. A part that is run by a thief is told its place when it begins: the right side of the node that it met its owner at.
//!    A part of which only an inner node is left when its frames return is told by [`Done::deliver`].
//! 4. *Once only.* A final output leaves its node with the node's place: so nothing goes up from there a second time, nor comes
//!    to the root. What arrives at the other side, or has, is dropped. Whether it is final is asked once, without a lock,
//!    of whoever has taken it out for that; if not, it is put back, and who has put it back looks whether all is there now.
//! 5. An early output at the root says nothing about what is under way. That all parts and all that waits have ended, the
//!    engine knows ([`Executor::detached`]).
//! 6. *Bounded stack.* Forks nest no deeper than a join's do, see [`frames`](crate::frames). Outputs rise in a loop; and
//!    nodes that are given up after a panic, of which each has the next one up, are dropped in a loop.

mod any_order;
mod node;
mod row;
mod spawned;

pub(crate) use node::Node;
pub(crate) use row::{PLACES, Row};
pub(crate) use spawned::{Plan, spawn};

use any_order::AnyOrder;
use node::Thing;

use crate::branch::{Branch, Decision, Joint, Parts};
use crate::call::Call;
use crate::frames::Frame;
use crate::in_turn::run_in_turn;
use crate::{Policy, Producer, Reduction};
use furcate_pool::detach::{Detach, Detachable, Fork};
use furcate_pool::{Context, Executor};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// How a branch that is not divided (any more) is run.
pub(crate) trait Leaves: Copy + Send + Sync {
    /// Is the branch to be divided before it begins?
    fn decide<P, L, R>(self, branch: &mut Branch<'_, P, L, R>, threads: usize) -> Decision
    where
        P: Producer,
        L: Policy,
        R: Reduction<P::Item>;

    /// Runs it.
    fn run<'s, S, P, L, R>(self, branch: Branch<'s, P, L, R>, scope: &S) -> Done<'s, R::Output, R>
    where
        S: Detach<'s>,
        P: Producer + 's,
        L: Policy + 's,
        R: Reduction<P::Item, Output: 's> + 's,
        Self: 's;

    /// Called before anything else.
    #[inline]
    fn begin<'s, S, L>(self, policy: &L, call: &'s Call, scope: &S)
    where
        S: Detach<'s>,
        L: Policy,
    {
        let _ = (policy, call, scope);
    }

    /// Called when a task has brought its output to its place, and all that it was the last one for.
    #[inline]
    fn has_delivered<'s, S: Detach<'s>, T, R: Reduction<T>>(self, reduction: &R, scope: &S) {
        let _ = (reduction, scope);
    }

    /// Called when the output of the whole is there, of a computation that [ends early](ends_early): nothing that is under way
    /// is needed.
    #[inline]
    fn has_ended<'s, S: Detach<'s>>(self, scope: &S) {
        let _ = scope;
    }

    /// Runs one that is to be divided, where no more forks may lie on the stack.
    #[cold]
    fn run_too_deep<'s, S, P, L, R>(self, branch: Branch<'s, P, L, R>, scope: &S) -> Done<'s, R::Output, R>
    where
        S: Detach<'s>,
        P: Producer + 's,
        L: Policy + 's,
        R: Reduction<P::Item, Output: 's> + 's,
        Self: 's,
    {
        Done::Here(run_in_turn(branch, |branch| self.decide(branch, scope.num_threads())))
    }
}

/// Does a final output end the computation before all of it is done? So it is with searches, but for those that stop
/// everywhere by themselves, at any hit.
pub(crate) const fn ends_early<T, R: Reduction<T>>() -> bool {
    R::SEARCH && !R::STOPS_ALL
}

/// Runs a whole computation.
pub(crate) fn schedule<P, L, R, E, F>(
    producer: P,
    policy: L,
    reduction: R,
    executor: &E,
    leaves: F,
) -> R::Output
where
    P: Producer,
    L: Policy,
    R: Reduction<P::Item>,
    E: Executor,
    F: Leaves,
{
    let (call, root) = (Call::default(), Root::default());
    let stop = L::STOPS.then(|| policy.clone());
    let output = executor.detached(|scope| start(producer, policy, reduction, (&call, &root), leaves, scope));
    tell_stop(stop.as_ref(), &call);
    output.unwrap_or_else(|| root.into_output())
}

/// Tells the policy if a signal of its own has kept something from being done: the tasks that were cancelled did not ask it.
fn tell_stop<L: Policy>(policy: Option<&L>, call: &Call) {
    if let Some(policy) = policy
        && call.was_stopped()
    {
        let _ = policy.stopped();
    }
}

/// Runs a whole computation, or what of it is not stolen. Returns the output, if that is there; if not, the last one to
/// finish leaves it at the root.
fn start<'s, S, P, L, R, F>(
    producer: P,
    policy: L,
    reduction: R,
    (call, root): (&'s Call, &'s Root<R::Output>),
    leaves: F,
    scope: &S,
) -> Option<R::Output>
where
    S: Detach<'s>,
    P: Producer + 's,
    L: Policy + 's,
    R: Reduction<P::Item, Output: 's> + 's,
    F: Leaves + 's,
{
    if !P::IN_ORDER && ends_early::<P::Item, R>() {
        let reduction = AnyOrder::new(reduction, &root.found);
        start_in_order(producer, policy, reduction, (call, root), leaves, scope)
    } else {
        start_in_order(producer, policy, reduction, (call, root), leaves, scope)
    }
}

/// As [`start`], with a reduction that goes by the order of the items if that means anything.
fn start_in_order<'s, S, P, L, R, F>(
    producer: P,
    policy: L,
    reduction: R,
    (call, root): (&'s Call, &'s Root<R::Output>),
    leaves: F,
    scope: &S,
) -> Option<R::Output>
where
    S: Detach<'s>,
    P: Producer + 's,
    L: Policy + 's,
    R: Reduction<P::Item, Output: 's> + 's,
    F: Leaves + 's,
{
    leaves.begin(&policy, call, scope);
    let end = R::STOPS_ALL.then(|| reduction.clone());
    match run(Branch::root(producer, policy, reduction, call), leaves, scope) {
        Done::Here(output) => Some(output),
        away => {
            let is_whole = away.deliver(Link::Root(root));
            if ends_early::<P::Item, R>() && is_whole {
                leaves.has_ended(scope);
            }
            if let Some(reduction) = end {
                leaves.has_delivered::<_, P::Item, _>(&reduction, scope);
            }
            None
        }
    }
}

/// Where the last output goes.
pub(crate) struct Root<O> {
    output: Mutex<Option<O>>,
    /// See [`AnyOrder`].
    found: AtomicBool,
}

impl<O> Default for Root<O> {
    fn default() -> Self {
        Root { output: Mutex::new(None), found: AtomicBool::new(false) }
    }
}

impl<O> Root<O> {
    /// What has come. Without a panic every part has been run, and every output has found its way.
    fn into_output(self) -> O {
        let output = self.output.into_inner().unwrap_or_else(PoisonError::into_inner);
        output.expect("the last one to finish leaves the output at the root")
    }
}

/// Runs a branch, or what of it is not stolen.
pub(crate) fn run<'s, S, P, L, R, F>(
    branch: Branch<'s, P, L, R>,
    leaves: F,
    scope: &S,
) -> Done<'s, R::Output, R>
where
    S: Detach<'s>,
    P: Producer + 's,
    L: Policy + 's,
    R: Reduction<P::Item, Output: 's> + 's,
    F: Leaves + 's,
{
    branch.call.watch(|| divide_or_run(branch, leaves, scope))
}

fn divide_or_run<'s, S, P, L, R, F>(
    mut branch: Branch<'s, P, L, R>,
    leaves: F,
    scope: &S,
) -> Done<'s, R::Output, R>
where
    S: Detach<'s>,
    P: Producer + 's,
    L: Policy + 's,
    R: Reduction<P::Item, Output: 's> + 's,
    F: Leaves + 's,
{
    loop {
        let (task, fork) = match leaves.decide(&mut branch, scope.num_threads()) {
            Decision::Leaf => return leaves.run(branch, scope),
            Decision::Divide { task, fork } => (task, fork),
        };
        let Some(_frame) = Frame::enter() else {
            return leaves.run_too_deep(branch, scope);
        };
        let (left, right, joint) = match branch.divide(&task) {
            Parts::One(rest) => {
                branch = rest;
                continue;
            }
            Parts::Two(left, right, joint) => (left, right, joint),
        };
        if !fork {
            let left = run(left, leaves, scope);
            return left.join(run(right, leaves, scope), joint);
        }
        let (left, right) = scope.fork(|| run(left, leaves, scope), Part { branch: right, leaves });
        return match right {
            Fork::Back(right) => left.join(run(right.branch, leaves, scope), joint),
            Fork::Taken(node) => {
                left.deliver(Link::Node(Arc::clone(&node), Side::Left));
                Done::Away { node, joint }
            }
        };
    }
}

/// A branch that lies ready for thieves.
pub(crate) struct Part<'s, P, L, R, F> {
    pub(crate) branch: Branch<'s, P, L, R>,
    pub(crate) leaves: F,
}

impl<'s, S, P, L, R, F> Detachable<'s, S> for Part<'s, P, L, R, F>
where
    S: Detach<'s>,
    P: Producer + 's,
    L: Policy + 's,
    R: Reduction<P::Item, Output: 's> + 's,
    F: Leaves + 's,
{
    type Meeting = Node<'s, R::Output, R>;

    fn run(self, scope: &S, node: Arc<Self::Meeting>, context: Context) {
        let call = self.branch.call;
        call.watch(|| {
            let branch = self.branch.migrated(context.migrated());
            let end = R::STOPS_ALL.then(|| branch.reduction.clone());
            let is_whole = run(branch, self.leaves, scope).deliver(Link::Node(node, Side::Right));
            if ends_early::<P::Item, R>() && is_whole {
                self.leaves.has_ended(scope);
            }
            if let Some(reduction) = end {
                self.leaves.has_delivered::<_, P::Item, _>(&reduction, scope);
            }
        });
    }
}

/// What has become of a branch when its frame returns.
pub(crate) enum Done<'s, O, R> {
    /// It is done.
    Here(O),
    /// Its output will be that of a node, which has still to be told its place.
    Away { node: Arc<Node<'s, O, R>>, joint: Joint<'s, R> },
    /// As above, of a row with so many places.
    AwayInRow { row: Arc<Row<'s, O, R>>, places: u8, joint: Joint<'s, R> },
}

impl<'s, O, R> Done<'s, O, R> {
    /// The output of two neighbours.
    pub(crate) fn join<T>(self, right: Self, joint: Joint<'s, R>) -> Self
    where
        R: Reduction<T, Output = O>,
    {
        match (self, right) {
            (Done::Here(left), Done::Here(right)) => Done::Here(joint.reduce(left, right)),
            (left, right) => {
                let node = Arc::<Node<'s, O, R>>::default();
                left.deliver(Link::Node(Arc::clone(&node), Side::Left));
                right.deliver(Link::Node(Arc::clone(&node), Side::Right));
                Done::Away { node, joint }
            }
        }
    }

    /// Sees to it that the output gets to its place. Has one come to the root by that?
    pub(crate) fn deliver<T>(self, to: Link<'s, O, R>) -> bool
    where
        R: Reduction<T, Output = O>,
    {
        match self {
            Done::Here(output) => to.deliver(output),
            Done::Away { node, joint } => Node::place(&node, joint, to),
            Done::AwayInRow { row, places, joint } => match row.place(places, joint, to) {
                Some(full) => {
                    let (output, to) = full.reduce();
                    to.deliver(output)
                }
                None => false,
            },
        }
    }
}

/// Where an output belongs.
pub(crate) enum Link<'s, O, R> {
    Root(&'s Root<O>),
    Node(Arc<Node<'s, O, R>>, Side),
    Row(Arc<Row<'s, O, R>>, u8),
    /// A unit of a [windowed](Reduction::WINDOWED) reduction. Boxed: every item that waits has a link, and few are units.
    Unit(Box<Unit<'s, O, R>>),
}

/// A unit of a windowed reduction.
pub(crate) struct Unit<'s, O, R> {
    pub(crate) reduction: R,
    pub(crate) number: u64,
    /// For the last unit to arrive.
    pub(crate) whole: Arc<Whole<'s, O, R>>,
}

// Each of a million items that wait has a link.
#[cfg(target_pointer_width = "64")]
const _: () = assert!(size_of::<Link<'_, u64, [u64; 4]>>() == 16);

/// The place of the output of a windowed whole. Every unit under way has a reference, and so has the task that begins units.
pub(crate) struct Whole<'s, O, R>(Mutex<Link<'s, O, R>>);

impl<'s, O, R> Whole<'s, O, R> {
    pub(crate) fn new(to: Link<'s, O, R>) -> Self {
        Whole(Mutex::new(to))
    }

    /// Returns the place if this was the last reference to it.
    fn last(self: Arc<Self>) -> Option<Link<'s, O, R>> {
        Arc::into_inner(self).map(|whole| whole.0.into_inner().unwrap_or_else(PoisonError::into_inner))
    }

    /// Gives up the reference of a unit, or of the task that begins units. The last one gets the output, which is that of no items,
    /// and its place.
    pub(crate) fn leave<T>(self: Arc<Self>, reduction: &R) -> Option<(O, Link<'s, O, R>)>
    where
        R: Reduction<T, Output = O>,
    {
        self.last().map(|to| (reduction.finish(reduction.start()), to))
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Side {
    Left,
    Right,
}

impl<'s, O, R> Link<'s, O, R> {
    /// Brings an output to its place, and on from there as far as it gets. Is that the root?
    pub(crate) fn deliver<T>(self, output: O) -> bool
    where
        R: Reduction<T, Output = O>,
    {
        let (mut to, mut output) = (self, output);
        loop {
            let reduced = match to {
                Link::Root(root) => {
                    *lock(&root.output) = Some(output);
                    return true;
                }
                Link::Node(node, side) => node.arrive(match side {
                    Side::Left => Thing::Left(output),
                    Side::Right => Thing::Right(output),
                }),
                Link::Row(row, place) => row.arrive(place.into(), output).map(row::Full::reduce),
                Link::Unit(unit) => {
                    let Unit { reduction, number, whole } = *unit;
                    reduction.arrive(number, output);
                    whole.leave::<T>(&reduction)
                }
            };
            let Some(above) = reduced else { return false };
            (output, to) = above;
        }
    }

    /// Of what is given up: what is above it, if nobody else has that; and so on.
    fn give_up(self) {
        let mut up = Some(self);
        while let Some(link) = up {
            up = match link {
                Link::Root(_) => None,
                Link::Unit(unit) => unit.whole.last(),
                Link::Node(node, _) => Arc::into_inner(node).and_then(|mut node| node.leave()),
                Link::Row(row, _) => Arc::into_inner(row).and_then(|mut row| row.leave()),
            };
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().expect("nothing that can panic is done with this lock")
}

#[cfg(test)]
mod tests;
