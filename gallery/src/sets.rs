//! Disjoint sets of numbers (union-find), for one thread and for many.
//!
//! Each set is a tree. Its root is the least number of the set. If numbers are in random order, roots are random, which keeps trees flat.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// Disjoint sets for one thread.
#[derive(Clone, Debug)]
pub struct Sets {
    parents: Vec<u32>,
}

impl Sets {
    /// Makes a set of its own for each number below `count`.
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

    /// Unites the sets of two numbers. Returns whether the sets were different.
    pub fn unite(&mut self, pair: [u32; 2]) -> bool {
        let (a, b) = (self.find(pair[0]), self.find(pair[1]));
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
    /// Makes a set of its own for each number below `count`.
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
            // The number is not a root, and never becomes one. Any ancestor is right as its parent, so a store by another thread may be
            // overwritten.
            self.parents[number as usize].store(grandparent, Relaxed);
            number = grandparent;
        }
    }

    /// Unites the sets of two numbers. Returns whether this call united them. Of several threads that try, only one gets `true`.
    pub fn unite(&self, pair: [u32; 2]) -> bool {
        loop {
            let (a, b) = (self.find(pair[0]), self.find(pair[1]));
            if a == b {
                return false;
            }
            // The exchange fails if another thread has made the greater root a child. A root only ever gets a smaller parent, so there are no cycles.
            let (root, child) = (a.min(b), a.max(b));
            if self.parents[child as usize].compare_exchange(child, root, Relaxed, Relaxed).is_ok() {
                return true;
            }
        }
    }
}
