//! Responsiveness: whether work can be stolen while the worker that forked it is inside a long leaf.
//!
//! Leaves spin by the clock, so two threads are as fast as the schedule, whatever else the machine does. A design that
//! shares work only at later forks, or one job at a time, serializes work that could run in parallel.

use std::time::{Duration, Instant};

use super::Program;
use crate::fork::Fork;

/// A few long leaves for two workers.
#[derive(Clone, Copy, Debug)]
pub struct Prompt {
    /// Time that stands for a millisecond.
    unit: Duration,
    deep: bool,
}

impl Prompt {
    /// Makes a program in which worker 0 forks a leaf of 1 ms, which keeps worker 1 busy at first. Then worker 0 forks
    /// B (50 ms) and runs A (50 ms).
    #[must_use]
    pub fn shallow(unit: Duration) -> Self {
        Self { unit, deep: false }
    }

    /// Makes a program in which worker 0 forks B1 (5 ms), B2 and B3 (50 ms each), nested, and then runs a leaf of 100
    /// ms.
    #[must_use]
    pub fn deep(unit: Duration) -> Self {
        Self { unit, deep: true }
    }

    /// Returns the time of the best schedule with two workers.
    #[must_use]
    pub fn best(&self) -> Duration {
        self.unit * if self.deep { 105 } else { 51 }
    }

    /// Keeps a processor busy.
    fn spin(&self, units: u32) {
        let start = Instant::now();
        while start.elapsed() < self.unit * units {
            std::hint::spin_loop();
        }
    }
}

impl Program for Prompt {
    type Input = ();
    type Output = ();

    fn name(&self) -> String {
        if self.deep { "prompt-deep" } else { "prompt" }.to_owned()
    }

    fn input(&self) {}

    fn serial(&self, (): ()) {
        let leaves: &[u32] = if self.deep { &[100, 50, 50, 5] } else { &[50, 50, 1] };
        for units in leaves {
            self.spin(*units);
        }
    }

    fn forked<F: Fork>(&self, fork: &F, (): ()) {
        if self.deep {
            fork.join(
                |fork| fork.join(|fork| fork.join(|_| self.spin(100), |_| self.spin(50)), |_| self.spin(50)),
                |_| self.spin(5),
            );
        } else {
            fork.join(|fork| fork.join(|_| self.spin(50), |_| self.spin(50)), |_| self.spin(1));
        }
    }

    fn check(&self, (): &()) {}
}
