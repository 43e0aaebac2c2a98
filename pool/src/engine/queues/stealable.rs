//! The stealable sets: woken tasks and waiting [deques](crate::engine::queues::deques), which any worker may take.
//!
//! Every slot has a set. A new entry goes to the set of a random slot (ProWS-R, Section 3.1.4, Algorithms 3 and 4;
//! Cilk-L's paper, Section 4.2, calls this *donation*). So no set is much longer than another one, whichever thread
//! wakes. A worker looks at the set of its own slot first. When it searches the other slots for forks, beginning with a random one, it looks at their sets as
//! well. From its own set it takes the oldest entry. So no task waits for ever behind others that are woken again and
//! again. Also, tasks that were made or woken one after the other lie beside each other in memory. From another set it
//! takes a random entry. All of these operations are O(1).
//!
//! If the pool is built for [fair queueing](crate::Fairness::FairQueueing), all slots share one set, in which the calls
//! [take turns](flows).
//!
//! A set is a queue under a lock. The lock is held for a few instructions, and never while code of a task runs: any
//! thread may wake, and one thread may wake many tasks in a burst.
//!
//! # Invariants
//!
//! 1. A task is in at most one set, once. The thread that sets its state to *scheduled* adds it, or the worker that has taken it from
//!    a deque of spawned jobs and does not run it; the worker that takes it out runs it. A deque has at most one entry. The worker that takes the entry out either adds it again or drops
//!    it.
//! 2. `len` is the set's length whenever its lock is free. A read of `len` without the lock is a hint. For a worker
//!    that goes to sleep it is reliable: entries are added before sleeping workers are looked for, see
//!    [`notify`](crate::engine::registry::Registry::notify).

mod flows;

use crate::engine::job::JobRef;
use crate::engine::queues::deques::DequeRef;
use crate::engine::queues::random::Random;
use crate::sync::machine::atomic::{AtomicUsize, Ordering::Relaxed};
use crate::sync::machine::{Mutex, MutexGuard, machine_static};
use crossbeam_utils::CachePadded;
use flows::Flows;
use std::collections::VecDeque;
use std::time::Duration;

/// An entry of a set.
pub(crate) enum Entry<W> {
    /// A task: woken, or just spawned.
    Task(JobRef<W>),
    /// A suspended, resumable or muggable deque.
    Deque(DequeRef<W>),
}

impl<W> Clone for Entry<W> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<W> Copy for Entry<W> {}

/// The sets of a pool: one for each slot, or one with a queue for each call.
pub(crate) struct Stealable<W>(Box<[CachePadded<Set<W>>]>);

struct Set<W> {
    len: AtomicUsize,
    /// Number of entries that were taken in turn. Written with the lock held; wraps. An entry that a scope takes out of
    /// the middle does not count, because it does not serve the others.
    served: AtomicUsize,
    queue: Mutex<EntryQueue<W>>,
}

/// The entries of a set, in the order in which they are taken.
enum EntryQueue<W> {
    /// The oldest entry first.
    Fifo(VecDeque<Entry<W>>),
    /// One queue for each call; the calls take turns.
    Fair(Flows<W>),
}

impl<W> EntryQueue<W> {
    fn len(&self) -> usize {
        match self {
            EntryQueue::Fifo(entries) => entries.len(),
            EntryQueue::Fair(flows) => flows.len(),
        }
    }

    fn push_back(&mut self, entry: Entry<W>) {
        match self {
            EntryQueue::Fifo(entries) => entries.push_back(entry),
            EntryQueue::Fair(flows) => flows.push_back(entry),
        }
    }

    /// Inserts an entry after the first `oldest` entries; in fair queueing, after the first ones of its call.
    fn push_behind(&mut self, oldest: usize, entry: Entry<W>) {
        match self {
            EntryQueue::Fifo(entries) => insert(entries, oldest, entry),
            EntryQueue::Fair(flows) => flows.push_behind(oldest, entry),
        }
    }
}

fn insert<W>(entries: &mut VecDeque<Entry<W>>, oldest: usize, entry: Entry<W>) {
    entries.insert(oldest.min(entries.len()), entry);
}

/// Takes an entry out. Also returns whether it was the oldest one. If an entry is removed from the middle, the newest
/// entry moves there, and the oldest ones stay.
fn remove<W>(entries: &mut VecDeque<Entry<W>>, index: usize) -> Option<(Entry<W>, bool)> {
    let entry = if index == 0 { entries.pop_front() } else { entries.swap_remove_back(index) };
    entry.map(|entry| (entry, index == 0))
}

impl<W> Stealable<W> {
    /// Makes one set for each slot.
    pub(crate) fn new(slots: usize) -> Self {
        let set = || CachePadded::new(Set::new(EntryQueue::Fifo(VecDeque::new())));
        Stealable((0..slots).map(|_| set()).collect())
    }

    /// Returns the number of entries. A snapshot.
    pub(crate) fn total_len(&self) -> usize {
        // Relaxed: invariant 2.
        self.0.iter().map(|set| set.len.load(Relaxed)).sum()
    }

    /// Makes one set for all slots, in which the calls take turns.
    pub(crate) fn fair() -> Self {
        Stealable(Box::new([CachePadded::new(Set::new(EntryQueue::Fair(Flows::new())))]))
    }

    fn set(&self, slot: usize) -> &Set<W> {
        self.0.get(slot).unwrap_or(&self.0[0])
    }

    /// Charges a scope for the time that its entry has run. Under fair queueing the scope's turn is over the sooner.
    pub(crate) fn charge(&self, scope: u64, time: Duration) {
        let mut queue = self.0[0].lock();
        if let EntryQueue::Fair(flows) = &mut *queue {
            flows.charge(scope, time);
        }
    }

    /// Donates a task, or a deque, to a random set.
    pub(crate) fn add(&self, entry: Entry<W>) {
        let set = &self.0[random(self.0.len())];
        let mut queue = set.lock();
        queue.push_back(entry);
        set.len.store(queue.len(), Relaxed);
    }

    /// Takes the oldest entry of a slot's set, for the worker that occupies the slot.
    pub(crate) fn take(&self, slot: usize) -> Option<Entry<W>> {
        self.steal(slot, |_| 0)
    }

    /// Returns the number of entries of a slot's set: a hint.
    pub(crate) fn len(&self, slot: usize) -> usize {
        self.set(slot).len.load(Relaxed)
    }

    /// Takes a random entry of another slot's set.
    pub(crate) fn steal(&self, slot: usize, choose: impl FnOnce(usize) -> usize) -> Option<Entry<W>> {
        self.set(slot).take(|queue| match queue {
            EntryQueue::Fifo(entries) if entries.is_empty() => None,
            EntryQueue::Fifo(entries) => remove(entries, choose(entries.len())),
            EntryQueue::Fair(flows) => flows.next().map(|entry| (entry, true)),
        })
    }

    /// Takes a task of the scope, or a deque that is or was suspended with such a task, from any set. Looks only at the
    /// oldest and the newest entries of each set, since there may be many entries of other scopes. The oldest come
    /// first, so that no entry waits for all entries that are woken after it. Called by the worker that occupies the
    /// slot: workers of other slots begin with other sets.
    pub(crate) fn take_of(&self, slot: usize, scope: u64) -> Option<Entry<W>> {
        const LOOKS: usize = 32;
        let of_scope = |entry: &Entry<W>| entry.scope() == scope;
        let (before, from) = self.0.split_at(slot.min(self.0.len() - 1));
        from.iter().chain(before).find_map(|set| {
            set.take(|queue| match queue {
                EntryQueue::Fifo(entries) => {
                    let oldest = entries.iter().take(LOOKS).position(of_scope);
                    let newest = || {
                        entries
                            .iter()
                            .rev()
                            .take(LOOKS)
                            .position(of_scope)
                            .map(|back| entries.len() - 1 - back)
                    };
                    remove(entries, oldest.or_else(newest)?)
                }
                EntryQueue::Fair(flows) => flows.next_of(scope),
            })
        })
    }

    /// Takes a task of the scope, or any deque, from any set.
    pub(crate) fn take_of_or_deque(&self, scope: u64) -> Option<Entry<W>> {
        self.0.iter().find_map(|set| {
            let wanted = |entry: &Entry<W>| matches!(entry, Entry::Deque(_)) || entry.scope() == scope;
            set.take(|queue| match queue {
                EntryQueue::Fifo(entries) => remove(entries, entries.iter().position(wanted)?),
                EntryQueue::Fair(flows) => flows.find(wanted),
            })
        })
    }

    /// Inserts an entry after the first `oldest` entries of a set: the set of a slot, or of a random slot.
    pub(crate) fn add_behind(&self, oldest: usize, entry: Entry<W>, slot: Option<usize>) {
        let set = slot.map_or_else(|| &*self.0[random(self.0.len())], |slot| self.set(slot));
        let mut queue = set.lock();
        queue.push_behind(oldest, entry);
        set.len.store(queue.len(), Relaxed);
    }

    /// Takes the oldest entry of the first set that is not empty, beginning with the set of the slot.
    pub(crate) fn take_any(&self, slot: usize) -> Option<Entry<W>> {
        let (before, from) = (0..slot, slot..self.0.len());
        from.chain(before).find_map(|slot| self.take(slot))
    }

    /// Whether some set has had entries since the last call with the same `seen`, and none has been taken in turn.
    /// `seen` is empty before the first call.
    pub(crate) fn is_neglected(&self, seen: &mut Vec<Option<usize>>) -> bool {
        seen.resize(self.0.len(), None);
        let mut neglected = false;
        for (set, seen) in self.0.iter().zip(seen) {
            // Relaxed: hints. The caller looks again.
            let now = (!set.is_empty()).then(|| set.served.load(Relaxed));
            neglected |= now.is_some() && now == *seen;
            *seen = now;
        }
        neglected
    }

    /// Whether all sets are empty. A caller that must not miss an entry has passed a fence before.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.iter().all(|set| set.is_empty())
    }
}

impl<W> Set<W> {
    fn new(queue: EntryQueue<W>) -> Self {
        Set { len: AtomicUsize::new(0), served: AtomicUsize::new(0), queue: Mutex::new(queue) }
    }

    /// Whether the set is empty. Relaxed: see invariant 2.
    fn is_empty(&self) -> bool {
        self.len.load(Relaxed) == 0
    }

    fn lock(&self) -> MutexGuard<'_, EntryQueue<W>> {
        self.queue.lock().expect("nobody panics with this lock")
    }

    /// Lets `choose` take an entry out, if there is one, and say whether the entry was taken in turn.
    fn take(&self, choose: impl FnOnce(&mut EntryQueue<W>) -> Option<(Entry<W>, bool)>) -> Option<Entry<W>> {
        if self.is_empty() {
            return None;
        }
        let mut queue = self.lock();
        let (entry, in_turn) = choose(&mut queue)?;
        self.len.store(queue.len(), Relaxed);
        if in_turn {
            // Relaxed: a hint; only holders of the lock write.
            self.served.store(self.served.load(Relaxed).wrapping_add(1), Relaxed);
        }
        Some(entry)
    }
}

impl<W> Entry<W> {
    /// Returns the number of the entry's scope. The entry is in a set, or the caller is about to put it into one, or
    /// has just taken it out.
    pub(crate) fn scope(&self) -> u64 {
        match self {
            // SAFETY: the task is in a queue, or on its way into one or out of one, so it has not begun to run.
            Entry::Task(task) => unsafe { task.scope() },
            // SAFETY: the registry owns the sets, and the deques.
            Entry::Deque(deque) => unsafe { deque.get() }.scope(),
        }
    }
}

/// Returns a number below `end`, which is not 0, from this thread's own sequence (xorshift, Marsaglia 2003).
fn random(end: usize) -> usize {
    machine_static! {
        static THREADS: AtomicUsize = AtomicUsize::new(0);
    }
    crate::sync::machine::thread_local! {
        static RANDOM: Random = Random::nth(THREADS.fetch_add(1, Relaxed));
    }
    RANDOM.with(|random| random.below(end))
}

#[cfg(test)]
mod tests;
