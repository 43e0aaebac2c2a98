//! The trace in some lines of text.

mod advice;

use super::{Event, ThreadTrace, Trace};
use std::fmt;
use std::time::Duration;

pub use advice::Advice;

/// A [trace](Trace) in numbers. `Display` prints it as a table, and what [stands out](Self::advice) in words.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Summary {
    /// The time from the start to the stop.
    pub duration: Duration,
    /// The time of all pieces of work together: the work, T1 ([`Graph::work`](super::Graph::work)).
    pub work: Duration,
    /// The longest time that pieces take one after the other: the span, Tinf ([`Graph::span`](super::Graph::span)).
    pub span: Duration,
    /// The time in which exactly 0, 1, 2... threads were busy.
    pub by_busy_threads: Vec<Duration>,
    /// The places in chains that were named by `log`, the one with the longest time first.
    pub logs: Vec<LogSummary>,
    /// A summary of each thread.
    pub threads: Vec<ThreadSummary>,
    /// Number of threads [without events](Trace::threads_left_out).
    pub threads_left_out: u64,
}

/// The items that have passed a named place of a chain, in numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct LogSummary {
    /// The name.
    pub name: &'static str,
    /// Leaves, and steps of tasks, in which items have passed.
    pub leaves: u64,
    /// The time of these together. It contains the work before the place, for the same items, and that behind it.
    pub time: Duration,
    /// The longest one.
    pub longest: Duration,
}

/// One thread's part of a trace, in numbers.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct ThreadSummary {
    /// The thread's name, or its number as a worker.
    pub name: String,
    /// The time in jobs and calls, without the waits in which it ran no job.
    pub busy: Duration,
    /// The [processor time](ThreadTrace::processor_time) that it used, in jobs and in the search for them. Much less than [`busy`](Self::busy)
    /// if jobs wait for locks or for I/O, or if there are more threads than cores.
    pub processor: Option<Duration>,
    /// Forks that were recorded.
    pub forks: u64,
    /// Jobs that it has stolen.
    pub steals: u64,
    /// Leaves of chains that were recorded.
    pub leaves: u64,
    /// The time of these leaves together.
    pub time_in_leaves: Duration,
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
        let mut busy = Vec::new();
        let threads =
            self.threads.iter().map(|thread| summary_of(thread, self.duration, &mut busy)).collect();
        let graph = self.graph();
        Summary {
            duration: self.duration,
            work: graph.work(),
            span: graph.span(),
            by_busy_threads: by_busy_threads(&busy, self.duration),
            logs: logs(&self.threads),
            threads,
            threads_left_out: self.left_out,
        }
    }
}

impl Summary {
    /// Returns the parallelism: the work divided by the span. However many threads there are, the program does not get faster than its
    /// sequential run by more than this factor. 1 if nothing was recorded.
    #[must_use]
    pub fn parallelism(&self) -> f64 {
        if self.span.is_zero() { 1.0 } else { self.work.as_secs_f64() / self.span.as_secs_f64() }
    }
}

fn logs(threads: &[ThreadTrace]) -> Vec<LogSummary> {
    let mut logs = Vec::<LogSummary>::new();
    for thread in threads {
        // A place may lie behind another one, so that times are nested.
        let mut open = Vec::new();
        for event in &thread.events {
            match event.event {
                Event::LogBegin { name } => open.push((name, event.at)),
                Event::LogEnd => {
                    let Some((name, begin)) = open.pop() else { continue };
                    let place = logs.iter().position(|log| log.name == name).unwrap_or_else(|| {
                        logs.push(LogSummary { name, ..LogSummary::default() });
                        logs.len() - 1
                    });
                    let (log, time) = (&mut logs[place], event.at.saturating_sub(begin));
                    log.leaves += 1;
                    log.time += time;
                    log.longest = log.longest.max(time);
                }
                _ => {}
            }
        }
    }
    logs.sort_by_key(|log| std::cmp::Reverse(log.time));
    logs
}

/// Begin and end of a time in which a thread was busy.
type Busy = (Duration, Duration);

fn by_busy_threads(times: &[Busy], end: Duration) -> Vec<Duration> {
    // A time that ends makes way for one that begins at the same moment.
    let mut changes: Vec<_> = times
        .iter()
        .filter(|(begin, end)| begin < end)
        .flat_map(|(begin, end)| [(*begin, true), (*end, false)])
        .collect();
    changes.sort_unstable();
    let (mut times, mut since, mut busy) = (vec![Duration::ZERO], Duration::ZERO, 0_usize);
    for (at, begins) in changes.into_iter().chain([(end, false)]) {
        times.resize(times.len().max(busy + 1), Duration::ZERO);
        times[busy] += at.saturating_sub(since);
        since = at;
        busy = if begins { busy + 1 } else { busy.saturating_sub(1) };
    }
    times
}

fn summary_of(thread: &ThreadTrace, end: Duration, times: &mut Vec<Busy>) -> ThreadSummary {
    let mut summary = ThreadSummary {
        name: thread.label(),
        lost: thread.lost(),
        processor: thread.processor_time(),
        ..ThreadSummary::default()
    };
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
                times.push((since, event.at));
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
                    summary.time_in_leaves += event.at.saturating_sub(begin);
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
        times.push((since, end));
    }
    summary
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let whole = self.duration.as_secs_f64().max(1e-9);
        writeln!(
            f,
            "{:.3} ms; work {:.3} ms, span {:.3} ms, parallelism {:.1}",
            whole * 1e3,
            self.work.as_secs_f64() * 1e3,
            self.span.as_secs_f64() * 1e3,
            self.parallelism()
        )?;
        writeln!(
            f,
            "{:<20} {:>6} {:>9} {:>8} {:>8} {:>8} {:>12} {:>9} {:>8} {:>7} {:>8}",
            "thread",
            "busy",
            "processor",
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
            let share = |time: Duration| time.as_secs_f64() / whole * 100.0;
            let busy = share(thread.busy);
            let processor = thread.processor.map_or("?".to_owned(), |time| format!("{:.0} %", share(time)));
            let longest = thread.longest_leaf.as_secs_f64() * 1e6;
            writeln!(
                f,
                "{:<20} {busy:>4.0} % {processor:>9} {:>8} {:>8} {:>8} {longest:>9.1} us {:>9} {:>8} {:>7} {:>8}",
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
        for LogSummary { name, leaves, time, longest } in &self.logs {
            let (time, longest) = (time.as_secs_f64() * 1e3, longest.as_secs_f64() * 1e6);
            writeln!(f, "`{name}`: {time:.3} ms in {leaves} leaves or steps, the longest {longest:.1} us")?;
        }
        self.advice().iter().try_for_each(|advice| writeln!(f, "- {advice}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_by_busy_threads_are_those_of_a_count_at_each_moment() {
        let mut random = testkit::Random(5);
        let mut next = |below| random.below(below);
        for threads in 0..5_u64 {
            for _ in 0..50 {
                // The times of one thread do not overlap.
                let mut times = Vec::new();
                for _ in 0..threads {
                    let mut at = 0;
                    for _ in 0..next(4) {
                        let begin = at + next(10);
                        at = begin + next(10);
                        times.push((begin, at));
                    }
                }
                let mut expected = vec![0; 6];
                for moment in 0..100 {
                    expected[times.iter().filter(|time| (time.0..time.1).contains(&moment)).count()] += 1;
                }
                let nanos = Duration::from_nanos;
                let busy: Vec<_> = times.iter().map(|time| (nanos(time.0), nanos(time.1))).collect();
                let mut found: Vec<_> =
                    by_busy_threads(&busy, nanos(100)).iter().map(Duration::as_nanos).collect();
                found.resize(6, 0);
                assert_eq!(found, expected, "{times:?}");
            }
        }
    }
}
