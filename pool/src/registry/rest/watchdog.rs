//! The watchdog: one thread of the process, which watches the queues of those pools that have no parked thread to do so.
//!
//! A pool all of whose threads are busy would have to start a spare thread for the sole purpose of looking at its queues,
//! though nearly always its workers are there in time. So the watchdog looks first. Only when a queue is overdue does the
//! pool start a thread, which takes over. The watchdog ends when it has nothing to watch.

use super::turns::{Seen, TURN};
use crate::registry::Registry;
use std::sync::{Arc, Mutex, MutexGuard, Weak};
use std::thread;

/// A pool that is watched.
pub(super) struct Watched {
    registry: Weak<Registry>,
    pub(super) seen: Seen,
    /// Number of looks at empty queues since the last that were not.
    pub(super) quiet: u32,
}

/// What the watchdog and the pools share.
struct Kennel {
    /// Pools that are to be watched, and that the watchdog has not taken out yet.
    new: Vec<Watched>,
    /// The process generation in which the watchdog runs, if it does.
    runs_in: Option<usize>,
}

static KENNEL: Mutex<Kennel> = Mutex::new(Kennel { new: Vec::new(), runs_in: None });

fn kennel() -> MutexGuard<'static, Kennel> {
    KENNEL.lock().expect("nobody panics with this lock")
}

/// Has the watchdog watch a pool. False if the system does not start the thread.
pub(super) fn watch(registry: &Arc<Registry>) -> bool {
    let mut kennel = kennel();
    kennel.new.push(Watched { registry: Arc::downgrade(registry), seen: Seen::default(), quiet: 0 });
    let generation = crate::process::generation();
    // The thread of a forked process stayed with the parent.
    if kennel.runs_in == Some(generation) {
        return true;
    }
    const STACK: usize = 64 << 10;
    let started = thread::Builder::new().name("furcate-watchdog".into()).stack_size(STACK).spawn(run).is_ok();
    kennel.runs_in = started.then_some(generation);
    if !started {
        kennel.new.clear();
    }
    started
}

fn run() {
    let mut watched = Vec::new();
    loop {
        {
            let mut kennel = kennel();
            watched.append(&mut kennel.new);
            if watched.is_empty() {
                kennel.runs_in = None;
                return;
            }
        }
        thread::sleep(TURN);
        // No lock is held here: looks take the pools' locks, under which they call `watch`.
        watched.retain_mut(|watched| match watched.registry.upgrade() {
            Some(registry) => registry.look_after(watched),
            None => false,
        });
    }
}
