//! The join node: two outputs of a fork meet here after a steal.
//!
//! The invariants are listed in the module of the [greedy join](super).

use super::{Link, ends_early, lock};
use crate::Reduction;
use crate::branch::Joint;
use std::sync::{Arc, Mutex, PoisonError};

/// The join node of a fork whose right part was stolen, or that has an inner fork with a stolen part.
pub(crate) struct JoinNode<'s, O, R>(Mutex<NodeArrivals<'s, O, R>>);

/// The things that have arrived at a node.
struct NodeArrivals<'s, O, R> {
    left: Option<O>,
    right: Option<O>,
    up: Option<Up<'s, O, R>>,
    early: Early,
}

/// The reduction of the two outputs, and the link of the result.
type Up<'s, O, R> = (Joint<'s, R>, Link<'s, O, R>);

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
pub(super) enum Thing<'s, O, R> {
    Left(O),
    Right(O),
    Up(Up<'s, O, R>),
}

/// The things that a node has ready to continue with.
enum Ready<'s, O, R> {
    /// All three things.
    All { left: O, right: O, up: Up<'s, O, R> },
    /// The output of the deciding side, which may be final, and the link.
    Decisive(O, Up<'s, O, R>),
}

impl<O, R> Default for JoinNode<'_, O, R> {
    fn default() -> Self {
        JoinNode(Mutex::new(NodeArrivals { left: None, right: None, up: None, early: Early::Unknown }))
    }
}

impl<O, R> Drop for JoinNode<'_, O, R> {
    /// Drops the nodes above to which no other reference exists, in a loop (invariant 6). That matters only for nodes
    /// that are given up.
    fn drop(&mut self) {
        if let Some(up) = self.leave() {
            up.give_up();
        }
    }
}

impl<'s, O, R> JoinNode<'s, O, R> {
    /// Takes the link to the node above.
    pub(super) fn leave(&mut self) -> Option<Link<'s, O, R>> {
        // The lock may be poisoned: nodes are dropped early because user code has panicked.
        let open = self.0.get_mut().unwrap_or_else(PoisonError::into_inner);
        open.up.take().map(|(_, to)| to)
    }

    /// Whether the right side's output is there, and the left one's is not.
    pub(crate) fn right_is_done(&self) -> bool {
        lock(&self.0).right.is_some()
    }

    /// Gives a node its link. Returns whether an output has reached the root by that.
    pub(crate) fn place<T>(this: &Arc<Self>, joint: Joint<'s, R>, to: Link<'s, O, R>) -> bool
    where
        R: Reduction<T, Output = O>,
    {
        match this.arrive(Thing::Up((joint, to))) {
            Some((output, to)) => to.deliver(output),
            None => false,
        }
    }

    /// Brings one of the three things. Returns the output that goes up now, with its link: if the thing was the last
    /// one (invariant 1), or if the output is final (invariant 4).
    pub(super) fn arrive<T>(&self, thing: Thing<'s, O, R>) -> Option<(O, Link<'s, O, R>)>
    where
        R: Reduction<T, Output = O>,
    {
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
                let needless = if R::BACKWARD { open.left.take() } else { open.right.take() };
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

impl<'s, O, R> NodeArrivals<'s, O, R> {
    /// Returns the output of the side that decides.
    fn decisive<T>(&mut self) -> &mut Option<O>
    where
        R: Reduction<T, Output = O>,
    {
        if R::BACKWARD { &mut self.right } else { &mut self.left }
    }

    /// Takes out the things to continue with, if they are complete.
    fn take<T>(&mut self) -> Option<Ready<'s, O, R>>
    where
        R: Reduction<T, Output = O>,
    {
        let up = self.up.take()?;
        match (self.left.take(), self.right.take()) {
            (Some(left), Some(right)) => return Some(Ready::All { left, right, up }),
            (left, right) => (self.left, self.right) = (left, right),
        }
        if ends_early::<T, R>() && self.early == Early::Unknown {
            if let Some(output) = self.decisive().take() {
                return Some(Ready::Decisive(output, up));
            }
        }
        self.up = Some(up);
        None
    }
}
