//! The conspicuous facts of a trace, in words.

use super::Summary;
use std::fmt;
use std::time::Duration;

/// Something that stands out in a [trace](super::super::Trace). `Display` says it in words, with what to try.
///
/// A trace shows what happened, and not why. So an advice is a place to begin to look.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Advice {
    /// So many events were lost: the figures show only a part of the run.
    Lost(u64),
    /// For this share of the time (0 to 1) no thread ran a job or a call.
    Idle(f64),
    /// One leaf took about as long as exactly one thread was busy.
    LongLeaf {
        /// The leaf's share of the time.
        share: f64,
        /// The leaf's time.
        time: Duration,
    },
    /// For this share of the time exactly one thread was busy, and the span is why: it is most of that time.
    LongSpan {
        /// The share of the time.
        share: f64,
        /// The work divided by the span.
        parallelism: f64,
    },
    /// For this share of the time exactly one thread was busy, although the forks allow more.
    OneThread {
        /// The share of the time.
        share: f64,
        /// The work divided by the span.
        parallelism: f64,
    },
    /// For this share of the time that threads were busy with jobs they used no processor.
    Blocked(f64),
    /// Leaves took so little time, on average, that dividing costs more than they do.
    SmallLeaves(Duration),
    /// For this share of the time all threads slept, while tasks were suspended.
    Waiting(f64),
}

/// A share of the time that is worth a word.
const MUCH: f64 = 0.25;

/// A leaf of this time costs as much as the fork before it, where forks are not as cheap as they can be.
const SMALL_LEAF: Duration = Duration::from_nanos(300);

impl Summary {
    /// Returns what stands out. Empty if nothing does, or if nothing was recorded.
    #[must_use]
    pub fn advice(&self) -> Vec<Advice> {
        let whole = self.duration.as_secs_f64();
        let share = |time: Duration| if whole > 0.0 { time.as_secs_f64() / whole } else { 0.0 };
        let busy = |threads: usize| self.by_busy_threads.get(threads).map_or(0.0, |time| share(*time));
        let mut advice = Vec::new();
        let lost: u64 = self.threads.iter().map(|thread| thread.lost).sum();
        if lost > 0 {
            advice.push(Advice::Lost(lost));
        }
        // A pool of one thread, or a program that uses no second one, shows nothing of this.
        if self.threads.len() < 2 || self.work.is_zero() {
            return advice;
        }
        let suspended: u64 = self.threads.iter().map(|thread| thread.suspended).sum();
        // Where events are missing, so is the time in which a thread was busy.
        if lost == 0 && busy(0) > MUCH {
            advice.push(if suspended > 0 { Advice::Waiting(busy(0)) } else { Advice::Idle(busy(0)) });
        }
        if lost == 0 && busy(1) > MUCH {
            let longest = self.threads.iter().map(|thread| thread.longest_leaf).max().unwrap_or_default();
            let parallelism = self.parallelism();
            // Most of the time with one busy thread is explained by what takes as long.
            advice.push(if share(longest) > busy(1) * 0.75 {
                Advice::LongLeaf { share: share(longest), time: longest }
            } else if share(self.span) > busy(1) * 0.75 {
                Advice::LongSpan { share: busy(1), parallelism }
            } else {
                Advice::OneThread { share: busy(1), parallelism }
            });
        }
        let known = self.threads.iter().filter(|thread| thread.lost == 0);
        let (of, blocked) = known.fold((Duration::ZERO, Duration::ZERO), |(of, blocked), thread| {
            let processor = thread.processor.unwrap_or(thread.busy);
            (of + thread.busy, blocked + thread.busy.saturating_sub(processor))
        });
        let blocked = blocked.as_secs_f64() / of.as_secs_f64().max(whole * MUCH);
        if blocked > MUCH {
            advice.push(Advice::Blocked(blocked));
        }
        let leaves: u64 = self.threads.iter().map(|thread| thread.leaves).sum();
        let time: Duration = self.threads.iter().map(|thread| thread.time_in_leaves).sum();
        let average = u32::try_from(leaves).ok().and_then(|leaves| time.checked_div(leaves));
        if let Some(average) = average.filter(|average| leaves >= 100 && *average < SMALL_LEAF) {
            advice.push(Advice::SmallLeaves(average));
        }
        advice
    }
}

impl fmt::Display for Advice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Advice::Lost(count) => {
                write!(
                    f,
                    "{count} events were lost, so this is the end of the run: record a part of the program (`trace::start`), with more events per thread (`trace::Settings`)"
                )
            }
            Advice::Idle(share) => write!(
                f,
                "{:.0} % of the time no thread ran a job: the time between the parallel calls. Make that code parallel, or make fewer and longer calls",
                share * 100.0
            ),
            Advice::LongLeaf { share, time } => write!(
                f,
                "one leaf took {:.0} % of the time ({:.3} ms) while other threads had nothing to do: divide finer (with_max_len; or adaptive, if the leaf is a task of `work`), or, if it was one item, fork within the item",
                share * 100.0,
                time.as_secs_f64() * 1e3
            ),
            Advice::LongSpan { share, parallelism } => write!(
                f,
                "{:.0} % of the time one thread was busy, because the work between the forks is sequential (parallelism {parallelism:.1}): look for wide rectangles in the graph",
                share * 100.0
            ),
            Advice::OneThread { share, parallelism } => write!(
                f,
                "{:.0} % of the time one thread was busy, although the forks allow more (parallelism {parallelism:.1}): the calls may be too short for a second thread to begin, or the processor was busy with other programs",
                share * 100.0
            ),
            Advice::Blocked(share) => write!(
                f,
                "for {:.0} % of the time that threads were busy they used no processor: jobs wait for a lock or for I/O that blocks (`io_await` waits without a thread), or there are more threads than free cores",
                share * 100.0
            ),
            Advice::SmallLeaves(average) => write!(
                f,
                "leaves took {} ns on average, about as much as dividing: divide coarser (with_min_len, or no policy)",
                average.as_nanos()
            ),
            Advice::Waiting(share) => write!(
                f,
                "{:.0} % of the time all threads slept while tasks were suspended: have more tasks in flight",
                share * 100.0
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::ThreadSummary;
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    /// Two threads in 100 seconds.
    fn summary(work: u32, span: u32, by_busy_threads: [u32; 3]) -> Summary {
        Summary {
            duration: 100 * SECOND,
            work: work * SECOND,
            span: span * SECOND,
            by_busy_threads: by_busy_threads.map(|time| time * SECOND).into(),
            logs: Vec::new(),
            threads: vec![ThreadSummary::default(); 2],
            threads_left_out: 0,
        }
    }

    #[test]
    fn nothing_stands_out_where_all_are_busy() {
        assert_eq!(summary(190, 20, [1, 9, 90]).advice(), []);
        assert_eq!(Summary::default().advice(), []);
    }

    #[test]
    fn time_between_calls() {
        assert_eq!(summary(60, 10, [70, 0, 30]).advice(), [Advice::Idle(0.7)]);
        let mut waits = summary(60, 10, [70, 0, 30]);
        waits.threads[1].suspended = 3;
        assert_eq!(waits.advice(), [Advice::Waiting(0.7)]);
    }

    #[test]
    fn one_busy_thread_has_a_cause() {
        let mut one = summary(110, 90, [0, 90, 10]);
        assert_eq!(one.advice(), [Advice::LongSpan { share: 0.9, parallelism: 110.0 / 90.0 }]);
        one.threads[0].longest_leaf = 90 * SECOND;
        assert_eq!(one.advice(), [Advice::LongLeaf { share: 0.9, time: 90 * SECOND }]);
        let free = summary(110, 10, [0, 90, 10]);
        assert_eq!(free.advice(), [Advice::OneThread { share: 0.9, parallelism: 11.0 }]);
    }

    #[test]
    fn threads_that_are_busy_without_a_processor() {
        let mut locked = summary(190, 20, [0, 0, 100]);
        for thread in &mut locked.threads {
            (thread.busy, thread.processor) = (100 * SECOND, Some(50 * SECOND));
        }
        assert_eq!(locked.advice(), [Advice::Blocked(0.5)]);
        locked.threads[1].processor = None;
        assert_eq!(locked.advice(), [], "half of one thread's time is a quarter of all");
        locked.threads[0].lost = 1;
        assert_eq!(locked.advice(), [Advice::Lost(1)]);
    }

    #[test]
    fn small_leaves_and_lost_events() {
        let mut small = summary(190, 20, [0, 0, 100]);
        (small.threads[0].leaves, small.threads[0].time_in_leaves) = (10_000, SECOND / 1000);
        assert_eq!(small.advice(), [Advice::SmallLeaves(Duration::from_nanos(100))]);
        small.threads[0].time_in_leaves = 100 * SECOND;
        small.threads[1].lost = 7;
        assert_eq!(small.advice(), [Advice::Lost(7)]);
        small.by_busy_threads = vec![70 * SECOND, 30 * SECOND];
        assert_eq!(small.advice(), [Advice::Lost(7)], "nobody knows whether the threads were busy before");
    }
}
