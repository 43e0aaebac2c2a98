//! Parallel efficiency.

use std::time::Duration;

/// Returns the parallel efficiency in words: the sequential program's time, divided by the time on all workers and by their number.
pub(crate) fn efficiency(sequential: Duration, time: Duration, workers: usize) -> String {
    format!("{:.1} %", 100.0 * sequential.as_secs_f64() / time.as_secs_f64() / workers as f64)
}
