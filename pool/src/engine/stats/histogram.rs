//! Times between the wake of a task and its run.

use super::Counter;
use crate::sync::clock::Instant;
use crate::sync::machine::OnceLock;
use std::fmt;
use std::num::NonZeroU64;
use std::time::Duration;

/// Number of classes. Each is twice as wide as the one before; together they reach up to half an hour.
const CLASSES: usize = 42;

/// A moment, in nanoseconds since the first moment that was taken.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Moment(NonZeroU64);

impl Moment {
    pub(crate) fn now() -> Self {
        crate::sync::machine::machine_static! {
            static FIRST: OnceLock<Instant> = OnceLock::new();
        }
        let since = FIRST.get_or_init(Instant::now).elapsed().as_nanos();
        Moment(NonZeroU64::MIN.saturating_add(since.try_into().unwrap_or(u64::MAX)))
    }

    /// Returns the nanoseconds since this moment.
    pub(crate) fn elapsed(self) -> u64 {
        Moment::now().0.get().saturating_sub(self.0.get())
    }
}

/// Histogram of a worker, written by that worker's thread only.
#[derive(Debug)]
pub(crate) struct WakeTimes([Counter; CLASSES]);

impl Default for WakeTimes {
    fn default() -> Self {
        WakeTimes(std::array::from_fn(|_| Counter::default()))
    }
}

impl WakeTimes {
    pub(crate) fn add(&self, nanoseconds: u64) {
        self.0[class(nanoseconds)].add();
    }

    pub(crate) fn read(&self) -> WakeToRun {
        WakeToRun(self.0.each_ref().map(Counter::get))
    }
}

/// Returns the class of a time: n for `2^n` to `2^(n + 1)` nanoseconds, 0 for less than 2. The last class has no end.
fn class(nanoseconds: u64) -> usize {
    (nanoseconds.max(1).ilog2() as usize).min(CLASSES - 1)
}

/// A histogram of the times from wakes to the polls that follow them, in classes of doubling width.
///
/// ```
/// use std::time::Duration;
///
/// let pool = furcate::ThreadPoolBuilder::new().num_threads(1).measure_wakes(true).build().unwrap();
/// let timer = pool.spawn_future(async { async_io::Timer::after(Duration::from_millis(1)).await });
/// furcate::block_on(timer);
/// let waits = pool.stats().total().wake_to_run;
/// assert!(waits.count() > 0);
/// println!("99 of 100 waited for less than {:?}", waits.quantile(0.99));
/// ```
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct WakeToRun([u64; CLASSES]);

impl Default for WakeToRun {
    fn default() -> Self {
        WakeToRun([0; CLASSES])
    }
}

impl WakeToRun {
    pub(super) fn add(&mut self, other: &WakeToRun) {
        self.0.iter_mut().zip(other.0).for_each(|(total, more)| *total += more);
    }

    /// Returns the number of times in the histogram.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.0.iter().sum()
    }

    /// Returns a time that `part` of the times, between 0 and 1, are less than. It is the end of a class, so up to
    /// twice the exact quantile. Zero if the histogram is empty.
    ///
    /// # Panics
    ///
    /// If `part` is not between 0 and 1.
    #[must_use]
    pub fn quantile(&self, part: f64) -> Duration {
        assert!((0.0..=1.0).contains(&part), "a quantile lies between 0 and 1, {part} does not");
        let wanted = (self.count() as f64 * part).ceil();
        let mut seen = 0;
        for (class, &count) in self.0.iter().enumerate() {
            seen += count;
            if count > 0 && seen as f64 >= wanted {
                return Duration::from_nanos(2 << class);
            }
        }
        Duration::ZERO
    }

    /// Returns the classes that are not empty, each with its number of times. The duration is the class's upper end;
    /// its times are at least half of that.
    pub fn classes(&self) -> impl Iterator<Item = (Duration, u64)> {
        let classes = self.0.into_iter().enumerate().filter(|&(_, count)| count > 0);
        classes.map(|(class, count)| (Duration::from_nanos(2 << class), count))
    }
}

/// Prints the [classes](WakeToRun::classes): their upper ends and numbers.
impl fmt::Debug for WakeToRun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.classes()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_double() {
        let times = WakeTimes::default();
        for (nanoseconds, less_than) in [(0, 2), (1, 2), (2, 4), (3, 4), (4, 8), (1023, 1024), (1024, 2048)] {
            let before = times.read();
            times.add(nanoseconds);
            let new: Vec<_> =
                times.read().classes().filter(|class| !before.classes().any(|old| old == *class)).collect();
            assert_eq!(new.len(), 1);
            assert_eq!(new[0].0, Duration::from_nanos(less_than), "{nanoseconds} ns");
        }
        assert_eq!(times.read().count(), 7);
    }

    #[test]
    fn quantiles() {
        let times = WakeTimes::default();
        assert_eq!(times.read().quantile(0.5), Duration::ZERO);
        (0..99).for_each(|_| times.add(100));
        times.add(5000);
        let read = times.read();
        assert_eq!(read.quantile(0.0), Duration::from_nanos(128));
        assert_eq!(read.quantile(0.5), Duration::from_nanos(128));
        assert_eq!(read.quantile(0.99), Duration::from_nanos(128));
        assert_eq!(read.quantile(1.0), Duration::from_nanos(8192));
        times.add(u64::MAX);
        assert_eq!(times.read().count(), 101);
    }

    #[test]
    fn debug_shows_the_classes_that_have_any() {
        let times = WakeTimes::default();
        assert_eq!(format!("{:?}", times.read()), "{}");
        [10, 12, 3000].into_iter().for_each(|nanoseconds| times.add(nanoseconds));
        assert_eq!(format!("{:?}", times.read()), "{16ns: 2, 4.096µs: 1}");
    }

    #[test]
    fn sums_add_up() {
        let (one, other) = (WakeTimes::default(), WakeTimes::default());
        one.add(10);
        other.add(10);
        other.add(1 << 20);
        let mut sum = one.read();
        sum.add(&other.read());
        assert_eq!(sum.count(), 3);
        assert_eq!(
            sum.classes().collect::<Vec<_>>(),
            [(Duration::from_nanos(16), 2), (Duration::from_nanos(2 << 20), 1),]
        );
    }
}
