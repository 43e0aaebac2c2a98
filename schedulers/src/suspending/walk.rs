//! The walk: begins the units of a producer in order, each when the reduction has room for it.
//!
//! A reduction that is [windowed](Reduction::WINDOWED) wants the output of every unit by itself, and bounds how many
//! units are begun whose outputs were not taken: back-pressure. One task, the *walk*, cuts unit after unit off the
//! producer:
//!
//! ```text
//!            poll_begin                          run the unit (as any branch: its futures may be suspended)
//!   walk ───────────────► ready: number n ───────────────────────────────► arrive(n, output)
//!    ▲                       │
//!    │ woken                 │ the rest of the walk is published for thieves meanwhile
//!    │                       ▼
//!  suspended ◄── pending: no room
//! ```
//!
//! # Invariants
//!
//! 1. *In order.* Units are numbered as they are begun, from the front. There is one walk, on whichever worker.
//! 2. *Once.* For every number that [`poll_begin`](Reduction::poll_begin) has given, the reduction gets one output,
//!    unless a task panics.
//! 3. *No thread.* If there is no room, the walk is suspended. No unit waits for room once it has begun.
//! 4. *Bounded memory.* An output goes to the reduction and not into a tree. The walk keeps nothing for a unit.
//! 5. *The whole is over* when the walk has ended and every unit that it began has arrived. Only then is its output
//!    (the output of no items) delivered. So until then a stop takes effect.

use super::{WaitingLeaves, tree};
use crate::blocks::Blocks;
use crate::greedy::{self, Link, Unit, Whole};
use crate::tree::branch::{Branch, Decision, Divided, Position};
use crate::tree::call::Call;
use crate::{Divisible, Node, Policy, Producer, Reduction, Workload};
use furcate_pool::Context;
use furcate_pool::detach::{Detach, Detachable, Resume, RightPart, Suspend};
use furcate_pool::trace;
use std::iter::{Repeat, repeat};
use std::marker::PhantomData;
use std::mem;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{self, Poll};

/// The walk, between two units.
pub(super) struct Walk<'s, W: Workload> {
    units: Units<'s, W>,
    /// Policy of every unit.
    policy: W::Policy,
    /// Policy that permits the forks of the walk, with the walk's own permit if it has one.
    forks: W::Policy,
    reduction: W::Reduction,
    call: &'s Call,
    leaves: WaitingLeaves<'s>,
    whole: Arc<Whole<'s, W>>,
}

/// The units that have not begun.
enum Units<'s, W: Workload> {
    /// A producer, to be cut unit by unit.
    Cut(Blocks<W::Producer, Repeat<usize>>),
    /// [Pieces](crate::Facts::pieces), whose sizes the policy has chosen. The first one is the last of the stack.
    Pieces(Vec<Branch<'s, W>>),
}

impl<'s, W: Workload + 's> Walk<'s, W> {
    /// Makes a walk over a branch. The output of the branch goes to `link`.
    pub(super) fn new(branch: Branch<'s, W>, leaves: WaitingLeaves<'s>, link: Link<'s, W>) -> Self {
        let (policy, reduction, call) =
            (branch.policy.clone(), branch.reduction.clone(), branch.position.call);
        let units = if W::Producer::FACTS.pieces {
            Units::Pieces(vec![branch])
        } else {
            Units::Cut(Blocks::new(branch.producer, repeat(1)))
        };
        Walk {
            units,
            forks: policy.clone(),
            policy,
            reduction,
            call,
            leaves: WaitingLeaves { walks: false, ..leaves },
            whole: Arc::new(Whole::new(link)),
        }
    }

    /// Takes the next unit.
    fn next(&mut self, threads: usize) -> Option<Branch<'s, W>> {
        let stack = match &mut self.units {
            Units::Cut(units) => {
                let unit = units.next()?;
                return Some(Branch {
                    producer: unit,
                    policy: self.policy.clone(),
                    reduction: self.reduction.clone(),
                    position: Position::root(self.call),
                });
            }
            Units::Pieces(stack) => stack,
        };
        loop {
            let mut branch = stack.pop()?;
            let decision = if self.leaves.divides { branch.decide(threads) } else { Decision::Leaf };
            let Decision::Divide { node, .. } = decision else { return Some(branch) };
            match branch.divide_in_turn(&node) {
                Divided::One(branch) => stack.push(branch),
                Divided::Two(left, right, _) => stack.extend([right, left]),
            }
        }
    }

    /// Walks on until there is no room, or the rest is stolen, or all units have begun.
    pub(super) fn go_on<S: Detach<'s>>(mut self, scope: &S) {
        let (handle, mut slot) = (scope.handle(), Default::default());
        while !self.is_stopped::<S>(&handle) {
            let begin = PollBegin { reduction: self.reduction.clone(), items: PhantomData };
            let number = match handle.poll_once(&mut slot, begin) {
                Poll::Ready(Some(number)) => number,
                Poll::Ready(None) => return self.end(),
                Poll::Pending => {
                    handle.waits_for_room();
                    return handle.suspend(&mut slot, self);
                }
            };
            match self.begin(number, scope) {
                Some(walk) => self = walk,
                None => return,
            }
        }
        self.end();
    }

    /// Whether no more units are to begin. If so, tells the call that units are left out.
    fn is_stopped<S: Detach<'s>>(&self, handle: &S::Handle) -> bool {
        if W::Policy::STOPS && self.policy.stopped() {
            handle.cancel();
        }
        let is_stopped = self.call.has_failed() || handle.is_cancelled();
        if is_stopped {
            self.call.leave_out();
        }
        is_stopped
    }

    /// Runs the next unit under this number. Returns the rest of the walk; `None` if a thief has it, or no unit was left.
    fn begin<S: Detach<'s>>(mut self, number: u64, scope: &S) -> Option<Self> {
        let (reduction, whole) = (self.reduction.clone(), Arc::clone(&self.whole));
        let to = Link::Unit(Box::new(Unit { reduction, number, call: self.call, whole }));
        let is_stopped = self.is_stopped::<S>(&scope.handle());
        let unit = if is_stopped { None } else { self.next(scope.num_threads()) };
        let Some(unit) = unit else {
            to.deliver(tree::nothing::<W>(&self.reduction));
            self.end();
            return None;
        };
        let (leaves, node) = (self.leaves, Node::new(unit.producer.size()));
        let run = || greedy::run(unit, leaves, scope).deliver(to);
        if !leaves.divides || !self.forks.permit_fork(&node) {
            run();
            return Some(self);
        }
        let (of_unit, of_rest) = mem::replace(&mut self.forks, self.policy.clone()).split(&node);
        self.forks = of_rest;
        let run = || {
            run();
            // The permit, if there is one, is given back when the unit's task is done.
            drop(of_unit);
        };
        match scope.fork(run, self) {
            ((), RightPart::Back(walk)) => {
                drop(trace::right());
                Some(walk)
            }
            ((), RightPart::Taken(_)) => None,
        }
    }

    /// Ends the walk: no further unit begins.
    fn end(self) {
        let Walk { reduction, whole, .. } = self;
        if let Some((output, link)) = whole.leave(&reduction) {
            link.deliver(output);
        }
    }
}

/// The walk was stolen.
impl<'s, S: Detach<'s>, W: Workload + 's> Detachable<'s, S> for Walk<'s, W> {
    type Meeting = ();

    fn run(self, scope: &S, _: Arc<()>, _: Context) {
        let call = self.call;
        call.watch(|| self.go_on(scope));
    }
}

/// There may be room.
impl<'s, S: Detach<'s>, W: Workload + 's> Resume<'s, S, Option<u64>> for Walk<'s, W> {
    fn resume(self, scope: &S, number: Option<u64>, _: Context) {
        let call = self.call;
        call.watch(|| match number {
            None => self.end(),
            Some(number) => {
                if let Some(walk) = self.begin(number, scope) {
                    walk.go_on(scope);
                }
            }
        });
    }

    fn cancelled(self, _: &S) {
        let call = self.call;
        call.leave_out();
        call.watch(|| self.end());
    }
}

/// Waits for room: see [`Reduction::poll_begin`].
struct PollBegin<R, T> {
    reduction: R,
    items: PhantomData<fn(T)>,
}

// The reduction is not pinned.
impl<R, T> Unpin for PollBegin<R, T> {}

impl<T, R: Reduction<T>> Future for PollBegin<R, T> {
    type Output = Option<u64>;

    fn poll(self: Pin<&mut Self>, context: &mut task::Context<'_>) -> Poll<Option<u64>> {
        self.reduction.poll_begin(context)
    }
}
