//! The cost of futures that are ready at once: the same computation with and without them.

use super::load::{fib, plain};
#[cfg(target_os = "linux")]
use super::reads;
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
    /// Time over that of *Ideal* in Cilk-L's figure 4, where the paper has the form: from 1 to 40 workers.
    pub paper: &'static str,
    run: fn(Overhead, &ThreadPool) -> u64,
}

/// A form that the paper does not have.
const fn form(name: &'static str, without: &'static str, run: fn(Overhead, &ThreadPool) -> u64) -> Form {
    Form { name, without, paper: "", run }
}

/// All forms on a pool of furcate's. Those that read are for Linux.
pub const FORMS: &[Form] = &[
    form("plain", "plain", |it, _| plain(it.n)),
    form("join", "join", Overhead::join),
    form("join, block_on in the leaves", "join", Overhead::join_block_on),
    form("join_async", "join", Overhead::join_async),
    form("map, sum", "map, sum", Overhead::map),
    form("map, io_await, map, sum", "map, sum", Overhead::io_await),
    #[cfg(target_os = "linux")]
    form("read, sum", "read, sum", |it, pool| {
        it.flat().into_par_iter().map(|n| plain(reads::plainly(n))).on(pool).sum()
    }),
    #[cfg(target_os = "linux")]
    Form {
        paper: "0.96",
        ..form("read + future", "read, sum", |it, pool| it.awaited(reads::by_future, pool))
    },
    #[cfg(target_os = "linux")]
    Form { paper: "1.00", ..form("read + epoll", "read, sum", |it, pool| it.awaited(reads::by_epoll, pool)) },
    #[cfg(target_os = "linux")]
    Form {
        paper: "0.99 to 1.03",
        ..form("read + I/O thread", "read, sum", |it, pool| it.awaited(reads::by_io_thread, pool))
    },
    #[cfg(target_os = "linux")]
    form("read by async-io", "read, sum", |it, pool| it.awaited(reads::by_async_io, pool)),
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
        self.awaited(ready, pool)
    }

    fn awaited<F: Future<Output = u32> + Send>(
        self,
        leaf: impl Fn(u32) -> F + Sync + Send,
        pool: &ThreadPool,
    ) -> u64 {
        self.flat().into_par_iter().map(leaf).io_await().map(plain).on(pool).sum()
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
