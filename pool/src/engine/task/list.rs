//! The list of a scope's suspended tasks, which are cancelled together.
//!
//! # Invariants
//!
//! 1. A task is in its scope's list from its first suspension until its future is dropped, or until it is taken out to
//!    be cancelled. Its links are read and written under its shard's lock only. Its owner knows the shard.
//! 2. A task in the list is there: it is taken out, under the lock, before it is released. A thread that takes it out
//!    to cancel it has retained it under the lock.
//! 3. Once the scope is cancelled, no task is added to the list: the flag is set before the first shard is locked to be
//!    emptied, and read under the shard's lock.

use super::erased::Core;
use crate::engine::worker::Worker;
use crate::sync::machine::atomic::{AtomicBool, Ordering::Relaxed};
use crate::sync::machine::{Mutex, MutexGuard, OnceLock};
use crossbeam_utils::CachePadded;
use std::ptr::{self, NonNull};

/// A scope's list of tasks. It has one shard until two workers meet there, and more shards afterwards.
#[derive(Debug, Default)]
pub(crate) struct Tasks {
    first: Shard,
    /// The other shards, made when a worker finds another one at the first shard.
    others: OnceLock<Box<[CachePadded<Shard>]>>,
    cancelled: AtomicBool,
}

type Shard = Mutex<First>;

/// The first task of a shard's list; null if there is none.
#[derive(Debug)]
struct First(*const Core);

impl Default for First {
    fn default() -> Self {
        First(ptr::null())
    }
}

// SAFETY: tasks may be found, retained and cancelled by any thread.
unsafe impl Send for First {}

/// A task's neighbors in the list.
#[derive(Debug)]
pub(super) struct Links {
    previous: *const Core,
    next: *const Core,
}

impl Default for Links {
    fn default() -> Self {
        Links { previous: ptr::null(), next: ptr::null() }
    }
}

/// Number of a task's shard: 0 for the first, from 1 on for the others.
pub(super) type ShardNumber = u8;

/// Shard number of a task that is in no list.
pub(super) const NOWHERE: ShardNumber = ShardNumber::MAX >> 2;

/// More shards than threads that suspend at the same time.
const SHARDS: usize = 16;

impl Tasks {
    fn others(&self) -> &[CachePadded<Shard>] {
        self.others.get_or_init(|| (0..SHARDS).map(|_| CachePadded::default()).collect())
    }

    fn shard(&self, shard: ShardNumber) -> &Shard {
        match shard.checked_sub(1) {
            None => &self.first,
            Some(other) => &self.others()[usize::from(other)],
        }
    }

    /// Locks a shard for one more task.
    fn lock_one(&self) -> (ShardNumber, MutexGuard<'_, First>) {
        if self.others.get().is_none() {
            if let Ok(first) = self.first.try_lock() {
                return (0, first);
            }
        }
        let worker = Worker::with_current(|worker| worker.map_or(0, Worker::number));
        let shard = 1 + (worker % SHARDS) as ShardNumber;
        (shard, lock(self.shard(shard)))
    }

    /// Whether the tasks have been cancelled.
    pub(crate) fn are_cancelled(&self) -> bool {
        // Relaxed: a hint, unless something else orders it: the lock (invariant 3), or a wake of the caller by the
        // thread that has set the flag.
        self.cancelled.load(Relaxed)
    }

    /// Adds a task to the list. Returns false if the list is cancelled.
    ///
    /// # Safety
    ///
    /// The task is the caller's, is in no list, and will be taken out.
    pub(super) unsafe fn insert(&self, task: NonNull<Core>) -> bool {
        let (shard, mut first) = self.lock_one();
        if self.are_cancelled() {
            return false;
        }
        // SAFETY: the lock guards the links of all tasks of the shard (invariant 1), which are there (invariant 2).
        unsafe {
            task.as_ref().set_shard(shard);
            *task.as_ref().links.get() = Links { previous: ptr::null(), next: first.0 };
            if let Some(next) = first.0.as_ref() {
                (*next.links.get()).previous = task.as_ptr();
            }
        }
        first.0 = task.as_ptr();
        true
    }

    /// Takes a task out, if it is in the list.
    ///
    /// # Safety
    ///
    /// The task is the caller's.
    pub(super) unsafe fn remove(&self, task: NonNull<Core>) {
        // SAFETY: the caller's.
        let shard = unsafe { task.as_ref().shard() };
        if shard == NOWHERE {
            return;
        }
        let mut first = lock(self.shard(shard));
        // SAFETY: under the lock.
        unsafe { first.unlink(task) };
    }

    /// Cancels all tasks, also future ones: from now on none is polled. Returns `false` if they have been cancelled
    /// before. Otherwise the caller must [sweep](Self::sweep) them.
    #[must_use]
    pub(crate) fn mark_cancelled(&self) -> bool {
        // Relaxed: see `are_cancelled`.
        !self.cancelled.swap(true, Relaxed)
    }

    /// Drops the suspended tasks, after they have been cancelled. Tasks in queues are dropped by the workers that take
    /// them out.
    ///
    /// # Safety
    ///
    /// The scope is there, and not complete until this returns.
    pub(crate) unsafe fn sweep(&self) {
        const BATCH: usize = 64;
        let mut batch = [NonNull::<Core>::dangling(); BATCH];
        // All shards, also those that have not been made yet (invariant 3).
        for shard in 0..=SHARDS as ShardNumber {
            let shard = self.shard(shard);
            loop {
                let mut found = 0;
                {
                    let mut first = lock(shard);
                    while found < BATCH {
                        let Some(task) = NonNull::new(first.0.cast_mut()) else { break };
                        // SAFETY: under the lock, while the task is there (invariant 2).
                        unsafe {
                            task.as_ref().state.retain();
                            first.unlink(task);
                        }
                        batch[found] = task;
                        found += 1;
                    }
                }
                if found == 0 {
                    break;
                }
                for &task in &batch[..found] {
                    // SAFETY: retained.
                    unsafe {
                        Core::cancel(task);
                        Core::release(task);
                    }
                }
            }
        }
    }
}

impl First {
    /// # Safety
    ///
    /// The lock is held. The task is in this shard's list, or was.
    unsafe fn unlink(&mut self, task: NonNull<Core>) {
        // SAFETY: the caller's; neighbors are there (invariant 2).
        unsafe {
            let links = task.as_ref().links.get();
            let Links { previous, next } = *links;
            match previous.as_ref() {
                Some(previous) => (*previous.links.get()).next = next,
                None if ptr::eq(self.0, task.as_ptr()) => self.0 = next,
                // The task has left the list.
                None => return,
            }
            if let Some(next) = next.as_ref() {
                (*next.links.get()).previous = previous;
            }
            *links = Links::default();
        }
    }
}

fn lock(shard: &Shard) -> MutexGuard<'_, First> {
    shard.lock().expect("nobody panics with this lock")
}
