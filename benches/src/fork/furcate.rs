//! Furcate's own pool: `join` through the thread-local, through the context handle, and without the system call `membarrier`.

use super::{Engine, Fork, STACK};
use furcate::{Stats, ThreadPool, ThreadPoolBuilder, Worker};

/// A pool of furcate's, whose programs find their worker through a thread-local.
#[derive(Debug)]
pub struct Furcate(ThreadPool);

impl Furcate {
    /// Returns the counts of the pool's actions.
    #[must_use]
    pub fn stats(&self) -> Stats {
        self.0.stats()
    }
}

/// Forks in the pool the calling thread belongs to.
#[derive(Debug)]
pub struct FurcateFork;

/// A pool of furcate's, whose programs pass the worker's handle down.
#[derive(Debug)]
pub struct FurcateHandle(ThreadPool);

/// A pool of furcate's whose workers pass a full fence at each fork, as where the system has no `membarrier`.
#[derive(Debug)]
pub struct FurcateFences(ThreadPool);

fn pool(builder: ThreadPoolBuilder, threads: usize) -> ThreadPool {
    builder.num_threads(threads).stack_size(STACK).build().expect("threads can be started")
}

impl Fork for FurcateFork {
    #[inline]
    fn join<A, B, RA, RB>(&self, left: A, right: B) -> (RA, RB)
    where
        A: FnOnce(&Self) -> RA + Send,
        B: FnOnce(&Self) -> RB + Send,
        RA: Send,
        RB: Send,
    {
        furcate::join(|| left(&FurcateFork), || right(&FurcateFork))
    }
}

impl Engine for Furcate {
    const NAME: &'static str = "furcate";
    type Fork = FurcateFork;

    fn new(threads: usize) -> Self {
        Self(pool(ThreadPoolBuilder::new(), threads))
    }

    fn run<R, F>(&self, body: F) -> R
    where
        R: Send,
        F: FnOnce(&FurcateFork) -> R + Send,
    {
        self.0.install(|| body(&FurcateFork))
    }
}

impl Fork for Worker {
    #[inline]
    fn join<A, B, RA, RB>(&self, left: A, right: B) -> (RA, RB)
    where
        A: FnOnce(&Self) -> RA + Send,
        B: FnOnce(&Self) -> RB + Send,
        RA: Send,
        RB: Send,
    {
        Worker::join(self, left, right)
    }
}

impl Engine for FurcateHandle {
    const NAME: &'static str = "furcate-handle";
    type Fork = Worker;

    fn new(threads: usize) -> Self {
        Self(pool(ThreadPoolBuilder::new(), threads))
    }

    fn run<R, F>(&self, body: F) -> R
    where
        R: Send,
        F: FnOnce(&Worker) -> R + Send,
    {
        self.0.join_with(body, |_| ()).0
    }
}

impl Engine for FurcateFences {
    const NAME: &'static str = "furcate-fences";
    type Fork = FurcateFork;

    fn new(threads: usize) -> Self {
        Self(pool(ThreadPoolBuilder::new().ordinary_fences(), threads))
    }

    fn run<R, F>(&self, body: F) -> R
    where
        R: Send,
        F: FnOnce(&FurcateFork) -> R + Send,
    {
        self.0.install(|| body(&FurcateFork))
    }
}
