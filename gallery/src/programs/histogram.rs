//! Counts how often each key occurs (PBBS: histogram).

use crate::inputs;
use crate::program::{Program, equal, reads};

pub(super) const PROGRAM: Program = Program {
    name: "histogram",
    suite: "PBBS",
    what: "the count of each of 65,536 keys",
    unit: "keys",
    size: 1 << 25,
    quick: 1 << 20,
    schedule: ".adaptive()",
    why: "the cost of the accumulators decides: rayon makes and adds a table of counts for each leaf, `adaptive` makes one, and one more for each steal",
    source: include_str!("histogram.rs"),
    case: |size| {
        let keys = inputs::skewed_numbers(size, KEYS as u32);
        reads(keys, [sequential::run, rayon::run, furcate::run], |keys, counts| {
            equal(counts, &sequential::run(keys))
        })
    },
};

const KEYS: usize = 1 << 16;

/// Adds two tables of counts.
pub(super) fn add(mut counts: Vec<u32>, others: Vec<u32>) -> Vec<u32> {
    counts.iter_mut().zip(others).for_each(|(count, other)| *count += other);
    counts
}

mod sequential {
    use super::KEYS;

    pub(super) fn run(keys: &Vec<u32>) -> Vec<u32> {
        keys.iter().fold(vec![0; KEYS], |mut counts, &key| {
            counts[key as usize] += 1;
            counts
        })
    }
}

mod rayon {
    use super::{KEYS, add};
    use rayon::prelude::*;

    pub(super) fn run(keys: &Vec<u32>) -> Vec<u32> {
        let counts = keys.par_iter().fold(
            || vec![0; KEYS],
            |mut counts, &key| {
                counts[key as usize] += 1;
                counts
            },
        );
        counts.reduce_with(add).unwrap_or_default()
    }
}

mod furcate {
    use super::{KEYS, add};
    use furcate::prelude::*;

    pub(super) fn run(keys: &Vec<u32>) -> Vec<u32> {
        let counts = keys.par_iter().fold(
            || vec![0; KEYS],
            |mut counts, &key| {
                counts[key as usize] += 1;
                counts
            },
        );
        let counts = counts.adaptive();
        counts.reduce_with(add).unwrap_or_default()
    }
}
