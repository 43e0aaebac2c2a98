//! A line on standard error that shows how far rank 0 has come.
//!
//! The line appears if the program takes more than two seconds, and standard error is a terminal. (Under most launchers it is a pipe.) A rank
//! adds to one number; the line's own thread reads the number a few times a second.

use crate::common::output::grouped;
use indicatif::{ProgressBar, ProgressStyle};
use std::io::{IsTerminal, stderr};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// Programs that take less time than this show no line.
const DELAY: Duration = Duration::from_secs(2);

/// Time between two changes of the line.
const TICK: Duration = Duration::from_millis(200);

/// Number of items that a rank has done. It lies in a cache line of its own, because all workers of the rank add to it.
#[derive(Debug, Default)]
#[repr(align(128))]
pub(crate) struct Done(AtomicU64);

impl Done {
    /// Adds items. Call it every few microseconds at most.
    #[inline]
    pub(crate) fn add(&self, items: u64) {
        // Relaxed: a number that only a person reads.
        self.0.fetch_add(items, Relaxed);
    }
}

/// The line. Dropping it removes the line.
#[derive(Debug)]
pub(crate) struct ProgressLine {
    shown: Option<(Sender<()>, JoinHandle<()>)>,
}

impl ProgressLine {
    /// Shows the number of `items` (a noun) that rank 0 has done, in the program `what`.
    pub(crate) fn new(what: &'static str, items: &'static str, done: &Arc<Done>) -> Self {
        let shown = stderr().is_terminal().then(|| {
            let (sender, end) = channel();
            let done = Arc::clone(done);
            (sender, thread::spawn(move || show(what, items, &done, &end)))
        });
        ProgressLine { shown }
    }
}

impl Drop for ProgressLine {
    fn drop(&mut self) {
        if let Some((sender, thread)) = self.shown.take() {
            drop(sender);
            // The thread cannot panic, and an error here must not hide another one.
            let _ = thread.join();
        }
    }
}

/// Shows the line from [`DELAY`] on, until the sender is dropped.
fn show(what: &str, items: &str, done: &Done, end: &Receiver<()>) {
    let begin = Instant::now();
    if end.recv_timeout(DELAY) != Err(RecvTimeoutError::Timeout) {
        return;
    }
    let bar = ProgressBar::new_spinner();
    bar.set_style(ProgressStyle::with_template("{spinner} {msg}").expect("the template is valid"));
    loop {
        bar.set_message(text(what, items, done.0.load(Relaxed), begin.elapsed()));
        bar.tick();
        if end.recv_timeout(TICK) != Err(RecvTimeoutError::Timeout) {
            return bar.finish_and_clear();
        }
    }
}

fn text(what: &str, items: &str, done: u64, elapsed: Duration) -> String {
    let seconds = elapsed.as_secs_f64();
    let rate = done as f64 / seconds;
    format!(
        "{what}: rank 0 has done {} {items}, {} per second, {seconds:.1} s",
        grouped(done),
        grouped(rate as u64)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_has_number_rate_and_time() {
        assert_eq!(
            text("uts", "nodes", 3_000_000, Duration::from_millis(2500)),
            "uts: rank 0 has done 3,000,000 nodes, 1,200,000 per second, 2.5 s"
        );
    }
}
