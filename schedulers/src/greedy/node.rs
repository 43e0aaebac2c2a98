//! The join node: two outputs of a fork meet here after a steal.
//!
//! The invariants are listed in the module of the [greedy join](super).

use super::{Link, ends_early, lock};
use crate::tree::branch::Joint;
use crate::{Reduction, Workload};
use furcate_pool::sync::machine::Mutex;
use std::sync::{Arc, PoisonError};

/// The join node of a fork whose right part was stolen, or that has an inner fork with a stolen part.
pub(crate) struct JoinNode<'s, W: Workload>(Mutex<NodeArrivals<'s, W>>);

/// The things that have arrived at a node.
struct NodeArrivals<'s, W: Workload> {
    left: Option<W::Output>,
    right: Option<W::Output>,
    up: Option<Up<'s, W>>,
    early: Early,
}

/// The reduction of the two outputs, and the link of the result.
type Up<'s, W> = (Joint<'s, W>, Link<'s, W>);

/// Whether a node has sent up an output before all three things had arrived (invariant 4).
#[derive(Clone, Copy, PartialEq, Eq)]
enum Early {
    /// No worker has asked yet whether an output is final.
    Unknown,
    /// No output of this node is final.
    No,
    Yes,
}

/// A thing that arrives at a node.
pub(super) enum Thing<'s, W: Workload> {
    Left(W::Output),
    Right(W::Output),
    Up(Up<'s, W>),
}

/// The things that a node has ready to continue with.
enum Ready<'s, W: Workload> {
    /// All three things.
    All { left: W::Output, right: W::Output, up: Up<'s, W> },
    /// The output of the deciding side, which may be final, and the link.
    Decisive(W::Output, Up<'s, W>),
}

impl<W: Workload> Default for JoinNode<'_, W> {
    fn default() -> Self {
        JoinNode(Mutex::new(NodeArrivals { left: None, right: None, up: None, early: Early::Unknown }))
    }
}

impl<W: Workload> Drop for JoinNode<'_, W> {
    /// Drops the nodes above to which no other reference exists, in a loop (invariant 6). That matters only for nodes
    /// that are given up.
    fn drop(&mut self) {
        if let Some(up) = self.leave() {
            up.give_up();
        }
    }
}

impl<'s, W: Workload> JoinNode<'s, W> {
    /// Takes the link to the node above.
    pub(super) fn leave(&mut self) -> Option<Link<'s, W>> {
        // The lock may be poisoned: nodes are dropped early because user code has panicked.
        let open = self.0.get_mut().unwrap_or_else(PoisonError::into_inner);
        open.up.take().map(|(_, to)| to)
    }

    /// Whether the right side's output is there, and the left one's is not.
    pub(crate) fn right_is_done(&self) -> bool {
        lock(&self.0).right.is_some()
    }

    /// Gives a node its link. Returns whether an output has reached the root by that.
    pub(crate) fn place(this: &Arc<Self>, joint: Joint<'s, W>, to: Link<'s, W>) -> bool {
        match this.arrive(Thing::Up((joint, to))) {
            Some((output, to)) => to.deliver(output),
            None => false,
        }
    }

    /// Brings one of the three things. Returns the output that goes up now, with its link: if the thing was the last
    /// one (invariant 1), or if the output is final (invariant 4).
    pub(super) fn arrive(&self, thing: Thing<'s, W>) -> Option<(W::Output, Link<'s, W>)> {
        let mut open = lock(&self.0);
        if open.early == Early::Yes {
            drop(open);
            drop(thing);
            return None;
        }
        match thing {
            Thing::Left(output) => open.left = Some(output),
            Thing::Right(output) => open.right = Some(output),
            Thing::Up(up) => open.up = Some(up),
        }
        let mut ready = open.take()?;
        drop(open);
        loop {
            let (output, up) = match ready {
                Ready::All { left, right, up: (joint, to) } => return Some((joint.reduce(left, right), to)),
                Ready::Decisive(output, up) => (output, up),
            };
            let is_final = up.0.is_final(&output);
            let mut open = lock(&self.0);
            if is_final {
                open.early = Early::Yes;
                let needless = if W::Reduction::ENDS.backward { open.left.take() } else { open.right.take() };
                drop(open);
                drop(needless);
                return Some((output, up.1));
            }
            open.early = Early::No;
            *open.decisive() = Some(output);
            open.up = Some(up);
            ready = open.take()?;
        }
    }
}

impl<'s, W: Workload> NodeArrivals<'s, W> {
    /// Returns the output of the side that decides.
    fn decisive(&mut self) -> &mut Option<W::Output> {
        if W::Reduction::ENDS.backward { &mut self.right } else { &mut self.left }
    }

    /// Takes out the things to continue with, if they are complete.
    fn take(&mut self) -> Option<Ready<'s, W>> {
        let up = self.up.take()?;
        match (self.left.take(), self.right.take()) {
            (Some(left), Some(right)) => return Some(Ready::All { left, right, up }),
            (left, right) => (self.left, self.right) = (left, right),
        }
        if ends_early::<W>() && self.early == Early::Unknown {
            if let Some(output) = self.decisive().take() {
                return Some(Ready::Decisive(output, up));
            }
        }
        self.up = Some(up);
        None
    }
}
