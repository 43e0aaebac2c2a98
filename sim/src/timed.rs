//! The order of a simulated machine: the thread with the earliest clock runs next, and accesses take the time that the machine's caches need.
//!
//! **Cores.** A thread runs on a core, or waits in the queue of one, or is blocked. A thread that is woken gets the core that it ran on last, if
//! that is idle; else an idle one, near first; else it waits at the core with the shortest queue. A core that becomes idle takes a thread from the longest
//! queue. A core with a queue changes to the thread that has run least after a slice, and at once for a woken thread that has run less
//! by a slice, as Linux's schedulers do.
//!
//! **Caches.** A line is owned by the core that wrote last, or shared by those that have read since. A load that another core has written, and a
//! store or read-modify-write of a line that others have, gets the line from there; the time depends on the distance. Such transfers of a line queue: each
//! begins when the one before has ended. A store does not wait for its line (there are store buffers); the next fence or
//! read-modify-write of the thread does. Caches are as large as need be.
//!
//! # Invariants
//!
//! 1. A thread that runs on a core, other than the current one, has one valid event in the heap: the time up to which it has run.
//! 2. When the current thread accesses something, its clock is later than the first event by at most [`Costs::ahead`], which is 0 on machines with shared
//!    memory: [`catch_up`](Timed::catch_up) switches first.
//! 3. A thread that waits for a core *owes* the part of its last step that it has not run.

use crate::costs::{Costs, Machine};
use crate::world::{Access, LINES, ThreadNumber, Time, World};
use fastrand::Rng;
use std::cell::{Cell, RefCell};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::panic::Location;

/// An event of the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    /// A thread has run up to now. Valid if the number is that of the thread's last event.
    Run(ThreadNumber, u64),
    /// A wait ends. Valid if the number is that of the thread's last wait.
    Due(ThreadNumber, u64),
    /// A core's slice ends. Valid if the number is that of the core's last change.
    Slice(usize, u64),
}

#[derive(Clone, Copy, Debug, Default)]
struct ThreadTime {
    /// Time up to which the thread has run.
    clock: Time,
    /// Number of its last event, or wait.
    number: u64,
    /// The core that it runs on, or ran on last.
    core: usize,
    /// Time that it has run, without the time since `since`.
    used: Time,
    /// Time at which it got its core.
    since: Time,
    runs: bool,
    /// Invariant 3.
    owes: Time,
    /// Time from which it can run, while it waits for a core.
    ready_at: Time,
    /// Time that interruptions have taken from it, and that its clock does not contain yet.
    lost: Time,
    /// Time at which its stores have reached all caches.
    stored: Time,
    /// Time run, for the choice of the next thread: at least nearly that of its core when it was woken.
    fair: Time,
}

#[derive(Clone, Debug, Default)]
struct Core {
    runs: Option<ThreadNumber>,
    queue: Vec<ThreadNumber>,
    /// Number of changes of the thread that runs.
    changes: u64,
    /// The greatest fair time of a thread that got the core.
    fair: Time,
}

#[derive(Clone, Debug, Default)]
struct Line {
    /// The core that has written last, if no other one has read since.
    owner: Option<usize>,
    /// Cores that have the line, as bits.
    sharers: Vec<u64>,
    /// End of the last transfer.
    free_at: Time,
}

impl Line {
    fn has(&self, core: usize) -> bool {
        self.sharers.get(core / 64).is_some_and(|bits| bits >> (core % 64) & 1 != 0)
    }

    fn add(&mut self, core: usize) {
        if self.sharers.len() <= core / 64 {
            self.sharers.resize(core / 64 + 1, 0);
        }
        self.sharers[core / 64] |= 1 << (core % 64);
    }

    fn cores(&self) -> impl Iterator<Item = usize> {
        let words = self.sharers.iter().enumerate();
        words.flat_map(|(word, &bits)| {
            (0..64).filter(move |bit| bits >> bit & 1 != 0).map(move |bit| word * 64 + bit)
        })
    }
}

/// Bytes of a cache line, as a power of two.
const LINE: u32 = 6;

#[derive(Debug)]
pub(crate) struct Timed {
    machine: Machine,
    random: RefCell<Rng>,
    threads: RefCell<Vec<ThreadTime>>,
    cores: RefCell<Vec<Core>>,
    events: RefCell<BinaryHeap<Reverse<(Time, u64, Event)>>>,
    sequence: Cell<u64>,
    lines: RefCell<HashMap<usize, Line>>,
    /// Whether the current thread has to give its core to another one.
    resched: Cell<bool>,
    /// Number of threads in the queues of all cores.
    queued: Cell<usize>,
    /// The thread whose code runs, or [`NOBODY`].
    current: Cell<ThreadNumber>,
    /// The time while no thread's code runs.
    now: Cell<Time>,
}

/// The current thread while the next one is chosen.
const NOBODY: ThreadNumber = ThreadNumber::MAX;

impl Timed {
    pub(crate) fn new(machine: Machine, seed: u64) -> Self {
        Timed {
            machine,
            random: RefCell::new(Rng::with_seed(seed)),
            threads: RefCell::default(),
            cores: RefCell::new(vec![Core::default(); machine.cores]),
            events: RefCell::default(),
            sequence: Cell::new(0),
            lines: RefCell::default(),
            resched: Cell::new(false),
            queued: Cell::new(0),
            current: Cell::new(NOBODY),
            now: Cell::new(0),
        }
    }

    fn costs(&self) -> &Costs {
        &self.machine.costs
    }

    /// Returns the socket and the cluster of a thread's core, unless all cores are in one cluster.
    pub(crate) fn place_of(&self, thread: ThreadNumber) -> Option<(usize, usize)> {
        let core = self.of(thread, |it| it.core);
        let Machine { cores, per_cluster, per_socket, .. } = self.machine;
        (cores > per_cluster).then_some((core / per_socket, core / per_cluster))
    }

    pub(crate) fn cores(&self) -> usize {
        self.machine.cores
    }

    fn of<R>(&self, thread: ThreadNumber, f: impl FnOnce(&mut ThreadTime) -> R) -> R {
        f(&mut self.threads.borrow_mut()[thread])
    }

    /// A random number for the program.
    pub(crate) fn random(&self) -> u64 {
        self.random.borrow_mut().u64(..)
    }

    /// Returns the clock of the current thread.
    pub(crate) fn time(&self) -> Time {
        let threads = self.threads.borrow();
        threads.get(self.current.get()).map_or(self.now.get(), |it| it.clock)
    }

    /// Returns the time that a thread has run.
    pub(crate) fn used(&self, thread: ThreadNumber) -> Time {
        let now = self.time();
        self.of(thread, |it| it.used + if it.runs { now.saturating_sub(it.since) } else { 0 })
    }

    fn push(&self, at: Time, event: Event) {
        let sequence = self.sequence.get();
        self.sequence.set(sequence + 1);
        self.events.borrow_mut().push(Reverse((at, sequence, event)));
    }

    /// Lets time pass for the current thread.
    fn pass(&self, time: Time) {
        self.of(self.current.get(), |it| it.clock = it.clock.saturating_add(time));
    }

    /// Pushes the event of a thread that has run up to its clock.
    fn push_run(&self, thread: ThreadNumber) {
        let (at, number) = self.of(thread, |it| {
            it.number += 1;
            (it.clock, it.number)
        });
        self.push(at, Event::Run(thread, number));
    }

    /// Switches to the threads whose clocks are earlier.
    pub(crate) fn catch_up(&self, world: &World) {
        let me = self.current.get();
        loop {
            if self.resched.take() {
                self.give_core_up(me, self.time());
                world.switch();
                continue;
            }
            let (clock, lost) = self.of(me, |it| (it.clock, std::mem::take(&mut it.lost)));
            if lost > 0 {
                self.pass(lost);
                continue;
            }
            let first = self.events.borrow().peek().map(|Reverse((at, ..))| *at);
            if first.is_none_or(|first| first.saturating_add(self.costs().ahead) >= clock) {
                return;
            }
            self.push_run(me);
            world.switch();
        }
    }

    /// Chooses the thread that runs next.
    pub(crate) fn next(&self, world: &World) -> Option<ThreadNumber> {
        self.now.set(self.time());
        self.current.set(NOBODY);
        loop {
            let Reverse((at, _, event)) = self.events.borrow_mut().pop()?;
            self.now.set(at);
            match event {
                Event::Run(thread, number) => {
                    if !self.of(thread, |it| it.number == number && it.runs) {
                        continue;
                    }
                    let lost = self.of(thread, |it| {
                        it.clock = at + std::mem::take(&mut it.lost);
                        it.clock - at
                    });
                    if lost > 0 {
                        self.push_run(thread);
                        continue;
                    }
                    self.current.set(thread);
                    return Some(thread);
                }
                Event::Due(thread, number) => {
                    if self.of(thread, |it| it.number == number && !it.runs) {
                        world.time_out(thread);
                        // The wake-up is a part of the slack.
                        self.place(thread, at, self.costs().slack);
                    }
                }
                Event::Slice(core, changes) => {
                    let ends = {
                        let cores = self.cores.borrow();
                        cores[core].changes == changes && !cores[core].queue.is_empty()
                    };
                    if ends {
                        self.preempt(core, at);
                    }
                }
            }
        }
    }

    /// Begins a new thread, at the current thread's time.
    pub(crate) fn spawned(&self, thread: ThreadNumber) {
        let now = self.time();
        self.threads.borrow_mut().push(ThreadTime::default());
        if self.current.get() != NOBODY {
            self.pass(self.costs().wakes);
        }
        self.place(thread, now, self.wakeup());
    }

    /// Returns a time until a woken thread runs on an idle core.
    fn wakeup(&self) -> Time {
        self.costs().wakeup[self.random.borrow_mut().usize(..self.costs().wakeup.len())]
    }

    /// Has a core run a thread from `at` on.
    fn start(&self, core: usize, thread: ThreadNumber, at: Time) {
        let changes = {
            let mut cores = self.cores.borrow_mut();
            let fair = cores[core].fair;
            let it = &mut cores[core];
            (it.runs, it.changes) = (Some(thread), it.changes + 1);
            self.of(thread, |time| {
                time.fair = time.fair.max(fair.saturating_sub(self.costs().slice));
                it.fair = it.fair.max(time.fair);
                let at = at.max(time.ready_at).max(time.clock);
                (time.core, time.since, time.runs, time.ready_at) = (core, at, true, 0);
                time.clock = at.saturating_add(std::mem::take(&mut time.owes));
            });
            it.changes
        };
        self.push_run(thread);
        if !self.cores.borrow()[core].queue.is_empty() {
            self.push(at + self.costs().slice, Event::Slice(core, changes));
        }
    }

    /// Takes a thread from its core at a time. Returns the core, which the caller refills.
    fn stop(&self, thread: ThreadNumber, at: Time) -> usize {
        let core = self.of(thread, |it| {
            it.owes = it.clock.saturating_sub(at) + std::mem::take(&mut it.lost);
            it.clock = it.clock.min(at);
            let ran = at.saturating_sub(it.since);
            (it.used, it.fair, it.runs, it.number) = (it.used + ran, it.fair + ran, false, it.number + 1);
            it.core
        });
        self.cores.borrow_mut()[core].runs = None;
        core
    }

    /// Has an idle core run the thread of its queue that has run least, or one of another core's queue.
    fn refill(&self, core: usize, at: Time) {
        if self.queued.get() == 0 {
            return;
        }
        let chosen = {
            let mut cores = self.cores.borrow_mut();
            let from = if cores[core].queue.is_empty() {
                (0..cores.len()).max_by_key(|&other| cores[other].queue.len()).unwrap_or(core)
            } else {
                core
            };
            let queue = &mut cores[from].queue;
            let least = (0..queue.len()).min_by_key(|&index| self.of(queue[index], |it| it.fair));
            least.map(|index| queue.remove(index))
        };
        if let Some(thread) = chosen {
            self.queued.set(self.queued.get() - 1);
            self.start(core, thread, at + self.costs().switch);
        }
    }

    /// Gives a core to the thread of its queue that has run least.
    fn preempt(&self, core: usize, at: Time) {
        let Some(thread) = self.cores.borrow()[core].runs else { return self.refill(core, at) };
        if thread == self.current.get() {
            // At its next access.
            return self.resched.set(true);
        }
        self.give_core_up(thread, at);
    }

    /// Has a thread wait in the queue of its core, and the core run the thread of the queue that has run least.
    fn give_core_up(&self, thread: ThreadNumber, at: Time) {
        let core = self.stop(thread, at);
        self.cores.borrow_mut()[core].queue.push(thread);
        self.queued.set(self.queued.get() + 1);
        self.refill(core, at);
    }

    /// Finds a core for a thread that can run from `at` on. On an idle core it begins after the time `wakeup`.
    fn place(&self, thread: ThreadNumber, at: Time, wakeup: Time) {
        let last = self.of(thread, |it| it.core);
        if self.cores.borrow()[last].runs.is_none() {
            return self.start(last, thread, at.saturating_add(wakeup));
        }
        let chosen = {
            let cores = self.cores.borrow();
            let near = |&core: &usize| (self.distance(last, core), core);
            let idle = (0..cores.len()).filter(|&core| cores[core].runs.is_none()).min_by_key(near);
            idle.ok_or_else(|| {
                (0..cores.len()).min_by_key(|&core| (cores[core].queue.len(), near(&core))).unwrap_or(last)
            })
        };
        match chosen {
            Ok(core) => self.start(core, thread, at.saturating_add(wakeup)),
            Err(core) => {
                self.queued.set(self.queued.get() + 1);
                let (runs, fair, changes) = {
                    let mut cores = self.cores.borrow_mut();
                    cores[core].queue.push(thread);
                    (cores[core].runs.expect("no core is idle"), cores[core].fair, cores[core].changes)
                };
                let slice = self.costs().slice;
                let mine = self.of(thread, |it| {
                    (it.core, it.ready_at) = (core, at);
                    it.fair = it.fair.max(fair.saturating_sub(slice));
                    it.fair
                });
                let (theirs, since) = self.of(runs, |it| (it.fair + at.saturating_sub(it.since), it.since));
                if theirs > mine + slice {
                    self.preempt(core, at);
                } else {
                    self.push((since + slice).max(at), Event::Slice(core, changes));
                }
            }
        }
    }

    /// Blocks the current thread, which switches next.
    pub(crate) fn block(&self, until: Option<Time>) {
        let me = self.current.get();
        self.pass(self.costs().sleeps);
        let now = self.time();
        self.resched.set(false);
        let core = self.stop(me, now);
        self.of(me, |it| it.owes = 0);
        if let Some(until) = until {
            let number = self.of(me, |it| it.number);
            self.push(until.max(now), Event::Due(me, number));
        }
        self.refill(core, now);
    }

    /// Ends the current thread.
    pub(crate) fn leave(&self) {
        self.block(None);
    }

    /// Notes that the current thread has woken another one.
    pub(crate) fn woken(&self, thread: ThreadNumber) {
        self.pass(self.costs().wakes);
        let now = self.time();
        self.of(thread, |it| it.number += 1);
        self.place(thread, now, self.wakeup());
    }

    /// Returns the class of the distance between two cores: the same core, cluster, socket, or none.
    fn distance(&self, one: usize, other: usize) -> usize {
        let Machine { per_cluster, per_socket, .. } = self.machine;
        if one == other {
            0
        } else if one / per_cluster == other / per_cluster {
            1
        } else if one / per_socket == other / per_socket {
            2
        } else {
            3
        }
    }

    pub(crate) fn access(
        &self,
        world: &World,
        address: usize,
        access: Access,
        at: &'static Location<'static>,
    ) {
        self.catch_up(world);
        let me = self.current.get();
        if self.costs().ahead > 0 {
            // Each core has its memory for itself, and therefore all lines.
            let Costs { hit, swap, .. } = *self.costs();
            return self.pass(if access == Access::Swap { swap } else { hit });
        }
        let (core, clock, stored) = self.of(me, |it| (it.core, it.clock, it.stored));
        let mut lines = self.lines.borrow_mut();
        let line = lines.entry(address >> LINE).or_default();
        let far = match access {
            Access::Load if line.has(core) => 0,
            // From its owner, or from the nearest core that has it.
            Access::Load => match line.owner {
                Some(owner) => self.distance(core, owner),
                None => line.cores().map(|other| self.distance(core, other)).min().unwrap_or(0),
            },
            Access::Store | Access::Swap if line.owner == Some(core) => 0,
            // All copies go.
            Access::Store | Access::Swap => {
                line.cores().map(|other| self.distance(core, other)).max().unwrap_or(0)
            }
        };
        let costs = self.costs();
        let cost = if access == Access::Swap { costs.swap } else { costs.hit };
        let mut begin = clock;
        if access == Access::Swap {
            begin = begin.max(stored);
        }
        if far > 0 {
            world.count(|counts| counts.misses[far - 1] += 1);
            let waits = line.free_at.saturating_sub(begin);
            if waits > 0 {
                world.waited(LINES, waits, at);
            }
            line.free_at = line.free_at.max(begin) + costs.miss[far - 1];
        } else if access != Access::Store {
            // The line is on its way.
            begin = begin.max(line.free_at);
        }
        let there = if far > 0 { line.free_at } else { begin };
        match access {
            Access::Load => {
                line.owner = line.owner.filter(|&owner| owner == core);
                line.add(core);
            }
            Access::Store | Access::Swap => {
                line.owner = Some(core);
                line.sharers.clear();
                line.add(core);
            }
        }
        drop(lines);
        self.of(me, |it| {
            if access == Access::Store {
                it.stored = it.stored.max(there);
                it.clock += cost;
            } else {
                it.clock = there + cost;
            }
        });
        if far > 0 && access != Access::Store {
            // The value is read when the line has come.
            self.catch_up(world);
        }
    }

    pub(crate) fn fence(&self) {
        let fence = self.costs().fence;
        self.of(self.current.get(), |it| it.clock = it.clock.max(it.stored) + fence);
    }

    pub(crate) fn heavy_fence(&self, world: &World) {
        self.catch_up(world);
        let (me, now) = (self.current.get(), self.time());
        let mut interrupted = 0;
        // Where interruptions cost nothing, there may be very many cores.
        let interruptible = if self.costs().interruption == 0 { 0 } else { usize::MAX };
        for core in self.cores.borrow().iter().take(interruptible) {
            let Some(thread) = core.runs.filter(|&thread| thread != me) else { continue };
            // A core that is about to wake up is not interrupted.
            if self.of(thread, |it| it.since <= now) {
                interrupted += 1;
                self.of(thread, |it| it.lost += self.costs().interruption);
            }
        }
        world.count(|counts| counts.interruptions += interrupted);
        self.pass(self.costs().barrier + interrupted * self.costs().per_interruption);
        self.fence();
        self.catch_up(world);
    }

    pub(crate) fn system_call(&self) {
        self.pass(self.costs().call);
    }

    pub(crate) fn look_at_clock(&self) {
        self.pass(self.costs().clock);
    }

    pub(crate) fn spin(&self, world: &World) {
        self.pass(self.costs().pause);
        self.catch_up(world);
    }

    pub(crate) fn yield_now(&self, world: &World) {
        self.pass(self.costs().yields);
        let core = self.of(self.current.get(), |it| it.core);
        if !self.cores.borrow()[core].queue.is_empty() {
            self.resched.set(true);
        }
        self.catch_up(world);
    }

    pub(crate) fn work(&self, world: &World, time: Time) {
        self.pass(time);
        self.catch_up(world);
    }
}
