//! The clock: the world's in a simulation, else the system's.

use crate::world;
use std::ops::{Add, AddAssign, Sub};
use std::sync::LazyLock;
use std::time::Duration;

/// As [`std::time::Instant`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Instant(std::time::Instant);

/// The moment at which each world begins.
static BEGIN: LazyLock<std::time::Instant> = LazyLock::new(std::time::Instant::now);

impl Instant {
    /// As [`std::time::Instant::now`].
    #[must_use]
    pub fn now() -> Self {
        Instant(world::with(|world| match world {
            None => std::time::Instant::now(),
            Some(world) => {
                world.look_at_clock();
                *BEGIN + world.now()
            }
        }))
    }

    /// Returns the moment as std's type, for code whose interface names that type.
    #[must_use]
    pub fn into_std(self) -> std::time::Instant {
        self.0
    }

    /// As [`std::time::Instant::elapsed`].
    #[must_use]
    pub fn elapsed(&self) -> Duration {
        Self::now() - *self
    }

    /// As [`std::time::Instant::saturating_duration_since`].
    #[must_use]
    pub fn saturating_duration_since(&self, earlier: Self) -> Duration {
        self.0.saturating_duration_since(earlier.0)
    }
}

impl Add<Duration> for Instant {
    type Output = Self;

    fn add(self, time: Duration) -> Self {
        Instant(self.0 + time)
    }
}

impl AddAssign<Duration> for Instant {
    fn add_assign(&mut self, time: Duration) {
        self.0 += time;
    }
}

impl Sub<Duration> for Instant {
    type Output = Self;

    fn sub(self, time: Duration) -> Self {
        Instant(self.0 - time)
    }
}

impl Sub for Instant {
    type Output = Duration;

    fn sub(self, earlier: Self) -> Duration {
        self.saturating_duration_since(earlier)
    }
}
