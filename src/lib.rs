//! Parallel iterators whose **scheduling you choose**.
//!
//! Furcate's iterators are rayon's, by name and by result. In addition the *scheduling* is part of the chain: add a
//! word, and the same computation is divided, run or bounded differently.
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
//! Start with [`prelude`] and [`iter::ParallelIterator`], which has all methods of a chain. Any type that can be
//! cut in two, with or without items, is scheduled through [`iter::WrapIter::wrap_iter`].
//!
//! # Policies
//!
//! | method of [`iter::ParallelIterator`] | divides |
//! |---|---|
//! | [`bound_depth(d)`](iter::ParallelIterator::bound_depth) | down to depth d and no further |
//! | [`force_depth(d)`](iter::ParallelIterator::force_depth) | down to depth d, whatever others say |
//! | [`size_limit(n)`](iter::ParallelIterator::size_limit) | every part that is larger than n |
//! | [`even_levels()`](iter::ParallelIterator::even_levels) | so that leaves are at even depths |
//! | [`join_context_policy(d)`](iter::ParallelIterator::join_context_policy) | right parts only if they were stolen |
//! | [`thief_splitting(n)`](iter::ParallelIterator::thief_splitting) | n levels, and n more in every stolen part |
//! | [`cap(n)`](iter::ParallelIterator::cap) | while fewer than n tasks are live |
//! | [`with_min_len(n)`](iter::ParallelIterator::with_min_len), [`with_max_len(n)`](iter::ParallelIterator::with_max_len) | as the other policies say, within these lengths |
//! | [`with_policy(p)`](iter::ParallelIterator::with_policy) | as a [`Policy`] of your own says |
//!
//! Policies can be chained in any order, and the order makes no difference: see [`policy`].
//!
//! # Schedulers
//!
//! | method of [`iter::ParallelIterator`] | |
//! |---|---|
//! | none | [by blocks](ByBlocks) if the terminal may end early (a search), else `join`: see [`ByTerminal`] |
//! | [`join()`](iter::ParallelIterator::join) | divides beforehand; the worker that has forked reduces |
//! | [`depjoin()`](iter::ParallelIterator::depjoin) | the same; the worker that finishes last reduces, and only the root waits |
//! | [`adaptive()`](iter::ParallelIterator::adaptive) | divides when another worker is out of work |
//! | [`by_blocks(sizes)`](iter::ParallelIterator::by_blocks), [`by_exponential_blocks()`](iter::ParallelIterator::by_exponential_blocks), [`by_uniform_blocks(n)`](iter::ParallelIterator::by_uniform_blocks) | blocks one after the other, each under the scheduler before it |
//! | [`blocks_iter(sizes)`](iter::ParallelIterator::blocks_iter) | blocks that a sequential loop asks for |
//! | [`sequential()`](iter::ParallelIterator::sequential) | one task, in the calling thread |
//! | [`with_scheduler(s)`](iter::ParallelIterator::with_scheduler) | a [`Scheduler`] of your own |
//! | [`on(e)`](iter::ParallelIterator::on) | on another [`Executor`]: a [`ThreadPool`], [`Inline`] ... |
//!
//! A policy, a scheduler and an executor together are a [`Schedule`], for instance a [`Plan`]. A plan can be stored, chosen at run time
//! ([`DynSchedule`]), and given to any chain by [`with(&plan)`](iter::ParallelIterator::with).
//!
//! # Besides items
//!
//! | | |
//! |---|---|
//! | [`wrap_iter()`](iter::WrapIter::wrap_iter) | the pieces of anything [`Divisible`], as items |
//! | [`work(state, step, done)`](iter::WrapIter::work) | tasks that work in steps, and keep a state |
//! | [`iter.par_bridge()`](iter::ParallelBridge::par_bridge), [`reader.par_lines()`](io::ParallelBufRead::par_lines) | any sequential iterator, and the lines of any reader, in parallel |
//! | [`stop_on(&token)`](iter::ParallelIterator::stop_on), [`deadline(at)`](iter::ParallelIterator::deadline) | an early end, and a result that reports it |
//! | [`io_await()`](iter::ParallelIterator::io_await), [`async_sum()`](iter::AsyncTerminals::async_sum), [`async_collect()`](iter::AsyncTerminals::async_collect) ... | futures as items, and as results |
//! | [`spawn_future(future)`](spawn_future), [`spawn_handle(closure)`](spawn_handle), [`join_async(left, right)`](ScopeHandle::join_async), [`block_on(future)`](block_on()) | tasks that wait, in direct style |
#![cfg_attr(
    feature = "stream",
    doc = "| [`par_bridge_async()`](stream::ParallelStream::par_bridge_async), \
           [`into_stream(n)`](iter::ParallelIterator::into_stream), [`into_iter_ordered(n)`](iter::ParallelIterator::into_iter_ordered), \
           [`stream::pipeline(stream)`](stream::pipeline()) | streams in and out, and in stages |"
)]
//! | [`merge(other)`](iter::IndexedParallelIterator::merge), [`inclusive_scan(op)`](iter::ParallelIterator::inclusive_scan) | sorted sequences as one; prefix sums of any operation |
//! | [`par_sort()`](slice::ParallelSliceMut::par_sort) | sorts of slices |
//!
//! The modules are named as rayon's, except for [`io`](mod@io), [`policy`], [`trace`] and [`detach`]. The book, in the repository's folder
//! `book/`, explains why and shows the division tree of every policy.
//!
//! # Features
//!
//! * `stream`: streams as sources and as results; pipelines. See the module `stream`.
//! * `derive`: `#[derive(Divisible)]`.
//! * `tokio`: tokio's futures work in calls that are started inside a runtime, and in pools that are built with one.
//! * `jobserver`: a pool's threads take part in make's jobserver.
//! * `rayon`: the engine `Rayon`, which runs on rayon-core's pool.
//! * `tracing`: the jobs of a call run inside the span in which the call was made.
// Both panic if the stream is closed. Library code writes by functions that ignore errors.
#![cfg_attr(not(test), deny(clippy::print_stdout, clippy::print_stderr))]
#![cfg_attr(docsrs, feature(doc_cfg))]
#![forbid(unsafe_code)]

#[cfg(feature = "rayon")]
pub use furcate_adaptors::iter::{from_rayon, from_rayon_unindexed};
#[cfg(feature = "stream")]
pub use furcate_adaptors::stream;
pub use furcate_adaptors::{
    array, beside_rayon, collections, io, iter, option, range, range_inclusive, result, slice, str, string,
    vec,
};
#[cfg(feature = "derive")]
pub use furcate_derive::Divisible;
#[cfg(not(loom))]
pub use furcate_pool::{
    AnyExecutor, AtPriority, BroadcastContext, CustomSpawn, DefaultSpawn, DequeStats, Fairness, FnContext,
    JoinHandle, MainLoop, Pool, Priority, Saturation, SaturationCause, Scope, ScopeFifo, ScopeHandle, Spawn,
    Stats, StealStats, Suspension, ThreadBuilder, ThreadPool, ThreadPoolBuildError, ThreadPoolBuilder,
    WaitRule, WakeToRun, Worker, WorkerStats, Yield, block_on, broadcast, current_num_threads,
    current_priority, current_thread_has_pending_tasks, current_thread_index, global_stats, in_place_scope,
    in_place_scope_fifo, join, join_context, join_with, max_num_threads, scope, scope_fifo, spawn,
    spawn_broadcast, spawn_fifo, spawn_future, spawn_handle, with_priority, yield_local, yield_now,
};
pub use furcate_pool::{Context, Executor, Inline, IntoExecutor, detach, trace};
#[cfg(all(feature = "rayon", not(loom)))]
pub use furcate_rayon::Rayon;
pub use furcate_schedulers::{
    Adaptive, AnyPlan, AnyScheduler, BlockSizes, Blocking, ByBlocks, ByRef, ByTerminal, Computation,
    DefaultExecutor, DepJoin, Divisible, Division, Doubling, DynSchedule, Ends, Facts, FoldFacts, Fork,
    InPart, IndexedProducer, Join, Limit, LimitPermit, NeverLater, NextStep, Node, OutputOf, ParsePlanError,
    Part, PartScheduler, PeekProducer, Plan, PlanOf, Policy, Producer, Reduction, Schedule, Scheduler,
    SchedulerFacts, Sequential, StepFold, Steps, StepsFacts, Suspendable, Suspending, Verdict, Workload,
    policy,
};

pub mod prelude {
    //! The traits, to be imported together: `use furcate::prelude::*;`.
    pub use furcate_adaptors::prelude::*;
    #[cfg(feature = "derive")]
    pub use furcate_derive::Divisible;
}

/// The code blocks of the README and the book, compiled and run by the tests.
#[cfg(all(doctest, feature = "stream"))]
mod prose {
    macro_rules! pages {
        ($($page:ident: $path:literal),+ $(,)?) => {$(
            #[doc = include_str!($path)]
            mod $page {}
        )+};
    }
    // Derives `Divisible`. A test of the workspace has the feature, because the tests of `furcate-derive` have it.
    #[cfg(feature = "derive")]
    pages!(divisible: "../book/src/divisible.md");
    #[cfg(all(feature = "derive", feature = "rayon"))]
    pages!(extending: "../book/src/extending.md");
    pages!(
        readme: "../README.md",
        first_hour: "../book/src/first-hour.md",
        files: "../book/src/files.md",
        tree: "../book/src/tree.md",
        server: "../book/src/server.md",
        why: "../book/src/why.md",
        patch: "../book/src/patch.md",
        questions: "../book/src/questions.md",
        policies: "../book/src/policies.md",
        schedulers: "../book/src/schedulers.md",
        blocks: "../book/src/blocks.md",
        work: "../book/src/work.md",
        policy: "../book/src/policy.md",
        interruption: "../book/src/interruption.md",
        waiting: "../book/src/waiting.md",
        recipes: "../book/src/recipes.md",
        tracing: "../book/src/tracing.md",
        suspension: "../book/src/suspension.md",
        merge_and_scan: "../book/src/merge_and_scan.md",
        sorting: "../book/src/sorting.md",
        pool: "../book/src/pool.md",
        rayon: "../book/src/rayon.md",
        design: "../book/src/design.md",
    );
}

#[cfg(doctest)]
mod compile_fail;
