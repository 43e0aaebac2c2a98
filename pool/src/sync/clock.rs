//! The system's clock, for decisions about costs.
//!
//! `wasm32-unknown-unknown` has none: there `std::time::Instant::now` panics. Time stands still on that target, so that nothing is
//! ever late and no piece of work seems long. It has no threads either, so nobody waits for another thread. What promises a time to the
//! user (timers, deadlines, rates) uses std's clock ([`now`]), and panics on that target.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

#[cfg(furcate_sim)]
pub use furcate_sim::time::Instant;
#[cfg(not(any(furcate_sim, all(target_family = "wasm", target_os = "unknown"))))]
pub use std::time::Instant;

/// Returns the moment for what promises a time to the user: timers, deadlines, rates.
#[must_use]
pub fn now() -> std::time::Instant {
    #[cfg(furcate_sim)]
    return furcate_sim::time::Instant::now().into_std();
    #[cfg(not(furcate_sim))]
    std::time::Instant::now()
}

/// Returns the time since the begin of 1970 by the clock that all processes have in common; zero where there is none.
pub(crate) fn since_1970() -> Duration {
    let has_clock = !cfg!(all(target_family = "wasm", target_os = "unknown"));
    has_clock.then(|| SystemTime::now().duration_since(UNIX_EPOCH).ok()).flatten().unwrap_or_default()
}

#[cfg(all(target_family = "wasm", target_os = "unknown"))]
pub use still::Instant;

#[cfg(any(test, all(target_family = "wasm", target_os = "unknown")))]
#[cfg_attr(test, allow(unreachable_pub, reason = "tests do not export it"))]
mod still {
    use std::ops::{Add, Sub};
    use std::time::Duration;

    /// A point in time: the time since the program began, which is zero.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    pub struct Instant(Duration);

    impl Instant {
        /// Returns the program's only moment.
        #[must_use]
        pub fn now() -> Self {
            Instant(Duration::ZERO)
        }

        /// Returns the time since this point: zero.
        #[must_use]
        pub fn elapsed(&self) -> Duration {
            Duration::ZERO
        }

        /// Returns the time between two points, and zero if the second is the later one.
        #[must_use]
        pub fn saturating_duration_since(&self, earlier: Self) -> Duration {
            self.0.saturating_sub(earlier.0)
        }
    }

    impl Add<Duration> for Instant {
        type Output = Self;

        fn add(self, time: Duration) -> Self {
            Instant(self.0 + time)
        }
    }

    impl Sub for Instant {
        type Output = Duration;

        fn sub(self, earlier: Self) -> Duration {
            self.saturating_duration_since(earlier)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::still::Instant;
    use std::time::Duration;

    #[test]
    fn time_stands_still_where_there_is_no_clock() {
        let (begin, later) = (Instant::now(), Instant::now() + Duration::from_secs(1));
        assert!(begin == Instant::now() && begin < later);
        assert_eq!(later - begin, Duration::from_secs(1));
        assert_eq!(begin - later, Duration::ZERO);
        assert_eq!(later.elapsed(), Duration::ZERO);
    }
}
