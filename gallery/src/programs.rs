//! The programs, in the order of the table.

use crate::program::Program;

mod histogram;

/// All programs.
pub const PROGRAMS: &[Program] = &[histogram::PROGRAM];
