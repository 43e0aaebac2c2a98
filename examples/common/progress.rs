//! A progress bar on standard error, for work that takes longer than a second.
//!
//! Without a terminal there is neither a bar nor a thread for it: logs and pipes stay clean.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::{IsTerminal, stderr};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// Work that takes less time than this shows no bar.
const DELAY: Duration = Duration::from_secs(1);

/// Interval at which the bar's clock is drawn again, also while no step ends.
const TICK: Duration = Duration::from_millis(200);

/// A bar that counts steps. Dropping it removes the bar.
pub(crate) struct Progress {
    bar: ProgressBar,
    /// The thread that shows the bar after [`DELAY`]. It ends when its sender is dropped.
    shown: Option<(Sender<()>, JoinHandle<()>)>,
}

impl Progress {
    /// Makes a bar for `steps` steps of the work `what`.
    pub(crate) fn new(what: &str, steps: usize) -> Self {
        let bar = ProgressBar::with_draw_target(Some(steps as u64), ProgressDrawTarget::hidden());
        let style = ProgressStyle::with_template("{msg} {wide_bar} {pos}/{len} [{elapsed}]");
        bar.set_style(style.expect("the template is valid").progress_chars("=> "));
        bar.set_message(what.to_owned());
        let shown = stderr().is_terminal().then(|| {
            let (sender, done) = channel();
            let bar = bar.clone();
            let show = move || {
                if done.recv_timeout(DELAY) == Err(RecvTimeoutError::Timeout) {
                    bar.set_draw_target(ProgressDrawTarget::stderr());
                    bar.enable_steady_tick(TICK);
                }
            };
            (sender, thread::spawn(show))
        });
        Progress { bar, shown }
    }

    /// Counts a step that has ended.
    pub(crate) fn step(&self) {
        self.bar.inc(1);
    }

    /// Replaces the text before the bar.
    pub(crate) fn message(&self, what: &str) {
        self.bar.set_message(what.to_owned());
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some((sender, thread)) = self.shown.take() {
            drop(sender);
            // The thread cannot panic, and an error here must not hide another one.
            let _ = thread.join();
        }
        self.bar.finish_and_clear();
    }
}
