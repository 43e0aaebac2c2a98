//! Measuring contenders against each other, in one process and interleaved.
//!
//! Timings on a shared machine drift by more than the differences that matter here. So contenders run in turn, round
//! after round, in alternating order. Reported are ratios of medians of the same rounds.

mod choice;
pub mod fork;
pub mod latency;
pub mod loops;
pub mod many_cores;
pub mod papers;
pub mod plot;
pub mod programs;
pub mod record;
pub mod results;

pub use choice::{Choice, paper, processors, quick, thread_counts, threads};

use std::hint::black_box;
use std::time::{Duration, Instant};

/// A closure to be timed. Its result is kept from being optimized away, and compared with the other contenders'
/// results.
pub type Contender<'a, R> = (&'static str, Box<dyn FnMut() -> R + 'a>);

/// A contender that times itself, because the work before or after is not to be counted.
pub type Timed<'a, R> = (&'static str, Box<dyn FnMut() -> (Duration, R) + 'a>);

/// The medians of contenders that ran interleaved.
#[derive(Debug)]
pub struct Medians {
    /// Names and medians, in the order given.
    pub rows: Vec<(&'static str, Duration)>,
    /// Each one's times, in the order of the rounds.
    pub times: Vec<Vec<Duration>>,
}

impl Medians {
    /// Returns the first contender's median over another's.
    ///
    /// # Panics
    ///
    /// If there is no such contender.
    #[must_use]
    pub fn ratio_to(&self, other: &str) -> f64 {
        let (_, median) = self.rows.iter().find(|(name, _)| *name == other).expect("no such contender");
        self.rows[0].1.as_secs_f64() / median.as_secs_f64()
    }
}

/// Runs all contenders `rounds` times in turn, after one round that does not count. The title is for [`record`].
///
/// # Panics
///
/// If two contenders' results differ.
pub fn interleave<R: PartialEq + std::fmt::Debug>(
    title: &str,
    rounds: usize,
    contenders: &mut [Contender<'_, R>],
) -> Medians {
    let expected = contenders[0].1();
    for (name, run) in contenders.iter_mut() {
        assert_eq!(run(), expected, "{name} has another result");
    }
    let times = times(rounds, contenders.len(), |i| {
        let start = Instant::now();
        black_box(contenders[i].1());
        start.elapsed()
    });
    medians(title, contenders.iter().map(|(name, _)| *name).zip(times).collect())
}

/// As [`interleave`], for contenders that time themselves.
///
/// # Panics
///
/// If two contenders' results differ.
pub fn interleave_timed<R: PartialEq>(
    title: &str,
    rounds: usize,
    contenders: &mut [Timed<'_, R>],
) -> Medians {
    let expected = contenders[0].1().1;
    for (name, run) in contenders.iter_mut() {
        assert!(run().1 == expected, "{name} has another result");
    }
    drop(expected);
    let times = times(rounds, contenders.len(), |i| contenders[i].1().0);
    medians(title, contenders.iter().map(|(name, _)| *name).zip(times).collect())
}

/// Takes times of contenders by their numbers in turn, round after round in alternating order. Returns each contender's times, in the order of the rounds.
#[must_use]
pub fn times(rounds: usize, len: usize, mut time: impl FnMut(usize) -> Duration) -> Vec<Vec<Duration>> {
    let mut times = vec![Vec::with_capacity(rounds); len];
    for round in 0..rounds {
        for turn in 0..len {
            let i = if round % 2 == 0 { turn } else { len - 1 - turn };
            times[i].push(time(i));
        }
    }
    times
}

/// Waits until the workers of the library that ran before are asleep. One that still yields may take the core of the thread that measures.
pub fn wait_for_sleep() {
    std::thread::sleep(Duration::from_millis(5));
}

/// Records the times, and returns each contender's median.
fn medians(title: &str, rows: Vec<(&'static str, Vec<Duration>)>) -> Medians {
    record::record(title, rows.iter().map(|(name, times)| (*name, times.clone())));
    let median = |mut times: Vec<Duration>| {
        times.sort();
        times[times.len() / 2]
    };
    let (names, times): (Vec<_>, Vec<_>) = rows.into_iter().unzip();
    Medians { rows: names.into_iter().zip(times.iter().cloned().map(median)).collect(), times }
}

/// SplitMix64 of a number.
#[must_use]
pub fn mix(x: usize) -> u64 {
    let x = (x as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    x ^ (x >> 31)
}

/// Returns the number of rounds: `ROUNDS` in the environment, or a default.
///
/// # Panics
///
/// If `ROUNDS` is no positive number.
#[must_use]
pub fn rounds(default: usize) -> usize {
    let rounds = std::env::var("ROUNDS").map_or(default, |text| text.parse().expect("ROUNDS is a number"));
    assert!(rounds > 0, "ROUNDS must be at least 1");
    rounds
}
