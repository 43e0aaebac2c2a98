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
mod any_scheduler;
mod blocks;
mod branch;
mod by_blocks;
mod by_terminal;
mod call;
mod computation;
mod default_executor;
mod depjoin;
mod divisible;
#[cfg(not(loom))]
mod dyn_schedule;
mod frames;
mod greedy;
mod in_turn;
mod join;
mod pace;
mod part;
mod peek;
pub mod policy;
mod producer;
mod reduction;
#[cfg(test)]
#[path = "../tests/all/support/samples.rs"]
mod samples;
mod schedule;
mod scheduler;
mod sequential;
mod steps;
mod suspendable;
mod suspending;
mod timer;
mod waker_list;
mod workload;

pub use adaptive::Adaptive;
pub use any_scheduler::AnyScheduler;
pub use blocks::{BlockSizes, Blocks, Doubling};
pub use by_blocks::ByBlocks;
pub use by_terminal::ByTerminal;
pub use computation::Computation;
pub use default_executor::DefaultExecutor;
pub use depjoin::DepJoin;
pub use divisible::Divisible;
#[cfg(not(loom))]
pub use dyn_schedule::{AnyPlan, DynSchedule, ParsePlanError};
pub use join::Join;
pub use part::{Division, Fork, OutputOf, Part, PartScheduler};
pub use peek::PeekProducer;
pub use policy::{Node, Policy, Verdict};
pub use producer::{Facts, IndexedProducer, Producer};
pub use reduction::Reduction;
pub use schedule::{Plan, PlanOf, Schedule};
pub use scheduler::Scheduler;
pub use sequential::Sequential;
pub use steps::{ByRef, FoldFacts, InPart, NeverLater, NextStep, StepFold, Steps, Wrapping};
pub use suspendable::{Blocking, Suspendable};
pub use suspending::{Limit, LimitPermit, Suspending};
pub use timer::Timer;
#[doc(hidden)]
pub use waker_list::WakerList;
pub use workload::Workload;
