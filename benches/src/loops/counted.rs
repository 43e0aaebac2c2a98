//! Loops that record the times at which their parts end, and the times at which their results are used.

use super::{Furcate, Loop};
use furcate::prelude::*;
use furcate::{Reduction, Scheduler};
use std::ops::{ControlFlow, Range};
use std::sync::Mutex;
use std::thread::{self, ThreadId};
use std::time::{Duration, Instant};

/// [`Furcate`], with counters.
#[derive(Clone, Copy, Debug)]
pub struct Counted<'c, S> {
    /// Runs the loops.
    pub furcate: Furcate<S>,
    /// Receives the times.
    pub counters: &'c Counters,
}

/// The recorded times.
#[derive(Debug, Default)]
pub struct Counters {
    /// For each stolen fork: one half done, both done, reduced.
    forks: Mutex<Vec<[Instant; 3]>>,
    /// For each call: its result complete, its caller going on.
    calls: Mutex<Vec<[Instant; 2]>>,
}

/// A span of time: its begin and its end.
pub type Span = [Instant; 2];

impl Counters {
    /// Returns a span for every stolen fork, from the end of its first half until it was reduced.
    ///
    /// # Panics
    ///
    /// If a loop has panicked while it recorded a time; likewise for the other methods.
    #[must_use]
    pub fn outstanding_joins(&self) -> Vec<Span> {
        self.forks.lock().unwrap().iter().map(|[first, _, reduced]| [*first, *reduced]).collect()
    }

    /// Returns a span for every stolen fork, from the end of its second half until it was reduced.
    #[must_use]
    pub fn late_joins(&self) -> Vec<Span> {
        self.forks.lock().unwrap().iter().map(|[_, second, reduced]| [*second, *reduced]).collect()
    }

    /// Returns a span for every loop, from the moment its result was complete until its caller went on.
    #[must_use]
    pub fn late_calls(&self) -> Vec<Span> {
        self.calls.lock().unwrap().clone()
    }

    /// Returns the mean number of spans at a moment of a time of length `of`, the greatest number, and the longest
    /// span.
    #[must_use]
    pub fn at_a_moment(of: Duration, spans: &[Span]) -> (f64, usize, Duration) {
        let times = || spans.iter().map(|[begin, end]| *end - *begin);
        let mean = times().sum::<Duration>().as_secs_f64() / of.as_secs_f64();
        let mut changes: Vec<(Instant, bool)> =
            spans.iter().flat_map(|[begin, end]| [(*begin, true), (*end, false)]).collect();
        // At the same moment, begins come before ends: a span of no time has an end, too.
        changes.sort_by_key(|(at, begins)| (*at, !begins));
        let (mut now, mut greatest) = (0_usize, 0);
        for (_, begins) in changes {
            now = if begins { now + 1 } else { now - 1 };
            greatest = greatest.max(now);
        }
        (mean, greatest, times().max().unwrap_or_default())
    }
}

impl<S: Scheduler + Sync> Loop for Counted<'_, S> {
    fn sum(&self, numbers: Range<u64>, body: impl Fn(u64) -> u64 + Sync + Send) -> u64 {
        let Furcate { scheduler, single } = &self.furcate;
        let sums = numbers.into_par_iter().map(body).with_scheduler(scheduler.clone());
        let counting = Counting(self.counters);
        let part = if *single { sums.size_limit(1).drive(counting) } else { sums.drive(counting) };
        self.counters.calls.lock().unwrap().push([part.done, Instant::now()]);
        part.sum
    }
}

/// A sum that records times.
#[derive(Clone, Copy)]
struct Counting<'c>(&'c Counters);

/// A part's sum, the time at which it was complete, and the thread on which its first number began.
struct Part {
    sum: u64,
    began_on: ThreadId,
    done: Instant,
}

impl Reduction<u64> for Counting<'_> {
    type Accumulator = (ThreadId, u64);
    type Output = Part;

    fn start(&self) -> Self::Accumulator {
        (thread::current().id(), 0)
    }
    fn fold_item(
        &self,
        (began_on, sum): Self::Accumulator,
        item: u64,
    ) -> ControlFlow<Self::Accumulator, Self::Accumulator> {
        ControlFlow::Continue((began_on, sum.wrapping_add(item)))
    }
    fn finish(&self, (began_on, sum): Self::Accumulator) -> Part {
        Part { sum, began_on, done: Instant::now() }
    }
    fn reduce(&self, left: Part, right: Part) -> Part {
        let now = Instant::now();
        // The left half begins on the thread that forks, the right one on the one that takes it.
        if left.began_on != right.began_on {
            let (first, second) = (left.done.min(right.done), left.done.max(right.done));
            self.0.forks.lock().unwrap().push([first, second, now]);
        }
        Part { sum: left.sum.wrapping_add(right.sum), began_on: left.began_on, done: now }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments() {
        let start = Instant::now();
        let at = |ms| start + Duration::from_millis(ms);
        let spans = [[at(0), at(10)], [at(5), at(15)], [at(15), at(30)], [at(40), at(40)]];
        let (mean, greatest, longest) = Counters::at_a_moment(Duration::from_millis(50), &spans);
        assert!((mean - 0.7).abs() < 1e-9);
        assert_eq!((greatest, longest), (2, Duration::from_millis(15)));
    }
}
