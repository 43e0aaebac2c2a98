//! The middle layers of furcate: data that can be divided, policies that say when to divide, and schedulers that say
//! how to run the parts.
//!
//! | question | trait | answers here |
//! |---|---|---|
//! | **what** is divided | [`Divisible`], [`Producer`] | slices, ranges, strings, vectors, tuples, your own types |
//! | **when** is it divided | [`Policy`] | [`policy`]: `bound_depth`, `force_depth`, `even_levels`, ... |
//! | **how** are the parts run and reduced | [`Scheduler`], or the shorter [`PartScheduler`] | [`Join`], [`DepJoin`], [`Adaptive`], [`ByBlocks`], [`Sequential`] |
//! | **where** do they run | `Executor` | the crate below, `furcate-pool` |
//!
//! A chain's answers to *when*, *how* and *where* are one value, a [`Schedule`]. [`Plan`] puts one together.
//!
//! Another trait, [`Reduction`], describes a terminal (`sum`, `collect`, `find_any` ...) to a scheduler: how one task
//! folds its items, and how the outputs of two neighbors become one.
//!
//! | room | contents |
//! |---|---|
//! | `data` | divisibles and producers, and the steps in which a task folds its part |
//! | [`policy`] | policies, and the signals that stop a call |
//! | `plan` | the contracts between chain and scheduler ([`Scheduler`], [`Reduction`], [`Workload`]), and schedules |
//! | `tree` | the division tree as every scheduler walks it |
//! | `greedy`, `adaptive`, `blocks`, `suspending` | the schedulers: forks with a join ([`Join`]) and without one ([`DepJoin`]), division on demand, blocks, tasks that wait |
//!
//! The vocabulary and the idea of composable policies are Kvik's (Saurabh Raje and Frédéric Wagner, *Kvik: A task based middleware with
//! composable scheduling policies*, 2020).
// Both panic if the stream is closed. Library code writes by functions that ignore errors.
#![cfg_attr(not(test), deny(clippy::print_stdout, clippy::print_stderr))]
#![cfg_attr(docsrs, feature(doc_cfg))]
#![forbid(unsafe_code)]

// The samples of the integration tests, which the unit tests use too, know the crate under this name.
#[cfg(test)]
extern crate self as furcate_schedulers;

mod adaptive;
mod blocks;
mod data;
mod greedy;
mod plan;
pub mod policy;
#[cfg(test)]
#[path = "../tests/all/support/samples.rs"]
mod samples;
mod suspending;
mod timer;
mod tree;
mod waker_list;

pub use adaptive::Adaptive;
pub use blocks::{BlockSizes, Blocks, ByBlocks, Doubling};
pub use data::*;
pub use greedy::{DepJoin, Join};
pub use plan::*;
pub use policy::{Node, Policy, Verdict};
pub use suspending::{Limit, LimitPermit, Suspending};
pub use timer::Timer;
pub use tree::{Division, Fork, OutputOf, Part, PartScheduler, Sequential};
#[doc(hidden)]
pub use waker_list::WakerList;
