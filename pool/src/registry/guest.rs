//! Threads from outside that take part in their own call.

use super::Registry;
use crate::worker::{Current, Worker};
use std::cell::Cell;
use std::sync::atomic::Ordering::Release;

/// A guest's worker, kept for the thread's next call and given back when the thread ends.
struct Kept(Cell<Option<(&'static Registry, usize)>>);

impl Drop for Kept {
    fn drop(&mut self) {
        if let Some((registry, number)) = self.0.take()
            && let Some(worker) = registry.worker(number)
        {
            // Release pairs with the acquire in `Worker::take`: the next thread finds the deque as this one left it.
            worker.taken.store(false, Release);
        }
    }
}

thread_local! {
    static KEPT: Kept = const { Kept(Cell::new(None)) };
}

impl Registry {
    /// Calls `f` in this thread, which is none of the pool's, as one of its workers: if there is a place for it.
    ///
    /// The caller runs nothing but what `f` forks and spawns, whatever the pool's wait rule is.
    pub(crate) fn as_guest<F, R>(&'static self, f: F) -> Result<R, F>
    where
        F: FnOnce(&Worker) -> R,
    {
        self.check_generation();
        match self.guest() {
            Some(worker) if self.try_take_place(worker) => {
                worker.call.begins();
                // SAFETY: the registry is static; `guest` has given this worker to this thread alone.
                let current = unsafe { Current::enter(worker) };
                let leave = Leave(self, worker);
                let result = f(worker);
                drop((leave, current));
                Ok(result)
            }
            _ => Err(f),
        }
    }

    /// A worker for this thread: the one of its last call, or one that nobody has. None when there are too many threads,
    /// or this one is ending.
    fn guest(&'static self) -> Option<&'static Worker> {
        KEPT.try_with(|kept| {
            let number = match kept.0.get() {
                Some((_, number)) => number,
                None => {
                    let first = self.first_guest();
                    let number = (first..self.workers.0.len())
                        .find(|&number| self.make_worker(number, true).take())?;
                    kept.0.set(Some((self, number)));
                    number
                }
            };
            self.worker(number)
        })
        .ok()
        .flatten()
    }
}

/// Gives the place back, also when the call unwinds.
struct Leave<'a>(&'a Registry, &'a Worker);

impl Drop for Leave<'_> {
    fn drop(&mut self) {
        self.1.call.ends();
        self.0.leave_place(self.1);
    }
}
