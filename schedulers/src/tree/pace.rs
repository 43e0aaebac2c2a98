//! Lengths of steps: short in the beginning, and longer as long as they end soon.
//!
//! Between its steps a task checks two things: whether it is still needed, and whether another worker wants a part of
//! it. A step has a number of items, but its time is what matters. A check costs a few nanoseconds, so it should not
//! come every few nanoseconds; nor should it have to wait for a thousand slow items. A [`Pace`] begins with few items,
//! doubles their number, and watches the clock:
//!
//! # Invariants
//!
//! 1. A step is never shorter than the least size and never longer than the greatest.
//! 2. *Prompt.* After a timed step that took more than [`LONG`] the next one is half as long. After a timed step that
//!    took more than half of `LONG`, the next one is no longer. So while all items cost about the same, steps end
//!    within `LONG`, or have the least size. The first two steps are an exception, since no time is known yet.
//! 3. *Cheap.* The clock is not read before every step. A timed step determines how many items may be folded before the
//!    next timed step: as many as are expected to take a quarter of `LONG`, and no more than [`TRUST`] times the items
//!    of the timed step. So the clock is read twice in that time, or twice per item if items are slower.

use furcate_pool::sync::clock::Instant;
use std::time::Duration;

/// Greatest time of a step; longer steps are halved.
pub(crate) const LONG: Duration = Duration::from_micros(100);

/// Time from which on an item is slow: so slow that a look after every item costs little.
pub(crate) const SLOW: Duration = Duration::from_nanos(100);

/// Greatest number of untimed items per timed item (invariant 3).
const TRUST: usize = 64;

/// The lengths of a task's steps. The time comes from a `Clock`.
#[derive(Debug)]
pub(crate) struct Pace<Clock = fn() -> Instant> {
    /// Length of the next step, unless the clock speaks against it.
    limit: usize,
    min: usize,
    max: usize,
    /// Number of items that may be folded before a step must be timed.
    trusted: usize,
    /// The step that is being timed: its length and its begin.
    timed: Option<(usize, Instant)>,
    /// Whether an item of the last timed step took [`SLOW`] or longer.
    are_slow: bool,
    clock: Clock,
}

impl Pace {
    /// Returns steps of `min` items (at least 1) and then of more, up to `max`.
    #[inline]
    pub(crate) fn new(min: usize, max: usize) -> Self {
        Pace::with_clock(min, max, Instant::now)
    }
}

impl<Clock: FnMut() -> Instant> Pace<Clock> {
    #[inline]
    pub(crate) fn with_clock(min: usize, max: usize, clock: Clock) -> Self {
        let min = min.max(1);
        Pace { limit: min, min, max: max.max(min), trusted: min, timed: None, are_slow: false, clock }
    }

    /// Begins anew, with the least size.
    #[inline]
    pub(crate) fn restart(&mut self) {
        (self.limit, self.trusted, self.timed, self.are_slow) = (self.min, self.min, None, false);
    }

    /// Begins anew, with a step of so many items.
    pub(crate) fn restart_at(&mut self, items: usize) {
        self.restart();
        self.limit = items.clamp(self.min, self.max);
    }

    /// Whether items are known to take [`SLOW`] or longer.
    pub(crate) fn are_slow(&self) -> bool {
        self.are_slow
    }

    /// Returns the number of items that the next step would fold, as far as is known.
    #[inline]
    pub(crate) fn limit(&self) -> usize {
        self.limit
    }

    /// Returns the number of items of the next step, if `size` items are left. To be called right before the step.
    #[inline]
    pub(crate) fn next(&mut self, size: usize) -> usize {
        if self.timed.is_some() {
            self.time();
        } else if self.limit <= self.trusted {
            self.trusted -= self.limit;
        } else if self.limit < size {
            self.time();
        }
        let limit = self.limit;
        self.limit = limit.saturating_mul(2).min(self.max);
        limit
    }

    /// Learns from the timed step, and times the next one if that is due.
    fn time(&mut self) {
        let now = (self.clock)();
        if let Some((items, begun)) = self.timed.take() {
            let took = now.saturating_duration_since(begun);
            if took > LONG {
                self.limit = (items / 2).max(self.min);
            } else if took > LONG / 2 {
                self.limit = items;
            }
            self.are_slow = took >= SLOW * items.min(1 << 16) as u32;
            let expected = LONG.as_nanos() / 4 * items as u128 / took.as_nanos().max(1);
            let trusted = items.saturating_mul(TRUST);
            self.trusted = usize::try_from(expected).map_or(trusted, |expected| expected.min(trusted));
            if self.limit <= self.trusted {
                self.trusted -= self.limit;
                return;
            }
        }
        self.timed = Some((self.limit, now));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    /// A task whose item at a position takes the time that `cost` returns for the position.
    struct TimedTask {
        /// Every step: its first item, its length and its time.
        steps: Vec<(usize, usize, Duration)>,
        reads: usize,
    }

    fn run(min: usize, max: usize, size: usize, cost: impl Fn(usize) -> Duration) -> TimedTask {
        let (now, reads) = (Cell::new(Instant::now()), Cell::new(0));
        let mut pace = Pace::with_clock(min, max, || {
            reads.set(reads.get() + 1);
            now.get()
        });
        let (mut done, mut steps) = (0, vec![]);
        while done < size {
            let items = pace.next(size - done).min(size - done);
            let took = (done..done + items).map(&cost).sum();
            now.set(now.get() + took);
            steps.push((done, items, took));
            done += items;
        }
        TimedTask { steps, reads: reads.get() }
    }

    fn lengths(run: &TimedTask) -> Vec<usize> {
        run.steps.iter().map(|&(_, items, _)| items).collect()
    }

    const fn nanos(nanos: u64) -> Duration {
        Duration::from_nanos(nanos)
    }

    #[test]
    fn loops_double_from_the_least_size_to_the_greatest() {
        assert_eq!(lengths(&run(1, 8, 30, |_| nanos(1))), [1, 2, 4, 8, 8, 7]);
        assert_eq!(lengths(&run(3, 10, 30, |_| nanos(1))), [3, 6, 10, 10, 1]);
        assert_eq!(lengths(&run(0, 0, 3, |_| nanos(1))), [1, 1, 1]);
        assert_eq!(lengths(&run(5, 2, 12, |_| nanos(1))), [5, 5, 2], "the least size wins");
        let endless = Pace::with_clock(usize::MAX, usize::MAX, Instant::now).next(usize::MAX);
        assert_eq!(endless, usize::MAX);
    }

    #[test]
    fn loops_end_in_time_however_slow_the_items_are() {
        for cost in [1, 30, 700, 1_000, 3_000, 49_000, 51_000, 99_000, 101_000, 10_000_000] {
            let run = run(1, 1 << 14, 100_000, |_| nanos(cost));
            let item = nanos(cost);
            for &(first, items, took) in &run.steps {
                assert!(took <= LONG.max(item) || first < 3, "{items} items of {item:?} from {first} on");
            }
            // And steps are as long as allowed, within a factor of four.
            let longest = lengths(&run).into_iter().max().unwrap();
            assert!(item * 4 * longest as u32 >= LONG || longest == 1 << 14, "{longest} items of {item:?}");
        }
    }

    #[test]
    fn items_that_become_slow_and_fast_again_are_noticed() {
        let slow = 200_000..200_500;
        let run = run(1, 1 << 14, 2_000_000, |at| nanos(if slow.contains(&at) { 200_000 } else { 1 }));
        let late = run.steps.iter().filter(|&&(_, items, took)| items > 1 && took > LONG * 2).count();
        assert!(late <= 16, "one loop meets them unprepared, and then they halve: {late}");
        assert_eq!(run.steps[run.steps.len() - 2].1, 1 << 14, "the pace is taken up again");
    }

    #[test]
    fn a_pace_that_is_restarted_knows_nothing() {
        let now = Instant::now();
        let mut pace = Pace::with_clock(3, 100, move || now);
        let begin = [(); 4].map(|()| pace.next(usize::MAX));
        pace.restart();
        assert_eq!([(); 4].map(|()| pace.next(usize::MAX))[..3], begin[..3]);
    }

    #[test]
    fn the_clock_is_read_rarely() {
        // 10 ms of cheap items: a pair of reads for every 25 us, and a few at the beginning.
        let cheap = run(1, 1 << 14, 10_000_000, |_| nanos(1));
        assert!(cheap.reads <= 2 * 400 + 10, "{}", cheap.reads);
        // Slow items: once per item.
        let slow = run(1, 1 << 14, 1000, |_| nanos(1_000_000));
        assert!(slow.reads <= 1001, "{}", slow.reads);
        // Small tasks: not at all, or once or twice.
        for (size, reads) in [(1, 0), (2, 0), (3, 0), (4, 2), (60, 2), (130, 3)] {
            assert!(run(1, 1 << 14, size, |_| nanos(1)).reads <= reads, "{size} items");
        }
    }

    #[test]
    fn a_clock_that_stands_still_or_goes_back_does_no_harm() {
        let mut still = Pace::with_clock(1, 1 << 14, {
            let now = Instant::now();
            move || now
        });
        let begin = Instant::now() + Duration::from_secs(1);
        let mut ticks = 0;
        let mut back = Pace::with_clock(1, 1 << 14, || {
            ticks += 1;
            begin - Duration::from_millis(ticks)
        });
        for steps in 0..100 {
            let doubled = 1 << steps.min(14);
            assert_eq!((still.next(usize::MAX), back.next(usize::MAX)), (doubled, doubled));
        }
    }
}
