//! The world: the virtual threads of one run, what they wait for, and the loop that lets one of them run at a time.
//!
//! A virtual thread is a coroutine with a stack of its own. All of them run on the one thread that has called [`run`]. That thread's
//! world is in a thread-local variable: the primitives of this crate ask it, and are std's where there is none.
//!
//! # Invariants
//!
//! 1. *One at a time.* Code of a virtual thread runs only between two calls of [`World::switch`]. So what a primitive does between two
//!    switches is atomic, and the world's cells need no locks. No borrow of a `RefCell` is held across a switch, or across code of the user.
//! 2. *The order decides.* Every access of an atomic, a lock or the clock goes through the [`Order`], which may
//!    switch before the access. The access itself is made after that, without a further switch.
//! 3. *Blocked threads are found.* A thread that blocks is in the list of its address before it switches. The thread that wakes it takes it out
//!    of the list. A wait with a time ends by either, and the list has it no longer in both cases.

use crate::explored::Explored;
use crate::stack::{Lowest, ThreadStack};
use crate::thread::message;
use crate::timed::Timed;
use corosensei::{Coroutine, CoroutineResult, Yielder};
use std::any::Any;
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::fmt::Write;
use std::num::NonZero;
use std::panic::{AssertUnwindSafe, Location, catch_unwind};
use std::ptr;
use std::time::Duration;

/// Number of a virtual thread; the program's first one is 0.
pub(crate) type ThreadNumber = usize;

/// Time of the world in picoseconds.
pub(crate) type Time = u64;

/// Picoseconds of a nanosecond.
pub(crate) const NS: Time = 1_000;

/// Returns a duration in picoseconds; a long one as the longest.
pub(crate) fn picoseconds(time: Duration) -> Time {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX).saturating_mul(NS)
}

/// How an access uses its cache line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    Load,
    Store,
    /// A read-modify-write, or a store with a fence behind it.
    Swap,
}

/// The rule that says which thread runs next, and what time it is.
#[derive(Debug)]
pub(crate) enum Order {
    /// The thread whose clock is the earliest. Accesses take the time that a machine's caches need.
    Timed(Box<Timed>),
    /// A random one, at each access.
    Explored(Explored),
}

/// The event that a blocked thread waits for.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Waits {
    /// A lock at this address, which another thread holds.
    Lock(usize),
    /// A notification of the condition variable at this address.
    Notified(usize),
    /// The end of a thread.
    End(ThreadNumber),
    /// A token to go on, see [`crate::thread::park_timeout`].
    Unpark,
    /// Nothing but time.
    Time,
}

impl Waits {
    /// The key of the list of those that wait for the same.
    fn key(self, me: ThreadNumber) -> (u8, usize) {
        match self {
            Waits::Lock(address) => (0, address),
            Waits::Notified(address) => (1, address),
            Waits::End(thread) => (2, thread),
            Waits::Unpark => (3, me),
            Waits::Time => (4, me),
        }
    }
}

/// A virtual thread.
pub(crate) struct Thread {
    pub(crate) name: Option<String>,
    /// Taken while the thread runs; `None` for good when it has ended.
    coroutine: Option<Coroutine<(), (), (), ThreadStack>>,
    stack: Option<Lowest>,
    /// Set by the thread when it begins. Valid while the coroutine is alive: it lies in the coroutine's own frame.
    yielder: *const Yielder<(), ()>,
    has_ended: bool,
    /// The event that it waits for, and the place of the call; `None` if it can run.
    waits: Option<(Waits, &'static Location<'static>)>,
    /// Time at which its last wait began.
    waits_since: Time,
    /// Whether its last wait was ended by another thread, and not by time.
    was_woken: bool,
    /// Place of its last wait, or, in a replay, of its last access or wait.
    at: Option<&'static Location<'static>>,
    /// A token of [`crate::thread::unpark`].
    pub(crate) token: bool,
    /// Time of its first [work](crate::work) since the last [`Begins`](crate::Begins).
    first_work: Option<Time>,
    /// Values of the thread-locals.
    locals: Vec<Local>,
}

impl Thread {
    /// Returns the thread's name in messages.
    fn shown(&self, number: ThreadNumber) -> String {
        self.name.as_ref().map_or_else(|| format!("number {number}"), |name| format!("`{name}`"))
    }
}

/// Value of a thread-local.
struct Local {
    /// Address of the key.
    key: usize,
    /// `None` if it was dropped.
    value: Option<Box<dyn Any>>,
    /// Whether its drop does anything. If not, the value can be used up to the end of the thread, as std's.
    needs_drop: bool,
}

/// Counts of a run.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct Counts {
    /// Accesses of atomics and locks.
    pub accesses: u64,
    /// Times that another thread began to run.
    pub switches: u64,
    /// Accesses that had to get their line from another core of the cluster, of the socket, and of another socket.
    pub misses: [u64; 3],
    /// Heavy fences.
    pub heavy_fences: u64,
    /// Times that a core was interrupted by another core's heavy fence.
    pub interruptions: u64,
    /// Threads that were woken.
    pub wakeups: u64,
}

/// Indices of the waits for locks, of those for cache lines, and of the times of heavy fences.
pub(crate) const LOCKS: usize = 0;
pub(crate) const LINES: usize = 1;
pub(crate) const HEAVY_FENCES: usize = 2;

pub(crate) struct World {
    pub(crate) order: Order,
    current: Cell<ThreadNumber>,
    threads: RefCell<Vec<Thread>>,
    /// Waiting threads by the key of their event; the first one is woken first.
    waiting: RefCell<HashMap<(u8, usize), VecDeque<ThreadNumber>>>,
    /// Holders of the locks that are held, by address: for messages.
    holders: RefCell<HashMap<usize, ThreadNumber>>,
    /// Values of the statics of this world, by the address of the static.
    statics: RefCell<Vec<(usize, &'static dyn Any)>>,
    pub(crate) counts: Cell<Counts>,
    /// Waits for locks and for cache lines, and heavy fences: how many, and how long in all, by the place of the call.
    waits: [RefCell<BTreeMap<&'static Location<'static>, (u64, Time)>>; 3],
    /// Closures to be called after the program, see [`crate::at_exit`].
    exits: RefCell<Vec<Box<dyn FnOnce()>>>,
    /// Threads that have blocked while they unwound, and unwind still.
    unwinding: RefCell<Vec<ThreadNumber>>,
    /// Set if the run cannot go on.
    failure: RefCell<Option<String>>,
}

thread_local! {
    static WORLD: Cell<*const World> = const { Cell::new(ptr::null()) };
}

/// Calls `f` with the calling thread's world, if it runs in one.
#[inline]
pub(crate) fn with<R>(f: impl FnOnce(Option<&World>) -> R) -> R {
    let world = WORLD.with(Cell::get);
    // SAFETY: `run` sets the pointer to a value in its frame, and resets it before that frame ends.
    f(unsafe { world.as_ref() })
}

/// Announces an access of a value to the calling thread's world, if there is one. The access is made when this returns.
#[inline]
#[track_caller]
pub(crate) fn access<T: ?Sized>(value: &T, access: Access) {
    let at = Location::caller();
    with(|world| {
        if let Some(world) = world {
            world.access(ptr::from_ref(value).cast::<()>().addr(), access, at);
        }
    });
}

/// Time that threads get to end after the program. Threads that never end (a timers' thread) are given up then.
const LINGER: Time = 120_000_000_000 * NS;

/// Time after which a run counts as one that never ends: 30 days, of 213 that the clock can count.
const LONGEST: Time = 30 * 86_400 * 1_000_000_000 * NS;

/// Runs a program in a world of its own, and returns its result with the world's counts and its time at the end of the program.
///
/// # Errors
///
/// Returns why the run could not go on: no thread can run, or a bound of the order was reached.
///
/// # Panics
///
/// If the program panics, or the calling thread runs in a world already.
pub(crate) fn run<R: 'static>(
    order: Order,
    program: impl FnOnce() -> R,
) -> Result<(R, Counts, Duration), String> {
    assert!(WORLD.with(Cell::get).is_null(), "a simulated program cannot begin a simulation");
    assert!(
        !std::thread::panicking(),
        "a simulation cannot begin while its thread unwinds, or after one that failed while a virtual thread unwound: use another thread"
    );
    let world = World {
        order,
        current: Cell::new(0),
        threads: RefCell::default(),
        waiting: RefCell::default(),
        holders: RefCell::default(),
        statics: RefCell::default(),
        counts: Cell::default(),
        waits: Default::default(),
        exits: RefCell::default(),
        unwinding: RefCell::default(),
        failure: RefCell::default(),
    };
    struct Reset<'a>(&'a World);
    impl Drop for Reset<'_> {
        fn drop(&mut self) {
            self.0.give_up();
            WORLD.with(|world| world.set(ptr::null()));
        }
    }
    WORLD.with(|it| it.set(&raw const world));
    let reset = Reset(&world);
    let outcome = Cell::new(None);
    let main: Box<dyn FnOnce() + '_> = Box::new(|| {
        let result = catch_unwind(AssertUnwindSafe(program));
        outcome.set(Some((result, world.now())));
    });
    // SAFETY: what the closure borrows outlives this call, or is a value of this frame. The thread runs only in `run_until` below. If it has not
    // ended then, the coroutine is forgotten and never resumed.
    let main = unsafe { std::mem::transmute::<Box<dyn FnOnce() + '_>, Box<dyn FnOnce()>>(main) };
    let main = world.spawn(Some("main".into()), main);
    world.run_until(|| world.has_ended(main), LONGEST);
    while !world.has_failed() {
        // As at the end of a process, but the global pool ends its threads here.
        let Some(exit) = world.exits.borrow_mut().pop() else { break };
        let exit = world.spawn(Some("exit".into()), exit);
        world.run_until(|| world.has_ended(exit), LONGEST);
    }
    if !world.has_failed() {
        world.run_until(|| false, world.time().saturating_add(LINGER));
    }
    drop(reset);
    let counts = world.counts.get();
    match (outcome.take(), world.failure.take()) {
        // A program that has panicked may leave its pool without an end, so this comes before a failure.
        (Some((Err(payload), _)), _) => std::panic::resume_unwind(payload),
        (_, Some(failure)) => Err(failure),
        (Some((Ok(result), time)), None) => Ok((result, counts, time)),
        (None, None) => Err("the program has not ended".into()),
    }
}

impl World {
    /// Counts something.
    pub(crate) fn count(&self, count: impl FnOnce(&mut Counts)) {
        let mut counts = self.counts.get();
        count(&mut counts);
        self.counts.set(counts);
    }

    pub(crate) fn current(&self) -> ThreadNumber {
        self.current.get()
    }

    pub(crate) fn thread<R>(&self, thread: ThreadNumber, f: impl FnOnce(&mut Thread) -> R) -> R {
        f(&mut self.threads.borrow_mut()[thread])
    }

    /// Returns the time since the world began.
    pub(crate) fn now(&self) -> Duration {
        Duration::from_nanos(self.time() / NS)
    }

    /// Returns the world's time after a duration from now on.
    pub(crate) fn after(&self, time: Duration) -> Time {
        self.time().saturating_add(picoseconds(time))
    }

    pub(crate) fn time(&self) -> Time {
        match &self.order {
            Order::Timed(timed) => timed.time(),
            Order::Explored(explored) => explored.time(),
        }
    }

    /// Starts a thread. Returns its number.
    pub(crate) fn spawn(&self, name: Option<String>, main: Box<dyn FnOnce()>) -> ThreadNumber {
        let stack = ThreadStack::take();
        let lowest = stack.lowest();
        let number = self.threads.borrow().len();
        let coroutine = Coroutine::with_stack(stack, move |yielder: &Yielder<(), ()>, ()| {
            with(|world| world.expect("it runs in a world").thread(number, |it| it.yielder = yielder));
            // The main functions of threads and of the program catch their panics. Exits and drops of thread-locals may panic here.
            let ends = catch_unwind(AssertUnwindSafe(|| {
                main();
                with(|world| world.expect("it runs in a world").drop_locals());
            }));
            with(|world| {
                let world = world.expect("it runs in a world");
                if let Err(payload) = ends {
                    world.fail(format!("a thread panicked at its end: {}", message(&*payload)));
                }
                world.end_thread();
            });
        });
        self.threads.borrow_mut().push(Thread {
            name,
            coroutine: Some(coroutine),
            stack: lowest,
            yielder: ptr::null(),
            has_ended: false,
            waits: None,
            waits_since: 0,
            was_woken: false,
            at: None,
            token: false,
            first_work: None,
            locals: Vec::new(),
        });
        match &self.order {
            Order::Timed(timed) => timed.spawned(number),
            Order::Explored(explored) => explored.ready(number),
        }
        number
    }

    /// Drops the current thread's locals, the last one first.
    fn drop_locals(&self) {
        let me = self.current();
        loop {
            let last = |it: &mut Thread| {
                let mut left = it.locals.iter_mut().rev().filter(|local| local.needs_drop);
                left.find_map(|local| local.value.take())
            };
            let Some(value) = self.thread(me, last) else { return };
            drop(value);
        }
    }

    /// Ends the current thread, and wakes those that wait for its end.
    fn end_thread(&self) {
        let me = self.current();
        self.thread(me, |it| {
            it.has_ended = true;
            // Values without a drop; the others too, if one of their drops has panicked.
            std::mem::forget(std::mem::take(&mut it.locals));
        });
        while self.wake_first(Waits::End(me)) {}
        match &self.order {
            Order::Timed(timed) => timed.leave(),
            Order::Explored(_) => {}
        }
    }

    /// Lets threads run until `is_over`, or until the given time. If that is [`LONGEST`], it is a failure if none can run, or the time has come.
    fn run_until(&self, is_over: impl Fn() -> bool, end: Time) {
        while !is_over() && !self.has_failed() {
            let next = match &self.order {
                Order::Timed(timed) => timed.next(self),
                Order::Explored(explored) => explored.next(self),
            };
            let Some(next) = next.filter(|_| self.time() <= end) else {
                if end == LONGEST {
                    self.fail(self.deadlock());
                }
                return;
            };
            if self.current.replace(next) != next {
                self.count(|counts| counts.switches += 1);
                match &self.order {
                    Order::Explored(explored) if explored.is_traced() => self.trace(next),
                    _ => {}
                }
            }
            let mut coroutine = self.thread(next, |it| it.coroutine.take()).expect("a thread that can run");
            let result = coroutine.resume(());
            self.thread(next, |it| it.stack).into_iter().for_each(Lowest::check);
            match result {
                CoroutineResult::Yield(()) => self.thread(next, |it| it.coroutine = Some(coroutine)),
                CoroutineResult::Return(()) => coroutine.into_stack().give_back(),
            }
        }
    }

    /// Writes to standard error that a thread runs next, for [`crate::replay`].
    fn trace(&self, next: ThreadNumber) {
        let (name, at) = self.thread(next, |it| (it.shown(next), it.at));
        let at = at.map_or_else(|| "begins".to_owned(), |at| format!("goes on at {at}"));
        eprintln!("{:>12?}  thread {name} {at}", self.now());
    }

    /// Lets other threads run, until the order chooses the current one again.
    pub(crate) fn switch(&self) {
        let yielder = self.thread(self.current(), |it| it.yielder);
        // SAFETY: the current thread has set the pointer when it began, and runs on the coroutine's stack.
        unsafe { (*yielder).suspend(()) };
    }

    /// Notes why the run cannot go on. The caller switches next.
    pub(crate) fn fail(&self, message: String) {
        self.failure.borrow_mut().get_or_insert(message);
    }

    /// Whether the run has failed.
    fn has_failed(&self) -> bool {
        self.failure.borrow().is_some()
    }

    /// Forgets the threads that have not ended. Their values are leaked, as at the end of a process.
    fn give_up(&self) {
        for thread in self.threads.borrow_mut().iter_mut() {
            let Some(mut coroutine) = thread.coroutine.take() else { continue };
            if self.has_failed() {
                // Its stack is never used again: code outside the world may refer to values in its frames.
                std::mem::forget(coroutine);
            } else {
                // SAFETY: the frames are never used again. This is a thread that never ends (a timers' thread); the program has ended, and the
                // crate's documentation forbids that code outside the world refers to values in the frames.
                unsafe { coroutine.force_reset() };
                coroutine.into_stack().give_back();
            }
            std::mem::forget(std::mem::take(&mut thread.locals));
        }
    }

    /// Has something done after the program.
    pub(crate) fn at_exit(&self, f: Box<dyn FnOnce()>) {
        self.exits.borrow_mut().push(f);
    }

    /// Whether the current thread unwinds. (Std counts the panics of all virtual threads together. So a thread that panics while another one, which
    /// unwinds, is blocked seems not to unwind.)
    pub(crate) fn panicking(&self) -> bool {
        let others = self.unwinding.borrow();
        std::thread::panicking() && (others.is_empty() || others.contains(&self.current()))
    }

    /// Blocks the current thread. Returns whether another thread has woken it, and not the time.
    pub(crate) fn block(&self, waits: Waits, until: Option<Time>, at: &'static Location<'static>) -> bool {
        let me = self.current();
        self.waiting.borrow_mut().entry(waits.key(me)).or_default().push_back(me);
        let now = self.time();
        self.thread(me, |it| {
            (it.waits, it.waits_since, it.was_woken, it.at) = (Some((waits, at)), now, false, Some(at));
        });
        match &self.order {
            Order::Timed(timed) => timed.block(until),
            Order::Explored(explored) => explored.block(me, until),
        }
        self.switch_unwinding();
        self.thread(me, |it| it.was_woken)
    }

    /// Switches, and notes meanwhile whether the current thread unwinds.
    pub(crate) fn switch_unwinding(&self) {
        let (me, unwinds) = (self.current(), self.panicking());
        if unwinds {
            self.unwinding.borrow_mut().push(me);
        }
        self.switch();
        if unwinds {
            self.unwinding.borrow_mut().retain(|&other| other != me);
        }
    }

    /// Ends a thread's wait by time. Called by the order.
    pub(crate) fn time_out(&self, thread: ThreadNumber) {
        let Some((waits, _)) = self.thread(thread, |it| it.waits.take()) else { return };
        let key = waits.key(thread);
        let mut waiting = self.waiting.borrow_mut();
        if let Some(list) = waiting.get_mut(&key) {
            list.retain(|&other| other != thread);
            if list.is_empty() {
                waiting.remove(&key);
            }
        }
    }

    /// Whether a thread sleeps until this happens.
    pub(crate) fn has_waiters(&self, waits: Waits) -> bool {
        self.waiting.borrow().contains_key(&waits.key(self.current()))
    }

    /// Wakes the first thread that waits for this. Returns whether there was one.
    pub(crate) fn wake_first(&self, waits: Waits) -> bool {
        self.wake_of(waits, self.current())
    }

    /// As `wake_first`; `of` is the thread whose token or time is waited for.
    pub(crate) fn wake_of(&self, waits: Waits, of: ThreadNumber) -> bool {
        let key = waits.key(of);
        let mut waiting = self.waiting.borrow_mut();
        let Some(list) = waiting.get_mut(&key) else { return false };
        let first = list.pop_front();
        if list.is_empty() {
            waiting.remove(&key);
        }
        drop(waiting);
        let Some(thread) = first else { return false };
        self.thread(thread, |it| (it.waits, it.was_woken) = (None, true));
        self.count(|counts| counts.wakeups += 1);
        match &self.order {
            Order::Timed(timed) => timed.woken(thread),
            Order::Explored(explored) => explored.ready(thread),
        }
        true
    }

    /// Whether a thread has ended, or is none of this world's.
    pub(crate) fn has_ended(&self, thread: ThreadNumber) -> bool {
        self.threads.borrow().get(thread).is_none_or(|thread| thread.has_ended)
    }

    /// Whether a thread sleeps in the system.
    pub(crate) fn is_blocked(&self, thread: ThreadNumber) -> bool {
        self.threads.borrow()[thread].waits.is_some()
    }

    /// Notes the holder of a lock, for messages.
    pub(crate) fn held(&self, address: usize) {
        self.holders.borrow_mut().insert(address, self.current());
    }

    pub(crate) fn released(&self, address: usize) {
        self.holders.borrow_mut().remove(&address);
    }

    /// Notes that a thread has waited for a lock since a time.
    pub(crate) fn waited_for_lock(&self, since: Time, at: &'static Location<'static>) {
        self.waited(LOCKS, self.time().saturating_sub(since), at);
    }

    /// Notes that a thread has waited for a lock or for a line.
    pub(crate) fn waited(&self, what: usize, took: Time, at: &'static Location<'static>) {
        let mut waits = self.waits[what].borrow_mut();
        let (count, time) = waits.entry(at).or_default();
        (*count, *time) = (*count + 1, *time + took);
    }

    /// Returns the waits for locks, or for lines: the place of the call, how many, and how long in all. The longest come first.
    pub(crate) fn waits(&self, what: usize) -> Vec<(&'static Location<'static>, u64, Duration)> {
        let waits = self.waits[what].borrow();
        let mut all: Vec<_> =
            waits.iter().map(|(at, (count, time))| (*at, *count, Duration::from_nanos(time / NS))).collect();
        all.sort_by_key(|&(.., time)| std::cmp::Reverse(time));
        all
    }

    /// Whether a thread of this world holds a lock.
    pub(crate) fn is_held(&self, address: usize) -> bool {
        self.holders.borrow().contains_key(&address)
    }

    /// Number of looks at a lock that is held, before its thread sleeps.
    pub(crate) fn looks(&self) -> u32 {
        match &self.order {
            Order::Timed(_) => 100,
            Order::Explored(_) => 1,
        }
    }

    /// A place where other threads may go on, before the current one looks at what they have done to it.
    pub(crate) fn point(&self) {
        match &self.order {
            Order::Timed(timed) => timed.catch_up(self),
            Order::Explored(explored) => explored.access(self),
        }
    }

    /// An access of memory that other threads may use. It is made when this returns.
    pub(crate) fn access(&self, address: usize, access: Access, at: &'static Location<'static>) {
        self.count(|counts| counts.accesses += 1);
        match &self.order {
            Order::Timed(timed) => timed.access(self, address, access, at),
            Order::Explored(explored) => {
                if explored.is_traced() {
                    self.thread(self.current(), |it| it.at = Some(at));
                }
                explored.access(self);
            }
        }
    }

    /// A pause of a loop that waits.
    pub(crate) fn spin(&self) {
        match &self.order {
            Order::Timed(timed) => timed.spin(self),
            Order::Explored(explored) => explored.give_way(self),
        }
    }

    /// A short system call.
    pub(crate) fn system_call(&self) {
        if let Order::Timed(timed) = &self.order {
            timed.system_call();
        }
    }

    /// Lets the system run other threads.
    pub(crate) fn yield_now(&self) {
        match &self.order {
            Order::Timed(timed) => timed.yield_now(self),
            Order::Explored(explored) => explored.give_way(self),
        }
    }

    /// Computes for a time.
    pub(crate) fn work(&self, time: Time) {
        let now = self.time();
        self.thread(self.current(), |it| _ = it.first_work.get_or_insert(now));
        match &self.order {
            Order::Timed(timed) => timed.work(self, time),
            Order::Explored(explored) => explored.work(self, time),
        }
    }

    /// Forgets when threads have begun to work.
    pub(crate) fn forget_work(&self) {
        self.threads.borrow_mut().iter_mut().for_each(|thread| thread.first_work = None);
    }

    /// Returns the times at which threads have begun to work, in order.
    pub(crate) fn first_works(&self) -> Vec<Duration> {
        let mut times: Vec<_> = self.threads.borrow().iter().filter_map(|thread| thread.first_work).collect();
        times.sort_unstable();
        times.into_iter().map(|time| Duration::from_nanos(time / NS)).collect()
    }

    /// A fence of the current thread.
    pub(crate) fn fence(&self) {
        match &self.order {
            Order::Timed(timed) => timed.fence(),
            Order::Explored(explored) => explored.access(self),
        }
    }

    /// A fence of all threads.
    pub(crate) fn heavy_fence(&self, at: &'static Location<'static>) {
        self.count(|counts| counts.heavy_fences += 1);
        let since = self.time();
        match &self.order {
            Order::Timed(timed) => timed.heavy_fence(self),
            Order::Explored(explored) => explored.access(self),
        }
        self.waited(HEAVY_FENCES, self.time().saturating_sub(since), at);
    }

    /// A look at the clock.
    pub(crate) fn look_at_clock(&self) {
        match &self.order {
            Order::Timed(timed) => timed.look_at_clock(),
            Order::Explored(explored) => explored.access(self),
        }
    }

    /// Returns the number of cores.
    pub(crate) fn cores(&self) -> NonZero<usize> {
        let cores = match &self.order {
            Order::Timed(timed) => timed.cores(),
            Order::Explored(explored) => explored.cores(),
        };
        NonZero::new(cores).expect("a machine has a core")
    }

    /// Returns the socket and the cluster of the current thread's core, unless all cores are in one cluster.
    pub(crate) fn place(&self) -> Option<(usize, usize)> {
        match &self.order {
            Order::Timed(timed) => timed.place_of(self.current()),
            Order::Explored(_) => None,
        }
    }

    /// Returns the current thread's own one of two processors in explored schedules; nothing on a simulated machine, where a woken thread gets an idle core.
    pub(crate) fn processor(&self) -> Option<usize> {
        matches!(self.order, Order::Explored(_)).then(|| self.current() % 2)
    }

    /// Returns a random number.
    pub(crate) fn random(&self) -> u64 {
        match &self.order {
            Order::Timed(timed) => timed.random(),
            Order::Explored(explored) => explored.random(),
        }
    }

    /// Returns the processor time of a thread.
    pub(crate) fn used(&self, thread: ThreadNumber) -> Duration {
        match &self.order {
            Order::Timed(timed) => Duration::from_nanos(timed.used(thread) / NS),
            // A thread that can run may have run all the time.
            Order::Explored(_) => {
                let since = self.thread(thread, |it| it.waits.map(|_| it.waits_since));
                since.map_or_else(|| self.now(), |since| Duration::from_nanos(since / NS))
            }
        }
    }

    /// Returns the value of a thread-local of the current thread, made by `init` if there is none; `None` if it was dropped.
    pub(crate) fn local<T: 'static>(&self, key: usize, init: fn() -> T) -> Option<*const T> {
        let me = self.current();
        let find = |it: &mut Thread| {
            let found = it.locals.iter().find(|local| local.key == key);
            found.map(|local| local.value.as_ref().and_then(|value| value.downcast_ref()).map(ptr::from_ref))
        };
        if let Some(found) = self.thread(me, find) {
            return found;
        }
        let value: Box<dyn Any> = Box::new(init());
        self.thread(me, |it| {
            it.locals.push(Local { key, value: Some(value), needs_drop: std::mem::needs_drop::<T>() });
            find(it).flatten()
        })
    }

    /// Returns the value of a static of this world, made by `init` if there is none.
    pub(crate) fn of_world<T: 'static>(&self, key: usize, init: fn() -> T) -> *const T {
        let find = || {
            let statics = self.statics.borrow();
            statics
                .iter()
                .find(|(other, _)| *other == key)
                .and_then(|(_, it)| it.downcast_ref())
                .map(ptr::from_ref)
        };
        find().unwrap_or_else(|| {
            // Other values of the process may refer to it, and its drop would need a world.
            let value: &'static T = Box::leak(Box::new(init()));
            self.statics.borrow_mut().push((key, value));
            ptr::from_ref(value)
        })
    }

    /// Says which threads wait for what.
    pub(crate) fn deadlock(&self) -> String {
        let threads = self.threads.borrow();
        let name = |number: usize| threads[number].shown(number);
        let mut text = String::from("no thread can run, or nothing but time passes:");
        for (number, thread) in threads.iter().enumerate() {
            let Some((waits, at)) = &thread.waits else { continue };
            let what = match *waits {
                Waits::Lock(address) => match self.holders.borrow().get(&address) {
                    Some(&holder) => format!("a lock that thread {} holds", name(holder)),
                    None => "a lock".into(),
                },
                Waits::Notified(_) => "a notification".into(),
                Waits::End(other) => format!("the end of thread {}", name(other)),
                Waits::Unpark => "a token to go on".into(),
                Waits::Time => "time to pass".into(),
            };
            // A text takes whatever is written.
            let _ = write!(text, "\n  thread {} waits for {what}, at {at}", name(number));
        }
        text
    }
}
