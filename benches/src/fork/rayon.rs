//! rayon-core: `join` finds its worker through a thread-local, `install` runs the root on a thread of the pool.

use super::{Engine, Fork, STACK};

/// A pool of rayon's.
#[derive(Debug)]
pub struct Rayon(::rayon::ThreadPool);

/// Forks in the pool the calling thread belongs to.
#[derive(Debug)]
pub struct RayonFork;

impl Fork for RayonFork {
    #[inline]
    fn join<A, B, RA, RB>(&self, left: A, right: B) -> (RA, RB)
    where
        A: FnOnce(&Self) -> RA + Send,
        B: FnOnce(&Self) -> RB + Send,
        RA: Send,
        RB: Send,
    {
        ::rayon::join(|| left(&RayonFork), || right(&RayonFork))
    }
}

impl Engine for Rayon {
    const NAME: &'static str = "rayon";
    type Fork = RayonFork;

    fn new(threads: usize) -> Self {
        let pool = ::rayon::ThreadPoolBuilder::new().num_threads(threads).stack_size(STACK).build();
        Self(pool.expect("threads can be started"))
    }

    fn run<R, F>(&self, body: F) -> R
    where
        R: Send,
        F: FnOnce(&RayonFork) -> R + Send,
    {
        self.0.install(|| body(&RayonFork))
    }
}
