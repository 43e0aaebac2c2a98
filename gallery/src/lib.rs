//! Classical parallel algorithms, each in three columns that differ as little as possible: sequential, rayon, and furcate.
//!
//! A program is a file of [`programs`]. Its modules `sequential`, `rayon` and `furcate` are shown and measured. Code that several of them use
//! stands outside these modules.
//!
//! A kernel that all columns share is marked `#[inline(never)]` if the compiler would otherwise make faster code for some of them than for others.

#![allow(clippy::ptr_arg, reason = "a column takes the input's own type")]

pub mod blocks;
pub mod counts;
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
