//! Wide nodes: join nodes for several neighbors instead of two, in one allocation.
//!
//! Pending items come in large numbers. A tree of two-sided nodes would need one node per item. A wide node has
//! [sixteen](WIDTH) places. It keeps their outputs until all have arrived, together with the wide node's own link.
//!
//! # Invariants
//!
//! 1. Each of a wide node's places is filled once. The number of places and the wide node's link arrive once, together. The last
//!    arrival takes everything out, and the outputs are reduced without a lock, in order.

use super::{Link, lock};
use crate::Workload;
use crate::tree::branch::Joint;
use furcate_pool::sync::machine::Mutex;
use std::mem;
use std::sync::PoisonError;

/// Number of places of a wide node. With so many the cost of the allocation is small, and few outputs are kept waiting for
/// others.
pub(crate) const WIDTH: u8 = 16;

/// A join node for up to [`WIDTH`] neighbors.
pub(crate) struct WideNode<'s, W: Workload>(Mutex<WideArrivals<'s, W>>);

/// The things that have arrived.
struct WideArrivals<'s, W: Workload> {
    /// Empty until the first one arrives: where a million items wait, no node has memory for its outputs.
    outputs: Vec<Option<W::Output>>,
    arrived: u8,
    up: Option<Up<'s, W>>,
}

/// The position of a wide node's output in the tree.
struct Up<'s, W: Workload> {
    /// Number of places in use.
    places: u8,
    joint: Joint<'s, W>,
    to: Link<'s, W>,
}

/// Everything that a wide node has waited for.
pub(super) struct Full<'s, W: Workload> {
    outputs: Vec<Option<W::Output>>,
    up: Up<'s, W>,
}

impl<W: Workload> Default for WideNode<'_, W> {
    fn default() -> Self {
        WideNode(Mutex::new(WideArrivals { outputs: Vec::new(), arrived: 0, up: None }))
    }
}

impl<W: Workload> Drop for WideNode<'_, W> {
    /// Drops the nodes above in a loop, as a [`JoinNode`](super::JoinNode) does.
    fn drop(&mut self) {
        if let Some(up) = self.leave() {
            up.give_up();
        }
    }
}

impl<'s, W: Workload> WideNode<'s, W> {
    /// Brings the output of one place. Returns the full wide node if this was the last thing.
    pub(super) fn arrive(&self, place: usize, output: W::Output) -> Option<Full<'s, W>> {
        let mut open = lock(&self.0);
        if open.outputs.is_empty() {
            open.outputs.resize_with(WIDTH.into(), || None);
        }
        debug_assert!(open.outputs[place].is_none());
        open.outputs[place] = Some(output);
        open.arrived += 1;
        open.take()
    }

    /// Sets the number of places, and the wide node's link. Returns the full wide node if this was the last thing.
    pub(super) fn place(&self, places: u8, joint: Joint<'s, W>, to: Link<'s, W>) -> Option<Full<'s, W>> {
        let mut open = lock(&self.0);
        open.up = Some(Up { places, joint, to });
        open.take()
    }

    /// Takes the link to the node above.
    pub(super) fn leave(&mut self) -> Option<Link<'s, W>> {
        // The lock may be poisoned: wide nodes are dropped early because user code has panicked.
        let open = self.0.get_mut().unwrap_or_else(PoisonError::into_inner);
        Some(open.up.take()?.to)
    }
}

impl<'s, W: Workload> WideArrivals<'s, W> {
    /// Takes everything out, if it is complete.
    fn take(&mut self) -> Option<Full<'s, W>> {
        let up = self.up.take_if(|up| up.places == self.arrived)?;
        Some(Full { outputs: mem::take(&mut self.outputs), up })
    }
}

impl<'s, W: Workload> Full<'s, W> {
    pub(super) fn reduce(self) -> (W::Output, Link<'s, W>) {
        let Up { joint, to, .. } = self.up;
        let outputs = self.outputs.into_iter().flatten();
        let output = outputs.reduce(|left, right| joint.reduce(left, right));
        (output.expect("a wide has at least one place"), to)
    }
}

#[cfg(test)]
mod tests;
