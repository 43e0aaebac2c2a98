//! Models of the state word: every interleaving of wakes, polls, suspensions and cancellations that loom knows, or every one
//! with few preemptions.
//!
//! The future is memory that loom watches: each poll writes it, and so does its end. So two owners at once, and an
//! owner that does not see the last poll's writes, are errors in every model. The queue is a relaxed counter. It orders
//! nothing, so everything that the word does not order is found to be unordered. Operations that begin with a load of
//! the word are preceded by a [`turn`].

use super::{SuspendAction, TaskState, WakeAction};
use crate::models::explore;
use crate::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use crate::sync::fence::turn;
use loom::cell::UnsafeCell;
use loom::thread::{self, JoinHandle};
use std::sync::Arc;

/// State of a future.
#[derive(Debug, Default)]
struct Future {
    polls: usize,
    /// Ready, and dropped; or dropped.
    ends: usize,
}

/// A task, and the memory that its references share.
struct World {
    state: TaskState,
    /// Read by all owners of a reference, and written by the thread that frees it.
    memory: UnsafeCell<bool>,
    future: UnsafeCell<Future>,
    /// Number of queues that it is in.
    queued: AtomicUsize,
    submitted: AtomicUsize,
    /// Set by wakers before they wake. The future is ready when all are set.
    told: Vec<AtomicUsize>,
}

// SAFETY: loom reports accesses that race.
unsafe impl Sync for World {}
// SAFETY: as above.
unsafe impl Send for World {}

impl World {
    /// Makes a task in its first poll. It is ready when it has been told `things` things.
    fn new(things: usize) -> Arc<Self> {
        Arc::new(World {
            state: TaskState::running(),
            memory: UnsafeCell::new(true),
            future: UnsafeCell::new(Future::default()),
            queued: AtomicUsize::new(0),
            submitted: AtomicUsize::new(0),
            told: (0..things).map(|_| AtomicUsize::new(0)).collect(),
        })
    }

    fn thread(self: &Arc<Self>, acts: impl FnOnce(&World) + 'static) -> JoinHandle<()> {
        let world = Arc::clone(self);
        thread::spawn(move || acts(&world))
    }

    fn use_memory(&self) {
        // SAFETY: loom checks that no thread writes it meanwhile.
        assert!(self.memory.with(|memory| unsafe { *memory }), "used after it was freed");
    }

    fn release(&self) {
        self.use_memory();
        if self.state.release() {
            self.free();
        }
        turn();
    }

    fn free(&self) {
        // SAFETY: loom checks that no other thread uses it.
        assert!(self.memory.with_mut(|memory| unsafe { memory.replace(false) }), "freed twice");
    }

    fn future<R>(&self, f: impl FnOnce(&mut Future) -> R) -> R {
        self.use_memory();
        // SAFETY: loom checks that no other thread uses the cell.
        self.future.with_mut(|future| f(unsafe { &mut *future }))
    }

    fn submit(&self) {
        assert_eq!(self.queued.fetch_add(1, Relaxed), 0, "in two queues");
        self.submitted.fetch_add(1, Relaxed);
    }

    fn wake(&self) -> WakeAction {
        turn();
        let wake = self.state.wake();
        if wake == WakeAction::Submit {
            self.submit();
        }
        wake
    }

    /// Wakes as a waker does that is consumed.
    fn wake_and_release(&self) {
        turn();
        self.use_memory();
        match self.state.wake_and_release() {
            // This thread uses the task until it is queued. Real queues order that before later accesses; this one does
            // not.
            WakeAction::Submit => self.submit(),
            WakeAction::Coalesced => self.release(),
            WakeAction::InPoll => {}
        }
    }

    /// Tells one thing, and wakes.
    fn tell(&self, thing: usize) {
        self.told[thing].store(1, Relaxed);
        let _ = self.wake();
    }

    /// A poll by the owner of the future, and the actions after it.
    fn poll(&self) {
        let is_ready = self.future(|future| {
            future.polls += 1;
            !self.told.is_empty() && self.told.iter().all(|told| told.load(Relaxed) == 1)
        });
        if is_ready {
            return self.end();
        }
        self.suspend();
    }

    fn suspend(&self) {
        turn();
        match self.state.suspend() {
            SuspendAction::Suspended => {}
            SuspendAction::Again => self.submit(),
            SuspendAction::Cancelled => self.end(),
        }
    }

    /// Ends the task, after the future is gone.
    fn end(&self) {
        self.future(|future| future.ends += 1);
        turn();
        if self.state.finish() {
            self.free();
        }
        turn();
    }

    /// Takes the task from its queue, if it is in one, as a worker does.
    fn work(&self) -> bool {
        let found = self.queued.swap(0, Relaxed) == 1;
        if found {
            if self.state.begin() { self.poll() } else { self.end() }
        }
        found
    }

    fn cancel(&self) {
        turn();
        if self.state.cancel() {
            self.end();
        }
    }

    /// Waits for the threads, and runs the task while it is queued.
    fn end_of(&self, threads: impl IntoIterator<Item = JoinHandle<()>>) {
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        while self.work() {}
    }

    /// Checks that the future has ended once. Returns the number of its polls.
    fn assert_ended(&self) -> usize {
        // SAFETY: all threads have ended.
        self.future.with(|future| {
            let future = unsafe { &*future };
            assert_eq!(future.ends, 1, "lost, or ended twice");
            future.polls
        })
    }

    fn assert_freed(&self) {
        // SAFETY: all threads have ended.
        assert!(!self.memory.with(|memory| unsafe { *memory }), "leaked");
    }
}

/// W1: several wakes of one suspension, all before any poll: one entry, and one poll, which sees the writes of all
/// wakers.
fn many_wakes_are_one_poll(wakers: usize, preemptions: Option<usize>) {
    explore(preemptions, move || {
        let world = World::new(wakers);
        world.poll();
        let threads: Vec<_> = (0..wakers).map(|i| world.thread(move |world| world.tell(i))).collect();
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        assert!(world.work());
        assert!(!world.work());
        assert_eq!(world.submitted.load(Relaxed), 1);
        assert_eq!(world.assert_ended(), 2);
    });
}

#[test]
fn two_wakes_are_one_poll() {
    many_wakes_are_one_poll(2, None);
}

#[test]
fn three_wakes_are_one_poll() {
    many_wakes_are_one_poll(3, Some(3));
}

/// W1, W2: wakes come while the task is polled, suspended, queued, and taken by a worker.
fn no_wake_is_lost(wakers: usize, preemptions: Option<usize>) {
    explore(preemptions, move || {
        let world = World::new(wakers);
        let mut threads: Vec<_> = (1..wakers).map(|i| world.thread(move |world| world.tell(i))).collect();
        // This thread finds the queue in the state in which the first poll leaves it, and may run the task itself.
        threads.push(world.thread(|world| {
            world.tell(0);
            world.work();
        }));
        world.poll();
        world.work();
        world.end_of(threads);
        let polls = world.assert_ended();
        assert!(polls <= wakers + 1, "{polls} polls after {wakers} wakes");
        world.assert_freed();
    });
}

#[test]
fn one_wake_against_a_poll_and_its_end() {
    no_wake_is_lost(1, None);
}

#[test]
fn two_wakes_against_a_poll_and_its_end() {
    no_wake_is_lost(2, Some(3));
}

#[test]
fn three_wakes_against_a_poll_and_its_end() {
    no_wake_is_lost(3, Some(1));
}

/// The future passes from the thread that suspends it, through the one that wakes it, to the one that polls it next.
#[test]
fn what_a_poll_leaves_is_there_for_the_next() {
    explore(Some(3), || {
        let world = World::new(1);
        let waker = world.thread(|world| world.tell(0));
        let worker = world.thread(|world| {
            world.work();
            world.work();
        });
        world.poll();
        world.end_of([waker, worker]);
        assert!(world.assert_ended() <= 2);
        world.assert_freed();
    });
}

/// The owner writes data beside the future (its deque) before a suspension. The thread that makes the task scheduled
/// reads and writes them.
#[test]
fn what_is_left_beside_the_future_is_there_for_who_wakes() {
    explore(None, || {
        let world = World::new(0);
        let beside = Arc::new(Beside(UnsafeCell::new(0)));
        world.state.retain();
        world.state.retain();
        let wakers = [false, true].map(|gives_up| {
            let beside = Arc::clone(&beside);
            world.thread(move |world| {
                turn();
                let wake = if gives_up { world.state.wake_and_release() } else { world.state.wake() };
                if wake == WakeAction::Submit {
                    // SAFETY: loom checks that no other thread uses the cell.
                    assert_eq!(beside.0.with_mut(|left| unsafe { std::mem::replace(&mut *left, 2) }), 1);
                }
            })
        });
        // SAFETY: as above.
        beside.0.with_mut(|left| unsafe { *left = 1 });
        turn();
        if world.state.suspend() == SuspendAction::Again {
            // SAFETY: as above.
            assert_eq!(beside.0.with_mut(|left| unsafe { std::mem::replace(&mut *left, 2) }), 1);
        }
        wakers.into_iter().for_each(|waker| waker.join().unwrap());
        // SAFETY: as above.
        assert_eq!(beside.0.with(|left| unsafe { *left }), 2);
    });
}

/// See the model above.
struct Beside(UnsafeCell<usize>);

// SAFETY: loom reports accesses that race.
unsafe impl Sync for Beside {}
// SAFETY: as above.
unsafe impl Send for Beside {}

/// The future is dropped once, whichever thread finds the task cancelled.
#[test]
fn a_cancellation_against_a_suspension() {
    explore(None, || {
        let world = World::new(0);
        world.state.retain();
        let canceller = world.thread(|world| {
            world.cancel();
            world.release();
        });
        world.poll();
        world.end_of([canceller]);
        assert_eq!(world.assert_ended(), 1);
        world.assert_freed();
    });
}

#[test]
fn a_cancellation_against_a_wake_and_a_poll() {
    explore(Some(3), || {
        let world = World::new(0);
        world.state.retain();
        world.state.retain();
        let canceller = world.thread(|world| {
            world.cancel();
            world.release();
        });
        let waker = world.thread(|world| {
            let _ = world.wake();
            world.release();
        });
        world.poll();
        world.work();
        world.end_of([canceller, waker]);
        assert!(world.assert_ended() <= 2);
        world.assert_freed();
    });
}

/// One thread cancels, and one wakes and polls, from the beginning.
#[test]
fn a_cancellation_against_a_worker() {
    explore(Some(3), || {
        let world = World::new(0);
        world.state.retain();
        world.poll();
        let worker = world.thread(|world| {
            let _ = world.wake();
            world.work();
        });
        world.cancel();
        world.release();
        world.end_of([worker]);
        assert!(world.assert_ended() <= 2);
        world.assert_freed();
    });
}

#[test]
fn the_last_reference_frees() {
    explore(Some(2), || {
        let world = World::new(1);
        world.state.retain();
        world.state.retain();
        let wakers = [0, 1].map(|_| {
            world.thread(|world| {
                world.use_memory();
                let _ = world.wake();
                world.release();
            })
        });
        // The future becomes ready.
        world.end();
        wakers.into_iter().for_each(|waker| waker.join().unwrap());
        world.assert_freed();
    });
}

/// Wakers that are consumed, from the first poll on.
#[test]
fn wakers_give_their_references_up_as_they_wake() {
    explore(Some(2), || {
        let world = World::new(2);
        world.state.retain();
        world.state.retain();
        let wakers = [0, 1].map(|i| {
            world.thread(move |world| {
                world.told[i].store(1, Relaxed);
                world.wake_and_release();
            })
        });
        world.poll();
        world.work();
        world.end_of(wakers);
        assert!(world.assert_ended() <= 3);
        world.assert_freed();
    });
}

/// A waker that is consumed, against a thread that cancels.
#[test]
fn a_waker_that_is_used_up_against_a_cancellation() {
    explore(Some(3), || {
        let world = World::new(0);
        world.state.retain();
        world.state.retain();
        let waker = world.thread(World::wake_and_release);
        let canceller = world.thread(|world| {
            world.cancel();
            world.release();
        });
        world.poll();
        world.work();
        world.end_of([waker, canceller]);
        world.assert_ended();
        world.assert_freed();
    });
}

/// A task is used again only when no waker is left, and freed after the last of its earlier wakers.
#[test]
fn a_task_is_used_again_when_nobody_knows_it() {
    explore(None, || {
        let world = World::new(0);
        world.state.retain();
        let waker = world.thread(|world| {
            let wake = world.wake();
            assert!(matches!(wake, WakeAction::InPoll | WakeAction::Coalesced), "nothing is to be submitted");
            world.release();
        });
        // The first future is ready.
        world.future(|future| future.polls += 1);
        turn();
        if world.state.renew() {
            // The next future is suspended, and dropped. No wake is left for it.
            world.future(|future| future.polls += 1);
            assert_eq!(world.state.suspend(), SuspendAction::Suspended);
            world.cancel();
        } else {
            world.end();
        }
        waker.join().unwrap();
        assert_eq!(world.queued.load(Relaxed), 0);
        world.assert_freed();
    });
}
