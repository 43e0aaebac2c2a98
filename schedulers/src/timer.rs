//! Timers: deadlines of calls, timeouts of futures, and rates of limits. One thread of the process wakes the tasks that wait for them.
//!
//! # Invariants
//!
//! 1. A timer has at most one entry in the queue, with the waker of its last poll. The entry goes when the timer is due or dropped.
//! 2. The thread sleeps no longer than until the time of the first entry. An earlier entry notifies the thread; a later one, or the end
//!    of the first one, does not. So a timer that ends before its time, as most timeouts do, costs no switch of threads.
//! 3. While the queue has entries, the thread runs. It is started by the first timer that waits, and never ends: a program that has
//!    waited once need not fear that a later wait finds no thread.
//! 4. No waker is cloned, called or dropped under the lock, because a waker is foreign code.

use furcate_pool::sync::clock;
use furcate_pool::sync::machine::{Condvar, Mutex, MutexGuard};
use furcate_pool::sync::machine::{machine_static, thread};
use std::collections::BTreeMap;
use std::io;
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::PoisonError;
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

/// Future that is ready at a time, or a little later.
///
/// Timeouts, deadlines and rates stand on it. One thread of the process, which is started when a timer waits first, wakes the tasks that
/// wait, one after the other: a waker that blocks delays all timers, and one that waits for a timer waits for ever.
///
/// Cost: a poll that is not ready takes the lock of a queue that all timers share. So does the drop of a timer that waits.
///
/// # Panics
///
/// The first poll in a process that has to wait panics if the thread cannot be started.
///
/// ```
/// use furcate_schedulers::Timer;
/// use std::time::{Duration, Instant};
///
/// let begin = Instant::now();
/// furcate::block_on(Timer::after(Duration::from_millis(5)));
/// assert!(begin.elapsed() >= Duration::from_millis(5));
/// ```
#[derive(Debug)]
#[must_use = "futures do nothing unless they are polled"]
pub struct Timer {
    /// Time at which the timer is ready. `None`: never.
    at: Option<Instant>,
    /// Second part of the entry's key. `None` while the timer has no entry.
    number: Option<u64>,
}

impl Timer {
    /// Makes a timer that is ready at this time.
    pub const fn at(at: Instant) -> Self {
        Timer { at: Some(at), number: None }
    }

    /// Makes a timer that is ready after this time, counted from now. If no [`Instant`] is as late as that, the timer is never ready.
    pub fn after(time: Duration) -> Self {
        Timer { at: clock::now().checked_add(time), number: None }
    }
}

impl Future for Timer {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let Some(at) = self.at else { return Poll::Pending };
        if clock::now() >= at {
            self.leave();
            return Poll::Ready(());
        }
        let waker = context.waker().clone();
        let mut queue = lock();
        let number = *self.number.get_or_insert_with(|| {
            queue.last_number += 1;
            queue.last_number
        });
        let before = queue.entries.insert((at, number), waker);
        let seen_to = queue.see_to(at);
        drop(queue);
        drop(before);
        seen_to.expect("no thread can be started that wakes timers");
        Poll::Pending
    }
}

impl Timer {
    /// Removes the timer's entry, if the thread has not done so.
    fn leave(&mut self) {
        if let (Some(at), Some(number)) = (self.at, self.number.take()) {
            let waker = lock().entries.remove(&(at, number));
            drop(waker);
        }
    }
}

impl Drop for Timer {
    fn drop(&mut self) {
        self.leave();
    }
}

machine_static! {
    static QUEUE: Mutex<TimerQueue> =
        Mutex::new(TimerQueue { entries: BTreeMap::new(), last_number: 0, has_thread: false, looks_at: None });
}
machine_static! {
    /// Notified if an entry is earlier than the thread's next look at the queue.
    static EARLIER: Condvar = Condvar::new();
}
/// Time until the thread's next look at an empty queue.
const IDLE: Duration = Duration::from_secs(24 * 3600);

/// The timers that wait.
struct TimerQueue {
    /// Wakers, by time and number. The first one is the next one to be called.
    entries: BTreeMap<(Instant, u64), Waker>,
    /// Number of the timer that joined last.
    last_number: u64,
    has_thread: bool,
    /// Time until which the thread sleeps. `None` while the thread is awake or notified: it looks at the queue before it sleeps.
    looks_at: Option<Instant>,
}

/// Locks the queue. No code panics under the lock.
fn lock() -> MutexGuard<'static, TimerQueue> {
    QUEUE.lock().unwrap_or_else(PoisonError::into_inner)
}

impl TimerQueue {
    /// Makes sure that the thread looks at the queue at this time (invariants 2 and 3).
    ///
    /// # Errors
    ///
    /// If the thread cannot be started.
    fn see_to(&mut self, at: Instant) -> io::Result<()> {
        if !self.has_thread {
            thread::Builder::new().name("furcate-timers".into()).spawn(|| wake_in_time())?;
            self.has_thread = true;
        } else if self.looks_at.is_some_and(|looks_at| at < looks_at) {
            self.looks_at = None;
            EARLIER.notify_one();
        }
        Ok(())
    }

    /// Moves the wakers that are due to the list.
    fn take_due(&mut self, due: &mut Vec<Waker>) {
        let now = clock::now();
        while let Some(first) = self.entries.first_entry() {
            if first.key().0 > now {
                break;
            }
            due.push(first.remove());
        }
    }
}

/// The thread of the queue.
fn wake_in_time() -> ! {
    let mut due = Vec::new();
    let mut queue = lock();
    loop {
        queue.take_due(&mut due);
        if !due.is_empty() {
            drop(queue);
            for waker in due.drain(..) {
                // A waker that panics does not keep the others from being called. To drop the panic's value might panic again.
                catch_unwind(AssertUnwindSafe(|| waker.wake())).unwrap_or_else(mem::forget);
            }
            queue = lock();
            continue;
        }
        let now = clock::now();
        let looks_at = queue.entries.keys().next().map_or(now + IDLE, |&(at, _)| at);
        queue.looks_at = Some(looks_at);
        let time = looks_at.saturating_duration_since(now);
        queue = EARLIER.wait_timeout(queue, time).unwrap_or_else(PoisonError::into_inner).0;
        queue.looks_at = None;
    }
}

#[cfg(all(test, not(loom)))]
mod tests;
