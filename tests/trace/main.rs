//! Traces, which record all pools of the process. So these tests have a process of their own.
#![cfg(not(furcate_rayon))]

mod events;
mod graph;
