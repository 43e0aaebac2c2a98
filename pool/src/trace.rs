//! Records what a program's threads did: forks, steals, jobs, leaves, waits.
//!
//! [`start`] and [`stop`] surround any code. `FURCATE_TRACE=path` records a whole program, and writes the trace when the program ends;
//! the program need not be changed. Each rank of an MPI program writes a file of its own: `trace.3.json` for `trace.json`. A program written for
//! rayon is traced in the same way if furcate's `rayon-core` is in the place of rayon's.
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
//! read-modify-write: most of its time goes to reading the clock.
//!
//! An ordinary program forks much more often than a person wants to read. So forks are recorded while there is time for it:
//! each worker may record some thousand forks at once, and one in 4 us on average ([`Settings::every_fork`] removes that bound). Where
//! forks come faster, the ones deepest in the tree are left out. A left-out fork is a part of the fork around it. Steals, jobs,
//! leaves and waits are always recorded, except that a worker records no leaves and no blocks inside forks that it leaves out.
//!
//! While nothing is recorded, a fork executes no instruction more. A chain's call, a block, a leaf, a reduction and the right half of a
//! chain's fork execute one relaxed load each.
//!
//! # Invariants
//!
//! 1. One thread writes to a ring. An event's words are stored after a release fence, and its number is published after it (release). A
//!    reader copies the events, passes an acquire fence, and reads the number of events again. Events that may have been
//!    overwritten meanwhile are lost to the reader, and are counted so.
//! 2. At most one recording is under way. A thread that finds another number of the recording than its ring has takes a new ring, under
//!    the recording's lock. So a ring holds events of one recording only.
//! 3. A mutex of this module is never held while other code of the pool runs, except for the pokes that [`start`] sends.

mod file;
mod recorder;
mod ring;
#[cfg(unix)]
mod signals;
mod span;
#[cfg(unix)]
pub(crate) use signals::interrupted_thread;

/// Returns the thread that waits for a dump, in the handler of a signal. (There is none.)
#[cfg(not(unix))]
pub(crate) fn interrupted_thread() -> Option<i32> {
    None
}

#[doc(hidden)]
pub use furcate_trace::recording::{Kind, Name};
pub use furcate_trace::{
    Advice, AlreadyRunning, Event, Graph, JobId, LogSummary, Piece, PieceKind, Step, Summary, ThreadSummary,
    ThreadTrace, TimedEvent, Trace,
};
pub use recorder::{Settings, dump, start, stop};
#[doc(hidden)]
pub use recorder::{Traced, record, register};
#[doc(hidden)]
pub use span::{CallSpan, InSpan};

pub(crate) use file::record_if_asked;
pub(crate) use furcate_trace::recording::beside;
pub(crate) use recorder::{is_on, leaves_out, set_leaves_out, set_right, take_right, wants_every_fork};

#[cfg(feature = "tracing")]
use crate::quiet_drop::{ask, drop_quietly};
use furcate_trace::recording::{self, block_payload};
use std::panic::Location;

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
    mark(Kind::LeafBegin, size as u64, Kind::LeafEnd)
}

/// Marks a block of so many units, which is cut off from the front or from the back of the rest.
#[doc(hidden)]
#[inline]
#[must_use]
pub fn block(size: usize, from_back: bool) -> Mark {
    mark(Kind::BlockBegin, block_payload(size as u64, from_back), Kind::BlockEnd)
}

/// Marks from `begin` to `end`, unless the thread leaves that out.
#[inline]
fn mark(begin: Kind, payload: u64, end: Kind) -> Mark {
    Mark(if is_on() { begin_mark(begin, payload, end) } else { None })
}

#[cold]
fn begin_mark(begin: Kind, payload: u64, end: Kind) -> Option<(Kind, u64)> {
    if leaves_out() {
        return None;
    }
    record(begin, payload);
    Some((end, 0))
}

/// Marks a call of a chain in the trace, from its making to its drop. As [`Mark`], but smaller: a chain may be as short as some ten
/// instructions. With the feature `tracing` it is a span, too. (A span of a level that is off is none, and costs a load.)
#[doc(hidden)]
#[derive(Debug)]
pub struct Call {
    is_recorded: bool,
    #[cfg(feature = "tracing")]
    span: Option<tracing::span::EnteredSpan>,
}

impl Drop for Call {
    #[inline]
    fn drop(&mut self) {
        if self.is_recorded {
            end_chain();
        }
        #[cfg(feature = "tracing")]
        drop_quietly(self.span.take());
    }
}

/// Marks a call of a chain, made at that place.
#[doc(hidden)]
#[inline]
#[must_use]
pub fn chain(place: &'static Location<'static>) -> Call {
    Call {
        is_recorded: is_on() && begin_chain(place),
        #[cfg(feature = "tracing")]
        span: ask(|| tracing::trace_span!(target: "furcate", "call", %place).entered()),
    }
}

/// Records the begin of a chain. Returns whether that was done.
#[cold]
fn begin_chain(place: &'static Location<'static>) -> bool {
    if leaves_out() {
        return false;
    }
    record(Kind::ChainBegin, recording::number_of(place));
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
    mark(Kind::LogBegin, name.number(), Kind::LogEnd)
}

/// Marks a reduction of two outputs.
#[doc(hidden)]
#[inline]
#[must_use]
pub fn reduction() -> Mark {
    mark(Kind::ReduceBegin, 0, Kind::ReduceEnd)
}

/// Records that a call leaves work out from now on, because of a token or of a deadline.
#[doc(hidden)]
pub fn call_stopped(by_deadline: bool) {
    record(Kind::Stop, by_deadline.into());
}
