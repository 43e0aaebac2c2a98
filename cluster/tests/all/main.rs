//! Calls on ranks that are threads. (`mpi` is a program for a launcher.)

mod chains;
mod distributed;
mod faults;
mod frames;
mod held;
mod parts;
mod results;
mod steals;
mod support;
mod transports;
mod trees;
