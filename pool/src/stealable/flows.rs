//! Fair queueing: a queue of entries for each call, and the calls take turns.
//!
//! Deficit round robin (Shreedhar and Varghese 1995), with processor time instead of bytes: the call whose turn it is gives
//! entries until those that it has given have run for a [`QUANTUM`]; then the next call is served. So a call of few short tasks
//! waits for a quantum of each other call, however many tasks the others have queued, and however long these run. How long
//! an entry runs is known at its end only. Whatever exceeds the quantum is a debt, for which the call misses turns.
//!
//! # Invariants
//!
//! 1. A call has a queue if and only if it has entries; then its number is in `turns` once.
//! 2. `len` is the number of entries of all queues.
//! 3. The time used by a call that has a queue is at most [`MOST`], so that `next` goes round the circle a bounded number of times.

use super::Entry;
use std::collections::{HashMap, VecDeque};
use std::time::Duration;

/// How long the tasks of a call run before it is the next call's turn.
const QUANTUM: Duration = Duration::from_millis(1);

/// The most time for which a call is charged.
const MOST: Duration = QUANTUM.saturating_mul(16);

/// The queues.
#[derive(Default)]
pub(super) struct Flows {
    flows: HashMap<u64, Flow>,
    /// The calls that have entries; the first one's turn it is.
    turns: VecDeque<u64>,
    len: usize,
}

/// The queue of one call.
#[derive(Default)]
struct Flow {
    entries: VecDeque<Entry>,
    /// Time that its entries have run for and that no turn has paid for yet.
    used: Duration,
}

impl Flows {
    pub(super) fn len(&self) -> usize {
        self.len
    }

    pub(super) fn push_back(&mut self, entry: Entry) {
        self.of(entry.scope()).entries.push_back(entry);
    }

    /// Adds an entry before the others of its call.
    pub(super) fn push_front(&mut self, entry: Entry) {
        self.of(entry.scope()).entries.push_front(entry);
    }

    /// The queue that a new entry of a call comes to.
    fn of(&mut self, call: u64) -> &mut Flow {
        self.len += 1;
        self.flows.entry(call).or_insert_with(|| {
            self.turns.push_back(call);
            Flow::default()
        })
    }

    /// The oldest entry of the call whose turn it is.
    pub(super) fn next(&mut self) -> Option<Entry> {
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

    /// The oldest entry of a call.
    pub(super) fn next_of(&mut self, call: u64) -> Option<Entry> {
        self.take(call, 0)
    }

    /// The first entry for which `wanted` is true, of any call.
    pub(super) fn find(&mut self, wanted: impl Fn(&Entry) -> bool) -> Option<Entry> {
        let position = |flow: &Flow| flow.entries.iter().position(&wanted);
        let (call, index) =
            self.turns.iter().find_map(|call| Some((*call, position(self.flows.get(call)?)?)))?;
        self.take(call, index)
    }

    fn take(&mut self, call: u64, index: usize) -> Option<Entry> {
        let flow = self.flows.get_mut(&call)?;
        let entry = flow.entries.remove(index)?;
        self.len -= 1;
        if flow.entries.is_empty() {
            self.flows.remove(&call);
            self.turns.retain(|&other| other != call);
        }
        Some(entry)
    }

    /// An entry of a call has run for that time. A call without entries is charged nothing: it begins anew.
    pub(super) fn charge(&mut self, call: u64, time: Duration) {
        if let Some(flow) = self.flows.get_mut(&call) {
            flow.used = (flow.used + time).min(MOST);
        }
    }
}
