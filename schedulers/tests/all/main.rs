//! The tests of schedulers and policies, on producers of numbers and on scripted engines.

mod by_blocks;
mod cap;
mod counts;
mod detached;
mod interrupt;
mod liars;
mod pairs;
mod panics;
mod stack;
mod steps;
mod support;
