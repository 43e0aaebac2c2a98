//! Records what a program's threads did: forks, steals, jobs, leaves, waits.
//!
//! [`start`] and [`stop`] surround any code. `FURCATE_TRACE=path` records a whole program, and writes the trace when the program ends;
//! the program need not be changed. A program written for rayon is traced in the same way if furcate's `rayon-core` is in the place of
//! rayon's.
//!
//! ```
//! use furcate::prelude::*;
//! use furcate::trace;
//!
//! trace::start().unwrap();
//! let sum: u64 = (0..1000_u64).into_par_iter().force_depth(3).sum();
//! let trace = trace::stop().expect("it was started");
//!
//! assert_eq!(sum, 499_500);
//! println!("{}", trace.summary());
//! trace.write_chrome(Vec::new()).unwrap();
//! ```
//!
//! [`dump`] needs no recording: it says who waits for what at present.
//!
//! # What is recorded
//!
//! Each thread writes its [events](Event) to a ring of its own. A full ring overwrites its oldest events, and the trace [says how
//! many](ThreadTrace::lost) were lost. Only the thread itself writes to its ring, so an event takes no lock and no atomic
//! read-modify-write: about 20 ns, most of it to read the clock.
//!
//! An ordinary program forks much more often than a person wants to read. So forks are recorded while there is time for it:
//! each worker may record some thousand forks at once, and one in 4 us on average ([`Settings::every_fork`] removes that bound). Where
//! forks come faster, the ones deepest in the tree are left out. A left-out fork is a part of the fork around it. Steals, jobs,
//! leaves and waits are always recorded, except that a worker records no leaves inside forks that it leaves out.
//!
//! While nothing is recorded, a fork executes no instruction more. A chain's call, a leaf, a reduction and the right half of a chain's
//! fork execute one relaxed load each.
//!
//! # Invariants
//!
//! 1. One thread writes to a ring. An event's words are stored after a release fence, and its number is published after it (release). A
//!    reader copies the events, passes an acquire fence, and reads the number of events again. Events that may have been
//!    overwritten meanwhile are lost to the reader, and are counted so.
//! 2. At most one recording is under way. A thread that finds another number of the recording than its ring has takes a new ring, under
//!    the recording's lock. So a ring holds events of one recording only.
//! 3. A mutex of this module is never held while other code of the pool runs, except for the pokes that [`start`] sends.

mod chrome;
mod event;
mod file;
mod graph;
mod names;
mod recorder;
mod ring;
#[cfg(unix)]
mod signals;
#[cfg(unix)]
pub(crate) use signals::interrupted_thread;

/// Returns the thread that waits for a dump, in the handler of a signal. (There is none.)
#[cfg(not(unix))]
pub(crate) fn interrupted_thread() -> Option<i32> {
    None
}
mod summary;

pub use event::{Event, JobId, TimedEvent};
pub use graph::{Graph, Piece, PieceKind, Step};
#[doc(hidden)]
pub use names::Name;
pub use recorder::{AlreadyRunning, Settings, dump, start, stop};
#[doc(hidden)]
pub use recorder::{Traced, register};
pub use summary::{Advice, LogSummary, Summary, ThreadSummary};

pub(crate) use event::{Kind, beside};
pub(crate) use file::record_if_asked;
pub(crate) use recorder::{
    is_on, leaves_out, record, set_leaves_out, set_right, take_right, wants_every_fork,
};

use std::panic::Location;
use std::time::Duration;

/// The events of a program's threads between [`start`] and [`stop`].
#[derive(Clone, Debug, Default)]
pub struct Trace {
    /// The threads, in the order of their first events.
    pub(crate) threads: Vec<ThreadTrace>,
    /// Number of threads that are not among them.
    pub(crate) left_out: u64,
    /// The time from the start to the stop.
    pub(crate) duration: Duration,
}

/// The events of one thread.
#[derive(Clone, Debug, Default)]
pub struct ThreadTrace {
    pub(crate) name: Option<String>,
    pub(crate) events: Vec<TimedEvent>,
    pub(crate) lost: u64,
    pub(crate) processor_time: Option<Duration>,
}

impl Trace {
    /// Makes a trace of what a file says.
    #[doc(hidden)]
    #[must_use]
    pub fn from_parts(threads: Vec<ThreadTrace>, left_out: u64, duration: Duration) -> Self {
        Trace { threads, left_out, duration }
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
    /// Makes the trace of a thread of what a file says.
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

/// Marks a part of a chain's work in the trace, from its making to its drop. For schedulers.
#[doc(hidden)]
#[derive(Debug)]
pub struct Mark(Option<(Kind, u64)>);

impl Drop for Mark {
    #[inline]
    fn drop(&mut self) {
        if let Some((end, payload)) = self.0 {
            record(end, payload);
        }
    }
}

/// Marks the right half of the fork that this thread has just taken back.
#[doc(hidden)]
#[inline]
#[must_use]
pub fn right() -> Mark {
    Mark(if is_on() { taken_back() } else { None })
}

#[cold]
fn taken_back() -> Option<(Kind, u64)> {
    take_right().map(|job| (Kind::Joined, job))
}

/// Marks a leaf of so many items, or of so many units of its producer.
#[doc(hidden)]
#[inline]
#[must_use]
pub fn leaf(size: usize) -> Mark {
    Mark(if is_on() { begin_leaf(size) } else { None })
}

#[cold]
fn begin_leaf(size: usize) -> Option<(Kind, u64)> {
    if leaves_out() {
        return None;
    }
    record(Kind::LeafBegin, size as u64);
    Some((Kind::LeafEnd, 0))
}

/// Marks a call of a chain in the trace, from its making to its drop. As [`Mark`], but smaller: a chain may be as short as some ten
/// instructions.
#[doc(hidden)]
#[derive(Debug)]
pub struct Call {
    is_recorded: bool,
}

impl Drop for Call {
    #[inline]
    fn drop(&mut self) {
        if self.is_recorded {
            end_chain();
        }
    }
}

/// Marks a call of a chain, made at that place.
#[doc(hidden)]
#[inline]
#[must_use]
pub fn chain(place: &'static Location<'static>) -> Call {
    Call { is_recorded: is_on() && begin_chain(place) }
}

/// Records the begin of a chain. Returns whether that was done.
#[cold]
fn begin_chain(place: &'static Location<'static>) -> bool {
    if leaves_out() {
        return false;
    }
    record(Kind::ChainBegin, names::number_of(place));
    true
}

#[cold]
fn end_chain() {
    record(Kind::ChainEnd, 0);
}

/// Marks items that pass the place of that name.
#[doc(hidden)]
#[inline]
#[must_use]
pub fn log(name: Name) -> Mark {
    Mark(if is_on() { begin_log(name) } else { None })
}

#[cold]
fn begin_log(name: Name) -> Option<(Kind, u64)> {
    if leaves_out() {
        return None;
    }
    record(Kind::LogBegin, name.number());
    Some((Kind::LogEnd, 0))
}

/// Marks a reduction of two outputs.
#[doc(hidden)]
#[inline]
#[must_use]
pub fn reduction() -> Mark {
    Mark(if is_on() { begin_reduction() } else { None })
}

#[cold]
fn begin_reduction() -> Option<(Kind, u64)> {
    if leaves_out() {
        return None;
    }
    record(Kind::ReduceBegin, 0);
    Some((Kind::ReduceEnd, 0))
}
