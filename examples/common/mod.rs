//! The shared part of the examples: arguments, output, tables of times, and a progress bar.
//!
//! An example includes the module with `mod common;` (or, from a folder of its own, with
//! `#[path = "../common/mod.rs"] mod common;`). The exit codes are the same everywhere: 0 for success, also for
//! `--help`; 1 for a failure at run time; 2 for an argument that cannot be used.

#![allow(dead_code, unused_imports, unused_macros, reason = "each example uses a part of the module")]

pub(crate) mod arguments;
pub(crate) mod output;
pub(crate) mod progress;
pub(crate) mod random;
pub(crate) mod table;
pub(crate) mod timing;
