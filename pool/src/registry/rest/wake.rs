//! Wake-ups: when there is work, which worker is woken for it, and by which thread.

use super::{Registry, Rest, State};
use crate::fence;
use crate::unseen::drop_quietly;
use crate::worker::Worker;
use std::panic::{AssertUnwindSafe, catch_unwind};

impl Registry {
    /// Whether there is work anywhere. Callers that must not miss any have passed a fence.
    pub(crate) fn sees_work(&self) -> bool {
        self.is_queued() || self.has_shelved() || self.seated().any(Worker::has_jobs)
    }

    /// Whether a job is queued outside the workers' deques: an urgent one, a woken task, or a job from outside.
    pub(super) fn is_queued(&self) -> bool {
        !self.injector.is_empty() || !self.stealable.is_empty() || !self.urgent.is_empty()
    }

    /// The workers that hold slots.
    pub(super) fn seated(&self) -> impl Iterator<Item = &Worker> {
        (0..self.num_threads()).filter_map(|place| self.at(place))
    }

    /// Asks every slot holder to look up. `by` is the worker that then passes a heavy fence.
    pub(super) fn ask_all(&self, by: &Worker) {
        self.seated().for_each(Worker::request_split);
        by.counters.barriers.add();
    }

    /// Sees to it that present and future work wakes a worker. Called when perhaps no worker is alert any more, or when a slot has
    /// become free.
    pub(super) fn look_out(&self, by: &Worker) {
        // Between the caller's store, by which it is no longer alert, and the look at the slots: as in `Alert::look_out`.
        fence::full();
        let held = self.num_threads().saturating_sub(self.alert.free());
        let others = held.saturating_sub(self.holds_slot(by).into());
        let sees_work = if others == 0 && !self.has_shelved() {
            // No other worker runs jobs: no other worker holds a slot, and none is on the shelf. So no fork of another worker can be
            // missed, and the heavy fence, which interrupts other cores, is not needed. This worker's next push looks up, and so does
            // the first push of a worker that gets a slot later.
            let is_needed = self.alert.is_needed();
            if is_needed {
                by.request_split();
            }
            is_needed && self.sees_work()
        } else {
            self.alert.look_out(|| self.ask_all(by), || self.sees_work())
        };
        if sees_work {
            self.wake_if_none_is_alert(Some(by));
        } else {
            self.watch_if_needed();
        }
    }

    /// Ends a worker's search, because it has found a job.
    pub(in crate::registry) fn cease_to_be_alert(&self, worker: &Worker) {
        if self.alert.end() {
            self.look_out(worker);
        }
    }

    pub(in crate::registry) fn become_alert(&self) {
        self.alert.begin();
    }

    /// Wakes one worker to search, if no worker searches and a slot is free.
    pub(in crate::registry) fn wake_if_none_is_alert(&self, by: Option<&Worker>) {
        if !self.alert.is_needed() {
            return self.watch_if_needed();
        }
        let mut rest = self.lock();
        if !self.alert.nobody() || rest.terminating {
            return;
        }
        let Some(place) = self.take_free(&mut rest) else { return self.watch(&mut rest) };
        // A watcher has nothing to watch where a slot is free.
        if let Some(number) = rest.turns.watcher().copied().or_else(|| rest.parked.pop()) {
            let worker = self.worker(number).expect("a parked worker is there");
            self.seat(&mut rest, worker, place);
        } else if !self.start_spare(&mut rest, place) {
            let Some(number) = rest.any_blocked() else {
                self.give(&mut rest, place);
                return;
            };
            // No other thread is left. The worker waits for a latch and is not alert, but `block` has it run queued jobs.
            let worker = self.worker(number).expect("a blocked worker is there");
            self.seat(&mut rest, worker, place);
        }
        self.count_wakeup(by);
    }

    /// Starts one more thread, in the given slot, to search. Returns `false` if the bound is reached or no thread can be started.
    fn start_spare(&self, rest: &mut Rest, place: usize) -> bool {
        let worker = self.start_thread(rest, State::Parked);
        if let Some(worker) = worker {
            self.seat(rest, worker, place);
        }
        worker.is_some()
    }

    /// Starts one more thread, in that state and without a slot. Returns `None` if the bound is reached or no thread can be started.
    pub(super) fn start_thread(&self, rest: &mut Rest, state: State) -> Option<&Worker> {
        let spawner = self.setup.spares.as_ref()?;
        if rest.next_spare == rest.max_threads {
            return None;
        }
        let number = rest.next_spare;
        let worker = self.make_worker(number, false);
        *rest.state(worker) = state;
        let registry = self.this();
        // `spawner` panics if the system takes no such name. Unwind-safe: then no thread was started.
        let spawn = || spawner(number, Box::new(move || registry.run_thread(number)));
        match catch_unwind(AssertUnwindSafe(spawn)) {
            Ok(Ok(thread)) => {
                rest.next_spare += 1;
                self.keep(thread);
                Some(worker)
            }
            // No further thread is tried: waiting workers must know that no thread will take their slots.
            Ok(Err(_)) => {
                rest.max_threads = number;
                rest.refused = true;
                None
            }
            Err(payload) => {
                rest.max_threads = number;
                rest.refused = true;
                drop_quietly(payload);
                None
            }
        }
    }

    /// Wakes a worker for a fork that `worker` has just shared, if none searches. (`worker` was asked to share.)
    pub(crate) fn share(&self, worker: &Worker) {
        if worker.is_always_shared() {
            fence::full();
        }
        if self.alert.nobody() {
            self.wake_if_none_is_alert(Some(worker));
        } else if self.alert.napping() {
            if worker.is_worth_a_wake_up() {
                self.end_nap(Some(worker));
            } else {
                worker.poke();
            }
        }
    }

    /// Whether a worker naps. A hint.
    pub(crate) fn is_napping(&self) -> bool {
        self.alert.napping()
    }

    /// Whether a worker would have to be woken for one more job. A hint. (A worker that went to rest has asked the slot holders of that
    /// moment, and no worker that got a slot later.)
    pub(crate) fn needs_one_more(&self) -> bool {
        self.alert.is_needed()
    }

    /// Wakes the napping worker, if there is one and a slot is free.
    pub(in crate::registry) fn end_nap(&self, by: Option<&Worker>) {
        let mut rest = self.lock();
        if let Some(number) = rest.napper
            && let Some(place) = self.take_free(&mut rest)
        {
            let napper = self.worker(number).expect("a napping worker is there");
            self.seat(&mut rest, napper, place);
            self.count_wakeup(by);
        }
    }

    fn count_wakeup(&self, by: Option<&Worker>) {
        match by {
            Some(worker) => worker.counters.wakeups.add(),
            None => self.outside.wakeups.add(),
        }
    }
}
