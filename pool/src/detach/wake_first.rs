//! Wakes that go before others.

use std::cell::Cell;
use std::task::Waker;

thread_local! {
    /// Whether the calling thread is in [`wake_first`].
    static FIRST: Cell<bool> = const { Cell::new(false) };
}

/// Wakes a task so that it runs before the tasks that were woken earlier: next on this worker, if the caller is one of the
/// task's pool.
///
/// For a task that has waited longer than the tasks woken before it, such as a task that waits in a line for a permit. The woken task
/// should only begin a piece of work and then wait again, so that the others hardly wait. A task that wakes another one in this way
/// again and again keeps the others of its set from running. Wakers of other executors are woken as by [`Waker::wake`].
///
/// Cost: as [`Waker::wake`].
///
/// ```
/// use std::task::Waker;
/// furcate::detach::wake_first(Waker::noop().clone());
/// ```
pub fn wake_first(waker: Waker) {
    struct Before(bool);
    impl Drop for Before {
        fn drop(&mut self) {
            FIRST.set(self.0);
        }
    }
    let _before = Before(FIRST.replace(true));
    waker.wake();
}

/// Whether a wake by the calling thread goes before others.
pub(crate) fn wakes_first() -> bool {
    FIRST.get()
}
