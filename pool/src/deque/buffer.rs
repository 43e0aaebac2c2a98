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

    /// Returns where the entries lie.
    pub(super) fn ring(&self) -> Ring<T> {
        Ring { entries: self.entries.as_ptr(), mask: self.entries.len() - 1 }
    }

    /// Reads a job. Relaxed: entries are published by the indices around them, and a value that was read in vain is not
    /// used.
    #[inline(always)]
    pub(super) fn read(&self, index: u64) -> *mut T {
        let mask = self.entries.len() - 1;
        self.entries[index as usize & mask].load(Relaxed)
    }
}

/// Where a buffer's entries lie. A copy next to the owner's other fields saves it a load of the buffer at every push.
#[derive(Debug)]
pub(super) struct Ring<T> {
    entries: *const AtomicPtr<T>,
    /// Number of entries, a power of two, less one.
    mask: usize,
}

impl<T> Ring<T> {
    /// Writes a job.
    ///
    /// # Safety
    ///
    /// The buffer lives.
    #[inline(always)]
    pub(super) unsafe fn write(&self, index: u64, job: *mut T) {
        // SAFETY: the masked index is less than the number of entries.
        unsafe { &*self.entries.add(index as usize & self.mask) }.store(job, Relaxed);
    }
}
