//! Furcate's pool on a simulated machine.
//!
//! A program that this crate runs has *virtual* threads, of which one runs at a time, in an order that a seed decides. With
//! `RUSTFLAGS="--cfg furcate_sim"`, the pool's threads are virtual, too: the pool, the schedulers and the adaptors then use this crate's threads, atomics,
//! locks and clock in place of std's. No other part of the library is written again: the code that ships runs.
//!
//! | function | order of the threads | for |
//! |---|---|---|
//! | [`check`], [`replay`] | a random one, at each access of an atomic or a lock | finding panics, deadlocks, and results that depend on the schedule |
//! | [`simulate`] | by virtual clocks, on a [`Machine`] whose caches, wake-ups and interruptions take time | what 2 to 256 cores would do |
//!
//! Outside such a run, the types of this crate behave as std's. Virtual are all atomics and locks that decide something: the flags of traces, the counters of
//! statistics, and the baits of other engines are std's.
//!
//! # What a program may use
//!
//! The threads, locks, atomics and clocks of this crate, and everything of furcate's. A `std::sync::Mutex` may be used if it is never held across a fork, a wait or an
//! access of this crate: else a virtual thread would block the real one that runs all of them. Channels and thread-locals of std's must not be used: all virtual
//! threads share the real thread's. Real I/O blocks the whole simulation. A run that fails abandons its stacks: so there may be no scoped threads of std or
//! of other crates, and no value on a stack to which code outside the simulation points.

pub mod atomic;
mod check;
mod costs;
mod explored;
mod injector;
mod lock;
mod stack;
pub mod thread;
pub mod time;
mod timed;
mod world;

pub use check::{Check, Simulation, check, replay, simulate};
pub use costs::Machine;
pub use injector::Injector;
pub use lock::{Condvar, Mutex, MutexGuard, OnceLock, WaitTimeoutResult};
pub use world::Counts;

use std::time::Duration;

/// The book's chapters.
#[cfg(all(doctest, furcate_sim))]
#[doc = include_str!("../../book/src/simulation.md")]
#[doc = include_str!("../../book/src/many-cores.md")]
struct Chapters;

/// Has the calling virtual thread compute for a time. Outside a simulation, does nothing.
pub fn work(time: Duration) {
    world::with(|world| world.into_iter().for_each(|world| world.work(world::picoseconds(time))));
}

/// Records when each virtual thread first calls [`work`] after [`watch`](Self::watch).
#[derive(Clone, Copy, Debug)]
pub struct Begins {
    since: Duration,
}

impl Begins {
    /// Begins to watch.
    #[must_use]
    pub fn watch() -> Self {
        world::with(|world| {
            world.into_iter().for_each(world::World::forget_work);
            Begins { since: world.map_or(Duration::ZERO, world::World::now) }
        })
    }

    /// Returns the times from then to the first [`work`] of each thread that has worked, in order.
    #[must_use]
    pub fn times(self) -> Vec<Duration> {
        let times = world::with(|world| world.map_or_else(Vec::new, world::World::first_works));
        times.into_iter().map(|time| time.saturating_sub(self.since)).collect()
    }
}

/// Returns the counts of the run so far; outside a run, zeros.
#[must_use]
pub fn counts() -> Counts {
    world::with(|world| world.map_or_else(Counts::default, |world| world.counts.get()))
}

/// Where virtual threads have waited: the place of the call, how often, and how long in all.
pub type WaitsAt = (&'static std::panic::Location<'static>, u64, Duration);

/// Returns where virtual threads have waited for locks so far. The longest come first.
#[must_use]
pub fn lock_waits() -> Vec<WaitsAt> {
    world::with(|world| world.map_or_else(Vec::new, |world| world.waits(world::LOCKS)))
}

/// Returns where virtual threads have waited for cache lines that other cores used. The longest come first.
#[must_use]
pub fn line_waits() -> Vec<WaitsAt> {
    world::with(|world| world.map_or_else(Vec::new, |world| world.waits(world::LINES)))
}

/// Returns where virtual threads have passed heavy fences so far, and the time that these took. The longest come first.
#[must_use]
pub fn heavy_fences() -> Vec<WaitsAt> {
    world::with(|world| world.map_or_else(Vec::new, |world| world.waits(world::HEAVY_FENCES)))
}

/// Returns the next number of the world's seed; `None` outside a simulation.
#[must_use]
pub fn random() -> Option<u64> {
    world::with(|world| world.map(world::World::random))
}

/// Has something done after the program of the calling thread's simulation, in a thread of its own; the last one first. Outside a simulation, does
/// nothing.
pub fn at_exit(f: impl FnOnce() + 'static) {
    world::with(|world| {
        if let Some(world) = world {
            world.at_exit(Box::new(f));
        }
    });
}

/// Whether the calling thread is a virtual one.
#[must_use]
pub fn is_simulated() -> bool {
    world::with(|world| world.is_some())
}

/// Hints to the processor.
pub mod hint {
    /// As [`std::hint::spin_loop`].
    pub fn spin_loop() {
        crate::world::with(|world| match world {
            None => std::hint::spin_loop(),
            Some(world) => world.spin(),
        });
    }
}
