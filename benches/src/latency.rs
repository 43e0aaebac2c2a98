//! Programs that wait, and the engines that run them, behind one trait.
//!
//! A program is a [`Load`] (items that wait and compute), a [`Sweep`] (forks with leaves that wait), or [`Gates`]
//! (futures that are woken by hand). Every engine is used as its users would write it for speed: engines with timers of
//! their own use them, engines that cannot suspend sleep. To add one, implement [`Engine`] and name it in the bench.

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
#[cfg(target_os = "linux")]
mod reads;
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
pub use self::policy::{ForkedWaits, POLICIES, Policy, PolicyRun, PolicyStats, WaitForm};
pub use self::redis::{Redis, RedisCost};
pub use self::spread::Spread;
pub use self::sweep::Sweep;
pub use self::tokio::{Tokio, TokioRayon};

use std::time::Duration;

/// An item that sleeps for so long, or is ready at once if the time is zero.
async fn after<T: Future>(sleep: impl Fn(Duration) -> T, latency: Duration, item: u64) -> u64 {
    if !latency.is_zero() {
        sleep(latency).await;
    }
    item
}

/// An engine that runs programs that wait. Its drop ends its threads.
pub trait Engine: Sync {
    /// Returns the name in tables.
    fn name(&self) -> String;

    /// Returns the sum of the results of a load's items, or `None` if the engine cannot run the load.
    fn load(&self, load: Load) -> Option<u64>;

    /// Returns the sum of the leaves of forks.
    fn sweep(&self, _sweep: Sweep) -> Option<u64> {
        None
    }

    /// Returns the sum of the results of gates.
    fn gates(&self, _gates: &'static Gates) -> Option<u64> {
        None
    }

    /// Collects the results of `n` items that wait for so long, or that are ready at once if the time is zero. Returns their number.
    fn collect(&self, _n: u64, _latency: Duration) -> Option<usize> {
        None
    }

    /// Returns the least time that so many waits of such a length take, if it is known beforehand: for engines that
    /// block threads.
    fn foreseen(&self, _waits: u64, _latency: Duration) -> Duration {
        Duration::ZERO
    }
}
