//! The ring buffer of a deque.

use crate::sync::atomic::{AtomicPtr, Ordering::Relaxed};
use std::ptr;

/// A ring of `2^k` entries; the job of index `i` lies in entry `i mod 2^k`.
pub(super) struct Buffer<T> {
    entries: Box<[AtomicPtr<T>]>,
}

impl<T> Buffer<T> {
    pub(super) fn new(capacity: usize) -> Box<Self> {
        assert!(capacity.is_power_of_two() && capacity < 1 << 30, "a worker has more than 2^29 jobs waiting");
        Box::new(Buffer { entries: (0..capacity).map(|_| AtomicPtr::new(ptr::null_mut())).collect() })
    }

    pub(super) fn capacity(&self) -> usize {
        self.entries.len()
    }

    #[inline(always)]
    fn entry(&self, index: u64) -> &AtomicPtr<T> {
        let mask = self.entries.len() - 1;
        // SAFETY: the length is a power of two, so the masked index is less.
        unsafe { self.entries.get_unchecked(index as usize & mask) }
    }

    /// Reads a job. Relaxed: entries are published by the indices around them, and a value that was read in vain is not
    /// used.
    #[inline(always)]
    pub(super) fn read(&self, index: u64) -> *mut T {
        self.entry(index).load(Relaxed)
    }

    #[inline(always)]
    pub(super) fn write(&self, index: u64, job: *mut T) {
        self.entry(index).store(job, Relaxed);
    }
}
