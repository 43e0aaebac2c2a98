//! Sets of what any worker may take up: tasks that were woken, and [deques](crate::deques) that wait.
//!
//! Every place has a set; what is added goes to the set of a random place (ProWS-R, Section 4: *donation*), so that
//! no set is much longer than another one, whoever wakes. A worker looks at its own place's set first, then, as it looks for
//! forks, at those of the others from a random one on. From its own it takes the oldest entry: so no task waits for ever behind
//! others that are woken again and again; and those that were made, or woken, one after the other lie beside each other in
//! memory. From another one's it takes a random one. All of this is in O(1).
//!
//! A set is a queue under a lock that is held for a few instructions, and never while code of a task runs: any thread may
//! wake, and wakers come in bursts, from one thread.
//!
//! # Invariants
//!
//! 1. A task is in at most one set, once: who put its state to *scheduled* adds it, who takes it out runs it. A deque has at
//!    most one entry: who takes it out adds it again, or forgets it.
//! 2. `len` is the set's length whenever its lock is free. Those who read it without the lock get a hint; for those who go to
//!    sleep it is none: entries are added before the sleepers are looked for, see [`announce`](crate::registry::Registry::announce).

use crate::deques::DequeRef;
use crate::job::JobRef;
use crossbeam_utils::CachePadded;
use std::cell::Cell;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard};

/// What a set has.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Entry {
    /// A task that was woken.
    Task(JobRef),
    /// A deque that waits.
    Deque(DequeRef),
}

/// The sets of a pool.
pub(crate) struct Stealable(Box<[CachePadded<Set>]>);

#[derive(Default)]
struct Set {
    len: AtomicUsize,
    /// Number of entries taken so far; written with the lock held, wraps.
    taken: AtomicUsize,
    entries: Mutex<VecDeque<Entry>>,
}

impl Stealable {
    pub(crate) fn new(places: usize) -> Self {
        Stealable((0..places).map(|_| CachePadded::default()).collect())
    }

    /// Donates a task, or a deque, to a random set.
    pub(crate) fn add(&self, entry: Entry) {
        let set = &self.0[random(self.0.len())];
        let mut entries = set.lock();
        entries.push_back(entry);
        set.len.store(entries.len(), Relaxed);
    }

    /// The oldest entry of a place's set, for who holds the place.
    pub(crate) fn take(&self, place: usize) -> Option<Entry> {
        self.take_one(place, |_| 0)
    }

    /// Number of entries of a place's set: a hint.
    pub(crate) fn len(&self, place: usize) -> usize {
        self.0[place].len.load(Relaxed)
    }

    /// A random entry of another place's set.
    pub(crate) fn steal(&self, place: usize, random: impl FnOnce() -> u64) -> Option<Entry> {
        self.take_one(place, |len| (random() % len as u64) as usize)
    }

    fn take_one(&self, place: usize, choose: impl FnOnce(usize) -> usize) -> Option<Entry> {
        let set = &self.0[place];
        if set.is_empty() {
            return None;
        }
        let mut entries = set.lock();
        if entries.is_empty() {
            return None;
        }
        let index = choose(entries.len());
        set.remove(&mut entries, index)
    }

    /// A task of that scope, or a deque that waits, or has waited, with one; if there is any among the oldest or the newest of a
    /// set: there may be many of others. The oldest come first, lest one waits for all that are woken after it. For who holds
    /// the place: others begin with other sets.
    pub(crate) fn take_of(&self, place: usize, scope: u64) -> Option<Entry> {
        const LOOKS: usize = 32;
        let of_scope = |entry: &Entry| entry.scope() == scope;
        let (before, from) = self.0.split_at(place);
        from.iter().chain(before).find_map(|set| {
            if set.is_empty() {
                return None;
            }
            let mut entries = set.lock();
            let oldest = entries.iter().take(LOOKS).position(of_scope);
            let newest =
                || entries.iter().rev().take(LOOKS).position(of_scope).map(|back| entries.len() - 1 - back);
            let index = oldest.or_else(newest)?;
            set.remove(&mut entries, index)
        })
    }

    /// A task of that scope, or any deque, from any set.
    pub(crate) fn take_of_or_deque(&self, scope: u64) -> Option<Entry> {
        self.0.iter().find_map(|set| {
            if set.is_empty() {
                return None;
            }
            let mut entries = set.lock();
            let wanted = |entry: &Entry| matches!(entry, Entry::Deque(_)) || entry.scope() == scope;
            let index = entries.iter().position(wanted)?;
            set.remove(&mut entries, index)
        })
    }

    /// Puts an entry before all others of a set: of that of `place`, or of a random one.
    pub(crate) fn add_first(&self, entry: Entry, place: Option<usize>) {
        let set = &self.0[place.unwrap_or_else(|| random(self.0.len()))];
        let mut entries = set.lock();
        entries.push_front(entry);
        set.len.store(entries.len(), Relaxed);
    }

    /// Takes the oldest entry of the first set, from that of `place` on, that has one.
    pub(crate) fn take_any(&self, place: usize) -> Option<Entry> {
        let (before, from) = (0..place, place..self.0.len());
        from.chain(before).find_map(|place| self.take(place))
    }

    /// Whether a set has had entries since the last call with the same `seen`, and nobody has taken one of them. `seen` is
    /// empty before the first call.
    pub(crate) fn is_neglected(&self, seen: &mut Vec<Option<usize>>) -> bool {
        seen.resize(self.0.len(), None);
        let mut neglected = false;
        for (set, seen) in self.0.iter().zip(seen) {
            // Relaxed: hints. The caller looks again.
            let now = (!set.is_empty()).then(|| set.taken.load(Relaxed));
            neglected |= now.is_some() && now == *seen;
            *seen = now;
        }
        neglected
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

    fn lock(&self) -> MutexGuard<'_, VecDeque<Entry>> {
        self.entries.lock().expect("nobody panics with this lock")
    }

    fn remove(&self, entries: &mut VecDeque<Entry>, index: usize) -> Option<Entry> {
        // The newest takes the place of one in the middle; the oldest stay where they are.
        let entry = if index == 0 { entries.pop_front() } else { entries.swap_remove_back(index) };
        self.len.store(entries.len(), Relaxed);
        // Relaxed: a hint; only holders of the lock write.
        self.taken.store(self.taken.load(Relaxed).wrapping_add(1), Relaxed);
        entry
    }
}

impl Entry {
    /// The number of the scope that it belongs to; of one that lies in a set.
    fn scope(&self) -> u64 {
        match self {
            // SAFETY: it is in a queue.
            Entry::Task(task) => unsafe { task.scope() },
            // SAFETY: the registry owns the sets, and the deques.
            Entry::Deque(deque) => unsafe { deque.get() }.scope(),
        }
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
