//! Furcate's chains over many processes.
//!
//! A chain that outgrows one machine gets one more word:
//!
//! ```
//! use furcate::prelude::*;
//! use furcate_cluster::SpreadOver;
//!
//! let world = furcate_cluster::init().unwrap();
//! let hits = (0..100_000_u64).into_par_iter().filter(|x| x % 7 == 3).spread(&world).count();
//! assert_eq!(hits, 14_286);
//! ```
//!
//! Every rank runs the same program, so every rank builds the same chain, with closures and data of its own. A terminal behind
//! [`spread`](SpreadOver::spread) is a *collective call*. Closures do not travel. What travels:
//!
//! - a **description** of a part: its position and size, or for [`wrap_iter`](furcate_adaptors::iter::WrapIter::wrap_iter) the piece itself;
//! - an **output** of the reduction.
//!
//! Both are encoded by serde and postcard. All types are known at the call, so there is no registry of tasks.
//!
//! # How it works
//!
//! | noun | meaning | module |
//! |---|---|---|
//! | rank | a process of the program, or a thread that stands for one | `world` |
//! | transport | carries messages between ranks | [`transport`] |
//! | call | one terminal, on all ranks | `call`: the protocol; `session`: what all calls have in common; `asking`: the thief's side |
//! | caller | the chain and the terminal of a call, compared between ranks | `handshake` |
//! | frame | a step of a computation that goes on after a join | [`frame`] |
//! | build | a number of the executable, compared as well | `build` |
//! | share | a part of the chain that a rank works on | `share` |
//! | segment, gap | the output of what lies between two parts that were given away; the place of such a part | `segments` |
//! | join node | the place where segments and the outputs of gaps meet | `joins` |
//! | held output | a long output, which stays where it was made until it is wanted | `held` |
//! | distributed vector | the items of a call, each on the rank that made it | `distributed` |
//! | description | a part in a message | `portable`: which chains have them, and in which form ([`Portable`]) |
//!
//! A rank begins with its share of the source. Inside the rank the pool divides the share on demand. Between two steps of a task, its
//! worker looks whether another rank is out of work, divides the task, and sends the right half away. The order is kept: a gap stays behind
//! in the output. An idle rank asks a random one. No rank waits for an output: the output comes to the join node of its gap, and
//! the last finisher reduces. The call ends when the last output has been reduced at rank 0.
//!
//! # Limits
//!
//! - Without the feature `mpi`, [`init`] makes a world of one rank, and [`Threads`] makes ranks that are threads.
//! - A rank answers a thief between two steps of its tasks. If all its workers are inside long items, thieves wait.
//! - Adaptors whose tasks share a count or a flag (`take_any`, `while_some`), `flat_map` of parallel iterators, strings, bridges of streams, and
//!   collections whose order differs between processes are not [`Portable`].
// Both panic if the stream is closed. Library code writes by functions that ignore errors.
#![cfg_attr(not(test), deny(clippy::print_stdout, clippy::print_stderr))]
#![deny(unsafe_code)]

/// The part that the loom models check.
#[cfg(all(test, loom))]
mod transport {
    mod bell;
    mod models;
    mod ring;
}

#[cfg(not(loom))]
mod asking;
#[cfg(not(loom))]
mod build;
#[cfg(not(loom))]
mod call;
#[cfg(not(loom))]
mod counters;
#[cfg(not(loom))]
mod distributed;
#[cfg(not(loom))]
mod drive;
#[cfg(not(loom))]
mod encoding;
#[cfg(not(loom))]
pub mod frame;
#[cfg(not(loom))]
mod handshake;
#[cfg(not(loom))]
mod held;
#[cfg(not(loom))]
mod init;
#[cfg(not(loom))]
mod joins;
#[cfg(not(loom))]
mod portable;
#[cfg(not(loom))]
mod reductions;
#[cfg(not(loom))]
mod segments;
#[cfg(not(loom))]
mod session;
#[cfg(not(loom))]
mod share;
#[cfg(all(furcate_sim, not(loom)))]
mod simulated;
#[cfg(not(loom))]
mod spread;
#[cfg(not(loom))]
mod stop;
#[cfg(not(loom))]
mod threads;
#[cfg(not(loom))]
pub mod transport;
#[cfg(not(loom))]
mod world;

#[cfg(not(loom))]
pub use counters::{Counts, CountsTable};
#[cfg(not(loom))]
pub use distributed::Distributed;
#[cfg(not(loom))]
pub use drive::Travels;
#[doc(hidden)]
#[cfg(not(loom))]
pub use drive::{Failed, Runner};
#[cfg(not(loom))]
pub use init::{InitError, init};
#[cfg(not(loom))]
pub use portable::{ByPosition, ByValue, Form, Portable, ValueOf};
#[cfg(all(furcate_sim, not(loom)))]
pub use simulated::{Died, Faults, Latency, Simulated};
#[cfg(not(loom))]
pub use spread::{Spread, SpreadOver, Stoppable};
#[cfg(not(loom))]
pub use stop::Interrupted;
#[cfg(not(loom))]
pub use threads::Threads;
#[cfg(not(loom))]
pub use transport::Transport;
#[cfg(not(loom))]
pub use world::World;

/// The code blocks of the book's chapter and the README, compiled and run by the tests.
#[cfg(all(doctest, not(loom)))]
mod prose {
    #[doc = include_str!("../../book/src/cluster.md")]
    mod chapter {}
    #[doc = include_str!("../README.md")]
    mod readme {}
}
