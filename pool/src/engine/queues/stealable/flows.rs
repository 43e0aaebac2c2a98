//! Fair queueing: a queue of entries for each call, and the calls take turns.
//!
//! Deficit round robin (Shreedhar and Varghese 1995), with time instead of bytes. One call has its turn: it gives
//! entries until its entries have run for a [`QUANTUM`]; then the next call is served. So a call of few short tasks
//! waits for a quantum of each other call, however many tasks the others have queued, and however long these run. The
//! run time of an entry is known only at its end. Time beyond the quantum is a debt, for which the call misses turns.
//!
//! # Invariants
//!
//! 1. A call has a queue if and only if it has entries. Then its number is in `turns` once.
//! 2. `len` is the number of entries of all queues.
//! 3. The time used by a call that has a queue is at most [`MOST`], so that `next` goes round the circle a bounded number of times.

use super::{Entry, insert};
use std::collections::{HashMap, VecDeque};
use std::time::Duration;

/// Time that the tasks of a call run before it is the next call's turn.
const QUANTUM: Duration = Duration::from_millis(1);

/// Greatest time for which a call is charged.
const MOST: Duration = QUANTUM.saturating_mul(16);

/// The queues.
pub(super) struct Flows<W> {
    flows: HashMap<u64, Flow<W>>,
    /// Numbers of the calls that have entries; it is the first one's turn.
    turns: VecDeque<u64>,
    len: usize,
}

/// The queue of one call.
struct Flow<W> {
    entries: VecDeque<Entry<W>>,
    /// Time that the entries have run and that no turn has paid for yet.
    used: Duration,
}

impl<W> Flows<W> {
    pub(super) fn new() -> Self {
        Flows { flows: HashMap::new(), turns: VecDeque::new(), len: 0 }
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }

    pub(super) fn push_back(&mut self, entry: Entry<W>) {
        self.of(entry.scope()).entries.push_back(entry);
    }

    /// Inserts an entry after the first `oldest` entries of its call.
    pub(super) fn push_behind(&mut self, oldest: usize, entry: Entry<W>) {
        insert(&mut self.of(entry.scope()).entries, oldest, entry);
    }

    /// Returns the queue of a call for a new entry, which is counted.
    fn of(&mut self, call: u64) -> &mut Flow<W> {
        self.len += 1;
        self.flows.entry(call).or_insert_with(|| {
            self.turns.push_back(call);
            Flow { entries: VecDeque::new(), used: Duration::ZERO }
        })
    }

    /// Takes the oldest entry of the call whose turn it is.
    pub(super) fn next(&mut self) -> Option<Entry<W>> {
        loop {
            let &call = self.turns.front()?;
            let flow = self.flows.get_mut(&call).expect("invariant 1");
            match flow.used.checked_sub(QUANTUM) {
                None => return self.take(call, 0),
                Some(rest) => flow.used = rest,
            }
            self.turns.rotate_left(1);
        }
    }

    /// Takes the oldest entry of a call. Also returns whether no other call waits for a turn.
    pub(super) fn next_of(&mut self, call: u64) -> Option<(Entry<W>, bool)> {
        let in_turn = self.turns.len() == 1;
        self.take(call, 0).map(|entry| (entry, in_turn))
    }

    /// Takes the first entry of any call for which `wanted` is true.
    pub(super) fn find(&mut self, wanted: impl Fn(&Entry<W>) -> bool) -> Option<(Entry<W>, bool)> {
        let position = |flow: &Flow<W>| flow.entries.iter().position(&wanted);
        let (call, index) =
            self.turns.iter().find_map(|call| Some((*call, position(self.flows.get(call)?)?)))?;
        let in_turn = self.turns.len() == 1 && index == 0;
        self.take(call, index).map(|entry| (entry, in_turn))
    }

    fn take(&mut self, call: u64, index: usize) -> Option<Entry<W>> {
        let flow = self.flows.get_mut(&call)?;
        let entry = flow.entries.remove(index)?;
        self.len -= 1;
        if flow.entries.is_empty() {
            self.flows.remove(&call);
            // Nearly always it is this call's turn.
            match self.turns.front() {
                Some(&first) if first == call => _ = self.turns.pop_front(),
                _ => self.turns.retain(|&other| other != call),
            }
        }
        Some(entry)
    }

    /// Charges a call for the time that its entry has run. A call without entries is not charged, and begins anew.
    pub(super) fn charge(&mut self, call: u64, time: Duration) {
        if let Some(flow) = self.flows.get_mut(&call) {
            flow.used = (flow.used + time).min(MOST);
        }
    }
}
