//! The trace as folded stacks, from which other tools draw flame graphs: a line for each stack of slices, with its own time.

use super::chrome::{Shown, Slice};
use super::{TimedEvent, Trace};
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::time::Duration;

impl Trace {
    /// Writes the trace as folded stacks, which `flamegraph.pl`, `inferno-flamegraph` and <https://speedscope.app> draw. Each line has a thread, the
    /// slices that were open in it, and the nanoseconds in which just these were open: `main;call at src/main.rs:12;call;leaf 81230`.
    ///
    /// The slices are those of [`write_chrome`](Self::write_chrome), without the halves of forks: the time in a half belongs to what is around the
    /// fork. All the time from a thread's first event to the end of the recording is in some line. The time outside of all slices has the thread
    /// alone.
    ///
    /// ```
    /// use furcate::trace;
    ///
    /// trace::start().unwrap();
    /// furcate::join(|| (), || ());
    /// let mut stacks = Vec::new();
    /// trace::stop().unwrap().write_folded(&mut stacks)?;
    /// assert!(String::from_utf8(stacks).unwrap().contains(";call "));
    /// # Ok::<(), std::io::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// If the writer fails.
    pub fn write_folded(&self, to: impl Write) -> io::Result<()> {
        let mut times = BTreeMap::<String, Duration>::new();
        for thread in &self.threads {
            // The slices that are open, and for each the length of the stack around it.
            let (mut open, mut lengths) = (Vec::new(), Vec::new());
            let mut stack = frame(&thread.label());
            for (place, TimedEvent { at, event }) in thread.events.iter().enumerate() {
                let shown = Shown::of(*event);
                if shown.end_slices(&mut open) > 0 {
                    stack.truncate(lengths[open.len()]);
                    lengths.truncate(open.len());
                }
                if let Shown::Begin(_, slice) | Shown::Next(_, slice) = shown {
                    open.push(slice);
                    lengths.push(stack.len());
                }
                match &shown {
                    Shown::Begin(_, Slice::Fork(_)) => {}
                    Shown::Begin(name, _) => stack.extend([";", &frame(name)]),
                    _ => {}
                }
                let next = thread.events.get(place + 1).map_or(self.duration, |next| next.at);
                *times.entry(stack.clone()).or_default() += next.saturating_sub(*at);
            }
        }
        let mut to = io::BufWriter::new(to);
        for (stack, time) in times.iter().filter(|(_, time)| !time.is_zero()) {
            writeln!(to, "{stack} {}", time.as_nanos())?;
        }
        to.flush()
    }
}

/// Returns the name in a form that a stack may have.
fn frame(name: &str) -> String {
    name.replace([';', '\n'], ":")
}
