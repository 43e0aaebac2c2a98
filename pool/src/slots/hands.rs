//! How slots change hands.

use super::monitor::Overdue;
use super::{FreeSlot, Locked, Occupant, Priority, WorkerState};
use crate::sync::atomic::Ordering::Relaxed;
use std::mem;

impl<'a, W: Occupant> Locked<'a, W> {
    pub(super) fn set_state(&mut self, worker: &W, state: WorkerState) -> WorkerState {
        let number = worker.number();
        if number >= self.states.len() {
            self.states.resize(number + 1, WorkerState::Active);
        }
        mem::replace(&mut self.states[number], state)
    }

    /// Has a worker occupy a slot, and wakes the worker if it sleeps. A worker that was parked or watched searches from now on.
    pub(crate) fn occupy(&mut self, worker: &W, FreeSlot(slot): FreeSlot) {
        let state = self.set_state(worker, WorkerState::Active);
        match state {
            WorkerState::Parked => {
                self.unlist_parked(worker);
                self.slots.searching.begin(worker.number());
            }
            WorkerState::TimedSearch => self.timed_search_is_over(),
            WorkerState::Watching => {
                self.watch_is_over();
                self.slots.searching.begin(worker.number());
            }
            WorkerState::Blocked | WorkerState::Active | WorkerState::Waiting => {}
        }
        self.forget_claim(worker.number());
        self.forget_holder(worker.number());
        worker.set_slot(Some(slot));
        // Workers that ended their search before this moment have poked slot holders only, so not this worker.
        worker.poke();
        self.slots.set_holder(slot, Some(worker));
        // Not before `set_holder`: thieves look without the lock, and must find the worker's jobs on the shelf or by its slot.
        self.unshelve(worker);
        if state != WorkerState::Active {
            self.woken.push(worker.number());
        }
    }

    /// Takes a free slot, if there is one.
    #[must_use]
    pub(crate) fn take_free(&mut self) -> Option<FreeSlot> {
        let Some(slot) = self.free.pop() else {
            self.tokens.is_wanted = true;
            return None;
        };
        self.publish_free();
        Some(FreeSlot(slot))
    }

    /// Publishes the number of free slots.
    pub(super) fn publish_free(&self) {
        let withheld = self.tokens.withheld.len();
        self.slots.searching.set_free(self.free.len(), withheld, self.tokens.may_request());
    }

    /// Gives a worker a free slot, if there is one. Returns whether the worker has got it.
    #[must_use]
    pub(crate) fn occupy_free(&mut self, worker: &W) -> bool {
        self.take_free().map(|slot| self.occupy(worker, slot)).is_some()
    }

    /// Gives a worker a free slot. If none is free, the worker claims the next one. Returns whether the worker holds a slot now.
    ///
    /// So no worker claims a slot here while one is free (invariant 4).
    #[must_use = "a worker without a slot waits for one"]
    pub(crate) fn occupy_or_claim(&mut self, worker: &W) -> bool {
        let occupies = self.occupy_free(worker);
        if !occupies {
            self.claim(worker);
        }
        occupies
    }

    /// Queues a worker's claim for the next slot that becomes free, behind the claims of the same rank. Workers that wait in their slots are woken, and give
    /// them away.
    pub(crate) fn claim(&mut self, worker: &W) {
        let slots = self.slots;
        // The worker of an outdated claim may have another rank now.
        let table = &mut **self;
        table
            .claims
            .retain(|&other| table.states.get(other).is_some_and(|state| *state != WorkerState::Active));
        let place = self.claims.partition_point(|&other| slots.known(other).rank() >= worker.rank());
        self.claims.insert(place, worker.number());
        self.publish_first_claim();
        self.wake_waiting();
    }

    /// Sets the rank to which a worker is raised, and puts its claim where it belongs.
    pub(crate) fn raise(&mut self, worker: &W, rank: Priority) {
        worker.raise(rank);
        if self.claims(worker) {
            self.claims.retain(|&other| other != worker.number());
            self.claim(worker);
        }
    }

    /// Publishes the rank of the first claim.
    fn publish_first_claim(&self) {
        let first = self.claims.front().map_or(0, |&number| self.slots.known(number).rank() as u8 + 1);
        // Relaxed: a hint.
        self.slots.first_claim.store(first, Relaxed);
    }

    /// Takes a worker's slot away and gives it to the first claimant. Without a claimant, the slot becomes free. If the worker has
    /// jobs, it is put on the shelf.
    pub(crate) fn release(&mut self, worker: &W) {
        let slot = self.withdraw(worker);
        self.shelve(worker);
        if let Some(slot) = slot {
            self.make_available(slot);
        }
    }

    /// Takes a worker's slot away and returns it, unless another worker has taken it over. A lent slot goes back to its lender.
    #[must_use]
    pub(super) fn withdraw(&mut self, worker: &W) -> Option<FreeSlot> {
        self.return_slot(worker);
        let slot = worker.slot().filter(|_| self.slots.holds_slot(worker));
        worker.set_slot(None);
        slot.map(|slot| {
            self.slots.set_holder(slot, None);
            FreeSlot(slot)
        })
    }

    /// Gives a slot to the first claimant, or to the watcher, if that one is the first of the overdue threads and no claim is of more rank. Without a
    /// claimant, the slot becomes free.
    pub(crate) fn make_available(&mut self, slot: FreeSlot) {
        let claimed = self.claims.front().map(|&number| self.slots.known(number).rank());
        let is_for_watcher = |first: &Overdue| {
            self.is_watcher(first.number) && claimed.is_some_and(|claimed| claimed <= first.rank)
        };
        if self.first_overdue().is_some_and(is_for_watcher) {
            if let Some(watcher) = self.next_overdue() {
                return self.occupy(watcher, slot);
            }
        }
        while let Some(number) = self.claims.pop_front() {
            self.publish_first_claim();
            let worker = self.slots.known(number);
            if self.state(worker) != WorkerState::Active {
                return self.occupy(worker, slot);
            }
        }
        self.free.push(slot.0);
        self.publish_free();
    }

    /// Removes a worker's claim, if there is one, and marks the worker as not overdue: it gets a slot.
    pub(super) fn forget_claim(&mut self, number: usize) {
        if !self.claims.is_empty() {
            self.claims.retain(|&other| other != number);
            self.publish_first_claim();
        }
        self.is_not_overdue(number);
    }

    /// Gives a worker's slot to the first overdue thread, if there is one. Then the worker is blocked, and claims a slot. Returns whether
    /// that is so.
    #[must_use = "the worker has to wait for a slot"]
    pub(crate) fn give_turn(&mut self, worker: &W) -> bool {
        let Some(next) = self.next_overdue() else { return false };
        let slot = self.withdraw(worker).expect("it holds one");
        self.set_state(worker, WorkerState::Blocked);
        self.occupy(next, slot);
        self.claim(worker);
        true
    }

    /// Notes that a worker between two jobs has no slot, if its slot was taken over. Returns whether it has none.
    #[must_use]
    pub(crate) fn forget_lost(&mut self, worker: &W) -> bool {
        let is_lost = !self.slots.holds_slot(worker);
        if is_lost {
            worker.set_slot(None);
        }
        is_lost
    }

    /// Gives a slot to a worker in the middle of a job. If none is free, the worker is blocked, and claims a slot. Returns whether the
    /// worker holds a slot.
    #[must_use = "a worker without a slot waits for one"]
    pub(crate) fn occupy_or_block(&mut self, worker: &W) -> bool {
        let occupies = self.occupy_or_claim(worker);
        if !occupies {
            self.set_state(worker, WorkerState::Blocked);
        }
        occupies
    }
}
