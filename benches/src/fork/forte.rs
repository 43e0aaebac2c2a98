//! forte: jobs are queued locally, and the oldest ones shared at the first fork after a heartbeat (10 µs of the tick
//! counter). With enough of them queued, `join` runs both halves in place.
//!
//! As its documentation recommends, workers are handed down rather than looked up. A pool of forte's is a static;
//! engines take turns in using it.

use std::sync::{Mutex, MutexGuard, PoisonError};

use ::forte::{ThreadPool, Worker};

use super::{Engine, Fork};

static POOL: ThreadPool = ThreadPool::new();
static TURN: Mutex<()> = Mutex::new(());

/// The use of forte's pool. The caller is one of its threads.
#[derive(Debug)]
pub struct Forte {
    _turn: MutexGuard<'static, ()>,
}

impl Fork for Worker {
    #[inline]
    fn join<A, B, RA, RB>(&self, left: A, right: B) -> (RA, RB)
    where
        A: FnOnce(&Self) -> RA + Send,
        B: FnOnce(&Self) -> RB + Send,
        RA: Send,
        RB: Send,
    {
        // forte runs its second closure at once, and offers the first.
        let (right, left) = Worker::join(self, right, left);
        (left, right)
    }
}

impl Engine for Forte {
    const NAME: &'static str = "forte";
    type Fork = Worker;

    fn new(threads: usize) -> Self {
        // A panicking program leaves nothing behind: the pool is emptied on drop.
        let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
        POOL.resize_to(threads - 1);
        Self { _turn: turn }
    }

    fn run<R, F>(&self, body: F) -> R
    where
        R: Send,
        F: FnOnce(&Worker) -> R + Send,
    {
        POOL.with_worker(body)
    }
}

impl Drop for Forte {
    fn drop(&mut self) {
        POOL.depopulate();
    }
}
