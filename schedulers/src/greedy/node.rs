//! Where two outputs meet: the node of a fork whose sides were parted.
//!
//! The invariants are those of the [greedy join](super).

use super::{Link, ends_early, lock};
use crate::Reduction;
use crate::branch::Joint;
use std::sync::{Arc, Mutex, PoisonError};

/// A fork whose right part was stolen, or of which an inner one was.
pub(crate) struct Node<'s, O, R>(Mutex<Open<'s, O, R>>);

/// What has arrived at a node.
struct Open<'s, O, R> {
    left: Option<O>,
    right: Option<O>,
    up: Option<Up<'s, O, R>>,
    early: Early,
}

/// What makes one output of two, and where it belongs.
type Up<'s, O, R> = (Joint<'s, R>, Link<'s, O, R>);

/// Has a node given an output away before all was there (invariant 4)?
#[derive(Clone, Copy, PartialEq, Eq)]
enum Early {
    /// Nobody has asked yet whether there is a final one.
    Unknown,
    /// There is none.
    No,
    Yes,
}

/// What arrives at a node.
pub(super) enum Thing<'s, O, R> {
    Left(O),
    Right(O),
    Up(Up<'s, O, R>),
}

/// What a node has to go on with.
enum Ready<'s, O, R> {
    /// All that it waits for.
    All { left: O, right: O, up: Up<'s, O, R> },
    /// An output that may be final, and its place.
    Decisive(O, Up<'s, O, R>),
}

impl<O, R> Default for Node<'_, O, R> {
    fn default() -> Self {
        Node(Mutex::new(Open { left: None, right: None, up: None, early: Early::Unknown }))
    }
}

impl<O, R> Drop for Node<'_, O, R> {
    /// Of a node that is given up: those above it that nobody else has go, too (invariant 6).
    fn drop(&mut self) {
        if let Some(up) = self.leave() {
            up.give_up();
        }
    }
}

impl<'s, O, R> Node<'s, O, R> {
    /// Parts with what is above it.
    pub(super) fn leave(&mut self) -> Option<Link<'s, O, R>> {
        // Poisoned or not: a panic of user code is why it is dropped.
        let open = self.0.get_mut().unwrap_or_else(PoisonError::into_inner);
        open.up.take().map(|(_, to)| to)
    }

    /// Tells a node its place. Has an output come to the root by that?
    pub(crate) fn place<T>(this: &Arc<Self>, joint: Joint<'s, R>, to: Link<'s, O, R>) -> bool
    where
        R: Reduction<T, Output = O>,
    {
        match this.arrive(Thing::Up((joint, to))) {
            Some((output, to)) => to.deliver(output),
            None => false,
        }
    }

    /// Brings one of the three; returns what goes up, and where that belongs: if it was the last one (invariant 1), or there
    /// is no need to wait for that (invariant 4).
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

impl<'s, O, R> Open<'s, O, R> {
    /// The side that decides.
    fn decisive<T>(&mut self) -> &mut Option<O>
    where
        R: Reduction<T, Output = O>,
    {
        if R::BACKWARD { &mut self.right } else { &mut self.left }
    }

    /// What there is to go on with, if anything.
    fn take<T>(&mut self) -> Option<Ready<'s, O, R>>
    where
        R: Reduction<T, Output = O>,
    {
        let up = self.up.take()?;
        match (self.left.take(), self.right.take()) {
            (Some(left), Some(right)) => return Some(Ready::All { left, right, up }),
            (left, right) => (self.left, self.right) = (left, right),
        }
        if ends_early::<T, R>()
            && self.early == Early::Unknown
            && let Some(output) = self.decisive().take()
        {
            return Some(Ready::Decisive(output, up));
        }
        self.up = Some(up);
        None
    }
}
