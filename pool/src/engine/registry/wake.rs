//! Wake-ups: which worker is woken for work, and by which thread.

use super::{Locked, Registry};
use crate::engine::worker::Worker;
use crate::quiet_drop::drop_quietly;
use crate::slots::{Occupant, Priority, Token, TokenSource, WakeOutcome};
use crate::sync::fence;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Number of workers that a woken worker wakes when it first shares a job, at most.
const SPREAD: usize = 4;

impl Registry {
    /// Whether there is work anywhere. Callers that must not miss any have passed a fence.
    pub(crate) fn sees_work(&self) -> bool {
        self.is_queued() || self.sees_deques()
    }

    /// Whether there is work in a worker's deques.
    pub(super) fn sees_deques(&self) -> bool {
        self.slots.has_shelved() || self.slots.slot_holders().any(Worker::has_jobs)
    }

    /// Whether a job is queued outside the workers' deques: a woken task, a job from outside, an urgent or a background one.
    pub(super) fn is_queued(&self) -> bool {
        !self.urgent.is_empty() || self.has_queued_others()
    }

    /// Whether a job of more than that priority is queued outside the workers' deques.
    pub(super) fn has_queued_above(&self, priority: Priority) -> bool {
        priority < Priority::Urgent && !self.urgent.is_empty()
            || priority < Priority::Normal && self.has_queued_normal()
    }

    fn has_queued_normal(&self) -> bool {
        !self.injector.is_empty() || !self.stealable.is_empty()
    }

    /// Whether a job that is not urgent is queued outside the workers' deques.
    pub(super) fn has_queued_others(&self) -> bool {
        self.has_queued_normal() || !self.background.is_empty()
    }

    /// Whether slot holders do work of different priorities.
    pub(crate) fn has_ranked_holders(&self) -> bool {
        let mut holders = self.slots.slot_holders().map(Worker::priority);
        holders.next().is_some_and(|first| holders.any(|other| other != first))
    }

    /// Whether a queued job is of more than the priority of a slot holder's work.
    pub(super) fn is_urged(&self) -> bool {
        let above = |holder: &Worker| self.has_queued_above(holder.priority());
        self.slots.slot_holders().any(above)
    }

    /// As [`is_queued`](Self::is_queued), but jobs from outside do not count.
    pub(super) fn has_queued_tasks(&self) -> bool {
        !self.stealable.is_empty() || !self.urgent.tasks.is_empty() || !self.background.tasks.is_empty()
    }

    /// Wakes a worker if there is work, and has later forks look up. Called when perhaps no worker searches any more, or when a slot has
    /// become free.
    pub(super) fn final_check(&self, by: &Worker) {
        if self.slots.final_check(by, || self.sees_work()) {
            self.wake_if_none_searches(Some(by));
        } else {
            self.wake_timed_searcher_for_queued(by);
            self.watch_if_needed();
        }
    }

    /// Ends a worker's search, because it has found a job.
    pub(super) fn end_search(&self, worker: &Worker) {
        worker.has_found();
        if self.slots.searching.end(worker.number()) {
            self.final_check(worker);
        } else {
            self.wake_timed_searcher_for_queued(worker);
        }
    }

    /// Wakes the timed searcher if it is to run a job that a publisher has left queued. Called when a worker searches no more, or a slot has become free.
    fn wake_timed_searcher_for_queued(&self, by: &Worker) {
        if !self.has_drivers() && self.leaves_queued() {
            self.wake_timed_searcher(Some(by));
        }
    }

    /// Whether jobs are queued, and only the timed searcher searches: a publisher has left it asleep because another worker searched, which does so no more,
    /// or because no slot was free.
    pub(super) fn leaves_queued(&self) -> bool {
        self.slots.searching.has_timed_searcher_only() && self.is_queued()
    }

    /// Wakes several workers for the work that `by`, which was woken itself, has begun to share: see [`Locked::wake_more`].
    fn wake_more(&self, by: &Worker) {
        let more = self.slots.wants_more().min(SPREAD);
        if more == 0 {
            return;
        }
        let Some(mut slots) = self.slots.try_lock() else {
            return by.wakes_more_later();
        };
        let woken = slots.wake_more(more, by.goes_on_at());
        drop(slots);
        (0..woken).for_each(|_| self.count_wakeup(Some(by)));
    }

    /// Wakes workers for work that was published where every worker looks. `by` is the calling worker, if the caller is one.
    pub(crate) fn notify(&self, by: Option<&Worker>) {
        // Where threads drive a reactor, the driver runs what others publish, and a worker runs the tasks that it wakes, unless the timed searcher sees that
        // it does not keep up.
        let wakes_driver = || self.has_drivers() && by.is_none() && self.lock().wake_driver();
        self.slots.searching.notify(
            || {
                if !wakes_driver() {
                    self.wake_if_none_searches(by);
                }
            },
            || {
                if !wakes_driver() && !self.has_drivers() && self.slots.searching.has_timed_searcher_only() {
                    self.wake_timed_searcher(by);
                }
            },
            || self.wake_long_sleepers(),
        );
        if !self.urgent.is_empty() && self.slots.searching.free() == 0 && !self.is_inherited() {
            self.hurry_watch();
        }
    }

    /// Has the queues looked at now. An urgent job does not wait for the next look.
    #[cold]
    fn hurry_watch(&self) {
        let mut slots = self.lock();
        if slots.monitor.has_watchdog && !slots.has_watcher() && !slots.is_terminating() {
            if let Some(worker) = self.spare_worker(&mut slots) {
                slots.begin_watch(worker);
            }
        } else {
            slots.hurry();
        }
    }

    /// Wakes one worker to search, if no worker searches and a slot is free.
    fn wake_if_none_searches(&self, by: Option<&Worker>) {
        if !self.slots.searching.needs_searcher() {
            return self.watch_if_needed();
        }
        let Some(mut slots) = self.lock_while(|| self.slots.searching.needs_searcher()) else {
            return self.watch_if_needed();
        };
        self.wake_searcher(&mut slots, by);
    }

    /// As [`wake_if_none_searches`](Self::wake_if_none_searches), with the slot lock held.
    fn wake_searcher<'a>(&'a self, slots: &mut Locked<'a>, by: Option<&Worker>) {
        match slots.wake_searcher(by.and_then(Worker::goes_on_at)) {
            WakeOutcome::Needless => return,
            WakeOutcome::Full => return self.watch(slots),
            WakeOutcome::Woken => {}
            WakeOutcome::NoWorker(slot) => {
                match self.start_thread(slots).or_else(|| self.ask_attendant(slots)) {
                    Some(worker) => slots.occupy(worker, slot),
                    None => {
                        // Nobody searches from now on: later pushes look up, as after a final check that has seen nothing.
                        self.slots.slot_holders().for_each(Occupant::request_split);
                        fence::heavy();
                        if !slots.wake_blocked(slot) {
                            return;
                        }
                    }
                }
            }
        }
        self.count_wakeup(by);
    }

    /// Has the pool use one more slot, by a token that it has requested.
    pub(crate) fn receive(&self, token: Token) {
        let mut slots = self.lock();
        slots.receive(token);
        // Between the store that says that no token is requested, and the look for a searching worker: see invariant 4 of `slots/tokens.rs`.
        fence::full();
        if self.slots.held() > 0 {
            self.wake_searcher(&mut slots, None);
        }
    }

    /// Has the pool use one slot, and further ones by tokens that `source` brings when it is called. Called before the pool's threads are started.
    pub(crate) fn use_tokens(&self, source: TokenSource) {
        self.slots.withhold(source);
    }

    /// Starts one more thread, without a slot. Its worker counts as parked, but is in no list: the caller gives it a slot or a watch.
    /// Returns `None` if the bound is reached or no thread can be started.
    pub(super) fn start_thread<'a>(&'a self, slots: &mut Locked<'a>) -> Option<&'a Worker> {
        let number = slots.threads.start()?;
        self.start_numbered(slots, number)
    }

    /// Starts the thread with that number, as [`start_thread`](Self::start_thread) does.
    pub(super) fn start_numbered<'a>(&'a self, slots: &mut Locked<'a>, number: usize) -> Option<&'a Worker> {
        let spawner = self.setup.spares.as_ref()?;
        let worker = self.make_worker(number, false);
        slots.begin_parked(worker);
        let registry = self.this();
        // `spawner` panics if the system does not accept the thread's name. Unwind-safe: no thread was started then.
        let spawn = || spawner(number, Box::new(move || registry.run_thread(number)));
        match catch_unwind(AssertUnwindSafe(spawn)) {
            Ok(Ok(thread)) => {
                self.keep(thread);
                return Some(worker);
            }
            Ok(Err(_)) => {}
            Err(payload) => drop_quietly(payload),
        }
        slots.threads.refuse(number);
        None
    }

    /// Wakes a worker for a fork that `worker` has just shared on request, if no worker searches.
    pub(crate) fn share(&self, worker: &Worker) {
        if worker.is_always_shared() {
            fence::full();
        }
        if worker.wakes_more() {
            self.wake_more(worker);
        }
        if self.slots.searching.no_searcher_for(worker.number()) {
            self.wake_if_none_searches(Some(worker));
        } else if self.wakes_timed_searcher() {
            if worker.is_worth_a_wake_up() {
                self.wake_timed_searcher(Some(worker));
            } else {
                worker.poke();
            }
        }
    }

    /// Wakes a worker for a fork that `worker` keeps to itself for now, if no worker searches, not even the timed searcher.
    pub(crate) fn wake_first_searcher(&self, worker: &Worker) {
        if self.slots.searching.no_searcher_for(worker.number()) {
            self.wake_if_none_searches(Some(worker));
        }
    }

    /// Wakes the timed searcher, or a worker in its place, if there is one and a slot is free.
    fn wake_timed_searcher(&self, by: Option<&Worker>) {
        let here = || by.and_then(Worker::goes_on_at);
        if self.slots.searching.claim_timed_searcher() && self.lock().wake_timed_searcher(here()) {
            self.count_wakeup(by);
        }
    }

    /// Wakes the long sleepers: they may need the job that has just been queued.
    #[cold]
    fn wake_long_sleepers(&self) {
        self.lock().wake_waiting();
    }

    /// Counts a wake-up for the worker that has caused it, or for the threads outside the pool.
    fn count_wakeup(&self, by: Option<&Worker>) {
        match by {
            Some(worker) => worker.counters.wakeups.add(),
            None => self.outside.wakeups.add_shared(1),
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::Registry;
    use crate::ThreadPoolBuilder;
    use crate::engine::registry::Setup;
    use crate::engine::worker::{Header, JobRef, Worker};
    use crate::slots::{WakeOutcome, WorkerState};
    use crate::sync::machine::atomic::Ordering::Relaxed;
    use std::future::poll_fn;
    use std::ptr::{self, NonNull};
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
        // The watchdog refers to the registry while it looks at the pool.
        assert!(comes_true(|| !registry.lock().monitor.has_watchdog));
        assert!(
            comes_true(|| registry.slots.searching.no_searcher() && registry.slots.searching.free() == 1)
        );
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

    /// Its publisher could not wake the timed searcher, because no slot was free: the worker that makes one free does.
    #[test]
    fn a_free_slot_wakes_the_timed_searcher_for_a_queued_job() {
        let registry = Registry::new(2, Setup::default());
        let [searcher, holder] = [0, 1].map(|number| registry.worker(number).unwrap());
        registry.begin_active(searcher);
        registry.begin_active(holder);
        let mut slots = registry.lock();
        registry.slots.searching.begin(searcher.number());
        slots.release(searcher);
        assert!(slots.begin_timed_search(searcher));
        let _taken = slots.take_free().expect("it was just released");
        drop(slots);
        registry.injector.push(JobRef::new(NonNull::<Header>::dangling(), ptr::null()));
        registry.notify(None);
        assert_eq!(registry.lock().state(searcher), WorkerState::TimedSearch);
        registry.release_slot(holder);
        assert_eq!(registry.lock().state(searcher), WorkerState::Active);
        assert!(registry.injector.steal().is_success(), "the job runs in no test");
    }

    /// Makes a pool whose workers have gone to sleep on these processors. The first one has parked last.
    fn sleeping_on(processors: [usize; 4]) -> Arc<Registry> {
        let registry = Registry::new(4, Setup::default());
        for (number, processor) in processors.into_iter().enumerate() {
            registry.worker(number).unwrap().processor.store(processor + 1, Relaxed);
        }
        registry
    }

    /// Linux would let the worker that has parked last wait for the processor of the worker that wakes it.
    #[test]
    fn a_worker_that_has_parked_on_another_processor_is_woken() {
        let woken = |here| {
            let registry = sleeping_on([9, 8, 7, 7]);
            assert!(matches!(registry.lock().wake_searcher(here), WakeOutcome::Woken));
            registry.slots.slot_holders().map(Worker::number).next()
        };
        assert_eq!([None, Some(9), Some(8)].map(woken), [0, 1, 0].map(Some));
    }

    #[test]
    fn a_timed_searcher_that_would_wait_for_a_processor_parks() {
        let woken = |here| {
            let registry = sleeping_on([9, 9, 8, 9]);
            let searcher = registry.worker(0).unwrap();
            registry.begin_active(searcher);
            registry.slots.searching.begin(0);
            let mut slots = registry.lock();
            slots.release(searcher);
            assert!(slots.begin_timed_search(searcher) && slots.wake_timed_searcher(here));
            assert_eq!(registry.slots.searching.count(), 1);
            assert!(!registry.slots.searching.has_timed_searcher());
            (slots.state(searcher), registry.slots.slot_holders().map(Worker::number).next())
        };
        assert_eq!(woken(Some(9)), (WorkerState::Parked, Some(2)));
        assert_eq!(woken(Some(8)), (WorkerState::Active, Some(0)));
        assert_eq!(woken(None), (WorkerState::Active, Some(0)));
    }

    /// A long sleeper that is not woken would sleep for up to 10 ms.
    #[test]
    fn queued_work_ends_a_long_sleep() {
        let registry = Registry::new(1, Setup::default());
        let worker = registry.worker(0).unwrap();
        // In the only slot, so that no other worker can be woken.
        registry.begin_active(worker);
        let mut slots = registry.lock();
        slots.wait(worker, false);
        slots.begin_long_sleep();
        drop(slots);
        // A token from the begin says nothing.
        worker.parker.park_timeout(Duration::ZERO);
        registry.notify(None);
        assert!(worker.parker.park_timeout(Duration::ZERO));
    }
}
