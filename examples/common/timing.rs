//! Medians of interleaved rounds.

use super::progress::Progress;
use std::hint::black_box;
use std::time::{Duration, Instant};

/// Runs `run` once. Returns its time and its result.
pub(crate) fn timed<T>(run: impl FnOnce() -> T) -> (T, Duration) {
    let begin = Instant::now();
    let result = black_box(run());
    (result, begin.elapsed())
}

/// Calls `run` for each of `contenders` in turn, `rounds` times, and returns each contender's times in ascending order.
///
/// The rounds are interleaved because a machine changes its speed while a program runs: so each contender meets each
/// phase. `run` returns the time to count, so that preparations and checks are left out.
pub(crate) fn interleaved<C>(
    what: &str,
    rounds: usize,
    contenders: &mut [C],
    mut run: impl FnMut(&mut C) -> Duration,
) -> Vec<Times> {
    let progress = Progress::new(what, rounds * contenders.len());
    let mut times = vec![Vec::new(); contenders.len()];
    for _round in 0..rounds {
        for (contender, times) in contenders.iter_mut().zip(&mut times) {
            times.push(run(contender));
            progress.step();
        }
    }
    times.into_iter().map(Times::new).collect()
}

/// The times of one contender, in ascending order.
#[derive(Clone, Debug)]
pub(crate) struct Times(Vec<Duration>);

impl Times {
    /// # Panics
    ///
    /// If there are no times.
    pub(crate) fn new(mut times: Vec<Duration>) -> Self {
        assert!(!times.is_empty(), "there is no median of no times: run at least one round");
        times.sort();
        Times(times)
    }

    pub(crate) fn median(&self) -> Duration {
        self.0[self.0.len() / 2]
    }

    /// Returns the quartiles: half of the times lie between them.
    pub(crate) fn quartiles(&self) -> (Duration, Duration) {
        let last = self.0.len() - 1;
        (self.0[last / 4], self.0[last - last / 4])
    }
}
