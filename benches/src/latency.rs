//! Programs that wait, and what runs them: engines behind one trait.
//!
//! A program is a [`Load`] (items that are waited for, and computed with), a [`Sweep`] (forks whose leaves wait), or
//! [`Gates`] (futures that are woken by hand). Every engine is used as its users would write it for speed: those with
//! timers of their own use them, those that cannot suspend sleep. To add one, implement [`Engine`] and name it in the
//! bench.

#[cfg(feature = "forte")]
mod forte;

mod async_executor;
mod blocking;
mod buffered;
mod furcate;
mod gates;
mod load;
mod memory;
mod overhead;
mod policy;
mod redis;
mod spread;
mod sweep;
mod tokio;

#[cfg(test)]
mod tests;

pub use self::async_executor::AsyncExecutor;
pub use self::blocking::{Blocking, Threads};
pub use self::buffered::Buffered;
#[cfg(feature = "forte")]
pub use self::forte::Forte;
pub use self::furcate::{Furcate, FurcateForked, FurcateTokio};
pub use self::gates::{Cost, Gates, Opened};
pub use self::load::{Cpu, Load};
pub use self::memory::{cpu_time, peak_memory};
pub use self::overhead::{FORMS, Form, Overhead};
pub use self::policy::{ForkedWaits, POLICIES, Policy, PolicyRun, PolicyStats};
pub use self::redis::{Redis, RedisCost};
pub use self::spread::Spread;
pub use self::sweep::Sweep;
pub use self::tokio::{Tokio, TokioRayon};

use std::time::Duration;

/// What runs programs that wait. Dropping it ends its threads.
pub trait Engine: Sync {
    /// The name in tables.
    fn name(&self) -> String;

    /// The sum of what a load's items give, or `None` if this is not for the engine.
    fn load(&self, load: Load) -> Option<u64>;

    /// The sum of the leaves of forks.
    fn sweep(&self, _sweep: Sweep) -> Option<u64> {
        None
    }

    /// The sum of what gates give.
    fn gates(&self, _gates: &'static Gates) -> Option<u64> {
        None
    }

    /// How long it takes at least, if that is foreseen, to wait so often for so long: of engines that block threads.
    fn foreseen(&self, _waits: u64, _latency: Duration) -> Duration {
        Duration::ZERO
    }
}
