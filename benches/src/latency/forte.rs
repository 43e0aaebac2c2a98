//! forte, with `block_on` in the branches of its `join`: while a future is pending, its worker runs other jobs on top of the
//! frame that waits.

use super::sweep::{Sweep, leaves};
use super::{Engine, Load};
use crate::fork::{self, Engine as _};
use ::forte::Worker;
use async_io::Timer;

/// The use of forte's pool.
#[derive(Debug)]
pub struct Forte(fork::Forte);

/// More items than these might not have room on the stack for the frames that wait.
const MOST: u64 = 1000;

impl Forte {
    /// Takes the pool for this engine alone.
    #[must_use]
    pub fn new(threads: usize) -> Self {
        Forte(fork::Forte::new(threads))
    }
}

/// Items from the first to before the last one.
fn sum(worker: &Worker, load: Load, first: u64, last: u64) -> u64 {
    if last - first == 1 {
        let mut item = first;
        for _ in 0..load.awaits {
            worker.block_on(Timer::after(load.latency));
            item = load.compute(worker, item);
        }
        return item;
    }
    let middle = first.midpoint(last);
    let (right, left) = worker.join(|w| sum(w, load, middle, last), |w| sum(w, load, first, middle));
    left + right
}

impl Engine for Forte {
    fn name(&self) -> String {
        "forte, join + block_on".into()
    }

    fn load(&self, load: Load) -> Option<u64> {
        // forte has no cap.
        let fits = load.n <= MOST && load.cap as u64 >= load.n;
        fits.then(|| self.0.run(|worker| sum(worker, load, 0, load.n)))
    }

    fn sweep(&self, sweep: Sweep) -> Option<u64> {
        fn walk(worker: &Worker, sweep: &Sweep, n: u32, first: u64) -> u64 {
            if n < 2 {
                let leaf = sweep.leaf(first, n);
                if let Some(latency) = leaf.latency {
                    worker.block_on(Timer::after(latency));
                }
                return leaf.value();
            }
            let behind = first + leaves(n - 1);
            let (right, left) =
                worker.join(|w| walk(w, sweep, n - 2, behind), |w| walk(w, sweep, n - 1, first));
            left + right
        }
        Some(self.0.run(|worker| walk(worker, &sweep, sweep.n, 0)))
    }
}
