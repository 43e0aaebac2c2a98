//! What the programs share: the report that `compare.py` reads.

use std::time::{Duration, Instant};

/// Runs the program's work, prints how long it took, and returns the result.
pub fn timed<T>(work: impl FnOnce() -> T) -> T {
    let begin = Instant::now();
    let result = work();
    report(begin.elapsed());
    result
}

fn report(time: Duration) {
    println!("milliseconds {:.2}", time.as_secs_f64() * 1e3);
}
