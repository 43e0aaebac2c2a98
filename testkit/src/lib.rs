//! Helpers that the tests of furcate's crates share.
//!
//! | module | holds |
//! |---|---|
//! | [`random`] | [`Random`], a generator of numbers |
//! | [`time`] | limits, waiting, and spinning |
//! | [`panics`] | panics on purpose, and their texts |
//! | [`process`] | tests that need a process of their own |
//! | [`drops`] | values whose drops are counted |
//! | [`mod@pools`] | pools of the default engine |
//! | [`policies`] | any policy, chosen at run time |
//! | [`scripted`] | an engine in one thread, which steals as a script says |
//! | [`traces`] | recordings of traces, one at a time |
//! | [`wakes`] | a waker that counts |
//! | [`pairs!`] | every ordered pair of adaptors |

#![allow(missing_docs, reason = "the names say it; where they do not, there is a comment")]

pub mod collect;
pub mod drops;
pub mod lone;
mod pairs;
pub mod panics;
pub mod policies;
#[cfg(not(loom))]
pub mod pools;
pub mod process;
pub mod random;
pub mod scripted;
pub mod time;
#[cfg(not(loom))]
pub mod traces;
pub mod wakes;

pub use pairs::interleave;
#[cfg(not(loom))]
pub use pools::{engine, on_pools, pool, pools, shared_pool};
pub use random::Random;
pub use time::{LONG, spin, until, within};
