//! Parts that are hard to give away: those that cannot be cut any more.

mod support;

use furcate::Divisible;
use furcate::prelude::*;
use furcate_cluster::{SpreadOver, Threads};
use serde::{Deserialize, Serialize};
use std::ops::Range;
use std::thread::sleep;
use std::time::Duration;
use support::within_a_minute;

/// The numbers of a range. Where they are left of a cut they are not cut again: the right half is empty.
#[derive(Debug, Serialize, Deserialize)]
struct CutOnce {
    numbers: Range<usize>,
    is_cut: bool,
}

impl Divisible for CutOnce {
    fn size(&self) -> usize {
        self.numbers.len()
    }

    fn divide_at(self, index: usize) -> (Self, Self) {
        let Range { start, end } = self.numbers;
        let middle = if self.is_cut { end } else { end.min(start + index) };
        (CutOnce { numbers: start..middle, is_cut: true }, CutOnce { numbers: middle..end, is_cut: false })
    }
}

/// A task has given its right half to another rank. Then a worker of its own rank asks for work, and gets nothing since the rest cannot be
/// cut. The output of the right half is not lost.
#[test]
fn a_gap_stays_in_front_of_an_empty_half() {
    within_a_minute(|| {
        for units in 200..260 {
            let walk = |count: &mut u64, units: &mut CutOnce, n: usize| {
                for number in units.numbers.by_ref().take(n) {
                    *count += 1;
                    // Rank 0 is done at once, and asks rank 1.
                    if number >= 100 {
                        sleep(Duration::from_micros(50));
                    }
                }
            };
            let counts = Threads::new(2).workers(2).run(|world| {
                let whole = CutOnce { numbers: 0..units, is_cut: false };
                whole.work(|_| 0, walk, |count| count).spread(world).sum::<u64>()
            });
            assert_eq!(counts, [units as u64; 2]);
        }
    });
}
