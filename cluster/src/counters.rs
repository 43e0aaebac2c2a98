//! Counts of a rank, and the table of all ranks.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

/// Declares the counters, and their values as numbers.
macro_rules! counters {
    ($($(#[$doc:meta])* $name:ident),+ $(,)?) => {
        /// Counts of a rank since its world was made. See [`World::counts`](crate::World::counts).
        #[derive(Clone, Debug, Default, PartialEq, Eq)]
        #[non_exhaustive]
        pub struct Counts {
            $($(#[$doc])* pub $name: u64,)+
            /// Steals by their latency, from the request to the share, in classes: eight to an octave of nanoseconds, so that number 8 `k` + `j`
            /// counts latencies of (8 + `j`) 2^(`k` - 1) nanoseconds and a little more (below 8 nanoseconds, number `i` counts `i`). See
            /// [`latency`](Self::latency).
            pub latencies: Vec<u64>,
        }

        /// The counters of a rank. All accesses are relaxed: the numbers are independent of each other, and nothing is published
        /// by them.
        #[derive(Debug, Default)]
        pub(crate) struct Counters {
            $(pub(crate) $name: Counter,)+
            latencies: Latencies,
        }

        impl Counters {
            /// Returns the present values.
            pub(crate) fn counts(&self) -> Counts {
                Counts {
                    $($name: self.$name.get(),)+
                    latencies: self.latencies.0.iter().map(Counter::get).collect(),
                }
            }
        }

        impl Counts {
            /// Returns the values as a list, which can be sent.
            pub(crate) fn to_list(&self) -> Vec<u64> {
                [$(self.$name),+].into_iter().chain(self.latencies.iter().copied()).collect()
            }

            /// Makes the values of a list.
            pub(crate) fn from_list(list: &[u64]) -> Self {
                let mut numbers = list.iter().copied();
                Counts {
                    $($name: numbers.next().unwrap_or_default(),)+
                    latencies: numbers.collect(),
                }
            }
        }
    };
}

counters! {
    /// Collective calls.
    calls,
    /// Shares that were worked on: the first one of each call, and those that were stolen.
    shares,
    /// Steal requests.
    tried,
    /// Requests that got a share.
    won,
    /// Nanoseconds from the request to the share, of all steals together.
    stealing,
    /// Parts of shares that were given to other ranks: the forks between ranks.
    given,
    /// Bytes of the frames that were given to other ranks.
    given_bytes,
    /// Requests of other ranks that were refused.
    refused,
    /// Messages sent.
    messages,
    /// Bytes sent.
    bytes,
    /// Outputs that were reduced in join nodes.
    reduced,
    /// Long outputs that were fetched from other ranks.
    fetched,
    /// Join nodes that were sent to the rank with their longest outputs.
    moved,
    /// The greatest number of join nodes that waited at once.
    outstanding,
    /// Steps of frames.
    steps,
    /// Frames that waited for results.
    waits,
    /// The greatest number of frames that waited at once, in the last computation of frames.
    waiting,
    /// The greatest number of frames at once whose results were all there, and which had not gone on, in the last computation of frames.
    resumable,
    /// Nanoseconds from a frame's last result to its next step, of all frames together.
    stalled,
    /// Frames that had to wait because of a steal: the last child, which stands for the rest of the frame that forked it, had its output
    /// before another child that runs elsewhere. Also counts each frame that waited for futures alone, if an output was not there.
    blocked,
    /// Nanoseconds from that moment to the frame's next step, of all these frames together.
    blocking,
    /// Messages of other chains, versions or unknown content, which were not used.
    strange,
    /// Nanoseconds without a share, during calls.
    idle,
}

/// Number of classes of latencies: the last one ends at 2^42 nanoseconds, more than an hour.
const CLASSES: usize = 8 * 40;

/// Steals by the class of their latency.
#[derive(Debug)]
struct Latencies([Counter; CLASSES]);

impl Default for Latencies {
    fn default() -> Self {
        Latencies([const { Counter(AtomicU64::new(0)) }; CLASSES])
    }
}

/// Returns the class of a latency: its highest bit, and the three bits below.
fn class(nanoseconds: u64) -> usize {
    let shift = nanoseconds.max(8).ilog2() - 3;
    (8 * shift as usize + (nanoseconds >> shift) as usize).min(CLASSES - 1)
}

/// Returns the latency at which a class ends.
fn class_end(class: usize) -> u64 {
    let shift = (class / 8).saturating_sub(1);
    ((class - 8 * shift + 1) as u64) << shift
}

/// Returns a time in nanoseconds, or the greatest number.
fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

/// A number that is only counted up.
#[derive(Debug, Default)]
pub(crate) struct Counter(AtomicU64);

impl Counter {
    pub(crate) fn add(&self, number: u64) {
        self.0.fetch_add(number, Relaxed);
    }

    /// Adds nanoseconds.
    pub(crate) fn add_time(&self, time: Duration) {
        self.add(nanoseconds(time));
    }

    pub(crate) fn reset(&self) {
        self.0.store(0, Relaxed);
    }

    pub(crate) fn raise_to(&self, number: u64) {
        self.0.fetch_max(number, Relaxed);
    }

    fn get(&self) -> u64 {
        self.0.load(Relaxed)
    }
}

impl Counters {
    /// Counts a steal with this latency.
    pub(crate) fn add_latency(&self, latency: Duration) {
        self.latencies.0[class(nanoseconds(latency))].add(1);
        self.stealing.add_time(latency);
    }
}

impl Counts {
    /// Returns the latency below which the given part of all steals lies, up to an eighth of it; `None` without steals.
    #[must_use]
    pub fn latency(&self, part: f64) -> Option<Duration> {
        let all: u64 = self.latencies.iter().sum();
        let mut left = (all as f64 * part).ceil().max(1.0) as u64;
        let class = self.latencies.iter().position(|&count| {
            let is_there = count >= left;
            left = left.saturating_sub(count);
            is_there
        })?;
        (all > 0).then(|| Duration::from_nanos(class_end(class)))
    }
}

/// The counts of all ranks, as a table: see [`World::table`](crate::World::table).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CountsTable(pub(crate) Vec<Counts>);

impl CountsTable {
    /// Returns the counts, in the order of the ranks.
    #[must_use]
    pub fn ranks(&self) -> &[Counts] {
        &self.0
    }
}

/// One line for each rank. There is no newline at the end.
impl fmt::Display for CountsTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{:>4} {:>8} {:>8} {:>8} {:>8} {:>10} {:>10} {:>9} {:>12} {:>6} {:>10}",
            "rank", "shares", "given", "tried", "won", "median", "p99", "messages", "bytes", "joins", "idle"
        )?;
        let time = |time: Option<Duration>| time.map_or("-".to_owned(), |time| format!("{time:.1?}"));
        for (rank, counts) in self.0.iter().enumerate() {
            write!(
                f,
                "\n{rank:>4} {:>8} {:>8} {:>8} {:>8} {:>10} {:>10} {:>9} {:>12} {:>6} {:>10}",
                counts.shares,
                counts.given,
                counts.tried,
                counts.won,
                time(counts.latency(0.5)),
                time(counts.latency(0.99)),
                counts.messages,
                counts.bytes,
                counts.outstanding.max(counts.waiting),
                time(Some(Duration::from_nanos(counts.idle))),
            )?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_come_back_from_a_list() {
        let counters = Counters::default();
        counters.won.add(3);
        counters.idle.add(5);
        counters.add_latency(Duration::from_nanos(1000));
        let counts = counters.counts();
        assert_eq!(Counts::from_list(&counts.to_list()), counts);
    }

    #[test]
    fn classes_of_latencies_are_neighbors() {
        for nanoseconds in
            (0..5000).chain((13..42).flat_map(|bit| [(1 << bit) - 1, 1 << bit, 15 << (bit - 3)]))
        {
            let class = class(nanoseconds);
            let begin = class.checked_sub(1).map_or(0, class_end);
            assert!((begin..class_end(class)).contains(&nanoseconds), "{nanoseconds} in class {class}");
            assert!(class_end(class) - begin <= 1.max(begin / 8));
        }
        assert_eq!(class(u64::MAX), CLASSES - 1);
    }

    #[test]
    fn latencies_are_told_up_to_an_eighth() {
        let counters = Counters::default();
        assert_eq!(counters.counts().latency(0.5), None);
        for _ in 0..99 {
            counters.add_latency(Duration::from_nanos(1000));
        }
        counters.add_latency(Duration::from_millis(1));
        let counts = counters.counts();
        assert_eq!(counts.latency(0.5), Some(Duration::from_nanos(1024)));
        assert_eq!(counts.latency(0.99), Some(Duration::from_nanos(1024)));
        assert_eq!(counts.latency(1.0), Some(Duration::from_nanos(1 << 20)));
        counters.add_latency(Duration::from_nanos(1_900));
        assert_eq!(counters.counts().latency(0.99), Some(Duration::from_nanos(1920)));
    }
}
