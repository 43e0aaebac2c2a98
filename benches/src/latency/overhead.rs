//! The cost of futures that are ready at once: the same computation with and without them.

use super::load::{fib, plain};
use super::{Blocking, Tokio};
use crate::fork::{FurcateFork, RayonFork};
use furcate::prelude::*;
use furcate::{ScopeHandle, ThreadPool, block_on};
use std::future::ready;
use std::hint::black_box;
use std::pin::Pin;

/// `fib(n)`, forked down to `cutoff`, and serial below; or a map and a sum over the leaves of those forks.
#[derive(Clone, Copy, Debug)]
pub struct Overhead {
    /// Number whose Fibonacci number is computed.
    pub n: u32,
    /// Largest number that is computed serially.
    pub cutoff: u32,
}

/// A form of the computation.
#[derive(Clone, Copy, Debug)]
pub struct Form {
    /// The name in tables.
    pub name: &'static str,
    /// The name of the same form without futures; its own name, if it uses none.
    pub without: &'static str,
    run: fn(Overhead, &ThreadPool) -> u64,
}

/// All forms on a pool of furcate's.
pub const FORMS: [Form; 6] = [
    Form { name: "plain", without: "plain", run: |it, _| plain(it.n) },
    Form { name: "join", without: "join", run: Overhead::join },
    Form { name: "join, block_on in the leaves", without: "join", run: Overhead::join_block_on },
    Form { name: "join_async", without: "join", run: Overhead::join_async },
    Form { name: "map, sum", without: "map, sum", run: Overhead::map },
    Form { name: "map, io_await, map, sum", without: "map, sum", run: Overhead::io_await },
];

impl Form {
    /// Computes it.
    #[must_use]
    pub fn run(&self, program: Overhead, pool: &ThreadPool) -> u64 {
        (self.run)(black_box(program), pool)
    }
}

impl Overhead {
    /// Returns the number of leaves. Each leaf is awaited once.
    #[must_use]
    pub fn leaves(&self) -> usize {
        self.flat().len()
    }

    /// Computes it with rayon's fork.
    #[must_use]
    pub fn by_rayon(self, engine: &Blocking) -> u64 {
        engine.0.install(|| fib(&RayonFork, self.n, self.cutoff))
    }

    /// Computes it with tokio: a task per fork.
    ///
    /// # Panics
    ///
    /// If a task is cancelled.
    #[must_use]
    pub fn by_tokio(self, engine: &Tokio) -> u64 {
        fn walk(n: u32, cutoff: u32) -> Pin<Box<dyn Future<Output = u64> + Send>> {
            Box::pin(async move {
                if n <= cutoff {
                    return plain(ready(n).await);
                }
                let right = tokio::spawn(walk(n - 2, cutoff));
                walk(n - 1, cutoff).await + right.await.expect("no task panics")
            })
        }
        engine.0.block_on(engine.0.spawn(walk(self.n, self.cutoff))).expect("no task panics")
    }

    fn join(self, pool: &ThreadPool) -> u64 {
        pool.install(|| fib(&FurcateFork, self.n, self.cutoff))
    }

    fn join_block_on(self, pool: &ThreadPool) -> u64 {
        fn walk(n: u32, cutoff: u32) -> u64 {
            if n <= cutoff {
                return plain(block_on(ready(n)));
            }
            let (a, b) = furcate::join(|| walk(n - 1, cutoff), || walk(n - 2, cutoff));
            a + b
        }
        pool.install(|| walk(self.n, self.cutoff))
    }

    fn join_async(self, pool: &ThreadPool) -> u64 {
        fn walk(
            n: u32,
            cutoff: u32,
            scope: ScopeHandle<'_>,
        ) -> Pin<Box<dyn Future<Output = u64> + Send + '_>> {
            Box::pin(async move {
                if n <= cutoff {
                    return plain(ready(n).await);
                }
                let (left, right) = (walk(n - 1, cutoff, scope.clone()), walk(n - 2, cutoff, scope.clone()));
                let (a, b) = scope.join_async(left, right).await;
                a + b
            })
        }
        pool.install(|| furcate::scope(|scope| block_on(walk(self.n, self.cutoff, scope.handle()))))
    }

    fn map(self, pool: &ThreadPool) -> u64 {
        self.flat().into_par_iter().map(plain).on(pool).sum()
    }

    fn io_await(self, pool: &ThreadPool) -> u64 {
        self.flat().into_par_iter().map(ready).io_await().map(plain).on(pool).sum()
    }

    /// Returns the leaves, from left to right.
    fn flat(&self) -> Vec<u32> {
        fn walk(n: u32, cutoff: u32, leaves: &mut Vec<u32>) {
            if n <= cutoff {
                leaves.push(n);
            } else {
                walk(n - 1, cutoff, leaves);
                walk(n - 2, cutoff, leaves);
            }
        }
        let mut leaves = Vec::new();
        walk(self.n, self.cutoff, &mut leaves);
        leaves
    }
}
