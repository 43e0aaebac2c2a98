//! The watcher: a worker that looks at the queues without a slot.

use super::{Locked, Occupant, WorkerState};

impl<'a, W: Occupant> Locked<'a, W> {
    /// Has a parked worker watch the queues. Returns `false` if none is parked.
    #[must_use]
    pub(crate) fn watch_by_parked(&mut self) -> bool {
        let parked = self.parked.pop().map(|number| self.slots.known(number));
        parked.map(|worker| self.begin_watch(worker)).is_some()
    }

    /// Makes a worker, which is not in the list of parked ones, the watcher, and wakes it.
    pub(crate) fn begin_watch(&mut self, worker: &W) {
        self.slots.searching.set_watched(true);
        self.set_state(worker, WorkerState::Watching);
        self.watcher = Some(worker.number());
        self.wake(worker);
    }

    /// Makes a worker the watcher, on turn.
    #[cfg(test)]
    pub(crate) fn begin_on_turn(&mut self, worker: &W) {
        self.set_state(worker, WorkerState::Watching);
        self.watcher = Some(worker.number());
        self.overdue.on_turn.push(worker.number());
    }

    /// Notes that there is no watcher any more.
    pub(crate) fn watch_is_over(&mut self) {
        if let Some(number) = self.watcher.take() {
            self.is_not_overdue(number);
        }
        self.slots.hints.set_neglected(false);
        self.slots.searching.set_watched(false);
    }

    /// Ends a former watcher's turn, in which it has run queued jobs. If no other thread needs the slot, the worker searches in it. If
    /// the worker has lost its slot and has a broadcast job, it searches in a free slot, or claims one. Returns whether it searches.
    /// Otherwise the worker watches again, or is parked if another worker watches.
    #[must_use]
    pub(crate) fn end_turn(&mut self, worker: &W, has_broadcast: bool) -> bool {
        self.overdue.on_turn.retain(|&number| number != worker.number());
        self.return_slot(worker);
        if self.slots.holds_slot(worker) && self.claims.is_empty() {
            self.slots.searching.begin();
            return true;
        }
        self.release(worker);
        if has_broadcast {
            // A worker that has lost its slot may find a free one. No worker claims a slot while one is free. Otherwise: the claim that
            // `call` has made for the broadcast job ended with the turn.
            if self.occupy_or_claim(worker) {
                self.slots.searching.begin();
                return true;
            }
        }
        if self.watcher.is_none() && !self.terminating {
            self.begin_watch(worker);
        } else {
            self.park(worker);
        }
        false
    }
}
