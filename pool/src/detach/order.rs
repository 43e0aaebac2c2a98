//! Wakes that put a task before others in its queue.

use std::cell::Cell;
use std::task::Waker;

/// Position at which a woken task is queued.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum QueuePosition {
    /// After the tasks that were woken earlier.
    Last,
    /// Before all tasks except the [`SOON`] oldest.
    Soon,
    /// Before all other tasks.
    First,
}

/// Number of tasks that run before a task that was woken [soon](wake_soon).
///
/// Large enough that a task that makes requests, and is woken by each answer, makes several requests at a time. Small
/// enough that the permits of these answers are not unused for long.
pub(crate) const SOON: usize = 8;

crate::sync::machine::thread_local! {
    /// The order in which the calling thread wakes tasks.
    static ORDER: Cell<QueuePosition> = const { Cell::new(QueuePosition::Last) };
}

/// Wakes a task so that it runs before all tasks that were woken earlier: next on this worker, if the caller is a
/// worker of the task's pool.
///
/// For a task that has waited longer than the tasks woken before it, such as a task that waits in a line for a permit.
/// The woken task should only begin a piece of work and then wait again, so that the others hardly wait. Calling this
/// again and again keeps the other tasks of the set from running. Wakers of other executors are woken as by
/// [`Waker::wake`].
///
/// Cost: as [`Waker::wake`].
///
/// ```
/// use std::task::Waker;
/// furcate::detach::wake_first(Waker::noop().clone());
/// ```
pub fn wake_first(waker: Waker) {
    wake(waker, QueuePosition::First);
}

/// Wakes a task so that it runs before the tasks that were woken earlier, except the eight oldest of its set.
///
/// For a task that has waited long, and that does more at once the later it runs. An example is a task that makes a
/// future for each permit that has come back: if it ran after every task that gives a permit back, it would cost as
/// much as all of those.
///
/// Cost: as [`Waker::wake`].
///
/// ```
/// use std::task::Waker;
/// furcate::detach::wake_soon(Waker::noop().clone());
/// ```
pub fn wake_soon(waker: Waker) {
    wake(waker, QueuePosition::Soon);
}

fn wake(waker: Waker, order: QueuePosition) {
    struct Before(QueuePosition);
    impl Drop for Before {
        fn drop(&mut self) {
            ORDER.set(self.0);
        }
    }
    let _before = Before(ORDER.replace(order));
    waker.wake();
}

/// Returns the order in which the calling thread wakes tasks.
pub(crate) fn order() -> QueuePosition {
    ORDER.get()
}
