//! Rows: nodes for several neighbours instead of two, in one allocation.
//!
//! What is waited for comes in crowds. A node for each two of them, and nodes above those, would be a node each; a row is one
//! for [eight](PLACES), whose outputs it keeps until all have arrived, and so has its own place.
//!
//! # Invariants
//!
//! 1. Each of its places is filled once; and once it is told how many of them there are, and where it belongs. All is taken
//!    out together, by the one who brought the last, and is reduced without a lock, in order.

use super::{Link, lock};
use crate::Reduction;
use crate::branch::Joint;
use std::mem;
use std::sync::{Mutex, PoisonError};

/// How many places a row has: at so many the allocation hardly counts any more, and little is kept waiting for others.
pub(crate) const PLACES: u8 = 8;

/// Up to [`PLACES`] neighbours.
pub(crate) struct Row<'s, O, R>(Mutex<Open<'s, O, R>>);

/// What has arrived.
struct Open<'s, O, R> {
    outputs: [Option<O>; PLACES as usize],
    arrived: u8,
    up: Option<Up<'s, O, R>>,
}

/// Where a row belongs.
struct Up<'s, O, R> {
    /// So many are used.
    places: u8,
    joint: Joint<'s, R>,
    to: Link<'s, O, R>,
}

/// All that a row waits for.
pub(super) struct Full<'s, O, R> {
    outputs: [Option<O>; PLACES as usize],
    up: Up<'s, O, R>,
}

impl<O, R> Default for Row<'_, O, R> {
    fn default() -> Self {
        Row(Mutex::new(Open { outputs: [const { None }; PLACES as usize], arrived: 0, up: None }))
    }
}

impl<O, R> Drop for Row<'_, O, R> {
    /// As of a node.
    fn drop(&mut self) {
        if let Some(up) = self.leave() {
            up.give_up();
        }
    }
}

impl<'s, O, R> Row<'s, O, R> {
    /// Brings the output of one of its places.
    pub(super) fn arrive(&self, place: usize, output: O) -> Option<Full<'s, O, R>> {
        let mut open = lock(&self.0);
        debug_assert!(open.outputs[place].is_none());
        open.outputs[place] = Some(output);
        open.arrived += 1;
        open.take()
    }

    /// Tells it how many places it has, and where it belongs.
    pub(super) fn place(
        &self,
        places: u8,
        joint: Joint<'s, R>,
        to: Link<'s, O, R>,
    ) -> Option<Full<'s, O, R>> {
        let mut open = lock(&self.0);
        open.up = Some(Up { places, joint, to });
        open.take()
    }

    /// Parts with what is above it.
    pub(super) fn leave(&mut self) -> Option<Link<'s, O, R>> {
        // Poisoned or not: a panic of user code is why it is dropped.
        let open = self.0.get_mut().unwrap_or_else(PoisonError::into_inner);
        Some(open.up.take()?.to)
    }
}

impl<'s, O, R> Open<'s, O, R> {
    /// Everything, if that is here.
    fn take(&mut self) -> Option<Full<'s, O, R>> {
        let up = self.up.take_if(|up| up.places == self.arrived)?;
        Some(Full { outputs: mem::replace(&mut self.outputs, [const { None }; PLACES as usize]), up })
    }
}

impl<'s, O, R> Full<'s, O, R> {
    pub(super) fn reduce<T>(self) -> (O, Link<'s, O, R>)
    where
        R: Reduction<T, Output = O>,
    {
        let Up { joint, to, .. } = self.up;
        let outputs = self.outputs.into_iter().flatten();
        let output = outputs.reduce(|left, right| joint.reduce(left, right));
        (output.expect("a row has at least one place"), to)
    }
}

#[cfg(test)]
mod tests;
