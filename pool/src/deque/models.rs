//! Models of the deque: every interleaving of owner and thieves that loom knows, or every one with few preemptions.
//!
//! The main thread is the owner. A job is memory that loom watches: it is written before the push, and by whoever
//! takes the job. So a job taken twice, or seen by its thief as it was before the push, is an error in every model,
//! and a job lost is one at the model's end.

mod growth;
mod last;
mod pop_shares;
mod private;
mod request;
mod ring;

use super::{Deque, Steal};
use crate::models::explore;
use crate::sync::fence::turn;
use loom::cell::UnsafeCell;
use loom::thread::JoinHandle;
use std::ptr::NonNull;
use std::sync::Arc;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    Unmade,
    Waiting,
    Taken,
}

struct Job(UnsafeCell<Fate>);

// SAFETY: loom reports accesses that race.
unsafe impl Sync for Job {}
// SAFETY: as above.
unsafe impl Send for Job {}

impl Job {
    fn becomes(&self, from: Fate, to: Fate) {
        // SAFETY: loom checks that no other thread uses the cell.
        let was = self.0.with_mut(|fate| unsafe { fate.replace(to) });
        assert_eq!(was, from);
    }
}

/// A deque and the jobs that may be in it.
struct World {
    deque: Deque<Job>,
    jobs: Vec<Job>,
}

impl World {
    fn new(jobs: usize, deque: Deque<Job>) -> Arc<Self> {
        let jobs = (0..jobs).map(|_| Job(UnsafeCell::new(Fate::Unmade))).collect();
        Arc::new(World { deque, jobs })
    }

    fn thread(self: &Arc<Self>, acts: impl FnOnce(&World) + 'static) -> JoinHandle<()> {
        let world = Arc::clone(self);
        loom::thread::spawn(move || acts(&world))
    }

    /// The end of a model: the threads end, and no job is lost.
    fn end(&self, threads: impl IntoIterator<Item = JoinHandle<()>>) {
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        assert!(self.deque.is_empty());
        self.jobs.iter().for_each(|job| job.becomes(Fate::Taken, Fate::Taken));
    }
}

/// What the owner does.
impl World {
    /// Makes and pushes a job, and publishes if told to check. Returns its index.
    fn push(&self, job: usize) -> u64 {
        let (index, look_up) = self.push_unpublished(job);
        if look_up {
            // SAFETY: called by the main thread only.
            unsafe { self.deque.publish(false) };
        }
        index
    }

    fn push_unpublished(&self, job: usize) -> (u64, bool) {
        self.jobs[job].becomes(Fate::Unmade, Fate::Waiting);
        // SAFETY: called by the main thread only.
        unsafe { self.deque.push(NonNull::from(&self.jobs[job])) }
    }

    fn share_all(&self) {
        // SAFETY: called by the main thread only.
        unsafe { self.deque.share_all() }
    }

    /// Takes the newest job back, or finds it stolen.
    fn pop(&self, index: u64, job: usize) -> bool {
        // SAFETY: called by the main thread only; models pop what they pushed last.
        let popped = unsafe { self.deque.pop(index) };
        if popped {
            self.jobs[job].becomes(Fate::Waiting, Fate::Taken);
        }
        popped
    }

    /// Takes the newest job, whichever it is. False if there is none.
    fn pop_newest(&self) -> bool {
        let empty = self.deque.is_empty();
        // SAFETY: called by the main thread only.
        let job = unsafe { self.deque.pop_newest() };
        if let Some(job) = job {
            // SAFETY: the jobs live as long as the deque.
            unsafe { job.as_ref() }.becomes(Fate::Waiting, Fate::Taken);
        }
        !empty
    }
}

/// What thieves do.
impl World {
    fn run(&self, stolen: Steal<Job>) -> Steal<Job> {
        if let Steal::Job(job) = stolen {
            // SAFETY: the jobs live as long as the deque.
            unsafe { job.as_ref() }.becomes(Fate::Waiting, Fate::Taken);
        }
        stolen
    }

    fn steal(&self) -> Steal<Job> {
        turn();
        self.run(self.deque.steal(wanted))
    }

    fn steal_private(&self) -> Steal<Job> {
        turn();
        self.run(self.deque.steal_private(wanted, || {}))
    }

    /// Steals a shared job; if there are only private jobs, steals one of those.
    fn steal_any(&self) -> Steal<Job> {
        match self.steal() {
            Steal::Private => self.steal_private(),
            other => other,
        }
    }
}

/// Accepts any job; the compare-and-swap comes next.
fn wanted() -> bool {
    turn();
    true
}
