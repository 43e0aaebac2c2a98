//! Classical parallel algorithms, each in three columns that differ by as little as possible: a loop, rayon, and furcate.
//!
//! A program is a file of [`programs`]. Its modules `sequential`, `rayon` and `furcate` are what is shown and measured; what all three use
//! stands beside them.

#![allow(clippy::ptr_arg, reason = "a column takes the input's own type")]

pub mod geometry;
pub mod graph;
pub mod inputs;
pub mod measure;
pub mod nas;
pub mod page;
pub mod program;
pub mod programs;
pub mod sets;
pub mod table;

pub use program::{Case, Column, Program};

#[cfg(test)]
mod tests;
