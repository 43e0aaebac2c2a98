//! Sets of what any worker may take up: tasks that were woken.
//!
//! Every place has a set; a task that is woken goes to the set of a random place (ProWS-R, Section 4: *donation*), so that
//! no set is much longer than another one, whoever wakes. A worker looks at its own place's set first, then, as it looks for
//! forks, at those of the others from a random one on. From its own it takes the oldest task: so no task waits for ever behind
//! others that are woken again and again; and those that were made, or woken, one after the other lie beside each other in
//! memory. From another one's it takes a random task. All of this is in O(1).
//!
//! A set is a queue under a lock that is held for a few instructions, and never while code of a task runs: any thread may
//! wake, and wakers come in bursts, from one thread.
//!
//! # Invariants
//!
//! 1. A task is in at most one set, once: who put its state to *scheduled* adds it, who takes it out runs it.
//! 2. `len` is the set's length whenever its lock is free. Those who read it without the lock get a hint; for those who go to
//!    sleep it is none: tasks are added before the sleepers are looked for, see [`announce`](crate::registry::Registry::announce).

use crate::job::JobRef;
use crossbeam_utils::CachePadded;
use std::cell::Cell;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard};

/// The sets of a pool.
pub(crate) struct Stealable(Box<[CachePadded<Set>]>);

#[derive(Default)]
struct Set {
    len: AtomicUsize,
    tasks: Mutex<VecDeque<JobRef>>,
}

impl Stealable {
    pub(crate) fn new(places: usize) -> Self {
        Stealable((0..places).map(|_| CachePadded::default()).collect())
    }

    /// Donates a task to a random set.
    pub(crate) fn add(&self, task: JobRef) {
        let set = &self.0[random(self.0.len())];
        let mut tasks = set.lock();
        tasks.push_back(task);
        set.len.store(tasks.len(), Relaxed);
    }

    /// The oldest task of a place's set, for who holds the place.
    pub(crate) fn take(&self, place: usize) -> Option<JobRef> {
        self.take_one(place, |_| 0)
    }

    /// A random task of another place's set.
    pub(crate) fn steal(&self, place: usize, random: impl FnOnce() -> u64) -> Option<JobRef> {
        self.take_one(place, |len| (random() % len as u64) as usize)
    }

    fn take_one(&self, place: usize, choose: impl FnOnce(usize) -> usize) -> Option<JobRef> {
        let set = &self.0[place];
        if set.is_empty() {
            return None;
        }
        let mut tasks = set.lock();
        if tasks.is_empty() {
            return None;
        }
        let index = choose(tasks.len());
        set.remove(&mut tasks, index)
    }

    /// A task of that scope, if there is one among the newest of a set: there may be many of others.
    pub(crate) fn take_of(&self, scope: u64) -> Option<JobRef> {
        const LOOKS: usize = 64;
        self.0.iter().find_map(|set| {
            if set.is_empty() {
                return None;
            }
            let mut tasks = set.lock();
            // SAFETY: it is in a queue.
            let is_of_scope = |task: &&JobRef| unsafe { task.scope() } == scope;
            let back = tasks.iter().rev().take(LOOKS).position(|task| is_of_scope(&task))?;
            let index = tasks.len() - 1 - back;
            set.remove(&mut tasks, index)
        })
    }

    /// Callers that must not miss any have passed a fence.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.iter().all(|set| set.is_empty())
    }
}

impl Set {
    /// Relaxed: invariant 2.
    fn is_empty(&self) -> bool {
        self.len.load(Relaxed) == 0
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<JobRef>> {
        self.tasks.lock().expect("nobody panics with this lock")
    }

    fn remove(&self, tasks: &mut VecDeque<JobRef>, index: usize) -> Option<JobRef> {
        // The newest takes the place of one in the middle; the oldest stay where they are.
        let task = if index == 0 { tasks.pop_front() } else { tasks.swap_remove_back(index) };
        self.len.store(tasks.len(), Relaxed);
        task
    }
}

/// A number below `end`, which is not 0: from this thread's own sequence (xorshift, Marsaglia 2003).
fn random(end: usize) -> usize {
    thread_local! {
        static STATE: Cell<u64> = const { Cell::new(0) };
    }
    STATE.with(|state| {
        let mut x = state.get();
        if x == 0 {
            // Each thread begins at another place: else those that wake one task each would all choose the same set.
            static THREADS: AtomicU64 = AtomicU64::new(1);
            x = THREADS.fetch_add(1, Relaxed).wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
        }
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        state.set(x);
        (x >> 32) as usize % end
    })
}

#[cfg(test)]
mod tests;
