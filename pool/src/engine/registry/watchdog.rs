//! The watchdog: one thread of the process, which watches the queues of those pools that have no parked thread to do so.
//!
//! If all threads of a pool are busy, the pool would have to start a spare thread just to look at its queues. Nearly always one of
//! its workers comes back to its main loop in time. So the watchdog looks first. If a queue is overdue and no worker has come back,
//! the pool starts a thread, which becomes the watcher. The queues of a server are empty and full by turns, so the watchdog stays for
//! [`LINGER`] after the last queued job. It ends after that time, or when a pool ends and no other pool is watched.

use super::turns::TURN;
use crate::engine::registry::Registry;
use crate::sync::clock::Instant;
use std::ptr;
use std::sync::atomic::{
    AtomicPtr,
    Ordering::{Acquire, Relaxed, Release},
};
use std::sync::{Arc, Mutex, MutexGuard, Weak};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// How long the watchdog stays without a pool to watch.
const LINGER: Duration = Duration::from_millis(500);

/// A watched pool.
pub(super) struct Watched {
    registry: Weak<Registry>,
    /// Number of looks in a row that have found all queues empty.
    pub(super) quiet: u32,
}

/// State that the watchdog and the pools share.
#[derive(Default)]
struct WatchdogState {
    /// Pools to watch that the watchdog has not taken out yet.
    new: Vec<Watched>,
    /// Whether the watchdog's thread runs.
    runs: bool,
    /// Whether the watchdog has no pool to watch, and sleeps for longer than a turn.
    lingers: bool,
    /// Whether a pool has ended since the last call of [`watch`]. If so, the watchdog does not linger.
    hurries: bool,
    /// The watchdog's thread. It stays here after its end, until a pool joins it.
    thread: Option<JoinHandle<()>>,
    /// Number of looks at all pools so far.
    rounds: u64,
}

/// The watchdog of one process. A forked child makes its own, because the lock may have been held at the fork. The parent's thread
/// does not run in the child. Its handle must be neither joined nor dropped there, because a thread of the child may have the same id.
struct OfProcess {
    generation: usize,
    shared: Mutex<WatchdogState>,
}

/// The watchdog of this process, or of an ancestor of it. The values are leaked: one for each fork that uses pools.
static CURRENT: AtomicPtr<OfProcess> = AtomicPtr::new(ptr::null_mut());

/// Locks the state of this process's watchdog.
fn lock() -> MutexGuard<'static, WatchdogState> {
    let generation = crate::process::generation();
    loop {
        // Acquire pairs with the release below: the value is there.
        let watchdog = CURRENT.load(Acquire);
        // SAFETY: null, or from `Box::leak`, and never freed.
        match unsafe { watchdog.as_ref() } {
            Some(watchdog) if watchdog.generation == generation => {
                return watchdog.shared.lock().expect("nobody panics with this lock");
            }
            _ => {
                let new = Box::into_raw(Box::new(OfProcess { generation, shared: Mutex::default() }));
                // Release: see above. If another thread was faster, its value is used.
                if CURRENT.compare_exchange(watchdog, new, Release, Relaxed).is_err() {
                    // SAFETY: just made, and no other thread has seen it.
                    drop(unsafe { Box::from_raw(new) });
                }
            }
        }
    }
}

/// Has the watchdog watch a pool. Returns `false` if the system does not start the thread.
pub(super) fn watch(registry: &Arc<Registry>) -> bool {
    let mut shared = lock();
    shared.new.push(Watched { registry: Arc::downgrade(registry), quiet: 0 });
    shared.hurries = false;
    if shared.runs {
        if std::mem::take(&mut shared.lingers) {
            shared.thread.iter().for_each(|thread| thread.thread().unpark());
        }
        return true;
    }
    const STACK: usize = 64 << 10;
    match thread::Builder::new().name("furcate-watchdog".into()).stack_size(STACK).spawn(run) {
        Ok(thread) => {
            // The former thread has ended.
            shared.thread = Some(thread);
            shared.runs = true;
            true
        }
        Err(_) => {
            shared.new.clear();
            false
        }
    }
}

/// Waits until the watchdog does not watch the calling pool any more, which is ending. If no other pool is watched, waits for the end
/// of the watchdog's thread too.
pub(super) fn forget() {
    let mut before = None;
    loop {
        let mut shared = lock();
        let me = thread::current().id();
        if shared.thread.as_ref().is_some_and(|watchdog| watchdog.thread().id() == me) {
            // The watchdog itself has dropped a pool that another pool's handler had kept.
            return;
        }
        if !shared.runs {
            let thread = shared.thread.take();
            drop(shared);
            // The watchdog does not panic.
            thread.into_iter().for_each(|thread| _ = thread.join());
            return;
        }
        // The second look from now on sees that the pool is ending.
        if shared.rounds >= *before.get_or_insert(shared.rounds) + 2 {
            return;
        }
        shared.hurries = true;
        shared.thread.iter().for_each(|thread| thread.thread().unpark());
        drop(shared);
        thread::yield_now();
    }
}

/// The main function of the watchdog's thread.
fn run() {
    let mut watched = Vec::new();
    let mut idle_since = None;
    loop {
        {
            let mut shared = lock();
            shared.rounds += 1;
            watched.append(&mut shared.new);
            shared.lingers = watched.is_empty();
            if watched.is_empty() {
                let since = *idle_since.get_or_insert_with(Instant::now);
                if shared.hurries || since.elapsed() >= LINGER {
                    shared.runs = false;
                    return;
                }
            } else {
                idle_since = None;
            }
        }
        thread::park_timeout(if watched.is_empty() { LINGER } else { TURN });
        // No lock is held here: looks take the pools' locks, under which they call `watch`.
        watched.retain_mut(|watched| match watched.registry.upgrade() {
            Some(registry) => registry.look_after(watched),
            None => false,
        });
    }
}
