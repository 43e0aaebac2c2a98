//! A queue that any thread pushes to and takes from: crossbeam's, whose uses a simulated machine sees.

use crate::world::{Access, access};
use crossbeam_deque::Steal;
use crossbeam_utils::CachePadded;
use std::fmt;

/// As [`crossbeam_deque::Injector`]: a push is one access of the machine, of the end for pushes, and a steal one of the other end.
#[derive(Default)]
pub struct Injector<T> {
    queue: crossbeam_deque::Injector<T>,
    ends: [CachePadded<u8>; 2],
}

impl<T> Injector<T> {
    /// As crossbeam's method.
    #[must_use]
    pub fn new() -> Self {
        Injector { queue: crossbeam_deque::Injector::new(), ends: Default::default() }
    }

    /// As crossbeam's method.
    #[track_caller]
    pub fn push(&self, value: T) {
        access(&self.ends[0], Access::Swap);
        self.queue.push(value);
    }

    /// As crossbeam's method.
    #[track_caller]
    pub fn steal(&self) -> Steal<T> {
        if self.is_empty() {
            return Steal::Empty;
        }
        access(&self.ends[1], Access::Swap);
        self.queue.steal()
    }

    /// As crossbeam's method.
    #[must_use]
    #[track_caller]
    pub fn len(&self) -> usize {
        access(&self.ends[0], Access::Load);
        access(&self.ends[1], Access::Load);
        self.queue.len()
    }

    /// As crossbeam's method.
    #[must_use]
    #[track_caller]
    pub fn is_empty(&self) -> bool {
        access(&self.ends[0], Access::Load);
        access(&self.ends[1], Access::Load);
        self.queue.is_empty()
    }
}

impl<T> fmt::Debug for Injector<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Injector").finish_non_exhaustive()
    }
}
