//! Disjoint sets of numbers: those of one thread, and those that threads share.
//!
//! Sets are trees. A root is less than all other numbers of its tree. If numbers are random, so is the choice of the root, which keeps trees
//! flat.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// Disjoint sets.
#[derive(Clone, Debug)]
pub struct Sets {
    parents: Vec<u32>,
}

impl Sets {
    /// Makes a set of each number below a bound.
    #[must_use]
    pub fn new(count: usize) -> Sets {
        Sets { parents: (0..count as u32).collect() }
    }

    /// Returns the root of a number's set, and halves the path to the root.
    pub fn find(&mut self, mut number: u32) -> u32 {
        loop {
            let parent = self.parents[number as usize];
            let grandparent = self.parents[parent as usize];
            if parent == grandparent {
                return parent;
            }
            self.parents[number as usize] = grandparent;
            number = grandparent;
        }
    }

    /// Unites the sets of two numbers. Returns whether they were different ones.
    pub fn unite(&mut self, a: u32, b: u32) -> bool {
        let (a, b) = (self.find(a), self.find(b));
        self.parents[a.max(b) as usize] = a.min(b);
        a != b
    }
}

/// Disjoint sets that threads share.
#[derive(Debug)]
pub struct SharedSets {
    parents: Vec<AtomicU32>,
}

impl SharedSets {
    /// Makes a set of each number below a bound.
    #[must_use]
    pub fn new(count: usize) -> SharedSets {
        SharedSets { parents: (0..count as u32).map(AtomicU32::new).collect() }
    }

    fn parent(&self, number: u32) -> u32 {
        self.parents[number as usize].load(Relaxed)
    }

    /// Returns the root of a number's set, and halves the path to the root.
    pub fn find(&self, mut number: u32) -> u32 {
        loop {
            let parent = self.parent(number);
            let grandparent = self.parent(parent);
            if parent == grandparent {
                return parent;
            }
            // The number is no root, and never becomes one. Each ancestor will do as its parent, whatever other threads write.
            self.parents[number as usize].store(grandparent, Relaxed);
            number = grandparent;
        }
    }

    /// Unites the sets of two numbers. Returns whether this call has done so: no other call returns true for the same union.
    pub fn unite(&self, a: u32, b: u32) -> bool {
        loop {
            let (a, b) = (self.find(a), self.find(b));
            if a == b {
                return false;
            }
            // This fails if the greater one is no root any more.
            let (root, child) = (a.min(b), a.max(b));
            if self.parents[child as usize].compare_exchange(child, root, Relaxed, Relaxed).is_ok() {
                return true;
            }
        }
    }
}
