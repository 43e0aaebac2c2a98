//! Parts that are hard to give away: that cannot be cut any more, or that cannot be encoded.

use crate::support::{LONG, text, within};
use furcate::Divisible;
use furcate::prelude::*;
use furcate_cluster::{SpreadOver, Threads};
use serde::{Deserialize, Serialize, Serializer};
use std::ops::Range;
use std::thread::sleep;
use std::time::Duration;

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
    within(LONG, || {
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

/// Units that serde refuses to encode.
#[derive(Debug, Deserialize)]
struct Secret(Vec<u32>);

impl Serialize for Secret {
    fn serialize<S: Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
        Err(serde::ser::Error::custom("a secret stays at home"))
    }
}

impl Divisible for Secret {
    fn size(&self) -> usize {
        self.0.len()
    }

    fn divide_at(mut self, index: usize) -> (Self, Self) {
        let right = self.0.split_off(index.min(self.0.len()));
        (self, Secret(right))
    }
}

#[test]
fn a_piece_that_cannot_be_encoded_ends_the_call() {
    within(LONG, || {
        let results = Threads::new(2).try_run(|world| {
            let walk = |count: &mut u64, units: &mut Secret, n: usize| {
                for _ in 0..n {
                    let Some(unit) = units.0.pop() else { return };
                    *count += 1;
                    // Rank 1 is done at once, and asks rank 0.
                    if unit < 500 {
                        sleep(Duration::from_millis(1));
                    }
                }
            };
            let secret = Secret((0..1000).collect());
            secret.work(|_| 0, walk, |count| count).spread(world).sum::<u64>()
        });
        for result in results {
            let payload = result.expect_err("a part would be missing");
            assert!(text(&*payload).contains("a piece cannot be encoded"), "{}", text(&*payload));
        }
    });
}
