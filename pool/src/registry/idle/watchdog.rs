//! The watchdog: one thread of the process, which watches the queues of those pools that have no parked thread to do so.
//!
//! If all threads of a pool are busy, the pool would have to start a spare thread just to look at its queues. Nearly always its
//! workers are there in time. So the watchdog looks first. Only when a queue is overdue, and no worker has come back to its main
//! loop, does the pool start a thread, which takes over. A server's queues are empty and full by turns, so the watchdog
//! stays for [`LINGER`] after it has had nothing to watch. Then, or when a pool ends and there is no other one to watch, it ends.

use super::turns::{Seen, TURN};
use crate::registry::Registry;
use std::ptr;
use std::sync::atomic::{
    AtomicPtr,
    Ordering::{Acquire, Relaxed, Release},
};
use std::sync::{Arc, Mutex, MutexGuard, Weak};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// How long the watchdog stays when it has nothing to watch.
const LINGER: Duration = Duration::from_millis(500);

/// A pool that is watched.
pub(super) struct Watched {
    registry: Weak<Registry>,
    pub(super) seen: Seen,
    /// Number of looks at empty queues since the last that were not.
    pub(super) quiet: u32,
}

/// State that the watchdog and the pools share.
#[derive(Default)]
struct Kennel {
    /// Pools that are to be watched, and that the watchdog has not taken out yet.
    new: Vec<Watched>,
    /// Whether the watchdog runs.
    runs: bool,
    /// Whether it has nothing to watch, and sleeps for longer than a turn.
    lingers: bool,
    /// Whether a pool has ended since the last one began to be watched: the watchdog does not linger.
    hurries: bool,
    /// Its thread, also after its end until a pool has joined it.
    thread: Option<JoinHandle<()>>,
    /// Number of looks at all pools so far.
    rounds: u64,
}

/// The kennel of one process. A forked child makes its own, because the lock may have been held at the fork. The thread stayed with
/// the parent. Its handle must be neither joined nor dropped, because a thread of the child may have the same id.
struct Home {
    generation: usize,
    kennel: Mutex<Kennel>,
}

/// The youngest process's home. Homes are leaked: one for each fork that uses pools.
static HOME: AtomicPtr<Home> = AtomicPtr::new(ptr::null_mut());

fn kennel() -> MutexGuard<'static, Kennel> {
    let generation = crate::process::generation();
    loop {
        // Acquire pairs with the release below: the home is there.
        let home = HOME.load(Acquire);
        // SAFETY: null, or from `Box::leak`, and never freed.
        match unsafe { home.as_ref() } {
            Some(home) if home.generation == generation => {
                return home.kennel.lock().expect("nobody panics with this lock");
            }
            _ => {
                let new = Box::into_raw(Box::new(Home { generation, kennel: Mutex::default() }));
                // Release: see above. If another thread was faster, its home is used.
                if HOME.compare_exchange(home, new, Release, Relaxed).is_err() {
                    // SAFETY: just made, and no other thread has seen it.
                    drop(unsafe { Box::from_raw(new) });
                }
            }
        }
    }
}

/// Has the watchdog watch a pool. False if the system does not start the thread.
pub(super) fn watch(registry: &Arc<Registry>) -> bool {
    let mut kennel = kennel();
    kennel.new.push(Watched { registry: Arc::downgrade(registry), seen: Seen::default(), quiet: 0 });
    kennel.hurries = false;
    if kennel.runs {
        if std::mem::take(&mut kennel.lingers) {
            kennel.thread.iter().for_each(|thread| thread.thread().unpark());
        }
        return true;
    }
    const STACK: usize = 64 << 10;
    match thread::Builder::new().name("furcate-watchdog".into()).stack_size(STACK).spawn(run) {
        Ok(thread) => {
            // The one before has ended.
            kennel.thread = Some(thread);
            kennel.runs = true;
            true
        }
        Err(_) => {
            kennel.new.clear();
            false
        }
    }
}

/// Returns when the watchdog does not watch the pool any more, which is ending. If there is no other pool to watch, its
/// thread has ended.
pub(super) fn forget() {
    let mut before = None;
    loop {
        let mut kennel = kennel();
        let me = thread::current().id();
        if kennel.thread.as_ref().is_some_and(|watchdog| watchdog.thread().id() == me) {
            // The watchdog itself has dropped a pool that another pool's handler has kept.
            return;
        }
        if !kennel.runs {
            let thread = kennel.thread.take();
            drop(kennel);
            // The watchdog does not panic.
            thread.into_iter().for_each(|thread| _ = thread.join());
            return;
        }
        // The second look from now on sees that the pool is ending.
        if kennel.rounds >= *before.get_or_insert(kennel.rounds) + 2 {
            return;
        }
        kennel.hurries = true;
        kennel.thread.iter().for_each(|thread| thread.thread().unpark());
        drop(kennel);
        thread::yield_now();
    }
}

fn run() {
    let mut watched = Vec::new();
    let mut idle_since = None;
    loop {
        {
            let mut kennel = kennel();
            kennel.rounds += 1;
            watched.append(&mut kennel.new);
            kennel.lingers = watched.is_empty();
            if watched.is_empty() {
                let since = *idle_since.get_or_insert_with(Instant::now);
                if kennel.hurries || since.elapsed() >= LINGER {
                    kennel.runs = false;
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
