//! Models of a deque that changes hands: every interleaving, with few preemptions, of its owner, of the thread that
//! wakes or drops its task, and of thieves. Some thieves come by the stealable set; others have found the deque when it
//! was still a worker's own.
//!
//! Jobs and the task are memory that loom watches. A job that runs twice, or that a thread runs without seeing the
//! writes before the push, is an error in every model. A lost job is an error at the model's end. The set is a number
//! of entries under a lock.

use super::super::control::{FirstAction, Orphan, ResumeAction, Settle};
use super::SpawnDeque;
use crate::deque::Steal;
use crate::models::explore;
use crate::sync::Mutex;
use crate::sync::fence::turn;
use loom::cell::UnsafeCell;
use loom::thread;
use std::ptr::NonNull;
use std::sync::Arc;

/// A job, or the task: the number of its runs.
struct Job(UnsafeCell<usize>);

// SAFETY: loom reports accesses that race.
unsafe impl Sync for Job {}
// SAFETY: as above.
unsafe impl Send for Job {}

impl Job {
    fn new() -> Self {
        Job(UnsafeCell::new(0))
    }

    fn run(&self) {
        // SAFETY: loom checks that no other thread uses the cell.
        let before = self.0.with_mut(|runs| unsafe { runs.replace(1) });
        assert_eq!(before, 0, "it runs once");
    }

    fn has_run(&self) -> bool {
        // SAFETY: as above.
        self.0.with(|runs| unsafe { *runs == 1 })
    }
}

struct World {
    deque: SpawnDeque<Job, ()>,
    jobs: Vec<Job>,
    task: Job,
    /// The number of entries that the set has of this deque.
    entries: Mutex<usize>,
    /// How often the deque became a worker's own again, or free.
    ends: Mutex<usize>,
}

impl World {
    /// Makes a worker's own deque with so many jobs.
    fn new(jobs: usize) -> Arc<Self> {
        let world = World {
            deque: SpawnDeque::new(2, false),
            jobs: (0..jobs).map(|_| Job::new()).collect(),
            task: Job::new(),
            entries: Mutex::new(0),
            ends: Mutex::new(0),
        };
        world.deque.activate();
        for job in &world.jobs {
            // SAFETY: no other thread has the deque.
            let (_, look_up) = unsafe { world.deque.jobs().push(NonNull::from(job)) };
            // SAFETY: as above.
            let _ = look_up && unsafe { world.deque.jobs().publish(false) };
        }
        Arc::new(world)
    }

    fn thread(self: &Arc<Self>, acts: impl FnOnce(&World) + 'static) -> thread::JoinHandle<()> {
        let world = Arc::clone(self);
        thread::spawn(move || acts(&world))
    }

    fn list(&self) {
        let mut entries = self.entries.lock().unwrap();
        *entries += 1;
        assert_eq!(*entries, 1, "in one set, once");
    }

    fn ended(&self) {
        *self.ends.lock().unwrap() += 1;
    }

    /// As `Worker::suspend_deque`.
    fn suspend(&self) {
        // SAFETY: called by the owner, once.
        unsafe { self.deque.suspend(1) };
        self.list();
    }

    /// As `Registry::make_stealable`.
    fn wake(&self) {
        match self.deque.resume(()) {
            ResumeAction::List => self.list(),
            ResumeAction::Listed => {}
        }
    }

    /// As `Registry::orphan`.
    fn drop_task(&self) {
        self.task.run();
        match self.deque.orphan() {
            Orphan::Free => self.ended(),
            Orphan::Listed => {}
        }
    }

    /// As `Worker::take_up`. Returns false if there is no entry.
    fn visit(&self) -> bool {
        {
            let mut entries = self.entries.lock().unwrap();
            if *entries == 0 {
                return false;
            }
            *entries -= 1;
        }
        match self.deque.open() {
            FirstAction::Mugged(task) => {
                task.into_iter().for_each(|()| self.task.run());
                // SAFETY: the deque is this thread's now.
                while let Some(job) = unsafe { self.deque.jobs().pop_newest() } {
                    // SAFETY: the jobs live as long as the deque.
                    unsafe { job.as_ref() }.run();
                }
                self.ended();
            }
            FirstAction::Steal => {
                let stolen = self.deque.steal();
                match self.deque.settle(stolen.is_some()).0 {
                    Settle::List => self.list(),
                    Settle::Forget => {}
                    Settle::Free(task) => {
                        self.ended();
                        task.into_iter().for_each(|()| self.task.run());
                    }
                }
                // SAFETY: as above.
                stolen.into_iter().for_each(|job| unsafe { job.as_ref() }.run());
            }
        }
        true
    }

    /// A steal by a thief that has found the deque when it was a worker's own.
    fn steal_late(&self) {
        turn();
        if let Steal::Job(job) = self.deque.jobs().steal(|| true) {
            // SAFETY: the jobs live as long as the deque.
            unsafe { job.as_ref() }.run();
        }
    }

    /// The end of a model: remaining jobs are found, everything has run, and the deque is a worker's own, or free.
    fn end(&self, threads: impl IntoIterator<Item = thread::JoinHandle<()>>) {
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        while self.visit() {}
        assert!(self.task.has_run() && self.jobs.iter().all(Job::has_run));
        assert_eq!(*self.ends.lock().unwrap(), 1);
    }
}

#[test]
fn two_thieves_and_a_wake() {
    // W6: of two muggers, one wins, and no job is lost.
    explore(Some(2), || {
        let world = World::new(2);
        world.suspend();
        let waker = world.thread(World::wake);
        let thief = world.thread(|world| while world.visit() {});
        while world.visit() {}
        world.end([waker, thief]);
    });
}

#[test]
fn two_thieves_and_a_cancellation() {
    explore(Some(2), || {
        let world = World::new(1);
        world.suspend();
        let canceller = world.thread(World::drop_task);
        let thief = world.thread(|world| while world.visit() {});
        while world.visit() {}
        world.end([canceller, thief]);
    });
}

#[test]
fn a_late_thief_a_mugger_and_a_wake() {
    explore(Some(3), || {
        let world = World::new(2);
        let late = world.thread(|world| {
            world.steal_late();
            world.steal_late();
        });
        world.suspend();
        let waker = world.thread(World::wake);
        while world.visit() {}
        world.end([late, waker]);
    });
}

#[test]
fn a_wake_may_come_before_the_first_thief() {
    explore(None, || {
        let world = World::new(1);
        let late = world.thread(World::steal_late);
        world.suspend();
        world.wake();
        world.end([late]);
    });
}
