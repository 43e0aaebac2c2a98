//! What a program's threads did: the trace that furcate's pool records, its fork-join graph, its summary, and its picture.
//!
//! ```
//! use furcate::prelude::*;
//! use furcate::trace;
//!
//! trace::start().unwrap();
//! let sum: u64 = (0..1000_u64).into_par_iter().force_depth(3).sum();
//! let trace = trace::stop().unwrap();
//! println!("{}", trace.summary());
//! # #[cfg(feature = "pictures")]
//! let picture = furcate_trace::svg(&trace);
//! # #[cfg(feature = "pictures")]
//! assert!(sum > 0 && picture.starts_with("<svg"));
//! ```
//!
//! The pool records: `furcate::trace` starts and stops, and re-exports the types of this crate. Without features the crate depends on no
//! other one. The feature `pictures`, which is on by default, adds what only a reader of traces needs:
//!
//! - `svg`: the fork-join graph, and a timeline of the threads, in one SVG document;
//! - `Comparison`: several computations side by side;
//! - `read_chrome`, `write_processes`, and the program `furcate-trace`: traces from files.
#![forbid(unsafe_code)]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod chrome;
mod event;
mod folded;
mod graph;
mod names;
#[cfg(feature = "pictures")]
mod pictures;
#[doc(hidden)]
pub mod recording;
mod summary;

#[cfg(feature = "pictures")]
pub use chrome::write_processes;
pub use event::{Event, JobId, TimedEvent};
pub use graph::{Graph, Piece, PieceKind, Step};
#[cfg(feature = "pictures")]
pub use pictures::{Compared, Comparison, box_plot, read_chrome, svg};
pub use summary::{Advice, LogSummary, Summary, ThreadSummary};

use std::fmt;
use std::time::Duration;

/// A recording cannot start: one is under way. If `FURCATE_TRACE` is set, the whole program is one recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AlreadyRunning;

impl fmt::Display for AlreadyRunning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a trace is already being recorded; stop it first, or unset FURCATE_TRACE")
    }
}

impl std::error::Error for AlreadyRunning {}

/// The events of a program's threads from the start to the stop of a recording.
#[derive(Clone, Debug, Default)]
pub struct Trace {
    /// The threads, in the order of their first events.
    threads: Vec<ThreadTrace>,
    /// Number of threads that are not among them.
    left_out: u64,
    /// The time from the start to the stop.
    duration: Duration,
    /// The start, as the time since the begin of 1970 by the system's clock.
    began: Duration,
}

/// The events of one thread.
#[derive(Clone, Debug, Default)]
pub struct ThreadTrace {
    name: Option<String>,
    events: Vec<TimedEvent>,
    lost: u64,
    processor_time: Option<Duration>,
}

impl Trace {
    /// Makes a trace, for recorders and for readers of files.
    #[doc(hidden)]
    #[must_use]
    pub fn from_parts(threads: Vec<ThreadTrace>, left_out: u64, duration: Duration, began: Duration) -> Self {
        Trace { threads, left_out, duration, began }
    }

    /// Returns the threads that have recorded events, in the order of their first events.
    #[must_use]
    pub fn threads(&self) -> &[ThreadTrace] {
        &self.threads
    }

    /// Returns the time from the start to the stop.
    #[must_use]
    pub fn duration(&self) -> Duration {
        self.duration
    }

    /// Returns the number of threads whose events are missing: a trace has the first 1024 threads that record an event.
    #[must_use]
    pub fn threads_left_out(&self) -> u64 {
        self.left_out
    }

    /// Returns the number of events that were overwritten because a thread's ring was full.
    #[must_use]
    pub fn lost(&self) -> u64 {
        self.threads.iter().map(ThreadTrace::lost).sum()
    }
}

impl ThreadTrace {
    /// Makes the trace of a thread, for recorders and for readers of files.
    #[doc(hidden)]
    #[must_use]
    pub fn from_parts(
        name: Option<String>,
        events: Vec<TimedEvent>,
        lost: u64,
        processor_time: Option<Duration>,
    ) -> Self {
        ThreadTrace { name, events, lost, processor_time }
    }

    /// Returns the thread's name; `None` if it has none.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// Returns the events that are left, the oldest first.
    #[must_use]
    pub fn events(&self) -> &[TimedEvent] {
        &self.events
    }

    /// Returns the number of the thread's oldest events that were overwritten because the ring was full.
    #[must_use]
    pub fn lost(&self) -> u64 {
        self.lost
    }

    /// Returns the processor time that the thread used from its first event to the stop; `None` if the thread had ended by then, and on
    /// systems other than Linux.
    #[must_use]
    pub fn processor_time(&self) -> Option<Duration> {
        self.processor_time
    }

    /// Returns the number of the thread as a worker of its pool; `None` for a thread from outside, and for one that was busy all the time
    /// with one job.
    #[must_use]
    pub fn worker(&self) -> Option<usize> {
        if self.events.iter().any(|event| event.event == Event::CallBegin) {
            return None;
        }
        self.events.iter().find_map(|event| match event.event {
            Event::JobBegin { worker, .. } | Event::ParkBegin { worker } | Event::NapBegin { worker } => {
                Some(worker)
            }
            _ => None,
        })
    }

    /// Returns the thread's name, and its number as a worker.
    fn label(&self) -> String {
        match (self.name(), self.worker()) {
            (Some(name), Some(worker)) => format!("{name} (worker {worker})"),
            (Some(name), None) => name.to_owned(),
            (None, Some(worker)) => format!("worker {worker}"),
            (None, None) => "thread".to_owned(),
        }
    }
}
