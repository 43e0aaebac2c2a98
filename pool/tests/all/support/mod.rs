//! Shared code of the pool's tests.

pub(crate) mod detached;
pub(crate) mod suspended;

use furcate_pool::{Executor, ThreadPool, ThreadPoolBuilder, WaitRule, join, scope};
use std::any::Any;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::mpsc::{Receiver, channel};
#[cfg(unix)]
use std::thread;
use std::time::{Duration, Instant};
pub(crate) use testkit::panics::{payload, quiet_panics, text};
#[cfg(unix)]
pub(crate) use testkit::process::{aborted_child, processor_time};
pub(crate) use testkit::process::{child, good_child, plays, said};
pub(crate) use testkit::{LONG, Random, pool, spin, until, within};

pub(crate) const RULES: [WaitRule; 4] =
    [WaitRule::Descendants, WaitRule::Leapfrog, WaitRule::RandomLeapfrog, WaitRule::Any];

pub(crate) fn ruled(threads: usize, rule: WaitRule) -> ThreadPool {
    ThreadPoolBuilder::new().num_threads(threads).wait_rule(rule).build().expect("a pool")
}

/// Returns settings of a pool whose panics are told, and the receiver of their messages.
pub(crate) fn telling(threads: usize) -> (ThreadPoolBuilder, Receiver<String>) {
    let (send, receive) = channel();
    let tell = move |payload| send.send(message(payload)).unwrap();
    (ThreadPoolBuilder::new().num_threads(threads).panic_handler(tell), receive)
}

/// Calls `leaf` for each number, as the leaves of a balanced tree of joins.
pub(crate) fn leaves(numbers: Range<usize>, leaf: &(impl Fn(usize) + Sync)) {
    if numbers.len() < 2 {
        return numbers.for_each(leaf);
    }
    let middle = numbers.start + numbers.len() / 2;
    join(|| leaves(numbers.start..middle, leaf), || leaves(middle..numbers.end, leaf));
}

/// Begins so many parts of a call.
pub(crate) type Begin = fn(usize, &(dyn Fn() + Sync));

pub(crate) fn forked(parts: usize, part: &(dyn Fn() + Sync)) {
    leaves(0..parts, &|_| part());
}

pub(crate) fn spawned(parts: usize, part: &(dyn Fn() + Sync)) {
    scope(|scope| (0..parts).for_each(|_| scope.spawn(|_| part())));
}

/// Runs a call of so many parts, each of which goes on only when all have begun. Returns the time until they had.
pub(crate) fn meet(pool: &ThreadPool, begin: Begin, parts: usize, pause: fn()) -> Duration {
    let (begun, since) = (AtomicUsize::new(0), Instant::now());
    pool.install(|| {
        begin(parts, &|| {
            add(&begun);
            while begun.load(SeqCst) < parts {
                pause();
            }
        });
    });
    since.elapsed()
}

/// A join on `pool` in which the calling thread takes part, whether it is a worker or not.
pub(crate) fn take_part<A: Send, B: Send>(
    pool: &ThreadPool,
    left: impl FnOnce() -> A + Send,
    right: impl FnOnce() -> B + Send,
) -> (A, B) {
    Executor::join_context(&pool, |_| left(), |_| right())
}

/// Returns the least processor time that this process has used during `window`. Measures until the time is less than
/// `limit`, up to 20 times: on a busy machine, single measurements are too high.
#[cfg(unix)]
pub(crate) fn least_processor_time(window: Duration, limit: Duration) -> Duration {
    let measure = || {
        let before = processor_time();
        thread::sleep(window);
        processor_time() - before
    };
    let mut least = measure();
    for _ in 1..20 {
        if least < limit {
            break;
        }
        least = least.min(measure());
    }
    least
}

/// A Fibonacci number, by a fork for each sum.
pub(crate) fn fib(n: u32) -> u64 {
    if n < 2 {
        return n.into();
    }
    let (a, b) = join(|| fib(n - 1), || fib(n - 2));
    a + b
}

/// Returns the text of a panic with a string.
pub(crate) fn message(payload: Box<dyn Any + Send>) -> String {
    text(&*payload).to_owned()
}

/// Counts the threads that are inside a section of code at once.
#[derive(Debug, Default)]
pub(crate) struct Crowd {
    now: AtomicUsize,
    most: AtomicUsize,
}

impl Crowd {
    pub(crate) fn while_in<R>(&self, f: impl FnOnce() -> R) -> R {
        struct Out<'a>(&'a AtomicUsize);
        impl Drop for Out<'_> {
            fn drop(&mut self) {
                self.0.fetch_sub(1, SeqCst);
            }
        }
        self.most.fetch_max(self.now.fetch_add(1, SeqCst) + 1, SeqCst);
        let _out = Out(&self.now);
        f()
    }

    pub(crate) fn most(&self) -> usize {
        self.most.load(SeqCst)
    }
}

/// Adds one.
pub(crate) fn add(count: &AtomicUsize) {
    count.fetch_add(1, SeqCst);
}

/// Adds `more`.
pub(crate) fn add_up(count: &AtomicUsize, more: usize) {
    count.fetch_add(more, SeqCst);
}

/// A flag that one thread sets and others wait for.
#[derive(Debug, Default)]
pub(crate) struct Flag(std::sync::atomic::AtomicBool);

impl Flag {
    pub(crate) fn set(&self) {
        self.0.store(true, SeqCst);
    }

    pub(crate) fn is_set(&self) -> bool {
        self.0.load(SeqCst)
    }

    #[track_caller]
    pub(crate) fn wait(&self) {
        until(|| self.is_set());
    }
}
