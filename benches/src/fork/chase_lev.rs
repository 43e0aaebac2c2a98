//! A naive pool on crossbeam's Chase-Lev deque: textbook work stealing, written down directly.
//!
//! One deque per thread. `join` pushes a job that lies on the stack, runs the left half and pops; if the job is gone,
//! it steals and runs others until the thief is done. Idle threads spin, yield, then sleep for short times. The
//! caller of `run` is worker 0.
//!
//! Invariants:
//!
//! 1. A [`JobRef`] is in one deque at most, and is taken from it once: by the owner's pop or by one steal.
//! 2. The frame of `join` that made it ends only after its owner popped it, or after its latch is set, which is the
//!    last thing its thief does to it.
//! 3. Jobs of a worker are popped in the order of its frames. When `left` has returned, all jobs that it pushed were
//!    popped or stolen. So the bottom of the deque is this frame's job, unless that was stolen, and all jobs above it.

mod job;

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use crossbeam_deque::{Steal, Stealer, Worker as Deque};

use self::job::{JobRef, StackJob};
use super::{Engine, Fork, STACK};

/// A naive work-stealing pool.
#[derive(Debug)]
pub struct ChaseLev {
    /// Worker 0, lent to the caller of `run`.
    caller: Mutex<ChaseLevWorker>,
    stop: Arc<AtomicBool>,
    threads: Vec<thread::JoinHandle<()>>,
}

/// A worker, which only its own thread uses.
#[derive(Debug)]
pub struct ChaseLevWorker {
    deque: Deque<JobRef>,
    /// All workers' deques, this one's too.
    stealers: Arc<[Stealer<JobRef>]>,
    /// The state of a xorshift generator, never 0.
    random: Cell<u32>,
}

impl ChaseLevWorker {
    /// Tries all workers once, from a random one on.
    fn steal(&self) -> Option<JobRef> {
        let mut x = self.random.get();
        x ^= x << 13;
        x ^= x >> 17;
        x ^= x << 5;
        self.random.set(x);
        let first = x as usize % self.stealers.len();
        let (before, from) = self.stealers.split_at(first);
        from.iter().chain(before).find_map(|victim| {
            loop {
                match victim.steal() {
                    Steal::Success(job) => return Some(job),
                    Steal::Empty => return None,
                    Steal::Retry => {}
                }
            }
        })
    }

    /// Steals and runs jobs until `done`.
    fn steal_until(&self, done: impl Fn() -> bool) {
        let mut idle = Idle::default();
        while !done() {
            match self.steal() {
                Some(job) => {
                    // SAFETY: taken from a deque, hence not executed before (invariant 1) and alive (invariant 2).
                    unsafe { job.execute(self) };
                    idle = Idle::default();
                }
                None => idle.pause(),
            }
        }
    }
}

/// Number of tries in a row that found nothing.
#[derive(Default)]
struct Idle(u32);

impl Idle {
    fn pause(&mut self) {
        self.0 += 1;
        match self.0 {
            ..100 => std::hint::spin_loop(),
            100..200 => thread::yield_now(),
            _ => thread::sleep(Duration::from_micros(50)),
        }
    }
}

impl Fork for ChaseLevWorker {
    #[inline]
    fn join<A, B, RA, RB>(&self, left: A, right: B) -> (RA, RB)
    where
        A: FnOnce(&Self) -> RA + Send,
        B: FnOnce(&Self) -> RB + Send,
        RA: Send,
        RB: Send,
    {
        let job = StackJob::new(right);
        // SAFETY: pushed once (invariant 1). `job` is not moved, and this frame does not end before it is popped or
        // its latch is set (invariant 2), for a panic of `left` is caught.
        self.deque.push(unsafe { job.as_job_ref() });
        let left = catch_unwind(AssertUnwindSafe(|| left(self)));
        // By invariant 3, the popped job is `job`; from here on no other thread has a reference to it.
        let right = if self.deque.pop().is_some() {
            left.is_ok().then(|| job.into_closure()(self))
        } else {
            self.steal_until(|| job.is_done());
            let right = job.into_result();
            left.is_ok().then(|| right.unwrap_or_else(|panic| resume_unwind(panic)))
        };
        match (left, right) {
            (Ok(left), Some(right)) => (left, right),
            (Err(panic), _) => resume_unwind(panic),
            (Ok(_), None) => unreachable!("the right half ran"),
        }
    }
}

impl Engine for ChaseLev {
    const NAME: &'static str = "chase-lev";
    type Fork = ChaseLevWorker;

    fn new(threads: usize) -> Self {
        let deques: Vec<Deque<JobRef>> = (0..threads).map(|_| Deque::new_lifo()).collect();
        let stealers: Arc<[_]> = deques.iter().map(Deque::stealer).collect();
        let mut workers = (1..).zip(deques).map(|(seed, deque)| ChaseLevWorker {
            deque,
            stealers: stealers.clone(),
            random: Cell::new(seed),
        });
        let caller = Mutex::new(workers.next().expect("at least one thread"));
        let stop = Arc::new(AtomicBool::new(false));
        let start = |worker: ChaseLevWorker| {
            let stop = stop.clone();
            // Relaxed: the flag publishes nothing.
            let body = move || worker.steal_until(|| stop.load(Ordering::Relaxed));
            thread::Builder::new().stack_size(STACK).spawn(body).expect("threads can be started")
        };
        let threads = workers.map(start).collect();
        Self { caller, stop, threads }
    }

    fn run<R, F>(&self, body: F) -> R
    where
        R: Send,
        F: FnOnce(&ChaseLevWorker) -> R + Send,
    {
        // After a panic the worker still works: its deque is empty again.
        body(&self.caller.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Drop for ChaseLev {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            thread.join().expect("workers catch the panics of jobs");
        }
    }
}
