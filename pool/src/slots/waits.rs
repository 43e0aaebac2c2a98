//! Workers that wait for latches, in their slots or without.

use super::{Locked, Occupant, WorkerState};

/// Number of workers of a chain that are woken ahead of their latches.
const AHEAD: usize = 4;

impl<W: Occupant> Locked<'_, W> {
    /// Notes that a worker waits in its slot, for other threads or not.
    pub(crate) fn wait(&mut self, worker: &W, for_others: bool) {
        self.set_state(worker, WorkerState::Waiting);
        if for_others {
            self.waiting_for_others.push(worker.number());
        }
    }

    /// Notes that a worker does not wait in its slot any more.
    pub(crate) fn end_wait(&mut self, worker: &W, for_others: bool) {
        self.set_state(worker, WorkerState::Active);
        if for_others {
            self.waiting_for_others.retain(|&number| number != worker.number());
        }
    }

    /// Counts a long sleeper. It passes a fence, and looks for queued jobs, before it sleeps.
    pub(crate) fn begin_long_sleep(&mut self) {
        self.long_sleepers += 1;
        self.slots.searching.set_long_sleepers(self.long_sleepers);
    }

    pub(crate) fn end_long_sleep(&mut self) {
        self.long_sleepers -= 1;
        self.slots.searching.set_long_sleepers(self.long_sleepers);
    }

    /// Wakes all workers that wait in their slots.
    pub(crate) fn wake_waiting(&mut self) {
        let slots = self.slots;
        for holder in slots.slot_holders() {
            if self.state(holder) == WorkerState::Waiting {
                self.wake(holder);
            }
        }
    }

    /// Wakes the workers that wait for others in their slots.
    pub(crate) fn wake_waiting_for_others(&mut self) {
        let table = &mut **self;
        table.woken.extend(&table.waiting_for_others);
    }

    /// Notes that a worker waits without its slot, for other threads or not. A worker that has a broadcast job takes a slot or claims one,
    /// unless it releases one here. The caller does the final check.
    pub(crate) fn block(&mut self, worker: &W, for_others: bool, has_broadcast: bool) {
        self.set_state(worker, WorkerState::Blocked);
        if for_others {
            self.blocked_for_others.push(worker.number());
        }
        if worker.slot().is_some() {
            self.release(worker);
        } else {
            self.shelve(worker);
            if has_broadcast {
                _ = self.occupy_or_claim(worker);
            }
        }
    }

    /// Notes that a blocked worker does not wait for other threads any more.
    pub(crate) fn end_block_for_others(&mut self, worker: &W) {
        self.blocked_for_others.retain(|&number| number != worker.number());
    }

    /// Resumes the waiter of a latch that was just set. A waiter without a slot gets a free slot. If none is free, it gets the slot of
    /// `setter`, the worker that has set the latch, if that worker holds one. Otherwise the waiter claims a slot.
    ///
    /// The waiter may soon end the fork that another blocked worker waits for, and so on: the last waits of a call end in a chain. So
    /// that they need not be woken one after the other, the next ones of the chain are woken *ahead*: each spins without a slot until its latch is set.
    pub(crate) fn resume(&mut self, waiter: &W, setter: Option<&W>) {
        match self.state(waiter) {
            WorkerState::Waiting => self.wake(waiter),
            WorkerState::Blocked => {
                if self.occupy_free(waiter) {
                    return self.wake_ahead(waiter);
                }
                if let Some((setter, slot)) = setter.and_then(|setter| Some((setter, self.withdraw(setter)?)))
                {
                    self.shelve(setter);
                    self.occupy(waiter, slot);
                    return self.wake_ahead(waiter);
                }
                self.claim(waiter);
                // From now on the waiter waits for a slot, and has to be awake to notice that it is overdue.
                self.wake(waiter);
            }
            WorkerState::Active | WorkerState::TimedSearch | WorkerState::Parked | WorkerState::Watching => {}
        }
    }

    /// Wakes the blocked workers that wait for a worker's fork, for the first one's fork, and so on.
    fn wake_ahead(&mut self, of: &W) {
        let slots = self.slots;
        let mut served = of.serves();
        // Each needs a processor, too: an idle one, or one of a worker that searches.
        let spinning = slots.searching.count().saturating_sub(self.timed_searcher.is_some().into());
        for _ in 0..AHEAD.min(slots.room() + spinning) {
            let Some(worker) = served.and_then(|number| slots.worker(number)) else { return };
            if self.state(worker) != WorkerState::Blocked {
                return;
            }
            if !worker.set_awake_ahead() {
                self.wake(worker);
            }
            served = worker.serves();
        }
    }

    /// Wakes a sleeping worker to run its broadcast jobs: the worker gets a slot, or claims one.
    pub(crate) fn call(&mut self, worker: &W) {
        match self.state(worker) {
            WorkerState::Active => {}
            WorkerState::Waiting => self.wake(worker),
            WorkerState::TimedSearch | WorkerState::Parked | WorkerState::Blocked | WorkerState::Watching => {
                let drives = self.is_driver(worker);
                if !self.occupy_or_claim(worker) {
                    // The worker has to be awake to notice that it is overdue.
                    self.wake(worker);
                }
                if drives {
                    self.stand_by();
                }
            }
        }
    }
}
