//! States that differ, and that are counted.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// A fold that keeps every item: it is not commutative, and all accumulators differ.
pub(crate) fn push<T>(mut list: Vec<T>, item: T) -> Vec<T> {
    list.push(item);
    list
}

/// Counts the calls of a function.
#[derive(Debug, Default)]
pub(crate) struct Calls(pub(crate) AtomicUsize);

impl Calls {
    pub(crate) fn counted<T>(&self, value: T) -> T {
        self.0.fetch_add(1, Relaxed);
        value
    }

    /// Returns the number of calls since the last `take`.
    pub(crate) fn take(&self) -> usize {
        self.0.swap(0, Relaxed)
    }
}

/// A state that counts its clones.
#[derive(Debug)]
pub(crate) struct Cloned<'a> {
    pub(crate) clones: &'a Calls,
    pub(crate) items: Vec<usize>,
}

impl Clone for Cloned<'_> {
    fn clone(&self) -> Self {
        self.clones.counted(Cloned { clones: self.clones, items: self.items.clone() })
    }
}

/// Returns the position of every item in its task.
pub(crate) fn position<T>(state: &mut usize, _item: T) -> usize {
    *state += 1;
    *state - 1
}
