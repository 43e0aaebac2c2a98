//! A clock for decisions that come too often for the system's clock.
//!
//! On x86-64 it is the processor's time-stamp counter. A look at it takes some 10 ns, and a look at the system's clock 25 ns. Elsewhere it is
//! the system's clock. The counter's rate is measured once, when the first pool is made. Decisions that rest on this clock are about
//! costs only: if the counter jumps (on old processors, when a thread moves), such a decision is wrong once, and nothing else is.

use crate::sync::clock::Instant;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

/// A point in time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ticks(u64);

/// Ticks in 1024 ns. Before the rate is measured: those of a counter with 2 GHz.
///
/// Relaxed: it is a number by itself.
static RATE: AtomicU64 = AtomicU64::new(if COUNTS { 2048 } else { 1024 });

/// Whether the processor's counter is read. (Miri and simulated machines have none.)
const COUNTS: bool = cfg!(all(target_arch = "x86_64", not(any(miri, furcate_sim))));

impl Ticks {
    #[inline]
    pub(crate) fn now() -> Ticks {
        Ticks(read())
    }

    /// Returns a number, not 0, from which [`from_bits`](Self::from_bits) makes the point in time again.
    pub(crate) fn bits(self) -> u64 {
        self.0 | 1
    }

    pub(crate) fn from_bits(bits: u64) -> Ticks {
        Ticks(bits)
    }

    /// Returns the ticks since then; 0 if the counter has gone back.
    #[inline]
    pub(crate) fn elapsed(self) -> Span {
        // A counter that has gone back a little must not look like one that has run for years.
        let since = read().wrapping_sub(self.0);
        Span(if since > u64::MAX / 2 { 0 } else { since })
    }
}

/// A duration.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Span(u64);

impl Span {
    /// Whether the duration is longer than so many microseconds.
    #[inline]
    pub(crate) fn exceeds(self, micros: u32) -> bool {
        self.0 > u64::from(micros) * RATE.load(Relaxed)
    }

    /// Returns the duration in microseconds, rounded down.
    #[inline]
    pub(crate) fn in_micros(self) -> u64 {
        // The rate is in ticks per 1024 ns.
        self.0 / RATE.load(Relaxed)
    }
}

/// Returns the ticks since some moment in the past.
#[cfg(all(target_arch = "x86_64", not(any(miri, furcate_sim))))]
#[inline]
pub(crate) fn read() -> u64 {
    // SAFETY: every x86-64 processor has the instruction; it reads a counter and does nothing else.
    unsafe { std::arch::x86_64::_rdtsc() }
}

/// Returns the nanoseconds since the first call.
#[cfg(not(all(target_arch = "x86_64", not(any(miri, furcate_sim)))))]
pub(crate) fn read() -> u64 {
    use crate::sync::machine::OnceLock;
    crate::sync::machine::machine_static! {
        static BEGIN: OnceLock<Instant> = OnceLock::new();
    }
    u64::try_from(BEGIN.get_or_init(Instant::now).elapsed().as_nanos()).unwrap_or(u64::MAX)
}

/// Returns both clocks at one moment: of some looks at them, the one that took least. A thread that is interrupted in between would
/// otherwise pair times that lie milliseconds apart.
fn both_clocks() -> (Instant, u64) {
    let looks = (0..4).map(|_| {
        let before = read();
        let now = Instant::now();
        (read().wrapping_sub(before), now, before)
    });
    let (_, now, ticks) = looks.min_by_key(|&(took, ..)| took).expect("there are four looks");
    (now, ticks)
}

/// Measures the counter's rate, for some 20 us. Later calls do nothing.
pub(crate) fn measure_rate() {
    static MEASURED: std::sync::Once = std::sync::Once::new();
    if !COUNTS {
        return;
    }
    MEASURED.call_once(|| {
        let (begin, ticks) = both_clocks();
        while begin.elapsed() < Duration::from_micros(20) {
            std::hint::spin_loop();
        }
        let (end, end_ticks) = both_clocks();
        let rate = u128::from(end_ticks.wrapping_sub(ticks)) * 1024 / (end - begin).as_nanos();
        // A counter that stands still or runs wild keeps the default.
        if let Ok(rate @ 64..=65_536) = u64::try_from(rate) {
            RATE.store(rate, Relaxed);
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clock_agrees_with_the_systems_clock() {
        measure_rate();
        let (begin, ticks) = (Instant::now(), Ticks::now());
        std::thread::sleep(Duration::from_millis(20));
        let span = ticks.elapsed();
        // Within a factor of two: this thread may be interrupted between its looks at the clocks.
        assert!(span.exceeds(10_000), "{span:?}");
        let micros = u32::try_from(begin.elapsed().as_micros()).unwrap();
        assert!(!span.exceeds(2 * micros), "{span:?} in {micros} us");
    }

    #[test]
    fn a_counter_that_goes_back_has_not_run_for_years() {
        let later = Ticks(read().wrapping_add(1 << 40));
        assert_eq!(later.elapsed(), Span(0));
    }
}
