//! The trace in some lines of text.

use super::{Event, ThreadTrace, Trace};
use std::fmt;
use std::time::Duration;

/// A [trace](Trace) in numbers. `Display` prints it as a table.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Summary {
    /// The time from the start to the stop.
    pub duration: Duration,
    /// A summary of each thread.
    pub threads: Vec<ThreadSummary>,
    /// Number of threads [without events](Trace::threads_left_out).
    pub threads_left_out: u64,
}

/// One thread's part of a trace, in numbers.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct ThreadSummary {
    /// The thread's name, or its number as a worker.
    pub name: String,
    /// The time in jobs and calls, without the waits in which it ran no job.
    pub busy: Duration,
    /// Forks that were recorded.
    pub forks: u64,
    /// Jobs that it has stolen.
    pub steals: u64,
    /// Leaves of chains that were recorded.
    pub leaves: u64,
    /// The longest of these leaves.
    pub longest_leaf: Duration,
    /// Tasks that it has suspended.
    pub suspended: u64,
    /// Tasks that it has resumed.
    pub resumed: u64,
    /// Times that it has parked.
    pub parked: u64,
    /// Events that were overwritten because the ring was full.
    pub lost: u64,
}

impl Trace {
    /// Returns the trace in numbers.
    #[must_use]
    pub fn summary(&self) -> Summary {
        let threads = self.threads.iter().map(|thread| summary_of(thread, self.duration)).collect();
        Summary { duration: self.duration, threads, threads_left_out: self.left_out }
    }
}

fn summary_of(thread: &ThreadTrace, end: Duration) -> ThreadSummary {
    let mut summary = ThreadSummary { name: thread.label(), lost: thread.lost(), ..ThreadSummary::default() };
    // Jobs, calls (`true`) and waits (`false`) that have begun. The innermost one says whether the thread is busy.
    let mut open = Vec::new();
    let mut since = Duration::ZERO;
    let mut leaf = None;
    for event in &thread.events {
        let change = match event.event {
            Event::JobBegin { .. } | Event::CallBegin => Some(true),
            Event::WaitBegin => Some(false),
            _ => None,
        };
        let ends = matches!(event.event, Event::JobEnd | Event::CallEnd | Event::WaitEnd);
        if change.is_some() || ends {
            if open.last() == Some(&true) {
                summary.busy += event.at.saturating_sub(since);
            }
            since = event.at;
            match change {
                Some(busy) => open.push(busy),
                None => _ = open.pop(),
            }
        }
        match event.event {
            Event::Fork { .. } => summary.forks += 1,
            Event::Steal { .. } => summary.steals += 1,
            Event::LeafBegin { .. } => leaf = Some(event.at),
            Event::LeafEnd => {
                if let Some(begin) = leaf.take() {
                    summary.leaves += 1;
                    summary.longest_leaf = summary.longest_leaf.max(event.at.saturating_sub(begin));
                }
            }
            Event::Suspend { .. } => summary.suspended += 1,
            Event::Resume { .. } => summary.resumed += 1,
            Event::ParkBegin { .. } => summary.parked += 1,
            _ => {}
        }
    }
    if open.last() == Some(&true) {
        summary.busy += end.saturating_sub(since);
    }
    summary
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let whole = self.duration.as_secs_f64().max(1e-9);
        writeln!(f, "{:.3} ms", whole * 1e3)?;
        writeln!(
            f,
            "{:<20} {:>6} {:>8} {:>8} {:>8} {:>12} {:>9} {:>8} {:>7} {:>8}",
            "thread",
            "busy",
            "forks",
            "steals",
            "leaves",
            "longest leaf",
            "suspended",
            "resumed",
            "parked",
            "lost"
        )?;
        for thread in &self.threads {
            let busy = thread.busy.as_secs_f64() / whole * 100.0;
            let longest = thread.longest_leaf.as_secs_f64() * 1e6;
            writeln!(
                f,
                "{:<20} {busy:>4.0} % {:>8} {:>8} {:>8} {longest:>9.1} us {:>9} {:>8} {:>7} {:>8}",
                thread.name,
                thread.forks,
                thread.steals,
                thread.leaves,
                thread.suspended,
                thread.resumed,
                thread.parked,
                thread.lost
            )?;
        }
        if self.threads_left_out > 0 {
            writeln!(f, "{} more threads, of which no events were recorded", self.threads_left_out)?;
        }
        Ok(())
    }
}
