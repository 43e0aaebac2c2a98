//! Wake-ups: which worker is woken for work, and by which thread.

use super::{Idle, Registry, WorkerState};
use crate::fence;
use crate::quiet_drop::drop_quietly;
use crate::worker::Worker;
use std::panic::{AssertUnwindSafe, catch_unwind};

impl Registry {
    /// Whether there is work anywhere. Callers that must not miss any have passed a fence.
    pub(crate) fn sees_work(&self) -> bool {
        self.is_queued() || self.has_shelved() || self.slot_holders().any(Worker::has_jobs)
    }

    /// Whether a job is queued outside the workers' deques: an urgent one, a woken task, or a job from outside.
    pub(super) fn is_queued(&self) -> bool {
        !self.injector.is_empty() || !self.stealable.is_empty() || !self.urgent.is_empty()
    }

    /// Returns the workers that hold slots.
    pub(super) fn slot_holders(&self) -> impl Iterator<Item = &Worker> {
        (0..self.num_threads()).filter_map(|slot| self.holder(slot))
    }

    /// Requests a split of every slot holder. `by` is the worker that then passes a heavy fence.
    pub(super) fn request_all_splits(&self, by: &Worker) {
        self.slot_holders().for_each(Worker::request_split);
        by.counters.barriers.add();
    }

    /// The final check: wakes a worker if there is work, and has later forks look up. Called when perhaps no worker searches any more,
    /// or when a slot has become free.
    pub(super) fn final_check(&self, by: &Worker) {
        // Between the caller's store, by which it does not search any more, and the loads of the slots: as in `Searching::final_check`.
        fence::full();
        let held = self.num_threads().saturating_sub(self.searching.free());
        let others = held.saturating_sub(self.holds_slot(by).into());
        let sees_work = if others == 0 && !self.has_shelved() {
            // No other worker holds a slot, and none is on the shelf. So no other worker runs jobs, and no fork of another worker can
            // be missed. The heavy fence, which interrupts other cores, is not needed. This worker's next push looks up, and so does
            // the first push of a worker that gets a slot later.
            let is_needed = self.searching.needs_searcher();
            if is_needed {
                by.request_split();
            }
            is_needed && self.sees_work()
        } else {
            self.searching.final_check(|| self.request_all_splits(by), || self.sees_work())
        };
        if sees_work {
            self.wake_if_none_searches(Some(by));
        } else {
            self.watch_if_needed();
        }
    }

    /// Ends a worker's search, because it has found a job.
    pub(in crate::registry) fn end_search(&self, worker: &Worker) {
        if self.searching.end() {
            self.final_check(worker);
        }
    }

    /// Begins a search. The caller is a worker in a slot.
    pub(in crate::registry) fn begin_search(&self) {
        self.searching.begin();
    }

    /// Wakes one worker to search, if no worker searches and a slot is free.
    pub(in crate::registry) fn wake_if_none_searches(&self, by: Option<&Worker>) {
        if !self.searching.needs_searcher() {
            return self.watch_if_needed();
        }
        let mut idle = self.lock();
        if !self.searching.no_searcher() || idle.terminating {
            return;
        }
        let Some(slot) = self.take_free(&mut idle) else { return self.watch(&mut idle) };
        // A watcher is not needed while a slot is free.
        if let Some(number) = idle.turns.watcher().copied().or_else(|| idle.parked.pop()) {
            let worker = self.worker(number).expect("a parked worker is there");
            self.occupy(&mut idle, worker, slot);
        } else if !self.start_spare(&mut idle, slot) {
            let Some(number) = idle.any_blocked() else {
                self.make_available(&mut idle, slot);
                return;
            };
            // No other thread is left. The worker waits for a latch and does not search, but `block` has it run queued jobs.
            let worker = self.worker(number).expect("a blocked worker is there");
            self.occupy(&mut idle, worker, slot);
        }
        self.count_wakeup(by);
    }

    /// Starts one more thread, in the given slot, to search. Returns `false` if the bound is reached or no thread can be started.
    fn start_spare(&self, idle: &mut Idle, slot: usize) -> bool {
        let worker = self.start_thread(idle, WorkerState::Parked);
        if let Some(worker) = worker {
            self.occupy(idle, worker, slot);
        }
        worker.is_some()
    }

    /// Starts one more thread, in that state and without a slot. Returns `None` if the bound is reached or no thread can be started.
    pub(super) fn start_thread(&self, idle: &mut Idle, state: WorkerState) -> Option<&Worker> {
        let spawner = self.setup.spares.as_ref()?;
        if idle.next_spare == idle.max_threads {
            return None;
        }
        let number = idle.next_spare;
        let worker = self.make_worker(number, false);
        *idle.state(worker) = state;
        let registry = self.this();
        // `spawner` panics if the system does not accept the thread's name. Unwind-safe: no thread was started then.
        let spawn = || spawner(number, Box::new(move || registry.run_thread(number)));
        match catch_unwind(AssertUnwindSafe(spawn)) {
            Ok(Ok(thread)) => {
                idle.next_spare += 1;
                self.keep(thread);
                Some(worker)
            }
            // The pool does not try to start further threads, so that waiting workers know that no thread will take their slots.
            Ok(Err(_)) => {
                idle.max_threads = number;
                idle.refused = true;
                None
            }
            Err(payload) => {
                idle.max_threads = number;
                idle.refused = true;
                drop_quietly(payload);
                None
            }
        }
    }

    /// Wakes a worker for a fork that `worker` has just shared on request, if no worker searches.
    pub(crate) fn share(&self, worker: &Worker) {
        if worker.is_always_shared() {
            fence::full();
        }
        if self.searching.no_searcher() {
            self.wake_if_none_searches(Some(worker));
        } else if self.searching.has_timed_searcher() {
            if worker.is_worth_a_wake_up() {
                self.wake_timed_searcher(Some(worker));
            } else {
                worker.poke();
            }
        }
    }

    /// Whether there is a timed searcher. A hint.
    pub(crate) fn has_timed_searcher(&self) -> bool {
        self.searching.has_timed_searcher()
    }

    /// Whether one more job would need a wake-up. A hint. (A worker that parked has requested splits of the slot holders of that
    /// moment, but of no worker that got a slot later.)
    pub(crate) fn needs_one_more(&self) -> bool {
        self.searching.needs_searcher()
    }

    /// Wakes the timed searcher, if there is one and a slot is free.
    pub(in crate::registry) fn wake_timed_searcher(&self, by: Option<&Worker>) {
        let mut idle = self.lock();
        if let Some(number) = idle.timed_searcher
            && let Some(slot) = self.take_free(&mut idle)
        {
            let timed_searcher = self.worker(number).expect("a timed searcher is there");
            self.occupy(&mut idle, timed_searcher, slot);
            self.count_wakeup(by);
        }
    }

    /// Counts a wake-up for the worker that has caused it, or for the threads outside the pool.
    fn count_wakeup(&self, by: Option<&Worker>) {
        match by {
            Some(worker) => worker.counters.wakeups.add(),
            None => self.outside.wakeups.add(),
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::Registry;
    use crate::ThreadPoolBuilder;
    use std::future::poll_fn;
    use std::sync::{Arc, mpsc};
    use std::task::Poll;
    use std::thread;
    use std::time::{Duration, Instant};

    /// Waits for a condition. False if it does not come true within ten seconds.
    fn comes_true(condition: impl Fn() -> bool) -> bool {
        let begin = Instant::now();
        while !condition() {
            if begin.elapsed() > Duration::from_secs(10) {
                return false;
            }
            thread::yield_now();
        }
        true
    }

    /// Once the task is in a set, a worker may run it, and the pool may end. The thread that wakes has a worker to wake then.
    #[test]
    fn a_thread_from_outside_that_wakes_a_task_keeps_the_registry() {
        let pool = ThreadPoolBuilder::new().num_threads(1).build().unwrap();
        let registry = pool.install(|| Registry::with_current(Registry::this));
        let (send, receive) = mpsc::channel();
        let mut polled = false;
        let task = pool.spawn_future(poll_fn(move |context| {
            if std::mem::replace(&mut polled, true) {
                return Poll::Ready(());
            }
            send.send(context.waker().clone()).unwrap();
            Poll::Pending
        }));
        let waker = receive.recv().unwrap();
        assert!(comes_true(|| registry.searching.no_searcher() && registry.searching.free() == 1));
        let idle = registry.lock();
        let before = Arc::strong_count(&registry);
        let woken = thread::spawn(move || waker.wake());
        // The other thread waits for the lock.
        let is_queued = comes_true(|| !registry.stealable.is_empty());
        let is_kept = comes_true(|| Arc::strong_count(&registry) > before);
        drop(idle);
        woken.join().unwrap();
        crate::block_on(task);
        assert!(is_queued && is_kept);
    }
}
