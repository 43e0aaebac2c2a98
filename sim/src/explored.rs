//! The order of a search for faults: at each access a random thread runs next, by a seed.
//!
//! A run follows one of two strategies, which its seed chooses.
//!
//! - *Random walk*: the running thread is interrupted with a fixed probability at each access: 1, 1/8 or 1/64. All threads that can run have the
//!   same chance to be next.
//! - *Priorities* (Burckhardt et al., *A Randomized Scheduler with Probabilistic Guarantees of Finding Bugs*, ASPLOS 2010): the thread with the highest of random
//!   priorities runs. At a few random accesses the running thread's priority becomes the lowest. Threads that wait in a loop give way.
//!
//! Memory is sequentially consistent: weaker orders are loom's subject. An access takes some virtual nanoseconds. A wait with a time ends when the clock has
//! reached its end, and the clock jumps there if no thread can run, or, seldom, although threads can.

use crate::world::{NS, ThreadNumber, Time, World};
use fastrand::Rng;
use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;

/// Time of an access.
const ACCESS: Time = 5 * NS;
/// Longest jump of the clock while threads can run.
const JUMP: Time = 1_000_000_000 * NS;
/// Time of a pause in a loop.
const PAUSE: Time = 200 * NS;

#[derive(Debug)]
enum Strategy {
    /// One in so many accesses interrupts its thread.
    Walk(u64),
    Priorities {
        /// Priority of each thread; the highest runs.
        of_threads: Vec<i64>,
        /// Priority of the next thread that gives way: lower than all before.
        lowest: i64,
        /// Accesses at which the running thread's priority falls.
        falls: BTreeSet<u64>,
    },
}

#[derive(Debug)]
pub(crate) struct Explored {
    random: RefCell<Rng>,
    strategy: RefCell<Strategy>,
    /// Threads that can run, without the current one.
    ready: RefCell<Vec<ThreadNumber>>,
    /// Ends of waits with a time.
    times: RefCell<BTreeSet<(Time, ThreadNumber)>>,
    clock: Cell<Time>,
    steps: Cell<u64>,
    max_steps: u64,
    /// Number of cores that the program sees.
    cores: usize,
    /// Whether the run fails if it goes on only because a wait has a time.
    needs_no_time: bool,
    is_traced: bool,
}

impl Explored {
    pub(crate) fn new(seed: u64, cores: usize, max_steps: u64, needs_no_time: bool, is_traced: bool) -> Self {
        let mut random = Rng::with_seed(seed);
        let strategy = match random.u8(..8) {
            0 | 1 => Strategy::Walk(1),
            2 | 3 => Strategy::Walk(8),
            4 => Strategy::Walk(64),
            _ => {
                // The accesses at which something goes wrong may be among the first hundred or the first hundred thousand.
                let length = 1_u64 << random.u32(6..17);
                let falls = (0..random.usize(1..5)).map(|_| random.u64(..length)).collect();
                Strategy::Priorities { of_threads: Vec::new(), lowest: -1, falls }
            }
        };
        Explored {
            random: RefCell::new(random),
            strategy: RefCell::new(strategy),
            ready: RefCell::default(),
            times: RefCell::default(),
            clock: Cell::new(0),
            steps: Cell::new(0),
            max_steps,
            cores,
            needs_no_time,
            is_traced,
        }
    }

    pub(crate) fn time(&self) -> Time {
        self.clock.get()
    }

    /// A random number for the program.
    pub(crate) fn random(&self) -> u64 {
        self.random.borrow_mut().u64(..)
    }

    pub(crate) fn cores(&self) -> usize {
        self.cores
    }

    /// Whether each change of threads is written to standard error.
    pub(crate) fn is_traced(&self) -> bool {
        self.is_traced
    }

    /// Notes that a thread can run.
    pub(crate) fn ready(&self, thread: ThreadNumber) {
        if let Strategy::Priorities { of_threads, .. } = &mut *self.strategy.borrow_mut() {
            while of_threads.len() <= thread {
                of_threads.push(self.random.borrow_mut().i64(0..));
            }
        }
        self.times.borrow_mut().retain(|&(_, other)| other != thread);
        self.ready.borrow_mut().push(thread);
    }

    /// Notes that the current thread blocks.
    pub(crate) fn block(&self, me: ThreadNumber, until: Option<Time>) {
        self.times.borrow_mut().extend(until.map(|until| (until, me)));
    }

    /// A place where another thread may go on.
    pub(crate) fn access(&self, world: &World) {
        self.step(world, ACCESS, false);
    }

    /// A place where the current thread waits for others.
    pub(crate) fn give_way(&self, world: &World) {
        self.step(world, PAUSE, true);
    }

    pub(crate) fn work(&self, world: &World, time: Time) {
        self.step(world, time, false);
    }

    fn step(&self, world: &World, time: Time, gives_way: bool) {
        self.clock.set(self.clock.get().saturating_add(time));
        let steps = self.steps.replace(self.steps.get() + 1);
        if steps >= self.max_steps {
            world.fail(format!(
                "the program has not ended after {steps} steps ({:?} of virtual time): it may wait for ever in a loop. \
                 (If it is only long, raise `max_steps`.)",
                world.now()
            ));
            // The run ends: no thread goes on.
            return world.switch();
        }
        if world.panicking() {
            // Std has one count of panics for all virtual threads, so one that unwinds is interrupted only where it waits.
            if gives_way {
                self.ready.borrow_mut().push(world.current());
                world.switch_unwinding();
            }
            return;
        }
        let me = world.current();
        let interrupts = match &mut *self.strategy.borrow_mut() {
            Strategy::Walk(one_in) => gives_way || self.random.borrow_mut().u64(..*one_in) == 0,
            Strategy::Priorities { of_threads, lowest, falls } => {
                if gives_way || falls.remove(&steps) {
                    of_threads[me] = *lowest;
                    *lowest -= 1;
                }
                true
            }
        };
        if interrupts {
            self.ready.borrow_mut().push(me);
            world.switch();
        }
    }

    /// Chooses the thread that runs next.
    pub(crate) fn next(&self, world: &World) -> Option<ThreadNumber> {
        let first = self.times.borrow().first().map(|&(time, _)| time);
        let soon =
            |time| time < self.clock.get().saturating_add(JUMP) && self.random.borrow_mut().u32(..4096) == 0;
        let all_wait = self.ready.borrow().is_empty();
        if let Some(time) = first.filter(|&time| all_wait || soon(time)) {
            if self.needs_no_time && all_wait && time > self.clock.get() && !world.has_ended(0) {
                world.fail(format!("only the time of a wait lets the program go on: {}", world.deadlock()));
            }
            self.clock.set(self.clock.get().max(time));
        }
        loop {
            let due = self.times.borrow().first().copied().filter(|&(time, _)| time <= self.clock.get());
            let Some((_, thread)) = due else { break };
            world.time_out(thread);
            self.ready(thread);
        }
        let mut ready = self.ready.borrow_mut();
        let chosen = match &*self.strategy.borrow() {
            Strategy::Walk(_) if ready.is_empty() => None,
            Strategy::Walk(_) => Some(self.random.borrow_mut().usize(..ready.len())),
            Strategy::Priorities { of_threads, .. } => {
                (0..ready.len()).max_by_key(|&index| of_threads[ready[index]])
            }
        };
        chosen.map(|index| ready.swap_remove(index))
    }
}
