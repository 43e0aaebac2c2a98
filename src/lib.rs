//! Parallel iterators whose **scheduling you choose**.
//!
//! Furcate's iterators are rayon's, by name and by result. What is new is that *how* the work is scheduled is part of
//! the chain: add a word, and the same computation is divided, run or bounded differently.
//!
//! ```
//! use furcate::prelude::*;
//!
//! let v: Vec<u64> = (0..100_000).collect();
//! let sum: u64 = v.par_iter().map(|x| x * x % 7).filter(|x| *x > 2).sum();
//! let again: u64 = v.par_iter().map(|x| x * x % 7).filter(|x| *x > 2).thief_splitting(4).sum();
//! assert_eq!(sum, again);
//! ```
//!
//! # Four questions, four layers
//!
//! | question | trait | answers |
//! |---|---|---|
//! | **what** is divided | [`Divisible`], [`Producer`] | slices, ranges, strings, collections, tuples, your own types |
//! | **when** is it divided | [`Policy`] | [`policy`]: `bound_depth`, `size_limit`, `thief_splitting`, `cap` ... |
//! | **how** are the parts run and reduced | [`Scheduler`] | [`Join`], [`DepJoin`], [`Adaptive`], [`ByBlocks`], [`Sequential`] |
//! | **where** do they run | [`Executor`] | furcate's own pool ([`Pool`], [`ThreadPool`]), rayon's, or the calling thread ([`Inline`]) |
//!
//! Start with [`prelude`] and [`iter::ParallelIterator`], whose methods are all there is to chain. Anything that can be
//! cut in two, not only what has items, is scheduled through [`iter::WrapIter::wrap_iter`].
//!
//! The modules are named as rayon's. The book, in the repository's folder `book/`, explains why and shows the
//! division tree of every policy.
//!
//! # Features
//!
//! * `derive` (default): `#[derive(Divisible)]`.
//! * `rayon`: the engine `Rayon`, which runs on rayon-core's pool.
#![forbid(unsafe_code)]

pub use furcate_adaptors::{
    array, collections, iter, option, range, range_inclusive, result, slice, str, string, vec,
};
#[cfg(feature = "derive")]
pub use furcate_derive::Divisible;
#[cfg(all(feature = "rayon", not(loom)))]
pub use furcate_pool::Rayon;
#[cfg(not(loom))]
pub use furcate_pool::{
    BroadcastContext, CustomSpawn, DefaultSpawn, FnContext, Pool, Scope, ScopeFifo, Spawn, Stats, StealStats,
    ThreadBuilder, ThreadPool, ThreadPoolBuildError, ThreadPoolBuilder, WaitRule, Worker, WorkerStats, Yield,
    broadcast, current_num_threads, current_thread_has_pending_tasks, current_thread_index, global_stats,
    in_place_scope, in_place_scope_fifo, join, join_context, join_with, max_num_threads, scope, scope_fifo,
    spawn, spawn_broadcast, spawn_fifo, yield_local, yield_now,
};
pub use furcate_pool::{Context, DefaultExecutor, Executor, Inline, detach};
pub use furcate_schedulers::{
    Adaptive, BlockSizes, ByBlocks, ByTerminal, DepJoin, Divisible, Doubling, IndexedProducer, Join, Nano,
    NanoFold, NanoLoops, PeekProducer, Policy, Producer, Reduction, Scheduler, Sequential, Task, Verdict,
    policy,
};

pub mod prelude {
    //! The traits, to be imported together: `use furcate::prelude::*;`.
    pub use furcate_adaptors::prelude::*;
    #[cfg(feature = "derive")]
    pub use furcate_derive::Divisible;
}

/// The code blocks of the README and the book, compiled and run by the tests.
#[cfg(all(doctest, feature = "derive"))]
mod prose {
    macro_rules! pages {
        ($($page:ident: $path:literal),+ $(,)?) => {$(
            #[doc = include_str!($path)]
            mod $page {}
        )+};
    }
    pages!(
        readme: "../README.md",
        why: "../book/src/why.md",
        questions: "../book/src/questions.md",
        policies: "../book/src/policies.md",
        divisible: "../book/src/divisible.md",
        policy: "../book/src/policy.md",
        interruption: "../book/src/interruption.md",
        merge_and_scan: "../book/src/merge_and_scan.md",
        pool: "../book/src/pool.md",
        rayon: "../book/src/rayon.md",
        design: "../book/src/design.md",
    );
}

#[cfg(doctest)]
mod compile_fail;
