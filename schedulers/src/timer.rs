//! Timers: deadlines of calls, timeouts of futures, and rates of limits. One thread of the process wakes the tasks that wait for them.
//!
//! # Invariants
//!
//! 1. A timer has at most one entry, with the waker of its last poll, in the shard that its number names. The entry goes when the timer is due or
//!    dropped.
//! 2. *The thread sleeps no longer than until the time of the first entry.* It stores the time until which it wants to sleep ([`NEXT_LOOK`]), passes a
//!    full fence, and looks at the shards once more. Who adds an entry passes a full fence, and reads that time: if the entry is earlier, it stores
//!    [`AWAKE`] under the thread's lock and notifies the thread. So the thread sees the entry, or is notified. A later entry, or the end of the first
//!    one, does not notify. So a timer that ends before its time, as most timeouts do, costs no switch of threads.
//! 3. While there are entries, the thread runs. It is started by the first timer that waits, and never ends: a program that has
//!    waited once need not fear that a later wait finds no thread.
//! 4. No waker is cloned, called or dropped under a lock, because a waker is foreign code.
//! 5. [`Shard::first`] is the time of the shard's first entry whenever the shard's lock is free.

use furcate_pool::sync::clock;
use furcate_pool::sync::machine::atomic::Ordering::{Relaxed, SeqCst};
use furcate_pool::sync::machine::atomic::{AtomicU64, fence};
use furcate_pool::sync::machine::{Condvar, Mutex, MutexGuard, OnceLock};
use furcate_pool::sync::machine::{machine_static, thread};
use std::collections::BTreeMap;
use std::io;
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::ptr;
use std::sync::PoisonError;
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

/// Future that is ready at a time, or a little later.
///
/// Timeouts, deadlines and rates stand on it. One thread of the process, which is started when a timer waits first, wakes the tasks that
/// wait, one after the other: a waker that blocks delays all timers, and one that waits for a timer waits for ever.
///
/// Cost: a poll that is not ready takes the lock of one of 32 maps of timers. So does the drop of a timer that waits.
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
    /// Second part of the entry's key, which names the shard, too. `None` while the timer has no entry.
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
        // Timers that wait at the same time lie at different addresses, and mostly in different shards.
        let address = ptr::from_ref(&*self).addr() as u64;
        let shard = self.number.unwrap_or(address.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32) % SHARDS;
        let before = TIMERS[shard as usize].with(|entries| {
            let number = *self.number.get_or_insert_with(|| {
                entries.last_number += SHARDS;
                entries.last_number + shard
            });
            entries.wakers.insert((at, number), waker)
        });
        drop(before);
        see_to(at).expect("no thread can be started that wakes timers");
        Poll::Pending
    }
}

impl Timer {
    /// Removes the timer's entry, if the thread has not done so.
    fn leave(&mut self) {
        if let (Some(at), Some(number)) = (self.at, self.number.take()) {
            let waker =
                TIMERS[(number % SHARDS) as usize].with(|entries| entries.wakers.remove(&(at, number)));
            drop(waker);
        }
    }
}

impl Drop for Timer {
    fn drop(&mut self) {
        self.leave();
    }
}

/// Number of maps of timers. Threads that wait for one lock would take turns: with 64 cores and 20,000 waits of 1 ms, one map took twenty times as long.
const SHARDS: u64 = 32;

machine_static! {
    static TIMERS: [Shard; SHARDS as usize] = [const { Shard::new() }; SHARDS as usize];
}
machine_static! {
    /// Whether the thread has been started. The lock of [`EARLIER`].
    static HAS_THREAD: Mutex<bool> = Mutex::new(false);
}
machine_static! {
    /// Notified if an entry is earlier than the thread's next look.
    static EARLIER: Condvar = Condvar::new();
}
machine_static! {
    /// Time of the thread's next look at the shards; [`AWAKE`]: it looks before it sleeps; [`NEVER`]: there is no thread.
    static NEXT_LOOK: AtomicU64 = AtomicU64::new(NEVER);
}
machine_static! {
    static EPOCH: OnceLock<Instant> = OnceLock::new();
}
const AWAKE: u64 = 0;
const NEVER: u64 = u64::MAX;

/// Time until the thread's next look if there are no timers.
const IDLE: Duration = Duration::from_secs(24 * 3600);

/// Returns the nanoseconds from the first timer's first poll to a time.
fn nanoseconds(at: Instant) -> u64 {
    let since = at.saturating_duration_since(*EPOCH.get_or_init(clock::now)).as_nanos();
    u64::try_from(since).map_or(NEVER - 1, |since| since.clamp(AWAKE + 1, NEVER - 1))
}

/// Some of the timers that wait.
#[repr(align(128))]
struct Shard {
    /// Time of the first entry, or [`NEVER`].
    first: AtomicU64,
    entries: Mutex<Entries>,
}

struct Entries {
    /// Wakers, by time and number.
    wakers: BTreeMap<(Instant, u64), Waker>,
    /// Number of the timer that joined last, less the shard's.
    last_number: u64,
}

impl Shard {
    const fn new() -> Self {
        let entries = Mutex::new(Entries { wakers: BTreeMap::new(), last_number: 0 });
        Shard { first: AtomicU64::new(NEVER), entries }
    }

    /// Does something with the entries under the lock, where no code panics. Says in the end which entry is the first one.
    fn with<R>(&self, f: impl FnOnce(&mut Entries) -> R) -> R {
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        let result = f(&mut entries);
        let first = entries.wakers.keys().next().map_or(NEVER, |&(at, _)| nanoseconds(at));
        // Relaxed, as all accesses: invariant 2 orders them by fences.
        if self.first.load(Relaxed) != first {
            self.first.store(first, Relaxed);
        }
        result
    }

    /// Moves the entries that are due to the list.
    fn take_due(&self, now: Instant, due: &mut Vec<(Instant, Waker)>) {
        if self.first.load(Relaxed) > nanoseconds(now) {
            return;
        }
        self.with(|entries| {
            while let Some(first) = entries.wakers.first_entry() {
                let at = first.key().0;
                if at > now {
                    break;
                }
                due.push((at, first.remove()));
            }
        });
    }
}

/// Returns the time of the first entry of all, or [`NEVER`].
fn first() -> u64 {
    TIMERS.iter().map(|shard| shard.first.load(Relaxed)).min().unwrap_or(NEVER)
}

fn lock() -> MutexGuard<'static, bool> {
    HAS_THREAD.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Makes sure that the thread looks at the shards at this time, for an entry that was added (invariants 2 and 3).
///
/// # Errors
///
/// If the thread cannot be started.
fn see_to(at: Instant) -> io::Result<()> {
    fence(SeqCst);
    if NEXT_LOOK.load(Relaxed) <= nanoseconds(at) {
        return Ok(());
    }
    let mut has_thread = lock();
    if !*has_thread {
        thread::Builder::new().name("furcate-timers".into()).spawn(|| wake_in_time())?;
        *has_thread = true;
    }
    NEXT_LOOK.store(AWAKE, Relaxed);
    EARLIER.notify_one();
    Ok(())
}

/// The thread of the timers.
fn wake_in_time() -> ! {
    let mut due = Vec::new();
    loop {
        let now = clock::now();
        TIMERS.iter().for_each(|shard| shard.take_due(now, &mut due));
        due.sort_by_key(|&(at, _)| at);
        if !due.is_empty() {
            for (_, waker) in due.drain(..) {
                // A waker that panics does not keep the others from being called. To drop the panic's value might panic again.
                catch_unwind(AssertUnwindSafe(|| waker.wake())).unwrap_or_else(mem::forget);
            }
            continue;
        }
        let next = first().min(nanoseconds(now + IDLE));
        NEXT_LOOK.store(next, Relaxed);
        fence(SeqCst);
        if first() >= next {
            sleep_until(next);
        }
        NEXT_LOOK.store(AWAKE, Relaxed);
    }
}

/// Sleeps until that time, or until an entry is earlier.
fn sleep_until(next: u64) {
    let mut has_thread = lock();
    while NEXT_LOOK.load(Relaxed) != AWAKE {
        let time = next.saturating_sub(nanoseconds(clock::now()));
        if time == 0 {
            return;
        }
        let waited = EARLIER.wait_timeout(has_thread, Duration::from_nanos(time));
        has_thread = waited.unwrap_or_else(PoisonError::into_inner).0;
    }
}

#[cfg(all(test, not(loom)))]
mod tests;
