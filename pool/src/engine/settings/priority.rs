//! Calls of a priority.

use crate::engine::worker::Worker;
use crate::slots::Priority;
use crate::sync::machine::atomic::{AtomicBool, Ordering::Relaxed};
use crate::sync::machine::{machine_static, thread_local};
use std::cell::Cell;

machine_static! {
    /// Whether any call had another priority than [`Normal`](Priority::Normal) so far. Then thieves look at the priorities of their victims.
    static HAS_PRIORITIES: AtomicBool = AtomicBool::new(false);
}

/// Whether any call had another priority than normal so far. A hint.
pub(crate) fn has_priorities() -> bool {
    // Relaxed: a hint.
    HAS_PRIORITIES.load(Relaxed)
}

thread_local! {
    /// The priority of the calls of a thread that is in no pool.
    static OUTSIDE: Cell<Priority> = const { Cell::new(Priority::Normal) };
}

/// Calls `f`. What `f` starts has that priority: its forks, scopes, chains, spawned jobs and futures, and its calls of any pool.
///
/// A thread that is in no pool, and calls one in `f`, gets a slot by its priority. On a worker, the rest of the job has its former priority.
///
/// - *Urgent* work on a pool whose workers all do less urgent work begins as soon as one of them comes to the end of a leaf: to a fork, to the next
///   nano-loop, or to its next job. That worker goes on when a slot is free again. If no worker comes to a fork in some 5 ms, the urgent
///   work begins beside them: one thread more than the pool has then runs jobs, until that work ends.
/// - *Background* work begins when no other work is queued. Threads that steal prefer other work. When other work comes, background work gives its slots at its
///   next leaves' ends. So that none starves, background work that has waited for 100 ms is served once as normal work is, and normal work that has waited so
///   long as urgent work is.
///
/// A priority says what begins first. It ends no leaf, and the system's scheduler of threads does not know it. Among normal work, the
/// pool's [`Fairness`](crate::Fairness) decides; urgent work begins in the order in which it was queued, and so does background work. Jobs and tasks of a
/// scope have the priority with which the scope was made. A task that was suspended with jobs of its own ([`Suspension::Proactive`](crate::Suspension::Proactive)) is queued as a normal one.
///
/// Cost: two stores; an urgent or background job is queued under a lock. A fork costs the same in calls of every priority.
///
/// ```
/// use furcate::{Priority, join, with_priority};
///
/// // Fills what other work leaves idle.
/// with_priority(Priority::Background, || furcate::spawn(|| println!("the index is rebuilt")));
/// // Does not wait behind it.
/// let (a, b) = with_priority(Priority::Urgent, || join(|| 1, || 2));
/// assert_eq!(a + b, 3);
/// ```
pub fn with_priority<R>(priority: Priority, f: impl FnOnce() -> R) -> R {
    if priority != Priority::Normal && !has_priorities() {
        HAS_PRIORITIES.store(true, Relaxed);
    }
    Worker::with_current(|current| match current {
        Some(worker) => {
            let _call = worker.begin_call(priority);
            f()
        }
        None => {
            let _former = Former(OUTSIDE.replace(priority));
            f()
        }
    })
}

/// Returns the priority of the calling job; of a thread in no pool, of its calls.
///
/// ```
/// use furcate::{Priority, current_priority, with_priority};
/// assert_eq!(current_priority(), Priority::Normal);
/// assert_eq!(with_priority(Priority::Urgent, current_priority), Priority::Urgent);
/// ```
#[must_use]
pub fn current_priority() -> Priority {
    Worker::with_current(|current| current.map_or_else(|| OUTSIDE.get(), Worker::priority))
}

/// Restores the priority of a thread outside.
struct Former(Priority);

impl Drop for Former {
    fn drop(&mut self) {
        OUTSIDE.set(self.0);
    }
}
